//! Which language a visitor reads, and the shop's words in it (Fluent, `locales/`).
//! Must never fall silent: a missing message shows its name, and a test finds it first.

use std::{convert::Infallible, sync::LazyLock};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header::ACCEPT_LANGUAGE, request::Parts},
};
use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};

type Bundle = FluentBundle<FluentResource>;

static RUSSIAN: LazyLock<Bundle> = LazyLock::new(|| bundle("ru", include_str!("../locales/ru.ftl")));
static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle("en", include_str!("../locales/en.ftl")));

/// A language the shop speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Where the shop is at home, and for whoever names neither.
    Russian,
    /// For guests.
    English,
}

impl Language {
    /// As in `lang="…"` and `?lang=…`.
    pub fn tag(self) -> &'static str {
        match self {
            Language::Russian => "ru",
            Language::English => "en",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Language::Russian => Language::English,
            Language::English => Language::Russian,
        }
    }

    /// A message.
    pub fn say(self, id: &str) -> String {
        self.format(id, None, None)
    }

    /// A message with arguments.
    pub fn say_with(self, id: &str, args: &FluentArgs<'_>) -> String {
        self.format(id, None, Some(args))
    }

    /// A part of a message, such as a good's description.
    pub fn say_part(self, id: &str, attribute: &str) -> String {
        self.format(id, Some(attribute), None)
    }

    fn format(self, id: &str, attribute: Option<&str>, args: Option<&FluentArgs<'_>>) -> String {
        let bundle = match self {
            Language::Russian => &*RUSSIAN,
            Language::English => &*ENGLISH,
        };
        let message = bundle.get_message(id);
        let pattern = match attribute {
            Some(name) => message.and_then(|message| message.get_attribute(name)).map(|part| part.value()),
            None => message.and_then(|message| message.value()),
        };
        let Some(pattern) = pattern else { return id.to_owned() };
        bundle.format_pattern(pattern, args, &mut Vec::new()).into_owned()
    }

    fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', ';']).next()?;
        [Language::Russian, Language::English]
            .into_iter()
            .find(|language| language.tag().eq_ignore_ascii_case(primary.trim()))
    }

    /// The first of the header's languages that the shop speaks; browsers write them in the order of preference.
    fn accepted(headers: &HeaderMap) -> Option<Self> {
        headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?.split(',').find_map(Self::from_tag)
    }
}

fn bundle(tag: &str, source: &str) -> Bundle {
    let resource =
        FluentResource::try_new(source.to_owned()).expect("the shop's messages parse: a test reads them all");
    let mut bundle = Bundle::new_concurrent(vec![tag.parse().expect("a language tag")]);
    // Direction marks around arguments would end up in descriptions sent to the API.
    bundle.set_use_isolating(false);
    bundle.add_resource(resource).expect("the shop's messages have distinct names: a test reads them all");
    bundle
}

/// The language of a request: `?lang=`, then `Accept-Language`, then Russian.
#[derive(Clone, Copy, Debug)]
pub struct Visitor {
    /// What to speak.
    pub language: Language,
    /// Whether the visitor asked for it with `?lang=`; links keep it then.
    pub chose: bool,
}

impl Visitor {
    /// A link of the shop that keeps a chosen language.
    pub fn link(self, path: &str) -> String {
        if self.chose { format!("{path}?lang={}", self.language.tag()) } else { path.to_owned() }
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let chosen = query.split('&').find_map(|pair| Language::from_tag(pair.strip_prefix("lang=")?));
        let language = chosen.or_else(|| Language::accepted(&parts.headers)).unwrap_or(Language::Russian);
        Ok(Self { language, chose: chosen.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    fn ids(source: &str) -> BTreeSet<String> {
        FluentResource::try_new(source.to_owned()).unwrap();
        source
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))
            .filter_map(|line| Some(line.split_once(" =")?.0.to_owned()))
            .collect()
    }

    /// Every `say…("id"` in the sources.
    fn said(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                said(&path, found);
                continue;
            }
            let source = fs::read_to_string(path).unwrap();
            for rest in source.split(".say").skip(1) {
                let call = rest.trim_start_matches("_with").trim_start_matches("_part");
                let quoted = call.strip_prefix('(').and_then(|call| call.trim_start().strip_prefix('"'));
                if let Some(id) = quoted.and_then(|quoted| quoted.split('"').next()) {
                    found.insert(id.to_owned());
                }
            }
        }
    }

    #[test]
    fn both_languages_say_what_the_sources_ask_for_and_nothing_else() {
        let russian = ids(include_str!("../locales/ru.ftl"));
        assert_eq!(russian, ids(include_str!("../locales/en.ftl")));
        let mut asked = BTreeSet::new();
        said(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut asked);
        let goods = crate::goods::GOODS.iter().map(|good| good.slug);
        let described: Vec<_> = goods.chain(crate::faults::FAULTS.iter().map(|fault| fault.name)).collect();
        asked.extend(described.iter().map(|id| (*id).to_owned()));
        assert_eq!(russian, asked);
        for id in described {
            for language in [Language::Russian, Language::English] {
                assert_ne!(language.say_part(id, "about"), id);
            }
        }
    }

    #[test]
    fn the_first_known_language_of_the_header_wins() {
        let accepted = |value: &str| {
            Language::accepted(&HeaderMap::from_iter([(ACCEPT_LANGUAGE, value.parse().unwrap())]))
        };
        assert_eq!(accepted("de, en-GB;q=0.8, ru;q=0.5"), Some(Language::English));
        assert_eq!(accepted("RU-ru,en"), Some(Language::Russian));
        assert_eq!(accepted("de"), None);
    }
}
