//! Opening checkouts and intents.

use std::sync::Arc;

use payment::{CheckoutId, IntentId};
use store::{
    Answer, KeyUse, KnownKey, OpenCheckout, OpenIntent, OpenedCheckout, OpenedIntent, Render, StoreError,
    Terms,
};

use crate::{Engine, EngineError, vault};

/// What came of opening a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutOutcome {
    /// The answer; `replayed` when its key was known (R2).
    Answer {
        /// As it goes out.
        answer: Answer,
        /// Whether it had been given before.
        replayed: bool,
    },
    /// The key was used with other parameters (R3).
    KeyReused {
        /// The first that differs.
        field: String,
    },
    /// The order is paid.
    Paid(CheckoutId),
    /// The order's payment is under way with other terms.
    InProgress(CheckoutId, IntentId),
    /// It may be under way with other terms: nobody knows before the merchant's account is read.
    Gated,
}

/// What came of trying again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntentOutcome {
    /// The answer; `replayed` when its key was known (R2).
    Answer {
        /// As it goes out.
        answer: Answer,
        /// Whether it had been given before.
        replayed: bool,
    },
    /// The key was used with other parameters (R3).
    KeyReused {
        /// The first that differs.
        field: String,
    },
    /// No such checkout.
    NotFound,
    /// The order is paid.
    Paid(IntentId),
    /// The checkout is over.
    NotOpen,
    /// Too many tries.
    TooMany,
}

impl Engine {
    /// Opens a checkout for an order, or adopts the order's.
    pub async fn open_checkout(&self, key: KeyUse, terms: Terms) -> Result<CheckoutOutcome, EngineError> {
        if let Some(known) = self.store.find_key(key.clone()).await? {
            return Ok(match self.known(known)? {
                Ok(answer) => CheckoutOutcome::Answer { answer, replayed: true },
                Err(field) => CheckoutOutcome::KeyReused { field },
            });
        }
        let command = OpenCheckout { key, ids: self.ids.new_ids(), terms, render: self.render_checkout() };
        Ok(match self.store.open_checkout(command).await? {
            OpenedCheckout::Fresh(checkout, answer) => {
                CheckoutOutcome::Answer { answer: self.filled(answer, &checkout), replayed: false }
            }
            OpenedCheckout::Known(known) => match self.known(known)? {
                Ok(answer) => CheckoutOutcome::Answer { answer, replayed: true },
                Err(field) => CheckoutOutcome::KeyReused { field },
            },
            OpenedCheckout::Paid(checkout) => CheckoutOutcome::Paid(checkout),
            OpenedCheckout::InProgress(checkout, intent) => CheckoutOutcome::InProgress(checkout, intent),
            OpenedCheckout::Gated => CheckoutOutcome::Gated,
        })
    }

    /// Lets a new intent occupy a checkout, or names the one that does.
    pub async fn open_intent(&self, key: KeyUse, checkout: CheckoutId) -> Result<IntentOutcome, EngineError> {
        if let Some(known) = self.store.find_key(key.clone()).await? {
            return Ok(match self.known(known)? {
                Ok(answer) => IntentOutcome::Answer { answer, replayed: true },
                Err(field) => IntentOutcome::KeyReused { field },
            });
        }
        let answers = Arc::clone(&self.answers);
        let render: Render =
            Arc::new(move |status, checkout, intent| answers.intent(status, checkout, intent));
        let limit = self.settings.intents_per_checkout;
        let command = OpenIntent { key, checkout, ids: self.ids.new_ids(), limit, render };
        Ok(match self.store.open_intent(command).await? {
            OpenedIntent::Fresh(_, answer) => IntentOutcome::Answer { answer, replayed: false },
            OpenedIntent::Known(known) => match self.known(known)? {
                Ok(answer) => IntentOutcome::Answer { answer, replayed: true },
                Err(field) => IntentOutcome::KeyReused { field },
            },
            OpenedIntent::NotFound => IntentOutcome::NotFound,
            OpenedIntent::Paid(intent) => IntentOutcome::Paid(intent),
            OpenedIntent::NotOpen => IntentOutcome::NotOpen,
            OpenedIntent::TooMany => IntentOutcome::TooMany,
        })
    }

    fn render_checkout(&self) -> Render {
        let engine = self.clone();
        Arc::new(move |status, checkout, intent| {
            vault::blanked(engine.answers.as_ref(), status, checkout, intent, &engine.token(checkout))
        })
    }

    /// A known key's answer, or the field in which the request differs. Keys of these kinds are claimed with their answer.
    fn known(&self, known: KnownKey) -> Result<Result<Answer, String>, EngineError> {
        match known {
            KnownKey::Reused { field } => Ok(Err(field)),
            KnownKey::Same { checkout, answer: Some(answer), .. } => Ok(Ok(self.filled(answer, &checkout))),
            KnownKey::Same { answer: None, .. } => {
                Err(StoreError::Unreadable("a key without its answer".to_owned()).into())
            }
        }
    }
}
