//! A stand-in for the API, which remembers what it was asked and says what it is told to say.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use contract::{Checkout, CheckoutIntent, CheckoutStatus, CreateCheckout, IntentState, Metadata, Problem};
use serde_json::{Value, json};

/// One call as the API saw it.
#[derive(Clone, Debug)]
pub struct Call {
    pub key: Option<String>,
    pub authorization: Option<String>,
    pub body: Option<CreateCheckout>,
}

#[derive(Default)]
struct World {
    calls: Vec<Call>,
    by_key: HashMap<String, Checkout>,
    intents: HashMap<String, Value>,
    refusal: Option<(StatusCode, &'static str)>,
}

/// The stand-in. Clones share one world.
#[derive(Clone, Default)]
pub struct FakeApi {
    world: Arc<Mutex<World>>,
}

impl FakeApi {
    pub fn calls(&self) -> Vec<Call> {
        self.world.lock().unwrap().calls.clone()
    }

    /// The calls that opened a checkout.
    pub fn opened(&self) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.body.is_some()).collect()
    }

    /// From now on every call is answered with this problem; `None`: as usual.
    pub fn refuse(&self, refusal: Option<(StatusCode, &'static str)>) {
        self.world.lock().unwrap().refusal = refusal;
    }

    /// What became of all checkouts.
    pub fn set(&self, status: CheckoutStatus, state: IntentState) {
        for checkout in self.world.lock().unwrap().by_key.values_mut() {
            checkout.status = status;
            checkout.payment_intent.state = state;
        }
    }

    /// Spoils what will be said about all checkouts.
    pub fn spoil(&self, spoil: impl Fn(&mut Checkout)) {
        self.world.lock().unwrap().by_key.values_mut().for_each(spoil);
    }

    /// The intents of an order's checkout, newest first: each with its operation and how often it was sent.
    pub fn sent(&self, order_id: &str, intents: &[(&str, &str, usize)]) {
        let mut world = self.world.lock().unwrap();
        let checkout = world.by_key.values_mut().find(|checkout| checkout.order_id == order_id).unwrap();
        intents[0].0.clone_into(&mut checkout.payment_intent.id);
        for (place, (id, operation, times)) in intents.iter().enumerate() {
            let previous = intents.get(place + 1).map(|(id, _, _)| id);
            world.intents.insert((*id).to_owned(), intent(id, order_id, operation, *times, previous));
        }
    }

    pub fn router(&self) -> Router {
        Router::new()
            .route("/v1/checkouts", post(create))
            .route("/v1/checkouts/{id}", get(show))
            .route("/v1/payment_intents/{id}", get(show_intent))
            .with_state(self.clone())
    }

    fn record(&self, headers: &HeaderMap, body: Option<CreateCheckout>) -> Option<Response> {
        let text = |name: &str| Some(headers.get(name)?.to_str().unwrap().to_owned());
        let mut world = self.world.lock().unwrap();
        world.calls.push(Call { key: text("idempotency-key"), authorization: text("authorization"), body });
        world.refusal.map(|(status, code)| problem(status, code))
    }
}

fn problem(status: StatusCode, code: &str) -> Response {
    let problem = Problem {
        kind: "about:blank".to_owned(),
        title: "internal words <b>".to_owned(),
        status: status.as_u16(),
        detail: "not for shoppers".to_owned(),
        code: code.to_owned(),
        field: None,
        request_id: "req_42<i>".to_owned(),
        checkout: None,
    };
    let mut response = (status, Json(problem)).into_response();
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("3"));
    }
    response
}

async fn create(
    State(api): State<FakeApi>,
    headers: HeaderMap,
    Json(body): Json<CreateCheckout>,
) -> Response {
    if let Some(refusal) = api.record(&headers, Some(body.clone())) {
        return refusal;
    }
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    let mut world = api.world.lock().unwrap();
    let id = format!("co_{}", world.by_key.len() + 1);
    let checkout = world.by_key.entry(key).or_insert_with(|| checkout(id, body)).clone();
    (StatusCode::CREATED, Json(checkout)).into_response()
}

async fn show(State(api): State<FakeApi>, headers: HeaderMap, Path(id): Path<String>) -> Response {
    if let Some(refusal) = api.record(&headers, None) {
        return refusal;
    }
    let world = api.world.lock().unwrap();
    match world.by_key.values().find(|checkout| checkout.id == id) {
        Some(checkout) => Json(checkout.clone()).into_response(),
        None => problem(StatusCode::NOT_FOUND, "not_found"),
    }
}

async fn show_intent(State(api): State<FakeApi>, headers: HeaderMap, Path(id): Path<String>) -> Response {
    if let Some(refusal) = api.record(&headers, None) {
        return refusal;
    }
    match api.world.lock().unwrap().intents.get(&id) {
        Some(intent) => Json(intent.clone()).into_response(),
        None => problem(StatusCode::NOT_FOUND, "not_found"),
    }
}

fn intent(id: &str, order_id: &str, operation: &str, times: usize, previous: Option<&&str>) -> Value {
    let at = "2026-11-30T10:00:00Z";
    let attempt =
        |number| json!({ "id": format!("att_{id}_{number}"), "operation_id": operation, "started_at": at });
    json!({
        "id": id, "object": "payment_intent", "state": "confirming",
        "amount": { "value": "1500.00", "currency": "RUB" },
        "checkout_id": "co_1", "checkout_version": 1, "order_id": order_id, "submit_key": "key",
        "previous_intent_id": previous, "created_at": at,
        "attempts": (0..times).map(attempt).collect::<Vec<_>>(),
    })
}

fn checkout(id: String, asked: CreateCheckout) -> Checkout {
    Checkout {
        url: format!("http://pay.test/pay/{id}?token=ct_{id}"),
        client_token: format!("ct_{id}"),
        id,
        object: "checkout".to_owned(),
        status: CheckoutStatus::Open,
        order_id: asked.order_id,
        amount: asked.amount,
        charged: None,
        returned: false,
        in_question: None,
        description: asked.description,
        version: 1,
        payment_intent: CheckoutIntent {
            id: "pi_1".to_owned(),
            submit_key: "key".to_owned(),
            state: IntentState::Created,
        },
        metadata: Metadata::default(),
        created_at: "2026-11-30T10:00:00Z".to_owned(),
        expires_at: "2026-12-01T10:00:00Z".to_owned(),
    }
}
