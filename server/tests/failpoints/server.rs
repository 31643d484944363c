//! `payonce serve` as a process of its own, started over a database and at an address that it may share with others before and
//! after it.

use std::{net::SocketAddr, path::Path, process::Command};

use reqwest::Client;

use crate::process::{Process, eventually};

/// Where Debian has it; the loader puts in its folder of libraries.
const FAKETIME: &str = "/usr/$LIB/faketime/libfaketime.so.1";

/// What happens to a process at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// SIGKILL.
    Kill,
    /// SIGSTOP.
    Stop,
    /// The step ends as if the database were busy.
    Error,
}

/// A place, and what happens there.
pub type Strike = Option<(&'static str, Deed)>;

/// How a server is started.
pub struct Start<'w> {
    pub folder: &'w Path,
    /// The data folder in it.
    pub data: &'static str,
    pub listen: SocketAddr,
    pub strike: Strike,
    /// How far its clock is from ours, as libfaketime reads it.
    pub clock: Option<&'static str>,
}

/// A server's process.
pub struct Server {
    pub url: String,
    pub process: Process,
}

impl Start<'_> {
    /// Starts it, and does not wait for it.
    pub fn now(&self) -> Server {
        let data = self.folder.join(self.data);
        std::fs::create_dir_all(&data).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_payonce"));
        command.env_clear();
        if let Some(offset) = self.clock {
            // Only what time it is: how much time passes is the same everywhere.
            command
                .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
                .env("FAKETIME", offset)
                .env("LD_PRELOAD", FAKETIME);
        }
        let url = format!("http://{}", self.listen);
        let database = self.folder.join("payonce.db");
        command
            .arg("serve")
            .env("PAYONCE_CONFIG", self.folder.join("payonce.toml"))
            .env("PAYONCE_DATA", &data)
            .env("PAYONCE_DATABASE_URL", format!("sqlite:{}", database.display()))
            .env("PAYONCE_LISTEN", self.listen.to_string())
            .env("PAYONCE_RATE_LIMIT", "off")
            .env("PAYONCE_SMTP_URL", "file:")
            .env("PAYONCE_SECRET", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        if let Some((place, deed)) = self.strike {
            let deed = match deed {
                Deed::Kill => "kill",
                Deed::Stop => "stop",
                Deed::Error => "error",
            };
            command.env("PAYONCE_FAILPOINT", format!("{place}={deed}"));
        }
        // Each run has a log of its own.
        let runs = (1..).map(|run| data.join(format!("serve-{run}.log")));
        let log = runs.into_iter().find(|log| !log.exists()).unwrap();
        Server { url, process: Process::start(command, &log) }
    }
}

impl Server {
    /// Waits until it serves.
    pub async fn ready(self, client: &Client) -> Self {
        let url = format!("{}/readyz", self.url);
        let mut server = self;
        eventually("the server answers", async || {
            if let Some(status) = server.process.has_ended() {
                panic!("it ended: {status}: {}", server.process.said());
            }
            let answer = client.get(&url).send().await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await;
        server
    }

    /// Waits until its place has had its way with it: one that is never reached fails the test.
    pub async fn is_struck(&mut self, deed: Deed) {
        match deed {
            Deed::Kill => self.process.is_killed().await,
            Deed::Stop => self.process.is_stopped().await,
            Deed::Error => self.process.says("the database is busy").await,
        }
    }
}
