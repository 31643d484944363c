//! What all pages share: head, masthead, footer, stylesheet, the picture of a good.

use std::sync::LazyLock;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::{goods::Good, language::Visitor};

/// The stylesheet.
pub const STYLESHEET: &str = include_str!("../../../../style/shop.css");
/// Names its content; part of its address.
pub static STYLESHEET_VERSION: LazyLock<String> =
    LazyLock::new(|| Sha256::digest(STYLESHEET).iter().take(8).map(|byte| format!("{byte:02x}")).collect());

const LOGO: &str = include_str!("../../art/logo.svg");
/// The logo once more: a browser would ask for `/favicon.ico` otherwise.
const ICON: &str = concat!(
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E",
    "%3Cg transform='rotate(35 16 16)'%3E%3Cellipse cx='16' cy='16' rx='10' ry='14' fill='%239c3f1d'/%3E",
    "%3Cpath d='M16 2c-5 6 5 12 0 28' fill='none' stroke='%23fbf7f1' stroke-width='2.5'/%3E%3C/g%3E%3C/svg%3E"
);

/// A whole page. `here` is its path, where it can be opened in the other language.
pub fn page(visitor: Visitor, here: &str, title: &str, main: &Markup) -> Markup {
    let language = visitor.language;
    html! {
        (DOCTYPE)
        html lang=(language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) " · " (language.say("shop-name")) }
                link rel="icon" href=(ICON);
                link rel="stylesheet" href={ "/shop/shop.css?v=" (*STYLESHEET_VERSION) };
            }
            body {
                a.skip href="#main" { (language.say("skip-to-content")) }
                header {
                    p.demo { (language.say("demo-note")) }
                    (masthead(visitor, here))
                }
                main #main tabindex="-1" { (main) }
                footer.foot {
                    p { (language.say("footer-about")) }
                    p { (language.say("footer-shipping")) }
                }
            }
        }
    }
}

fn masthead(visitor: Visitor, here: &str) -> Markup {
    let other = visitor.language.other();
    html! {
        div.masthead {
            a.brand href=(visitor.link("/shop")) {
                (PreEscaped(LOGO))
                span { (visitor.language.say("shop-name")) }
            }
            nav aria-label=(visitor.language.say("language-label")) {
                a.quiet href={ (here) "?lang=" (other.tag()) } hreflang=(other.tag()) lang=(other.tag()) {
                    (other.say("language-name"))
                }
            }
        }
    }
}

/// The picture of a good. Its name stands beside it, so that it needs no words of its own.
pub fn picture(good: &Good) -> Markup {
    html! { div class={ "picture " (good.slug) } { (PreEscaped(good.picture)) } }
}
