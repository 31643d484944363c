//! A request under `/v3`, as far as it can be read without touching the ledger.

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Uri, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::fault_kinds::On;
use crate::refusal::Refusal;
use crate::requests::Arrival;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read(Read),
    Change(Change),
}

/// A question. An `id` is whatever the path said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Payment { id: String },
    Payments,
    Refund { id: String },
    Refunds,
}

/// What moves money or prepares it, and wants a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    CreatePayment,
    Capture { id: String },
    Cancel { id: String },
    CreateRefund,
}

/// The request.
#[derive(Clone)]
pub(crate) struct Call {
    pub arrival: Arrival,
    /// `None`: the dialect has no such method and path.
    pub action: Option<Action>,
    pub query: String,
    authorization: Option<String>,
    body: Bytes,
}

impl Call {
    pub fn new(method: &Method, uri: &Uri, headers: &HeaderMap, body: Bytes, at_ms: i64) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let arrival = Arrival {
            method: method.to_string(),
            path: uri.path().to_owned(),
            idempotence_key: text("idempotence-key"),
            body_sha256: hex(&Sha256::digest(&body)),
            at_ms,
        };
        Self {
            arrival,
            action: Action::of(method, uri.path()),
            query: uri.query().unwrap_or_default().to_owned(),
            authorization: text(header::AUTHORIZATION.as_str()),
            body,
        }
    }

    /// Whether these are the shop's credentials.
    pub fn is_from(&self, shop_id: &str, secret: &str) -> bool {
        let credentials = self.authorization.as_deref().and_then(|header| {
            let (scheme, encoded) = header.split_once(' ')?;
            let basic = scheme.eq_ignore_ascii_case("basic");
            BASE64_STANDARD.decode(encoded.trim()).ok().filter(|_| basic)
        });
        credentials.is_some_and(|given| given == format!("{shop_id}:{secret}").into_bytes())
    }

    /// The body; an empty one is an empty object, since clients send capture and cancel without any.
    pub fn body(&self) -> Result<Value, Refusal> {
        if self.body.is_empty() {
            return Ok(Value::Object(Default::default()));
        }
        let body = serde_json::from_slice(&self.body).ok().filter(Value::is_object);
        body.ok_or_else(|| Refusal::invalid("body", "A JSON object is wanted"))
    }
}

impl Action {
    fn of(method: &Method, path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix("/v3/")?.split('/').collect();
        let action = match (method.as_str(), segments.as_slice()) {
            ("GET", ["payments"]) => Action::Read(Read::Payments),
            ("GET", ["payments", id]) => Action::Read(Read::Payment { id: id.to_string() }),
            ("GET", ["refunds"]) => Action::Read(Read::Refunds),
            ("GET", ["refunds", id]) => Action::Read(Read::Refund { id: id.to_string() }),
            ("POST", ["payments"]) => Action::Change(Change::CreatePayment),
            ("POST", ["payments", id, "capture"]) => Action::Change(Change::Capture { id: id.to_string() }),
            ("POST", ["payments", id, "cancel"]) => Action::Change(Change::Cancel { id: id.to_string() }),
            ("POST", ["refunds"]) => Action::Change(Change::CreateRefund),
            _ => return None,
        };
        Some(action)
    }

    /// The name under which faults wait for it.
    pub fn on(&self) -> On {
        match self {
            Action::Read(Read::Payment { .. } | Read::Refund { .. }) => On::Get,
            Action::Read(Read::Payments | Read::Refunds) => On::List,
            Action::Change(Change::CreatePayment) => On::Create,
            Action::Change(Change::Capture { .. }) => On::Capture,
            Action::Change(Change::Cancel { .. }) => On::Cancel,
            Action::Change(Change::CreateRefund) => On::Refund,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
