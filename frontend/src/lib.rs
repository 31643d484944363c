//! The entry point of the WebAssembly: links the islands of `app` and starts them. Never holds logic of its own.

// Linking the crate is what keeps its islands: each is exported under its own name and found by the page.
#[expect(unused_imports, reason = "an island is called by the page, never from here")]
use app::*;
use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page's loader, after the module is there: attaches the islands to the rendered page.
#[wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
