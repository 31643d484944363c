//! What this browser knows of a checkout, for its other tabs and after a reload: ids and the intent's key, never more.
//! Storage is a convenience and may be blocked: then every method does nothing. The server decides.

use gloo_storage::{LocalStorage, Storage};
use serde::Serialize;
use wasm_bindgen::JsValue;
use web_sys::BroadcastChannel;

use crate::visit::Past;

#[derive(Serialize)]
struct Entry<'a> {
    intent: &'a str,
    submit_key: &'a str,
}

/// One checkout's corner of the storage, and its channel to the other tabs.
pub(crate) struct Memory {
    name: String,
    works: bool,
    channel: Option<BroadcastChannel>,
}

impl Memory {
    pub(crate) fn of(checkout: String) -> Self {
        let name = format!("payonce:{checkout}");
        let channel = BroadcastChannel::new(&name).ok();
        Self { works: is_usable(), name, channel }
    }

    /// What is known of the intent; from now on that it was opened.
    pub(crate) fn past(&self, intent: &str, submit_key: &str) -> Past {
        let opened = self.remember(intent, submit_key);
        let begun = of_this_tab().and_then(|tab| tab.get_item(&self.name).ok().flatten());
        match begun {
            Some(begun) if begun == intent => Past::Begun,
            Some(_) | None if opened => Past::Opened,
            Some(_) | None => Past::New,
        }
    }

    /// This tab has begun to pay the intent, and knows so after a reload.
    pub(crate) fn begin(&self, intent: &str) {
        if let Some(tab) = of_this_tab() {
            // Where nothing can be kept, a reloaded tab cannot tell itself from the others.
            let _ = tab.set_item(&self.name, intent);
        }
    }

    /// The page that this tab reads next is to say that the press before it came too late.
    pub(crate) fn keep_behind(&self) {
        if let Some(tab) = of_this_tab() {
            // Where nothing can be kept, nothing is said.
            let _ = tab.set_item(&self.behind(), "");
        }
    }

    /// Whether this is that page. Said once.
    pub(crate) fn take_behind(&self) -> bool {
        let Some(tab) = of_this_tab() else { return false };
        let kept = tab.get_item(&self.behind()).is_ok_and(|kept| kept.is_some());
        let _ = tab.remove_item(&self.behind());
        kept
    }

    fn behind(&self) -> String {
        format!("{}:behind", self.name)
    }

    /// Keeps the intent and its key; whether they were there already.
    pub(crate) fn remember(&self, intent: &str, submit_key: &str) -> bool {
        if !self.works {
            return false;
        }
        let kept = || LocalStorage::raw().get_item(&self.name).ok().flatten();
        let before = kept();
        // A full storage forgets; the server does not.
        let _ = LocalStorage::set(&self.name, Entry { intent, submit_key });
        before.is_some() && before == kept()
    }

    pub(crate) fn forget(&self) {
        if self.works {
            LocalStorage::delete(&self.name);
        }
        if let Some(tab) = of_this_tab() {
            // Where nothing can be kept, nothing is.
            let _ = tab.remove_item(&self.name);
        }
    }

    /// Something happened. What, the others ask the server.
    pub(crate) fn tell(&self) {
        if let Some(channel) = &self.channel {
            // A closed channel belongs to a page that is going away.
            let _ = channel.post_message(&JsValue::TRUE);
        }
    }

    /// What this checkout is stored under.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn channel(&self) -> Option<&BroadcastChannel> {
        self.channel.as_ref()
    }
}

/// Storage that no other tab has, and that a reload does not empty.
fn of_this_tab() -> Option<web_sys::Storage> {
    web_sys::window()?.session_storage().ok()?
}

/// Storage throws where it is blocked (private windows, sandboxed frames, third-party cookies off), and gloo-storage
/// panics then: so it is tried first, by hand.
fn is_usable() -> bool {
    const PROBE: &str = "payonce:probe";
    let storage = web_sys::window().and_then(|window| window.local_storage().ok().flatten());
    storage
        .is_some_and(|storage| storage.set_item(PROBE, "").and_then(|()| storage.remove_item(PROBE)).is_ok())
}
