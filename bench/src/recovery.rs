//! How soon a lost answer is made up for, and what ten thousand payments that are being confirmed at once do to a fresh one.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use contract::IntentState;
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    http::Client,
    load::{self, CLIENTS, Throughput},
    merchant::{self, Paid},
    processes::Served,
    usage,
};

/// Payments whose first answer is lost.
const LOST: usize = 40;
/// How often a shopper's page is stood in for by a question.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often it is looked whether the crowd is settled.
const WATCH_EVERY: Duration = Duration::from_millis(250);
/// Longest time until a lost answer is made up for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Payments that are being confirmed at once.
const CROWD: usize = 10_000;
/// The bank asks to be asked again after this long: all of them have to be submitted by then.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(90);
/// Tokens of those who pay meanwhile: more than they can use.
const FRESH: usize = 40_000;
/// Clients that pay meanwhile: fewer than would keep the machine busy by themselves.
const FRESH_CLIENTS: usize = 2;
/// Payments that are made before, to know how long one takes on an idle server.
const IDLE: Duration = Duration::from_secs(10);

/// What a crowd of unresolved payments costs.
#[derive(Clone, Serialize, Deserialize)]
pub struct Crowd {
    /// How many there were.
    pub count: usize,
    /// From the moment all were due until the last was settled.
    pub seconds: f64,
    /// CPU of the server in that time for each, fresh payments included, in milliseconds.
    pub cpu_ms: f64,
    /// Fresh payments before it.
    pub idle: Throughput,
    /// Fresh payments during it.
    pub beside: Throughput,
}

/// Loses the first answer of some payments, and waits for each until it is settled.
pub async fn lost_answers(server: &Served, bank: &Served, paid: &mut Vec<Paid>) -> Result<Throughput> {
    let (mut shopper, mut tills) =
        (Client::connect(server.address).await?, Client::connect(bank.address).await?);
    let tokens = merchant::make_tokens(&mut tills, LOST).await?;
    let (started, mut waited) = (usage::now(), Vec::new());
    for (number, token) in tokens.into_iter().enumerate() {
        let order = format!("lost-{number}");
        merchant::arm(&mut tills, &json!({ "kind": "lose_answer", "order_id": order })).await?;
        let began = usage::now();
        let (payment, intent) = merchant::start(&mut shopper, order, token).await?;
        ensure!(intent.state == IntentState::Confirming, "its answer was not lost: {intent:?}");
        while merchant::state(&mut shopper, &payment).await? != IntentState::Succeeded {
            ensure!(began.elapsed() < PATIENCE, "a lost answer is not made up for");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        waited.push(began.elapsed());
        paid.push(payment);
    }
    Ok(Throughput::of(started, waited))
}

/// Ten thousand payments that the bank has carried out without saying so become due at one moment, while a few shoppers pay.
/// `folder`: the server's.
pub async fn crowd(server: &Served, bank: &Served, folder: &Path, paid: &mut Vec<Paid>) -> Result<Crowd> {
    let mut tills = Client::connect(bank.address).await?;
    let tokens = merchant::make_tokens(&mut tills, CROWD).await?;
    let ask_again_ms = ASK_AGAIN_AFTER.as_millis();
    let fault = json!({ "kind": "processing_202", "times": CROWD, "delay_ms": ask_again_ms });
    let fresh = merchant::make_tokens(&mut tills, CROWD).await?;
    let time = IDLE;
    let goes_on = async move |since: Instant| since.elapsed() < time;
    let (idle, before) = load::pay_with(FRESH_CLIENTS, server.address, "idle", fresh, goes_on).await?;
    paid.extend(before);

    merchant::arm(&mut tills, &fault).await?;
    let began = usage::now();
    let submitted = load::start_all(CLIENTS, server.address, "crowd", tokens).await?;
    ensure!(began.elapsed() < ASK_AGAIN_AFTER, "the crowd came too slowly to be due at one moment");
    ensure!(submitted.len() == CROWD, "only {} of the crowd came", submitted.len());
    paid.extend(submitted);
    // Stopped until the last of them is due: then all are, at one moment.
    signal(server, "STOP")?;
    tokio::time::sleep(ASK_AGAIN_AFTER + Duration::from_secs(1)).await;
    let fresh = merchant::make_tokens(&mut tills, FRESH).await?;
    let watched =
        Connection::open_with_flags(folder.join("data/payonce.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let last =
        watched.query_row("SELECT max(first_sent_at_ms) FROM operation", [], |row| row.get::<_, i64>(0))?;
    ensure!(unsettled(&watched, last)? == CROWD, "not all of the crowd are unresolved");
    let (cpu_before, began) = (server.cpu_ms()?, usage::now());
    signal(server, "CONT")?;
    let settled = Arc::new(OnceLock::new());
    // In a thread of its own: what it takes to look must not be taken from who pays.
    let watching = std::thread::spawn({
        let (settled, id) = (Arc::clone(&settled), server.id().to_string());
        move || watch(&watched, last, began, &id, &settled)
    });
    let goes_on = async move |_: Instant| settled.get().is_none();
    let (beside, meanwhile) = load::pay_with(FRESH_CLIENTS, server.address, "beside", fresh, goes_on).await?;
    paid.extend(meanwhile);
    let (seconds, cpu_then) = watching.join().map_err(|_panic| anyhow!("the watch of the crowd broke"))??;
    Ok(Crowd { count: CROWD, seconds, cpu_ms: (cpu_then - cpu_before) / CROWD as f64, idle, beside })
}

/// Waits until the crowd is settled: when that was, in seconds, and what the server's CPU clock showed.
fn watch(
    database: &Connection,
    last: i64,
    began: Instant,
    server: &str,
    settled: &OnceLock<()>,
) -> Result<(f64, f64)> {
    let outcome = loop {
        match unsettled(database, last) {
            Ok(0) => break usage::cpu_ms(server).map(|cpu_ms| (began.elapsed().as_secs_f64(), cpu_ms)),
            Ok(open) if began.elapsed() >= PATIENCE * 5 => {
                break Err(anyhow!("{open} of the crowd are not settled after {:?}", PATIENCE * 5));
            }
            Ok(_) => std::thread::sleep(WATCH_EVERY),
            Err(error) => break Err(error),
        }
    };
    // Who pays meanwhile stops, whatever came of it.
    let _already = settled.set(());
    outcome
}

/// Payments sent until `last` whose result is not known, in the server's own database: asking for each would be a load of its own.
fn unsettled(database: &Connection, last: i64) -> Result<usize> {
    let sql = "SELECT count(*) FROM operation WHERE stage = 'open' AND first_sent_at_ms <= $1";
    let mut count = database.prepare_cached(sql)?;
    Ok(usize::try_from(count.query_row([last], |row| row.get::<_, i64>(0))?)?)
}

fn signal(server: &Served, name: &str) -> Result<()> {
    let mut kill = Command::new("kill");
    kill.args([format!("-{name}"), server.id().to_string()]).stdin(Stdio::null());
    ensure!(kill.status().context("cannot run kill")?.success(), "the server takes no signal");
    Ok(())
}
