//! What must be true when all faults are over and nothing waits but people.

use payment::{
    CanceledReason, CheckoutId, CheckoutStatus, EffectId, EffectSubject, IntentId, ObjectId, State,
    StateName, Timestamp,
};
use store::{
    ChargeRecord, EffectState, Fate, IntentRecord, NoticeAbout, NoticeState, OperationRecord, Rows, Stage,
    StrangerRecord, Task,
};

use super::{
    Broken, Checker, broken,
    meaning::{is_free, is_mail, went_back},
    waits_for_people,
};
use crate::{
    bank::{Bank, Object, Status},
    desk::Message,
    world::LEASE_MS,
};

impl Checker {
    /// What holds when all faults are over: 1, 8, 13, 14, 16, 17.
    pub fn at_the_end(&self, rows: &Rows, bank: &Bank, now: Timestamp) -> Result<(), Broken> {
        for intent in rows.intents.values() {
            let mut of_it = bank.objects.iter().filter(|object| object.intent == Some(intent.id));
            self.check_end_of(rows, bank, intent, of_it.any(|object| object.fickle))?;
        }
        for operation in rows.operations.values() {
            let waits = operation.stage == Stage::Open && !waits_for_somebody(rows, operation);
            must!(17, !waits, "{} is still open at {now}: {operation:?}", operation.id);
        }
        check_operations(bank)?;
        self.check_absence(rows, bank)?;
        self.check_charges(rows, bank)?;
        self.check_objects(rows, bank)?;
        self.check_let_go(rows, bank)?;
        self.check_effects(rows)?;
        for notice in rows.inbox.values() {
            let waits = matches!(notice.state, NoticeState::Waiting { .. });
            must!(13, !waits, "a notification still waits: {notice:?}");
            // A refund that is done was told by the bank before.
            let payment = notice.said.about == NoticeAbout::Payment;
            let after = self.restored.is_none_or(|at| notice.received_at > at);
            let told = after && self.set.is_none() && payment;
            let done = notice.state == NoticeState::Done && told;
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

    /// 8: nobody is said to have asked for nothing before two listings of the account that was asked, the second some time after the
    /// first, could show it.
    fn check_absence(&self, rows: &Rows, bank: &Bank) -> Result<(), Broken> {
        for ((_, intent, _), row) in rows.journal.iter().filter(|(_, row)| row.line.event == "absent") {
            let mut operations = rows.operations.values();
            let sent = operations
                .find(|operation| operation.intent == *intent && matches!(operation.task, Task::Pay));
            let Some((first_sent_at, frozen)) =
                sent.and_then(|operation| operation.first_sent_at.zip(operation.frozen.as_ref()))
            else {
                continue;
            };
            if self.was_set_since(*intent) {
                continue;
            }
            let listed = bank.listed.iter().filter(|(account, _)| account == frozen.account.as_str());
            let listed = listed.map(|(_, at)| *at).filter(|at| *at <= row.line.at);
            let proving: Vec<_> =
                listed.filter(|at| at.since_ms(first_sent_at) >= self.periods.token_life_ms).collect();
            let apart = proving.first().zip(proving.last()).map(|(first, last)| last.since_ms(*first));
            must!(
                8,
                apart.is_some_and(|ms| ms >= self.periods.listing_gap_ms),
                "{intent} is absent by listings {apart:?} ms apart"
            );
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
            object.fickle
                || !object.took_money() && matches!(object.status, Status::Expired | Status::Pending)
        });
        must!(8, !unsent || harmless || asked, "{} was executed: {object:?}", intent.id);
        let ended_free = is_free(&intent.state);
        // What the bank took back before anybody asked is not there to be known; nor is what was given back anybody's money.
        let kept = |object: &Object| object.status == Status::Succeeded && !bank.gave_all_back(object);
        let took = object.is_some_and(|object| object.took_money() && kept(object));
        let journaled = |event: &str| {
            let mut lines = rows.journal.iter().filter(|((_, of, _), _)| *of == intent.id);
            lines.any(|(_, row)| row.line.event == event)
        };
        // A request repeated after its key's life makes a second object, and a restored copy has forgotten the first: by the one that
        // it hears of first the intent ends. The other's money pays the checkout none the less, and somebody is told.
        let twice = bank.objects.iter().filter(|object| object.intent == Some(intent.id)).count() > 1;
        let ended_by_another = twice && self.restored.is_some() && journaled("anomaly");
        must!(
            8,
            !(ended_free && took) || fickle || asked || ended_by_another,
            "{} is {:?}, and took money",
            intent.id,
            intent.state
        );
        let charged = rows.charges.values().any(|charge| charge.intent == intent.id);
        let known = charged || asked || object.is_some_and(|object| self.untold.contains(&object.id));
        must!(16, !took || known, "{} took money, and nobody wrote it down", intent.id);
        let succeeded = intent.state.name() == StateName::Succeeded;
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
            !(succeeded && other_sum) || journaled("judged_charged"),
            "{} succeeded by {object:?}",
            intent.id
        );
        let told = object.is_some_and(|object| object.status == Status::Declined && !object.fickle);
        let known = told && self.restored.is_none() && !self.hasty.contains(&intent.id.to_string());
        must!(
            17,
            !(known && journaled("judged_not_charged")),
            "a person had to say what the bank says of {}",
            intent.id
        );
        let ever = by.is_some_and(|object| object.took_money());
        must!(1, !succeeded || ever, "{} succeeded, and took no money", intent.id);
        Ok(())
    }

    /// 1, 16: what is written down of charges is what the bank took.
    fn check_charges(&self, rows: &Rows, bank: &Bank) -> Result<(), Broken> {
        for checkout in rows.checkouts.values() {
            let charges = || rows.charges.values().filter(|charge| charge.checkout == checkout.id);
            let paying = charges().filter(|charge| !charge.extra).count();
            must!(1, paying <= 1, "{paying} charges pay {}", checkout.order);
            let kept = charges().filter(|charge| charge.fate == Some(Fate::Kept)).count();
            let by_first = charges().any(|charge| !charge.extra && !went_back(charge));
            must!(
                1,
                kept == 0 || kept == 1 && !by_first,
                "{kept} extras pay {}, beside its first charge: {by_first}",
                checkout.order
            );
            let taken =
                bank.objects.iter().filter(|object| object.took_money() && object.order == checkout.order);
            let of_it = |intent: IntentId| self.whose.get(&intent) == Some(&checkout.tenant);
            let taken = taken.filter(|object| !is_let_go(rows, bank, object));
            // What the bank changed its mind about took money in the place of another, or made room for one.
            let ours = taken.filter(|object| object.intent.is_some_and(of_it) && !object.fickle).count();
            must!(1, ours <= 1, "{} was charged {ours} times", checkout.order);
        }
        for charge in rows.charges.values() {
            let object = bank.objects.iter().find(|object| object.id == charge.object);
            let same = object.is_some_and(|object| object.took_money() && object.amount == charge.amount);
            must!(16, same, "{charge:?} is not what the bank has: {object:?}");
            let flagged = rows
                .journal
                .iter()
                .any(|((_, intent, _), row)| *intent == charge.intent && row.line.event == "anomaly");
            must!(1, !charge.extra || flagged, "an extra nobody is told of: {charge:?}");
            self.check_paid_by(rows, bank, charge)?;
            self.check_replaced(rows, bank, charge)?;
            let returned = bank.returned(&charge.object);
            must!(15, returned <= charge.amount.minor(), "{returned} were given back of {charge:?}");
            let written = charge.refunded_minor + charge.reserved_minor;
            // Not what support gave back, nor what a restored copy has forgotten.
            let known = |id| rows.operations.values().any(|operation| operation.id == id);
            let of_it = bank.refunds.iter().filter(|refund| refund.payment == charge.object);
            let ours = of_it.filter(|refund| refund.operation.is_some_and(known));
            let ours: i64 = ours.map(|refund| refund.amount.minor()).sum();
            must!(15, ours <= written, "{ours} were given back of {charge:?}, {written} written down");
        }
        Ok(())
    }

    /// 16: what was given back in full before anybody was shown that it lay there pays nothing, unless a person said so.
    fn check_paid_by(&self, rows: &Rows, bank: &Bank, charge: &ChargeRecord) -> Result<(), Broken> {
        let object = bank.objects.iter().find(|object| object.id == charge.object);
        let gone = object.is_some_and(|object| bank.gave_all_back(object));
        let said = |event: &str| ["judged_charged", "stranger_linked"].contains(&event);
        let mut lines = rows.journal.iter();
        let word = lines.any(|((_, of, _), row)| *of == charge.intent && said(&row.line.event));
        must!(
            16,
            !gone || bank.shown_kept.contains(&charge.object) || word,
            "{charge:?} was given back before it was known"
        );
        Ok(())
    }

    /// 16: in whose place an extra pays, its money does not lie at the bank: else the shopper paid twice, and nobody is told. In an
    /// account that the merchant left nobody asks for it.
    fn check_replaced(&self, rows: &Rows, bank: &Bank, charge: &ChargeRecord) -> Result<(), Broken> {
        let beside = |row: &&ChargeRecord| row.checkout == charge.checkout && row.fate == Some(Fate::Kept);
        let replaced =
            charge.fate == Some(Fate::Returned) && rows.charges.values().filter(beside).count() > 0;
        let lies = |object: &&Object| {
            object.id == charge.object && object.status == Status::Succeeded && !bank.gave_all_back(object)
        };
        let lies = bank.objects.iter().find(lies);
        let own = rows.accounts.get(&charge.tenant).is_none_or(|own| *own == charge.account);
        must!(
            16,
            !replaced || lies.is_none() || !own,
            "an extra pays in the place of {lies:?}, which is there again"
        );
        Ok(())
    }

    /// 16: a stranger that stands before nobody any more took no money, or is a charge, or was let go of by somebody who was shown that it
    /// took money.
    fn check_let_go(&self, rows: &Rows, bank: &Bank) -> Result<(), Broken> {
        for stranger in rows.strangers.values() {
            let Some(resolution) = &stranger.resolution else { continue };
            let lies = |object: &&Object| {
                let there = object.status == Status::Succeeded && !bank.gave_all_back(object);
                object.id == stranger.object && there && !object.fickle
            };
            let Some(object) = bank.objects.iter().find(lies) else { continue };
            let charged = rows.charges.values().any(|charge| charge.object == stranger.object);
            let let_go = !resolution.linked && stranger.took_money && !stranger.untold;
            must!(
                16,
                charged || let_go,
                "{stranger:?} is resolved, and nobody knows that {object:?} took money"
            );
        }
        Ok(())
    }

    /// 16, 18: what took money is a charge, or stands before a person, who is its own merchant's.
    fn check_objects(&self, rows: &Rows, bank: &Bank) -> Result<(), Broken> {
        // What came back to life long after its end is known only where its intent is: not somebody else's payment, nor one that a
        // restored copy has forgotten.
        let known = |intent: IntentId| rows.intents.values().any(|row| row.id == intent);
        let ours = |object: &&Object| match object.intent {
            Some(intent) => known(intent) || !object.fickle,
            None => !object.fickle && self.was_own_at(object),
        };
        for object in bank.objects.iter().filter(ours).filter(|object| object.status == Status::Succeeded) {
            let charged = rows.charges.values().any(|charge| charge.object == object.id);
            let stranger = rows.strangers.values().any(|stranger| stranger.object == object.id);
            let asked = stands_before_a_person(rows, object) || self.untold.contains(&object.id);
            must!(
                16,
                charged || stranger || asked || is_let_go(rows, bank, object),
                "nobody knows of {object:?}"
            );
        }
        for object in bank.objects.iter().filter(|object| object.intent.is_none()) {
            let other = |row: &&StrangerRecord| {
                row.object == object.id && row.took_money && row.amount != object.amount
            };
            let other = rows.strangers.values().find(other);
            must!(16, other.is_none(), "{other:?} is not what the bank has: {object:?}");
        }
        for stranger in rows.strangers.values().filter(|stranger| stranger.resolution.is_none()) {
            let object = bank.objects.iter().find(|object| object.id == stranger.object);
            let intent = object.and_then(|object| object.intent);
            let others = |row: &&IntentRecord| Some(row.id) == intent && row.tenant != stranger.tenant;
            let other = rows.intents.values().find(others);
            must!(18, other.is_none(), "what is {other:?}'s stands before another merchant: {stranger:?}");
        }
        // What waits for a shopper takes no money before somebody has the way to its page, and only what is known has one.
        let alive = |status: Status| matches!(status, Status::Slow | Status::Held);
        for object in bank.objects.iter().filter(|object| alive(object.status)) {
            let linked =
                rows.operations.values().any(|operation| operation.object.as_ref() == Some(&object.id));
            let word = format!("object {} ", object.id);
            let stranger = rows.strangers.values().any(|stranger| stranger.object == object.id);
            let known =
                linked || stranger || rows.journal.values().any(|row| row.line.evidence.contains(&word));
            // A restored copy has forgotten it, or the request that made it was on its way then.
            let forgotten = self.restored.is_some_and(|at| object.made_at <= at.plus_ms(LEASE_MS));
            must!(16, known || forgotten, "nobody knows of {object:?}");
        }
        Ok(())
    }

    /// Whether the account of an object has been a merchant's own since before it was made.
    fn was_own_at(&self, object: &Object) -> bool {
        let mut own = self.own_since.iter();
        own.any(|(account, since)| account.as_str() == object.account && *since < object.made_at)
    }

    /// 14: one effect a subject, exactly if its transition was committed; its receiver got it under one id.
    fn check_effects(&self, rows: &Rows) -> Result<(), Broken> {
        for checkout in rows.checkouts.values() {
            let subject = EffectSubject::Checkout(checkout.id);
            let count = |kind| {
                let of_it = rows.effects.values().filter(|effect| effect.subject == subject);
                of_it.filter(|effect| effect.kind == kind).count()
            };
            let (told, receipts) =
                (count(payment::EffectKind::CheckoutPaid), count(payment::EffectKind::Receipt));
            let paid = checkout.status == CheckoutStatus::Paid;
            let once = told == usize::from(paid) && receipts == told;
            must!(
                14,
                once,
                "{} is paid: {paid}, and told {told} times, with {receipts} receipts",
                checkout.order
            );
            let mut ids: Vec<EffectId> = self.ids_told(checkout.id);
            ids.sort_unstable();
            ids.dedup();
            must!(14, ids.len() <= 1, "{} came under several ids: {ids:?}", checkout.order);
        }
        // What a restored copy has forgotten to have told, it tells again.
        let since = &self.received[self.received_before..];
        for message in since.iter().filter(|message| message.kind != payment::EffectKind::ResultKnown) {
            let mut charges = rows.charges.values().filter(|charge| charge.checkout == message.checkout);
            let same = charges.any(|charge| charge.amount == message.amount);
            must!(14, same, "{message:?} tells a sum that was not taken");
        }
        for effect in rows.effects.values() {
            let is_its = |message: &&Message| message.id == effect.id;
            let got = self.received.iter().filter(is_its).count();
            let got_since = since.iter().filter(is_its).count();
            let delivered = effect.state == EffectState::Delivered;
            must!(14, !delivered || got > 0, "{:?} is said to be delivered", effect.kind);
            let mail = is_mail(effect.kind);
            let over = matches!(effect.state, EffectState::Delivered | EffectState::Abandoned);
            must!(
                14,
                mail || over || effect.state == EffectState::Waiting,
                "the webhook {:?} ended as {:?}",
                effect.kind,
                effect.state
            );
            must!(14, !mail || got_since <= 1, "the mail {:?} came {got_since} times", effect.kind);
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

/// 1, 2: an operation has one key, whatever the bank forgot, or a restored copy.
fn check_operations(bank: &Bank) -> Result<(), Broken> {
    for (index, object) in bank.objects.iter().enumerate() {
        let same = |other: &&Object| other.intent.is_some() && other.intent == object.intent;
        for other in bank.objects[..index].iter().filter(same) {
            must!(1, other.key == object.key, "{other:?} and {object:?} have two keys");
        }
    }
    Ok(())
}

/// Whether a payment was given back in full, and a person was asked about it, who let its order be paid again.
fn is_let_go(rows: &Rows, bank: &Bank, object: &Object) -> bool {
    let judged = || {
        let mut lines = rows.journal.iter();
        lines.any(|((_, of, _), row)| Some(*of) == object.intent && row.line.event == "judged_not_charged")
    };
    let stranger = || rows.strangers.values().any(|stranger| stranger.object == object.id);
    bank.gave_all_back(object) && (judged() || stranger())
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
