//! What is always true, read from the store and the bank's ledger alone (the numbers are those of the list of invariants).

use payment::{CheckoutStatus, JournalLine, Stance, StateName};
use store::{CheckoutRecord, IntentRecord, Stage, Story};

use crate::world::World;

const TERMINALS: [&str; 4] = ["succeeded", "declined", "canceled", "expired"];
/// What may end an intent, with evidence: a provider's word, or that nothing was or will be sent. No timer is among them.
const ENDINGS: [&str; 5] = ["observed", "rejected", "execute_until_passed", "expired", "replaced"];

/// Everything that holds after every test.
pub async fn check(world: &World) {
    for (tenant, id) in world.opened() {
        let (checkout, newest) = world.store.checkout(tenant.clone(), id).await.unwrap().unwrap();
        let mut chain = vec![newest];
        while let Some(previous) = chain.last().unwrap().previous {
            chain.push(world.store.intent(tenant.clone(), previous).await.unwrap().unwrap().1);
        }
        chain.reverse();
        let mut stories = Vec::new();
        for intent in &chain {
            let story = world.store.story(tenant.clone(), intent.id).await.unwrap().unwrap();
            check_story(intent, &story);
            check_sends(world, intent, &story);
            stories.push(story);
        }
        check_intents(&chain);
        check_money(world, &checkout, &chain, &stories);
    }
    let mut keys: Vec<_> = world.bank.sent().into_iter().map(|sent| (sent.key, sent.intent)).collect();
    keys.sort_unstable();
    keys.dedup();
    let intents: std::collections::BTreeSet<_> = keys.iter().map(|(_, intent)| *intent).collect();
    assert_eq!(keys.len(), intents.len(), "5: one provider key per intent, and one intent per key");
}

/// 6, 10: at most one occupies, and each later one follows one that had ended.
fn check_intents(chain: &[IntentRecord]) {
    let numbers: Vec<_> = chain.iter().map(|intent| intent.number).collect();
    assert_eq!(numbers, (1..=chain.len() as i64).collect::<Vec<_>>(), "6: one chain of intents");
    for earlier in &chain[..chain.len() - 1] {
        assert_eq!(earlier.state.stance(), Stance::Free, "6, 10: {} is followed", earlier.id);
    }
}

/// 8, 9, 11, 17 and the journal's chain.
fn check_story(intent: &IntentRecord, story: &Story) {
    let (operation, state) = (&story.operation, intent.state.name());
    assert_eq!(operation.stage, Stage::of(state));
    let awaited = matches!(operation.stage, Stage::Open | Stage::Review);
    assert_eq!(operation.wake_at.is_some(), awaited, "17: {state} has a wake-up exactly if it is open");
    if let Some(lease) = operation.lease {
        assert_eq!(operation.wake_at, Some(lease.until), "17: the end of a lease wakes somebody");
    }
    let fences: Vec<_> = story.attempts.iter().map(|attempt| attempt.fence).collect();
    assert!(fences.windows(2).all(|pair| pair[0] < pair[1]), "11: fences rise: {fences:?}");
    assert!(fences.last().is_none_or(|last| *last <= operation.fence), "11: none is from the future");

    let chain = story.journal.iter().map(|row| (&row.line, row.hash));
    assert_eq!(JournalLine::first_break(chain), None, "the journal's chain");
    let mut at = "none";
    for row in &story.journal {
        let line = &row.line;
        assert_eq!(line.from, at, "9: each line begins where the last one ended");
        assert!(!line.evidence.is_empty(), "8: {} cites nothing", line.event);
        let moved = line.to != line.from;
        assert!(!TERMINALS.contains(&at) || !moved, "9: terminals absorb: {line:?}");
        if moved && TERMINALS.contains(&line.to.as_str()) {
            assert!(ENDINGS.contains(&line.event.as_str()), "8: {line:?}");
            let unknown = line.from == StateName::Confirming.as_str();
            assert!(!unknown || line.event == "observed", "8: only the provider ends the unknown: {line:?}");
        }
        at = &line.to;
    }
    assert_eq!(at, state.as_str(), "the journal ends where the intent stands");
}

/// 4, 5, 7: what arrived is what was written: one key, one body, one account, in time.
fn check_sends(world: &World, intent: &IntentRecord, story: &Story) {
    let sent: Vec<_> = world.bank.sent().into_iter().filter(|sent| sent.intent == intent.id).collect();
    assert!(sent.len() <= story.attempts.len(), "4: every send has its attempt");
    let Some(first) = sent.first() else { return };
    let frozen = story.operation.frozen.as_ref().unwrap();
    for sent in &sent {
        assert_eq!(sent.key, story.operation.provider_key, "5: the operation's key");
        assert!(sent.body == first.body, "5: the same bytes");
        assert_eq!(sent.account.id, frozen.account.as_str(), "5: the same account");
        assert!(sent.at < story.operation.execute_until.unwrap(), "7: before execute-until");
    }
}

/// 1: money in the ledger and the checkout's status agree, and more than one charge stands in the journal.
fn check_money(world: &World, checkout: &CheckoutRecord, chain: &[IntentRecord], stories: &[Story]) {
    let objects = world.bank.objects();
    let taken = objects.iter().filter(|object| object.checkout == checkout.id && object.took_money).count();
    let flagged = stories.iter().flat_map(|story| &story.journal).any(|row| row.line.event == "anomaly");
    assert!(taken <= 1 || flagged, "1: {taken} charges of {} and nobody is told", checkout.order);
    if checkout.status == CheckoutStatus::Paid {
        assert!(taken >= 1, "1: {} is paid and the ledger knows nothing of it", checkout.order);
    }
    let succeeded = chain.iter().any(|intent| intent.state.name() == StateName::Succeeded);
    assert!(!succeeded || checkout.status == CheckoutStatus::Paid, "1: what succeeded has paid");
    let over = chain.iter().all(|intent| intent.state.is_terminal());
    assert!(!over || taken == 0 || checkout.status == CheckoutStatus::Paid, "1: money taken, nobody knows");
}
