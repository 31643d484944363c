//! What was done to learn a result, for whoever waits for it (N2): no evidence, no ids, no words of the bank.

use contract::{Progress, ProgressKind, ProgressStep};
use payment::{JournalLine, StateName};
use store::{AttemptRecord, OperationRecord, Story};

use super::{is_awaited, rfc3339};

/// Most steps shown: the last ones.
const MAX_STEPS: usize = 20;

/// The steps so far, while the result is awaited.
pub(super) fn progress(state: StateName, story: &Story) -> Option<Progress> {
    let operation = &story.operation;
    let since = operation.first_sent_at.filter(|_| is_awaited(state))?;
    let sends = story.attempts.iter().filter(|attempt| attempt.operation == operation.id);
    let sends = sends.map(|attempt| (attempt.started_at, send(attempt, operation)));
    let turns = story.journal.iter().filter_map(|row| Some((row.line.at, turn(&row.line)?)));
    let mut steps: Vec<_> = sends.chain(turns).collect();
    // Of the same moment the send is first: it has led to the turn.
    steps.sort_by_key(|(at, _)| *at);
    let skipped = steps.len().saturating_sub(MAX_STEPS);
    let steps = steps.into_iter().skip(skipped);
    let unreached = state == StateName::Processing && nothing_got_through(story);
    Some(Progress {
        since: rfc3339(since),
        last_look_at: operation.looked_at.map(rfc3339),
        // While somebody is at it, the wake-up is the end of the lease and no look.
        next_look_at: operation.wake_at.filter(|_| operation.lease.is_none()).map(rfc3339),
        unreached_until: operation.execute_until.filter(|_| unreached).map(rfc3339),
        steps: steps.map(|(at, what)| ProgressStep { at: rfc3339(at), what }).collect(),
    })
}

/// Whether every send was turned away unread or never left, and none is on its way.
fn nothing_got_through(story: &Story) -> bool {
    let operation = &story.operation;
    let mut sends = story.attempts.iter().filter(|attempt| attempt.operation == operation.id);
    sends.all(|attempt| send(attempt, operation) == ProgressKind::NotExecuted)
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
