//! Who waits for news of an intent. A commit wakes them, and they read for themselves: nothing is carried here but "look again".
//! Must never hold a state, and never grow with intents that nobody waits for.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use engine::Changes;
use payment::IntentId;
use store::Tenant;
use tokio::sync::watch;

/// Most waiting at a time; whoever comes later asks again and again instead.
const MAX_WATCHERS: usize = 10_000;
/// Most of them that await no result: the room of those who wait for money is not theirs.
const MAX_IDLE: usize = MAX_WATCHERS / 2;

/// All that wait, by intent.
#[derive(Default)]
pub struct Hub(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    intents: HashMap<IntentId, watch::Sender<()>>,
    watchers: usize,
    idle: usize,
    closed: bool,
}

impl Hub {
    /// Waits for news of an intent from now on, whose result is awaited or not; `None` when too many wait already, or the server
    /// stops.
    pub fn watch(self: &Arc<Self>, intent: IntentId, awaited: bool) -> Option<Watcher> {
        let mut waiting = self.waiting();
        let crowded = waiting.watchers >= MAX_WATCHERS || (!awaited && waiting.idle >= MAX_IDLE);
        if waiting.closed || crowded {
            return None;
        }
        waiting.watchers += 1;
        waiting.idle += usize::from(!awaited);
        let news = waiting.intents.entry(intent).or_insert_with(|| watch::channel(()).0).subscribe();
        Some(Watcher { hub: Arc::clone(self), intent, news, awaited })
    }

    /// The server stops: whoever waits is told, and nobody waits any more.
    pub fn close(&self) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.intents.clear();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing here panics half way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Changes for Hub {
    fn changed(&self, _: &Tenant, intent: IntentId) {
        if let Some(waiting) = self.waiting().intents.get(&intent) {
            waiting.send_replace(());
        }
    }
}

/// One that waits.
pub struct Watcher {
    hub: Arc<Hub>,
    intent: IntentId,
    news: watch::Receiver<()>,
    awaited: bool,
}

impl Watcher {
    /// Waits for news, at most so long: another process may have made them. `false` when the server stops.
    pub async fn wait(&mut self, at_most: Duration) -> bool {
        !matches!(tokio::time::timeout(at_most, self.news.changed()).await, Ok(Err(_)))
    }

    /// Whether the result is awaited from now on. `false` when too many stay already who await none.
    pub fn turn(&mut self, awaited: bool) -> bool {
        let mut waiting = self.hub.waiting();
        match (self.awaited, awaited) {
            (true, false) if waiting.idle >= MAX_IDLE => return false,
            (true, false) => waiting.idle += 1,
            (false, true) => waiting.idle -= 1,
            (true, true) | (false, false) => {}
        }
        self.awaited = awaited;
        true
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut waiting = self.hub.waiting();
        waiting.watchers -= 1;
        waiting.idle -= usize::from(!self.awaited);
        let last = waiting.intents.get(&self.intent).is_some_and(|news| news.receiver_count() <= 1);
        if last {
            waiting.intents.remove(&self.intent);
        }
    }
}

#[cfg(test)]
mod tests {
    use payment::{MerchantId, Mode};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(1);

    fn intent(number: u8) -> IntentId {
        format!("pi_{number:032x}").parse().unwrap()
    }

    fn change(hub: &Hub, number: u8) {
        let tenant = Tenant { merchant: MerchantId::parse("mer_1").unwrap(), mode: Mode::Test };
        hub.changed(&tenant, intent(number));
    }

    #[tokio::test]
    async fn news_wake_everybody_who_waits_for_that_intent_and_nobody_else() {
        let hub = Arc::new(Hub::default());
        let (mut first, mut second) =
            (hub.watch(intent(1), true).unwrap(), hub.watch(intent(1), true).unwrap());
        let other = hub.watch(intent(2), true).unwrap();
        change(&hub, 1);
        assert!(first.news.has_changed().unwrap() && !other.news.has_changed().unwrap());
        assert!(first.wait(LONG).await && second.wait(LONG).await);
        assert!(first.wait(SHORT).await, "no news is a reason to look as well");
    }

    #[tokio::test]
    async fn news_that_come_before_the_wait_are_not_lost() {
        let hub = Arc::new(Hub::default());
        let mut watcher = hub.watch(intent(1), true).unwrap();
        change(&hub, 1);
        change(&hub, 1);
        assert!(tokio::time::timeout(SHORT, watcher.wait(LONG)).await.unwrap());
    }

    #[tokio::test]
    async fn nothing_stays_of_those_who_went_away() {
        let hub = Arc::new(Hub::default());
        let (first, second) = (hub.watch(intent(1), true), hub.watch(intent(1), true));
        drop(first);
        assert_eq!(hub.waiting().intents.len(), 1);
        drop(second);
        assert!(hub.waiting().intents.is_empty());
        assert_eq!(hub.waiting().watchers, 0);
        change(&hub, 1);
        assert!(hub.waiting().intents.is_empty());
    }

    #[tokio::test]
    async fn the_number_of_those_who_wait_is_limited() {
        let hub = Arc::new(Hub::default());
        let all: Vec<_> = (0..MAX_WATCHERS).map(|_| hub.watch(intent(1), true).unwrap()).collect();
        assert!(hub.watch(intent(2), true).is_none());
        drop(all);
        assert!(hub.watch(intent(2), true).is_some());
    }

    #[tokio::test]
    async fn whoever_awaits_no_result_takes_no_place_of_those_who_do() {
        let hub = Arc::new(Hub::default());
        let idle: Vec<_> = (0..MAX_IDLE).map(|_| hub.watch(intent(1), false).unwrap()).collect();
        assert!(hub.watch(intent(2), false).is_none());
        let mut awaiting = hub.watch(intent(2), true).expect("there is room for those who wait for money");
        assert!(!awaiting.turn(false), "nor may one stay that has its result");
        drop(idle);
        assert!(awaiting.turn(false) && hub.waiting().idle == 1);
        assert!(awaiting.turn(true) && hub.waiting().idle == 0);
        assert!(awaiting.turn(false));
        drop(awaiting);
        assert_eq!(hub.waiting().watchers, 0);
        assert_eq!(hub.waiting().idle, 0);
    }

    #[tokio::test]
    async fn a_stop_ends_every_wait() {
        let hub = Arc::new(Hub::default());
        let mut watcher = hub.watch(intent(1), true).unwrap();
        hub.close();
        assert!(!watcher.wait(LONG).await);
        assert!(hub.watch(intent(1), true).is_none());
        drop(watcher);
        assert_eq!(hub.waiting().watchers, 0);
    }
}
