//! What must be true of every history: read from the journal and the rows, the bank's ledger, and what the receivers got. The engine is
//! not asked. The numbers are those of docs/proof.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use payment::{
    AttemptId, CanceledReason, CheckoutId, CheckoutStatus, EffectId, EffectSubject, IntentId, JournalHash,
    JournalLine, KeyKind, Money, ObjectId, OperationId, OperationKind, ProviderKey, Stance, State, StateName,
    Timestamp,
};
use store::{
    Answer, ChargeRecord, EffectRecord, EffectState, IntentRecord, KeyUse, Lease, NoticeAbout, NoticeState,
    OperationRecord, Rows, Stage, StrangerRecord, Task,
};

use crate::{
    bank::{Bank, Object, Status, TOKEN_LIFE_MS},
    desk::{Message, Request},
    time::{DAY, HOUR},
    wire,
    world::{EXECUTE_MS, LISTING_GAP_MS},
};

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its number.
    pub invariant: u8,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "invariant {}: {}", self.invariant, self.found)
    }
}

impl std::error::Error for Broken {}

fn broken(invariant: u8, found: impl Into<String>) -> Result<(), Broken> {
    Err(Broken { invariant, found: found.into() })
}

/// Where `holds` is false, the invariant is broken.
macro_rules! must {
    ($invariant:literal, $holds:expr, $($found:tt)+) => {
        if !$holds {
            return broken($invariant, format!($($found)+));
        }
    };
}

/// What is refused for so long is given up, ms.
const GIVES_UP_MS: i64 = 3 * DAY;
/// Nothing unfinished sleeps for longer, ms.
const LONGEST_SLEEP_MS: i64 = DAY + HOUR;
const TERMINALS: [&str; 4] = ["succeeded", "declined", "canceled", "expired"];

/// What may lead from where to where, and with what evidence. Written down here a second time: the code is not asked. No timer is among
/// what ends anything that was sent.
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
    ("any", "needs_review", &["overdue", "stuck"]),
    // Wherever it is not over, the provider's object may lead anywhere but back.
    ("any", "any", &["observed"]),
];

/// What was seen of an intent's journal.
#[derive(Clone, Copy)]
struct Read {
    lines: i64,
    last: JournalHash,
    state: &'static str,
}

/// What was seen of an operation.
#[derive(Clone, Copy)]
struct Seen {
    fence: i64,
    lease: Option<Lease>,
    stage: Stage,
}

/// The name of a state as the code knows it; of one that it does not know, nothing.
fn known(state: &str) -> &'static str {
    StateName::ALL.iter().map(|name| name.as_str()).find(|name| *name == state).unwrap_or("unknown")
}

/// What the checker remembers of a history: what cannot be read from the rows of one moment.
#[derive(Clone, Default)]
pub struct Checker {
    journals: BTreeMap<IntentId, Read>,
    claims: BTreeMap<OperationId, Seen>,
    /// Sends whose answer is written down.
    answered: BTreeSet<AttemptId>,
    /// Effects that were given up.
    given_up: BTreeSet<EffectId>,
    /// The first answer to each key.
    answers: BTreeMap<(&'static str, String), Answer>,
    /// The bytes and the account that each provider key first came with.
    sent: BTreeMap<ProviderKey, Request>,
    /// Notifications that were answered 2xx.
    accepted: Vec<String>,
    /// What the receivers got.
    pub received: Vec<Message>,
    /// Whether the merchant ever took another account: what others take in one that he left is none of ours.
    pub moved: bool,
    /// Whether a person spoke while things still went wrong, perhaps before the bank could be asked.
    pub hasty: bool,
    /// When the rows became an older copy of themselves, last.
    restored: Option<Timestamp>,
}

impl Checker {
    /// When the rows became an older copy of themselves.
    pub fn restored_at(&self) -> Option<Timestamp> {
        self.restored
    }

    /// The rows are those of a backup from now on.
    pub fn restored(&mut self, rows: &Rows, now: Timestamp) -> Result<(), Broken> {
        self.restored = Some(now);
        self.journals.clear();
        self.claims.clear();
        self.answers.clear();
        self.answered =
            rows.attempts.values().filter(|row| row.outcome.is_some()).map(|row| row.id).collect();
        self.given_up.clear();
        self.accepted.clear();
        self.sent.clear();
        for ((_, intent, _), row) in rows.journal.iter() {
            let read = self.journals.get(intent).map_or("none", |read| read.state);
            let state = if row.line.event.contains('.') { read } else { known(&row.line.to) };
            self.journals.insert(*intent, Read { lines: row.line.seq, last: row.hash, state });
        }
        self.after_a_write(rows, now)
    }

    /// What holds at any moment: 6, 9, 10, 11, 15, 17.
    pub fn after_a_write(&mut self, rows: &Rows, now: Timestamp) -> Result<(), Broken> {
        for checkout in rows.checkouts.values() {
            let mut occupying = 0;
            let mut numbers = 0;
            for intent in rows.intents.values().filter(|intent| intent.checkout == checkout.id) {
                occupying += usize::from(intent.state.stance() != Stance::Free);
                numbers = numbers.max(intent.number);
            }
            must!(10, occupying <= 1, "{occupying} intents occupy {}", checkout.order);
            let charged = rows.charges.values().any(|charge| charge.checkout == checkout.id);
            let paid = checkout.status == CheckoutStatus::Paid;
            must!(1, paid == charged, "{} is {:?}, and charged: {charged}", checkout.order, checkout.status);
        }
        for intent in rows.intents.values() {
            self.check_journal(rows, intent)?;
        }
        for key in rows.keys.values().filter(|row| row.key.kind == KeyKind::Submit && row.answer.is_some()) {
            let intent = rows.intents.values().find(|intent| intent.id == key.intent);
            let over = intent.is_some_and(|intent| intent.state.is_terminal());
            must!(12, over, "a final answer is kept for {}, which is not over", key.intent);
        }
        for operation in rows.operations.values() {
            self.check_operation(rows, operation, now)?;
        }
        self.check_attempts(rows)?;
        self.check_giving_up(rows, now)?;
        for charge in rows.charges.values() {
            self.check_refunds_of(rows, charge)?;
            let given_back = charge.reserved_minor + charge.refunded_minor;
            let fits = charge.reserved_minor >= 0
                && charge.refunded_minor >= 0
                && given_back <= charge.amount.minor();
            must!(15, fits, "{given_back} of {} are given back", charge.amount.minor());
        }
        Ok(())
    }

    /// 15: what is under way is reserved, and of one payment one refund is under way at most.
    fn check_refunds_of(&self, rows: &Rows, charge: &ChargeRecord) -> Result<(), Broken> {
        let (mut under_way, mut reserved) = (0, 0);
        for operation in rows.operations.values() {
            let Task::FollowUp(refund) = &operation.task else { continue };
            let is_refund = refund.kind == OperationKind::Refund && refund.target == charge.object;
            if is_refund && operation.stage != Stage::Done {
                under_way += 1;
                reserved += refund.amount.map_or(0, Money::minor);
            }
        }
        must!(15, under_way <= 1, "{under_way} refunds of {} are under way", charge.object);
        let enough = charge.reserved_minor >= reserved;
        must!(
            15,
            enough,
            "{} of {} are reserved, {reserved} under way",
            charge.reserved_minor,
            charge.object
        );
        Ok(())
    }

    /// 8, 9: each new line begins where the last one ended, and leads where its event may lead.
    fn check_journal(&mut self, rows: &Rows, intent: &IntentRecord) -> Result<(), Broken> {
        let read = self.journals.get(&intent.id).copied();
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
            let is = |named: &str, state: &str| named == state || named == "any";
            let may = |(from, to, events): &(&str, &str, &[&str])| {
                is(from, &line.from) && is(to, &line.to) && events.contains(&line.event.as_str())
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
            let free = earlier
                .filter(|other| other.number < intent.number)
                .all(|other| other.state.stance() == Stance::Free);
            must!(6, free, "{} is {} while an earlier one is not over", intent.id, line.to);
        }
        Ok(())
    }

    /// 11: an answer is written down by whoever holds the claim of its send.
    fn check_attempts(&mut self, rows: &Rows) -> Result<(), Broken> {
        for attempt in rows.attempts.values().filter(|attempt| attempt.outcome.is_some()) {
            if !self.answered.insert(attempt.id) {
                continue;
            }
            let operation = rows.operations.values().find(|operation| operation.id == attempt.operation);
            let held = operation.is_some_and(|operation| operation.fence == attempt.fence);
            must!(11, held, "an answer to {} is written under an old fence", attempt.operation);
        }
        Ok(())
    }

    /// 14: nothing is given up before its receiver had days to take it.
    fn check_giving_up(&mut self, rows: &Rows, now: Timestamp) -> Result<(), Broken> {
        for effect in rows.effects.values().filter(|effect| effect.state == EffectState::Abandoned) {
            if self.given_up.insert(effect.id) {
                let tried_ms = effect.first_tried_at.map_or(0, |at| now.since_ms(at));
                must!(14, tried_ms >= GIVES_UP_MS, "{:?} is given up after {tried_ms} ms", effect.kind);
            }
        }
        Ok(())
    }

    /// 11, 17: fences rise, nobody takes what another holds, and what waits has somebody who looks.
    fn check_operation(
        &mut self,
        rows: &Rows,
        operation: &OperationRecord,
        now: Timestamp,
    ) -> Result<(), Broken> {
        let OperationRecord { fence, lease, stage, .. } = *operation;
        if let Some(seen) = self.claims.insert(operation.id, Seen { fence, lease, stage }) {
            must!(11, fence >= seen.fence, "the fence of {} fell to {fence}", operation.id);
            // A look at what was never submitted yields to the submit.
            let held = seen.lease.is_some_and(|lease| lease.until > now) && seen.stage != Stage::Created;
            let taken = fence > seen.fence && lease.is_some();
            must!(11, !(held && taken), "{} was claimed while another held it", operation.id);
        }
        let awaited = matches!(operation.stage, Stage::Open | Stage::Review);
        must!(
            17,
            operation.wake_at.is_some() == awaited,
            "{} is {:?}, and somebody looks: {:?}",
            operation.id,
            operation.stage,
            operation.wake_at
        );
        let soon = operation.wake_at.is_none_or(|at| at.since_ms(now) <= LONGEST_SLEEP_MS);
        must!(17, soon, "{} sleeps until {:?}", operation.id, operation.wake_at);
        if let Task::Pay = operation.task {
            let intent = rows.intents.values().find(|intent| intent.id == operation.intent);
            let stage = intent.map(|intent| Stage::of(intent.state.name()));
            must!(9, stage == Some(operation.stage), "{} is {:?}", operation.id, operation.stage);
        }
        Ok(())
    }

    /// 4, 5, 7: what arrives was written down before, comes with one key, one body, one account, and left in time.
    pub fn on_arrival(&mut self, rows: &Rows, request: &Request) -> Result<(), Broken> {
        if self.restored.is_some_and(|at| request.left_ms <= at.0) {
            // Written down in what is gone.
            return Ok(());
        }
        if let Some(first) = self.sent.get(&request.key) {
            let same =
                first.body == request.body && first.account == request.account && first.path == request.path;
            must!(5, same, "two requests with one key: {first:?}, {request:?}");
        } else {
            self.sent.insert(request.key, request.clone());
        }
        let operation = rows.operations.values().find(|operation| operation.provider_key == request.key);
        let Some(operation) = operation else {
            // A copy of before may not know it any more.
            must!(4, self.restored.is_some(), "nobody wrote down what arrives: {request:?}");
            return Ok(());
        };
        must!(4, operation.frozen.is_some() || self.restored.is_some(), "{} is not frozen", operation.id);
        let attempt = rows
            .attempts
            .values()
            .filter(|attempt| attempt.operation == operation.id)
            .max_by_key(|row| row.number);
        let attempted = attempt.is_some();
        if let (Task::Pay, Some(attempt)) = (&operation.task, attempt) {
            let intent = rows.intents.values().find(|intent| intent.id == operation.intent);
            let checkout =
                intent.and_then(|intent| rows.checkouts.values().find(|row| row.id == intent.checkout));
            let order = checkout.map(|checkout| &checkout.order);
            let others = |stranger: &&StrangerRecord| {
                let names = order.is_some() && stranger.order.as_ref() == order;
                names
                    && stranger.took_money
                    && stranger.resolution.is_none()
                    && stranger.found_at < attempt.started_at
            };
            let other = rows.strangers.values().find(others);
            must!(
                10,
                other.is_none(),
                "{} is sent for an order that somebody else paid: {other:?}",
                operation.id
            );
        }
        must!(4, attempted || self.restored.is_some(), "no attempt of {} is written", operation.id);
        let in_time = operation.execute_until.is_some_and(|until| request.left_ms < until.0);
        must!(7, in_time || self.restored.is_some(), "{} left after its execute-until", operation.id);
        if let Task::Pay = operation.task {
            let mut lines = rows.journal.iter().filter(|((_, intent, _), _)| *intent == operation.intent);
            let submitted = lines.find(|(_, row)| row.line.event == "submitted");
            let since_ms = submitted.map(|(_, row)| request.left_ms - row.line.at.0);
            let soon = since_ms.is_some_and(|ms| ms < EXECUTE_MS);
            must!(
                7,
                soon || self.restored.is_some(),
                "{} left {since_ms:?} ms after its submit",
                operation.id
            );
        }
        Ok(())
    }

    /// 2, 3, 12: a key's answers are one answer, and answer one request.
    pub fn on_answer(&mut self, rows: &Rows, key: &KeyUse, answer: &Answer) -> Result<(), Broken> {
        let mut kept = rows.keys.values();
        let first = kept.find(|row| row.key.kind == key.kind && row.key.key == key.key);
        let same = first.is_some_and(|first| first.key.fingerprint == key.fingerprint);
        must!(3, same, "{key:?} is answered as if it were {first:?}");
        let slot = (key.kind.as_str(), key.key.as_str().to_owned());
        match self.answers.get(&slot) {
            Some(first) => must!(12, first == answer, "{slot:?} was answered {first:?}, then {answer:?}"),
            None => {
                self.answers.insert(slot, answer.clone());
            }
        }
        Ok(())
    }

    /// 12: nobody hears of success before the money is there.
    pub fn on_success(&self, bank: &Bank, intent: IntentId) -> Result<(), Broken> {
        let taken = bank.objects.iter().any(|object| object.intent == Some(intent) && object.took_money);
        must!(12, taken, "{intent} is said to be paid");
        Ok(())
    }

    /// 13: what is acknowledged is written down.
    pub fn on_notice(&mut self, rows: &Rows, body: &[u8]) -> Result<(), Broken> {
        let Some(notice) = wire::read_notice(body) else { return Ok(()) };
        let identity = format!("{} {} {}", notice.event, notice.status, notice.object);
        let written = rows.inbox.values().any(|notice| notice.said.identity() == identity);
        must!(13, written, "`{identity}` was acknowledged, and is not written down");
        self.accepted.push(identity);
        Ok(())
    }

    /// 8: nobody is said to have asked for nothing before two listings, the second some time after the first, could show it.
    fn check_absence(&self, rows: &Rows, bank: &Bank) -> Result<(), Broken> {
        for ((_, intent, _), row) in rows.journal.iter().filter(|(_, row)| row.line.event == "absent") {
            let mut operations = rows.operations.values();
            let sent = operations
                .find(|operation| operation.intent == *intent && matches!(operation.task, Task::Pay));
            let Some(first_sent_at) = sent.and_then(|operation| operation.first_sent_at) else { continue };
            let listed = bank.listed.iter().filter(|at| **at <= row.line.at);
            let proving: Vec<_> = listed.filter(|at| at.since_ms(first_sent_at) >= TOKEN_LIFE_MS).collect();
            let apart = proving.first().zip(proving.last()).map(|(first, last)| last.since_ms(**first));
            must!(
                8,
                apart.is_some_and(|ms| ms >= LISTING_GAP_MS),
                "{intent} is absent by listings {apart:?} ms apart"
            );
        }
        Ok(())
    }

    /// What holds when all faults are over: 1, 8, 13, 14, 16, 17.
    pub fn at_the_end(&self, rows: &Rows, bank: &Bank, now: Timestamp) -> Result<(), Broken> {
        let fickle = bank.objects.iter().any(|object| object.fickle);
        for intent in rows.intents.values() {
            self.check_end_of(rows, bank, intent, fickle)?;
        }
        for operation in rows.operations.values() {
            let waits = operation.stage == Stage::Open && !waits_for_somebody(rows, operation);
            must!(17, !waits, "{} is still open at {now}: {operation:?}", operation.id);
        }
        self.check_absence(rows, bank)?;
        self.check_charges(rows, bank, fickle)?;
        self.check_objects(rows, bank)?;
        self.check_effects(rows)?;
        for notice in rows.inbox.values() {
            let waits = matches!(notice.state, NoticeState::Waiting { .. });
            must!(13, !waits, "a notification still waits: {notice:?}");
            // A refund that is done was told by the bank before.
            let payment = notice.said.about == NoticeAbout::Payment;
            let done = notice.state == NoticeState::Done && self.restored.is_none() && payment;
            let about = |(object, at): &(ObjectId, Timestamp)| {
                *object == notice.said.object && *at >= notice.received_at
            };
            must!(13, !done || bank.asked.iter().any(about), "nobody asked about {notice:?}");
        }
        for identity in &self.accepted {
            let kept = rows.inbox.values().any(|notice| notice.said.identity() == *identity);
            must!(13, kept, "`{identity}` is gone");
        }
        Ok(())
    }

    /// 8: what is said to be not executed has no object; what failed took no money.
    fn check_end_of(
        &self,
        rows: &Rows,
        bank: &Bank,
        intent: &IntentRecord,
        fickle: bool,
    ) -> Result<(), Broken> {
        let object = bank.objects.iter().find(|object| object.intent == Some(intent.id));
        let unsent = matches!(
            intent.state,
            State::Canceled { reason: CanceledReason::NotExecuted | CanceledReason::Absent }
        );
        // Money of another sum is nobody's success: it stands before a person.
        let asked = object.is_some_and(|object| stands_before_a_person(rows, object));
        // A straggler may still make an object whose page nobody has the way to: it takes no money, and ends by itself.
        let harmless = object.is_none_or(|object| {
            object.fickle || !object.took_money && matches!(object.status, Status::Expired | Status::Pending)
        });
        must!(8, !unsent || harmless || asked, "{} was executed: {object:?}", intent.id);
        let ended_free = intent.state.is_terminal() && intent.state.stance() == Stance::Free;
        // What the bank took back before anybody asked is not there to be known.
        let took = object.is_some_and(|object| object.took_money && object.status == Status::Succeeded);
        must!(
            8,
            !(ended_free && took) || fickle || asked,
            "{} is {:?}, and took money",
            intent.id,
            intent.state
        );
        let charged = rows.charges.values().any(|charge| charge.intent == intent.id);
        must!(16, !took || charged || asked, "{} took money, and nobody wrote it down", intent.id);
        let succeeded = intent.state.name() == StateName::Succeeded;
        let judged = |event: &str| {
            let mut lines = rows.journal.iter().filter(|((_, of, _), _)| *of == intent.id);
            lines.any(|(_, row)| row.line.event == event)
        };
        let by = match &intent.state {
            State::Succeeded { object, .. } => bank.objects.iter().find(|other| other.id == *object),
            State::Created
            | State::Processing { .. }
            | State::RequiresAction { .. }
            | State::Confirming { .. }
            | State::Authorized { .. }
            | State::NeedsReview { .. }
            | State::Declined { .. }
            | State::Canceled { .. }
            | State::Expired { .. } => None,
        };
        let other_sum = by.is_some_and(|object| object.amount != intent.amount);
        must!(
            8,
            !(succeeded && other_sum) || judged("judged_charged"),
            "{} succeeded by {object:?}",
            intent.id
        );
        let told = object.is_some_and(|object| object.status == Status::Declined && !object.fickle);
        let known = told && self.restored.is_none() && !self.hasty;
        must!(
            17,
            !(known && judged("judged_not_charged")),
            "a person had to say what the bank says of {}",
            intent.id
        );
        let ever = by.is_some_and(|object| object.took_money);
        must!(1, !succeeded || ever, "{} succeeded, and took no money", intent.id);
        Ok(())
    }

    /// 1, 16: what is written down of charges is what the bank took.
    fn check_charges(&self, rows: &Rows, bank: &Bank, fickle: bool) -> Result<(), Broken> {
        for checkout in rows.checkouts.values() {
            let charges = rows.charges.values().filter(|charge| charge.checkout == checkout.id);
            let paying = charges.filter(|charge| !charge.extra).count();
            must!(1, paying <= 1, "{paying} charges pay {}", checkout.order);
            let taken =
                bank.objects.iter().filter(|object| object.took_money && object.order == checkout.order);
            let ours = taken.filter(|object| object.intent.is_some()).count();
            must!(1, ours <= 1 || fickle, "{} was charged {ours} times", checkout.order);
        }
        for charge in rows.charges.values() {
            let object = bank.objects.iter().find(|object| object.id == charge.object);
            let same = object.is_some_and(|object| object.took_money && object.amount == charge.amount);
            must!(16, same, "{charge:?} is not what the bank has: {object:?}");
            let flagged = rows
                .journal
                .iter()
                .any(|((_, intent, _), row)| *intent == charge.intent && row.line.event == "anomaly");
            must!(1, !charge.extra || flagged, "an extra nobody is told of: {charge:?}");
            let returned = bank.returned(&charge.object);
            must!(15, returned <= charge.amount.minor(), "{returned} were given back of {charge:?}");
            let written = charge.refunded_minor + charge.reserved_minor;
            must!(
                15,
                returned <= written || self.restored.is_some(),
                "{returned} were given back, {written} written down"
            );
        }
        Ok(())
    }

    /// 16: what took money is a charge, or stands before a person.
    fn check_objects(&self, rows: &Rows, bank: &Bank) -> Result<(), Broken> {
        // What came back to life long after its end is known only where its intent is: not somebody else's payment, nor one that a
        // restored copy has forgotten.
        let known = |intent: IntentId| rows.intents.values().any(|row| row.id == intent);
        let ours = |object: &&Object| match object.intent {
            Some(intent) => known(intent) || !object.fickle,
            None => !(object.fickle || self.moved),
        };
        for object in bank.objects.iter().filter(ours).filter(|object| object.status == Status::Succeeded) {
            let charged = rows.charges.values().any(|charge| charge.object == object.id);
            let stranger = rows.strangers.values().any(|stranger| stranger.object == object.id);
            let asked = stands_before_a_person(rows, object);
            must!(16, charged || stranger || asked, "nobody knows of {object:?}");
        }
        // What waits for a shopper takes no money before somebody has the way to its page, and only what is known has one.
        let alive = |status: Status| matches!(status, Status::Slow | Status::Held);
        for object in bank.objects.iter().filter(|object| alive(object.status)) {
            let linked =
                rows.operations.values().any(|operation| operation.object.as_ref() == Some(&object.id));
            let word = format!("object {} ", object.id);
            let known = linked || rows.journal.values().any(|row| row.line.evidence.contains(&word));
            must!(16, known || self.restored.is_some(), "nobody knows of {object:?}");
        }
        Ok(())
    }

    /// 14: one effect a subject, exactly if its transition was committed; its receiver got it under one id.
    fn check_effects(&self, rows: &Rows) -> Result<(), Broken> {
        for checkout in rows.checkouts.values() {
            let subject = EffectSubject::Checkout(checkout.id);
            let of_it = rows.effects.values().filter(|effect| effect.subject == subject);
            let told = of_it.filter(|effect| effect.kind == payment::EffectKind::CheckoutPaid).count();
            let paid = checkout.status == CheckoutStatus::Paid;
            must!(14, told == usize::from(paid), "{} is paid: {paid}, and told {told} times", checkout.order);
            let mut ids: Vec<EffectId> = self.ids_told(checkout.id);
            ids.sort_unstable();
            ids.dedup();
            must!(
                14,
                ids.len() <= 1 || self.restored.is_some(),
                "{} came under several ids: {ids:?}",
                checkout.order
            );
        }
        for effect in rows.effects.values() {
            let got = self.received.iter().filter(|message| message.id == effect.id).count();
            let delivered = effect.state == EffectState::Delivered;
            must!(14, !delivered || got > 0, "{:?} is said to be delivered", effect.kind);
            let mail = effect.kind.channel() == payment::Channel::Mail;
            must!(
                14,
                !mail || got <= 1 || self.restored.is_some(),
                "the mail {:?} came {got} times",
                effect.kind
            );
            let waits = effect.state == EffectState::Waiting && !waits_for_people(rows, effect);
            must!(14, !waits, "{:?} still waits", effect.kind);
        }
        Ok(())
    }

    fn ids_told(&self, checkout: CheckoutId) -> Vec<EffectId> {
        let of_it = self.received.iter().filter(|message| message.checkout == checkout);
        of_it
            .filter(|message| message.kind == payment::EffectKind::CheckoutPaid)
            .map(|message| message.id)
            .collect()
    }
}

/// Whether money stands before a person: as a stranger's, or as a payment's that is not what was asked for.
fn stands_before_a_person(rows: &Rows, object: &Object) -> bool {
    let stranger = rows.strangers.values().any(|stranger| stranger.object == object.id);
    let mut operations = rows.operations.values();
    stranger
        || operations
            .any(|operation| Some(operation.intent) == object.intent && operation.stage == Stage::Review)
}

/// Whether an open operation waits for the shopper or for a capture, not for us.
fn waits_for_somebody(rows: &Rows, operation: &OperationRecord) -> bool {
    let intent = rows.intents.values().find(|intent| intent.id == operation.intent);
    let state = intent.map(|intent| intent.state.name());
    matches!(state, Some(StateName::RequiresAction | StateName::Authorized))
        && matches!(operation.task, Task::Pay)
}

/// Whether an effect waits for people: nobody is told anything of an order before somebody has said whose the money is that names it,
/// nor how one try ended while the next is under way.
pub(crate) fn waits_for_people(rows: &Rows, effect: &EffectRecord) -> bool {
    let intent = rows.intents.values().find(|row| row.id == effect.intent);
    let checkout = intent.and_then(|intent| rows.checkouts.values().find(|row| row.id == intent.checkout));
    let Some(checkout) = checkout else { return false };
    let mut strangers = rows.strangers.values();
    let strange = strangers
        .any(|stranger| stranger.resolution.is_none() && stranger.order.as_ref() == Some(&checkout.order));
    let mut intents = rows.intents.values();
    strange || intents.any(|row| row.checkout == checkout.id && row.state.stance() == Stance::Occupying)
}
