//! Answers, and the ways in which a fault spoils one. Nothing here changes the ledger.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::fault_kinds::Kind;
use crate::faults::Met;
use crate::refusal::Refusal;

/// What a spoiled sum is too large by, in whole units.
const WRONG_BY: i64 = 1;
/// When a client is told to come back, unless the fault says otherwise.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What the bank has to say.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    body: Value,
    /// The key had been seen.
    pub replayed: bool,
    cut: bool,
}

/// What the client gets.
pub(crate) enum Reply {
    Answer(Answer),
    /// Nothing: the connection closes.
    Lost,
}

/// Marks a response that must never be sent: `serve` closes its connection instead.
#[derive(Clone, Copy)]
pub(crate) struct Unsent;

impl Answer {
    /// 200 with an object or a list.
    pub fn of(body: Value) -> Self {
        Self { status: StatusCode::OK, body, replayed: false, cut: false }
    }

    /// An error.
    pub fn refusing(refusal: &Refusal) -> Self {
        Self { status: refusal.status, body: refusal.body(), replayed: false, cut: false }
    }

    /// The same, to a key that had been seen.
    pub fn replayed(self) -> Self {
        Self { replayed: true, ..self }
    }

    /// As the client sees it under a fault. `held_back`: the fault was spent on the payment itself.
    pub fn spoiled(mut self, met: Met, held_back: bool) -> Self {
        let replayed = self.replayed;
        match met.kind {
            Kind::Garbage => self.cut = true,
            Kind::Error500After => self = Self::refusing(&Refusal::internal()),
            Kind::Processing202 => {
                let wait = if met.delay.is_zero() { RETRY_AFTER } else { met.delay };
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                self.status = StatusCode::ACCEPTED;
                self.body =
                    json!({ "type": "processing", "description": "Come back later", "retry_after": wait_ms });
            }
            Kind::WrongAmount if self.status == StatusCode::OK => each_object(&mut self.body, raise_amount),
            Kind::Pending if self.status == StatusCode::OK && !held_back => {
                each_object(&mut self.body, undecide)
            }
            Kind::NotFound if self.body["type"] == "list" => {
                self.body = json!({ "type": "list", "items": [] })
            }
            Kind::WrongAmount
            | Kind::Pending
            | Kind::NotFound
            | Kind::LoseRequest
            | Kind::LoseAnswer
            | Kind::Error500Before
            | Kind::Error500Stored
            | Kind::Delay
            | Kind::RateLimit
            | Kind::BadRequest
            | Kind::Unauthorized
            | Kind::ForgetKeys
            | Kind::Reverse
            | Kind::Notify(_) => {}
        }
        Self { replayed, ..self }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut text = self.body.to_string();
        if self.cut {
            text = cut(text);
        }
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], text).into_response();
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER.as_secs().into());
        }
        response
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        match self {
            Reply::Answer(answer) => answer.into_response(),
            Reply::Lost => {
                let mut response = Response::default();
                response.extensions_mut().insert(Unsent);
                response
            }
        }
    }
}

fn each_object(body: &mut Value, spoil: fn(&mut Value)) {
    match body.get_mut("items").and_then(Value::as_array_mut) {
        Some(items) => items.iter_mut().for_each(spoil),
        None => spoil(body),
    }
}

/// The first half of a text.
pub(crate) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(text.len() / 2));
    text
}

/// Makes the sum of a payment or refund wrong.
pub(crate) fn raise_amount(object: &mut Value) {
    let value = object["amount"]["value"].as_str().and_then(|value| value.split_once('.'));
    if let Some((whole, fraction)) = value {
        let whole: i64 = whole.parse().unwrap_or_default();
        object["amount"]["value"] = format!("{}.{fraction}", whole + WRONG_BY).into();
    }
}

fn undecide(object: &mut Value) {
    const DECIDED: [&str; 6] = [
        "captured_at",
        "income_amount",
        "refunded_amount",
        "cancellation_details",
        "expires_at",
        "confirmation",
    ];
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| !DECIDED.contains(&name.as_str()));
        fields.insert("status".into(), "pending".into());
        // A refund has no such field.
        if let Some(paid) = fields.get_mut("paid") {
            *paid = false.into();
        }
    }
}
