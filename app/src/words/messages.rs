//! Messages in both languages (Fluent): the page's own, and those of whoever else has words for people.
//! Must never fall silent: a missing message shows its name.

use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};

use super::Lang;

type Bundle = FluentBundle<FluentResource>;

/// What one place says, in both languages.
pub struct Messages {
    russian: Bundle,
    english: Bundle,
}

impl Messages {
    /// From the text of both `.ftl` files.
    ///
    /// # Panics
    /// Where these do not parse, or name a message twice: a test has to say each of them.
    pub fn new(russian: &str, english: &str) -> Self {
        Self { russian: bundle(Lang::Ru, russian), english: bundle(Lang::En, english) }
    }

    /// A message with its arguments.
    pub fn say(&self, lang: Lang, name: &str, args: Option<&FluentArgs<'_>>) -> String {
        let bundle = match lang {
            Lang::Ru => &self.russian,
            Lang::En => &self.english,
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
    // Arguments are amounts, times, links and digits: direction marks around them would only get in the way of copying.
    bundle.set_use_isolating(false);
    bundle.add_resource(resource).expect("the messages have distinct names: a test reads them all");
    bundle
}
