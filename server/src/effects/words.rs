//! The words of mails (Fluent, `locales/`). Who reads a mail is not asked for a language: it is written in both, that of the
//! currency's country first.

use std::sync::LazyLock;

use app::Lang;
use contract::Amount;
use engine::Mail;
use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};
use payment::{EffectKind, StateName};

type Bundle = FluentBundle<FluentResource>;

static RUSSIAN: LazyLock<Bundle> = LazyLock::new(|| bundle(Lang::Ru, include_str!("../../locales/ru.ftl")));
static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Lang::En, include_str!("../../locales/en.ftl")));

/// A mail's subject and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// One line.
    pub subject: String,
    /// Plain text.
    pub text: String,
}

/// What a mail says.
pub fn words(mail: &Mail) -> Words {
    let langs = match mail.intent.amount.currency().code() {
        "RUB" => [Lang::Ru, Lang::En],
        _ => [Lang::En, Lang::Ru],
    };
    let [first, second] = langs.map(|lang| write(mail, lang));
    Words { subject: first.subject, text: format!("{}\n\n* * *\n\n{}\n", first.text, second.text) }
}

/// The messages of a mail: its subject, its paragraphs, and the one above the link.
fn messages(mail: &Mail) -> (&'static str, &'static [&'static str], &'static str) {
    match (mail.kind, mail.intent.state.name()) {
        (EffectKind::ResultKnown, StateName::Declined) => {
            ("result-subject", &["result-declined", "result-hold"], "result-link")
        }
        (EffectKind::ResultKnown, _) => {
            ("result-subject", &["result-canceled", "result-hold"], "result-link")
        }
        (EffectKind::Receipt | EffectKind::CheckoutPaid, _) => {
            ("receipt-subject", &["receipt-body"], "receipt-link")
        }
    }
}

fn write(mail: &Mail, lang: Lang) -> Words {
    let amount = mail.intent.amount;
    let amount = lang.write_amount(&Amount::new(amount.decimal(), amount.currency().code()));
    let mut args = FluentArgs::new();
    args.set("order", mail.checkout.order.as_str());
    args.set("shop", mail.shop.as_str());
    args.set("amount", amount);
    let say = |name: &str| say(lang, name, &args);
    let (subject, body, link) = messages(mail);
    let mut paragraphs = vec![say("hello")];
    paragraphs.extend(body.iter().map(|name| say(name)));
    paragraphs.push(format!("{}\n{}&lang={}", say(link), mail.status_url, lang.tag()));
    paragraphs.push(say("farewell"));
    Words { subject: say(subject), text: paragraphs.join("\n\n") }
}

fn say(lang: Lang, name: &str, args: &FluentArgs<'_>) -> String {
    let bundle = match lang {
        Lang::Ru => &*RUSSIAN,
        Lang::En => &*ENGLISH,
    };
    match bundle.get_message(name).and_then(|message| message.value()) {
        Some(pattern) => bundle.format_pattern(pattern, Some(args), &mut Vec::new()).into_owned(),
        None => name.to_owned(),
    }
}

fn bundle(lang: Lang, source: &str) -> Bundle {
    let resource =
        FluentResource::try_new(source.to_owned()).expect("the messages parse: a test reads them all");
    let mut bundle = Bundle::new_concurrent(vec![lang.tag().parse().expect("a language tag")]);
    // Direction marks around amounts and links would only get in the way of copying.
    bundle.set_use_isolating(false);
    bundle.add_resource(resource).expect("the messages have distinct names: a test reads them all");
    bundle
}
