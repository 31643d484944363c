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
