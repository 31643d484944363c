//! The page's languages and its words in them (Fluent, `locales/`).
//! Must never fall silent: a missing message shows its name, and a test finds it first.

mod money;

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};

type Bundle = FluentBundle<FluentResource>;

static RUSSIAN: LazyLock<Bundle> = LazyLock::new(|| bundle(Lang::Ru, include_str!("../../locales/ru.ftl")));
static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Lang::En, include_str!("../../locales/en.ftl")));

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// `ru`
    Ru,
    /// `en`: also for whoever reads neither.
    En,
}

impl Lang {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ru, Self::En];

    /// `query`: the value of `?lang=`. It wins over the header, in which the best known language wins.
    pub fn negotiate(query: Option<&str>, accept_language: Option<&str>) -> Self {
        let accepted = accept_language.map(accept_language::parse).unwrap_or_default();
        query
            .into_iter()
            .chain(accepted.iter().map(String::as_str))
            .find_map(Self::from_tag)
            .unwrap_or(Self::En)
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
        self.format(name, None)
    }

    /// A message with one argument.
    pub(crate) fn say_with(self, name: &str, argument: &str, value: &str) -> String {
        let mut args = FluentArgs::new();
        args.set(argument, value);
        self.format(name, Some(&args))
    }

    fn format(self, name: &str, args: Option<&FluentArgs<'_>>) -> String {
        let bundle = match self {
            Self::Ru => &*RUSSIAN,
            Self::En => &*ENGLISH,
        };
        match bundle.get_message(name).and_then(|message| message.value()) {
            Some(pattern) => bundle.format_pattern(pattern, args, &mut Vec::new()).into_owned(),
            None => name.to_owned(),
        }
    }
}

fn bundle(lang: Lang, source: &str) -> Bundle {
    let resource =
        FluentResource::try_new(source.to_owned()).expect("the messages parse: a test reads them all");
    let mut bundle = Bundle::new_concurrent(vec![lang.tag().parse().expect("a language tag")]);
    // Arguments are amounts, times and digits: direction marks around them would only get in the way of copying.
    bundle.set_use_isolating(false);
    bundle.add_resource(resource).expect("the messages have distinct names: a test reads them all");
    bundle
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
