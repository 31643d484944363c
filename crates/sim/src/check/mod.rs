//! What must be true of every history: read from the journal and the rows, the bank's ledger, and what the receivers got. The engine is
//! not asked. The numbers are those of docs/proof.md.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    hash::{Hash as _, Hasher},
};

use payment::{
    AttemptId, CheckoutStatus, EffectId, IntentId, KeyKind, Money, ObjectId, OperationId, OperationKind,
    ProviderAccount, ProviderKey, Timestamp,
};
use store::{
    Answer, ChargeRecord, EffectRecord, EffectState, Lease, OperationRecord, Rows, Stage, StrangerRecord,
    Task, Tenant, Tenure,
};

use crate::{
    desk::{Message, Request},
    periods::Periods,
    time::{DAY, HOUR, Time},
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

mod arrivals;
mod end;
mod journal;
mod meaning;

use journal::{Read, known};
use meaning::{is_free, is_over, stage as stage_of};

/// What is refused for so long is given up, ms.
const GIVES_UP_MS: i64 = 3 * DAY;
/// Nothing unfinished sleeps for longer, ms.
const LONGEST_SLEEP_MS: i64 = DAY + HOUR;

/// What was seen of an operation.
#[derive(Clone, Copy)]
struct Seen {
    fence: i64,
    lease: Option<Lease>,
    stage: Stage,
}

/// What the checker remembers of a history: what cannot be read from the rows of one moment.
#[derive(Clone, Default)]
pub struct Checker {
    /// How long things take.
    pub periods: Periods,
    journals: BTreeMap<IntentId, Read>,
    claims: BTreeMap<OperationId, Seen>,
    /// Sends whose answer is written down.
    answered: BTreeSet<AttemptId>,
    /// Effects that were given up.
    given_up: BTreeSet<EffectId>,
    /// The first answer to each key.
    answers: BTreeMap<(Tenant, &'static str, String), (IntentId, Answer)>,
    /// Whose each intent is or was: a restored copy may have forgotten it.
    whose: BTreeMap<IntentId, Tenant>,
    /// When the first byte with each provider key left, whatever a clock showed.
    left: BTreeMap<ProviderKey, Timestamp>,
    /// When each intent was submitted first, whatever a clock showed.
    submitted: BTreeMap<IntentId, Timestamp>,
    /// How many requests left with each provider key.
    sends: BTreeMap<ProviderKey, usize>,
    /// The bytes and the account that each provider key first came with.
    sent: BTreeMap<ProviderKey, Request>,
    /// Notifications that were answered 2xx.
    accepted: Vec<String>,
    /// What the receivers got.
    received: Vec<Message>,
    /// How many of them before the rows became an older copy of themselves, last.
    received_before: usize,
    /// Since when each account has been a merchant's own: what others do in one that is not, or was not yet, is none of ours.
    own_since: BTreeMap<ProviderAccount, Timestamp>,
    /// What a person spoke of while things still went wrong, perhaps before the bank could be asked.
    hasty: BTreeSet<String>,
    /// When somebody set the database's clock, last: what it showed before cannot be compared with what it shows now.
    pub set: Option<Timestamp>,
    /// When the rows became an older copy of themselves, last.
    restored: Option<Timestamp>,
    /// Payments that came back to life, older than what a restored copy reads, whose news only the rows that are gone had heard.
    untold: BTreeSet<ObjectId>,
}

impl Checker {
    pub(crate) fn new(periods: Periods) -> Self {
        Self { periods, ..Self::default() }
    }

    /// What a later check compares with, and neither the rows nor the ledger tell.
    pub(crate) fn digest(&self, hasher: &mut impl Hasher) {
        self.answers.hash(hasher);
        self.left.values().for_each(|at| at.hash(hasher));
        self.sent.values().for_each(|Request { account, path, body, key, .. }| {
            (&account.id, path, body, key).hash(hasher);
        });
    }

    /// When the rows became an older copy of themselves.
    pub fn restored_at(&self) -> Option<Timestamp> {
        self.restored
    }

    /// The rows are those of a backup from now on.
    pub fn restored(&mut self, rows: &Rows, time: &Time) -> Result<(), Broken> {
        self.restored = Some(time.real());
        self.received_before = self.received.len();
        self.journals.clear();
        self.claims.clear();
        self.answers.clear();
        self.answered =
            rows.attempts.values().filter(|row| row.outcome.is_some()).map(|row| row.id).collect();
        self.given_up.clear();
        self.accepted.clear();
        self.sent.clear();
        // What left before has no attempt in the copy; each that leaves from now on has one more than are there.
        self.sends.iter_mut().for_each(|(key, sends)| *sends = attempts_with(rows, *key));
        for ((_, intent, _), row) in rows.journal.iter() {
            let read = self.journals.get(intent).map_or("none", |read| read.state);
            let state = if row.line.event.contains('.') { read } else { known(&row.line.to) };
            self.journals.insert(*intent, Read { lines: row.line.seq, last: row.hash, state });
        }
        self.after_a_write(rows, time)
    }

    /// A receiver gets a message that left then. What left before the rows became an older copy of themselves, last, was told before.
    pub fn receives(&mut self, message: Message, left_at: Timestamp) {
        if self.restored.is_some_and(|at| left_at <= at) {
            self.received.insert(self.received_before, message);
            self.received_before += 1;
        } else {
            self.received.push(message);
        }
    }

    /// Whose an intent is or was.
    pub fn whose(&self, intent: IntentId) -> Option<Tenant> {
        self.whose.get(&intent).cloned()
    }

    /// What a restored copy cannot know: nobody announces this payment again, and the listing that it reads begins later.
    pub fn cannot_know(&mut self, object: &ObjectId) {
        self.untold.insert(object.clone());
    }

    /// A person speaks while things still go wrong.
    pub fn speaks_of(&mut self, id: &str) {
        self.hasty.insert(id.to_owned());
    }

    /// Whether somebody set the database's clock since an intent was submitted.
    fn was_set_since(&self, intent: IntentId) -> bool {
        let submitted_at = self.submitted.get(&intent);
        self.set.is_some_and(|set| submitted_at.is_none_or(|at| *at <= set))
    }

    /// This payment is announced again.
    pub fn can_know(&mut self, object: &ObjectId) {
        self.untold.remove(object);
    }

    /// 4: a request leaves, and an attempt that is its own was written down before.
    pub fn leaves(&mut self, rows: &Rows, request: &Request) -> Result<(), Broken> {
        self.left.entry(request.key).or_insert(request.left_at);
        let attempts = attempts_with(rows, request.key);
        let sends = self.sends.entry(request.key).or_default();
        *sends += 1;
        must!(4, attempts >= *sends, "{sends} requests left with one key, {attempts} attempts are written");
        Ok(())
    }

    /// What holds at any moment: 6, 8, 9, 10, 11, 15, 17.
    pub fn after_a_write(&mut self, rows: &Rows, time: &Time) -> Result<(), Broken> {
        let now = time.now();
        self.see_accounts(rows, time.real());
        for checkout in rows.checkouts.values() {
            let mut occupying = 0;
            let mut numbers = 0;
            for intent in rows.intents.values().filter(|intent| intent.checkout == checkout.id) {
                occupying += usize::from(!is_free(&intent.state));
                numbers = numbers.max(intent.number);
            }
            must!(10, occupying <= 1, "{occupying} intents occupy {}", checkout.order);
            let charged = rows.charges.values().any(|charge| charge.checkout == checkout.id);
            let paid = checkout.status == CheckoutStatus::Paid;
            must!(1, paid == charged, "{} is {:?}, and charged: {charged}", checkout.order, checkout.status);
        }
        for intent in rows.intents.values() {
            self.check_journal(rows, intent, time.real())?;
        }
        for key in rows.keys.values().filter(|row| row.key.kind == KeyKind::Submit && row.answer.is_some()) {
            let intent = rows.intents.values().find(|intent| intent.id == key.intent);
            let over = intent.is_some_and(|intent| is_over(&intent.state));
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

    /// Whose each account is, as it is written down.
    fn see_accounts(&mut self, rows: &Rows, real: Timestamp) {
        let own: Vec<_> = rows.sweeps.values().filter(|row| row.tenure == Tenure::Own).collect();
        self.own_since.retain(|account, _| own.iter().any(|row| row.account == *account));
        for row in own {
            if !self.own_since.contains_key(&row.account) {
                self.own_since.insert(row.account.clone(), real);
            }
        }
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
        must!(
            15,
            charge.reserved_minor == reserved,
            "{} of {} are reserved, {reserved} under way",
            charge.reserved_minor,
            charge.object
        );
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
            let claimed = seen.stage == Stage::Created && operation.task == Task::Pay;
            if let (true, Some(frozen)) =
                (claimed, operation.frozen.as_ref().filter(|of| !of.method.is_empty()))
            {
                let own = rows.accounts.get(&operation.tenant);
                let his = own.is_none_or(|own| *own == frozen.account);
                must!(10, his, "{} was claimed for an account that the merchant had left", operation.id);
            }
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
            let stage = intent.map(|intent| stage_of(&intent.state));
            must!(9, stage == Some(operation.stage), "{} is {:?}", operation.id, operation.stage);
        }
        Ok(())
    }
}

/// How many attempts are written down of the operation with this key.
fn attempts_with(rows: &Rows, key: ProviderKey) -> usize {
    let operation = rows.operations.values().find(|operation| operation.provider_key == key);
    let of_it = |operation: &OperationRecord| {
        rows.attempts.values().filter(|attempt| attempt.operation == operation.id).count()
    };
    operation.map_or(0, of_it)
}

/// Whether an effect waits for people: nobody is told anything of an order before somebody has said whose the money is that names it,
/// nor how one try ended while the next is under way.
pub(crate) fn waits_for_people(rows: &Rows, effect: &EffectRecord) -> bool {
    let intent = rows.intents.values().find(|row| row.id == effect.intent);
    let checkout = intent.and_then(|intent| rows.checkouts.values().find(|row| row.id == intent.checkout));
    let Some(checkout) = checkout else { return false };
    let names = |stranger: &StrangerRecord| {
        stranger.tenant == checkout.tenant && stranger.order.as_ref() == Some(&checkout.order)
    };
    let mut strangers = rows.strangers.values();
    let strange = strangers.any(|stranger| stranger.resolution.is_none() && names(stranger));
    let mut intents = rows.intents.values();
    strange || intents.any(|row| row.checkout == checkout.id && !is_over(&row.state))
}
