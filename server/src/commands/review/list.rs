//! What waits for a person: its id alone on a line, what is unknown, and what that means for the money.

use std::{collections::HashSet, fmt::Write};

use engine::{MAX_REVIEW_ITEMS, item_id};
use payment::{ObjectId, OperationKind, State};
use store::{
    ChargeRecord, CheckoutRecord, EffectRecord, FollowUp, IntentRecord, Review, ReviewItem, StrangerRecord,
    Task,
};

use super::words;
use crate::answers::rfc3339;

/// The list, or that there is nothing on it; and which webhooks and mails did not arrive, or may not have. Of an extra that is `alone`
/// it is known that the money that paid went back.
pub(super) fn text(review: &Review, alone: &HashSet<ObjectId>, undelivered: &[EffectRecord]) -> String {
    let mut text = waiting(review, alone);
    if !undelivered.is_empty() {
        text.push_str(
            "\nWebhooks and mails that did not arrive, or may not have; nothing sends them again:\n",
        );
    }
    for effect in undelivered {
        let (merchant, what) = (&effect.tenant.merchant, words::effect(effect));
        let _infallible = writeln!(text, "  {merchant}, {}: {what}", effect.intent);
    }
    text
}

fn waiting(review: &Review, alone: &HashSet<ObjectId>) -> String {
    let mut text = match (review.items.len(), review.more) {
        (0, false) => return "Nothing waits for a person.\n".to_owned(),
        (1, false) => "One thing waits for a person.\n".to_owned(),
        (several, false) => format!("{several} things wait for a person.\n"),
        (several, true) => format!(
            "More than {several} things wait for a person: these are the first {MAX_REVIEW_ITEMS} of each kind. `show` and `resolve` \
             take any.\n"
        ),
    };
    for item in &review.items {
        let (what, meaning) = told(item, alone);
        let _infallible = write!(text, "\n{}\n  {what}\n  {meaning}\n", item_id(item));
    }
    text.push_str("\n`payonce review show ID` tells the whole story of one, and how it can be ended.\n");
    text
}

fn told(item: &ReviewItem, alone: &HashSet<ObjectId>) -> (String, String) {
    match item {
        ReviewItem::Operation { checkout, intent, operation } => match &operation.task {
            Task::Pay => payment(checkout, intent),
            Task::FollowUp(row) => follow_up(checkout, row),
        },
        ReviewItem::Extra(charge) => extra(charge, alone.contains(&charge.object)),
        ReviewItem::Stranger(found) => stranger(found),
    }
}

fn payment(checkout: &CheckoutRecord, intent: &IntentRecord) -> (String, String) {
    let (order, amount) = (&checkout.order, intent.amount);
    let standing = if let State::NeedsReview { since, why, object, suspects } = &intent.state {
        format!("was it taken? Since {}: {}", rfc3339(*since), words::review(*why, object.as_ref(), suspects))
    } else {
        words::standing(&intent.state)
    };
    let what = format!("Payment of {amount} for order {order}: {standing}.");
    (what, "The order takes no other payment until this ends; the server goes on asking.".to_owned())
}

fn follow_up(checkout: &CheckoutRecord, row: &FollowUp) -> (String, String) {
    let of = row.amount.map_or_else(String::new, |amount| format!(" of {amount}"));
    let (kind, target, order) = (row.kind.as_str(), &row.target, &checkout.order);
    let what =
        format!("The {kind}{of} on {target}, order {order}: {}. Was it done?", words::operation(&row.state));
    let meaning = match row.kind {
        OperationKind::Refund => {
            "The sum stays reserved, and the payment takes no other refund, until this ends."
        }
        OperationKind::Pay | OperationKind::Capture | OperationKind::Cancel => {
            "The money is neither captured nor let go by us until this ends."
        }
    };
    (what, meaning.to_owned())
}

fn extra(charge: &ChargeRecord, alone: bool) -> (String, String) {
    let (amount, checkout) = (charge.amount, charge.checkout);
    let what = format!("{amount} taken on {} for {checkout}, which was paid already.", rfc3339(charge.at));
    let currency = amount.currency();
    let twice = if alone {
        "What had paid it went back since: this may be all that pays it."
    } else {
        "The shopper paid twice, as far as is known."
    };
    let meaning = format!(
        "{twice} Given back so far: {}; on its way back: {}.",
        words::sum(charge.refunded_minor, currency),
        words::sum(charge.reserved_minor, currency)
    );
    (what, meaning)
}

fn stranger(found: &StrangerRecord) -> (String, String) {
    let (amount, account, at) = (found.amount, words::account(found), rfc3339(found.found_at));
    let what = if found.took_money {
        format!(
            "{amount} taken in {account}, found {at}: no payment of ours asked for it. Whether it was given back since, `show` asks."
        )
    } else {
        format!(
            "{amount} may be taken in {account}, found {at}: it waits there, and no payment that we know of waits for it."
        )
    };
    let meaning = match &found.order {
        Some(order) => {
            format!("It names order {order}, for which nothing is sent to the provider until this ends.")
        }
        None => "It names no order, and holds nothing up.".to_owned(),
    };
    (what, meaning)
}
