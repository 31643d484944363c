//! Each line of a journal begins where the last one ended, leads where its event may lead, and cites evidence.

use payment::{CheckoutStatus, JournalHash, JournalLine, StateName, Timestamp};
use store::{IntentRecord, Rows, Task};

use super::{Broken, Checker, broken, meaning::is_free};

const TERMINALS: [&str; 4] = ["succeeded", "declined", "canceled", "expired"];
/// Where an intent that was sent may be, and is not over.
const SENT: &[&str] = &["processing", "requires_action", "confirming", "authorized", "needs_review"];
/// And one that a copy has forgotten to have sent.
const OPEN: &[&str] =
    &["created", "processing", "requires_action", "confirming", "authorized", "needs_review"];

/// What may lead from where to where, and with what evidence. Written down here a second time: the code is not asked. No timer is among
/// what ends anything that was sent.
const WAYS: [(&[&str], &str, &[&str]); 19] = [
    (&["none"], "created", &["opened"]),
    (&["created"], "processing", &["submitted"]),
    (&["created"], "expired", &["expired"]),
    (&["created"], "canceled", &["replaced"]),
    (&["processing"], "confirming", &["unanswered", "taken_over"]),
    (&["processing"], "declined", &["rejected"]),
    (&["processing"], "canceled", &["execute_until_passed", "absent"]),
    (&["confirming"], "canceled", &["absent"]),
    (&["needs_review"], "canceled", &["absent", "judged_not_charged"]),
    (&["needs_review"], "succeeded", &["judged_charged"]),
    (SENT, "confirming", &["mismatched"]),
    (SENT, "needs_review", &["overdue", "stuck", "mismatched"]),
    // The provider's object leads on: not back to what waits for the shopper or the provider from what is held, or stands before a person.
    (&["created", "processing", "confirming"], "requires_action", &["observed"]),
    (&["created", "processing"], "confirming", &["observed"]),
    (OPEN, "authorized", &["observed"]),
    (OPEN, "succeeded", &["observed"]),
    (OPEN, "declined", &["observed"]),
    (OPEN, "canceled", &["observed"]),
    (OPEN, "expired", &["observed"]),
];

/// What was seen of an intent's journal.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) lines: i64,
    pub(super) last: JournalHash,
    pub(super) state: &'static str,
}

/// The name of a state as the code knows it; of one that it does not know, nothing.
pub(super) fn known(state: &str) -> &'static str {
    StateName::ALL.iter().map(|name| name.as_str()).find(|name| *name == state).unwrap_or("unknown")
}

impl Checker {
    /// 8, 9: each new line begins where the last one ended, and leads where its event may lead.
    pub(super) fn check_journal(
        &mut self,
        rows: &Rows,
        intent: &IntentRecord,
        real: Timestamp,
    ) -> Result<(), Broken> {
        let read = self.journals.get(&intent.id).copied();
        if read.is_none() {
            self.whose.insert(intent.id, intent.tenant.clone());
        }
        let from = read.map_or(1, |read| read.lines);
        let key = |seq| (intent.tenant.clone(), intent.id, seq);
        let mut lines = rows.journal.range(key(from)..=key(i64::MAX));
        let mut last = JournalHash::GENESIS;
        let mut count = 0;
        let mut at = "none";
        if let Some(read) = read {
            let kept = lines.next();
            must!(
                9,
                kept.is_some_and(|row| row.hash == read.last),
                "the journal of {} was rewritten",
                intent.id
            );
            if let Some(row) = kept {
                (last, count, at) = (row.hash, row.line.seq, read.state);
            }
        }
        for row in lines {
            let line = &row.line;
            must!(
                9,
                line.seq == count + 1 && row.hash == line.chained_to(last),
                "a line is missing: {line:?}"
            );
            (last, count) = (row.hash, line.seq);
            self.check_line(rows, intent, line, at)?;
            if line.event == "submitted" {
                self.submitted.entry(intent.id).or_insert(real);
            }
            if line.event == "absent" {
                self.check_token_is_dead(rows, intent, real)?;
            }
            // A capture, cancel or refund has states of its own.
            if !line.event.contains('.') {
                at = known(&line.to);
            }
        }
        let state = intent.state.name().as_str();
        must!(9, at == state, "{} is {state}, and its journal ends with {at}", intent.id);
        self.journals.insert(intent.id, Read { lines: count.max(1), last, state });
        Ok(())
    }

    /// 8: whatever clocks show, nothing is absent while a card token that was sent may live. It lives from before its submit.
    fn check_token_is_dead(&self, rows: &Rows, intent: &IntentRecord, real: Timestamp) -> Result<(), Broken> {
        let mut operations = rows.operations.values();
        let pays = operations.find(|row| row.intent == intent.id && row.task == Task::Pay);
        let left = pays.and_then(|row| self.left.get(&row.provider_key));
        let submitted = self.submitted.get(&intent.id);
        let waited_ms = left.map(|left| real.since_ms(submitted.map_or(*left, |at| *left.min(at))));
        let dead = waited_ms.is_none_or(|ms| ms >= self.periods.token_life_ms);
        must!(8, dead, "{} is absent {waited_ms:?} ms after its submit", intent.id);
        Ok(())
    }

    fn check_line(
        &self,
        rows: &Rows,
        intent: &IntentRecord,
        line: &JournalLine,
        at: &str,
    ) -> Result<(), Broken> {
        if line.event.contains('.') {
            return Ok(());
        }
        must!(9, line.from == at, "{line:?} begins elsewhere than at {at}");
        must!(8, !line.evidence.is_empty(), "{line:?} cites nothing");
        if line.from != line.to {
            must!(9, !TERMINALS.contains(&line.from.as_str()), "a terminal is left: {line:?}");
            let may = |(from, to, events): &(&[&str], &str, &[&str])| {
                from.contains(&line.from.as_str()) && *to == line.to && events.contains(&line.event.as_str())
            };
            must!(8, WAYS.iter().any(may), "nothing leads there: {line:?}");
        }
        if line.from == "none" || line.from == "created" && line.to == "processing" {
            let checkout = rows.checkouts.values().find(|checkout| checkout.id == intent.checkout);
            let open = checkout.is_some_and(|checkout| checkout.status == CheckoutStatus::Open);
            must!(10, open, "{} is {} on a checkout that is not open", intent.id, line.to);
            let in_time = checkout.is_some_and(|checkout| line.at < checkout.expires_at);
            must!(10, in_time, "{} is {} after the checkout's time", intent.id, line.to);
            let earlier = rows.intents.values().filter(|other| other.checkout == intent.checkout);
            let free =
                earlier.filter(|other| other.number < intent.number).all(|other| is_free(&other.state));
            must!(6, free, "{} is {} while an earlier one is not over", intent.id, line.to);
        }
        Ok(())
    }
}
