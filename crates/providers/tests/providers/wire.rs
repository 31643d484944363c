//! What YooKassa is asked, line for line, and what becomes of its answers on their way to the caller.

use std::time::Duration;

use payment::{
    Currency, Money, NotExecutedReason, ObjectId, OperationId, RefundStatus, Timestamp, UnknownReason,
};
use providers::{
    Account, By, Encoded, Outgoing, Page, Provider, RefundRequest, Reply, Span, yookassa::YooKassa,
};
use serde_json::{Value, json};
use tokio::{join, time::timeout};
use uuid::Uuid;

use crate::loopback::{Arrived, Looks, PAYMENT, answer, listen, outgoing, provider, read_request};

const REFUND: &str = r#"{"id":"rf-1","payment_id":"2f-1","status":"canceled","amount":{"value":"10.00","currency":"RUB"},
    "cancellation_details":{"party":"yoo_money","reason":"insufficient_funds"},
    "description":"op_00000000000000000000000000000002 broken"}"#;

/// Long enough for loopback to do what it does at once.
const A_MOMENT: Duration = Duration::from_millis(150);

fn object(id: &str) -> ObjectId {
    ObjectId::parse(id).unwrap()
}

fn rub(value: &str) -> Money {
    Money::parse(value, Currency::parse("RUB").unwrap()).unwrap()
}

fn refund_request(reason: Option<&str>) -> RefundRequest {
    RefundRequest {
        operation: OperationId(Uuid::from_u128(2)),
        payment: object("2f-1"),
        amount: rub("10.00"),
        reason: reason.map(str::to_owned),
    }
}

fn body(encoded: &Encoded) -> Value {
    serde_json::from_slice(&encoded.body).unwrap()
}

fn frozen(encoded: Encoded) -> Outgoing {
    Outgoing { path: encoded.path, ..outgoing(encoded.body, &Looks::default(), true) }
}

fn unreadable<O>() -> Reply<O> {
    Reply::Unknown { reason: UnknownReason::Unreadable, turned_away: None, retry_after_ms: None }
}

/// One exchange: what arrived, and what the caller got.
async fn exchange<R>(
    (status, header, told): (u16, &str, &str),
    call: impl AsyncFnOnce(&YooKassa, &Account) -> R,
) -> (Arrived, R) {
    let (bank, (listener, account)) = (provider(), listen().await);
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let arrived = read_request(&mut stream).await.unwrap();
        answer(&mut stream, status, header, told).await;
        arrived
    };
    join!(serve, call(&bank, &account))
}

#[test]
fn a_capture_names_its_sum_and_a_cancel_nothing() {
    let capture = provider().encode_capture(&object("2f-1"), rub("1500.00"));
    assert_eq!((capture.method, capture.path.as_str()), ("POST", "/v3/payments/2f-1/capture"));
    assert_eq!(body(&capture), json!({ "amount": { "value": "1500.00", "currency": "RUB" } }));
    let cancel = provider().encode_cancel(&object("2f-1"));
    assert_eq!((cancel.method, cancel.path.as_str()), ("POST", "/v3/payments/2f-1/cancel"));
    assert_eq!(cancel.body, b"{}");
}

#[test]
fn a_refund_names_our_operation_first() {
    let refund = provider().encode_refund(&refund_request(Some("broken")));
    assert_eq!((refund.method, refund.path.as_str()), ("POST", "/v3/refunds"));
    let ours = "op_00000000000000000000000000000002";
    let expected = json!({
        "payment_id": "2f-1",
        "amount": { "value": "10.00", "currency": "RUB" },
        "description": format!("{ours} broken"),
        "metadata": { "operation_id": ours },
    });
    assert_eq!(body(&refund), expected);
    assert_eq!(body(&provider().encode_refund(&refund_request(None)))["description"], ours);
}

#[test]
fn a_long_reason_is_cut_to_what_is_kept() {
    let refund = provider().encode_refund(&refund_request(Some(&"ж".repeat(400))));
    let body = body(&refund);
    let description = body["description"].as_str().unwrap();
    assert_eq!(description.chars().count(), 250);
    assert!(description.starts_with("op_00000000000000000000000000000002 жжж"));
}

/// 24 hours by its documentation, and an hour before their end nothing is sent under the key any more.
#[test]
fn r17_yookassas_window_is_kept_with_a_margin() {
    const HOUR_MS: i64 = 3_600_000;
    assert_eq!(provider().resend_window_ms(), Some(23 * HOUR_MS));
}

#[tokio::test]
async fn r17_a_send_carries_key_account_and_kind() {
    let (arrived, reply) = exchange((200, "", PAYMENT), async |bank, account| {
        bank.send(account, frozen(bank.encode_cancel(&object("2f-1")))).await
    })
    .await;
    assert!(matches!(reply, Reply::Object(_)), "{reply:?}");
    assert_eq!(arrived.line(), "POST /v3/payments/2f-1/cancel");
    let key = arrived.header("idempotence-key").unwrap();
    assert_eq!(key, "00000000-0000-0000-0000-000000000007");
    assert!(key.len() <= 64, "more YooKassa does not take");
    assert_eq!(arrived.header("authorization"), Some("Basic MTAwNTAwOnRlc3RfZGVtbw=="));
    assert_eq!(arrived.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn a_refund_is_sent_asked_for_and_read() {
    let send = async |bank: &YooKassa, account: &Account| {
        bank.send_refund(account, frozen(bank.encode_refund(&refund_request(None)))).await
    };
    let query = async |bank: &YooKassa, account: &Account| bank.query_refund(account, &object("rf-1")).await;
    let (sent, told) = exchange((200, "", REFUND), send).await;
    let (asked, shown) = exchange((200, "", REFUND), query).await;
    assert_eq!((sent.line(), asked.line()), ("POST /v3/refunds", "GET /v3/refunds/rf-1"));
    assert_eq!(told, shown);
    let Reply::Object(seen) = told else { panic!("{told:?}") };
    assert_eq!((seen.object, seen.payment, seen.amount), (object("rf-1"), object("2f-1"), rub("10.00")));
    assert_eq!(seen.operation, Some(OperationId(Uuid::from_u128(2))));
    assert_eq!(seen.status, RefundStatus::Canceled { code: "insufficient_funds".to_owned() });
}

#[tokio::test]
async fn a_payment_is_no_refund_and_never_read_as_one() {
    let (_, reply) =
        exchange((200, "", PAYMENT), async |bank, account| bank.query_refund(account, &object("rf-1")).await)
            .await;
    assert_eq!(reply, unreadable());
}

/// Ids that differ in capitals may be one payment to a provider, and are two to us: its money would count twice.
#[tokio::test]
async fn n5_what_is_shown_under_another_name_is_not_what_was_asked_about() {
    for (id, shown) in [("2f-1", true), ("2F-1", false), ("2f-2", false)] {
        let (_, reply) =
            exchange((200, "", PAYMENT), async |bank, account| bank.query(account, &object(id)).await).await;
        assert_eq!(matches!(reply, Reply::Object(_)), shown, "{id}");
    }
    for (id, shown) in [("rf-1", true), ("RF-1", false), ("rf-2", false)] {
        let query = async |bank: &YooKassa, account: &Account| bank.query_refund(account, &object(id)).await;
        let (_, reply) = exchange((200, "", REFUND), query).await;
        assert_eq!(matches!(reply, Reply::Object(_)), shown, "{id}");
    }
}

#[tokio::test]
async fn fault_hostile_an_id_stays_within_its_segment() {
    for (id, segment) in [
        ("a/../b?c#d%2F", "a%2F..%2Fb%3Fc%23d%252F"),
        ("a b\\c", "a%20b%5Cc"),
        ("№", "%E2%84%96"),
        ("2f-1.x_~", "2f-1.x_~"),
    ] {
        let (arrived, _) =
            exchange((200, "", PAYMENT), async |bank, account| bank.query(account, &object(id)).await).await;
        assert_eq!(arrived.line(), format!("GET /v3/payments/{segment}"));
        let capture = provider().encode_capture(&object(id), rub("1.00"));
        assert_eq!(capture.path, format!("/v3/payments/{segment}/capture"));
    }
}

#[tokio::test]
async fn fault_hostile_an_id_that_would_bend_the_path_leads_nowhere() {
    // It listens, and is not even knocked at.
    let (bank, (listener, account)) = (provider(), listen().await);
    let nowhere = Reply::NotExecuted { reason: NotExecutedReason::NotSent, retry_after_ms: None };
    for id in [".", ".."] {
        let query = timeout(A_MOMENT, bank.query(&account, &object(id))).await;
        assert_eq!(query.as_ref(), Ok(&nowhere));
        let cancel = frozen(bank.encode_cancel(&object(id)));
        assert_eq!(timeout(A_MOMENT, bank.send(&account, cancel)).await.as_ref(), Ok(&nowhere));
    }
    assert!(timeout(A_MOMENT, listener.accept()).await.is_err());
}

#[tokio::test]
async fn a_listing_keeps_to_its_span_and_goes_on_from_its_cursor() {
    let span =
        Span { by: By::Made, from: Timestamp(1_796_032_800_123), to: Some(Timestamp(1_796_036_400_000)) };
    let told = format!(r#"{{"type":"list","items":[{PAYMENT}],"next_cursor":"a&b=c"}}"#);
    let (arrived, page) =
        exchange((200, "", &told), async |bank, account| bank.list(account, span, Some("x&y")).await).await;
    let filters =
        "created_at.gte=2026-11-30T10%3A00%3A00.123Z&limit=100&created_at.lte=2026-11-30T11%3A00%3A00Z";
    assert_eq!(arrived.line(), format!("GET /v3/payments?{filters}&cursor=x%26y"));
    let Page::Objects { objects, unreadable, next, .. } = page else { panic!("{page:?}") };
    assert_eq!((objects.len(), unreadable, next.as_deref()), (1, 0, Some("a&b=c")));
    let taken = Span { by: By::Taken, ..span };
    let list = async |bank: &YooKassa, account: &Account| bank.list(account, taken, None).await;
    let (arrived, _) = exchange((200, "", &told), list).await;
    let filters = filters.replace("created_at", "captured_at");
    assert_eq!(arrived.line(), format!("GET /v3/payments?{filters}"));
}

/// By its `Date`; without one it says nothing.
#[tokio::test]
async fn fault_31_a_page_tells_the_providers_time() {
    let span = Span { by: By::Made, from: Timestamp(0), to: None };
    let list = async |bank: &YooKassa, account: &Account| bank.list(account, span, None).await;
    let list_refunds =
        async |bank: &YooKassa, account: &Account| bank.list_refunds(account, None, span, None).await;
    for (header, told) in [
        ("date: Mon, 30 Nov 2026 10:00:00 GMT\r\n", Some(Timestamp(1_796_032_800_000))),
        ("date: yesterday\r\n", None),
        ("", None),
    ] {
        let empty = (200, header, r#"{"type":"list","items":[]}"#);
        let (_, Page::Objects { at, .. }) = exchange(empty, list).await else { panic!("no page") };
        assert_eq!(at, told, "{header}");
        let (_, Page::Objects { at, .. }) = exchange(empty, list_refunds).await else { panic!("no page") };
        assert_eq!(at, told, "{header}");
    }
}

#[tokio::test]
async fn refunds_are_listed_of_one_payment_or_of_all() {
    let span = Span { by: By::Made, from: Timestamp(0), to: None };
    let told = format!(r#"{{"type":"list","items":[{REFUND},{PAYMENT}]}}"#);
    for (of, rest) in [(Some(object("2f-1")), "&payment_id=2f-1"), (None, "")] {
        let (arrived, page) = exchange((200, "", &told), async |bank, account| {
            bank.list_refunds(account, of.as_ref(), span, None).await
        })
        .await;
        let filters = "created_at.gte=1970-01-01T00%3A00%3A00Z&limit=100";
        assert_eq!(arrived.line(), format!("GET /v3/refunds?{filters}{rest}"));
        let Page::Objects { objects, unreadable, next, .. } = page else { panic!("{page:?}") };
        assert_eq!((objects.len(), unreadable, next), (1, 1, None));
    }
}

#[tokio::test]
async fn a_retry_after_reaches_the_caller_from_sends_and_from_failed_pages() {
    let span = Span { by: By::Made, from: Timestamp(0), to: None };
    let list = async |bank: &YooKassa, account: &Account| bank.list(account, span, None).await;
    let send = async |bank: &YooKassa, account: &Account| {
        bank.send(account, outgoing("{}", &Looks::default(), true)).await
    };
    let waits = [
        ("retry-after: 7\r\n", Some(7000)),
        ("", None),
        ("retry-after: -7\r\n", None),
        ("retry-after: soon\r\n", None),
        ("retry-after: 99999999999999999999\r\n", None),
    ];
    for (header, retry_after_ms) in waits {
        let (_, page) = exchange((429, header, "{}"), list).await;
        assert_eq!(page, Page::Failed { retry_after_ms }, "{header}");
        let reason = NotExecutedReason::RateLimited;
        let (_, reply) = exchange((429, header, r#"{"type":"error"}"#), send).await;
        assert_eq!(reply, Reply::NotExecuted { reason, retry_after_ms });
        let (_, reply) = exchange((429, header, "slow down"), send).await;
        let (why, turned_away) = (UnknownReason::Unreadable, Some(reason));
        assert_eq!(reply, Reply::Unknown { reason: why, turned_away, retry_after_ms });
    }
}

#[tokio::test]
async fn fault_hostile_an_endless_answer_is_unknown() {
    let long = format!("{}{PAYMENT}", " ".repeat(5 << 20));
    let (_, reply) =
        exchange((200, "", &long), async |bank, account| bank.query(account, &object("2f-1")).await).await;
    assert_eq!(reply, unreadable());
}
