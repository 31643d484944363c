//! Notifications of providers: written down, then acknowledged. Whoever knows the secret address may send one, and nobody
//! believes what it says: it only makes us ask.

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    http::StatusCode,
};
use engine::{Accepted, Engine, EngineError};
use payment::{MerchantId, Mode};
use serde::de::IgnoredAny;
use store::{MerchantRecord, Tenant};
use subtle::ConstantTimeEq;

use super::{ApiError, App, Code, body, problem, rate};
use crate::setup::key_hash;

/// As merchants' providers are called.
const YOOKASSA: &str = "yookassa";

/// `POST /v1/webhooks/yookassa/{merchant}/{secret}`. Anything but 200 makes the provider send it again, for a day.
pub(super) async fn yookassa(
    State(app): State<App>,
    path: Result<Path<(String, String)>, PathRejection>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let Some(tenant) = receiver(&app, path).await? else {
        // Only who does not know the address is slowed down: a provider never is.
        rate::admit(&app, &request)?;
        return Err(problem::not_found().await);
    };
    let body = body::read(&app, request.into_body()).await?;
    let (engine, notice) = (app.engine.clone(), body.clone());
    match app.run(async move { engine.accept_notice(&tenant, &notice).await }).await? {
        Accepted::Committed(_) => app.inbox.nudge(),
        // Providers have events that are not about payments, and may have more of them tomorrow.
        Accepted::NotOurs if serde_json::from_slice::<IgnoredAny>(&body).is_ok() => {
            tracing::info!("a notification about something else than a payment or a refund is left alone");
        }
        Accepted::NotOurs => return Err(Code::InvalidJson.error("A notification is JSON.")),
    }
    Ok(StatusCode::OK)
}

/// Whose address this is; an unknown merchant and a wrong secret are the same.
async fn receiver(
    app: &App,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Option<Tenant>, ApiError> {
    let Ok(Path((merchant, secret))) = path else { return Ok(None) };
    let Ok(merchant) = MerchantId::parse(merchant) else { return Ok(None) };
    let engine = app.engine.clone();
    app.run(async move { addressee(&engine, merchant, key_hash(&secret)).await }).await
}

async fn addressee(
    engine: &Engine,
    merchant: MerchantId,
    hash: [u8; 32],
) -> Result<Option<Tenant>, EngineError> {
    let knows = |record: &MerchantRecord| {
        let kept = record.notify_secret_hash.filter(|_| record.provider == YOOKASSA);
        kept.is_some_and(|kept| kept.ct_eq(&hash).into())
    };
    for mode in [Mode::Test, Mode::Live] {
        let tenant = Tenant { merchant: merchant.clone(), mode };
        if engine.directory.merchant(&tenant).await?.as_ref().is_some_and(knows) {
            return Ok(Some(tenant));
        }
    }
    Ok(None)
}
