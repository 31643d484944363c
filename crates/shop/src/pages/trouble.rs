//! Pages for what went wrong: what happened, what it means for the money, what to do.

use fluent_bundle::FluentArgs;
use maud::{Markup, html};

use super::{catalogue::same_form, layout, order};
use crate::{
    api::ApiError,
    language::{Language, Visitor},
    orders::Order,
};

/// No page has this address.
pub fn no_such_page(visitor: Visitor) -> Markup {
    let language = visitor.language;
    plain(visitor, &language.say("no-page-title"), &language.say("no-page-text"))
}

/// The shop knows no such order.
pub fn no_such_order(visitor: Visitor) -> Markup {
    let language = visitor.language;
    plain(visitor, &language.say("no-order-title"), &language.say("no-order-text"))
}

/// A form that the shop did not make.
pub fn unreadable_form(visitor: Visitor) -> Markup {
    let language = visitor.language;
    plain(visitor, &language.say("bad-form-title"), &language.say("bad-form-text"))
}

/// The shop's own files failed.
pub fn shop_failed(visitor: Visitor) -> Markup {
    let language = visitor.language;
    plain(visitor, &language.say("shop-failed-title"), &language.say("shop-failed-text"))
}

/// The bank was to let something go wrong, and did not answer.
pub fn fault_not_set(visitor: Visitor, order: &Order) -> Markup {
    let language = visitor.language;
    let heading = language.say("fault-not-set-title");
    let main = html! {
        section.sheet data-shop="trouble" data-status="fault-not-set" {
            div.state {
                span.sign.wait aria-hidden="true" { "!" }
                div role="status" {
                    h1 { (heading) }
                    p { (language.say("fault-not-set-text")) }
                }
            }
            (order::summary(visitor, order, &html! {}))
            div.actions {
                a.main href=(visitor.link(&order.path())) { (language.say("look-at-the-order")) }
            }
        }
    };
    layout::page(visitor, &order.path(), &heading, &main)
}

/// The API opened no checkout. Whatever the reason, nobody was charged by asking; where asking again can help,
/// the same form is offered: the same order, the same key.
pub fn no_checkout(visitor: Visitor, order: &Order, error: &ApiError) -> Markup {
    let language = visitor.language;
    let telling = Telling::of(error, language);
    let main = html! {
        section.sheet data-shop="trouble" data-status=(telling.name) {
            div.state {
                span.sign.wait aria-hidden="true" { "!" }
                div role="status" {
                    h1 { (telling.heading) }
                    p { (telling.text) }
                }
            }
            p.note {
                (telling.money)
                // An earlier try did open the payment page: it may have been paid there.
                @if order.checkout_id.is_some() { " " (language.say("opened-before")) }
            }
            (order::summary(visitor, order, &html! {}))
            div.actions {
                @if telling.retry_helps {
                    (same_form(visitor, &order.wish, &language.say("try-again")))
                }
                @if order.checkout_id.is_some() {
                    a.second href=(visitor.link(&order.path())) { (language.say("look-at-the-order")) }
                }
                a.second href=(visitor.link("/shop")) { (language.say("back-to-shelves")) }
            }
            @if let Some(request_id) = error.request_id() {
                p.fine { (language.say("request-label")) " " code { (request_id) } }
            }
        }
    };
    layout::page(visitor, "/shop", &telling.heading, &main)
}

/// What the shopper is told about a failure.
struct Telling {
    name: &'static str,
    heading: String,
    text: String,
    money: String,
    retry_helps: bool,
}

impl Telling {
    fn of(error: &ApiError, language: Language) -> Self {
        let nothing_charged = Self {
            name: "no-answer",
            heading: language.say("no-answer-title"),
            text: language.say("no-answer-text"),
            money: language.say("nothing-charged-try-again"),
            retry_helps: true,
        };
        match error {
            ApiError::NoAnswer(_) => nothing_charged,
            ApiError::Busy { retry_after_s } => Self {
                name: "busy",
                heading: language.say("busy-title"),
                text: busy_text(*retry_after_s, language),
                ..nothing_charged
            },
            ApiError::Failed { .. } => Self {
                name: "error",
                heading: language.say("api-failed-title"),
                text: language.say("api-failed-text"),
                ..nothing_charged
            },
            ApiError::Garbled(_) => Self {
                name: "garbled",
                heading: language.say("garbled-title"),
                text: language.say("garbled-text"),
                ..nothing_charged
            },
            ApiError::KeyRefused { .. } => Self {
                name: "key-refused",
                heading: language.say("key-refused-title"),
                text: language.say("key-refused-text"),
                ..nothing_charged
            },
            ApiError::Refused { .. } => Self {
                name: "refused",
                heading: language.say("refused-title"),
                text: language.say("refused-text"),
                money: language.say("nothing-charged"),
                retry_helps: false,
            },
            ApiError::OrderPaid => Self {
                name: "paid-already",
                heading: language.say("paid-already-title"),
                text: language.say("paid-already-text"),
                money: language.say("not-charged-again"),
                retry_helps: false,
            },
        }
    }
}

fn busy_text(retry_after_s: Option<u32>, language: Language) -> String {
    let Some(seconds) = retry_after_s else { return language.say("busy-text") };
    let mut args = FluentArgs::new();
    args.set("seconds", seconds);
    language.say_with("busy-text-seconds", &args)
}

fn plain(visitor: Visitor, heading: &str, text: &str) -> Markup {
    let main = html! {
        section.sheet data-shop="trouble" {
            div.state {
                span.sign.still aria-hidden="true" { "?" }
                div {
                    h1 { (heading) }
                    p { (text) }
                }
            }
            div.actions {
                a.main href=(visitor.link("/shop")) { (visitor.language.say("back-to-shelves")) }
            }
        }
    };
    layout::page(visitor, "/shop", heading, &main)
}
