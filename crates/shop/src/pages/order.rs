//! The page of an order, which is also where the payment page sends the shopper back to.
//! Must never invite to pay while a payment's result is not known (R10), nor say that nothing was charged then.

use contract::{CheckoutStatus, InQuestion, IntentState};
use jiff::Timestamp;
use maud::{Markup, html};
use reqwest::Url;

use super::{
    catalogue::same_form,
    drawer::{self, OrderDrawer},
    layout,
};
use crate::{
    language::{Language, Visitor},
    orders::Order,
};

/// How an order stands, for its buyer.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    /// The API has not opened a checkout for it: nothing can have been paid.
    NotOffered,
    /// The API could not be asked.
    Unknown,
    /// Can be paid, and no try was made.
    WaitsForPayment(Url),
    /// Can be paid, and the last try took no money.
    LastTryFailed(Url),
    /// The bank waits for the shopper.
    AtTheBank(Url),
    /// A payment is under way, or its result is being found out.
    Settling(Url),
    /// The money is held and will be taken.
    Held(Url),
    /// A person looks into it.
    InReview(Url),
    /// Paid.
    Paid,
    /// Withdrawn unpaid.
    Canceled,
    /// Not paid in time.
    Expired,
}

impl Standing {
    /// From what the API says about the checkout and its newest intent.
    pub fn of(
        status: CheckoutStatus,
        intent: IntentState,
        in_question: Option<InQuestion>,
        page: Url,
    ) -> Self {
        match (status, intent) {
            (CheckoutStatus::Paid, _) => Self::Paid,
            _ if in_question == Some(InQuestion::Review) => Self::InReview(page),
            _ if in_question == Some(InQuestion::Restore) => Self::Settling(page),
            // An unfinished payment outlives its checkout: only its end says that no money moved.
            (_, IntentState::Processing | IntentState::Confirming | IntentState::Succeeded) => {
                Self::Settling(page)
            }
            (_, IntentState::RequiresAction) => Self::AtTheBank(page),
            (_, IntentState::Authorized) => Self::Held(page),
            (_, IntentState::NeedsReview) => Self::InReview(page),
            (CheckoutStatus::Canceled, _) => Self::Canceled,
            (CheckoutStatus::Expired, _) => Self::Expired,
            (CheckoutStatus::Open, IntentState::Created) => Self::WaitsForPayment(page),
            (CheckoutStatus::Open, IntentState::Declined | IntentState::Canceled | IntentState::Expired) => {
                Self::LastTryFailed(page)
            }
        }
    }

    /// Whether it will soon change without the shopper.
    pub fn is_settling(&self) -> bool {
        matches!(self, Self::Settling(_) | Self::Held(_))
    }

    /// Whether it ended without money.
    fn is_over_unpaid(&self) -> bool {
        matches!(self, Self::Canceled | Self::Expired)
    }

    /// For style and tests: `data-status`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotOffered => "not-offered",
            Self::Unknown => "unknown",
            Self::WaitsForPayment(_) => "waiting",
            Self::LastTryFailed(_) => "failed",
            Self::AtTheBank(_) => "at-the-bank",
            Self::Settling(_) => "settling",
            Self::Held(_) => "held",
            Self::InReview(_) => "review",
            Self::Paid => "paid",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }

    /// Colour and sign.
    fn tone(&self) -> (&'static str, &'static str) {
        match self {
            Self::Paid => ("good", "✓"),
            Self::LastTryFailed(_) => ("bad", "!"),
            Self::Canceled | Self::Expired => ("still", "×"),
            Self::Unknown => ("wait", "?"),
            Self::NotOffered | Self::WaitsForPayment(_) | Self::AtTheBank(_) => ("wait", "→"),
            Self::Settling(_) | Self::Held(_) | Self::InReview(_) => ("wait", "…"),
        }
    }

    /// Heading and explanation.
    fn words(&self, language: Language) -> (String, String) {
        match self {
            Self::NotOffered => (language.say("not-offered-title"), language.say("not-offered-text")),
            Self::Unknown => (language.say("unknown-title"), language.say("unknown-text")),
            Self::WaitsForPayment(_) => (language.say("waiting-title"), language.say("waiting-text")),
            Self::LastTryFailed(_) => (language.say("failed-title"), language.say("failed-text")),
            Self::AtTheBank(_) => (language.say("bank-title"), language.say("bank-text")),
            Self::Settling(_) => (language.say("settling-title"), language.say("settling-text")),
            Self::Held(_) => (language.say("held-title"), language.say("held-text")),
            Self::InReview(_) => (language.say("review-title"), language.say("review-text")),
            Self::Paid => (language.say("paid-title"), language.say("paid-text")),
            Self::Canceled => (language.say("canceled-title"), language.say("canceled-text")),
            Self::Expired => (language.say("expired-title"), language.say("expired-text")),
        }
    }
}

/// The order's page.
pub fn render(
    visitor: Visitor,
    order: &Order,
    standing: &Standing,
    shipped_at: Option<Timestamp>,
    drawer: Option<&OrderDrawer>,
) -> Markup {
    let language = visitor.language;
    let (heading, text) = standing.words(language);
    let (tone, sign) = standing.tone();
    let here = order.path();
    let main = html! {
        section.sheet data-shop="order" data-status=(standing.name()) {
            div.state {
                span class={ "sign " (tone) } aria-hidden="true" { (sign) }
                div role="status" {
                    h1 { (heading) }
                    p { (text) }
                }
            }
            (summary(visitor, order, &delivery(language, standing, shipped_at)))
            div.actions { (actions(visitor, order, standing, &here)) }
        }
        @if let Some(drawer) = drawer {
            (drawer::on_order(visitor, order, drawer, *standing != Standing::Paid && !standing.is_over_unpaid()))
        }
    };
    layout::page(visitor, &here, &heading, &main)
}

/// What was ordered, and for how much; then whatever else there is to say about it.
pub fn summary(visitor: Visitor, order: &Order, more: &Markup) -> Markup {
    let language = visitor.language;
    let wish = &order.wish;
    html! {
        div.summary {
            (layout::picture(wish.good))
            dl.facts {
                dt { (language.say("order-label")) }
                dd.number { (order.number) }
                dt { (language.say("goods-label")) }
                dd {
                    (language.say(wish.good.slug))
                    @if wish.quantity > 1 { " ×\u{a0}" (wish.quantity) }
                }
                dt { (language.say("sum-label")) }
                dd.sum { (wish.good.price.times(wish.quantity).written_in(language)) }
                (more)
            }
        }
    }
}

/// What ended unpaid waits for nothing; what was shipped all the same is never hidden.
fn delivery(language: Language, standing: &Standing, shipped_at: Option<Timestamp>) -> Markup {
    html! {
        @if shipped_at.is_some() || !standing.is_over_unpaid() {
            dt { (language.say("delivery-label")) }
            (drawer::delivery(language, shipped_at))
        }
    }
}

fn actions(visitor: Visitor, order: &Order, standing: &Standing, here: &str) -> Markup {
    let language = visitor.language;
    let here = visitor.link(here);
    let main = |page: &Url, label: String| html! { a.main data-pay href=(page) { (label) } };
    let watch = |page: &Url| {
        html! {
            a.main href=(here) { (language.say("check-again")) }
            a.second href=(page) { (language.say("watch-payment")) }
        }
    };
    let shelves = html! { a.second href=(visitor.link("/shop")) { (language.say("back-to-shelves")) } };
    html! {
        @match standing {
            Standing::NotOffered => (same_form(visitor, &order.wish, &language.say("continue-to-payment"))),
            Standing::Unknown => a.main href=(here) { (language.say("check-again")) },
            Standing::WaitsForPayment(page) => (main(page, language.say("pay"))),
            Standing::LastTryFailed(page) => (main(page, language.say("pay-another-way"))),
            Standing::AtTheBank(page) => (main(page, language.say("continue-at-the-bank"))),
            Standing::Settling(page) | Standing::Held(page) | Standing::InReview(page) => (watch(page)),
            Standing::Paid | Standing::Canceled | Standing::Expired => {}
        }
        (shelves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_an_unfinished_payment_never_looks_unpaid_even_when_its_checkout_ran_out() {
        let page = Url::parse("http://pay.example/pay/co_1").unwrap();
        for status in [CheckoutStatus::Open, CheckoutStatus::Expired, CheckoutStatus::Canceled] {
            for intent in [IntentState::Processing, IntentState::Confirming] {
                assert_eq!(
                    Standing::of(status, intent, None, page.clone()),
                    Standing::Settling(page.clone())
                );
            }
            let review = Standing::of(status, IntentState::NeedsReview, None, page.clone());
            assert_eq!(review, Standing::InReview(page.clone()));
            for intent in [IntentState::Created, IntentState::Declined, IntentState::RequiresAction] {
                let of = |why| Standing::of(status, intent, Some(why), page.clone());
                assert_eq!(of(InQuestion::Review), Standing::InReview(page.clone()));
                assert_eq!(of(InQuestion::Restore), Standing::Settling(page.clone()));
            }
        }
        assert_eq!(
            Standing::of(CheckoutStatus::Expired, IntentState::Expired, None, page.clone()),
            Standing::Expired
        );
        assert_eq!(Standing::of(CheckoutStatus::Paid, IntentState::Declined, None, page), Standing::Paid);
    }
}
