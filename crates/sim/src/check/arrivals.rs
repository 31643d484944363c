//! What must be true as something arrives at the bank, as an answer is given, and as a notification is acknowledged.

use engine::{CheckoutOutcome, IntentOutcome, SubmitOutcome};
use payment::{IntentId, OperationKind};
use store::{
    Answer, ChargeRecord, CheckoutRecord, Fate, Frozen, IntentRecord, KeyUse, OperationRecord, Rows,
    StrangerRecord, Task, Tenant,
};

use super::{Broken, Checker, broken};
use crate::{bank::Bank, desk::Request, task::Done, wire, world::LEASE_MS};

impl Checker {
    /// 4, 5, 7: what arrives was written down before, comes with one key, one body, one account, and left in time.
    pub fn on_arrival(&mut self, rows: &Rows, bank: &Bank, request: &Request) -> Result<(), Broken> {
        if self.restored.is_some_and(|at| request.left_at <= at) {
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
            return broken(4, format!("nobody wrote down what arrives: {request:?}"));
        };
        self.check_payer_of(rows, bank, operation, request)?;
        let goes_there =
            |frozen: &Frozen| frozen.account.as_str() == request.account.id && frozen.path == request.path;
        must!(
            4,
            operation.frozen.as_deref().is_some_and(goes_there),
            "{} is not frozen for {request:?}",
            operation.id
        );
        let attempt = rows
            .attempts
            .values()
            .filter(|attempt| attempt.operation == operation.id)
            .max_by_key(|row| row.number);
        // What a clock shows cannot be compared with what it showed before somebody set it.
        let set_since = match operation.task {
            Task::Pay => self.was_set_since(operation.intent),
            Task::FollowUp(_) => self.set.is_some(),
        };
        must!(4, attempt.is_some(), "no attempt of {} is written", operation.id);
        if let (Task::Pay, Some(attempt)) = (&operation.task, attempt) {
            let intent = rows.intents.values().find(|intent| intent.id == operation.intent);
            let checkout =
                intent.and_then(|intent| rows.checkouts.values().find(|row| row.id == intent.checkout));
            let order = checkout.map(|checkout| &checkout.order);
            let others = |stranger: &&StrangerRecord| {
                let own = checkout.is_some_and(|checkout| checkout.tenant == stranger.tenant);
                let names = own && stranger.order.as_ref() == order;
                names && stranger.resolution.is_none() && stranger.found_at < attempt.started_at
            };
            let other = rows.strangers.values().find(others);
            must!(
                10,
                other.is_none() || set_since,
                "{} is sent for an order that somebody else paid: {other:?}",
                operation.id
            );
        }
        let in_time = operation.execute_until.is_some_and(|until| request.dated_at < until);
        must!(7, in_time || set_since, "{} left after its execute-until", operation.id);
        if let Task::Pay = operation.task {
            let mut lines = rows.journal.iter().filter(|((_, intent, _), _)| *intent == operation.intent);
            let submitted = lines.find(|(_, row)| row.line.event == "submitted");
            let since_ms = submitted.map(|(_, row)| request.dated_at.since_ms(row.line.at));
            let soon = since_ms.is_some_and(|ms| ms < self.periods.execute_ms);
            must!(7, soon || set_since, "{} left {since_ms:?} ms after its submit", operation.id);
        }
        Ok(())
    }

    /// 15: an extra is given back by us only while the money that paid its order lies at the bank, or lay there a moment before the
    /// request left.
    fn check_payer_of(
        &self,
        rows: &Rows,
        bank: &Bank,
        operation: &OperationRecord,
        request: &Request,
    ) -> Result<(), Broken> {
        let Task::FollowUp(refund) = &operation.task else { return Ok(()) };
        let account = &request.account.id;
        let charge = |row: &&ChargeRecord| row.object == refund.target && row.account.as_str() == account;
        // One that a person let pay is no extra any more.
        let kept = |row: &ChargeRecord| row.fate == Some(Fate::Kept);
        let extra = rows.charges.values().find(charge).filter(|row| row.extra && !kept(row));
        let (Some(extra), OperationKind::Refund) = (extra, refund.kind) else { return Ok(()) };
        let beside = || rows.charges.values().filter(|row| row.checkout == extra.checkout);
        let replaced = beside().any(kept);
        // Of another sum, and of what lies where nobody can ask, a person has said that it may be given back.
        let pays = |row: &&ChargeRecord| {
            let same = row.amount == extra.amount && row.account == extra.account;
            same && if replaced { kept(row) } else { !row.extra }
        };
        for paying in beside().filter(pays) {
            let object = bank.objects.iter().find(|object| object.id == paying.object);
            let gone = object.and_then(|object| object.gone_since);
            let stood = gone.is_none_or(|since| request.left_at.since_ms(since) <= LEASE_MS);
            must!(15, stood, "{} is given back, and {object:?} that paid is gone", extra.object);
        }
        Ok(())
    }

    /// 2, 3, 12: a key's answers are one answer, and answer one request.
    pub fn on_answer(&mut self, rows: &Rows, key: &KeyUse, answer: &Answer) -> Result<(), Broken> {
        let mut kept = rows.keys.values();
        let first = kept
            .find(|row| row.key.tenant == key.tenant && row.key.kind == key.kind && row.key.key == key.key);
        let same = first.is_some_and(|first| first.key.fingerprint == key.fingerprint);
        must!(3, same, "{key:?} is answered as if it were {first:?}");
        let named = rows.intents.values().find(|row| first.is_some_and(|first| row.id == first.intent));
        must!(18, named.is_none_or(|row| row.tenant == key.tenant), "{key:?} is told of {named:?}");
        let Some(intent) = first.map(|row| row.intent) else { return Ok(()) };
        let names = answer.body.split(|byte| *byte == b' ').next();
        must!(
            2,
            names == Some(intent.to_string().as_bytes()),
            "{key:?} names {intent}, and is told {answer:?}"
        );
        let slot = (key.tenant.clone(), key.kind.as_str(), key.key.as_str().to_owned());
        match self.answers.get(&slot) {
            Some((named, first)) => {
                must!(2, *named == intent, "{slot:?} named {named}, and names {intent}");
                must!(12, first == answer, "{slot:?} was answered {first:?}, then {answer:?}");
            }
            None => {
                self.answers.insert(slot, (intent, answer.clone()));
            }
        }
        Ok(())
    }

    /// 3: what is refused because its key is another request's changed nothing.
    pub fn on_end(&self, done: &Done, changed: bool) -> Result<(), Broken> {
        let reused = matches!(
            done,
            Done::Created(CheckoutOutcome::KeyReused { .. })
                | Done::Tried(IntentOutcome::KeyReused { .. })
                | Done::Submitted(SubmitOutcome::KeyReused { .. })
        );
        must!(3, !(reused && changed), "a key that is another request's changed something: {done:?}");
        Ok(())
    }

    /// 18: no caller receives another's payment.
    pub fn on_show(
        &self,
        asked: &Tenant,
        checkout: &CheckoutRecord,
        intent: &IntentRecord,
    ) -> Result<(), Broken> {
        let own = checkout.tenant == *asked && intent.tenant == *asked;
        must!(18, own, "{asked:?} is shown {} of {:?}", intent.id, intent.tenant);
        Ok(())
    }

    /// 12: nobody hears of success before the money is there.
    pub fn on_success(&self, bank: &Bank, intent: IntentId) -> Result<(), Broken> {
        let taken = bank.objects.iter().any(|object| object.intent == Some(intent) && object.took_money());
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
}
