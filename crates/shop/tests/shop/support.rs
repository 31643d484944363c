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
use serde_json::{Value, json};
use shop::{Config, Shop, ShopDatabase};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{fake_bank::FakeBank, signing::WEBHOOK_SECRET};

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

    fn router(&self) -> Router {
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
    /// Where mails are.
    pub folder: TempDir,
    client: reqwest::Client,
    api_url: String,
    bank_url: Option<String>,
    base: String,
    serving: JoinHandle<()>,
}

/// An order that the shop took.
pub struct Bought {
    pub id: String,
    /// Its page.
    pub path: String,
    /// The form that made it.
    pub form: String,
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

    /// The form of a good on the shelves, with all that the page put into it.
    pub fn buy_form(&self, good: &str, quantity: u8) -> String {
        let token = self.hidden(&format!(r#"data-good="{good}""#), "form_token");
        let fault = self.all_between(r#"type="hidden" name="fault" value=""#, '"');
        let fault = fault.first().map(|fault| format!("&fault={fault}")).unwrap_or_default();
        format!("form_token={token}&good={good}&quantity={quantity}{fault}&buy=")
    }

    /// Every text that begins after `mark` and goes on to `end`.
    pub fn all_between(&self, mark: &str, end: char) -> Vec<String> {
        self.body.split(mark).skip(1).map(|rest| rest.split(end).next().unwrap().to_owned()).collect()
    }
}

/// An address where nobody answers.
pub async fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

pub async fn serve(router: Router) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    (base, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

impl TestShop {
    pub async fn start() -> Self {
        let api = FakeApi::default();
        let api_url = serve(api.router()).await.0;
        Self::start_before(api, api_url, None).await
    }

    /// With nothing where the API should be.
    pub async fn start_without_api() -> Self {
        Self::start_before(FakeApi::default(), nowhere().await, None).await
    }

    /// With a drawer, and a stand-in for the bank.
    pub async fn start_with_bank() -> (Self, FakeBank) {
        let bank = FakeBank::default();
        let bank_url = serve(bank.router()).await.0;
        (Self::start_before_bank(bank_url).await, bank)
    }

    /// With a drawer, and whatever is at that address.
    pub async fn start_before_bank(bank_url: String) -> Self {
        let api = FakeApi::default();
        let api_url = serve(api.router()).await.0;
        Self::start_before(api, api_url, Some(bank_url)).await
    }

    async fn start_before(api: FakeApi, api_url: String, bank_url: Option<String>) -> Self {
        rustls::crypto::ring::default_provider().install_default().ok();
        let folder = tempfile::tempdir().unwrap();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let (base, serving) = open(&folder, &api_url, bank_url.as_deref()).await;
        Self { api, folder, client, api_url, bank_url, base, serving }
    }

    /// Ends the shop and starts another one with what is on the disk.
    pub async fn restart(mut self) -> Self {
        self.serving.abort();
        (self.base, self.serving) = open(&self.folder, &self.api_url, self.bank_url.as_deref()).await;
        self
    }

    /// Another process of the same shop.
    pub async fn second_process(&self) -> Self {
        let (base, serving) = open(&self.folder, &self.api_url, self.bank_url.as_deref()).await;
        Self {
            api: self.api.clone(),
            folder: tempfile::tempdir().unwrap(),
            client: self.client.clone(),
            api_url: self.api_url.clone(),
            bank_url: self.bank_url.clone(),
            base,
            serving,
        }
    }

    /// Posts JSON under the headers.
    pub async fn deliver(&self, headers: HeaderMap, body: &str) -> Answer {
        let request = self.client.post(format!("{}/shop/webhooks", self.base));
        read(request.headers(headers).body(body.to_owned())).await
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
        self.get("/shop", "ru").await.buy_form(good, quantity)
    }

    /// Buys a grinder.
    pub async fn buy(&self) -> Bought {
        let form = self.form("bravo", 1).await;
        assert_eq!(self.post("/shop/orders", &form).await.status, 303);
        let id = self.api.opened().pop().unwrap().body.unwrap().order_id;
        Bought { path: format!("/shop/orders/{id}"), id, form }
    }

    /// What the order's page says.
    pub async fn has_shipped(&self, order: &Bought) -> bool {
        self.get(&order.path, "ru").await.body.contains(r#"data-shipped="true""#)
    }

    /// One of the five numbers on the order's page.
    pub async fn drill(&self, order: &Bought, name: &str) -> String {
        let page = self.get(&order.path, "ru").await;
        page.all_between(&format!(r#"data-drill="{name}">"#), '<').remove(0)
    }

    /// Writes a mail into the shop's mail folder.
    pub fn put_mail(&self, name: &str, text: &str) {
        let mails = self.folder.path().join("mails");
        std::fs::create_dir_all(&mails).unwrap();
        std::fs::write(mails.join(name), text).unwrap();
    }
}

async fn open(folder: &TempDir, api_url: &str, bank_url: Option<&str>) -> (String, JoinHandle<()>) {
    let config = Config {
        api_url: api_url.to_owned(),
        payment_pages_url: "http://pay.test/somewhere".to_owned(),
        public_url: "http://shop.test".to_owned(),
        secret_key: SECRET_KEY.to_owned(),
        webhook_secret: WEBHOOK_SECRET.to_owned(),
        database: ShopDatabase::File(folder.path().join("shop.db")),
        bank_url: bank_url.map(str::to_owned),
        mail_folder: Some(folder.path().join("mails")),
    };
    serve(Shop::open(config).unwrap().router()).await
}

async fn read(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Answer { status, headers, body: response.text().await.unwrap() }
}
