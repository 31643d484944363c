//! Starts the bank, the server and the bare program as processes of their own, and ends them. Never outlives them.

use std::{
    ffi::{OsStr, OsString},
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::{
    bare::{BareResult, Way},
    http::Client,
    usage,
};

/// The merchant's secret key.
pub const SECRET_KEY: &str = "sk_test_bench";
/// Longest time until a process answers.
const START_WITHIN: Duration = Duration::from_secs(30);
/// How often it is asked whether it does.
const ASK_EVERY: Duration = Duration::from_millis(1);

/// A running process that serves HTTP; it ends with its owner.
pub struct Served {
    /// Where it answers.
    pub address: SocketAddr,
    /// From its start to its first good answer.
    pub started_in: Duration,
    child: Child,
}

impl Served {
    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// CPU it used so far.
    pub fn cpu_ms(&self) -> Result<f64> {
        usage::cpu_ms(&self.id().to_string())
    }

    async fn start(mut command: Command, address: SocketAddr, ready: &str, log: &Path) -> Result<Self> {
        let log_file = fs::File::create(log)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log_file);
        let began = usage::now();
        let child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let mut served = Self { address, started_in: Duration::ZERO, child };
        loop {
            if let Ok(mut client) = Client::connect(address).await
                && client.get(ready).await.is_ok_and(|answer| answer.status.is_success())
            {
                served.started_in = began.elapsed();
                return Ok(served);
            }
            let ended = served.child.try_wait()?;
            if ended.is_some() || began.elapsed() > START_WITHIN {
                bail!("it does not answer at {ready}:\n{}", fs::read_to_string(log).unwrap_or_default());
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Nothing of it is kept. Where this fails it has ended already.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Starts the sandbox bank with its ledger in memory.
pub async fn start_bank(payonce: &Path, folder: &Path) -> Result<Served> {
    let address = free_address()?;
    let mut command = Command::new(payonce);
    without_settings(&mut command);
    command.args(["bank", "--memory"]).env("PAYONCE_BANK_LISTEN", address.to_string());
    Served::start(command, address, "/ledger", &folder.join("bank.log")).await.context("the bank")
}

/// Starts the server over a new database in `folder`; `program` is the server's binary, or something that runs it.
pub async fn start_server(mut program: Command, folder: &Path, bank: SocketAddr) -> Result<Served> {
    let address = free_address()?;
    let config = folder.join("payonce.toml");
    fs::write(&config, merchant(bank))?;
    without_settings(&mut program);
    program
        .arg("serve")
        .env("PAYONCE_CONFIG", &config)
        .env("PAYONCE_DATA", folder.join("data"))
        .env("PAYONCE_LISTEN", address.to_string())
        .env("PAYONCE_SECRET", BASE64_STANDARD.encode([1; 32]))
        .env("PAYONCE_RATE_LIMIT", "off");
    Served::start(program, address, "/readyz", &folder.join("server.log")).await.context("the server")
}

/// Runs the bare program to its end; `wrap` makes the command that starts it.
pub fn run_bare(
    wrap: impl FnOnce(&OsStr) -> Command,
    way: Way,
    folder: &Path,
    seconds: u64,
) -> Result<BareResult> {
    let this: PathBuf = std::env::current_exe()?;
    let mut command = wrap(this.as_os_str());
    let arguments: [OsString; 5] =
        ["--seconds".into(), seconds.to_string().into(), "bare".into(), way.name().into(), folder.into()];
    let output = command.args(arguments).output().context("cannot start the bare program")?;
    ensure!(output.status.success(), "the bare program failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What the caller's environment says is meant for another server.
fn without_settings(command: &mut Command) {
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("PAYONCE_")) {
        command.env_remove(name);
    }
    command.env("RUST_LOG", "warn");
}

fn merchant(bank: SocketAddr) -> String {
    format!(
        r#"[[merchant]]
id = "mer_bench"
name = "Bench"
mode = "test"
secret_key = "{SECRET_KEY}"
publishable_key = "pk_test_bench"
provider = {{ kind = "yookassa", account = "100500", secret = "test_demo", url = "http://{bank}" }}
return_origins = []
frame_origins = []
"#
    )
}

/// A port that nobody has; whoever takes it before the process does makes the start fail.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
