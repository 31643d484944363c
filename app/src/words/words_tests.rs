//! Whether both languages say what the sources ask for, and nothing else.

use std::{collections::BTreeSet, fs, path::Path};

use super::*;

fn defined(source: &str) -> BTreeSet<String> {
    source
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))
        .filter_map(|line| Some(line.split_once(" =")?.0.to_owned()))
        .collect()
}

fn arguments(source: &str) -> BTreeSet<(String, String)> {
    let named = source.lines().filter_map(|line| line.split_once(" ="));
    let used = named.flat_map(|(name, text)| {
        let arguments = text.split("{ $").skip(1).filter_map(|rest| rest.split(' ').next());
        arguments.map(|argument| (name.to_owned(), argument.to_owned())).collect::<Vec<_>>()
    });
    used.collect()
}

/// The sources without their tests.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap().to_owned();
        if !path.to_string_lossy().contains("_tests") {
            found.push((path.display().to_string(), code));
        }
    }
    found
}

#[test]
fn both_languages_say_what_the_sources_ask_for_and_nothing_else() {
    let (ru, en) = (include_str!("../../locales/ru.ftl"), include_str!("../../locales/en.ftl"));
    assert_eq!(defined(ru), defined(en));
    assert_eq!(arguments(ru), arguments(en));
    let code = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let asked: BTreeSet<String> = code
        .iter()
        .flat_map(|(_, source)| source.split('"').map(str::to_owned).collect::<Vec<_>>())
        .filter(|literal| defined(ru).contains(literal))
        .chain(crate::form::Wrong::ALL.map(|wrong| format!("wrong-{}", wrong.name())))
        .chain(crate::stage::Note::ALL.map(|note| format!("note-{}", note.name())))
        .collect();
    assert_eq!(defined(ru), asked, "a message that nothing says");
    for (path, source) in code {
        for call in source.split(".say").skip(1) {
            let call = call.strip_prefix("_with").unwrap_or(call);
            let Some(name) = call.strip_prefix("(\"").and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            assert!(defined(ru).contains(name), "{path} says {name}, which has no words");
        }
    }
}

#[test]
fn no_words_stand_in_the_sources() {
    for (path, source) in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let cyrillic = line.chars().any(|c| ('\u{400}'..='\u{4ff}').contains(&c));
            assert!(!cyrillic, "{path}: {line}");
        }
    }
}

#[test]
fn the_query_wins_then_the_best_known_language_of_the_header() {
    assert_eq!(Lang::known(Some("ru"), Some("en")), Some(Lang::Ru));
    assert_eq!(Lang::known(Some("de"), Some("ru-RU,ru;q=0.9")), Some(Lang::Ru));
    assert_eq!(Lang::known(None, Some("en;q=0.3, ru;q=0.8")), Some(Lang::Ru));
    assert_eq!(Lang::known(None, Some("de, en-GB;q=0.8, ru;q=0.5")), Some(Lang::En));
    assert_eq!(Lang::known(None, Some("de")), None);
    assert_eq!(Lang::known(None, None), None);
    assert_eq!(Lang::default(), Lang::En);
}

#[test]
fn a_message_takes_its_argument() {
    assert_eq!(Lang::En.say_with("pay", "amount", "₽1,500.00"), "Pay ₽1,500.00");
    assert_eq!(Lang::Ru.say("succeeded-title"), "Оплачено");
    assert_eq!(Lang::Ru.say("no-such-message"), "no-such-message");
}
