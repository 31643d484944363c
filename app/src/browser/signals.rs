//! What reaches the page from outside: other tabs, the back-forward cache, the shopper's clock.

use contract::Amount;
use js_sys::{Array, Date, Function, Intl, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{CustomEvent, EventTarget, PageTransitionEvent, StorageEvent};

use super::{memory::Memory, net::Body, page::PageElements};
use crate::{money::with_currency, visit::Event, wire::Seen};

/// Listens for as long as the page lives.
///
/// `message` and `storage`: another tab did something, has another intent, or knows that ours is over. `live` and `heard` come
/// from the page's own script: what the stream told, or that the shopper or the network is back.
pub(crate) fn listen(memory: &Memory, page: &EventTarget, handle: impl Fn(Event, Option<Body>) + 'static) {
    let Some(window) = web_sys::window() else { return };
    let name = memory.name().to_owned();
    let listener = Closure::<dyn Fn(web_sys::Event)>::new(move |event: web_sys::Event| {
        if let Some(shown) = event.dyn_ref::<PageTransitionEvent>() {
            if shown.persisted() {
                handle(Event::Restored, None);
            }
        } else if let Some(told) = event.dyn_ref::<CustomEvent>() {
            let intent = PageElements::find().map(|page| page.intent()).unwrap_or_default();
            let told = Body(told.detail());
            handle(Event::Told(Seen::read(&told, &intent)), Some(told));
        } else if event
            .dyn_ref::<StorageEvent>()
            .is_none_or(|stored| stored.key().is_none_or(|key| key == name))
        {
            // Other keys are of other checkouts, or of a tab that only tries whether storage works; no key: all was cleared.
            handle(Event::Heard, None);
        }
    });
    let listener = listener.into_js_value();
    let on = |target: &EventTarget, name: &str| {
        // Only a strange target refuses a listener.
        let _ = target.add_event_listener_with_callback(name, listener.unchecked_ref());
    };
    on(&window, "storage");
    on(&window, "pageshow");
    on(page, "live");
    on(page, "heard");
    if let Some(channel) = memory.channel() {
        on(channel, "message");
    }
}

/// The time of day so many seconds from now, as the page's script writes it.
pub(crate) fn time_of_day(in_s: u32, lang: &str) -> String {
    let at = Date::new(&(Date::now() + f64::from(in_s) * 1000.0).into());
    at.to_locale_time_string(if lang == "en" { "en-GB" } else { lang }).into()
}

/// An amount as the server writes it: the browser knows the languages' rules too.
pub(crate) fn amount(amount: &Amount, lang: &str) -> String {
    let value = amount.value.text().unwrap_or_default();
    let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let how = Object::new();
    // Those of the text: a browser may know another number of them for the currency.
    for name in ["minimumFractionDigits", "maximumFractionDigits"] {
        // A plain object takes any property.
        let _ = Reflect::set(&how, &name.into(), &decimals.into());
    }
    let format = Intl::NumberFormat::new(&Array::of1(&lang.into()), &how).format();
    let written = Function::call1(&format, &JsValue::UNDEFINED, &value.into());
    let number = written.ok().and_then(|text| text.as_string());
    with_currency(lang, number.as_deref().unwrap_or(value), &amount.currency)
}
