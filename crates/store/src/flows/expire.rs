//! Ends checkouts whose time has run out. Time ends only what was never sent.

use payment::{CheckoutStatus, Event, State, Timestamp, transition};
use planted::Fault;

use super::{journal, open_checkout::finish_unsent_operation, promised, won};
use crate::{Change, Expired, IntentRecord, Tables, tables::Abort};

/// The flow.
pub async fn run(tables: &mut dyn Tables, limit: &u32) -> Result<Expired, Abort> {
    let now = tables.now().await?;
    let mut expired = Expired::default();
    for (tenant, id) in tables.expired_checkouts(now, *limit).await? {
        let checkout = promised(tables.lock_checkout(&tenant, id).await?, "an expired checkout")?;
        let newest = promised(tables.newest_intent(&tenant, id).await?, "a checkout's intent")?;
        let ends_all = planted::is(Fault::ExpireEndsSent);
        let unsent = newest.state.is_terminal() || newest.state == State::Created || ends_all;
        if checkout.status != CheckoutStatus::Open || now < checkout.expires_at || !unsent {
            continue;
        }
        won(tables
            .update_checkout_status(&tenant, id, CheckoutStatus::Open, CheckoutStatus::Expired)
            .await?)?;
        expired.intents.push((tenant, newest.id));
        if newest.state == State::Created || (ends_all && !newest.state.is_terminal()) {
            end_intent(tables, newest, now).await?;
        }
    }
    Ok(expired)
}

async fn end_intent(tables: &mut dyn Tables, mut intent: IntentRecord, now: Timestamp) -> Result<(), Abort> {
    let Ok(decision) = transition(&intent.state, Event::Expired, now) else { return Err(Abort::Raced) };
    let change = Change {
        from: intent.state.name().as_str(),
        event: "expired".to_owned(),
        to: decision.next.name().as_str(),
        evidence: "the checkout's time ran out before anything was sent".to_owned(),
    };
    let version = intent.version;
    intent.state = decision.next;
    won(tables.update_intent(&intent, version).await?)?;
    finish_unsent_operation(tables, &intent).await?;
    journal::append(tables, &intent.tenant, intent.id, now, &[change]).await
}
