//! Writes `docs/states.md` from the code, and fails when the committed file is not what the code says.
//! `UPDATE_DOCS=1 cargo test -p payment` writes it anew.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod samples;

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use payment::{Effect, Event, State, StateName, transition};
use samples::{NOW, events, shown, states};

const HEAD: &str = "# States of a payment intent

Written by `crates/payment/tests/states.rs` from the code; do not edit. `UPDATE_DOCS=1 cargo test -p payment` writes it anew.

A payment intent changes its state in one place, `payment::transition`. The diagram shows what leads from one state to another;
the table below it says what every event does in every state.

";

const LEGEND: &str = "
## Every event in every state

`=` the state stays (its reason may be renewed). `never` the event cannot happen there, and the code refuses it.
Otherwise: the next state. `+ charge` an object took money, and becomes a charge of the checkout. `+ alarm: …` something that should not be,
for the journal and for a person. Variants of an event that act alike share a row; \"another object\" is a provider's
object other than the one the intent knows.

";

#[test]
fn docs_states_md_is_what_the_code_says() {
    let written = document();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/states.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == written,
        "docs/states.md is not what the code says; run UPDATE_DOCS=1 cargo test -p payment"
    );
}

#[test]
fn every_state_has_a_sample() {
    for name in StateName::ALL {
        assert!(states().iter().any(|(_, state)| state.name() == *name), "{name} has no sample");
    }
}

fn document() -> String {
    format!("{HEAD}{}{LEGEND}{}", diagram(), table())
}

/// Which events lead from one state to another, several events on one arrow.
fn diagram() -> String {
    let mut arrows: BTreeMap<(StateName, StateName), Vec<String>> = BTreeMap::new();
    for (_, state) in states() {
        for (event, detail) in events() {
            let Ok(decision) = transition(&state, event.clone(), NOW) else { continue };
            let arrow = (state.name(), decision.next.name());
            let label = arrow_label(&event, detail);
            let labels = arrows.entry(arrow).or_default();
            if arrow.0 != arrow.1 && !labels.contains(&label) {
                labels.push(label);
            }
        }
    }
    let mut text = String::from("```mermaid\nstateDiagram-v2\n    [*] --> created\n");
    for ((from, to), labels) in arrows.iter().filter(|(_, labels)| !labels.is_empty()) {
        writeln!(text, "    {from} --> {to} : {}", labels.join(", ")).unwrap();
    }
    for name in StateName::ALL.iter().filter(|name| name.is_terminal()) {
        writeln!(text, "    {name} --> [*]").unwrap();
    }
    text + "```\n"
}

/// On an arrow an observation is told by its status, any other event by its name.
fn arrow_label(event: &Event, detail: Option<String>) -> String {
    match event {
        Event::Observed(_) => {
            let status = detail.unwrap_or_default();
            format!("observed {}", status.trim_end_matches(", another object").replace(": ", " "))
        }
        Event::Submitted
        | Event::TakenOver
        | Event::NotExecuted(_)
        | Event::Unanswered(_)
        | Event::Rejected { .. }
        | Event::Mismatched { .. }
        | Event::ExecuteUntilPassed
        | Event::Absent
        | Event::Overdue
        | Event::Stuck
        | Event::JudgedCharged { .. }
        | Event::JudgedNotCharged
        | Event::Expired
        | Event::Replaced => event.name().to_owned(),
    }
}

/// A row for each event, a column for each state; variants of an event, and states, that act alike stand together.
fn table() -> String {
    let mut rows: Vec<(&'static str, Vec<String>, Vec<String>)> = Vec::new();
    for (event, detail) in events() {
        let cells: Vec<String> = states().iter().map(|(_, state)| cell(state, &event)).collect();
        let alike = rows.iter_mut().find(|(name, _, row)| *name == event.name() && *row == cells);
        match alike {
            Some((_, details, _)) => details.extend(detail),
            None => rows.push((event.name(), detail.into_iter().collect(), cells)),
        }
    }
    let mut columns: Vec<(String, usize)> = Vec::new();
    for (index, (name, _)) in states().into_iter().enumerate() {
        let alike = |other: usize| rows.iter().all(|(_, _, cells)| cells[other] == cells[index]);
        match columns.iter_mut().find(|(_, other)| alike(*other)) {
            Some((names, _)) => write!(names, ", {name}").unwrap(),
            None => columns.push((name, index)),
        }
    }
    let names: Vec<&str> = columns.iter().map(|(names, _)| names.as_str()).collect();
    let mut text = format!("| event \\ state | {} |\n", names.join(" | "));
    writeln!(text, "|{}", " --- |".repeat(names.len() + 1)).unwrap();
    for (name, details, cells) in &rows {
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join("; ")) };
        let cells: Vec<&str> = columns.iter().map(|(_, index)| cells[*index].as_str()).collect();
        writeln!(text, "| **{name}**{details} | {} |", cells.join(" | ")).unwrap();
    }
    text
}

fn cell(state: &State, event: &Event) -> String {
    let Ok(decision) = transition(state, event.clone(), NOW) else { return "never".to_owned() };
    let stays = shown(&decision.next) == shown(state);
    let mut text = if stays { "=".to_owned() } else { shown(&decision.next) };
    for effect in &decision.effects {
        match effect {
            Effect::Charge { .. } => text.push_str(" + charge"),
            Effect::Anomaly(anomaly) => write!(text, " + alarm: {}", anomaly.as_str()).unwrap(),
        }
    }
    text
}
