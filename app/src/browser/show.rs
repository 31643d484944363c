//! Puts a visit's stage on the page: what is hidden, what is filled in, what is said, where the focus goes.

use web_sys::HtmlElement;

use super::{
    page::{PageElements, lang},
    signals,
};
use crate::{
    form::Field,
    stage::{FORM, Note, Stage},
    visit::{OtherWay, Visit},
    wire::Offer,
};

/// What is shown, to tell a new screen from the same one.
#[derive(PartialEq)]
pub(crate) struct Before {
    stage: Stage,
    note: Option<Note>,
}

impl Before {
    pub(crate) fn of(visit: &Visit) -> Self {
        Self { stage: visit.stage().clone(), note: visit.note() }
    }
}

/// Shows the visit, as far as that is news.
pub(crate) fn show(page: &PageElements, visit: &Visit, before: &Before) {
    page.watch(visit.watches());
    show_questions(page, visit);
    if before.stage.name() != visit.stage().name() {
        // What the server said of a form that was sent need not be true of what came after it.
        page.each("[data-notice]", &mut |line| line.set_hidden(true));
    }
    if *before != Before::of(visit) {
        show_stage(page, visit);
        move_focus(page, visit, before);
    }
}

/// Puts the new terms in place of the old. The button is pressed anew, so they are agreed to anew.
pub(crate) fn adopt(page: &PageElements, offer: &Offer) {
    let amount = signals::amount(&offer.terms.amount, &lang());
    for slot in ["amount", "pay-amount"] {
        fill(page, slot, Some(amount.clone()));
    }
    fill(page, "what", Some(what(page, offer)));
    page.each(ORDER_LINE, &mut |line| line.set_hidden(offer.description.is_none()));
    fill(page, "intent", Some(offer.intent.clone()));
    page.adopt(offer);
}

/// The sum in the head of the page, and the line that is its heading where there is no description.
const SUM: &str = ".sum";
const ORDER_LINE: &str = "[data-with=description]";

/// What is paid for.
fn what(page: &PageElements, offer: &Offer) -> String {
    offer.description.clone().unwrap_or_else(|| page.words(ORDER_LINE))
}

/// What is new in the offer stands on its screen, and what was agreed to stays in the head.
fn show_offer(page: &PageElements, offer: &Offer) {
    let (amount, what) = (signals::amount(&offer.terms.amount, &lang()), what(page, offer));
    let same = what == page.words("[data-slot=what]");
    let slot = if amount != page.words(SUM) {
        "new-amount"
    } else if same {
        "same-amount"
    } else {
        ""
    };
    for name in ["new-amount", "same-amount"] {
        fill(page, name, (name == slot).then(|| amount.clone()));
    }
    fill(page, "new-what", (!same).then_some(what));
}

fn show_stage(page: &PageElements, visit: &Visit) {
    let stage = visit.stage();
    page.set("data-state", stage.name());
    page.each("[data-screen]", &mut |screen| screen.set_hidden(!is(screen, "data-screen", stage.screen())));
    let note = visit.note().map_or("", Note::name);
    page.each("[data-note]", &mut |line| line.set_hidden(!is(line, "data-note", note)));
    let busy = *stage == Stage::Submitting;
    page.each("button[name=pay], [data-submit=bank]", &mut |button| {
        let _ = button.set_attribute("aria-disabled", if busy { "true" } else { "false" });
    });
    // What is being sent stands there until it is known what came of it.
    for field in Field::ALL {
        if let Some(input) = page.field(field) {
            input.set_read_only(busy);
        }
    }
    show_wrongs(page, stage);
    show_known(page, visit);
    show_other_way(page, visit);
    let screen = stage.screen();
    let heading = match screen {
        FORM => page.words("[name=pay] .idle"),
        screen => page.words(&title(screen)),
    };
    page.entitle(&heading);
}

/// The heading that is shown of a screen.
fn title(screen: &str) -> String {
    format!("[data-screen={screen}] .state:not([hidden]) h2")
}

fn show_known(page: &PageElements, visit: &Visit) {
    match visit.stage() {
        Stage::Known(seen) | Stage::Renewing(seen) => {
            if !visit.keeps_card() {
                forget_card(page);
            }
            show_reason(page, seen.reason.as_deref());
            fill(page, "card", seen.last4.as_deref().map(|last4| format!("•••• {last4}")));
            // No mail is written of what nobody began here.
            page.each("[data-mail]", &mut |mail| mail.set_hidden(seen.in_question));
            page.each("[data-open]", &mut |form| form.set_hidden(seen.closed));
            page.each("[data-closed]", &mut |words| words.set_hidden(!seen.closed));
            if let Some(url) = &seen.bank_url {
                page.each("[data-slot=bank]", &mut |link| {
                    let _ = link.set_attribute("href", url);
                });
            }
        }
        Stage::Ready | Stage::Invalid(_) | Stage::Submitting | Stage::Checking | Stage::Elsewhere => {}
        Stage::Changed(offer) => show_offer(page, offer),
    }
}

/// Its form is over: the next one is another page's.
fn forget_card(page: &PageElements) {
    for field in [Field::Number, Field::Expiry, Field::Cvc] {
        if let Some(input) = page.field(field) {
            input.set_value("");
        }
    }
}

fn show_other_way(page: &PageElements, visit: &Visit) {
    let name = visit.other_way().map_or("", |way| match way {
        OtherWay::Card(_) => "card",
        OtherWay::Bank => "bank",
        OtherWay::Tab => "tab",
    });
    page.each("[data-other]", &mut |line| line.set_hidden(!is(line, "data-other", name)));
}

/// When we asked last, and when we ask next.
fn show_questions(page: &PageElements, visit: &Visit) {
    let Some(pause_s) = visit.pause_s() else { return };
    fill(page, "checked", Some(signals::time_of_day(0, &lang())));
    fill(page, "next", Some(signals::time_of_day(pause_s, &lang())));
}

fn show_wrongs(page: &PageElements, stage: &Stage) {
    let wrongs = match stage {
        Stage::Invalid(wrongs) => wrongs.as_slice(),
        Stage::Ready
        | Stage::Submitting
        | Stage::Checking
        | Stage::Elsewhere
        | Stage::Changed(_)
        | Stage::Known(_)
        | Stage::Renewing(_) => &[],
    };
    page.each("[data-wrongs]", &mut |summary| summary.set_hidden(wrongs.is_empty()));
    page.each("[data-wrong]", &mut |line| {
        line.set_hidden(!wrongs.iter().any(|wrong| is(line, "data-wrong", wrong.name())));
    });
    for field in Field::ALL {
        if let Some(input) = page.field(field) {
            let blamed = wrongs.iter().any(|wrong| wrong.field() == field);
            let _ = input.set_attribute("aria-invalid", if blamed { "true" } else { "false" });
        }
    }
}

/// The reason for the code, or the one for all others.
fn show_reason(page: &PageElements, code: Option<&str>) {
    let mut found = false;
    page.each("[data-reason]", &mut |reason| {
        let codes = reason.get_attribute("data-reason").unwrap_or_default();
        let fits = code.is_some_and(|code| codes.split(' ').any(|known| known == code));
        reason.set_hidden(!fits);
        found |= fits;
    });
    if !found {
        page.each("[data-reason~=other]", &mut |reason| reason.set_hidden(false));
    }
}

/// Fills a slot, and shows what stands with it.
fn fill(page: &PageElements, name: &str, value: Option<String>) {
    page.each(&format!("[data-with={name}]"), &mut |row| row.set_hidden(value.is_none()));
    page.each(&format!("[data-slot={name}]"), &mut |slot| slot.set_text_content(value.as_deref()));
}

/// The focus moves when the screen changes, and to what has to be read first. The live region says the rest.
fn move_focus(page: &PageElements, visit: &Visit, before: &Before) {
    let stage = visit.stage();
    let screen = stage.screen();
    let is_new = before.stage.screen() != screen;
    let (title, lead) = (title(screen), format!("[data-screen={screen}] .state:not([hidden]) .lead"));
    if let Some(note) = visit.note() {
        let line = format!("[data-note={}]", note.name());
        page.announce(&page.words(&line));
        // Nobody asked for this one: an address may be being typed.
        if !note.is_passing() {
            focus(page, &line);
        }
    } else if let Stage::Invalid(_) = stage {
        page.announce("");
        focus(page, "[data-wrongs]");
    } else if *stage == Stage::Submitting {
        page.announce(&page.words("[data-say=submitting]"));
    } else if screen != FORM && (is_new || matches!(stage, Stage::Changed(_))) {
        page.announce(&format!("{}. {}", page.words(&title), page.words(&lead)));
        focus(page, &title);
    } else if stage.is_closed() && !before.stage.is_closed() {
        // The button that had the focus may be gone.
        page.announce(&page.words(&format!("[data-screen={screen}] [data-closed]")));
        focus(page, &title);
    } else if is_new {
        // What was said is of the try before, and so was the button that had the focus.
        page.announce("");
        focus(page, "[data-do=pay]");
    } else if before.note.is_some() {
        // It is true no more.
        page.announce("");
    }
}

fn focus(page: &PageElements, selector: &str) {
    page.each(selector, &mut |element| {
        // Only an element that is gone refuses the focus.
        let _ = element.focus();
    });
}

fn is(element: &HtmlElement, attribute: &str, value: &str) -> bool {
    element.get_attribute(attribute).is_some_and(|found| found == value)
}
