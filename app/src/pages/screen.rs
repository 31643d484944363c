//! One screen: what is so, in a heading and a line, and what can be done about it.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Lang, Page};

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
    let lang = page.lang;
    view! {
        <section class="screen" data-screen=name hidden=page.shown().as_str() != name>
            <Heading lang mark title>
                {lang.say(lead)}
            </Heading>
            {children.map(|children| children())}
        </section>
    }
}

/// First sight, heading, and a line below: the children.
#[component]
pub(super) fn Heading(
    /// Of the words.
    lang: Lang,
    /// First sight.
    mark: Mark,
    /// Message of the heading.
    title: &'static str,
    /// `data-heading`, where a screen has several, of which one is shown.
    #[prop(optional, into)]
    name: Option<&'static str>,
    /// `data-reason`, where the reason tells which is shown.
    #[prop(optional, into)]
    reason: Option<&'static str>,
    /// Whether another one is shown.
    #[prop(optional)]
    hidden: bool,
    /// The line.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="state" data-heading=name data-reason=reason hidden=hidden>
            <div class=mark.class() aria-hidden="true">
                {mark.sign()}
            </div>
            <div>
                <h2 tabindex="-1">{lang.say(title)}</h2>
                <p class="lead">{children()}</p>
            </div>
        </div>
    }
}
