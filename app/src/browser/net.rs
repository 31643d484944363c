//! The island's requests, and what their answers mean.
//! Must never retry by itself, and never take silence for an answer.

use std::time::Duration;

use contract::REFUSALS;
use js_sys::{JSON, Reflect};
use leptos::prelude::set_timeout_with_handle;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, RequestCache, RequestCredentials, RequestInit, Response};

use crate::{
    form::Form,
    stage::Note,
    visit::Reply,
    wire::{self, Answer, Offer, Seen, Terms},
};

/// The server answers within 8 s or says that it does not know yet.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whom to ask, and in whose name.
pub(crate) struct Server {
    pub(crate) checkout: String,
    pub(crate) intent: String,
    pub(crate) submit_key: String,
    pub(crate) token: String,
    pub(crate) tokenize_url: String,
    pub(crate) lang: String,
}

/// JSON that the browser has parsed. What is none has no fields.
pub(crate) struct Body(pub(crate) JsValue);

/// An answer that came whole.
struct Received {
    status: u16,
    /// Whether it calls itself a problem: nothing else that refuses is ours.
    is_problem: bool,
    body: Body,
}

impl Answer for Body {
    fn text(&self, path: &[&str]) -> Option<String> {
        self.at(path)?.as_string()
    }

    fn number(&self, path: &[&str]) -> Option<i64> {
        self.at(path)?.as_f64().map(|number| number as i64)
    }

    fn flag(&self, path: &[&str]) -> bool {
        self.at(path).is_some_and(|value| value.is_truthy())
    }
}

impl Received {
    /// The code of our own refusal. A status alone is anybody's on the way, whatever became of the request.
    fn code(&self) -> Option<String> {
        wire::read_code(&self.body).filter(|_| self.is_problem)
    }
}

impl Body {
    fn at(&self, path: &[&str]) -> Option<JsValue> {
        path.iter().try_fold(self.0.clone(), |value, name| Reflect::get(&value, &(*name).into())).ok()
    }
}

/// What came of a request, and the whole answer: the page shows of it what the visit takes.
pub(crate) type Came<T> = (T, Option<Body>);

/// Makes a token of the card and submits it with the intent's key (R1).
pub(crate) async fn pay(server: &Server, form: Form, terms: Terms) -> Came<Reply> {
    let token = match fetch(&server.tokenize_url, Some(wire::write_card(&form.card)), &[]).await {
        // Nothing was sent to our server yet, so whatever went wrong here started nothing.
        None => return (Reply::NotSent(Note::NoToken), None),
        Some(answer) => match (answer.status, wire::read_token(&answer.body)) {
            (200..300, Some(token)) => token,
            (400, _) => return (Reply::FieldRefused(wire::read_refusal(&answer.body)), None),
            (_, _) => return (Reply::NotSent(Note::NoToken), None),
        },
    };
    let path = format!("/v1/payment_intents/{}/submit", server.intent);
    let body = wire::write_submit(token, terms, form.email);
    // The bank's page sends the shopper back to this language, whatever the browser's own is.
    let headers = [
        (contract::IDEMPOTENCY_KEY, server.submit_key.as_str()),
        ("Authorization", &bearer(server)),
        ("Accept-Language", &server.lang),
    ];
    match fetch(&path, Some(body), &headers).await {
        Some(answer) => {
            let reply = read_reply(answer.status, answer.code().as_deref(), &answer.body, &server.intent);
            (reply, Some(answer.body))
        }
        None => (Reply::Lost, None),
    }
}

/// Only what we say ourselves is believed: a success with a state, or a code that says that nothing was done (R10).
fn read_reply(status: u16, code: Option<&str>, answer: &impl Answer, intent: &str) -> Reply {
    match (status, code) {
        (200..300, _) => Seen::read(answer, intent).map_or(Reply::Lost, Reply::Seen),
        (_, Some("checkout_changed")) => {
            Offer::read(answer, &["checkout"]).map_or(Reply::Behind, Reply::Changed)
        }
        (_, Some("order_paid" | "intent_in_progress" | "checkout_not_open")) => Reply::Behind,
        (_, Some("rate_limited")) => Reply::NotSent(Note::Busy),
        (_, Some(code)) if REFUSALS.contains(&code) => {
            wire::read_blame(answer).map_or(Reply::NotSent(Note::Refused), Reply::FieldRefused)
        }
        (_, _) => Reply::Lost,
    }
}

/// How the intent stands.
pub(crate) async fn ask(server: &Server) -> Came<Result<Seen, Note>> {
    look(server, "", None).await
}

/// The same, and the bank is asked.
pub(crate) async fn check(server: &Server) -> Came<Result<Seen, Note>> {
    look(server, "/check", Some("{}".to_owned())).await
}

/// The same, and the bank is asked to let go of the payment.
pub(crate) async fn release(server: &Server) -> Came<Result<Seen, Note>> {
    look(server, "/release", Some("{}".to_owned())).await
}

async fn look(server: &Server, below: &str, body: Option<String>) -> Came<Result<Seen, Note>> {
    let path = format!("/v1/payment_intents/{}{below}", server.intent);
    match fetch(&path, body, &[("Authorization", &bearer(server))]).await {
        Some(answer) => {
            let seen = read_look(answer.status, answer.code().as_deref(), &answer.body, &server.intent);
            (seen, Some(answer.body))
        }
        None => (Err(Note::NoConnection), None),
    }
}

/// Where it is not told how the intent stands, why: what stands on the way is as good as no connection.
fn read_look(status: u16, code: Option<&str>, answer: &impl Answer, intent: &str) -> Result<Seen, Note> {
    match (status, code) {
        (200..300, _) => Seen::read(answer, intent).ok_or(Note::NoConnection),
        (_, Some("rate_limited" | "unavailable")) => Err(Note::NotNow),
        (_, Some("unauthorized" | "not_found")) => Err(Note::NotShown),
        (_, _) => Err(Note::NoConnection),
    }
}

/// What is offered now.
pub(crate) async fn offer(server: &Server) -> Result<Option<Offer>, Note> {
    let path = format!("/v1/checkouts/{}", server.checkout);
    match fetch(&path, None, &[("Authorization", &bearer(server))]).await {
        Some(answer) if answer.status == 200 => Ok(Offer::read(&answer.body, &[])),
        Some(_) | None => Err(Note::NoConnection),
    }
}

/// Asks for a new intent. The key names the one that ended: two tabs that ask get the same new one.
pub(crate) async fn renew(server: &Server) -> Result<(), Note> {
    let path = format!("/v1/checkouts/{}/payment_intents", server.checkout);
    let key = format!("again-{}", server.intent);
    let headers = [(contract::IDEMPOTENCY_KEY, key.as_str()), ("Authorization", &bearer(server))];
    let answer = fetch(&path, Some("{}".to_owned()), &headers).await.ok_or(Note::NotRenewed)?;
    match (answer.status, answer.code().as_deref()) {
        // 409: paid, or under way. The page shows which.
        (200..300 | 409, _) => Ok(()),
        (_, Some("too_many_intents")) => Err(Note::TooManyTries),
        (_, _) => Err(Note::NotRenewed),
    }
}

fn bearer(server: &Server) -> String {
    format!("Bearer {}", server.token)
}

/// `None` when no whole answer came in time, or the browser could not send it.
async fn fetch(url: &str, body: Option<String>, headers: &[(&str, &str)]) -> Option<Received> {
    try_fetch(url, body, headers).await.ok()
}

async fn try_fetch(url: &str, body: Option<String>, headers: &[(&str, &str)]) -> Result<Received, JsValue> {
    let init = RequestInit::new();
    let sent = Headers::new()?;
    for (name, value) in headers {
        sent.set(name, value)?;
    }
    if let Some(body) = body {
        init.set_method("POST");
        init.set_body(&JsValue::from_str(&body));
        sent.set("Content-Type", "application/json")?;
    }
    init.set_headers(&sent);
    init.set_cache(RequestCache::NoStore);
    // The token is all the authority there is.
    init.set_credentials(RequestCredentials::Omit);
    // A browser that has no signal with a timeout of its own has this.
    let deadline = AbortController::new()?;
    init.set_signal(Some(&deadline.signal()));
    let timer = set_timeout_with_handle(move || deadline.abort(), TIMEOUT)?;
    let received = receive(url, &init).await;
    timer.clear();
    received
}

async fn receive(url: &str, init: &RequestInit) -> Result<Received, JsValue> {
    let window = web_sys::window().ok_or(JsValue::NULL)?;
    let response: Response =
        JsFuture::from(window.fetch_with_str_and_init(url, init)).await?.unchecked_into();
    let kind = response.headers().get("Content-Type")?.unwrap_or_default();
    let body = JsFuture::from(response.text()?).await?.as_string().ok_or(JsValue::NULL)?;
    Ok(Received {
        status: response.status(),
        is_problem: kind.starts_with("application/problem+json"),
        body: Body(JSON::parse(&body).unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use contract::IntentState;
    use serde_json::{Value, json};

    use super::*;
    use crate::form::Wrong;

    #[test]
    fn r10_only_a_definite_answer_of_ours_is_one() {
        let silent = |status, answer: Value| read_reply(status, None, &answer, "pi_1");
        let coded = |status, code: &str| read_reply(status, Some(code), &json!({"code": code}), "pi_1");
        assert!(matches!(silent(202, json!({"id": "pi_1", "state": "confirming"})), Reply::Seen(_)));
        for stranger in [json!({"state": "declined"}), json!({"id": "pi_2", "state": "declined"})] {
            assert!(matches!(silent(200, stranger), Reply::Lost), "of another intent, or of nobody's");
        }
        assert!(matches!(silent(200, Value::Null), Reply::Lost));
        for status in [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502] {
            assert!(matches!(silent(status, Value::Null), Reply::Lost), "{status} of somebody on the way");
        }
        assert!(matches!(coded(503, "unavailable"), Reply::Lost));
        assert!(matches!(coded(400, "a_code_of_tomorrow"), Reply::Lost));
        assert!(
            matches!(coded(409, "checkout_changed"), Reply::Behind),
            "without terms the page has to tell"
        );
        assert!(matches!(coded(409, "order_paid"), Reply::Behind));
        assert!(
            matches!(coded(422, "idempotency_key_reused"), Reply::Lost),
            "what was sent under it first may have been paid"
        );
        assert!(matches!(coded(404, "not_found"), Reply::NotSent(Note::Refused)));
        let blamed = |field: &str| {
            read_reply(422, Some("invalid_field"), &json!({"code": "invalid_field", "field": field}), "pi_1")
        };
        assert!(matches!(blamed("amount"), Reply::NotSent(Note::Refused)));
        assert!(matches!(blamed("customer.email"), Reply::FieldRefused(Wrong::EmailForm)));
        assert!(matches!(coded(429, "rate_limited"), Reply::NotSent(Note::Busy)));
    }

    /// "No connection" sends the shopper to look for a fault that is not there, and to wait for what will not come.
    #[test]
    fn n2_only_silence_and_strangers_are_no_connection() {
        let asked = |status, code| read_look(status, code, &Value::Null, "pi_1").map_err(Note::name);
        assert_eq!(asked(429, Some("rate_limited")), Err("not-now"));
        assert_eq!(asked(503, Some("unavailable")), Err("not-now"));
        assert_eq!(asked(401, Some("unauthorized")), Err("not-shown"));
        assert_eq!(asked(404, Some("not_found")), Err("not-shown"));
        for status in [200, 401, 404, 429, 502, 503] {
            assert_eq!(asked(status, None), Err("no-connection"), "{status} of somebody on the way");
        }
        let told = json!({"id": "pi_1", "state": "confirming"});
        assert_eq!(read_look(200, None, &told, "pi_1"), Ok(Seen::bare(IntentState::Confirming)));
    }
}
