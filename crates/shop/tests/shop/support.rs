//! A shop over real HTTP, and a small stand-in for the API that remembers what it was asked.

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
use shop::{Config, Shop};
use tokio::net::TcpListener;

pub const SECRET_KEY: &str = "sk_test_canary_8f1c";

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

    fn router(&self) -> Router {
        Router::new()
            .route("/v1/checkouts", post(create))
            .route("/v1/checkouts/{id}", get(show))
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

fn checkout(id: String, asked: CreateCheckout) -> Checkout {
    Checkout {
        url: format!("http://pay.test/pay/{id}?token=ct_{id}"),
        client_token: format!("ct_{id}"),
        id,
        object: "checkout".to_owned(),
        status: CheckoutStatus::Open,
        order_id: asked.order_id,
        amount: asked.amount,
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

/// A running shop and a browser without scripts.
pub struct TestShop {
    pub api: FakeApi,
    client: reqwest::Client,
    base: String,
}

/// An answer, read to its end.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn location(&self) -> &str {
        self.headers[header::LOCATION].to_str().unwrap()
    }

    /// The value of the first hidden input of that name after `mark`.
    pub fn hidden(&self, mark: &str, name: &str) -> String {
        let form = self.body.split_once(mark).expect("the form is on the page").1;
        let value =
            form.split_once(&format!(r#"name="{name}" value=""#)).expect("the input is in the form").1;
        value.split('"').next().unwrap().to_owned()
    }
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

impl TestShop {
    pub async fn start() -> Self {
        let api = FakeApi::default();
        let api_url = serve(api.router()).await;
        Self::start_before(api, api_url).await
    }

    /// With nothing where the API should be.
    pub async fn start_without_api() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api_url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        Self::start_before(FakeApi::default(), api_url).await
    }

    async fn start_before(api: FakeApi, api_url: String) -> Self {
        rustls::crypto::ring::default_provider().install_default().ok();
        let shop = Shop::new(Config {
            api_url,
            payment_pages_url: "http://pay.test/somewhere".to_owned(),
            public_url: "http://shop.test".to_owned(),
            secret_key: SECRET_KEY.to_owned(),
        })
        .unwrap();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { api, client, base: serve(shop.router()).await }
    }

    pub async fn get(&self, path: &str, language: &str) -> Answer {
        let request = self.client.get(format!("{}{path}", self.base));
        read(request.header(header::ACCEPT_LANGUAGE, language)).await
    }

    pub async fn post(&self, path: &str, form: &str) -> Answer {
        let request = self.client.post(format!("{}{path}", self.base));
        let form_type = "application/x-www-form-urlencoded";
        read(request.header(header::CONTENT_TYPE, form_type).body(form.to_owned())).await
    }

    /// The form of a good as a fresh page offers it.
    pub async fn form(&self, good: &str, quantity: u8) -> String {
        let page = self.get("/shop", "ru").await;
        let token = page.hidden(&format!(r#"data-good="{good}""#), "form_token");
        format!("form_token={token}&good={good}&quantity={quantity}&buy=")
    }

    /// Buys a grinder and gives the path of the order's page.
    pub async fn buy(&self) -> String {
        let form = self.form("bravo", 1).await;
        assert_eq!(self.post("/shop/orders", &form).await.status, 303);
        let order_id = self.api.calls().last().unwrap().body.clone().unwrap().order_id;
        format!("/shop/orders/{order_id}")
    }
}

async fn read(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, body: response.text().await.unwrap() }
}
