//! What a process has used, as Linux tells it under /proc. And the time.

use std::{fs, time::Instant};

use anyhow::{Context, Result};

/// The unit of /proc/PID/stat: USER_HZ, 100 a second wherever Linux runs Rust.
const MS_PER_TICK: f64 = 10.0;

/// Now.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub fn now() -> Instant {
    Instant::now()
}

/// Milliseconds of CPU, user and system together, of all threads since the process began. `process`: a number or `self`.
pub fn cpu_ms(process: &str) -> Result<f64> {
    let path = format!("/proc/{process}/stat");
    let stat = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The second field is the program's name in brackets and may hold anything; utime and stime are the 14th and 15th.
    let (_, fields) = stat.rsplit_once(')').context("a process without a name")?;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    let mut next = || ticks.next().context("too few fields in /proc/PID/stat");
    Ok((next()?? + next()??) * MS_PER_TICK)
}

/// Resident memory in MB, now and at most.
pub fn memory_mb(process: u32) -> Result<(f64, f64)> {
    let path = format!("/proc/{process}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes =
            line.and_then(|rest| rest.split_whitespace().next()).and_then(|text| text.parse::<f64>().ok());
        kilobytes.map(|kilobytes| kilobytes / 1024.0).with_context(|| format!("no {name} in {path}"))
    };
    Ok((field("VmRSS:")?, field("VmHWM:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_no_other_unit() {
        let (now, most) = memory_mb(std::process::id()).unwrap();
        assert!(now > 0.5 && now <= most && most < 4096.0, "{now} {most}");
    }

    #[test]
    fn cpu_time_rises_with_work() {
        let before = cpu_ms("self").unwrap();
        let mut sum = 0_u64;
        while cpu_ms("self").unwrap() <= before {
            sum = std::hint::black_box((0..100_000).fold(sum, u64::wrapping_add));
        }
        assert!(cpu_ms("self").unwrap() - before < 60_000.0);
    }
}
