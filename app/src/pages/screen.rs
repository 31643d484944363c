//! One screen: what is so, in a heading and a line, and what can be done about it.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// How a screen looks at first sight.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    /// Something is under way.
    Working,
    /// The shopper is waited for.
    Waiting,
    /// Well.
    Good,
    /// Not well.
    Bad,
}

impl Mark {
    fn class(self) -> &'static str {
        match self {
            Self::Working | Self::Waiting => "dot wait",
            Self::Good => "dot good",
            Self::Bad => "dot bad",
        }
    }

    fn sign(self) -> AnyView {
        match self {
            Self::Working => view! { <i class="spin"></i> }.into_any(),
            Self::Waiting => "→".into_any(),
            Self::Good => "✓".into_any(),
            Self::Bad => "!".into_any(),
        }
    }
}

/// Hidden unless the page opens with it.
#[component]
pub(super) fn Screen(
    /// What is shown.
    page: Arc<Page>,
    /// `data-screen`.
    name: &'static str,
    /// First sight.
    mark: Mark,
    /// Message of the heading.
    title: &'static str,
    /// Message of the line below.
    lead: &'static str,
    /// What can be done, and what else is worth knowing.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <section class="screen" data-screen=name hidden=page.shown().as_str() != name>
            <div class="state">
                <div class=mark.class() aria-hidden="true">
                    {mark.sign()}
                </div>
                <div>
                    <h2 tabindex="-1">{page.say(title)}</h2>
                    <p class="lead">{page.say(lead)}</p>
                </div>
            </div>
            {children.map(|children| children())}
        </section>
    }
}
