//! Notifications: written once, asked about as often as they come in (R21). Nothing here changes a payment.

use payment::{OperationKind, Timestamp};

use super::won;
use crate::{
    AcceptNotice, ClaimNotices, ClaimedNotice, Lease, NoticeAbout, NoticeAccepted, NoticeKey, NoticeRecord,
    NoticeSettled, NoticeState, NoticeSubject, NoticeVerdict, SettleNotice, StoreError, Tables,
    tables::Abort,
};

/// Rows beyond those asked for that are looked at, so that some that cannot be read do not hold up the others.
const SPARE: u32 = 64;

/// Writes a notification down, or wakes it again.
pub async fn accept(tables: &mut dyn Tables, command: &AcceptNotice) -> Result<NoticeAccepted, Abort> {
    let now = tables.now().await?;
    let fresh = NoticeRecord {
        tenant: command.tenant.clone(),
        account: command.account.clone(),
        said: command.said.clone(),
        received_at: now,
        state: NoticeState::Waiting { wake_at: now },
        tries: 0,
        looks: 0,
        lease: None,
        fence: 0,
    };
    let Some(known) = tables.notice(&fresh.key()).await? else {
        won(tables.insert_notice(&fresh).await?)?;
        return Ok(NoticeAccepted::New);
    };
    let mut woken = fresh;
    // What one copy did not name, or named wrongly, the next may name.
    woken.said.hint = woken.said.hint.or(known.said.hint);
    woken.received_at = known.received_at;
    // A holder at work may have asked before this one was sent: its verdict no longer counts.
    woken.fence = known.fence + 1;
    won(tables.update_notice(&woken, known.fence).await?)?;
    Ok(NoticeAccepted::Known)
}

/// Claims what is due: a fresh fence for each, so that a stale holder is harmless (R14).
pub async fn claim(tables: &mut dyn Tables, claim: &ClaimNotices) -> Result<Vec<ClaimedNotice>, Abort> {
    let now = tables.now().await?;
    let mut claimed = Vec::new();
    for key in tables.due_notices(now, &claim.busy, claim.most.saturating_add(SPARE)).await? {
        if claimed.len() >= claim.most as usize {
            break;
        }
        match claim_one(tables, claim, &key, now).await {
            Ok(one) => claimed.extend(one),
            // A newer version wrote it: it is left alone.
            Err(Abort::Failed(error @ StoreError::Unreadable(_))) => {
                tracing::error!(%error, merchant = %key.merchant, "a notification cannot be read and is left alone");
            }
            Err(aborted) => return Err(aborted),
        }
    }
    Ok(claimed)
}

async fn claim_one(
    tables: &mut dyn Tables,
    claim: &ClaimNotices,
    key: &NoticeKey,
    now: Timestamp,
) -> Result<Option<ClaimedNotice>, Abort> {
    let Some(mut notice) = tables.notice(key).await? else { return Ok(None) };
    if notice.state.wake_at().is_none_or(|at| at > now) {
        return Ok(None);
    }
    let subject = subject(tables, &notice).await?;
    let (fence, until) = (notice.fence, now.plus_ms(claim.lease_ms));
    notice.lease = Some(Lease { holder: claim.holder, until });
    notice.fence = fence + 1;
    notice.tries += 1;
    notice.state = notice.state.woken_at(until);
    won(tables.update_notice(&notice, fence).await?)?;
    Ok(Some(ClaimedNotice { notice, subject }))
}

/// Whom a notification is about: who is linked to its object, or else the intent that it names.
async fn subject(tables: &mut dyn Tables, notice: &NoticeRecord) -> Result<Option<NoticeSubject>, Abort> {
    let (tenant, said) = (&notice.tenant, &notice.said);
    let linked = tables.linked_operation(tenant, &notice.account, &said.object).await?;
    match (&said.about, linked) {
        (NoticeAbout::Payment, Some(operation)) if operation.task.kind() == OperationKind::Pay => {
            Ok(Some(NoticeSubject::Payment(operation.intent)))
        }
        (NoticeAbout::Payment, _) => {
            let Some(hint) = said.hint else { return Ok(None) };
            Ok(tables.intent(tenant, hint).await?.map(|intent| NoticeSubject::Payment(intent.id)))
        }
        (NoticeAbout::Refund { .. }, Some(operation)) if operation.task.kind() == OperationKind::Refund => {
            Ok(Some(NoticeSubject::Refund(operation.id)))
        }
        (NoticeAbout::Refund { .. }, _) => Ok(None),
    }
}

/// Writes what came of a claim, if it is still the holder's.
pub async fn settle(tables: &mut dyn Tables, command: &SettleNotice) -> Result<NoticeSettled, Abort> {
    let Some(mut notice) = tables.notice(&command.key).await? else { return Ok(NoticeSettled::Stale) };
    if notice.fence != command.fence {
        return Ok(NoticeSettled::Stale);
    }
    if notice.lease.is_none() {
        // Only this fence's holder gives the lease back: the verdict is already there, its answer was lost.
        return Ok(NoticeSettled::Done { forgotten: 0 });
    }
    let now = tables.now().await?;
    notice.lease = None;
    let mut most_parked = None;
    notice.state = match command.verdict {
        NoticeVerdict::Done => NoticeState::Done,
        NoticeVerdict::AskAgain { wake_in_ms, looked } => {
            notice.looks += i64::from(looked);
            NoticeState::Waiting { wake_at: now.plus_ms(wake_in_ms) }
        }
        NoticeVerdict::Park { wake_in_ms, keep } => {
            most_parked = Some(keep);
            NoticeState::Parked { wake_at: now.plus_ms(wake_in_ms) }
        }
    };
    won(tables.update_notice(&notice, command.fence).await?)?;
    let forgotten = match most_parked {
        Some(keep) => tables.forget_parked(&notice.tenant.merchant, keep).await?,
        None => 0,
    };
    Ok(NoticeSettled::Done { forgotten })
}

/// A notification, as it stands.
pub async fn find(tables: &mut dyn Tables, key: &NoticeKey) -> Result<Option<NoticeRecord>, Abort> {
    tables.notice(key).await
}
