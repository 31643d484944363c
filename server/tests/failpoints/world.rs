//! A bank, a shop, and the folder in which servers work, one after the other or beside each other.

use std::{net::SocketAddr, path::PathBuf, sync::Once, time::Duration};

use reqwest::{Client, redirect::Policy};
use rusqlite::Connection;
use shop::{Shop, ShopDatabase};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::{
    bank::{ACCOUNT_SECRET, Bank},
    process::own_address,
    server::{Server, Start, Strike},
};

/// The merchant's secret key.
pub const SECRET_KEY: &str = "sk_test_failpoints";
const WEBHOOK_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const NOTIFY_SECRET: &str = "notify-failpoints";
/// Waits of a server of these tests, and what a test changes of them.
const TIMING: [(&str, &str); 6] = [
    ("lease_s", "1"),
    ("execute_s", "60"),
    ("retry_max_s", "0.5"),
    ("listing_gap_s", "0.5"),
    ("sweep_s", "1"),
    ("token_margin_s", "600"),
];

/// What a test may set.
#[derive(Clone, Copy, Default)]
pub struct Setup {
    /// Whether the bank tells the server of what happens there.
    pub notified: bool,
    /// Whether money taken twice is given back without a person.
    pub refunds_extras: bool,
    /// `[timing]` instead of the usual.
    pub timing: &'static [(&'static str, &'static str)],
}

/// Everything but the servers.
pub struct World {
    pub bank: Bank,
    pub client: Client,
    pub shop_url: String,
    listen: SocketAddr,
    second_listen: SocketAddr,
    folder: TempDir,
}

impl World {
    pub async fn new(setup: Setup) -> Self {
        static TLS: Once = Once::new();
        TLS.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        let client = Client::builder().redirect(Policy::none()).no_proxy().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let listen = own_address();
        let notify_url = format!("http://{listen}/v1/webhooks/yookassa/mer_1/{NOTIFY_SECRET}");
        let notify_url = setup.notified.then_some(notify_url);
        let bank = Bank::start(&client, folder.path().join("bank"), notify_url).await;
        let shop_listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shop_url = format!("http://{}", shop_listener.local_addr().unwrap());
        std::fs::write(folder.path().join("payonce.toml"), config(setup, &bank.url, &shop_url)).unwrap();
        let world = Self { bank, client, shop_url, listen, second_listen: own_address(), folder };
        let shop = Shop::open(world.shop_config()).unwrap();
        tokio::spawn(async move { axum::serve(shop_listener, shop.router()).await.unwrap() });
        world
    }

    fn shop_config(&self) -> shop::Config {
        let api_url = format!("http://{}", self.listen);
        shop::Config {
            payment_pages_url: api_url.clone(),
            api_url,
            public_url: self.shop_url.clone(),
            secret_key: SECRET_KEY.to_owned(),
            webhook_secret: WEBHOOK_SECRET.to_owned(),
            database: ShopDatabase::File(self.path("shop.db")),
            bank_url: None,
            mail_folder: None,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// How the server is started that the shop and the bank know.
    pub fn first(&self) -> Start<'_> {
        let (listen, folder) = (self.listen, self.folder.path());
        Start { folder, data: "first", listen, strike: None, clock: None }
    }

    /// How another server is started beside it, over the same database.
    pub fn second(&self) -> Start<'_> {
        Start { data: "second", listen: self.second_listen, ..self.first() }
    }

    /// Starts the server that the shop and the bank know, and waits for it.
    pub async fn serve(&self) -> Server {
        self.serve_until(None).await
    }

    /// The same, with a place at which something happens to it.
    pub async fn serve_until(&self, strike: Strike) -> Server {
        Start { strike, ..self.first() }.now().ready(&self.client).await
    }

    /// Starts another server beside it, and waits for it.
    pub async fn serve_beside(&self) -> Server {
        self.second().now().ready(&self.client).await
    }

    /// The servers' database.
    pub fn database(&self) -> Connection {
        let database = Connection::open(self.path("payonce.db")).unwrap();
        database.busy_timeout(Duration::from_secs(5)).unwrap();
        database
    }

    /// Whether nobody holds the database's lock: a process that was stopped at a bad moment would, until it goes on.
    pub fn may_write(&self) -> bool {
        let database = self.database();
        let locked = database
            .busy_timeout(Duration::from_millis(500))
            .and_then(|()| database.execute_batch("BEGIN IMMEDIATE; ROLLBACK"));
        locked.is_ok()
    }

    /// As if no server had been alive for that long.
    pub fn was_silent_for(&self, silence: Duration) {
        const BACKDATE: &str =
            "UPDATE heartbeat SET at_ms = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - ?1";
        let silence_ms = i64::try_from(silence.as_millis()).unwrap();
        let changed = self.database().execute(BACKDATE, [silence_ms]).unwrap();
        assert_eq!(changed, 1);
    }
}

impl Drop for World {
    /// What the servers said, where a test failed.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for data in ["first", "second"] {
            for run in 1.. {
                let Ok(said) = std::fs::read_to_string(self.path(&format!("{data}/serve-{run}.log"))) else {
                    break;
                };
                eprintln!("--- {data} server, run {run}\n{said}");
            }
        }
    }
}

fn config(setup: Setup, bank_url: &str, shop_url: &str) -> String {
    let usual = TIMING.iter().filter(|(key, _)| !setup.timing.iter().any(|(changed, _)| changed == key));
    let timing: String = usual.chain(setup.timing).map(|(key, value)| format!("{key} = {value}\n")).collect();
    let extras = if setup.refunds_extras { "refund" } else { "review" };
    format!(
        r#"
[timing]
{timing}
[[merchant]]
id = "mer_1"
name = "Zerno"
mode = "test"
secret_key = "{SECRET_KEY}"
provider = {{ kind = "yookassa", account = "100500", secret = "{ACCOUNT_SECRET}", url = "{bank_url}", notify_secret = "{NOTIFY_SECRET}" }}
return_origins = ["{shop_url}"]
webhook = {{ url = "{shop_url}/shop/webhooks", secret = "{WEBHOOK_SECRET}" }}
extras = "{extras}"
"#
    )
}
