//! Five numbers about an order, each from whoever knows it best: attempts and operations from the API, charges from
//! the bank's own ledger, mails from the mail folder, shipments from the shop. Must never be guessed: a number that
//! could not be learnt is none.

use std::{collections::HashSet, error::Error};

use tracing::warn;

use crate::{Shop, api::ApiError, bank::Bank, orders::Order};

/// Intents of one checkout that are followed back: more than the API lets a shopper try.
const MAX_INTENTS: usize = 20;

/// The numbers; `None`: not known now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requests that were sent to the bank to take the money.
    pub attempts: Option<u64>,
    /// Things that were asked of the bank: what the attempts repeat.
    pub operations: Option<u64>,
    /// How often the bank took the money.
    pub charges: Option<u64>,
    /// Mails about the order.
    pub mails: Option<u64>,
    /// Parcels that left.
    pub shipments: Option<u64>,
}

impl Figures {
    /// As everything stands now.
    pub async fn gather(shop: &Shop, bank: &Bank, order: &Order) -> Self {
        let (sent, charges, mails, shipments) = tokio::join!(
            sent(shop, order),
            bank.charges(&order.number),
            mails(shop, order),
            shop.shipments().count(&order.number),
        );
        let (attempts, operations) = known("attempts", order, sent).unzip();
        Self {
            attempts,
            operations,
            charges: known("charges", order, charges),
            mails: known("mails", order, mails).flatten(),
            shipments: known("shipments", order, shipments).map(u64::from),
        }
    }
}

/// Attempts and operations: of all intents of the checkout, from the newest back.
async fn sent(shop: &Shop, order: &Order) -> Result<(u64, u64), ApiError> {
    let Some(checkout_id) = &order.checkout_id else { return Ok((0, 0)) };
    let checkout = shop.api().show_checkout(order, checkout_id).await?;
    let mut next = Some(checkout.payment_intent.id);
    let (mut attempts, mut operations) = (0, HashSet::new());
    for _ in 0..MAX_INTENTS {
        let Some(intent_id) = next else { break };
        let intent = shop.api().show_intent(order, &intent_id).await?;
        let sends = intent.attempts.ok_or(ApiError::Garbled("it has no attempts"))?;
        attempts += sends.len() as u64;
        operations.extend(sends.into_iter().map(|attempt| attempt.operation_id));
        next = intent.previous_intent_id;
    }
    Ok((attempts, operations.len() as u64))
}

async fn mails(shop: &Shop, order: &Order) -> std::io::Result<Option<u64>> {
    let Some(mailbox) = shop.mailbox() else { return Ok(None) };
    let mails = mailbox.newest().await?;
    Ok(Some(mails.iter().filter(|mail| mail.is_about(&order.number)).count() as u64))
}

fn known<T, E: Error + 'static>(figure: &str, order: &Order, learnt: Result<T, E>) -> Option<T> {
    learnt
        .inspect_err(|error| {
            warn!(order = order.number, figure, error = error as &dyn Error, "a figure is not known");
        })
        .ok()
}
