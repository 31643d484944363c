//! How a page looks again where no script does.

use std::sync::Arc;

use leptos::prelude::*;

use super::{ADDRESS_REFRESH_S, Page};

/// In the head, which no island hydrates.
#[component]
pub(super) fn Refresh(
    /// What is shown.
    page: Arc<Page>,
    /// The pause, while there is something to wait for.
    pause_s: Option<u32>,
) -> impl IntoView {
    pause_s.map(|seconds| {
        // What answers a form leads elsewhere, once it was read: looking again must not send the form again.
        let refresh = match page.notice {
            Some(_) => format!("{};url={}", seconds.max(ADDRESS_REFRESH_S), page.status_path()),
            None => seconds.to_string(),
        };
        view! { <noscript><meta http-equiv="refresh" content=refresh /></noscript> }
    })
}
