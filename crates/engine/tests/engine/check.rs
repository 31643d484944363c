//! What is always true, read from the store and the bank's ledger alone (the numbers are those of the list of invariants).

mod ledger;

use std::collections::BTreeSet;

use payment::{EffectKind, JournalLine, Stance};
use store::{CheckoutRecord, IntentRecord, Stage, Story};

pub use self::ledger::check_to_the_last_object;
use crate::world::World;

const TERMINALS: [&str; 4] = ["succeeded", "declined", "canceled", "expired"];
/// What may lead from where to where, and with what evidence. Written down here a second time: the code is not asked. No timer is
/// among what ends anything that was sent.
const WAYS: [(&str, &str, &[&str]); 13] = [
    ("none", "created", &["opened"]),
    ("created", "processing", &["submitted"]),
    ("created", "expired", &["expired"]),
    ("created", "canceled", &["replaced"]),
    ("processing", "confirming", &["unanswered", "taken_over"]),
    ("processing", "declined", &["rejected"]),
    ("processing", "canceled", &["execute_until_passed", "absent"]),
    ("confirming", "canceled", &["absent"]),
    ("needs_review", "canceled", &["absent", "judged_not_charged"]),
    ("needs_review", "succeeded", &["judged_charged"]),
    ("any", "confirming", &["mismatched"]),
    ("any", "needs_review", &["overdue", "stuck", "mismatched"]),
    // Wherever it is not over, the provider's object may lead anywhere but back.
    ("any", "any", &["observed"]),
];

/// Everything that holds at any moment.
pub async fn check(world: &World) {
    for (checkout, chain) in world.intents().await {
        for (intent, story) in &chain {
            check_story(intent, story);
            check_sends(world, intent, story);
            ledger::check_ending(world, intent);
        }
        check_intents(&chain);
        ledger::check_money(world, &checkout, &chain);
        check_effects(world, &checkout, &chain).await;
    }
    let mut keys: Vec<_> = world.bank.sent().into_iter().map(|sent| (sent.key, sent.intent)).collect();
    keys.sort_unstable();
    keys.dedup();
    let intents: BTreeSet<_> = keys.iter().map(|(_, intent)| *intent).collect();
    assert_eq!(keys.len(), intents.len(), "5: one provider key per intent, and one intent per key");
}

/// 6, 10: at most one occupies, each later one follows one that had ended, and none was made or sent for a paid checkout.
fn check_intents(chain: &[(IntentRecord, Story)]) {
    let numbers: Vec<_> = chain.iter().map(|(intent, _)| intent.number).collect();
    assert_eq!(numbers, (1..=chain.len() as i64).collect::<Vec<_>>(), "6: one chain of intents");
    for (earlier, _) in &chain[..chain.len() - 1] {
        assert_eq!(earlier.state.stance(), Stance::Free, "6, 10: {} is followed", earlier.id);
    }
    for pair in chain.windows(2) {
        let ended = pair[0].1.journal.iter().find(|row| TERMINALS.contains(&row.line.to.as_str()));
        let made_at = pair[1].0.created_at;
        assert!(ended.is_some_and(|row| row.line.at <= made_at), "6: {} came too early", pair[1].0.id);
    }
    let Some(paid_at) = chain[0].1.charges.iter().map(|charge| charge.at).min() else { return };
    for (intent, story) in chain {
        assert!(intent.created_at <= paid_at, "6: {} was made for a paid checkout", intent.id);
        let late = story.attempts.iter().find(|attempt| attempt.started_at > paid_at);
        assert_eq!(late, None, "10: {} is sent for a paid checkout", intent.id);
    }
}

/// 8, 9, 11, 17 and the journal's chain.
fn check_story(intent: &IntentRecord, story: &Story) {
    let (operation, state) = (&story.operation, intent.state.name());
    assert_eq!(operation.stage, Stage::of(state));
    let awaited = matches!(operation.stage, Stage::Open | Stage::Review);
    assert_eq!(operation.wake_at.is_some(), awaited, "17: {state} has a wake-up exactly if it is open");
    if let (Some(lease), Some(wake_at)) = (operation.lease, operation.wake_at) {
        let stuck = operation.stage == Stage::Review;
        assert!(wake_at <= lease.until || stuck, "17: the end of a lease wakes somebody");
    }
    let fences: Vec<_> = story.attempts.iter().map(|attempt| attempt.fence).collect();
    assert!(fences.windows(2).all(|pair| pair[0] < pair[1]), "11: fences rise: {fences:?}");
    assert!(fences.last().is_none_or(|last| *last <= operation.fence), "11: none is from the future");

    let chain = story.journal.iter().map(|row| (&row.line, row.hash));
    assert_eq!(JournalLine::first_break(chain), None, "the journal's chain");
    let mut at = "none";
    for row in &story.journal {
        let line = &row.line;
        // A capture, cancel or refund has states of its own.
        if line.event.contains('.') {
            continue;
        }
        assert_eq!(line.from, at, "9: each line begins where the last one ended");
        assert!(!line.evidence.is_empty(), "8: {} cites nothing", line.event);
        check_line(line);
        at = &line.to;
    }
    assert_eq!(at, state.as_str(), "the journal ends where the intent stands");
}

fn check_line(line: &JournalLine) {
    if line.from == line.to {
        return;
    }
    assert!(!TERMINALS.contains(&line.from.as_str()), "9: terminals absorb: {line:?}");
    let is = |named: &str, state: &str| named == state || named == "any";
    let may = |(from, to, events): &(&str, &str, &[&str])| {
        is(from, &line.from) && is(to, &line.to) && events.contains(&line.event.as_str())
    };
    assert!(WAYS.iter().any(may), "8, 9: {line:?}");
    assert!(
        !["created", "processing"].contains(&line.to.as_str()) || line.event != "observed",
        "9: {line:?}"
    );
}

/// 4, 5, 7: what arrived is what was written: one key, one body, one account, in time.
fn check_sends(world: &World, intent: &IntentRecord, story: &Story) {
    let sent = world.bank.sent_from_store();
    let sent: Vec<_> = sent.into_iter().filter(|sent| sent.intent == intent.id).collect();
    assert!(sent.len() <= story.attempts.len(), "4: every send has its attempt");
    let Some(first) = sent.first() else { return };
    let frozen = story.operation.frozen.as_ref().unwrap();
    for sent in &sent {
        assert_eq!(sent.key, story.operation.provider_key, "5: the operation's key");
        assert!(sent.body == first.body, "5: the same bytes");
        assert_eq!(sent.account.id, frozen.account.as_str(), "5: the same account");
        assert!(sent.at < story.operation.execute_until.unwrap(), "7: before execute-until");
        let begun = story.attempts.iter().any(|attempt| attempt.started_at <= sent.at);
        assert!(begun, "4: its attempt was written before it");
    }
}

/// 14: one `checkout.paid`, exactly if it is paid.
async fn check_effects(world: &World, checkout: &CheckoutRecord, chain: &[(IntentRecord, Story)]) {
    let mut told = BTreeSet::new();
    for (intent, _) in chain {
        let effects = world.store.effects(intent.tenant.clone(), intent.id).await.unwrap();
        let paid = effects.iter().filter(|effect| effect.kind == EffectKind::CheckoutPaid);
        told.extend(paid.map(|effect| effect.id.to_string()));
    }
    let paid = !chain[0].1.charges.is_empty();
    assert_eq!(told.len(), usize::from(paid), "1, 14: {} is told once", checkout.order);
}
