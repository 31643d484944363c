//! `/healthz` and `/readyz`.

use axum::{Json, extract::State};
use serde_json::{Value, json};
use store::StoreError;

use super::{ApiError, App, Code};

/// The process answers.
pub(super) async fn alive() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// The database answers and some merchant has a provider.
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Value>, ApiError> {
    let (store, directory) = (app.engine.store.clone(), app.engine.directory.clone());
    let merchants = app
        .run(async move {
            store.ping().await?;
            directory.merchants().await.map_err(StoreError::into)
        })
        .await?;
    if merchants.is_empty() {
        return Err(
            Code::Unavailable.error("No merchant is configured, so there is no provider to pay with.")
        );
    }
    Ok(Json(json!({ "status": "ok", "database": "ok", "provider": "configured" })))
}
