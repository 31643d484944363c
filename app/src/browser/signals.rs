//! What reaches the page from outside: other tabs, the back-forward cache, the shopper's clock.

use js_sys::Date;
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{BroadcastChannel, EventTarget, PageTransitionEvent};

use crate::{card::Month, visit::Event};

/// Listens for as long as the page lives.
pub(crate) fn listen(channel: Option<&BroadcastChannel>, handle: impl Fn(Event) + Copy + 'static) {
    let Some(window) = web_sys::window() else { return };
    if let Some(channel) = channel {
        on(channel, "message", move |_| handle(Event::Heard));
    }
    // Another tab has an intent that this one may not know, or knows that ours is over.
    on(&window, "storage", move |_| handle(Event::Heard));
    on(&window, "pageshow", move |event| {
        if event.dyn_into().is_ok_and(|event: PageTransitionEvent| event.persisted()) {
            handle(Event::Restored);
        }
    });
}

fn on(target: &EventTarget, name: &str, handle: impl Fn(web_sys::Event) + 'static) {
    let listener = Closure::<dyn Fn(web_sys::Event)>::new(handle).into_js_value();
    // Only a strange target refuses a listener.
    let _ = target.add_event_listener_with_callback(name, listener.unchecked_ref());
}

/// By the shopper's clock; the bank judges by its own.
pub(crate) fn this_month() -> Month {
    let now = Date::new_0();
    Month::new(now.get_full_year(), now.get_month() + 1)
}

/// The time of day as the shopper's language writes it.
pub(crate) fn time_of_day(lang: &str) -> String {
    Date::new_0().to_locale_time_string(lang).into()
}

/// A server's time by the shopper's clock, in the shopper's language.
pub(crate) fn local_time(rfc3339: &str, lang: &str) -> Option<String> {
    let time = Date::new(&rfc3339.into());
    if time.get_time().is_nan() {
        return None;
    }
    Some(time.to_locale_string(lang, &wasm_bindgen::JsValue::UNDEFINED).into())
}
