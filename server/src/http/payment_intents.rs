//! `/v1/payment_intents`, and the trying again under `/v1/checkouts/{id}/payment_intents`.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{IntentState, PaymentIntent, PaymentMethodInput, Submit};
use engine::{Claim, IntentOutcome, Submission, SubmitOutcome};
use payment::{CheckoutId, CheckoutStatus, Fingerprint, IdempotencyKey, IntentId, KeyKind, StateName};
use providers::Method;
use store::{CheckoutRecord, IntentRecord, KeyUse, StoreError, Story, Tenant};

use super::{
    ApiError, App, Code, Id,
    body::{read_json, read_nothing},
    caller::{self, Caller},
    checkouts::{key_reused, not_found, order_paid},
    idempotency, panicked, terms,
};
use crate::answers::{
    checkout_view, intent_location, intent_view, intent_with_progress, intent_with_story, is_awaited,
};

/// How often a waiting repeat looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// When to ask again for a result that is not known.
const RETRY_AFTER_S: u32 = 1;
/// Longest token a provider gives.
const MAX_TOKEN_CHARS: usize = 4096;

/// `POST /v1/checkouts/{id}/payment_intents`.
pub(super) async fn create(
    State(app): State<App>,
    Id(id): Id,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let caller = caller::anyone(&app, &headers).await?;
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
    if !caller.may_see(id) {
        return Err(not_found());
    }
    if let Caller::Shopper(_) = caller {
        let (store, tenant) = (app.engine.store.clone(), caller.tenant().clone());
        let found =
            app.run(async move { store.checkout(tenant, id).await.map_err(StoreError::into) }).await?;
        caller.check_generation(&found.ok_or_else(not_found)?.0)?;
    }
    let fingerprint = Fingerprint::new(KeyKind::CreateIntent, &[("checkout", id.to_string())]);
    let key = KeyUse { tenant: caller.tenant().clone(), kind: KeyKind::CreateIntent, key, fingerprint };
    let engine = app.engine.clone();
    match app.run(async move { engine.open_intent(key, id).await }).await? {
        IntentOutcome::Answer { answer, replayed } => Ok(idempotency::respond(answer, replayed)),
        IntentOutcome::KeyReused { field } => Err(key_reused(&field)),
        IntentOutcome::NotFound => Err(not_found()),
        IntentOutcome::Paid(intent) => Err(order_paid(format!("/v1/payment_intents/{intent}"))),
        IntentOutcome::NotOpen => Err(not_open()),
        IntentOutcome::TooMany => {
            Err(Code::TooManyIntents.error("This checkout has been tried too often. Nothing was charged."))
        }
    }
}

/// `GET /v1/payment_intents/{id}`.
pub(super) async fn show(
    State(app): State<App>,
    Id(id): Id,
    headers: HeaderMap,
) -> Result<Json<PaymentIntent>, ApiError> {
    let caller = caller::anyone(&app, &headers).await?;
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
            intent_with_story(&checkout, &intent, app.engine.provider.name(), story)
        }
    };
    let closed = matches!(checkout.status, CheckoutStatus::Canceled | CheckoutStatus::Expired);
    Ok(PaymentIntent { behind, closed, ..view })
}

/// With what was done so far, while there is a result to wait for. Where a stranger's money for the order stands before a person,
/// the shopper is told so: it may be this shopper's own, and nothing else is sent for the order until then.
pub(super) async fn shopper_view(
    app: &App,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
) -> Result<PaymentIntent, ApiError> {
    let view = if is_awaited(intent.state.name()) {
        intent_with_progress(checkout, intent, &story(app, intent).await?)
    } else {
        intent_view(checkout, intent)
    };
    let unsettled = checkout.status != CheckoutStatus::Paid && intent.state.object().is_none();
    if !unsettled || !is_blocked(app, checkout).await? {
        return Ok(view);
    }
    Ok(PaymentIntent { state: IntentState::NeedsReview, decline: None, ..view })
}

async fn is_blocked(app: &App, checkout: &CheckoutRecord) -> Result<bool, ApiError> {
    let (store, tenant, order) = (app.engine.store.clone(), checkout.tenant.clone(), checkout.order.clone());
    app.run(async move { store.is_blocked(tenant, order).await.map_err(StoreError::into) }).await
}

async fn story(app: &App, intent: &IntentRecord) -> Result<Story, ApiError> {
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

/// `POST /v1/payment_intents/{id}/submit`.
pub(super) async fn submit(
    State(app): State<App>,
    Id(id): Id,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let caller = caller::anyone(&app, &headers).await?;
    let key = idempotency::key(&headers)?;
    let body: Submit = read_json(&app, &headers, body).await?;
    submit_as(&app, &caller, &id, key, body).await
}

/// Submits, for the API and for a page's form alike.
pub(super) async fn submit_as(
    app: &App,
    caller: &Caller,
    id: &str,
    key: IdempotencyKey,
    body: Submit,
) -> Result<Response, ApiError> {
    let amount = terms::money("amount", &body.amount)?;
    let email = terms::email(body.customer)?;
    let (checkout, intent) = find(app, caller, id).await?;
    let fields = [
        ("payment_intent", intent.id.to_string()),
        ("checkout_version", body.checkout_version.to_string()),
        ("amount", amount.to_string()),
    ];
    let fingerprint = Fingerprint::new(KeyKind::Submit, &fields);
    let submission = Submission {
        key: KeyUse { tenant: checkout.tenant, kind: KeyKind::Submit, key, fingerprint },
        intent: intent.id,
        version: body.checkout_version,
        amount,
        method: method(body.payment_method)?,
        email,
    };
    // One task for the claim and its driver: a client that goes away between them would leave the claim to its lease's end.
    let app = app.clone();
    app.tasks.clone().spawn(async move { submitted(&app, submission).await }).await.map_err(panicked)?
}

async fn submitted(app: &App, submission: Submission) -> Result<Response, ApiError> {
    match run_submit(app, submission.clone()).await? {
        SubmitOutcome::Claimed(claim) => Ok(drive(app, *claim).await?),
        SubmitOutcome::Known { answer: Some(answer), .. } => Ok(idempotency::respond(answer, true)),
        SubmitOutcome::Known { checkout, intent, answer: None } if was_withdrawn(&checkout, &intent) => {
            Err(withdrawn(app, *checkout).await?)
        }
        SubmitOutcome::Known { checkout, intent, answer: None } => {
            repeat(app, submission, *checkout, *intent).await
        }
        SubmitOutcome::KeyReused { field } => Err(key_reused(&field)),
        SubmitOutcome::WrongKey => Err(Code::SubmitKeyMismatch.field(
            contract::IDEMPOTENCY_KEY,
            "Send the intent's own submit_key as the Idempotency-Key. Nothing was sent.",
        )),
        SubmitOutcome::NotFound => Err(not_found()),
        SubmitOutcome::Paid(checkout) => Err(order_paid(format!("/v1/checkouts/{checkout}"))),
        SubmitOutcome::NotOpen(_) => Err(not_open()),
        SubmitOutcome::Changed(checkout) => Err(changed(app, *checkout).await?),
    }
}

async fn run_submit(app: &App, submission: Submission) -> Result<SubmitOutcome, ApiError> {
    let engine = app.engine.clone();
    app.run(async move { engine.submit(submission).await }).await
}

/// Drives what this request claimed, and waits for it a while; the work goes on whether anybody waits or not.
async fn drive(app: &App, claim: Claim) -> Result<Response, ApiError> {
    let (engine, intent) = (app.engine.clone(), &claim.work.intent);
    let (tenant, id) = (intent.tenant.clone(), intent.id);
    let driving = app.tasks.spawn(async move { engine.drive(claim).await });
    match tokio::time::timeout(app.patience.submit, driving).await {
        Ok(Ok(Ok(driven))) => Ok(intent_response(&driven.checkout, &driven.intent)),
        Ok(Ok(Err(error))) => {
            // The claim is committed: whatever failed, the operation goes on from there, and the caller is told where it stands.
            tracing::warn!(intent = %id, %error, "driving failed; its lease ends and it is driven again");
            current(app, tenant, id).await
        }
        Ok(Err(panicked)) => {
            tracing::error!(intent = %id, error = %panicked, "driving panicked; its lease ends and it is driven again");
            current(app, tenant, id).await
        }
        Err(_) => current(app, tenant, id).await,
    }
}

async fn current(app: &App, tenant: Tenant, id: IntentId) -> Result<Response, ApiError> {
    let (checkout, intent) = read(app, tenant, id).await?;
    Ok(intent_response(&checkout, &intent))
}

/// A repeat while the first is under way, or after it with no final answer: a short wait, then the true state.
async fn repeat(
    app: &App,
    submission: Submission,
    mut checkout: CheckoutRecord,
    mut intent: IntentRecord,
) -> Result<Response, ApiError> {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let rounds = app.patience.repeat.as_millis() / LOOK_EVERY.as_millis();
    for _ in 0..rounds {
        if intent.state.name() != StateName::Processing {
            break;
        }
        looks.tick().await;
        (checkout, intent) = read(app, intent.tenant.clone(), intent.id).await?;
    }
    if intent.state.is_terminal()
        && let SubmitOutcome::Known { answer: Some(answer), .. } = run_submit(app, submission).await?
    {
        return Ok(idempotency::respond(answer, true));
    }
    Ok(intent_response(&checkout, &intent))
}

/// 200 where the state is one to go on from, 202 where the result is not known. What was done to learn it is no part of an answer
/// that every repeat gets alike.
fn intent_response(checkout: &CheckoutRecord, intent: &IntentRecord) -> Response {
    let settled = match intent.state.name() {
        StateName::Processing | StateName::Confirming | StateName::NeedsReview => false,
        StateName::Created
        | StateName::RequiresAction
        | StateName::Authorized
        | StateName::Succeeded
        | StateName::Declined
        | StateName::Canceled
        | StateName::Expired => true,
    };
    let status = if settled { StatusCode::OK } else { StatusCode::ACCEPTED };
    let mut response = (status, Json(intent_view(checkout, intent))).into_response();
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&intent_location(intent)).ok().map(|at| (header::LOCATION, at)));
    if !settled {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
    response
}

async fn read(app: &App, tenant: Tenant, id: IntentId) -> Result<(CheckoutRecord, IntentRecord), ApiError> {
    let store = app.engine.store.clone();
    let found = app.run(async move { store.intent(tenant, id).await.map_err(StoreError::into) }).await?;
    found.ok_or_else(not_found)
}

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

fn method(input: PaymentMethodInput) -> Result<Method, ApiError> {
    match input {
        PaymentMethodInput::CardToken { token } if token.is_empty() || token.len() > MAX_TOKEN_CHARS => {
            Err(Code::InvalidField.field("payment_method.token", "must be the token the provider gave"))
        }
        PaymentMethodInput::CardToken { token } => Ok(Method::CardToken(token)),
        PaymentMethodInput::Redirect {} => Ok(Method::Redirect),
    }
}

fn not_open() -> ApiError {
    Code::CheckoutNotOpen.error("The checkout is expired or withdrawn. Nothing was charged.")
}

/// Whether the intent ended unsubmitted because the checkout got other terms: its tab shows the old ones (fault 65).
fn was_withdrawn(checkout: &CheckoutRecord, intent: &IntentRecord) -> bool {
    intent.method.is_none() && intent.state.is_terminal() && intent.checkout_version != checkout.version
}

async fn withdrawn(app: &App, checkout: CheckoutRecord) -> Result<ApiError, ApiError> {
    match checkout.status {
        CheckoutStatus::Open => changed(app, checkout).await,
        CheckoutStatus::Paid => Ok(order_paid(format!("/v1/checkouts/{}", checkout.id))),
        CheckoutStatus::Canceled | CheckoutStatus::Expired => Ok(not_open()),
    }
}

async fn changed(app: &App, checkout: CheckoutRecord) -> Result<ApiError, ApiError> {
    let (store, tenant, id) = (app.engine.store.clone(), checkout.tenant.clone(), checkout.id);
    let found = app.run(async move { store.checkout(tenant, id).await.map_err(StoreError::into) }).await?;
    let (checkout, intent) = found.ok_or_else(not_found)?;
    let view = checkout_view(&app.public_url, &checkout, &intent, &app.engine.token(&checkout));
    let detail = "The terms are not those that were shown. Nothing was charged; the shopper has to confirm the new ones.";
    Ok(Code::CheckoutChanged.error(detail).with_checkout(view))
}
