//! YooKassa, API v3. Header `Idempotence-Key`, at most 64 characters; keys live 24 h after the first request; HTTP 500 says
//! nothing about the payment; a 400 means that the request is wrong and wants a new key.

mod answers;
mod encode;
mod fields;
#[cfg(test)]
mod fixtures;
mod notices;
mod objects;
#[doc(hidden)]
pub mod offline;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use payment::{Money, ObjectId, ObjectStatus, Observation, RefundObservation};
use reqwest::{Client, Method as HttpMethod, RequestBuilder, header::CONTENT_TYPE};

use crate::{
    Account, Encoded, Notice, Outgoing, Page, PayRequest, Provider, RefundRequest, Reply, Span,
    http::{self, Answer, NoAnswer},
};
use objects::Link;

/// The key's documented life.
const KEY_WINDOW_MS: i64 = 24 * 3_600_000;
/// Taken off it: clocks differ, and a request under way arrives later than it was sent.
const KEY_MARGIN_MS: i64 = 3_600_000;
/// A card payment that nobody confirms ends after about this long.
const PENDING_ENDS_AFTER_MS: i64 = 3_600_000;
/// What is not captured by then is let go of (`expired_on_capture`). Some methods hold for a shorter time, none for a longer.
const HOLD_ENDS_AFTER_MS: i64 = 7 * 24 * 3_600_000;

/// The provider.
pub struct YooKassa {
    client: Client,
    test_shops: TestShops,
}

/// The accounts that showed objects of a test shop.
#[derive(Clone, Debug, Default)]
struct TestShops(Arc<Mutex<HashSet<String>>>);

impl TestShops {
    /// Tells of each once; whether it did. A sandbox, which is asked in the clear, is known for one.
    fn meet(&self, account: &str, link: Link) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = link == Link::Https && known.insert(account.to_owned());
        if new {
            tracing::warn!(
                account,
                "this account is a test shop's: no money moves there, whatever is said to be paid"
            );
        }
        new
    }
}

impl YooKassa {
    /// With a client of its own.
    pub fn new() -> Result<Self, reqwest::Error> {
        Ok(Self { client: http::client()?, test_shops: TestShops::default() })
    }

    fn request(&self, method: HttpMethod, account: &Account, path: &str) -> Result<RequestBuilder, NoAnswer> {
        let request = self.client.request(method, http::address(&account.url, path)?);
        Ok(request.basic_auth(&account.id, Some(&account.secret.0)))
    }

    /// Reads an account's payments.
    fn payments_of(&self, account: &Account) -> impl Fn(objects::Payment) -> Option<Observation> + use<> {
        let (link, id, test_shops) = (Link::of(&account.url), account.id.clone(), self.test_shops.clone());
        move |written| {
            if written.is_test() {
                test_shops.meet(&id, link);
            }
            objects::payment(written, link)
        }
    }

    async fn post(&self, account: &Account, outgoing: Outgoing) -> Result<Answer, NoAnswer> {
        let Outgoing { method, path, body, key, may_leave } = outgoing;
        let method = HttpMethod::from_bytes(method.as_bytes()).unwrap_or(HttpMethod::POST);
        let request = self
            .request(method, account, &path)?
            .header("Idempotence-Key", key.to_string())
            .header(CONTENT_TYPE, "application/json");
        http::send(request, body, may_leave).await
    }

    async fn get(
        &self,
        account: &Account,
        path: &str,
        filters: &[(&str, String)],
    ) -> Result<Answer, NoAnswer> {
        http::ask(self.request(HttpMethod::GET, account, path)?.query(filters)).await
    }
}

#[async_trait]
impl Provider for YooKassa {
    fn name(&self) -> &'static str {
        "yookassa"
    }

    fn resend_window_ms(&self) -> Option<i64> {
        Some(KEY_WINDOW_MS - KEY_MARGIN_MS)
    }

    fn proves_absence(&self) -> bool {
        true
    }

    fn pending_ends_after_ms(&self) -> Option<i64> {
        Some(PENDING_ENDS_AFTER_MS)
    }

    fn hold_ends_after_ms(&self) -> i64 {
        HOLD_ENDS_AFTER_MS
    }

    fn can_cancel(&self, status: &ObjectStatus) -> bool {
        *status == ObjectStatus::WaitingForCapture
    }

    fn encode_pay(&self, request: &PayRequest) -> Encoded {
        encode::pay(request)
    }

    fn encode_capture(&self, payment: &ObjectId, amount: Money) -> Encoded {
        encode::capture(payment, amount)
    }

    fn encode_cancel(&self, payment: &ObjectId) -> Encoded {
        encode::cancel(payment)
    }

    fn encode_refund(&self, request: &RefundRequest) -> Encoded {
        encode::refund(request)
    }

    async fn send(&self, account: &Account, request: Outgoing) -> Reply {
        answers::reply(self.post(account, request).await, self.payments_of(account))
    }

    async fn send_refund(&self, account: &Account, request: Outgoing) -> Reply<RefundObservation> {
        answers::reply(self.post(account, request).await, objects::refund)
    }

    async fn query(&self, account: &Account, payment: &ObjectId) -> Reply {
        let (path, read) = (encode::one(encode::PAYMENTS, payment), self.payments_of(account));
        // What is shown under another name is not what was asked about, however alike the names are.
        let named = |written| read(written).filter(|seen| seen.object == *payment);
        answers::reply(self.get(account, &path, &[]).await, named)
    }

    async fn query_refund(&self, account: &Account, refund: &ObjectId) -> Reply<RefundObservation> {
        let path = encode::one(encode::REFUNDS, refund);
        let named = |written| objects::refund(written).filter(|seen| seen.object == *refund);
        answers::reply(self.get(account, &path, &[]).await, named)
    }

    async fn list(&self, account: &Account, span: Span, cursor: Option<&str>) -> Page<Observation> {
        let filters = encode::filters(span, cursor);
        answers::page(self.get(account, encode::PAYMENTS, &filters).await, self.payments_of(account))
    }

    async fn list_refunds(
        &self,
        account: &Account,
        of: Option<&ObjectId>,
        span: Span,
        cursor: Option<&str>,
    ) -> Page<RefundObservation> {
        let mut filters = encode::filters(span, cursor);
        filters.extend(of.map(|payment| ("payment_id", payment.to_string())));
        answers::page(self.get(account, encode::REFUNDS, &filters).await, objects::refund)
    }

    fn read_notice(&self, body: &[u8]) -> Option<Notice> {
        notices::read(body)
    }

    fn has_reached(&self, now: &ObjectStatus, announced: &str) -> bool {
        notices::has_reached(now, announced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_shop_is_told_of_once() {
        let shops = TestShops::default();
        let told = [("1", Link::Https), ("1", Link::Https), ("2", Link::Https), ("3", Link::Http)];
        assert_eq!(told.map(|(account, link)| shops.meet(account, link)), [true, false, true, false]);
        for (test, expected) in [("true", true), ("false", false), ("\"true\"", false)] {
            let written = fixtures::PAID.replacen('{', &format!("{{\"test\":{test},"), 1);
            let payment: objects::Payment = serde_json::from_str(&written).unwrap();
            assert_eq!(payment.is_test(), expected, "{written}");
        }
    }
}
