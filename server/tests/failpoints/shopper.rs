//! Buys in the shop and pays, as a page does: the same submission under the same key, again and again until the result is known.

use reqwest::{Client, header::HeaderMap};
use serde_json::{Value, json};

use crate::{
    process::eventually,
    server::Server,
    world::{SECRET_KEY, World},
};

/// An order of the shop, at the payment page.
#[derive(Clone)]
pub struct Order {
    /// The shop's number.
    pub number: String,
    /// Its checkout, as its merchant saw it first.
    pub checkout: Value,
    /// What the page got for the card.
    token: String,
    client: Client,
}

/// An answer, whole.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.bytes)))
    }

    /// Whether it is the final answer: what every later repeat gets as well.
    pub fn is_final(&self) -> bool {
        self.status == 200 && ["succeeded", "declined", "canceled"].contains(&text(&self.json()["state"]))
    }

    /// Whether it says of itself that it was given before.
    pub fn is_replay(&self) -> bool {
        ["Idempotent-Replayed", "Idempotency-Replayed"]
            .iter()
            .all(|name| self.headers.get(*name).is_some_and(|value| value == "true"))
    }
}

impl World {
    /// Puts a grinder into the cart and goes to the payment page.
    pub async fn buy(&self, server: &Server) -> Order {
        let page =
            self.client.get(format!("{}/shop", self.shop_url)).send().await.unwrap().text().await.unwrap();
        let form = page.split_once(r#"data-good="bravo""#).unwrap().1;
        let form_token =
            form.split_once(r#"name="form_token" value=""#).unwrap().1.split('"').next().unwrap();
        let request = self.client.post(format!("{}/shop/orders", self.shop_url));
        let request = request.header("Content-Type", "application/x-www-form-urlencoded");
        let sent =
            request.body(format!("form_token={form_token}&good=bravo&quantity=1&buy=")).send().await.unwrap();
        assert_eq!(sent.status(), 303, "{}", sent.text().await.unwrap());
        let page = sent.headers()["Location"].to_str().unwrap();
        let id = page.split_once("/pay/").unwrap().1.split('?').next().unwrap();
        let checkout = self.ask(server, &format!("/v1/checkouts/{id}")).await;
        let number = text(&checkout["order_id"]).to_owned();
        Order { number, checkout, token: self.bank.token().await, client: self.client.clone() }
    }

    /// Tries an order again whose intent has ended.
    pub async fn try_again(&self, server: &Server, order: &Order) -> Order {
        let checkout = text(&order.checkout["id"]);
        let request = self.client.post(format!("{}/v1/checkouts/{checkout}/payment_intents", server.url));
        let request =
            request.bearer_auth(text(&order.checkout["client_token"])).header("Idempotency-Key", "again");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 201);
        let mut checkout = order.checkout.clone();
        checkout["payment_intent"] = response.json().await.unwrap();
        Order { checkout, token: self.bank.token().await, ..order.clone() }
    }

    /// Opens a checkout for an order that this server does not know.
    pub async fn offer_again(&self, server: &Server, order: &Order) -> Order {
        let body = json!({ "order_id": order.number, "amount": order.checkout["amount"] });
        let request = self.client.post(format!("{}/v1/checkouts", server.url)).json(&body);
        let response =
            request.bearer_auth(SECRET_KEY).header("Idempotency-Key", "again").send().await.unwrap();
        assert_eq!(response.status(), 201);
        let checkout = response.json().await.unwrap();
        Order { checkout, token: self.bank.token().await, ..order.clone() }
    }

    /// What the merchant sees there.
    pub async fn ask(&self, server: &Server, path: &str) -> Value {
        let request = self.client.get(format!("{}{path}", server.url)).bearer_auth(SECRET_KEY);
        request.send().await.unwrap().json().await.unwrap()
    }

    /// Buys, and pays without any trouble.
    pub async fn buy_and_pay(&self, server: &Server) -> Order {
        let order = self.buy(server).await;
        order.submit_until_final(&server.url).await;
        self.is_paid_once(server, &order).await;
        order
    }

    /// Waits until the order's intent is in this state.
    pub async fn reaches(&self, server: &Server, order: &Order, state: &str) -> Value {
        let path = format!("/v1/payment_intents/{}", order.intent());
        let what = format!("{} is {state}", order.intent());
        eventually(&what, async || {
            Some(self.ask(server, &path).await).filter(|intent| intent["state"] == state)
        })
        .await
    }
}

impl Order {
    /// `pi_…`.
    pub fn intent(&self) -> &str {
        text(&self.checkout["payment_intent"]["id"])
    }

    /// One submission.
    pub async fn submit(&self, server_url: &str) -> reqwest::Result<Reply> {
        let body = json!({
            "payment_method": { "type": "card_token", "token": self.token },
            "checkout_version": self.checkout["version"],
            "amount": self.checkout["amount"],
            "customer": { "email": "anna@example.com" },
        });
        let request = self
            .client
            .post(format!("{server_url}/v1/payment_intents/{}/submit", self.intent()))
            .bearer_auth(text(&self.checkout["client_token"]))
            .header("Idempotency-Key", text(&self.checkout["payment_intent"]["submit_key"]))
            .json(&body);
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Reply { status, headers, bytes: response.bytes().await?.to_vec() })
    }

    /// Submits until the answer is final, whatever comes between.
    pub async fn submit_until_final(&self, server_url: &str) -> Reply {
        eventually("the result is known", async || self.submit(server_url).await.ok().filter(Reply::is_final))
            .await
    }
}

#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}
