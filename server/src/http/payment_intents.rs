//! `GET /v1/payment_intents`: who may see which, and as what; and the trying again under `/v1/checkouts/{id}/payment_intents`.

use axum::{Json, body::Body, extract::State, http::HeaderMap, response::Response};
use contract::{ExtraCharge, InQuestion, IntentState, PaymentIntent, Progress};
use engine::{Changes, IntentOutcome};
use payment::{CheckoutId, CheckoutStatus, Fingerprint, IdempotencyKey, IntentId, KeyKind, StateName};
use store::{CheckoutRecord, Doubt, IntentRecord, KeyUse, StoreError, Story, Tenant};

use super::{
    ApiError, App, Code, Id,
    body::read_nothing,
    caller::Caller,
    checkouts::{self, key_reused, not_found, not_open, order_paid},
    idempotency,
};
use crate::answers::{intent_view, intent_with_story, rfc3339, with_charges, with_progress};

/// `POST /v1/checkouts/{id}/payment_intents`.
pub(super) async fn create(
    State(app): State<App>,
    Id(id): Id,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let key = idempotency::key(&headers)?;
    read_nothing(&app, body).await?;
    let id: CheckoutId = id.parse().map_err(|_| not_found())?;
    open(&app, &caller, id, key).await
}

/// Tries a checkout again, for the API and for a page's form alike.
pub(super) async fn open(
    app: &App,
    caller: &Caller,
    id: CheckoutId,
    key: IdempotencyKey,
) -> Result<Response, ApiError> {
    if let Caller::Shopper(_) = caller {
        checkouts::find(app, caller, id).await?;
    }
    let fingerprint = Fingerprint::new(KeyKind::CreateIntent, &[("checkout", id.to_string())]);
    let key = KeyUse { tenant: caller.tenant().clone(), kind: KeyKind::CreateIntent, key, fingerprint };
    let engine = app.engine.clone();
    match app.run(async move { engine.open_intent(key, id).await }).await? {
        IntentOutcome::Answer { answer, replayed } => {
            tell_previous(app, caller.tenant(), id).await;
            Ok(idempotency::respond(answer, replayed))
        }
        IntentOutcome::KeyReused { field } => Err(key_reused(&field)),
        IntentOutcome::NotFound => Err(not_found()),
        IntentOutcome::Paid(intent) => Err(order_paid(format!("/v1/payment_intents/{intent}"))),
        IntentOutcome::NotOpen => Err(not_open()),
        IntentOutcome::TooMany => Err(Code::TooManyIntents
            .error("This checkout has been tried too often: nothing was sent for this request.")),
    }
}

/// Whoever still looks at the try before the newest one is to follow. The new one is there, whatever becomes of this.
async fn tell_previous(app: &App, tenant: &Tenant, id: CheckoutId) {
    let newest = checkouts::read(app, tenant, id).await.ok();
    if let Some(previous) = newest.and_then(|(_, newest)| newest.previous) {
        app.live.changed(tenant, previous);
    }
}

/// `GET /v1/payment_intents/{id}`.
pub(super) async fn show(
    State(app): State<App>,
    Id(id): Id,
    caller: Caller,
) -> Result<Json<PaymentIntent>, ApiError> {
    Ok(Json(view(&app, &caller, &id).await?))
}

/// An intent as it is now, as this caller may see it.
pub(super) async fn view(app: &App, caller: &Caller, id: &str) -> Result<PaymentIntent, ApiError> {
    let (checkout, intent) = find(app, caller, id).await?;
    let behind = is_behind(app, &checkout, &intent).await?;
    let view = match caller {
        Caller::Shopper(_) => shopper_view(app, &checkout, &intent).await?,
        Caller::Merchant(_) => {
            let story = story(app, &intent).await?;
            let view = intent_with_story(&checkout, &intent, app.engine.provider.name(), story);
            PaymentIntent { in_question: in_question(app, &checkout).await?, ..view }
        }
    };
    let closed = matches!(checkout.status, CheckoutStatus::Canceled | CheckoutStatus::Expired);
    Ok(PaymentIntent { behind, closed: closed || view.closed, ..view })
}

/// As the shopper may see it: with the address that the result will be told to, while there is one to wait for. It need not be the
/// address that this shopper typed: another device's may have been first.
pub(super) async fn shopper_view(
    app: &App,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
) -> Result<PaymentIntent, ApiError> {
    let view = progress_view(app, checkout, intent).await?;
    // Of what only waits for other money no mail is written.
    let told = app.mails && view.state.is_awaited() && view.in_question.is_none();
    Ok(PaymentIntent { told_to: email(checkout, intent).filter(|_| told), ..view })
}

/// The shopper's own, else what the merchant knows.
pub(super) fn email(checkout: &CheckoutRecord, intent: &IntentRecord) -> Option<String> {
    intent.email.clone().or_else(|| checkout.email.clone())
}

/// With what was done so far, while there is a result to wait for; of a paid order, with what else was charged. Where a stranger's money for the order stands before a person,
/// the shopper is told so: it may be this shopper's own, and nothing else is sent for the order until then.
async fn progress_view(
    app: &App,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
) -> Result<PaymentIntent, ApiError> {
    let mut view = intent_view(checkout, intent);
    let awaited = view.state.is_awaited();
    // What waits for the shopper at the bank has taken no money yet, and must not while other money may be theirs.
    let untaken = intent.state.object().is_none() || intent.state.name() == StateName::RequiresAction;
    let unsettled = checkout.status != CheckoutStatus::Paid && untaken;
    let doubt = if unsettled { doubt(app, checkout).await? } else { None };
    let late = app.engine.clock.moments().wall_ms >= checkout.expires_at.0;
    match doubt {
        Some(Doubt::Stranger) => {
            (view.state, view.next_action) = (IntentState::NeedsReview, None);
            (view.decline, view.cancel_reason) = (None, None);
            view.in_question = (!awaited).then_some(InQuestion::Review);
        }
        // That its time is over is written once the gate is up; it is not offered until then.
        Some(Doubt::Gate) if intent.state.is_terminal() || (view.state == IntentState::Created && late) => {
            return Ok(PaymentIntent { closed: late, ..held(view, intent) });
        }
        // It can be paid; the page says that it may have been.
        Some(Doubt::Gate) if view.state == IntentState::Created => view.progress = Some(waiting(intent)),
        Some(Doubt::Gate) | None => {}
    }
    if !awaited && checkout.status != CheckoutStatus::Paid {
        return Ok(view);
    }
    let story = story(app, intent).await?;
    let view = with_charges(with_progress(view, &story), &story);
    let settled = view.extra_charge.is_none() || view.returned;
    let is_paid = checkout.status == CheckoutStatus::Paid && settled;
    if is_paid && self::doubt(app, checkout).await? == Some(Doubt::Stranger) {
        return Ok(PaymentIntent { extra_charge: Some(ExtraCharge::InReview), returned: false, ..view });
    }
    Ok(view)
}

/// Why it is not known whether money was taken for a checkout's order.
pub(super) async fn doubt(app: &App, checkout: &CheckoutRecord) -> Result<Option<Doubt>, ApiError> {
    let (store, tenant, order) = (app.engine.store.clone(), checkout.tenant.clone(), checkout.order.clone());
    app.run(async move { store.doubt(tenant, order).await.map_err(StoreError::into) }).await
}

/// The same for the merchant, of an order that is not paid as far as we know.
pub(super) async fn in_question(
    app: &App,
    checkout: &CheckoutRecord,
) -> Result<Option<InQuestion>, ApiError> {
    if checkout.status == CheckoutStatus::Paid {
        return Ok(None);
    }
    Ok(doubt(app, checkout).await?.map(|doubt| match doubt {
        Doubt::Stranger => InQuestion::Review,
        Doubt::Gate => InQuestion::Restore,
    }))
}

/// While the gate is down, what a copy calls over may have been paid since: it waits until that is known.
pub(super) fn held(view: PaymentIntent, intent: &IntentRecord) -> PaymentIntent {
    PaymentIntent {
        state: IntentState::Processing,
        in_question: Some(InQuestion::Restore),
        decline: None,
        cancel_reason: None,
        progress: Some(waiting(intent)),
        ..view
    }
}

fn waiting(intent: &IntentRecord) -> Progress {
    Progress { since: rfc3339(intent.created_at), held: true, ..Progress::default() }
}

/// All that is known of an intent and of what its checkout was charged.
pub(super) async fn story(app: &App, intent: &IntentRecord) -> Result<Story, ApiError> {
    let (store, tenant, id) = (app.engine.store.clone(), intent.tenant.clone(), intent.id);
    let story = app.run(async move { store.story(tenant, id).await.map_err(StoreError::into) }).await?;
    story.ok_or_else(not_found)
}

/// Whether the checkout was paid by another charge, or has a newer intent; only what has ended can have been followed.
async fn is_behind(app: &App, checkout: &CheckoutRecord, intent: &IntentRecord) -> Result<bool, ApiError> {
    if intent.state.name() == StateName::Succeeded {
        return Ok(false);
    }
    if checkout.status == CheckoutStatus::Paid || !intent.state.is_terminal() {
        return Ok(checkout.status == CheckoutStatus::Paid);
    }
    let (store, tenant, id) = (app.engine.store.clone(), checkout.tenant.clone(), checkout.id);
    let newest = app.run(async move { store.checkout(tenant, id).await.map_err(StoreError::into) }).await?;
    Ok(newest.is_some_and(|(_, newest)| newest.id != intent.id))
}

/// An intent with its checkout.
pub(super) async fn read(
    app: &App,
    tenant: Tenant,
    id: IntentId,
) -> Result<(CheckoutRecord, IntentRecord), ApiError> {
    let store = app.engine.store.clone();
    let found = app.run(async move { store.intent(tenant, id).await.map_err(StoreError::into) }).await?;
    found.ok_or_else(not_found)
}

/// An intent with its checkout, for whoever may see them.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    id: &str,
) -> Result<(CheckoutRecord, IntentRecord), ApiError> {
    let id: IntentId = id.parse().map_err(|_| not_found())?;
    let (checkout, intent) = read(app, caller.tenant().clone(), id).await?;
    if !caller.may_see(checkout.id) {
        return Err(not_found());
    }
    caller.check_generation(&checkout)?;
    Ok((checkout, intent))
}
