//! Which payment the page of a paid checkout shows: the one whose charge paid it, with its number, card and time.
//! Must never show a card that was not charged.

use contract::{PaymentIntent, PaymentMethod};
use payment::CheckoutStatus;
use store::{ChargeRecord, CheckoutRecord, IntentRecord, Story};

use crate::{
    answers::rfc3339,
    http::{
        ApiError, App,
        payment_intents::{read, story},
    },
};

/// The charge that paid a checkout, and the intent it came by, which need not be the newest.
pub(super) struct Receipt {
    pub(super) intent: IntentRecord,
    charge: ChargeRecord,
    /// Whether the intent's card was charged. An object that its provider made twice may be another card's.
    is_its_object: bool,
}

impl Receipt {
    /// `None` while the checkout is not paid.
    pub(super) async fn of(
        app: &App,
        checkout: &CheckoutRecord,
        newest: &IntentRecord,
    ) -> Result<Option<Self>, ApiError> {
        if checkout.status != CheckoutStatus::Paid {
            return Ok(None);
        }
        let told = story(app, newest).await?;
        let Some(charge) = ChargeRecord::paying(&told.charges).cloned() else { return Ok(None) };
        if charge.intent == newest.id {
            return Ok(Some(Self::new(newest.clone(), charge, &told)));
        }
        let (_, payer) = read(app, checkout.tenant.clone(), charge.intent).await?;
        let told = story(app, &payer).await?;
        Ok(Some(Self::new(payer, charge, &told)))
    }

    fn new(intent: IntentRecord, charge: ChargeRecord, told: &Story) -> Self {
        let is_its_object = told.operation.object.as_ref() == Some(&charge.object);
        Self { intent, charge, is_its_object }
    }

    /// What the page shows of the intent.
    pub(super) fn fill(&self, view: PaymentIntent) -> PaymentIntent {
        let last4 = |method: PaymentMethod| method.last4.filter(|_| self.is_its_object);
        PaymentIntent {
            paid_at: view.paid_at.or_else(|| Some(rfc3339(self.charge.at))),
            payment_method: view
                .payment_method
                .map(|method| PaymentMethod { kind: method.kind.clone(), last4: last4(method) }),
            decline: None,
            cancel_reason: None,
            ..view
        }
    }
}
