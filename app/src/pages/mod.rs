//! Whole pages as text: payment, status, messages. Everything a shopper can be shown of a checkout is in the page from
//! the first byte; the island only changes which part is hidden.
//! Must never hold a rule about money, an inline style, or a card field with a name.

mod back;
mod canceled;
mod card_field;
mod card_form;
mod clock;
mod document;
mod email_field;
mod facts;
mod field_wrongs;
mod foot;
mod links;
mod mail;
mod message;
mod notes;
mod order;
mod outcome;
mod processing;
mod reasons;
mod refresh;
mod screen;
mod settled;
mod slot;
mod status;
mod trail;
mod waiting;
mod widget_page;
mod without_script;
mod wrongs;

use std::sync::Arc;

use contract::{Checkout, CheckoutStatus, ExtraCharge, IntentState, NextAction, PaymentIntent};
use hydration_context::SsrSharedContext;
use leptos::prelude::*;

use crate::{form::Wrong, stage::shown_state, wire::ALL_RETURNED, words::Lang};

pub use message::{Message, render_message};
pub use notes::Notice;

/// How often a page without scripts looks again.
const REFRESH_S: u32 = 4;
/// The same, while an address can be typed there, or a word about a form is read.
const ADDRESS_REFRESH_S: u32 = 30;
/// The same, while a person is at it, or money is held.
const SELDOM_REFRESH_S: u32 = 60;

/// Paths of the built files. All empty where the browser's part was not built: the page then works without.
#[derive(Clone, Debug, Default)]
pub struct Assets {
    /// The style sheet.
    pub css: String,
    /// The module that loads the WebAssembly.
    pub js: String,
    /// The WebAssembly.
    pub wasm: String,
}

impl Assets {
    fn has_script(&self) -> bool {
        !self.js.is_empty() && !self.wasm.is_empty()
    }
}

/// All that the pages of one checkout show.
#[derive(Clone, Debug)]
pub struct Page {
    /// The shopper's language.
    pub lang: Lang,
    /// For the one inline script; the same as in the `Content-Security-Policy`.
    pub nonce: String,
    /// Built files.
    pub assets: Assets,
    /// The merchant's name, as the shopper knows it.
    pub shop_name: String,
    /// What is paid for, its client token included.
    pub checkout: Checkout,
    /// The date on which the page is made: `2026-11-30`, UTC.
    pub today: String,
    /// The intent that is shown: the newest, or the one that paid.
    pub intent: PaymentIntent,
    /// The shopper's address, as far as it is known.
    pub email: Option<String>,
    /// Where the shopper goes afterwards.
    pub return_url: Option<String>,
    /// The bank's `POST /v3/tokens`, absolute.
    pub tokenize_url: String,
    /// Whether mails are sent, so that one may be promised.
    pub mails: bool,
    /// What a plain form brought for an address and is none.
    pub no_email: Option<String>,
    /// Whether the page was opened to type another address than the one that is known.
    pub asks_email: bool,
    /// Whether the order was tried as often as it may be: no new try can be begun.
    pub out_of_tries: bool,
    /// What came of a form that was posted without scripts.
    pub notice: Option<Notice>,
}

impl Page {
    /// `GET /pay/{checkout}`, whatever the state: a whole document.
    pub fn render_pay(&self) -> String {
        let page = Arc::new(self.clone());
        render(move || widget_page::WidgetPage(widget_page::WidgetPageProps { page }))
    }

    /// `GET /pay/{checkout}/status`: the same state to read, without a script.
    pub fn render_status(&self) -> String {
        let page = Arc::new(self.clone());
        render(move || status::StatusPage(status::StatusPageProps { page }))
    }

    /// Seconds until a page without scripts is read anew, while there is something to wait for. What has to be typed anew is not taken away.
    fn refresh_s(&self) -> Option<u32> {
        let shown = self.shown();
        let pause_s = match shown {
            IntentState::Created => ADDRESS_REFRESH_S,
            IntentState::NeedsReview | IntentState::Authorized => SELDOM_REFRESH_S,
            IntentState::Processing | IntentState::Confirming if self.mails && self.email.is_none() => {
                ADDRESS_REFRESH_S
            }
            IntentState::Processing
            | IntentState::Confirming
            | IntentState::RequiresAction
            | IntentState::Succeeded
            | IntentState::Declined
            | IntentState::Canceled
            | IntentState::Expired => REFRESH_S,
        };
        let waits = shown.is_awaited() || shown == IntentState::Authorized || self.is_away();
        (waits && !self.opens_email()).then_some(pause_s)
    }

    /// The same for the page to read, which says of an unpaid order that it is so, and where nothing is typed then.
    fn read_again_s(&self) -> Option<u32> {
        self.refresh_s().or_else(|| self.has_form().then_some(ADDRESS_REFRESH_S))
    }

    /// The same for its script, which takes away nothing that is typed.
    fn look_again_s(&self) -> Option<u32> {
        let quick = |pause_s| if self.has_form() { pause_s } else { REFRESH_S };
        self.read_again_s().map(|pause_s| if pause_s == ADDRESS_REFRESH_S { quick(pause_s) } else { pause_s })
    }

    /// Whether an address can be left: it is where the result will be told.
    pub fn takes_email(&self) -> bool {
        let shown = self.shown();
        self.tells_by_mail() && shown.is_awaited() && shown != IntentState::RequiresAction
    }

    /// Whether a result is told by mail: none of what is only not known to be over.
    fn tells_by_mail(&self) -> bool {
        self.mails && (!self.shown().is_awaited() || self.checkout.payment_intent.state.is_awaited())
    }

    /// Whether the form is shown of an order that may have been paid while we were away.
    fn is_away(&self) -> bool {
        self.has_form() && self.intent.progress.as_ref().is_some_and(|progress| progress.held)
    }

    /// Whether the form is there for whoever goes to it.
    fn can_be_tried(&self) -> bool {
        self.checkout.payment_intent.state == IntentState::Created && !self.is_closed()
    }

    /// For the browser's tab: how it stands, and where. The island writes the same of what it shows.
    fn title(&self, unpaid: &str) -> String {
        let heading = match self.shown() {
            IntentState::Created => return format!("{unpaid} — {}", self.shop_name),
            IntentState::Processing => processing::title(self),
            IntentState::Confirming => "confirming-title",
            IntentState::RequiresAction => "action-title",
            IntentState::NeedsReview => "review-title",
            IntentState::Authorized => "authorized-title",
            IntentState::Succeeded => self.paid_title(),
            IntentState::Declined => "declined-title",
            IntentState::Canceled => canceled::title(self),
            IntentState::Expired => "expired-title",
        };
        format!("{} — {}", self.say(heading), self.shop_name)
    }

    /// Whether an address is typed there, from the first byte on.
    fn opens_email(&self) -> bool {
        self.asks_email || self.no_email.is_some()
    }

    /// Whether the form is what is shown.
    pub fn has_form(&self) -> bool {
        self.shown() == IntentState::Created
    }

    /// Whether the page's script holds the stream: there is something to wait for, a hold that will end, or another try, begun or not.
    fn is_watched(&self) -> bool {
        let shown = self.shown();
        let held = shown == IntentState::Authorized;
        let failed = shown.is_final() && shown != IntentState::Succeeded;
        shown.is_awaited() || held || (failed && !self.is_closed()) || self.is_again()
    }

    /// Whether the form is shown of another try than the first.
    fn is_again(&self) -> bool {
        self.has_form() && self.intent.previous_intent_id.is_some()
    }

    /// Whether a plain form brought this mistake: an address is all that it can be wrong in.
    fn blames(&self, wrong: Wrong) -> bool {
        wrong == Wrong::EmailForm && self.no_email.is_some()
    }

    fn shown(&self) -> IntentState {
        shown_state(self.checkout.status, self.intent.state)
    }

    /// As in [`PaymentIntent::closed`]: nothing of the checkout can be tried any more.
    fn is_closed(&self) -> bool {
        match self.checkout.status {
            CheckoutStatus::Canceled | CheckoutStatus::Expired => true,
            CheckoutStatus::Open => self.intent.closed,
            CheckoutStatus::Paid => false,
        }
    }

    /// What is said of a paid order first: whether the money went back.
    fn paid_title(&self) -> &'static str {
        if self.intent.returned { "returned-title" } else { "succeeded-title" }
    }

    /// What is said of it then: one charge is a thing to be told, and so is another one.
    fn paid_lead(&self) -> &'static str {
        match self.intent.extra_charge {
            _ if self.intent.returned => "returned-lead",
            None => "succeeded-lead",
            Some(ExtraCharge::ToBeReturned) => "extra-to-be-returned",
            Some(ExtraCharge::Returned) => "extra-returned",
            Some(ExtraCharge::InReview) => "extra-in-review",
        }
    }

    fn say(&self, name: &str) -> String {
        self.lang.say(name)
    }

    /// The same, for the page's script.
    fn paid_news(&self) -> Option<&'static str> {
        let extra = self.intent.extra_charge.map(ExtraCharge::as_str);
        if self.intent.returned { Some(ALL_RETURNED) } else { extra }
    }

    /// What is to be paid; once it is, what was charged.
    fn amount(&self) -> String {
        self.lang.write_amount(self.checkout.charged.as_ref().unwrap_or(&self.checkout.amount))
    }

    /// What was to be paid, where another sum was charged.
    fn other_due(&self) -> Option<String> {
        let due = &self.checkout.amount;
        self.checkout.charged.as_ref().filter(|charged| *charged != due)?;
        Some(self.lang.write_amount(due))
    }

    fn last4(&self) -> Option<String> {
        self.intent.payment_method.as_ref()?.last4.clone()
    }

    /// Why it was declined or canceled.
    fn reason(&self) -> Option<String> {
        let declined = self.intent.decline.as_ref().map(|decline| decline.code.clone());
        declined.or_else(|| self.intent.cancel_reason.clone())
    }

    fn bank_url(&self) -> Option<String> {
        let NextAction::Redirect { url } = self.intent.next_action.as_ref()?;
        is_web(url).then(|| url.clone())
    }

    fn return_url(&self) -> Option<String> {
        self.return_url.clone().filter(|url| is_web(url))
    }
}

/// Anything but a web address has no business in a link.
fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn render<V: IntoView>(view: impl FnOnce() -> V) -> String {
    let owner = Owner::new_root(Some(Arc::new(SsrSharedContext::new_islands())));
    let html = owner.with(|| view().into_view().to_html());
    format!("<!doctype html>{html}")
}

#[cfg(test)]
#[path = "pages_tests/mod.rs"]
mod tests;
