//! The bank as a whole: its settings, and the state that every request shares.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::book::{Book, When};
use crate::clock::Clock;
use crate::courier::{Courier, Tried};
use crate::faults::Faults;
use crate::ledger::{Ledger, OpenError, Store};
use crate::payments::{Lives, Shown};

/// Nothing in a sandbox lives longer: ten years.
const MAX_LIFE: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How a bank is set up. Start from [`Config::new`].
#[derive(Clone)]
pub struct Config {
    /// Where the ledger is kept.
    pub ledger: Ledger,
    /// Base of the confirmation page's links, without a slash at the end; `None`: the address it listens on.
    pub public_url: Option<String>,
    /// User of the Basic authentication.
    pub shop_id: String,
    /// Password of the Basic authentication.
    pub secret: String,
    /// How long a card token can be used.
    pub token_life: Duration,
    /// How long a payer may take to confirm.
    pub pending_life: Duration,
    /// How long authorised money waits for its capture.
    pub hold_life: Duration,
    /// How long an idempotence key is remembered.
    pub key_life: Duration,
    /// Where notifications are sent; `None`: nothing is announced. Wants a rustls provider to be installed.
    pub notify_url: Option<String>,
    /// How long after a notification was not taken it is sent again; the gap doubles with each try, up to an hour.
    pub notify_gap: Duration,
    /// How long a receiver may take to answer.
    pub notify_patience: Duration,
    /// How long after what it announces a notification is given up.
    pub notify_life: Duration,
    /// Where the time comes from.
    pub clock: Clock,
}

/// A bank, its ledger open.
#[derive(Clone)]
pub struct Bank {
    pub(crate) state: Arc<State>,
}

/// What every request shares.
pub(crate) struct State {
    pub store: Store,
    pub faults: Faults,
    pub courier: Option<Arc<Courier>>,
    pub shop_id: String,
    pub secret: String,
    lives: Lives,
    clock: Clock,
    public_url: OnceLock<String>,
}

impl Config {
    /// The sandbox as everybody knows it: shop 100500, secret `test_demo`, YooKassa's lifetimes.
    pub fn new(ledger: Ledger) -> Self {
        const HOUR: Duration = Duration::from_secs(3600);
        Self {
            ledger,
            public_url: None,
            shop_id: "100500".to_owned(),
            secret: "test_demo".to_owned(),
            token_life: HOUR,
            pending_life: HOUR,
            hold_life: HOUR * 24 * 7,
            key_life: HOUR * 24,
            notify_url: None,
            notify_gap: Duration::from_secs(10),
            notify_patience: Duration::from_secs(10),
            notify_life: HOUR * 24,
            clock: Clock::system(),
        }
    }
}

impl Bank {
    /// Opens the ledger and locks it for as long as the bank lives.
    pub fn open(config: Config) -> Result<Self, OpenError> {
        let life_ms = |life: Duration| in_ms(life.min(MAX_LIFE));
        let lives = Lives {
            token_ms: life_ms(config.token_life),
            pending_ms: life_ms(config.pending_life),
            hold_ms: life_ms(config.hold_life),
            key_ms: life_ms(config.key_life),
        };
        let courier = config.notify_url.as_deref().map(|url| Courier::new(url, &config)).transpose()?;
        let state = State {
            store: Store::open(&config.ledger)?,
            faults: Faults::default(),
            courier: courier.map(Arc::new),
            shop_id: config.shop_id,
            secret: config.secret,
            lives,
            clock: config.clock,
            public_url: config.public_url.map(OnceLock::from).unwrap_or_default(),
        };
        Ok(Self { state: Arc::new(state) })
    }
}

impl State {
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub fn when(&self) -> When {
        When { now_ms: self.now_ms(), lives: self.lives }
    }

    /// Runs `work` in a transaction of its own. Gives its result once the notifications that a fault wants first
    /// were sent.
    pub async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Book<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> rusqlite::Result<T> {
        let (done, awaited) = self.write_alone(work).await?;
        if let Some(courier) = &self.courier {
            courier.wake();
        }
        for tried in awaited {
            // An error is a courier that ended with the bank: nobody is to be told first any more.
            tried.await.ok();
        }
        Ok(done)
    }

    /// The same for the courier, who wakes and awaits nobody.
    pub async fn write_alone<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Book<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> rusqlite::Result<(T, Vec<Tried>)> {
        let state = Arc::clone(self);
        let written = self.store.run(move |tx| {
            let book = Book::open(tx, &state);
            let done = work(&book)?;
            Ok((done, book.close()))
        });
        written.await
    }

    pub fn shown(&self) -> Shown<'_> {
        Shown {
            shop_id: &self.shop_id,
            public_url: self.public_url.get().map(String::as_str).unwrap_or_default(),
        }
    }

    /// Fills in the base of links, where the settings left it open.
    pub fn listens_on(&self, address: std::net::SocketAddr) {
        self.public_url.get_or_init(|| format!("http://{address}"));
    }
}

/// A duration as the ledger counts.
pub(crate) fn in_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
