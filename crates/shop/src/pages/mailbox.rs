//! The mails that the demo wrote instead of sending them. Shown as text only, whatever they are made of.

use maud::{Markup, html};

use super::layout;
use crate::{clock, language::Visitor, mailbox::Mail};

const PATH: &str = "/shop/mailbox";

/// All of them.
pub fn list(visitor: Visitor, mails: &[Mail]) -> Markup {
    let language = visitor.language;
    let title = language.say("mailbox-title");
    let main = html! {
        section.sheet data-shop="mailbox" {
            h1 { (title) }
            p.fine { (language.say("mailbox-text")) }
            @if mails.is_empty() { p { (language.say("mailbox-empty")) } }
            ul.mails {
                @for mail in mails {
                    li data-mail=(mail.name) {
                        a href=(visitor.link(&format!("{PATH}/{}", mail.name))) { (subject(visitor, mail)) }
                        p.fine {
                            time datetime=(mail.at) { (clock::written(mail.at)) }
                            @if !mail.to.is_empty() { " · " (mail.to) }
                        }
                    }
                }
            }
            div.actions { a.second href=(visitor.link("/shop")) { (language.say("back-to-shelves")) } }
        }
    };
    layout::page(visitor, PATH, &title, &main)
}

/// One of them.
pub fn show(visitor: Visitor, mail: &Mail) -> Markup {
    let language = visitor.language;
    let title = subject(visitor, mail);
    let main = html! {
        section.sheet.mail data-shop="mail" {
            h1 { (title) }
            dl.facts {
                dt { (language.say("mail-from")) }
                dd { (mail.from) }
                dt { (language.say("mail-to")) }
                dd { (mail.to) }
                dt { (language.say("mail-time")) }
                dd { time datetime=(mail.at) { (clock::written(mail.at)) } }
            }
            pre { (mail.text) }
            div.actions { a.second href=(visitor.link(PATH)) { (language.say("mailbox-title")) } }
        }
    };
    layout::page(visitor, &format!("{PATH}/{}", mail.name), &title, &main)
}

fn subject(visitor: Visitor, mail: &Mail) -> String {
    if mail.subject.is_empty() { visitor.language.say("mail-unwritten") } else { mail.subject.clone() }
}
