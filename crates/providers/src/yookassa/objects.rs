//! YooKassa's payments and refunds in our words. Pure. What contradicts the shape we know is no object at all; fields that we do
//! not know are passed over.

use jiff::Timestamp as Moment;
use payment::{
    Currency, Ending, IntentId, Money, MoneyError, ObjectId, ObjectStatus, Observation, OperationId, OrderId,
    PaidWith, RefundObservation, RefundStatus, Timestamp,
};
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::{
    answers::{MAX_CODE, capped},
    fields::Fields,
};

/// A payment, as it is written.
#[derive(Deserialize)]
pub(super) struct Payment {
    id: String,
    status: String,
    amount: Fields<Amount>,
    #[serde(default)]
    refunded_amount: Option<Fields<Amount>>,
    /// Whoever made the payment wrote it: of any shape.
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    payment_method: Option<Fields<PaymentMethod>>,
    #[serde(default)]
    confirmation: Option<Fields<Confirmation>>,
    #[serde(default)]
    cancellation_details: Option<Fields<CancellationDetails>>,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    test: Value,
}

impl Payment {
    /// Whether a test shop made it: no money moved.
    pub(super) fn is_test(&self) -> bool {
        self.test == Value::Bool(true)
    }
}

/// A refund, as it is written.
#[derive(Deserialize)]
pub(super) struct Refund {
    id: String,
    payment_id: String,
    status: String,
    amount: Fields<Amount>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    cancellation_details: Option<Fields<CancellationDetails>>,
    #[serde(default)]
    created_at: Option<String>,
}

#[derive(Deserialize)]
struct Amount {
    value: String,
    currency: String,
}

#[derive(Deserialize)]
struct PaymentMethod {
    #[serde(default)]
    card: Option<Fields<Card>>,
}

#[derive(Deserialize)]
struct Card {
    #[serde(default)]
    last4: Option<String>,
}

#[derive(Deserialize)]
struct Confirmation {
    #[serde(default)]
    confirmation_url: Option<String>,
}

#[derive(Deserialize)]
struct CancellationDetails {
    #[serde(default)]
    reason: String,
}

/// Which pages a shopper may be led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Encrypted ones.
    Https,
    /// Plain ones as well: the account itself is asked in the clear, as a sandbox is.
    Http,
}

impl Link {
    /// As an account's base allows.
    pub(super) fn of(base: &str) -> Self {
        if base.starts_with("http://") { Self::Http } else { Self::Https }
    }

    /// A page's address, if it is one: never a script, nor a file. It is passed on as it was understood.
    fn read(self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let allowed = url.scheme() == "https" || (self == Self::Http && url.scheme() == "http");
        allowed.then(|| url.into())
    }
}

/// A payment in our words; what is said beside status, sums and id, and cannot be, is left out. `None`: one of these cannot be.
pub(super) fn payment(payment: Payment, link: Link) -> Option<Observation> {
    let status = match payment.status.as_str() {
        "pending" => {
            let address = payment.confirmation.and_then(|Fields(confirmation)| confirmation.confirmation_url);
            ObjectStatus::Pending { confirmation_url: address.and_then(|address| link.read(&address)) }
        }
        "waiting_for_capture" => ObjectStatus::WaitingForCapture,
        "succeeded" => ObjectStatus::Succeeded,
        "canceled" => ObjectStatus::Ended(ending(reason(payment.cancellation_details))),
        _ => return None,
    };
    let amount = money(&payment.amount)?;
    let refunded_minor = payment.refunded_amount.map_or(Some(0), |sum| minor(&sum, amount.currency()))?;
    let card = payment.payment_method.and_then(|Fields(method)| method.card);
    let last4 = card.and_then(|Fields(card)| card.last4).filter(|digits| is_last4(digits));
    Some(Observation {
        object: ObjectId::parse(payment.id).ok()?,
        given_back: status == ObjectStatus::Succeeded && refunded_minor >= amount.minor(),
        status,
        amount,
        intent: intent(&payment.metadata),
        order: text(&payment.metadata, "order_id").and_then(|id| OrderId::parse(id).ok()),
        paid_with: last4.map(|last4| PaidWith { last4: Some(last4) }),
        created_at: moment(payment.created_at),
    })
}

/// A refund in our words. `None`: a status, a sum or an id that cannot be.
pub(super) fn refund(refund: Refund) -> Option<RefundObservation> {
    let status = match refund.status.as_str() {
        "pending" => RefundStatus::Pending,
        "succeeded" => RefundStatus::Succeeded,
        "canceled" => RefundStatus::Canceled { code: reason(refund.cancellation_details) },
        _ => return None,
    };
    Some(RefundObservation {
        object: ObjectId::parse(refund.id).ok()?,
        payment: ObjectId::parse(refund.payment_id).ok()?,
        status,
        amount: money(&refund.amount)?,
        operation: operation(refund.description.as_deref(), &refund.metadata),
        created_at: moment(refund.created_at),
    })
}

/// Our intent, where the metadata names one.
pub(super) fn intent(metadata: &Value) -> Option<IntentId> {
    text(metadata, "payment_intent_id")?.parse().ok()
}

/// Our operation: the first word of the description, which is always kept; else what the metadata says.
fn operation(description: Option<&str>, metadata: &Value) -> Option<OperationId> {
    let described = description.and_then(|text| text.split_whitespace().next()?.parse().ok());
    described.or_else(|| text(metadata, "operation_id")?.parse().ok())
}

fn text<'a>(metadata: &'a Value, name: &str) -> Option<&'a str> {
    metadata.get(name)?.as_str()
}

fn money(Fields(amount): &Fields<Amount>) -> Option<Money> {
    Money::parse(&amount.value, Currency::parse(&amount.currency).ok()?).ok()
}

/// A sum that may be none, minor units of that currency.
fn minor(Fields(amount): &Fields<Amount>, currency: Currency) -> Option<i64> {
    if amount.currency != currency.code() {
        return None;
    }
    match Money::parse(&amount.value, currency) {
        Ok(sum) => Some(sum.minor()),
        Err(MoneyError::NotPositive) => Some(0),
        Err(
            MoneyError::Malformed
            | MoneyError::TooManyDecimals { .. }
            | MoneyError::TooLarge
            | MoneyError::UnknownCurrency { .. },
        ) => None,
    }
}

/// Never more of a card's number than that.
fn is_last4(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn moment(created_at: Option<String>) -> Option<Timestamp> {
    created_at?.parse::<Moment>().ok().map(|at| Timestamp(at.as_millisecond()))
}

fn reason(details: Option<Fields<CancellationDetails>>) -> String {
    details.map_or_else(String::new, |Fields(details)| capped(details.reason, MAX_CODE))
}

/// `cancellation_details.reason`: withdrawn and run out are not refusals.
fn ending(code: String) -> Ending {
    match code.as_str() {
        "canceled_by_merchant" | "expired_on_capture" => Ending::Canceled { code },
        "expired_on_confirmation" => Ending::Expired { code },
        _ => Ending::Declined { code },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yookassa::fixtures::{PAID, REFUND};

    fn read_payment(text: &str) -> Option<Observation> {
        payment(serde_json::from_str(text).ok()?, Link::Https)
    }

    fn read_refund(text: &str) -> Option<RefundObservation> {
        refund(serde_json::from_str(text).ok()?)
    }

    #[test]
    fn a_payment_reads_as_an_observation() {
        let seen = read_payment(PAID).unwrap();
        assert_eq!(seen.status, ObjectStatus::Succeeded);
        assert_eq!(seen.amount.to_string(), "1500.00 RUB");
        assert_eq!(
            seen.intent.map(|id| id.to_string()),
            Some("pi_00000000000000000000000000000001".to_owned())
        );
        assert_eq!(seen.order, OrderId::parse("№ 7").ok());
        assert_eq!(seen.paid_with.and_then(|paid| paid.last4), Some("4444".to_owned()));
        assert_eq!(seen.created_at, Some(Timestamp(1_796_032_800_123)));
    }

    #[test]
    fn no_more_of_a_cards_number_is_taken_than_its_last_four_digits() {
        for written in ["4111111111111111", "444", "44444", "", "<b>9", "４４"] {
            let seen = read_payment(&PAID.replace("4444", written)).unwrap();
            assert_eq!(seen.paid_with, None, "{written}");
        }
    }

    #[test]
    fn r12_a_payment_says_whether_all_of_it_was_given_back() {
        let given_back = |status: &str, refunded: &str| {
            let written = format!(r#""{status}","refunded_amount":{refunded}"#);
            Some(read_payment(&PAID.replace(r#""succeeded""#, &written))?.given_back)
        };
        let rub = |value: &str| format!(r#"{{"value":"{value}","currency":"RUB"}}"#);
        assert_eq!(read_payment(PAID).map(|seen| seen.given_back), Some(false));
        for (value, all) in
            [("0.00", false), ("0", false), ("1499.99", false), ("1500.00", true), ("1500.01", true)]
        {
            assert_eq!(given_back("succeeded", &rub(value)), Some(all), "{value}");
            assert_eq!(given_back("waiting_for_capture", &rub(value)), Some(false), "nothing was taken");
        }
        assert_eq!(given_back("succeeded", "null"), Some(false));
        let usd = rub("1500.00").replace("RUB", "USD");
        for odd in [&*rub("-1.00"), &rub("1500.001"), &rub(""), &usd, "{}", "[]", "1500", r#""1500.00""#] {
            assert_eq!(given_back("succeeded", odd), None, "{odd}");
        }
    }

    #[test]
    fn a_payment_of_strangers_reads_whatever_their_metadata() {
        let long = format!(r#"{{"order_id":"{}"}}"#, "x".repeat(65));
        let odd = r#"{"payment_intent_id":7,"order_id":["a"]}"#;
        for metadata in ["null", "[]", "{}", "7", r#""text""#, odd, &long] {
            let text = PAID.replace(
                &PAID[PAID.find(r#"{"payment_intent"#).unwrap()..PAID.find(",\"payment_method").unwrap()],
                metadata,
            );
            let seen = read_payment(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((seen.intent, seen.order), (None, None), "{metadata}");
        }
    }

    #[test]
    fn fault_hostile_a_page_that_is_no_web_page_is_left_out() {
        let led_to = |address: &str, link| {
            let pending =
                format!(r#""pending","confirmation":{{"type":"redirect","confirmation_url":"{address}"}}"#);
            let written = serde_json::from_str(&PAID.replace(r#""succeeded""#, &pending)).unwrap();
            let Some(Observation { status: ObjectStatus::Pending { confirmation_url }, .. }) =
                payment(written, link)
            else {
                panic!("its status, sum and id are told: {address}")
            };
            confirmation_url
        };
        let (https, http) = ("https://bank.example/3ds?a=b", "http://127.0.0.1:4000/confirm/1");
        assert_eq!(led_to(https, Link::of("https://api.example")).as_deref(), Some(https));
        assert_eq!(led_to(https, Link::of("http://127.0.0.1:4000")).as_deref(), Some(https));
        assert_eq!(led_to(http, Link::of("http://127.0.0.1:4000")).as_deref(), Some(http));
        assert_eq!(led_to(http, Link::of("https://api.example")), None);
        for odd in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\\tscript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "//bank.example/3ds",
            "/3ds",
            "",
            "https://",
        ] {
            assert_eq!([Link::Https, Link::Http].map(|link| led_to(odd, link)), [None, None], "{odd}");
        }
    }

    #[test]
    fn an_end_is_told_by_its_reason() {
        let ended = |reason: &str| {
            let details = format!(r#""canceled","cancellation_details":{{"party":"x","reason":"{reason}"}}"#);
            let Some(Observation { status: ObjectStatus::Ended(ending), .. }) =
                read_payment(&PAID.replace(r#""succeeded""#, &details))
            else {
                panic!("{reason}")
            };
            ending
        };
        let code = |code: &str| code.to_owned();
        let (declined, expired) = ("insufficient_funds", "expired_on_confirmation");
        assert_eq!(ended(declined), Ending::Declined { code: code(declined) });
        assert_eq!(ended(expired), Ending::Expired { code: code(expired) });
        for canceled in ["canceled_by_merchant", "expired_on_capture"] {
            assert_eq!(ended(canceled), Ending::Canceled { code: code(canceled) });
        }
        assert_eq!(
            ended(&"ж".repeat(65)),
            Ending::Declined { code: "ж".repeat(64) },
            "it is kept up to a bound"
        );
    }

    #[test]
    fn a_refund_reads_as_an_observation() {
        let seen = read_refund(REFUND).unwrap();
        assert_eq!(seen.object.as_str(), "216749f7-0016-50be-b000-078d43a63ae4");
        assert_eq!(seen.payment.as_str(), "216749da-000f-50be-b000-096747fad91e");
        assert_eq!(seen.status, RefundStatus::Succeeded);
        assert_eq!(seen.amount.to_string(), "1.00 RUB");
        assert_eq!(
            seen.operation.map(|id| id.to_string()),
            Some("op_00000000000000000000000000000002".to_owned())
        );
        assert_eq!(seen.created_at, Some(Timestamp(1_507_145_271_407)));
    }

    #[test]
    fn a_refund_stands_where_its_status_says() {
        let status = |status: &str| Some(read_refund(&REFUND.replace(r#""succeeded""#, status))?.status);
        assert_eq!(status(r#""pending""#), Some(RefundStatus::Pending));
        let canceled =
            r#""canceled","cancellation_details":{"party":"yoo_money","reason":"insufficient_funds"}"#;
        assert_eq!(status(canceled), Some(RefundStatus::Canceled { code: "insufficient_funds".to_owned() }));
        assert_eq!(status(r#""canceled""#), Some(RefundStatus::Canceled { code: String::new() }));
        for odd in [r#""waiting_for_capture""#, r#""Succeeded""#, "true", "null", r#"["succeeded"]"#] {
            assert_eq!(status(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_refunds_operation_is_in_its_description_or_else_in_its_metadata() {
        let id = |number| Some(OperationId(uuid::Uuid::from_u128(number)));
        let metadata = serde_json::json!({ "operation_id": "op_00000000000000000000000000000009" });
        let ours = "op_00000000000000000000000000000002";
        assert_eq!(operation(Some(ours), &metadata), id(2));
        assert_eq!(operation(Some(&format!("{ours} because")), &Value::Null), id(2));
        for other in [Some("by hand"), Some(""), Some("op_2 x"), Some(&*format!("see {ours}")), None] {
            assert_eq!(operation(other, &metadata), id(9), "{other:?}");
            assert_eq!(operation(other, &Value::Null), None, "{other:?}");
        }
    }

    #[test]
    fn r10_a_refund_that_does_not_read_is_none() {
        let cases = [
            ("216749f7-0016-50be-b000-078d43a63ae4", String::new()),
            ("216749f7-0016-50be-b000-078d43a63ae4", "x".repeat(129)),
            (r#""216749da-000f-50be-b000-096747fad91e""#, "7".to_owned()),
            (r#""payment_id""#, r#""of""#.to_owned()),
            ("1.00", "1.001".to_owned()),
            ("1.00", "0.00".to_owned()),
            ("RUB", "ROUBLE".to_owned()),
            (r#"{"value":"1.00","currency":"RUB"}"#, r#""1.00""#.to_owned()),
        ];
        for (of, to) in cases {
            assert_eq!(read_refund(&REFUND.replace(of, &to)), None, "{of} → {to}");
        }
    }
}
