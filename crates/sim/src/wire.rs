//! Requests and notifications as this bank writes them: words between spaces. What YooKassa's bytes mean is proved elsewhere.

use payment::{CheckoutId, Currency, IntentId, Money, ObjectId, OperationId, OrderId};
use providers::{About, Encoded, Method, Notice, PayRequest, RefundRequest};

/// A request, as the bank reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A payment.
    Pay(Order),
    /// Money that is held is to be taken.
    Capture(ObjectId, Money),
    /// Money that is held is to be let go of.
    Cancel(ObjectId),
    /// Money is to be given back.
    Refund {
        /// Ours.
        operation: OperationId,
        /// Of which payment.
        payment: ObjectId,
        /// How much.
        amount: Money,
    },
}

/// What a payment is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Ours.
    pub intent: IntentId,
    /// Ours.
    pub checkout: CheckoutId,
    /// The merchant's.
    pub order: OrderId,
    /// How much.
    pub amount: Money,
    /// Held only, until it is captured.
    pub held: bool,
    /// The card's token; none where the bank's page is used.
    pub token: Option<String>,
}

fn sum(amount: Money) -> String {
    format!("{} {}", amount.minor(), amount.currency().code())
}

/// The request for a payment.
pub fn pay(request: &PayRequest) -> Encoded {
    let PayRequest { intent, checkout, order, amount, .. } = request;
    let held = request.capture == payment::Capture::Manual;
    let method = match &request.method {
        Method::CardToken(token) => token,
        Method::Redirect => "-",
    };
    post("pay", format!("pay {intent} {checkout} {order} {} {held} {method}", sum(*amount)))
}

/// The request to take money that is held.
pub fn capture(payment: &ObjectId, amount: Money) -> Encoded {
    post("capture", format!("capture {payment} {}", sum(amount)))
}

/// The request to let go of money that is held.
pub fn cancel(payment: &ObjectId) -> Encoded {
    post("cancel", format!("cancel {payment}"))
}

/// The request for a refund.
pub fn refund(request: &RefundRequest) -> Encoded {
    let RefundRequest { operation, payment, amount, .. } = request;
    post("refund", format!("refund {operation} {payment} {}", sum(*amount)))
}

fn post(path: &str, body: String) -> Encoded {
    Encoded { method: "POST", path: path.to_owned(), body: body.into_bytes() }
}

/// Reads a request's bytes.
pub fn read(body: &[u8]) -> Option<Asked> {
    let words: Vec<&str> = std::str::from_utf8(body).ok()?.split(' ').collect();
    Some(match words[..] {
        ["pay", intent, checkout, order, minor, currency, held, method] => Asked::Pay(Order {
            intent: intent.parse().ok()?,
            checkout: checkout.parse().ok()?,
            order: OrderId::parse(order).ok()?,
            amount: money(minor, currency)?,
            held: held == "true",
            token: (method != "-").then(|| method.to_owned()),
        }),
        ["capture", payment, minor, currency] => {
            Asked::Capture(ObjectId::parse(payment).ok()?, money(minor, currency)?)
        }
        ["cancel", payment] => Asked::Cancel(ObjectId::parse(payment).ok()?),
        ["refund", operation, payment, minor, currency] => Asked::Refund {
            operation: operation.parse().ok()?,
            payment: ObjectId::parse(payment).ok()?,
            amount: money(minor, currency)?,
        },
        _ => return None,
    })
}

fn money(minor: &str, currency: &str) -> Option<Money> {
    Money::from_minor(minor.parse().ok()?, Currency::parse(currency).ok()?).ok()
}

/// A notification about an object that has this status now.
pub fn write_notice(
    about: &str,
    object: &ObjectId,
    status: &str,
    intent: Option<IntentId>,
    payment: Option<&ObjectId>,
) -> Vec<u8> {
    let intent = intent.map_or("-".to_owned(), |intent| intent.to_string());
    let payment = payment.map_or("-", ObjectId::as_str);
    format!("{about} {object} {status} {intent} {payment}").into_bytes()
}

/// Reads a notification.
pub fn read_notice(body: &[u8]) -> Option<Notice> {
    let words: Vec<&str> = std::str::from_utf8(body).ok()?.split(' ').collect();
    let [about, object, status, intent, payment] = words[..] else { return None };
    let event = format!("{about}.{status}");
    let about = match about {
        "payment" => About::Payment,
        "refund" => About::Refund { payment: ObjectId::parse(payment).ok()? },
        _ => return None,
    };
    let (object, status) = (ObjectId::parse(object).ok()?, status.to_owned());
    Some(Notice { event, object, about, status, intent: intent.parse().ok() })
}
