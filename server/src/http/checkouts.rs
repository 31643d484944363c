//! `/v1/checkouts`.

use axum::{Json, body::Body, extract::State, http::HeaderMap, response::Response};
use contract::{Checkout, CreateCheckout};
use engine::CheckoutOutcome;
use payment::{CheckoutId, CheckoutStatus, KeyKind};
use store::{CheckoutRecord, IntentRecord, KeyUse, MerchantRecord, StoreError, Tenant};

use super::{
    ApiError, App, Code, Id,
    body::read_json,
    caller::{self, Caller},
    idempotency,
    payment_intents::{in_question, story},
    terms,
};
use crate::answers::{checkout_view, checkout_with_charge};

/// When to come back while an account is being read, s.
const GATED_S: u32 = 10;

/// `POST /v1/checkouts`.
pub(super) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let tenant = caller::merchant(&app, &headers).await?;
    let key = idempotency::key(&headers)?;
    let body: CreateCheckout = read_json(&app, &headers, body).await?;
    let terms = terms::checkout(body, &merchant(&app, &tenant).await?.return_origins)?;
    let fingerprint = terms::checkout_fingerprint(&terms);
    let key = KeyUse { tenant, kind: KeyKind::CreateCheckout, key, fingerprint };
    let engine = app.engine.clone();
    match app.run(async move { engine.open_checkout(key, terms).await }).await? {
        CheckoutOutcome::Answer { answer, replayed } => Ok(idempotency::respond(answer, replayed)),
        CheckoutOutcome::KeyReused { field } => Err(key_reused(&field)),
        CheckoutOutcome::Paid(id) => Err(order_paid(format!("/v1/checkouts/{id}"))),
        CheckoutOutcome::InProgress(_, intent) => Err(Code::IntentInProgress
            .error("The order has a payment under way with other terms; it has to end first. Nothing was changed.")
            .at(format!("/v1/payment_intents/{intent}"))),
        CheckoutOutcome::Gated => Err(Code::Unavailable
            .error(
                "The server was away, and does not know yet whether the order has a payment under way with other terms. This request \
                 changed nothing and charged nothing. Repeat it with the same key.",
            )
            .retry_after_s(GATED_S)),
    }
}

/// `GET /v1/checkouts/{id}`.
pub(super) async fn show(
    State(app): State<App>,
    Id(id): Id,
    caller: Caller,
) -> Result<Json<Checkout>, ApiError> {
    let id: CheckoutId = id.parse().map_err(|_| not_found())?;
    let (checkout, intent) = find(&app, &caller, id).await?;
    Ok(Json(view(&app, &checkout, &intent).await?))
}

/// As it is now.
pub(super) async fn view(
    app: &App,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
) -> Result<Checkout, ApiError> {
    let view = checkout_view(&app.public_url, checkout, intent, &app.engine.token(checkout));
    if checkout.status != CheckoutStatus::Paid {
        return Ok(Checkout { in_question: in_question(app, checkout).await?, ..view });
    }
    Ok(checkout_with_charge(view, &story(app, intent).await?))
}

/// A checkout with its newest intent.
pub(super) async fn read(
    app: &App,
    tenant: &Tenant,
    id: CheckoutId,
) -> Result<(CheckoutRecord, IntentRecord), ApiError> {
    let (store, tenant) = (app.engine.store.clone(), tenant.clone());
    let found = app.run(async move { store.checkout(tenant, id).await.map_err(StoreError::into) }).await?;
    found.ok_or_else(not_found)
}

/// A checkout with its newest intent, for whoever may see them.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    id: CheckoutId,
) -> Result<(CheckoutRecord, IntentRecord), ApiError> {
    if !caller.may_see(id) {
        return Err(not_found());
    }
    let (checkout, intent) = read(app, caller.tenant(), id).await?;
    caller.check_generation(&checkout)?;
    Ok((checkout, intent))
}

pub(super) async fn merchant(app: &App, tenant: &Tenant) -> Result<MerchantRecord, ApiError> {
    let (directory, tenant) = (app.engine.directory.clone(), tenant.clone());
    let found = app.run(async move { directory.merchant(&tenant).await.map_err(StoreError::into) }).await?;
    found.ok_or_else(caller::unauthorized)
}

/// The same for a missing thing and for another's.
pub(super) fn not_found() -> ApiError {
    Code::NotFound.error("There is no such thing, or it is not yours.")
}

pub(super) fn key_reused(field: &str) -> ApiError {
    Code::KeyReused.field(
        field,
        format!("This key was first used with another `{field}`. Nothing was changed; a new intention needs a new key."),
    )
}

/// Nothing of it can be paid any more.
pub(super) fn not_open() -> ApiError {
    Code::CheckoutNotOpen.error("The checkout is not open any more: nothing was sent for this request.")
}

pub(super) fn order_paid(location: String) -> ApiError {
    Code::OrderPaid
        .error("The order is paid; nothing was charged for this request. A second purchase needs another order_id.")
        .at(location)
}
