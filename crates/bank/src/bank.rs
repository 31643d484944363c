//! The bank as a whole: its settings, and the state that every request shares.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::clock::Clock;
use crate::faults::Faults;
use crate::ledger::{Ledger, OpenError, Store};
use crate::operations::When;
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
        let state = State {
            store: Store::open(&config.ledger)?,
            faults: Faults::default(),
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
