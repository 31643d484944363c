//! A running shop over real HTTP, and a browser without scripts.

use axum::{
    Router,
    http::{HeaderMap, header},
};
use shop::{Config, Shop, ShopDatabase};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{fake_api::FakeApi, fake_bank::FakeBank, signing::WEBHOOK_SECRET};

pub const SECRET_KEY: &str = "sk_test_canary_8f1c";

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
