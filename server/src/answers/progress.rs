//! What was done to learn a result, for whoever waits for it (N2): no evidence, no ids, no words of the bank.

use contract::{IntentState, Progress, ProgressKind, ProgressStep};
use payment::{JournalLine, StateName};
use store::{AttemptRecord, OperationRecord, Story};

use super::rfc3339;

/// Most steps shown: the last ones.
const MAX_STEPS: usize = 20;

/// The steps so far, while the result is awaited in the state that is shown.
pub(super) fn progress(shown: IntentState, story: &Story) -> Option<Progress> {
    let operation = &story.operation;
    let since = operation.first_sent_at.filter(|_| shown.is_awaited())?;
    let sends = story.attempts.iter().map(|attempt| (attempt.started_at, send(attempt, operation)));
    let turns = story.journal.iter().filter_map(|row| Some((row.line.at, turn(&row.line)?)));
    let mut steps: Vec<_> = sends.chain(turns).collect();
    // Of the same moment the send is first: it has led to the turn.
    steps.sort_by_key(|(at, _)| *at);
    let skipped = steps.len().saturating_sub(MAX_STEPS);
    let steps = steps.into_iter().skip(skipped);
    let stuck = stuck(story).filter(|_| shown == IntentState::Processing);
    Some(Progress {
        since: rfc3339(since),
        last_look_at: operation.looked_at.map(rfc3339),
        // While somebody is at it, the wake-up is the end of the lease and no look; while it is held, a look at the gate.
        next_look_at: operation
            .wake_at
            .filter(|_| operation.lease.is_none() && stuck != Some(Stuck::Held))
            .map(rfc3339),
        unreached_until: operation.execute_until.filter(|_| stuck == Some(Stuck::Unreached)).map(rfc3339),
        held: stuck == Some(Stuck::Held),
        steps: steps.map(|(at, what)| ProgressStep { at: rfc3339(at), what }).collect(),
    })
}

/// Why nothing of a payment is on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stuck {
    /// It may not leave now. This database may be an old copy, so that nothing is said of the money.
    Held,
    /// Every try was turned away unexecuted or never left.
    Unreached,
}

fn stuck(story: &Story) -> Option<Stuck> {
    let mut sends = story.attempts.iter().map(|attempt| send(attempt, &story.operation));
    if sends.any(|send| send != ProgressKind::NotExecuted) {
        return None;
    }
    if story.held {
        return Some(Stuck::Held);
    }
    (!story.attempts.is_empty()).then_some(Stuck::Unreached)
}

fn send(attempt: &AttemptRecord, operation: &OperationRecord) -> ProgressKind {
    match attempt.outcome.as_deref() {
        None if operation.lease.is_some() && attempt.fence == operation.fence => ProgressKind::Sent,
        None => ProgressKind::Unanswered,
        Some(outcome) if outcome.starts_with("unknown") => ProgressKind::Unanswered,
        Some(outcome) if outcome.starts_with("not executed") => ProgressKind::NotExecuted,
        Some(_) => ProgressKind::Answered,
    }
}

/// A change of state that is a step for whoever waits.
fn turn(line: &JournalLine) -> Option<ProgressKind> {
    if line.from == line.to {
        return None;
    }
    match line.to.as_str() {
        to if to == StateName::RequiresAction.as_str() => Some(ProgressKind::AtBank),
        to if to == StateName::NeedsReview.as_str() => Some(ProgressKind::InReview),
        _ => None,
    }
}
