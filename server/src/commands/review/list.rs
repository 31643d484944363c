//! What waits for a person, one line each.

use std::fmt::Write;

use engine::item_id;
use payment::State;
use store::{ReviewItem, Task};

use crate::answers::rfc3339;

/// The list, or that there is nothing on it.
pub(super) fn text(items: &[ReviewItem]) -> String {
    if items.is_empty() {
        return "Nothing waits for a person.\n".to_owned();
    }
    let mut text = String::new();
    for item in items {
        let _infallible = writeln!(text, "{}  {}", item_id(item), line(item));
    }
    text.push_str("\n`payonce review show ID` tells the whole story of one.\n");
    text
}

fn line(item: &ReviewItem) -> String {
    match item {
        ReviewItem::Operation { checkout, intent, operation } => {
            let order = &checkout.order;
            match (&operation.task, &intent.state) {
                (Task::Pay, State::NeedsReview { since, why, .. }) => {
                    format!("order {order}, {}, unresolved since {}: {why:?}", intent.amount, rfc3339(*since))
                }
                (Task::Pay, state) => format!("order {order}, {}, {}", intent.amount, state.name()),
                (Task::FollowUp(follow_up), _) => {
                    let amount = follow_up.amount.map_or_else(String::new, |amount| format!(" of {amount}"));
                    let (kind, target) = (follow_up.kind.as_str(), &follow_up.target);
                    format!("order {order}, {kind}{amount} on {target}: result unknown")
                }
            }
        }
        ReviewItem::Extra(charge) => format!(
            "{} taken for {}, which was paid already ({} minor units refunded, {} under way)",
            charge.amount, charge.checkout, charge.refunded_minor, charge.reserved_minor
        ),
        ReviewItem::Stranger(stranger) => {
            let order = match &stranger.order {
                Some(order) => {
                    format!("it names order {order}, which takes no payment until this is resolved")
                }
                None => "it names no order".to_owned(),
            };
            let (amount, at) = (stranger.amount, rfc3339(stranger.found_at));
            format!("{amount} taken that no payment of ours asked for, found {at}; {order}")
        }
    }
}
