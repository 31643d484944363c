//! A backup is brought back: with it the rows are an older copy of themselves, and perhaps the configuration is that of then.

use std::sync::Arc;

use store::Rows;

use crate::{
    act::LAG_MS,
    bank::Object,
    check::Broken,
    fault::Fault,
    merchants,
    time::{MINUTE, SECOND},
    wire,
    world::{GAP_MS, OnItsWay, World},
};

/// How much earlier than the last sign of life a listing begins, ms: a token's life and its margin.
const OVERLAP_MS: i64 = 70 * MINUTE;

impl World {
    /// What is brought back starts with the configuration that it was taken with, perhaps: that of today follows.
    fn take_configuration_of(&mut self, rows: &Rows) {
        let first = merchants::tenant(0);
        let then = rows.accounts.get(&first).map(|account| account.as_str().to_owned());
        if then.is_none_or(|then| then == self.merchants.account_of(&first))
            || self.meet(&[Fault::OldConfiguration]).is_none()
        {
            return;
        }
        self.story.tell(|| "its servers start with the account of then".to_owned());
        self.merchants.change_account();
        self.behind = true;
        self.size.rates.again(Fault::AccountChanged);
    }

    /// Whether servers would send to the account of then: docs/operations.md asks for the configuration of today before. What was paid
    /// in an account that neither the copy nor the configuration knows, nobody there can know.
    pub(crate) fn sends_as_of_then(&self) -> bool {
        let first = merchants::tenant(0);
        let mut own = self.rows.sweeps.values().filter(|row| row.tenant == first);
        self.nodes.iter().any(|node| node.ready) && own.all(|row| row.gated_from.is_none())
    }

    /// Every server is dead, and an older copy of the rows takes their place.
    pub(crate) fn restore(&mut self, rows: Arc<Rows>) -> Result<(), Broken> {
        self.meets(Fault::Restored);
        for node in 0..self.nodes.len() {
            self.kill(node);
        }
        self.alive_in_copy = Some(rows.heartbeat.unwrap_or(self.time.now()));
        self.outlive_copy();
        self.story.tell(|| "every server is dead; the backup is restored".to_owned());
        self.take_configuration_of(&rows);
        self.bring_back(rows);
        self.tabs.iter_mut().for_each(|tab| tab.shown = None);
        self.bank.lag_ms = self.bank.lag_ms.min(LAG_MS[0]);
        self.look()?;
        let charges = &self.rows.charges;
        self.bank.shown_kept.retain(|kept| charges.values().any(|charge| charge.object == *kept));
        for object in &self.bank.objects {
            if self.is_told_no_more(object) {
                self.checker.cannot_know(&object.id);
            }
        }
        self.checker.restored(&self.rows, &self.time)
    }

    /// One that is younger than the gap would pass the gate: docs/operations.md says so. So would one whose age a clock hides that was set
    /// since.
    pub(crate) fn outlive_copy(&mut self) {
        let Some(alive) = self.alive_in_copy else { return };
        let age_ms = self.time.now().since_ms(alive);
        if age_ms.abs() <= GAP_MS {
            self.pass(GAP_MS + SECOND - age_ms);
        }
    }

    /// Whether a payment came back to life, and a copy that was just restored is not told: what announced it is gone with the rows that
    /// heard of it, and the listing of the gap begins after it was made.
    fn is_told_no_more(&self, object: &Object) -> bool {
        let alive_until = self.rows.heartbeat;
        let own = self.rows.sweeps.values().filter(|row| row.account.as_str() == object.account);
        let read_from = own.filter_map(|row| {
            let gap = alive_until.or(row.gated_from)?;
            Some(gap.min(row.swept_until).plus_ms(-OVERLAP_MS))
        });
        let announces = |way: &OnItsWay| {
            let OnItsWay::Notice(body, _) = way else { return false };
            wire::read_notice(body).is_some_and(|notice| notice.object == object.id)
        };
        let mut inbox = self.rows.inbox.values();
        object.fickle
            && read_from.min().is_some_and(|from| object.dated_at < from)
            && !self.on_its_way.iter().any(announces)
            && !inbox.any(|notice| notice.said.object == object.id && notice.state.wake_at().is_some())
    }
}
