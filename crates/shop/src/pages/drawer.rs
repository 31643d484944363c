//! The drawer "what could go wrong": which fault the next payment is to meet, and five numbers that show what came
//! of it. Plain forms and links; a script only saves pressing "refresh".

use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};

use crate::{
    bank::ArmedFault,
    clock,
    faults::{self, FAULTS, Fault},
    figures::Figures,
    headers::Nonce,
    language::{Language, Visitor},
    orders::Order,
    pages::order::Standing,
};

const LIVE_SCRIPT: &str = include_str!("../live.js");

/// The drawer among the shelves.
#[derive(Clone, Copy)]
pub struct ShelfDrawer {
    /// What the next order's payment is to meet.
    pub chosen: Option<&'static Fault>,
    /// Whether there are mails to look at.
    pub has_mailbox: bool,
}

/// The drawer of an order.
pub struct OrderDrawer {
    /// The numbers.
    pub figures: Figures,
    /// What the bank is waiting to do wrong; `None`: not known now.
    pub armed: Option<Vec<ArmedFault>>,
    /// Whether there are mails to look at.
    pub has_mailbox: bool,
    /// Lets the drawer's script run.
    pub nonce: Nonce,
}

/// Among the shelves: the choice goes into the address, and from there into every buy form.
pub fn on_shelves(visitor: Visitor, drawer: ShelfDrawer) -> Markup {
    let language = visitor.language;
    html! {
        aside.drawer data-shop="drawer" {
            @if let Some(fault) = drawer.chosen {
                p.note.wait data-fault=(fault.name) role="status" {
                    (language.say("fault-chosen")) " " strong { (language.say(fault.name)) } ". "
                    (language.say_part(fault.name, "about")) " "
                    a href=(visitor.link("/shop")) { (language.say("fault-forget")) }
                }
            }
            details {
                summary { (language.say("drawer-title")) }
                p { (language.say("drawer-text-shelves")) }
                form.faults method="get" action="/shop" {
                    @if visitor.chose { input type="hidden" name="lang" value=(language.tag()); }
                    (choices(language, drawer.chosen))
                    button.main type="submit" { (language.say("fault-choose")) }
                }
                @if drawer.has_mailbox { p.links { (mailbox_link(visitor)) } }
            }
        }
    }
}

/// On the order's page. Faults can be chosen only while the order can be paid.
pub fn on_order(visitor: Visitor, order: &Order, drawer: &OrderDrawer, can_choose: bool) -> Markup {
    let language = visitor.language;
    let path = order.path();
    html! {
        section.sheet.drawer data-shop="drawer" aria-labelledby="drawer" {
            h2 #drawer { (language.say("drawer-title")) }
            (figures(language, &drawer.figures))
            p.links {
                a href=(visitor.link(&path)) { (language.say("refresh")) }
                @if drawer.has_mailbox { (mailbox_link(visitor)) }
            }
            (armed(language, drawer.armed.as_deref()))
            @if can_choose {
                details {
                    summary { (language.say("fault-choose-title")) }
                    p { (language.say("drawer-text-order")) }
                    form.faults method="post" action=(visitor.link(&format!("{path}/faults"))) {
                        (choices(language, None))
                        button.main type="submit" { (language.say("fault-choose")) }
                    }
                }
            }
        }
        script nonce=(drawer.nonce.as_str()) data-from=(visitor.link(&format!("{path}/live"))) {
            (PreEscaped(LIVE_SCRIPT))
        }
    }
}

/// What changes by itself on an order's page; the script puts each part in the place of the old one, and reads the order anew where
/// it stands otherwise.
pub fn live(
    visitor: Visitor,
    standing: &Standing,
    shipped_at: Option<Timestamp>,
    numbers: &Figures,
    waiting: Option<&[ArmedFault]>,
) -> Markup {
    let language = visitor.language;
    html! {
        span data-standing=(standing.name()) {}
        (delivery(language, shipped_at)) (figures(language, numbers)) (armed(language, waiting))
    }
}

/// Whether the order was shipped: the answer to the question in the list of facts.
pub fn delivery(language: Language, shipped_at: Option<Timestamp>) -> Markup {
    html! {
        dd data-live="delivery" data-shipped=(shipped_at.is_some()) {
            @match shipped_at {
                Some(at) => {
                    (language.say("shipped-on")) " " time datetime=(at) { (clock::written(at)) }
                }
                None => (language.say("not-shipped")),
            }
        }
    }
}

fn figures(language: Language, figures: &Figures) -> Markup {
    let figure = |name: &str, label: String, value: Option<u64>| {
        html! {
            div {
                dt { (label) }
                dd data-drill=(name) {
                    @if let Some(value) = value { (value) } @else { "—" }
                }
            }
        }
    };
    html! {
        dl.figures data-live="figures" {
            (figure("attempts", language.say("attempts-label"), figures.attempts))
            (figure("operations", language.say("operations-label"), figures.operations))
            (figure("charges", language.say("charges-label"), figures.charges))
            (figure("mails", language.say("mails-label"), figures.mails))
            (figure("shipments", language.say("shipments-label"), figures.shipments))
        }
    }
}

fn armed(language: Language, armed: Option<&[ArmedFault]>) -> Markup {
    html! {
        div.armed data-live="armed" {
            @match armed {
                None => (language.say("armed-unknown")),
                Some([]) => (language.say("armed-nothing")),
                Some(faults) => {
                    (language.say("armed"))
                    ul {
                        @for fault in faults { li data-armed=(fault.kind) { (named(language, fault)) } }
                    }
                }
            }
        }
    }
}

fn named(language: Language, fault: &ArmedFault) -> String {
    let name =
        faults::of_kind(&fault.kind).map_or_else(|| fault.kind.clone(), |offered| language.say(offered.name));
    if fault.times > 1 { format!("{name} ×\u{a0}{}", fault.times) } else { name }
}

fn choices(language: Language, chosen: Option<&Fault>) -> Markup {
    html! {
        fieldset {
            legend.unseen { (language.say("fault-choose-title")) }
            @for fault in &FAULTS {
                label {
                    input type="radio" name="fault" value=(fault.name) required checked[chosen == Some(fault)];
                    span {
                        strong { (language.say(fault.name)) }
                        span { (language.say_part(fault.name, "about")) }
                    }
                }
            }
        }
    }
}

fn mailbox_link(visitor: Visitor) -> Markup {
    html! { a href=(visitor.link("/shop/mailbox")) { (visitor.language.say("mailbox-title")) } }
}
