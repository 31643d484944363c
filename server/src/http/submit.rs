//! `POST /v1/payment_intents/{id}/submit`: the claim, and how long its caller waits for what comes of it.
//! Must never begin a payment itself, nor say what its result is before the provider has.

use std::time::Duration;

use app::Lang;
use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{PaymentMethodInput, Submit};
use engine::{Claim, Submission, SubmitOutcome};
use payment::{CheckoutStatus, Fingerprint, IdempotencyKey, IntentId, KeyKind, StateName};
use providers::Method;
use store::{CheckoutRecord, IntentRecord, KeyUse, Tenant};

use super::{
    ApiError, App, Code, Id,
    body::read_json,
    caller::Caller,
    checkouts::{self, key_reused, not_found, not_open, order_paid},
    idempotency,
    pages::Address,
    panicked,
    payment_intents::{find, read},
    terms,
};
use crate::answers::{checkout_view, intent_location, intent_view};

/// How often a waiting repeat looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// When to ask again for a result that is not known.
const RETRY_AFTER_S: u32 = 1;
/// Longest token a provider gives.
const MAX_TOKEN_CHARS: usize = 4096;

/// `POST /v1/payment_intents/{id}/submit`.
pub(super) async fn submit(
    State(app): State<App>,
    Id(id): Id,
    caller: Caller,
    address: Address,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let key = idempotency::key(&headers)?;
    let body: Submit = read_json(&app, &headers, body).await?;
    submit_as(&app, &caller, &id, key, body, address.known).await
}

/// Submits, for the API and for a page's form alike.
pub(super) async fn submit_as(
    app: &App,
    caller: &Caller,
    id: &str,
    key: IdempotencyKey,
    body: Submit,
    lang: Option<Lang>,
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
        lang: lang.map(Lang::tag),
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
        SubmitOutcome::Known { checkout, intent, answer: None } if was_replaced(&checkout, &intent) => {
            Err(replaced(app, *checkout).await?)
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

fn method(input: PaymentMethodInput) -> Result<Method, ApiError> {
    match input {
        PaymentMethodInput::CardToken { token } if token.is_empty() || token.len() > MAX_TOKEN_CHARS => {
            Err(Code::InvalidField.field("payment_method.token", "must be the token the provider gave"))
        }
        PaymentMethodInput::CardToken { token } => Ok(Method::CardToken(token)),
        PaymentMethodInput::Redirect {} => Ok(Method::Redirect),
    }
}

/// Whether the intent ended unsubmitted because the checkout got other terms: its tab shows the old ones (fault 65).
fn was_replaced(checkout: &CheckoutRecord, intent: &IntentRecord) -> bool {
    intent.method.is_none() && intent.state.is_terminal() && intent.checkout_version != checkout.version
}

async fn replaced(app: &App, checkout: CheckoutRecord) -> Result<ApiError, ApiError> {
    match checkout.status {
        CheckoutStatus::Open => changed(app, checkout).await,
        CheckoutStatus::Paid => Ok(order_paid(format!("/v1/checkouts/{}", checkout.id))),
        CheckoutStatus::Canceled | CheckoutStatus::Expired => Ok(not_open()),
    }
}

async fn changed(app: &App, checkout: CheckoutRecord) -> Result<ApiError, ApiError> {
    let (checkout, intent) = checkouts::read(app, &checkout.tenant, checkout.id).await?;
    let view = checkout_view(&app.public_url, &checkout, &intent, &app.engine.token(&checkout));
    let detail = "The terms are not those that were shown. Nothing was sent for them; the shopper has to confirm the new ones.";
    Ok(Code::CheckoutChanged.error(detail).with_checkout(view))
}
