//! The figures as a table, and which limits are broken. A limit is a count, a size or a fact: nothing that another machine changes.

use crate::{bare::BareResult, load::Throughput, recovery::Crowd, run::Figures};

/// Flushes for a payment at most; one by one they are three.
const MAX_FLUSHES: f64 = 0.6;
/// The page and its styles after brotli.
const MAX_PAGE_BYTES: usize = 14_000;
/// The WebAssembly and what loads it after brotli.
const MAX_WASM_BYTES: usize = 60_000;

/// From a lost answer to the result, half of the payments.
const MAX_LOST_MS: f64 = 4_000.0;
/// Fresh payments' 99th percentile beside ten thousand unresolved ones, in that of an idle server.
const MAX_CROWDED: f64 = 2.0;

/// What people read.
pub fn table(f: &Figures) -> String {
    let notes = "In brackets: payonce divided by that column. Seconds and milliseconds are this machine's; ratios, flushes and bytes carry over.\n";
    beside_bare(f) + &listed(lines(f)) + notes
}

/// The crowd alone.
pub fn crowd_table(crowd: &Crowd) -> String {
    listed(crowd_lines(crowd).into())
}

/// A line of the table: its name, and what stands behind it.
type Line = (&'static str, String);

fn listed(lines: Vec<Line>) -> String {
    lines.into_iter().map(|(name, value)| format!("{name:<30}{value}\n")).collect()
}

/// The columns: the server, and the bare program's two ways.
fn beside_bare(f: &Figures) -> String {
    let (one, many) = (&f.bare_one_by_one, &f.bare_gathered);
    let mut out =
        format!("{:<30}{:>10}{:>22}{:>22}\n", "", "payonce", "bare, one by one", "bare, gathered by 16");
    let mut row = |name: &str, ours: f64, one: f64, many: f64| {
        out +=
            &format!("{name:<30}{ours:>10.2}{:>22}{:>22}\n", with_ratio(one, ours), with_ratio(many, ours));
    };
    row("payments/s", f.payments.per_second(), one.per_second(), many.per_second());
    row("flushes per payment", f.flushes_per_payment, f.bare_one_by_one_flushes, f.bare_gathered_flushes);
    row("CPU ms per payment", f.cpu_ms_per_payment, one.cpu_ms, many.cpu_ms);
    out
}

/// Everything below them.
fn lines(f: &Figures) -> Vec<Line> {
    let (html, css, wasm, glue) = (f.bytes.html, f.bytes.css, f.bytes.wasm, f.bytes.glue);
    let (page, script) = (html + css, wasm + glue);
    let (idle, loaded, most) = (f.idle_memory_mb, f.loaded_memory_mb, f.most_memory_mb);
    let (submit_ms, bare_ms) = (f.cpu_ms_per_submit_replay, f.bare_replay.cpu_ms);
    let [confirmed, meanwhile] = crowd_lines(&f.crowd);
    vec![
        ("payment ms", spread(&f.payments, 1)),
        ("replays/s, checkout", replays(f.checkout_replays.per_second(), &f.bare_replay)),
        ("replays/s, submit", replays(f.submit_replays.per_second(), &f.bare_replay)),
        ("CPU ms per submit replay", format!("{submit_ms:.3} (bare: {bare_ms:.3})")),
        ("HTML + CSS, brotli 11", format!("{page} of {MAX_PAGE_BYTES} ({html} + {css})")),
        ("WebAssembly + glue, brotli 11", format!("{script} of {MAX_WASM_BYTES} ({wasm} + {glue})")),
        ("memory MB", format!("{idle:.1} idle, {loaded:.1} after the load, {most:.1} at most")),
        ("lost answer to result, ms", spread(&f.lost_answers, 0)),
        confirmed,
        meanwhile,
        ("start-up ms", format!("{:.0}, a new database made", f.start_ms)),
        ("ledger", format!("{} paid, {} charged at the bank", f.paid, f.charged)),
    ]
}

/// How long they took, with so many digits.
fn spread(throughput: &Throughput, digits: usize) -> String {
    let (half, most) = (throughput.median_ms, throughput.p99_ms);
    format!("half within {half:.digits$}, 99 of 100 within {most:.digits$}")
}

fn crowd_lines(crowd: &Crowd) -> [Line; 2] {
    let (idle, beside) = (&crowd.idle, &crowd.beside);
    let (count, seconds, cpu_ms) = (crowd.count, crowd.seconds, crowd.cpu_ms);
    let (median, p99, idle_median, idle_p99) = (beside.median_ms, beside.p99_ms, idle.median_ms, idle.p99_ms);
    let rate = count as f64 / seconds;
    let times = crowded(crowd);
    [
        ("confirmed at once", format!("{count} in {seconds:.1} s: {rate:.0}/s, {cpu_ms:.2} ms of CPU each")),
        (
            "fresh payment meanwhile, ms",
            format!(
                "half within {median:.1} (idle {idle_median:.1}), 99 of 100 within {p99:.1} (idle {idle_p99:.1}: {times:.2}x)"
            ),
        ),
    ]
}

/// How many times as long a fresh payment takes.
fn crowded(crowd: &Crowd) -> f64 {
    crowd.beside.p99_ms / crowd.idle.p99_ms
}

/// The crowd's broken limit in words.
pub fn broken_by_crowd(crowd: &Crowd) -> Option<String> {
    let times = crowded(crowd);
    // What is not a number is no keeping of the limit.
    let holds = times <= MAX_CROWDED;
    (!holds).then(|| {
        format!("fresh payments take {times:.2} times as long beside a crowd, allowed are {MAX_CROWDED}")
    })
}

/// Each broken limit in words.
pub fn broken(f: &Figures) -> Vec<String> {
    let page = f.bytes.html + f.bytes.css;
    let wasm = f.bytes.wasm + f.bytes.glue;
    let checks = [
        (
            f.flushes_per_payment <= MAX_FLUSHES,
            format!("{:.2} flushes per payment, allowed are {MAX_FLUSHES}", f.flushes_per_payment),
        ),
        (page <= MAX_PAGE_BYTES, format!("HTML and CSS have {page} bytes, allowed are {MAX_PAGE_BYTES}")),
        (
            wasm <= MAX_WASM_BYTES,
            format!("WebAssembly and glue have {wasm} bytes, allowed are {MAX_WASM_BYTES}"),
        ),
        (
            f.lost_answers.median_ms < MAX_LOST_MS,
            format!(
                "half of the lost answers take {:.0} ms, allowed are {MAX_LOST_MS}",
                f.lost_answers.median_ms
            ),
        ),
        (
            f.ledger_agrees,
            format!("{} payments succeeded and the bank charged {}, or not the same ones", f.paid, f.charged),
        ),
    ];
    let broken = checks.into_iter().filter(|(holds, _)| !holds).map(|(_, words)| words);
    broken.chain(broken_by_crowd(&f.crowd)).collect()
}

fn with_ratio(theirs: f64, ours: f64) -> String {
    format!("{theirs:.2} ({:.2}x)", ours / theirs)
}

fn replays(per_second: f64, bare: &BareResult) -> String {
    format!("{per_second:.0} ({:.3}x of a bare read)", per_second / bare.per_second())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Figures {
        let throughput = json!({"count": 10, "seconds": 1.0, "median_ms": 1.0, "p99_ms": 1.0});
        let bare = json!({"count": 10, "seconds": 1.0, "cpu_ms": 1.0});
        let figures = json!({
            "payments": throughput, "cpu_ms_per_payment": 1.0, "flushes_per_payment": MAX_FLUSHES,
            "bare_one_by_one": bare, "bare_one_by_one_flushes": 3.0, "bare_gathered": bare, "bare_gathered_flushes": 0.2,
            "checkout_replays": throughput, "submit_replays": throughput, "cpu_ms_per_submit_replay": 1.0, "bare_replay": bare,
            "bytes": {"html": MAX_PAGE_BYTES, "css": 0, "wasm": MAX_WASM_BYTES, "glue": 0},
            "lost_answers": throughput,
            "crowd": {"count": 10, "seconds": 1.0, "cpu_ms": 1.0, "idle": throughput, "beside": throughput},
            "idle_memory_mb": 1.0, "loaded_memory_mb": 1.0, "most_memory_mb": 1.0, "start_ms": 1.0,
            "paid": 10, "charged": 10, "ledger_agrees": true,
        });
        serde_json::from_value(figures).unwrap()
    }

    #[test]
    fn what_just_reaches_its_limit_is_not_broken() {
        assert_eq!(broken(&good()), Vec::<String>::new());
    }

    #[test]
    fn every_limit_can_be_broken() {
        let breaks: [fn(&mut Figures); 8] = [
            |figures| figures.lost_answers.median_ms = MAX_LOST_MS,
            |figures| figures.crowd.beside.p99_ms = 2.01,
            |figures| figures.crowd.beside.p99_ms = f64::NAN,
            |figures| figures.flushes_per_payment = 0.61,
            |figures| figures.flushes_per_payment = f64::NAN,
            |figures| figures.bytes.css = 1,
            |figures| figures.bytes.glue = 1,
            |figures| figures.ledger_agrees = false,
        ];
        for (nth, change) in breaks.iter().enumerate() {
            let mut figures = good();
            change(&mut figures);
            assert_eq!(broken(&figures).len(), 1, "break {nth}");
        }
    }
}
