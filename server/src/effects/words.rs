//! The words of mails (Fluent, `locales/`). Who reads a mail is not asked for a language: it is written in both, that of the
//! currency's country first.

use std::sync::LazyLock;

use app::{Lang, Messages};
use contract::Amount;
use engine::Mail;
use fluent_bundle::FluentArgs;
use payment::{CanceledReason, EffectKind, State};

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    Messages::new(include_str!("../../locales/ru.ftl"), include_str!("../../locales/en.ftl"))
});

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
    let langs = match mail.amount.currency().code() {
        "RUB" => [Lang::Ru, Lang::En],
        _ => [Lang::En, Lang::Ru],
    };
    let [first, second] = langs.map(|lang| write(mail, lang));
    Words { subject: first.subject, text: format!("{}\n\n* * *\n\n{}\n", first.text, second.text) }
}

/// The messages of a mail: its subject, its paragraphs, and the one above the link.
fn messages(mail: &Mail) -> (&'static str, &'static [&'static str], &'static str) {
    let receipt: &[&str] = if mail.once { &["receipt-body", "receipt-once"] } else { &["receipt-body"] };
    match (mail.kind, &mail.intent.state) {
        (EffectKind::ResultKnown, State::Declined { .. }) => {
            ("result-subject", &["result-declined", "result-hold"], "result-link")
        }
        // A person says this of money that was given back, too.
        (EffectKind::ResultKnown, State::Canceled { reason: CanceledReason::JudgedNotCharged }) => {
            ("result-judged-subject", &["result-judged", "result-hold"], "result-link")
        }
        (EffectKind::ResultKnown, _) => {
            ("result-subject", &["result-canceled", "result-hold"], "result-link")
        }
        (EffectKind::Receipt | EffectKind::CheckoutPaid, _) => ("receipt-subject", receipt, "receipt-link"),
    }
}

fn write(mail: &Mail, lang: Lang) -> Words {
    let amount = lang.write_amount(&Amount::new(mail.amount.decimal(), mail.amount.currency().code()));
    let mut args = FluentArgs::new();
    args.set("order", mail.checkout.order.as_str());
    args.set("shop", mail.shop.as_str());
    args.set("amount", amount);
    let say = |name: &str| MESSAGES.say(lang, name, Some(&args));
    let (subject, body, link) = messages(mail);
    let mut paragraphs = vec![say("hello")];
    paragraphs.extend(body.iter().map(|name| say(name)));
    paragraphs.push(format!("{}\n{}&lang={}", say(link), mail.status_url, lang.tag()));
    paragraphs.push(say("farewell"));
    Words { subject: say(subject), text: paragraphs.join("\n\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands before ` =` at the beginning of a line.
    fn names(source: &str) -> Vec<&str> {
        let lines = source.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
        lines.map(|line| line.split(" =").next().unwrap()).collect()
    }

    #[test]
    fn both_languages_say_the_same_messages_with_the_same_arguments() {
        let (russian, english) = (include_str!("../../locales/ru.ftl"), include_str!("../../locales/en.ftl"));
        assert_eq!(names(russian), names(english));
        let mut args = FluentArgs::new();
        for argument in ["order", "shop", "amount"] {
            args.set(argument, format!("<{argument}>"));
        }
        for name in names(russian) {
            let said = [Lang::Ru, Lang::En].map(|lang| MESSAGES.say(lang, name, Some(&args)));
            for text in &said {
                assert!(text != name && !text.contains('{'), "{name}: {text}");
            }
            let told = |text: &str| ["<order>", "<shop>", "<amount>"].map(|argument| text.contains(argument));
            assert_eq!(told(&said[0]), told(&said[1]), "{name}");
        }
    }

    #[test]
    fn what_a_mail_says_is_there() {
        let messages = [
            "hello",
            "farewell",
            "receipt-subject",
            "receipt-body",
            "receipt-once",
            "receipt-link",
            "result-subject",
            "result-declined",
            "result-canceled",
            "result-judged",
            "result-judged-subject",
            "result-hold",
            "result-link",
        ];
        let mut written = names(include_str!("../../locales/en.ftl"));
        written.sort_unstable();
        let mut messages = messages.to_vec();
        messages.sort_unstable();
        assert_eq!(written, messages, "none is missing, none is left over");
    }
}
