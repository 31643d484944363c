//! Takes a request in: which fault it meets, when it is worked on, whether the answer goes out. A request is
//! noted, worked on by the `clerk` and settled in one transaction, so that the list of requests and the money
//! never disagree.

use std::sync::Arc;

use rusqlite::Transaction;
use serde_json::Value;

use crate::answer::{Answer, Reply};
use crate::bank::State;
use crate::call::{Action, Call, Change, Read};
use crate::clerk::Clerk;
use crate::fault_kinds::Kind;
use crate::faults::Met;
use crate::refusal::Refusal;
use crate::requests::{self, RequestId};
use crate::{payment_rows, refunds};

/// Answers a request, or loses it.
pub(crate) async fn serve(state: Arc<State>, call: Call) -> Reply {
    match meet_fault(&state, &call).await {
        // The one path that counts for speed.
        None => work(&state, call, None, None).await,
        // Of its own: what was asked is done even if the client goes away meanwhile.
        Some(met) => tokio::spawn(serve_troubled(state, call, met)).await.unwrap_or(Reply::Lost),
    }
}

async fn meet_fault(state: &Arc<State>, call: &Call) -> Option<Met> {
    let action = call.action.as_ref()?;
    let on = action.on();
    if !state.faults.any(on) {
        return None;
    }
    let (action, body) = (action.clone(), call.body().unwrap_or_default());
    let order_id = state.store.run(move |tx| order_of(tx, &action, &body)).await;
    state.faults.meet(on, order_id.unwrap_or_default().as_deref())
}

/// The order that a request is about.
fn order_of(tx: &Transaction<'_>, action: &Action, body: &Value) -> rusqlite::Result<Option<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let payment_id = match action {
        Action::Change(Change::CreatePayment) => return Ok(text(&body["metadata"]["order_id"])),
        Action::Read(Read::Payments | Read::Refunds) => return Ok(None),
        Action::Read(Read::Payment { id })
        | Action::Change(Change::Capture { id } | Change::Cancel { id }) => Some(id.clone()),
        Action::Change(Change::CreateRefund) => text(&body["payment_id"]),
        Action::Read(Read::Refund { id }) => refunds::find(tx, id)?.map(|refund| refund.payment_id),
    };
    let payment = payment_rows::find(tx, &payment_id.unwrap_or_default())?;
    Ok(payment.and_then(|payment| payment.order_id().map(str::to_owned)))
}

async fn serve_troubled(state: Arc<State>, call: Call, met: Met) -> Reply {
    match met.kind {
        Kind::LoseRequest => {
            if note(&state, &call).await.is_none() {
                return Reply::Answer(Answer::refusing(&Refusal::internal()));
            }
            tokio::time::sleep(met.delay).await;
            Reply::Lost
        }
        Kind::Delay => {
            let noted = note(&state, &call).await;
            tokio::time::sleep(met.delay).await;
            work(&state, call, Some(met), noted).await
        }
        // Here the delay is part of what is answered, or of the payment.
        Kind::Processing202 | Kind::Pending => work(&state, call, Some(met), None).await,
        Kind::LoseAnswer
        | Kind::Error500Before
        | Kind::Error500After
        | Kind::Error500Stored
        | Kind::RateLimit
        | Kind::BadRequest
        | Kind::Unauthorized
        | Kind::Garbage
        | Kind::WrongAmount
        | Kind::NotFound
        | Kind::ForgetKeys
        | Kind::Reverse
        | Kind::Notify(_) => {
            let reply = work(&state, call, Some(met), None).await;
            tokio::time::sleep(met.delay).await;
            reply
        }
    }
}

/// Notes a request before it is worked on, if it ever is.
async fn note(state: &State, call: &Call) -> Option<RequestId> {
    let arrival = call.arrival.clone();
    let noted = state.store.run(move |tx| requests::arrived(tx, &arrival)).await;
    noted.inspect_err(|error| tracing::error!(%error, "the bank cannot write its ledger")).ok()
}

async fn work(state: &Arc<State>, call: Call, met: Option<Met>, noted: Option<RequestId>) -> Reply {
    let clerk = Clerk { state: Arc::clone(state), call, met };
    let is_lost = met.is_some_and(|met| met.kind == Kind::LoseAnswer);
    let worked = state.write(move |book| {
        let id = match noted {
            Some(id) => id,
            None => requests::arrived(book.tx, &clerk.call.arrival)?,
        };
        let answer = clerk.answer(book)?;
        requests::settled(book.tx, id, (!is_lost).then(|| answer.status.as_u16()), answer.replayed)?;
        Ok(answer)
    });
    match worked.await {
        Ok(_) if is_lost => Reply::Lost,
        Ok(answer) => Reply::Answer(answer),
        Err(error) => {
            tracing::error!(%error, "the bank cannot write its ledger");
            Reply::Answer(Answer::refusing(&Refusal::internal()))
        }
    }
}
