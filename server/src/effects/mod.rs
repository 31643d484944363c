//! The ways out: webhooks over HTTP, mails over SMTP or into a folder. One try each; what follows from it is the engine's to decide.

mod mail;
mod public_address;
mod webhook;
mod words;

use anyhow::{Context, Result};
use async_trait::async_trait;
use engine::{Delivery, Mail, Sender, Webhook};

use crate::config::Settings;
pub(crate) use mail::Mails;
use webhook::Webhooks;

/// What is configured to go out by.
pub struct WaysOut {
    webhooks: Webhooks,
    mails: Option<Mails>,
}

impl WaysOut {
    /// As the settings say.
    pub fn new(settings: &Settings) -> Result<Self> {
        let webhooks = Webhooks::new().context("cannot make an HTTP client for webhooks")?;
        Ok(Self { webhooks, mails: Mails::new(settings)? })
    }
}

#[async_trait]
impl Sender for WaysOut {
    async fn webhook(&self, webhook: &Webhook) -> Delivery {
        self.webhooks.send(webhook).await
    }

    async fn mail(&self, mail: &Mail) -> Delivery {
        match &self.mails {
            Some(mails) => mails.send(mail).await,
            None => Delivery::Refused("no way to send mails is configured".to_owned(), engine::Again::Never),
        }
    }

    fn sends_mails(&self) -> bool {
        self.mails.is_some()
    }
}

#[cfg(test)]
mod tests {
    use payment::{
        Capture, CheckoutId, CheckoutStatus, Currency, EffectId, EffectKind, EffectSubject, IntentId,
        MerchantId, Mode, Money, OrderId, State, SubmitKey, Timestamp,
    };
    use providers::Secret;
    use store::{CheckoutRecord, IntentRecord, Tenant};
    use uuid::Uuid;

    use super::*;

    fn rub(value: &str) -> Money {
        Money::parse(value, Currency::parse("RUB").unwrap()).unwrap()
    }

    /// An order of 1200.00 whose intent asked for 1300.00.
    fn rows() -> (CheckoutRecord, IntentRecord) {
        let tenant = Tenant { merchant: MerchantId::parse("mer_1").unwrap(), mode: Mode::Test };
        let (id, at) = (CheckoutId(Uuid::nil()), Timestamp(0));
        let intent = IntentRecord {
            tenant: tenant.clone(),
            id: IntentId(Uuid::nil()),
            checkout: id,
            number: 1,
            previous: None,
            submit_key: SubmitKey(Uuid::nil()),
            amount: rub("1300.00"),
            checkout_version: 1,
            state: State::Created,
            method: None,
            paid_with: None,
            email: None,
            version: 1,
            created_at: at,
        };
        let checkout = CheckoutRecord {
            tenant,
            id,
            order: OrderId::parse("1").unwrap(),
            status: CheckoutStatus::Paid,
            version: 2,
            token_version: 1,
            amount: rub("1200.00"),
            capture: Capture::Automatic,
            description: None,
            return_url: None,
            email: None,
            metadata: [].into(),
            created_at: at,
            expires_at: at,
        };
        (checkout, intent)
    }

    #[test]
    fn the_sum_told_is_the_one_that_was_taken() {
        let ((checkout, intent), amount, happened_at) = (rows(), rub("1500.00"), Timestamp(0));
        let id = |kind| EffectId::of(kind, EffectSubject::Checkout(checkout.id));
        let webhook = Webhook {
            id: id(EffectKind::CheckoutPaid),
            kind: EffectKind::CheckoutPaid,
            url: String::new(),
            secret: Secret(String::new()),
            happened_at,
            at: happened_at,
            checkout: checkout.clone(),
            intent: intent.clone(),
            amount,
        };
        let told = webhook::event(&webhook).data.amount;
        assert_eq!(told, contract::Amount::new(amount.decimal(), "RUB"));
        let mail = Mail {
            id: id(EffectKind::Receipt),
            kind: EffectKind::Receipt,
            to: String::new(),
            shop: "Zerno".to_owned(),
            status_url: String::new(),
            happened_at,
            checkout,
            intent,
            amount,
            once: true,
        };
        let text = words::words(&mail).text;
        assert!(text.contains("500") && !text.contains("200") && !text.contains("300"), "{text}");
        let said = |text: &str| (text.contains("taken once"), text.contains("списаны один раз"));
        assert_eq!(said(&text), (true, true));
        assert_eq!(said(&words::words(&Mail { once: false, ..mail }).text), (false, false));
    }
}
