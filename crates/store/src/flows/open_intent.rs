//! Trying again: a new intent occupies the checkout, or the one that does is named.

use payment::{CheckoutStatus, Stance, State};
use planted::Fault;

use super::{keys, open_checkout::insert_intent, promised};
use crate::{CheckoutRecord, IntentRecord, OpenIntent, OpenedIntent, Tables, tables::Abort};

const CREATED: u16 = 201;
const OK: u16 = 200;

/// The flow. Only a checkout that is open and whose every earlier intent ended by evidence takes a new one.
pub async fn run(tables: &mut dyn Tables, command: &OpenIntent) -> Result<OpenedIntent, Abort> {
    if let Some(known) = keys::find(tables, &command.key).await? {
        return Ok(OpenedIntent::Known(known));
    }
    let tenant = &command.key.tenant;
    let Some(checkout) = tables.lock_checkout(tenant, command.checkout).await? else {
        return Ok(OpenedIntent::NotFound);
    };
    let now = tables.now().await?;
    let newest = promised(tables.newest_intent(tenant, checkout.id).await?, "a checkout's intent")?;
    let again = planted::is(Fault::NewIntentOnPaid);
    if (checkout.status == CheckoutStatus::Paid || newest.state.stance() == Stance::Paid) && !again {
        return Ok(OpenedIntent::Paid(newest.id));
    }
    let over = checkout.status != CheckoutStatus::Open || now >= checkout.expires_at;
    // What was sent stays the one payment of its checkout, whatever the time; what was not cannot begin any more.
    let may_begin = newest.state.is_terminal() || newest.state == State::Created;
    if over && may_begin && !again {
        return Ok(OpenedIntent::NotOpen);
    }
    if newest.state.stance() == Stance::Occupying && !planted::is(Fault::OccupantNotSeen) {
        return answer(tables, command, OK, checkout, newest, now).await;
    }
    if newest.number >= command.limit {
        return Ok(OpenedIntent::TooMany);
    }
    let intent = insert_intent(tables, &checkout, &command.ids, Some(&newest), now).await?;
    answer(tables, command, CREATED, checkout, intent, now).await
}

async fn answer(
    tables: &mut dyn Tables,
    command: &OpenIntent,
    status: u16,
    checkout: CheckoutRecord,
    intent: IntentRecord,
    now: payment::Timestamp,
) -> Result<OpenedIntent, Abort> {
    let answer = (command.render)(status, &checkout, &intent);
    keys::claim(tables, &command.key, &checkout, &intent, Some(answer.clone()), now).await?;
    Ok(OpenedIntent::Fresh(Box::new(checkout), answer))
}
