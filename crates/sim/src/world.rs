//! The world: servers, tabs, a shop, the bank, receivers, and one scheduler that decides what happens next.

use std::{
    hash::Hasher as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use engine::{Engine, Memory, Settings, Vault};
use payment::{CheckoutId, IntentId, Money, ObjectId, StateName, SubmitKey, Timestamp};
use rustc_hash::FxHasher;
use store::{JournalRecord, MemoryStore, Rows};

pub(crate) use crate::ports::Backing;
pub use crate::size::Size;
use crate::{
    alike::as_drawn,
    bank::Bank,
    check::{Broken, Checker},
    choices::{Choices, Made},
    desk::{BankAnswer, Call, Desk, Message},
    events::Event,
    explore::How,
    fault::Fault,
    merchants::{self, Merchants},
    ports::{CountingIds, PlainAnswers, ToBank, ToReceivers, Transactions},
    running::FAILS_BY_ITSELF,
    story::Story,
    task::Task,
    time::{DAY, MINUTE, MachineClock, SECOND, Time},
};

/// How long a claim lasts, ms.
pub const LEASE_MS: i64 = 30 * SECOND;
/// A silence that puts the gate down, ms.
pub const GAP_MS: i64 = MINUTE;
/// How often a notification that nobody took is sent again.
const NOTICE_TRIES: u32 = 5;

/// A server that was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stops {
    /// It takes nothing new, and waits for what is under way.
    Told,
    /// It waits no longer: whoever comes next goes on with it.
    HandsOver,
}

/// A server.
pub(crate) struct Node {
    pub(crate) ids: CountingIds,
    pub(crate) engine: Option<Arc<Engine>>,
    /// Whether its start is done: it takes requests and works.
    pub(crate) ready: bool,
    pub(crate) paused: bool,
    /// How far it has come, where it was told to stop.
    pub(crate) stops: Option<Stops>,
    pub(crate) clock: MachineClock,
}

impl Node {
    /// The same server in a copy of its world.
    fn again(&self, world: &World) -> Self {
        let ids = self.ids.again();
        let clock = self.clock.again(&world.time);
        let anew = |engine: &Engine| Engine {
            store: Arc::new(Transactions { desk: world.desk.clone(), backing: world.backing.clone() }),
            provider: Arc::new(ToBank { desk: world.desk.clone(), time: world.time.clone() }),
            sender: Arc::new(ToReceivers(world.desk.clone())),
            ids: Arc::new(ids.clone()),
            clock: Arc::new(clock.clone()),
            memory: Memory::default(),
            ..engine.clone()
        };
        let engine = self.engine.as_ref().map(|engine| Arc::new(anew(engine)));
        Self { ids, engine, clock, ..*self }
    }
}

/// What a tab shows.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Shown {
    pub(crate) checkout: CheckoutId,
    pub(crate) intent: IntentId,
    pub(crate) version: i64,
    pub(crate) amount: Money,
    pub(crate) submit_key: SubmitKey,
    pub(crate) state: StateName,
    /// The bank's object whose page it leads to.
    pub(crate) object: Option<ObjectId>,
}

#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Tab {
    pub(crate) order: usize,
    pub(crate) shown: Option<Shown>,
    pub(crate) waits: bool,
    pub(crate) clicks: u32,
    /// What its shopper did after the first look.
    pub(crate) deeds: u32,
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
    /// A webhook or a mail whose sender does not wait any more; when it left.
    ToReceiver(Message, Timestamp),
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
    pub(crate) rows: Arc<Rows>,
    /// Their digest, where states of the world are told apart.
    pub(crate) rows_digest: u64,
    /// How often each order was opened.
    pub(crate) opened: Vec<u32>,
    pub(crate) backup: Option<Arc<Rows>>,
    /// The last sign of life in a copy that was brought back, as long as no server has given another.
    pub(crate) alive_in_copy: Option<Timestamp>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) tabs: Vec<Tab>,
    pub(crate) keys: u32,
    pub(crate) on_its_way: Vec<OnItsWay>,
    pub(crate) bank: Bank,
    pub(crate) merchants: Merchants,
    /// Whether servers run with the configuration of a backup: that of today follows.
    pub(crate) behind: bool,
    pub(crate) vault: Arc<Vault>,
    pub(crate) next_task: u32,
    /// The task that went on last, in a world whose every course is explored.
    pub(crate) at_work: Option<u32>,
    pub(crate) events: Vec<(Event, u32)>,
    pub(crate) weights: Vec<u32>,
    pub(crate) steps: u64,
    pub(crate) submitted: bool,
    pub(crate) hash: u64,
    /// What was decided before everything was healed.
    pub(crate) decided: Vec<Made>,
    /// How states of the world are told apart, where they are: each task's history is written down for it.
    pub(crate) remembers: Option<How>,
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
    /// Whether anybody had pressed Pay, and a server had written it down, before all faults were over.
    pub submitted: bool,
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
        let (vault, merchants) = merchants::all(&size);
        let tabs = (0..size.tabs).map(|tab| Tab { order: tab % size.orders, ..Tab::default() }).collect();
        let node = |number: usize| Node {
            ids: CountingIds::of(number),
            engine: None,
            ready: false,
            paused: false,
            stops: None,
            clock: MachineClock::new(&time, 0),
        };
        Self {
            nodes: (0..size.nodes).map(node).collect(),
            choices,
            desk: Desk::default(),
            backing,
            rows: Arc::default(),
            rows_digest: 0,
            opened: vec![0; size.orders],
            backup: None,
            alive_in_copy: None,
            tasks: Vec::new(),
            tabs,
            keys: 0,
            on_its_way: Vec::new(),
            bank: Bank::new(size.periods),
            merchants,
            behind: false,
            vault,
            next_task: 0,
            at_work: None,
            events: Vec::new(),
            weights: Vec::new(),
            steps: 0,
            submitted: false,
            hash: 0,
            decided: Vec::new(),
            remembers: None,
            met: [[0; StateName::ALL.len() + 1]; Fault::ALL.len()],
            checker: Checker::new(size.periods),
            story: Story::new(tells, &time),
            time,
            size,
        }
    }

    /// Runs to its end: faults, then healing, then what must be so in the end.
    pub fn run(mut self) -> (Ended, Self) {
        let broken = self.unless_it_panics(Self::play).err();
        (self.ended(broken), self)
    }

    /// A panic of the product breaks a history like anything else that fails by itself; what was told and decided until then is kept.
    pub(crate) fn unless_it_panics<T>(
        &mut self,
        play: impl FnOnce(&mut Self) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        catch_unwind(AssertUnwindSafe(|| play(self))).unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            Err(Broken { invariant: FAILS_BY_ITSELF, found: format!("a server panics: {words}") })
        })
    }

    /// What it came to.
    pub(crate) fn ended(&mut self, broken: Option<Broken>) -> Ended {
        if let Some(broken) = &broken {
            self.story.tell(|| format!("BROKEN: {broken}"));
        }
        if self.story.is_read() {
            for ((_, intent, seq), JournalRecord { line, .. }) in self.rows.journal.iter() {
                let line = format!("{} by {} to {}: {}", line.from, line.event, line.to, line.evidence);
                self.story.tell(|| format!("journal of {intent}, {seq}: {line}"));
            }
        }
        self.hash = mix(mix(self.hash, as_drawn(&self.rows)), self.bank_digest());
        let decisions = self.decided.iter().chain(self.choices.made()).map(|made| made.value).collect();
        Ended { broken, steps: self.steps, submitted: self.submitted, hash: self.hash, decisions }
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
        self.end()
    }

    /// All faults are over, and nothing is decided any more.
    pub(crate) fn end(&mut self) -> Result<(), Broken> {
        let decided = std::mem::replace(&mut self.choices, Choices::from_list(Vec::new()));
        self.decided = decided.made().to_vec();
        self.submitted = self.rows.operations.values().any(|operation| operation.execute_until.is_some());
        let ended =
            self.heal().and_then(|()| self.checker.at_the_end(&self.rows, &self.bank, self.time.now()));
        self.choices = Choices::from_list(Vec::new());
        ended
    }

    /// The rows as they are now; whether anything was written since they were looked at last.
    pub(crate) fn look(&mut self) -> Result<bool, Broken> {
        let rows = self.backing.rows()?;
        if Arc::ptr_eq(&rows, &self.rows) {
            return Ok(false);
        }
        self.rows = rows;
        if let Some(how) = self.remembers {
            self.rows_digest = (how.digest)(&self.rows);
        }
        Ok(true)
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
            memory: Memory::default(),
            vault: Arc::clone(&self.vault),
            settings: Settings {
                holder: ids.holder(),
                public_url: "https://pay.example".to_owned(),
                lease_ms: LEASE_MS,
                execute_ms: self.size.periods.execute_ms,
                retry: self.size.periods.retry,
                token_life_ms: self.size.periods.token_life_ms,
                token_margin_ms: self.size.periods.token_margin_ms,
                listing_gap_ms: self.size.periods.listing_gap_ms,
                review_after_ms: DAY,
                intents_per_checkout: 10,
                most_unfinished: 10,
                gap_ms: GAP_MS,
                on_its_way_ms: LEASE_MS,
            },
        }
    }

    pub(crate) fn bank_digest(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.bank.digest(&mut hasher);
        hasher.finish()
    }

    /// Brings a backup back.
    pub(crate) fn bring_back(&mut self, rows: Arc<Rows>) {
        self.backing.bring_back(rows, &self.time);
    }

    /// The same world once more, to take another course. Only while nothing is at work: a task cannot be copied.
    pub(crate) fn again(&self, choices: Choices) -> Self {
        debug_assert!(self.tasks.is_empty(), "a task cannot be copied");
        let (desk, time) = (Desk::default(), self.time.again());
        let backing = Backing::Memory(Arc::new(MemoryStore::of(Arc::clone(&self.rows), time.of_store())));
        let mut world = Self {
            choices,
            nodes: Vec::new(),
            tasks: Vec::new(),
            story: Story::new(false, &time),
            desk,
            backing,
            time,
            size: self.size.clone(),
            rows: Arc::clone(&self.rows),
            opened: self.opened.clone(),
            backup: self.backup.clone(),
            tabs: self.tabs.clone(),
            on_its_way: self.on_its_way.clone(),
            bank: self.bank.clone(),
            merchants: self.merchants.clone(),
            vault: Arc::clone(&self.vault),
            events: Vec::new(),
            weights: Vec::new(),
            decided: Vec::new(),
            checker: self.checker.clone(),
            ..*self
        };
        world.nodes = self.nodes.iter().map(|node| node.again(&world)).collect();
        world
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
