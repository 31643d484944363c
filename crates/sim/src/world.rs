//! The world: servers, tabs, a shop, the bank, receivers, and one scheduler that decides what happens next.

use std::{
    hash::{DefaultHasher, Hasher as _},
    sync::Arc,
};

use engine::{Engine, Gates, Listings, Settings, Vault};
use payment::{CheckoutId, Holder, IntentId, Money, RetryPolicy, StateName, SubmitKey};
use store::{MemoryStore, Rows};

pub(crate) use crate::ports::Backing;
use crate::{
    act::Event,
    bank::Bank,
    check::{Broken, Checker},
    choices::Choices,
    desk::{BankAnswer, Call, Desk},
    fault::{Fault, Rates},
    merchants,
    ports::{CountingIds, Merchants, PlainAnswers, ToBank, ToReceivers, Transactions},
    story::Story,
    task::Task,
    time::{DAY, HOUR, MINUTE, MachineClock, SECOND, Time},
};

/// How long a claim lasts, ms.
pub const LEASE_MS: i64 = 30 * SECOND;
/// How long after the first submit something may be sent, ms.
pub const EXECUTE_MS: i64 = 15 * MINUTE;
/// A silence that puts the gate down, ms.
pub const GAP_MS: i64 = MINUTE;
const RETRY: RetryPolicy = RetryPolicy { base_ms: SECOND, max_ms: 5 * MINUTE };
/// How often a notification that nobody took is sent again.
const NOTICE_TRIES: u32 = 5;

/// How large a world is, and what goes wrong in it.
#[derive(Clone, Debug)]
pub struct Size {
    /// Servers.
    pub nodes: usize,
    /// Tabs.
    pub tabs: usize,
    /// Orders of the shop.
    pub orders: usize,
    /// Steps before everything is healed.
    pub steps: usize,
    /// What goes wrong.
    pub rates: Rates,
    /// Money is held first, and captured by nobody.
    pub held: bool,
    /// The merchant wants extra charges given back.
    pub refund_extras: bool,
    /// Whether people do more than buy: they look, check, press again, let go.
    pub lively: bool,
}

impl Size {
    /// A size of its own for each history.
    pub fn drawn(choices: &mut Choices) -> Self {
        Self {
            nodes: 1 + choices.weighted(&[2, 5, 1]),
            tabs: 1 + choices.weighted(&[3, 5, 1]),
            orders: 1 + choices.weighted(&[6, 1]),
            steps: [20, 40, 80, 160][choices.weighted(&[4, 4, 2, 1])],
            held: choices.happens(60),
            refund_extras: choices.happens(300),
            lively: choices.happens(500),
            rates: Rates::drawn(choices),
        }
    }

    /// Two servers, two tabs, one checkout: the world whose speed is measured.
    pub fn small(choices: &mut Choices) -> Self {
        let rates = Rates::drawn(choices);
        Self {
            nodes: 2,
            tabs: 2,
            orders: 1,
            steps: 30,
            rates,
            held: false,
            refund_extras: false,
            lively: false,
        }
    }
}

/// A server.
pub(crate) struct Node {
    ids: CountingIds,
    pub(crate) engine: Option<Engine>,
    /// Whether its start is done: it takes requests and works.
    pub(crate) ready: bool,
    pub(crate) paused: bool,
    pub(crate) clock: MachineClock,
}

/// What a tab shows.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) checkout: CheckoutId,
    pub(crate) intent: IntentId,
    pub(crate) version: i64,
    pub(crate) amount: Money,
    pub(crate) submit_key: SubmitKey,
    pub(crate) state: StateName,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tab {
    pub(crate) order: usize,
    pub(crate) shown: Option<Shown>,
    pub(crate) waits: bool,
    pub(crate) clicks: u32,
}

/// Something on its way.
#[derive(Clone, Debug)]
pub(crate) enum OnItsWay {
    /// A call to the bank; the task that waits for its answer, unless it is gone.
    ToBank(Option<u32>, Call),
    /// The bank's answer to a task.
    FromBank(u32, BankAnswer),
    /// A notification.
    Notice(Arc<Vec<u8>>, u32),
}

/// How a world began to run and what it met: for the table.
pub type Met = [[u32; StateName::ALL.len() + 1]; Fault::ALL.len()];

/// The world.
pub struct World {
    pub(crate) size: Size,
    pub(crate) choices: Choices,
    pub(crate) desk: Desk,
    pub(crate) time: Time,
    pub(crate) backing: Backing,
    /// The rows as the last write left them.
    pub(crate) rows: Rows,
    /// How often each order was opened.
    pub(crate) opened: Vec<u32>,
    pub(crate) backup: Option<MemoryStore>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) keys: u32,
    pub(crate) on_its_way: Vec<OnItsWay>,
    pub(crate) bank: Bank,
    pub(crate) merchants: Merchants,
    pub(crate) vault: Arc<Vault>,
    pub(crate) next_task: u32,
    pub(crate) events: Vec<(Event, u32)>,
    pub(crate) weights: Vec<u32>,
    pub(crate) steps: u64,
    pub(crate) hash: u64,
    /// Whether each task's history is written down, for the states of the world to be told apart.
    pub(crate) remembers: bool,
    /// What went wrong, by the state of the newest intent.
    pub met: Met,
    pub(crate) checker: Checker,
    /// What happened, in words.
    pub story: Story,
}

/// What a history came to.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What broke, if anything did.
    pub broken: Option<Broken>,
    /// Steps.
    pub steps: u64,
    /// A number for all that happened.
    pub hash: u64,
    /// The decisions.
    pub decisions: Vec<u32>,
}

/// One more word of a history.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

impl World {
    /// A world in memory.
    pub fn in_memory(size: Size, choices: Choices, tells: bool) -> Self {
        let time = Time::default();
        let backing = Backing::Memory(Arc::new(MemoryStore::new(time.of_store())));
        Self::over(backing, time, size, choices, tells)
    }

    /// A world over these rows.
    pub fn over(backing: Backing, time: Time, size: Size, choices: Choices, tells: bool) -> Self {
        let (vault, merchants) = merchants::all(size.refund_extras);
        let tabs = (0..size.tabs).map(|tab| Tab { order: tab % size.orders, ..Tab::default() }).collect();
        let node = |number: usize| Node {
            ids: CountingIds::of(number),
            engine: None,
            ready: false,
            paused: false,
            clock: MachineClock::new(&time, 0),
        };
        Self {
            nodes: (0..size.nodes).map(node).collect(),
            choices,
            desk: Desk::default(),
            backing,
            rows: Rows::default(),
            opened: vec![0; size.orders],
            backup: None,
            tasks: Vec::new(),
            tabs,
            keys: 0,
            on_its_way: Vec::new(),
            bank: Bank::default(),
            merchants,
            vault,
            next_task: 0,
            events: Vec::new(),
            weights: Vec::new(),
            steps: 0,
            hash: 0,
            remembers: false,
            met: [[0; StateName::ALL.len() + 1]; Fault::ALL.len()],
            checker: Checker::default(),
            story: Story::new(tells, &time),
            time,
            size,
        }
    }

    /// Runs to its end: faults, then healing, then what must be so in the end.
    pub fn run(mut self) -> (Ended, Self) {
        let broken = self.play().err();
        if let Some(broken) = &broken {
            let words = broken.to_string();
            self.story.tell(|| format!("BROKEN: {words}"));
        }
        self.hash = mix(self.hash, self.rows.digest());
        let decisions = self.choices.made().iter().map(|made| made.value).collect();
        (Ended { broken, steps: self.steps, hash: self.hash, decisions }, self)
    }

    fn play(&mut self) -> Result<(), Broken> {
        for node in 0..self.nodes.len() {
            self.boot(node)?;
        }
        for _ in 0..self.size.steps {
            if self.choices.ended() || !self.step()? {
                break;
            }
        }
        self.heal()?;
        self.checker.at_the_end(&self.rows, &self.bank, self.time.now())
    }

    /// The rows as they are now.
    pub(crate) fn look(&mut self) -> Result<(), Broken> {
        self.rows = self.backing.rows();
        Ok(())
    }

    /// The engine of a server that starts.
    pub(crate) fn engine(&self, node: usize) -> Engine {
        let Node { ids, clock, .. } = &self.nodes[node];
        let desk = self.desk.clone();
        Engine {
            store: Arc::new(Transactions { desk: desk.clone(), backing: self.backing.clone() }),
            directory: Arc::new(self.merchants.clone()),
            provider: Arc::new(ToBank { desk: desk.clone(), time: self.time.clone() }),
            sender: Arc::new(ToReceivers(desk)),
            ids: Arc::new(ids.clone()),
            answers: Arc::new(PlainAnswers),
            clock: Arc::new(clock.clone()),
            changes: Arc::new(Unheard),
            listings: Listings::default(),
            gates: Gates::default(),
            vault: Arc::clone(&self.vault),
            settings: Settings {
                holder: Holder(ids.uuid()),
                public_url: "https://pay.example".to_owned(),
                lease_ms: LEASE_MS,
                execute_ms: EXECUTE_MS,
                retry: RETRY,
                token_life_ms: HOUR,
                token_margin_ms: 10 * MINUTE,
                listing_gap_ms: 5 * MINUTE,
                review_after_ms: DAY,
                intents_per_checkout: 10,
                most_unfinished: 10,
                gap_ms: GAP_MS,
                on_its_way_ms: LEASE_MS,
            },
        }
    }

    pub(crate) fn bank_digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.bank.digest(&mut hasher);
        hasher.finish()
    }

    /// Takes a backup.
    pub(crate) fn back_up(&mut self) {
        if let Backing::Memory(store) = &self.backing {
            self.backup = Some(now(store.copy()));
        }
    }

    /// Brings the backup back.
    pub(crate) fn bring_back(&mut self) {
        if let Some(backup) = self.backup.take() {
            self.backing = Backing::Memory(Arc::new(backup));
        }
    }

    /// A notification that nobody took is sent again, some times.
    pub(crate) fn notice_comes_again(&mut self, body: Arc<Vec<u8>>, tries: u32) {
        if tries < NOTICE_TRIES || self.bank.is_fickle(&body) {
            self.on_its_way.push(OnItsWay::Notice(body, tries + 1));
        }
    }
}

/// Nobody is told: pages load again.
struct Unheard;

impl engine::Changes for Unheard {
    fn changed(&self, _: &store::Tenant, _: IntentId) {}
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!("nothing in memory waits"),
    }
}
