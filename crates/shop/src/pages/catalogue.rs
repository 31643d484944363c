//! The shelves. Every form is rendered with a token of its own: posted twice, it is one order.

use fluent_bundle::FluentArgs;
use maud::{Markup, PreEscaped, html};

use super::{
    drawer::{self, ShelfDrawer},
    layout,
};
use crate::{
    faults::Fault,
    goods::{GOODS, Good, MAX_QUANTITY},
    ids,
    language::Visitor,
    orders::Wish,
};

const HERO: &str = include_str!("../../art/hero.svg");

/// All goods, each with a form to buy it.
pub fn render(visitor: Visitor, drawer: Option<ShelfDrawer>) -> Markup {
    let language = visitor.language;
    let fault = drawer.and_then(|drawer| drawer.chosen);
    let main = html! {
        section.hero {
            div {
                h1 { (language.say("hero-title")) }
                p { (language.say("hero-text")) }
            }
            (PreEscaped(HERO))
        }
        @if let Some(drawer) = drawer { (drawer::on_shelves(visitor, drawer)) }
        section aria-labelledby="shelf" data-shop="catalogue" {
            h2 #shelf { (language.say("shelf-title")) }
            ul.shelf {
                @for good in &GOODS { li { (card(visitor, good, fault)) } }
            }
        }
    };
    layout::page(visitor, "/shop", &language.say("catalogue-title"), &main)
}

fn card(visitor: Visitor, good: &Good, fault: Option<&Fault>) -> Markup {
    let language = visitor.language;
    let name_id = format!("name-{}", good.slug);
    html! {
        article.good #(good.slug) aria-labelledby=(name_id) {
            (layout::picture(good))
            div.words {
                h3 id=(name_id) { (language.say(good.slug)) }
                p.about { (language.say_part(good.slug, "about")) }
            }
            form.buy method="post" action=(visitor.link("/shop/orders")) data-good=(good.slug) {
                input type="hidden" name="form_token" value=(ids::new_uuid());
                input type="hidden" name="good" value=(good.slug);
                @if let Some(fault) = fault { input type="hidden" name="fault" value=(fault.name); }
                p.price { (good.price.written_in(language)) }
                label.quantity {
                    span.unseen { (language.say("quantity-label")) ": " (language.say(good.slug)) }
                    select name="quantity" {
                        @for quantity in 1..=MAX_QUANTITY {
                            option value=(quantity) { (language.say_with("pieces", &pieces(quantity))) }
                        }
                    }
                }
                button.main type="submit" name="buy" aria-describedby=(name_id) { (language.say("buy")) }
            }
        }
    }
}

fn pieces(quantity: u8) -> FluentArgs<'static> {
    let mut args = FluentArgs::new();
    args.set("quantity", quantity);
    args
}

/// The form that asks for the same again with the same token: the same order, the same key.
pub fn same_form(visitor: Visitor, wish: &Wish, label: &str) -> Markup {
    html! {
        form method="post" action=(visitor.link("/shop/orders")) {
            input type="hidden" name="form_token" value=(wish.form_token);
            input type="hidden" name="good" value=(wish.good.slug);
            input type="hidden" name="quantity" value=(wish.quantity);
            button.main type="submit" name="buy" { (label) }
        }
    }
}
