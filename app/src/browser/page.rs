//! The page's elements by the attributes the server wrote. Inputs are read when needed and never written, so that
//! nothing typed before the island arrived is lost.

use contract::Amount;
use js_sys::{Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Document, Element, EventTarget, HtmlElement, HtmlInputElement, SubmitEvent};

use super::net::Server;
use crate::{
    card::{self, Month},
    form::{Field, Typed},
    stage::{Note, Stage},
    wire::{Offer, Seen, Terms},
};

/// The root element and what is found from it.
pub(crate) struct PageElements {
    pub(super) root: HtmlElement,
}

impl PageElements {
    /// The payment page's root, if this is one.
    pub(crate) fn find() -> Option<Self> {
        let root = document()?.query_selector("[data-payonce]").ok()??.dyn_into().ok()?;
        Some(Self { root })
    }

    /// Where the page's script tells what it learned.
    pub(crate) fn target(&self) -> &EventTarget {
        &self.root
    }

    /// What the server rendered.
    pub(crate) fn opening(&self) -> Stage {
        Stage::opening(&self.said("state"), |state| Seen {
            state,
            last4: self.root.get_attribute("data-last4"),
            reason: self.root.get_attribute("data-because"),
            bank_url: self.root.get_attribute("data-bank"),
            extra: self.root.get_attribute("data-extra"),
            closed: self.root.has_attribute("data-closed"),
            ..Seen::bare(state)
        })
    }

    /// The line that the server wrote above the form.
    pub(crate) fn opening_note(&self) -> Option<Note> {
        self.root.has_attribute("data-away").then_some(Note::Away)
    }

    /// Whether the form is that of another try.
    pub(crate) fn is_again(&self) -> bool {
        self.root.has_attribute("data-again")
    }

    pub(crate) fn checkout(&self) -> String {
        self.said("checkout")
    }

    pub(crate) fn intent(&self) -> String {
        self.said("intent")
    }

    pub(crate) fn submit_key(&self) -> String {
        self.said("key")
    }

    /// Whom to ask, and in whose name.
    pub(crate) fn server(&self) -> Server {
        Server {
            checkout: self.checkout(),
            intent: self.intent(),
            submit_key: self.submit_key(),
            token: self.said("token"),
            tokenize_url: self.said("tokenize"),
            lang: lang(),
        }
    }

    /// What the shopper agrees to by pressing the button.
    pub(crate) fn terms(&self) -> Option<Terms> {
        let hidden = |name: &str| self.input(&format!("input[name={name}]")).map(|input| input.value());
        Some(Terms {
            version: hidden("checkout_version")?.parse().ok()?,
            amount: Amount::new(hidden("amount_value")?, hidden("amount_currency")?),
        })
    }

    /// By the server's clock: the shopper's may be wrong.
    pub(crate) fn today(&self) -> Month {
        Month::of(&self.said("today"))
    }

    /// From now on this intent is asked about.
    pub(crate) fn follow(&self, intent: &str) {
        self.set("data-intent", intent);
    }

    /// From now on these terms, and their intent, are submitted.
    pub(super) fn adopt(&self, offer: &Offer) {
        let terms = &offer.terms;
        for (name, value) in [
            ("intent", offer.intent.as_str()),
            ("submit_key", &offer.submit_key),
            ("checkout_version", &terms.version.to_string()),
            ("amount_value", terms.amount.value.text().unwrap_or_default()),
            ("amount_currency", &terms.amount.currency),
        ] {
            if let Some(input) = self.input(&format!("input[name={name}]")) {
                input.set_value(value);
            }
        }
        self.set("data-intent", &offer.intent);
        self.set("data-key", &offer.submit_key);
    }

    /// The form's inputs as they stand.
    pub(crate) fn typed(&self) -> Typed {
        let value = |field| self.field(field).map(|input| input.value()).unwrap_or_default();
        Typed {
            number: value(Field::Number),
            expiry: value(Field::Expiry),
            cvc: value(Field::Cvc),
            email: value(Field::Email),
        }
    }

    pub(super) fn field(&self, field: Field) -> Option<HtmlInputElement> {
        self.input(&format!("#{}", field.id()))
    }

    fn input(&self, selector: &str) -> Option<HtmlInputElement> {
        self.one(selector)?.dyn_into().ok()
    }

    pub(super) fn one(&self, selector: &str) -> Option<Element> {
        self.root.query_selector(selector).ok()?
    }

    pub(super) fn each(&self, selector: &str, act: &mut dyn FnMut(&HtmlElement)) {
        let Ok(found) = self.root.query_selector_all(selector) else { return };
        for place in 0..found.length() {
            if let Some(element) = found.item(place) {
                act(element.unchecked_ref());
            }
        }
    }

    pub(super) fn set(&self, attribute: &str, value: &str) {
        // Only an attribute's name can be refused, and these are ours.
        let _ = self.root.set_attribute(attribute, value);
    }

    fn said(&self, name: &str) -> String {
        self.root.get_attribute(&format!("data-{name}")).unwrap_or_default()
    }

    /// Whether the page's script is to hold the stream.
    pub(crate) fn watch(&self, wanted: bool) {
        // Only an attribute's name can be refused, and this is ours.
        let _ = self.root.toggle_attribute_with_force("data-watch", wanted);
    }

    /// Lets the page's script write down what was done so far.
    pub(crate) fn paint(intent: &JsValue) {
        let Some(page) = Self::find() else { return };
        let paint = Reflect::get(&page.root, &"paint".into()).unwrap_or_default();
        if let Some(paint) = paint.dyn_ref::<Function>() {
            // What cannot be painted is left as it was.
            let _ = paint.call1(&JsValue::UNDEFINED, intent);
        }
    }

    /// The island is there; from now on a panic says so.
    pub(crate) fn hydrated(&self) {
        self.set("data-hydrated", "true");
        std::panic::set_hook(Box::new(|_| {
            if let Some(page) = Self::find() {
                page.set("data-wasm", "failed");
                page.each("[data-load=load-broken]", &mut |line| line.set_hidden(false));
            }
        }));
    }

    pub(super) fn announce(&self, text: &str) {
        if let Some(region) = self.one("[role=status]") {
            region.set_text_content(Some(text));
        }
    }

    pub(super) fn words(&self, selector: &str) -> String {
        self.one(selector).and_then(|element| element.text_content()).unwrap_or_default()
    }

    /// How it stands, for the browser's tab: as the server writes it.
    pub(super) fn entitle(&self, heading: &str) {
        if let Some(document) = document() {
            document.set_title(&format!("{heading} — {}", self.words(".shop")));
        }
    }

    /// The true state, from the server. Not by a reload: a page that answers a form would send the form again.
    pub(crate) fn reload(&self) {
        if let Some(window) = web_sys::window() {
            // It can only be refused to a page that is going away.
            let _ = window.location().replace(&self.said("page"));
        }
    }

    /// What a form is for: its button says so, or the form itself.
    pub(crate) fn wanted(event: &SubmitEvent) -> Option<String> {
        if let Some(own) = event.submitter().and_then(|button| button.get_attribute("data-submit")) {
            return Some(own);
        }
        event.target()?.dyn_into::<Element>().ok()?.get_attribute("data-do")
    }

    /// What a pressed button or link is for.
    pub(crate) fn pressed(event: &web_sys::Event) -> Option<String> {
        let target: Element = event.target()?.dyn_into().ok()?;
        target.closest("a[data-do], button[data-do]").ok()??.get_attribute("data-do")
    }

    /// Spaces where the card has them, as long as the caret is at the end and nothing is being deleted.
    pub(crate) fn help_typing(event: &web_sys::Event) {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) else {
            return;
        };
        let typed = input.value();
        let at_end = input.selection_start().ok().flatten() == u32::try_from(typed.len()).ok();
        let helped = match input.id().as_str() {
            "cc-number" => card::in_fours(&typed),
            "cc-exp" => card::with_stroke(&typed),
            _ => return,
        };
        if at_end && helped.len() > typed.len() {
            input.set_value(&helped);
        }
    }
}

/// Of the page's words.
pub(super) fn lang() -> String {
    let root = document().and_then(|document| document.document_element());
    root.and_then(|html| html.get_attribute("lang")).unwrap_or_default()
}

fn document() -> Option<Document> {
    web_sys::window()?.document()
}
