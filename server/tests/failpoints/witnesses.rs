//! What has to be true of a paid order, whatever happened on the way: the bank took the money once, the shop shipped once, one
//! mail was written, and the journal tells how.

use std::{fs, os::unix::fs::MetadataExt};

use payment::{CheckoutId, EffectId, EffectKind, EffectSubject, JournalHash, JournalLine, Timestamp};
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    bank::Create,
    process::eventually,
    server::Server,
    shopper::{Order, text},
    world::World,
};

/// How many receipts there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// One.
    Written,
    /// One, or none where its sender died while it sent it: then nobody knows, and it is not written again.
    WrittenOrUnknown,
}

impl World {
    /// Waits for the end, and looks whether everything happened once.
    pub async fn is_paid_once(&self, server: &Server, order: &Order) {
        self.is_paid_once_with(server, order, Receipt::Written).await;
    }

    pub async fn is_paid_once_with(&self, server: &Server, order: &Order, receipt: Receipt) {
        let intent = self.reaches(server, order, "succeeded").await;
        check_journal(&intent);
        let checkout = self.ask(server, &format!("/v1/checkouts/{}", text(&order.checkout["id"]))).await;
        assert_eq!(checkout["status"], "paid");
        self.is_charged_once(order).await;
        self.all_is_told(server).await;
        assert_eq!(self.shipments(order), 1);
        self.check_receipt(order, receipt);
    }

    /// The bank's word: one payment of the order, made under our key; every request to make it was the same.
    pub async fn is_charged_once(&self, order: &Order) {
        let payments = self.bank.payments(&order.number).await;
        assert_eq!(payments.len(), 1, "{payments:?}");
        assert_eq!(payments[0]["status"], "succeeded");
        assert_eq!(payments[0]["metadata"]["payment_intent_id"], order.intent());
        self.was_asked_for_alike(order).await;
    }

    async fn was_asked_for_alike(&self, order: &Order) {
        let ours = self.asked_for(order).await;
        assert!(!ours.is_empty(), "nobody asked for it");
        assert!(ours.iter().all(|create| *create == ours[0]), "{ours:?}");
    }

    /// The requests to make the order's payment.
    pub async fn asked_for(&self, order: &Order) -> Vec<Create> {
        let key = self.provider_key(order);
        let creates = self.bank.creates().await.into_iter();
        creates.filter(|create| create.key == key).collect()
    }

    /// The key under which the bank is asked for the order's payment.
    fn provider_key(&self, order: &Order) -> String {
        const KEY: &str = "SELECT provider_key FROM operation WHERE intent_id = ?1 AND kind = 'pay'";
        let id: payment::IntentId = order.intent().parse().unwrap();
        let key = self.database().query_row(KEY, [id.0.as_bytes()], |row| row.get(0)).unwrap();
        uuid::Uuid::from_bytes(key).to_string()
    }

    /// Waits until no webhook, mail or notification is under way any more.
    pub async fn all_is_told(&self, server: &Server) {
        const UNDER_WAY: &str = "SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting')
            + (SELECT count(*) FROM inbox WHERE state = 'waiting')";
        let what = format!("all is told: {}", server.url);
        eventually(&what, async || (count(&self.database(), UNDER_WAY, None) == 0).then_some(())).await;
    }

    /// How often the shop shipped the order: one webhook is behind each.
    pub fn shipments(&self, order: &Order) -> i64 {
        let shop = Connection::open(self.path("shop.db")).unwrap();
        let webhooks =
            count(&shop, "SELECT count(*) FROM webhook WHERE order_number = ?1", Some(&order.number));
        let shipments =
            count(&shop, "SELECT count(*) FROM shipment WHERE order_number = ?1", Some(&order.number));
        assert_eq!(webhooks, shipments);
        shipments
    }

    /// Whether nothing is to be done about any operation.
    pub fn nothing_is_open(&self) -> bool {
        count(&self.database(), "SELECT count(*) FROM operation WHERE stage IN ('open', 'review')", None) == 0
    }

    fn check_receipt(&self, order: &Order, receipt: Receipt) {
        let (state, mails) = (self.receipt_state(order), self.receipts(order).len());
        let expected = match (receipt, state.as_str()) {
            (_, "delivered") => mails == 1,
            (Receipt::WrittenOrUnknown, "delivery_unknown") => mails <= 1,
            _ => false,
        };
        assert!(expected, "{mails} receipts, {state}");
    }

    /// Receipts of an order in the folders of all servers, each told apart from one that is written in its place.
    pub fn receipts(&self, order: &Order) -> Vec<u64> {
        let name = format!("{}.eml", receipt_id(order));
        let folders = ["first/mails", "second/mails"].map(|folder| self.path(folder));
        let mails = folders.iter().map(|folder| folder.join(&name));
        mails.filter_map(|mail| fs::metadata(mail).ok()).map(|mail| mail.ino()).collect()
    }

    fn receipt_state(&self, order: &Order) -> String {
        const STATE: &str = "SELECT state FROM outbox WHERE id = ?1";
        let id = receipt_id(order);
        self.database().query_row(STATE, [id.0.as_bytes()], |row| row.get(0)).unwrap()
    }
}

fn receipt_id(order: &Order) -> EffectId {
    let id: CheckoutId = text(&order.checkout["id"]).parse().unwrap();
    EffectId::of(EffectKind::Receipt, EffectSubject::Checkout(id))
}

fn count(database: &Connection, query: &str, of: Option<&str>) -> i64 {
    database.query_row(query, rusqlite::params_from_iter(of), |row| row.get(0)).unwrap()
}

/// Each line's hash is over the line and all before it (R24).
pub fn check_journal(intent: &Value) {
    let mut previous = JournalHash::GENESIS;
    let lines = intent["journal"].as_array().unwrap();
    assert!(!lines.is_empty());
    for (seq, entry) in (1..).zip(lines) {
        let at: jiff::Timestamp = text(&entry["at"]).parse().unwrap();
        let [from, event, to, evidence] =
            ["from", "event", "to", "evidence"].map(|field| text(&entry[field]).to_owned());
        let line = JournalLine { seq, at: Timestamp(at.as_millisecond()), from, event, to, evidence };
        assert_eq!(entry["seq"], seq);
        previous = line.chained_to(previous);
        assert_eq!(entry["hash"], previous.to_string(), "line {seq} of {lines:?}");
    }
}
