//! Many clients at once for a fixed time. Counts what they did and how long each waited.

use std::{
    cell::RefCell,
    net::SocketAddr,
    rc::Rc,
    time::{Duration, Instant},
};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tokio::task::LocalSet;

use crate::{
    http::Client,
    merchant::{self, Paid},
    usage,
};

/// Clients at once, each with a connection of its own and one request under way.
pub const CLIENTS: usize = 16;

/// What the clients got in one measurement.
#[derive(Clone, Serialize, Deserialize)]
pub struct Throughput {
    /// Done, all of them right.
    pub count: usize,
    /// From the first request to the last answer.
    pub seconds: f64,
    /// Half of them took at most this long.
    pub median_ms: f64,
    /// All but one in a hundred did.
    pub p99_ms: f64,
}

impl Throughput {
    /// How many a second.
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }

    /// Of what was waited for since `started`.
    pub fn of(started: Instant, mut waited: Vec<Duration>) -> Self {
        waited.sort_unstable();
        let ms = |part: usize| {
            waited.get(waited.len() * part / 100).map_or(0.0, |wait| wait.as_secs_f64() * 1000.0)
        };
        let seconds = started.elapsed().as_secs_f64();
        Self { count: waited.len(), seconds, median_ms: ms(50), p99_ms: ms(99) }
    }
}

/// Pays until the time is over or the tokens are. `series` keeps the orders apart from those of other calls.
pub async fn pay(
    server: SocketAddr,
    series: &'static str,
    tokens: Vec<String>,
    time: Duration,
) -> Result<(Throughput, Vec<Paid>)> {
    pay_with(CLIENTS, server, series, tokens, async move |since: Instant| since.elapsed() < time).await
}

/// Pays with so many clients for as long as `goes_on` says, or the tokens last.
pub async fn pay_with<G>(
    clients: usize,
    server: SocketAddr,
    series: &'static str,
    tokens: Vec<String>,
    goes_on: G,
) -> Result<(Throughput, Vec<Paid>)>
where
    G: AsyncFn(Instant) -> bool + 'static,
{
    let tokens = Rc::new(RefCell::new(tokens));
    let paid = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&paid);
    let throughput = repeat(clients, server, goes_on, async move |client: &mut Client, _| {
        let (token, left) = {
            let mut tokens = tokens.borrow_mut();
            (tokens.pop(), tokens.len())
        };
        let Some(token) = token else { return Ok(false) };
        let payment = merchant::pay(client, format!("{series}-{left}"), token).await?;
        paid.borrow_mut().push(payment);
        Ok(true)
    })
    .await?;
    let paid = kept.take();
    Ok((throughput, paid))
}

/// Submits one payment for each token, whatever is known of its result then.
pub async fn start_all(
    clients: usize,
    server: SocketAddr,
    series: &'static str,
    tokens: Vec<String>,
) -> Result<Vec<Paid>> {
    let (tokens, started) = (Rc::new(RefCell::new(tokens)), Rc::new(RefCell::new(Vec::new())));
    let kept = Rc::clone(&started);
    let goes_on = async |_: Instant| true;
    repeat(clients, server, goes_on, async move |client: &mut Client, _| {
        let (token, left) = {
            let mut tokens = tokens.borrow_mut();
            (tokens.pop(), tokens.len())
        };
        let Some(token) = token else { return Ok(false) };
        let (payment, _) = merchant::start(client, format!("{series}-{left}"), token).await?;
        started.borrow_mut().push(payment);
        Ok(true)
    })
    .await?;
    Ok(kept.take())
}

/// What is asked again.
#[derive(Clone, Copy)]
pub enum Replay {
    /// `POST /v1/checkouts`.
    Checkout,
    /// The submission of an intent.
    Submit,
}

/// Asks again for payments that were made.
pub async fn replay(
    server: SocketAddr,
    what: Replay,
    paid: &Rc<Vec<Paid>>,
    time: Duration,
) -> Result<Throughput> {
    let paid = Rc::clone(paid);
    let goes_on = async move |since: Instant| since.elapsed() < time;
    repeat(CLIENTS, server, goes_on, async move |client: &mut Client, nth| {
        let payment = &paid[nth % paid.len()];
        match what {
            Replay::Checkout => merchant::replay_checkout(client, payment).await?,
            Replay::Submit => merchant::replay_submit(client, payment).await?,
        }
        Ok(true)
    })
    .await
}

/// Lets clients do `work` again and again; it says whether it did something. It gets a number that no other call gets.
async fn repeat<G, W>(many: usize, server: SocketAddr, goes_on: G, work: W) -> Result<Throughput>
where
    G: AsyncFn(Instant) -> bool + 'static,
    W: AsyncFn(&mut Client, usize) -> Result<bool> + 'static,
{
    let mut clients = Vec::new();
    for _ in 0..many {
        clients.push(Client::connect(server).await?);
    }
    let (work, goes_on) = (Rc::new(work), Rc::new(goes_on));
    let local = LocalSet::new();
    let started = usage::now();
    let tasks: Vec<_> = clients
        .into_iter()
        .enumerate()
        .map(|(nth, mut client)| {
            let (work, goes_on) = (Rc::clone(&work), Rc::clone(&goes_on));
            local.spawn_local(async move {
                let mut waited = Vec::new();
                while goes_on(started).await {
                    let began = usage::now();
                    if !work(&mut client, waited.len() * many + nth).await? {
                        break;
                    }
                    waited.push(began.elapsed());
                }
                anyhow::Ok(waited)
            })
        })
        .collect();
    local.await;
    let mut waited = Vec::new();
    for task in tasks {
        waited.extend(task.await??);
    }
    Ok(Throughput::of(started, waited))
}
