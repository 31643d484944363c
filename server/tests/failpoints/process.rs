//! A child process with a log of its own: started, signalled, and waited for. Ended with the test, by its own id.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

/// A test ends that waits longer for something to become true: much longer than anything takes.
const DEADLINE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Where ports of test processes begin.
const FIRST_PORT: u16 = 20_000;

/// A running child.
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a command; what it says goes into `log`, after what is there already.
    pub fn start(mut command: Command, log: &Path) -> Self {
        let said = File::options().create(true).append(true).open(log).unwrap();
        command.stdin(Stdio::null()).stdout(said.try_clone().unwrap()).stderr(said);
        Self { child: command.spawn().unwrap(), log: log.to_owned() }
    }

    /// What it has said so far.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Where that is kept.
    pub fn log(&self) -> PathBuf {
        self.log.clone()
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        kill_process(id, signal).unwrap();
    }

    /// Waits until it has said something with `part` in it.
    pub async fn says(&self, part: &str) {
        let what = format!("{part:?} in {}", self.log.display());
        eventually(&what, async || self.said().contains(part).then_some(())).await;
    }

    /// Waits until it stands still.
    pub async fn is_stopped(&self) {
        let path = format!("/proc/{}/stat", self.child.id());
        eventually("it is stopped", async || {
            let stat = fs::read_to_string(&path).unwrap();
            // After the name, which is in brackets and may hold anything.
            let state = stat.rsplit_once(") ").unwrap().1.chars().next();
            (state == Some('T')).then_some(())
        })
        .await;
    }

    /// Lets it stand still, wherever it is.
    pub async fn stop(&self) {
        self.signal(Signal::STOP);
        self.is_stopped().await;
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// How it ended, if it has.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for the end it comes to by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        eventually("it ends", async || self.has_ended()).await
    }

    /// Waits for its end by SIGKILL.
    pub async fn is_killed(&mut self) {
        assert_eq!(self.ended().await.signal(), Some(Signal::KILL.as_raw()), "{}", self.said());
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells it to end.
    pub fn tell_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Tells it to end, and waits until it has done so in order.
    pub async fn terminate(mut self) {
        self.tell_to_end();
        let status = self.ended().await;
        assert!(status.success(), "{status}: {}", self.said());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An address that nobody else takes, not even while nobody listens there: of a loopback network of this process's own.
pub fn own_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(FIRST_PORT);
    let [_, a, b, c] = std::process::id().to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(127, 64 | a, b, c), NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// The one place that waits: looks until there is something to see.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(DEADLINE, looking)
        .await
        .unwrap_or_else(|_| panic!("not within {DEADLINE:?}: {what}"))
}
