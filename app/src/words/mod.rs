//! The page's languages and its words in them (Fluent, `locales/`).
//! Must never fall silent: a missing message shows its name, and a test finds it first.

mod messages;
mod money;

use std::sync::LazyLock;

use fluent_bundle::FluentArgs;

pub use messages::Messages;

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    Messages::new(include_str!("../../locales/ru.ftl"), include_str!("../../locales/en.ftl"))
});

/// A language of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// `ru`
    Ru,
    /// `en`: also for whoever reads neither.
    #[default]
    En,
}

impl Lang {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ru, Self::En];

    /// `query`: the value of `?lang=`. It wins over the header, in which the best known language wins. `None` where they name none
    /// that we have.
    pub fn known(query: Option<&str>, accept_language: Option<&str>) -> Option<Self> {
        let accepted = accept_language.map(accept_language::parse).unwrap_or_default();
        query.into_iter().chain(accepted.iter().map(String::as_str)).find_map(Self::from_tag)
    }

    /// As in `lang="…"` and `?lang=…`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Ru => "ru",
            Self::En => "en",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Ru => Self::En,
            Self::En => Self::Ru,
        }
    }

    fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next()?.trim();
        Self::ALL.into_iter().find(|lang| lang.tag().eq_ignore_ascii_case(primary))
    }

    /// A message.
    pub(crate) fn say(self, name: &str) -> String {
        MESSAGES.say(self, name, None)
    }

    /// A message with one argument.
    pub(crate) fn say_with(self, name: &str, argument: &str, value: &str) -> String {
        let mut args = FluentArgs::new();
        args.set(argument, value);
        MESSAGES.say(self, name, Some(&args))
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
