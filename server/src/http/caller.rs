//! Who asks: a merchant by its API key, or a shopper's browser by a checkout's client token. A key grants nothing (R7).

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use engine::ClientToken;
use payment::CheckoutId;
use store::{ApiKeyKind, CheckoutRecord, StoreError, Tenant};

use super::{ApiError, App, Code, checkouts::not_found};
use crate::setup::key_hash;

/// Who asks.
#[derive(Clone, Debug)]
pub(super) enum Caller {
    /// A merchant's server.
    Merchant(Tenant),
    /// A shopper's browser.
    Shopper(ClientToken),
}

impl Caller {
    /// Whose rows it may see.
    pub(super) fn tenant(&self) -> &Tenant {
        match self {
            Self::Merchant(tenant) => tenant,
            Self::Shopper(token) => &token.tenant,
        }
    }

    /// Whether it may see this checkout.
    pub(super) fn may_see(&self, checkout: CheckoutId) -> bool {
        match self {
            Self::Merchant(_) => true,
            Self::Shopper(token) => token.checkout == checkout,
        }
    }

    /// Refuses a token of an earlier generation.
    pub(super) fn check_generation(&self, checkout: &CheckoutRecord) -> Result<(), ApiError> {
        match self {
            Self::Shopper(token) if token.version != checkout.token_version => Err(unauthorized()),
            Self::Merchant(_) | Self::Shopper(_) => Ok(()),
        }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        anyone(app, &parts.headers).await
    }
}

/// The answer to missing, unknown and forged credentials: always the same.
pub(super) fn unauthorized() -> ApiError {
    Code::Unauthorized.error("Send `Authorization: Bearer` with a key or client token that is valid.")
}

/// A merchant's server, by its secret key.
pub(super) async fn merchant(app: &App, headers: &HeaderMap) -> Result<Tenant, ApiError> {
    let bearer = bearer(headers).ok_or_else(unauthorized)?;
    if app.engine.vault.read_client_token(bearer).is_some() {
        return Err(not_found());
    }
    let Some(caller) = find(app, bearer).await? else { return Err(unauthorized()) };
    match caller.kind {
        ApiKeyKind::Secret => Ok(caller.tenant),
        ApiKeyKind::Publishable => {
            Err(Code::Forbidden.error("A publishable key may not do this; use the secret key."))
        }
    }
}

/// A merchant's server or a shopper's browser.
pub(super) async fn anyone(app: &App, headers: &HeaderMap) -> Result<Caller, ApiError> {
    let bearer = bearer(headers).ok_or_else(unauthorized)?;
    if let Some(token) = app.engine.vault.read_client_token(bearer) {
        return Ok(Caller::Shopper(token));
    }
    merchant(app, headers).await.map(Caller::Merchant)
}

/// A shopper's browser, by the token in a page's address.
pub(super) fn shopper(app: &App, token: Option<&str>) -> Option<Caller> {
    app.engine.vault.read_client_token(token?).map(Caller::Shopper)
}

async fn find(app: &App, key: &str) -> Result<Option<store::Caller>, ApiError> {
    let (directory, hash) = (app.engine.directory.clone(), key_hash(key));
    app.run(async move { directory.caller(hash).await.map_err(StoreError::into) }).await
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
