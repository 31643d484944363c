//! `payonce serve`: the server alone, for merchants that are configured.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use axum::Router;
use engine::Engine;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    background::{self, Signals},
    commands::shutdown_signal,
    config::Config,
    http::{self, App},
    live::Hub,
    net, setup,
};

/// Connections get this long to end, then what is under way gets as long; then it is handed over.
const GRACE: Duration = Duration::from_secs(4);

/// Runs until it is told to stop.
pub async fn run(config: Config) -> Result<()> {
    let running = Running::start(&config, setup::engine(&config).await?).await?;
    if running.app.engine.directory.merchants().await?.is_empty() {
        bail!(
            "no merchant is configured: add a [[merchant]] to the file that PAYONCE_CONFIG names, or run `payonce demo` first"
        );
    }
    let listener = net::bind(config.listen, "PAYONCE_LISTEN").await?;
    println!("Payonce serves {} ({})", config.public_url, config.listen);
    running.serve(listener, Router::new()).await
}

/// An engine at work.
pub(super) struct Running {
    pub(super) app: App,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Running {
    pub(super) async fn start(config: &Config, mut engine: Engine) -> Result<Self> {
        let live = Arc::new(Hub::default());
        engine.changes = live.clone();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let app = App::new(engine.clone(), live, config, tasks.clone());
        // Before anything is driven: after a long silence the listing is read first.
        let is_gated = engine.start().await.context("cannot start")?;
        if is_gated {
            tracing::warn!(
                "no server was alive for a while, or an account is new: nothing is sent until its listing has been read"
            );
        }
        let sweep_every = Duration::from_millis(config.timing.sweep_ms.unsigned_abs());
        background::start(engine, &tasks, &stop, Signals { inbox: app.inbox.clone(), sweep_every });
        Ok(Self { app, tasks, stop })
    }

    /// Serves the API and `more` until the process is told to stop; then lets what is under way end.
    pub(super) async fn serve(self, listener: TcpListener, more: Router) -> Result<()> {
        let (stop, engine) = (self.stop.clone(), self.app.engine.clone());
        let told = async move {
            shutdown_signal().await;
            stop.cancel();
        };
        http::serve(listener, self.app, more, told, GRACE).await.context("the server ended")?;
        self.tasks.close();
        if tokio::time::timeout(GRACE, self.tasks.wait()).await.is_err() {
            engine.hand_over().await.context("what is under way waits for the end of its leases")?;
            tracing::warn!("stopped with work under way; whoever starts next goes on with it");
        }
        Ok(())
    }
}
