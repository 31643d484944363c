//! What the bank says when it does not do what was asked, in the shape of YooKassa's errors.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::ids;

/// A refusal: nothing was done.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    code: &'static str,
    description: String,
    parameter: Option<String>,
}

/// Why an operation did not succeed.
pub(crate) enum Failure {
    /// Said to the client.
    Refused(Refusal),
    /// Logged; the client hears of an internal error.
    Ledger(rusqlite::Error),
}

impl Refusal {
    /// 400: the request is wrong, and `parameter` is to blame.
    pub fn invalid(parameter: &str, description: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", description).blaming(parameter)
    }

    /// 401.
    pub fn unauthorized() -> Self {
        let description = "Basic authentication with the shop id and its secret key is wanted";
        Self::new(StatusCode::UNAUTHORIZED, "invalid_credentials", description).blaming("Authorization")
    }

    /// 404: no such object; `parameter` named it.
    pub fn not_found(parameter: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is no such object").blaming(parameter)
    }

    /// 429.
    pub fn too_many_requests() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "Too many requests: come back later")
    }

    /// 500: to the client it says nothing about what was done.
    pub fn internal() -> Self {
        let description = "Something went wrong; repeat the request with the same Idempotence-Key";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", description)
    }

    /// The error's body, with an id of its own.
    pub fn body(&self) -> Value {
        let mut body = json!({
            "type": "error", "id": ids::fresh(), "code": self.code, "description": self.description,
        });
        if let Some(parameter) = &self.parameter {
            body["parameter"] = parameter.as_str().into();
        }
        body
    }

    fn new(status: StatusCode, code: &'static str, description: impl Into<String>) -> Self {
        Self { status, code, description: description.into(), parameter: None }
    }

    fn blaming(mut self, parameter: &str) -> Self {
        self.parameter = Some(parameter.to_owned());
        self
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Ledger(error)
    }
}
