//! Requests and notifications as this bank writes them: a line a field.

use std::collections::BTreeMap;

use payment::{CheckoutId, Currency, IntentId, Money, ObjectId, OperationKind, OrderId};
use providers::{About, Encoded, Method, Notice, PayRequest, RefundRequest};

/// A request, read as the bank reads it.
pub enum Asked {
    Pay(Order),
    Capture { payment: ObjectId, amount: Money },
    Cancel { payment: ObjectId },
    Refund(RefundRequest),
}

/// What a payment is asked for.
pub struct Order {
    pub intent: IntentId,
    pub checkout: CheckoutId,
    pub order: OrderId,
    pub amount: Money,
}

impl Asked {
    pub fn kind(&self) -> OperationKind {
        match self {
            Self::Pay(_) => OperationKind::Pay,
            Self::Capture { .. } => OperationKind::Capture,
            Self::Cancel { .. } => OperationKind::Cancel,
            Self::Refund(_) => OperationKind::Refund,
        }
    }

    pub fn read(method: &str, path: &str, body: &[u8]) -> Self {
        assert_eq!(method, "POST");
        let fields = Fields::read(body).expect("a body of lines");
        match path.split('/').skip(1).collect::<Vec<_>>()[..] {
            ["payments"] => Self::Pay(Order {
                intent: fields.text("intent").parse().unwrap(),
                checkout: fields.text("checkout").parse().unwrap(),
                order: OrderId::parse(fields.text("order")).unwrap(),
                amount: fields.amount(),
            }),
            ["payments", id, "capture"] => {
                Self::Capture { payment: ObjectId::parse(id).unwrap(), amount: fields.amount() }
            }
            ["payments", id, "cancel"] => Self::Cancel { payment: ObjectId::parse(id).unwrap() },
            ["refunds"] => Self::Refund(RefundRequest {
                operation: fields.text("operation").parse().unwrap(),
                payment: ObjectId::parse(fields.text("payment")).unwrap(),
                amount: fields.amount(),
                reason: Some(fields.text("reason").to_owned()),
            }),
            _ => panic!("no such door: {path}"),
        }
    }
}

pub fn pay(edition: u32, request: &PayRequest) -> Encoded {
    let method = match &request.method {
        Method::CardToken(token) => token,
        Method::Redirect => "redirect",
    };
    let (intent, checkout, order) = (request.intent, request.checkout, &request.order);
    let amount = amount_lines(request.amount);
    let body = format!(
        "edition={edition}\nintent={intent}\ncheckout={checkout}\norder={order}\n{amount}method={method}\n"
    );
    post("/payments".into(), body)
}

pub fn capture(edition: u32, payment: &ObjectId, amount: Money) -> Encoded {
    post(format!("/payments/{payment}/capture"), format!("edition={edition}\n{}", amount_lines(amount)))
}

pub fn cancel(edition: u32, payment: &ObjectId) -> Encoded {
    post(format!("/payments/{payment}/cancel"), format!("edition={edition}\n"))
}

pub fn refund(edition: u32, request: &RefundRequest) -> Encoded {
    let (operation, payment) = (request.operation, &request.payment);
    let (amount, reason) = (amount_lines(request.amount), request.reason.as_deref().unwrap_or_default());
    let body =
        format!("edition={edition}\noperation={operation}\npayment={payment}\n{amount}reason={reason}\n");
    post("/refunds".into(), body)
}

fn post(path: String, body: String) -> Encoded {
    Encoded { method: "POST", path, body: body.into_bytes() }
}

fn amount_lines(amount: Money) -> String {
    format!("amount={}\ncurrency={}\n", amount.decimal(), amount.currency().code())
}

pub fn write_notice(notice: &Notice) -> Vec<u8> {
    let Notice { event, object, status, about, intent } = notice;
    let mut text = format!("event={event}\nobject={object}\nstatus={status}\n");
    if let About::Refund { payment } = about {
        text += &format!("payment={payment}\n");
    }
    if let Some(intent) = intent {
        text += &format!("intent={intent}\n");
    }
    text.into_bytes()
}

pub fn read_notice(body: &[u8]) -> Option<Notice> {
    let fields = Fields::read(body)?;
    let event = fields.get("event")?;
    let about = match event.split_once('.')?.0 {
        "payment" => About::Payment,
        "refund" => About::Refund { payment: ObjectId::parse(fields.get("payment")?).ok()? },
        _ => return None,
    };
    Some(Notice {
        event: event.to_owned(),
        object: ObjectId::parse(fields.get("object")?).ok()?,
        about,
        status: fields.get("status")?.to_owned(),
        intent: fields.get("intent").and_then(|intent| intent.parse().ok()),
    })
}

struct Fields<'b>(BTreeMap<&'b str, &'b str>);

impl<'b> Fields<'b> {
    fn read(body: &'b [u8]) -> Option<Self> {
        let text = std::str::from_utf8(body).ok()?;
        Some(Self(text.lines().filter_map(|line| line.split_once('=')).collect()))
    }

    fn get(&self, name: &str) -> Option<&'b str> {
        self.0.get(name).copied()
    }

    fn text(&self, name: &str) -> &'b str {
        self.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn amount(&self) -> Money {
        Money::parse(self.text("amount"), Currency::parse(self.text("currency")).unwrap()).unwrap()
    }
}
