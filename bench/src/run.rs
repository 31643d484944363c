//! The measurements, one after the other on an otherwise quiet machine, and the figures that come of them.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    process::Command,
    rc::Rc,
    time::Duration,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{
    bare::{BareResult, Way},
    bytes::{self, Bytes},
    flushes::{self, Flushes},
    http::Client,
    load::{self, CLIENTS, Replay, Throughput},
    merchant::{self, Paid},
    processes::{self, Served},
    recovery::{self, Crowd},
    usage,
};

/// Tokens for the first payments, whose speed says how many the measurement needs.
const FIRST_TOKENS: usize = 8000;
/// The server after its start, before its idle memory is looked at.
const SETTLE: Duration = Duration::from_secs(1);

/// Everything measured.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    /// Payments through the server.
    pub payments: Throughput,
    /// CPU of the server for each, in milliseconds.
    pub cpu_ms_per_payment: f64,
    /// Flushes of the server for each.
    pub flushes_per_payment: f64,
    /// The bare program, one payment after the other.
    pub bare_one_by_one: BareResult,
    /// Its flushes for each payment.
    pub bare_one_by_one_flushes: f64,
    /// The bare program, as many payments in a commit as there are clients.
    pub bare_gathered: BareResult,
    /// Its flushes for each payment.
    pub bare_gathered_flushes: f64,
    /// Checkouts asked for again.
    pub checkout_replays: Throughput,
    /// Submissions repeated.
    pub submit_replays: Throughput,
    /// CPU of the server for each replay of a submission, in milliseconds.
    pub cpu_ms_per_submit_replay: f64,
    /// Keys read by the bare program.
    pub bare_replay: BareResult,
    /// What the browser loads.
    pub bytes: Bytes,
    /// Resident memory of the server after its start, in MB.
    pub idle_memory_mb: f64,
    /// After the load.
    pub loaded_memory_mb: f64,
    /// The most it ever was.
    pub most_memory_mb: f64,
    /// From the server's start to its first `/readyz` that says 200, a new database made in between.
    pub start_ms: f64,
    /// Payments whose first answer was lost, until they were settled.
    pub lost_answers: Throughput,
    /// Ten thousand that are confirmed at once.
    pub crowd: Crowd,
    /// Payments that the server said it took.
    pub paid: usize,
    /// Payments in the bank's ledger that took money.
    pub charged: usize,
    /// Whether both name the same orders, each once.
    pub ledger_agrees: bool,
}

/// Runs all of it. `seconds` is the time of the longest measurement.
pub async fn run(payonce: &Path, scratch: &Path, seconds: u64) -> Result<Figures> {
    flushes::check()?;
    let payonce = built(payonce)?;
    let short = seconds.div_ceil(3);
    let bench = Bench {
        short: Duration::from_secs(short),
        long: Duration::from_secs(seconds),
        payonce: &payonce,
        scratch,
    };

    let (bare_one_by_one, bare_one_by_one_flushes) = bench.bare(Way::OneByOne, short)?;
    let (bare_gathered, bare_gathered_flushes) = bench.bare(Way::Gathered, short)?;
    let Stand { server, folder, bank, _bank_folder } = stand(&payonce, scratch).await?;
    let (idle_memory_mb, _) = usage::memory_mb(server.id())?;
    say("payments");
    let (payments, cpu_ms_per_payment, paid) = bench.payments(&server, &bank).await?;
    say("lost answers");
    // Apart: what they were answered first is no final answer, and not what is replayed.
    let mut recovered = Vec::new();
    let lost_answers = recovery::lost_answers(&server, &bank, &mut recovered).await?;
    let bytes = bytes::measure(server.address, &paid[0].page).await?;
    let paid = Rc::new(paid);
    let (checkout_replays, submit_replays, cpu_ms_per_submit_replay) = bench.replays(&server, &paid).await?;
    let (loaded_memory_mb, most_memory_mb) = usage::memory_mb(server.id())?;
    let start_ms = server.started_in.as_secs_f64() * 1000.0;
    let crowd = crowd_at(&server, &bank, folder.path(), &mut recovered).await?;
    drop(server);
    let (flushes_per_payment, watched) = bench.flushes(&bank).await?;
    let (bare_replay, _) = bench.bare(Way::Replay, short)?;

    let paid: Vec<&str> =
        paid.iter().chain(&recovered).chain(&watched).map(|paid| paid.order.as_str()).collect();
    let charged = merchant::charged_orders(bank.address).await?;
    Ok(Figures {
        ledger_agrees: same_orders(&paid, &charged),
        lost_answers,
        crowd,
        paid: paid.len(),
        charged: charged.len(),
        payments,
        cpu_ms_per_payment,
        flushes_per_payment,
        bare_one_by_one,
        bare_one_by_one_flushes,
        bare_gathered,
        bare_gathered_flushes,
        checkout_replays,
        submit_replays,
        cpu_ms_per_submit_replay,
        bare_replay,
        bytes,
        idle_memory_mb,
        loaded_memory_mb,
        most_memory_mb,
        start_ms,
    })
}

/// The ten thousand alone, on a new database.
pub async fn crowd(payonce: &Path, scratch: &Path) -> Result<Crowd> {
    let Stand { server, folder, bank, _bank_folder } = stand(&built(payonce)?, scratch).await?;
    crowd_at(&server, &bank, folder.path(), &mut Vec::new()).await
}

async fn crowd_at(server: &Served, bank: &Served, folder: &Path, recovered: &mut Vec<Paid>) -> Result<Crowd> {
    say("ten thousand at once (3 min)");
    recovery::crowd(server, bank, folder, recovered).await
}

/// A server over a new database that has come to rest, and its bank.
struct Stand {
    server: Served,
    folder: TempDir,
    bank: Served,
    _bank_folder: TempDir,
}

async fn stand(payonce: &Path, scratch: &Path) -> Result<Stand> {
    let bank_folder = folder_in(scratch)?;
    let bank = processes::start_bank(payonce, bank_folder.path()).await?;
    let folder = folder_in(scratch)?;
    let server = processes::start_server(Command::new(payonce), folder.path(), bank.address).await?;
    tokio::time::sleep(SETTLE).await;
    Ok(Stand { server, folder, bank, _bank_folder: bank_folder })
}

fn built(payonce: &Path) -> Result<PathBuf> {
    payonce.canonicalize().with_context(|| format!("{} is missing: run script/setup", payonce.display()))
}

fn folder_in(scratch: &Path) -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("bench-").tempdir_in(scratch)?)
}

struct Bench<'a> {
    short: Duration,
    long: Duration,
    payonce: &'a Path,
    scratch: &'a Path,
}

impl Bench<'_> {
    /// The bare program twice: alone for its speed, watched for its flushes.
    fn bare(&self, way: Way, seconds: u64) -> Result<(BareResult, f64)> {
        say(&format!("the bare program, {}", way.name()));
        let folder = folder_in(self.scratch)?;
        let result = processes::run_bare(|program| Command::new(program), way, folder.path(), seconds)?;
        if way == Way::Replay {
            return Ok((result, 0.0));
        }
        let folder = folder_in(self.scratch)?;
        let flushes = Flushes::in_folder(folder.path());
        let watched = processes::run_bare(|program| flushes.command(program), way, folder.path(), seconds)?;
        Ok((result, flushes.count()? as f64 / watched.count.max(1) as f64))
    }

    /// The payments, after some that warm everything up. Those are among the ones it returns.
    async fn payments(&self, server: &Served, bank: &Served) -> Result<(Throughput, f64, Vec<Paid>)> {
        let mut tills = Client::connect(bank.address).await?;
        let tokens = merchant::make_tokens(&mut tills, FIRST_TOKENS).await?;
        let (warm, mut paid) = load::pay(server.address, "warm", tokens, self.short).await?;
        let enough = (warm.per_second() * self.long.as_secs_f64() * 2.0) as usize + CLIENTS;
        let tokens = merchant::make_tokens(&mut tills, enough).await?;
        let cpu_before = server.cpu_ms()?;
        let (throughput, measured) = load::pay(server.address, "measured", tokens, self.long).await?;
        let cpu_ms = (server.cpu_ms()? - cpu_before) / throughput.count.max(1) as f64;
        paid.extend(measured);
        Ok((throughput, cpu_ms, paid))
    }

    /// Checkouts asked for again, submissions repeated, and the server's CPU for each of these.
    async fn replays(&self, server: &Served, paid: &Rc<Vec<Paid>>) -> Result<(Throughput, Throughput, f64)> {
        say("replays");
        let checkouts = load::replay(server.address, Replay::Checkout, paid, self.short).await?;
        let cpu_before = server.cpu_ms()?;
        let submits = load::replay(server.address, Replay::Submit, paid, self.short).await?;
        let cpu_ms = (server.cpu_ms()? - cpu_before) / submits.count.max(1) as f64;
        Ok((checkouts, submits, cpu_ms))
    }

    /// Payments through a second, watched server.
    async fn flushes(&self, bank: &Served) -> Result<(f64, Vec<Paid>)> {
        say("flushes");
        let folder = folder_in(self.scratch)?;
        let flushes = Flushes::in_folder(folder.path());
        let command = flushes.command(self.payonce.as_os_str());
        let server = processes::start_server(command, folder.path(), bank.address).await?;
        let tokens = merchant::make_tokens(&mut Client::connect(bank.address).await?, FIRST_TOKENS).await?;
        let before = flushes.count()?;
        let (throughput, paid) = load::pay(server.address, "watched", tokens, self.short).await?;
        Ok(((flushes.count()? - before) as f64 / throughput.count.max(1) as f64, paid))
    }
}

/// Whether both name the same orders, and neither names one twice.
fn same_orders(paid: &[&str], charged: &[String]) -> bool {
    let once: HashSet<&str> = paid.iter().copied().collect();
    let charged_once: HashSet<&str> = charged.iter().map(String::as_str).collect();
    once.len() == paid.len() && charged_once.len() == charged.len() && once == charged_once
}

fn say(what: &str) {
    eprintln!("measuring: {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_charge_a_missing_one_and_an_unknown_one_are_noticed() {
        let charged = |orders: &[&str]| orders.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(same_orders(&["a", "b"], &charged(&["b", "a"])));
        assert!(!same_orders(&["a", "b"], &charged(&["a", "b", "b"])));
        assert!(!same_orders(&["a", "b"], &charged(&["a"])));
        assert!(!same_orders(&["a"], &charged(&["a", "c"])));
    }
}
