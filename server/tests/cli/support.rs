//! Runs the built binary in a folder of its own, with an environment of its own, and never waits for ever.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use tempfile::TempDir;

/// Longer than any of these runs takes, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A secret as `openssl rand -base64 32` writes it.
pub const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A folder to run in, and what the process finds in its environment.
pub struct Place {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// How a run ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// What it said, on both streams.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Asserts that it stopped with a message that has all these parts.
    #[track_caller]
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!(self.code, Some(1), "{}", self.all());
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing in:\n{}", self.stderr);
        }
    }
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    pub fn set(mut self, variable: &str, value: &str) -> Self {
        self.environment.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// A file in the folder.
    pub fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    /// `payonce.toml`, named in the environment.
    pub fn toml(self, text: &str) -> Self {
        self.file("payonce.toml", text).set("PAYONCE_CONFIG", "payonce.toml")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_payonce"));
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.envs(self.environment.iter().map(|(variable, value)| (variable, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs to the end.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Ended {
        Running::start(self.command(arguments)).end()
    }

    /// Starts what does not end by itself.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }
}

/// A process; killed when dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let lines = lines_of(child.stdout.take().unwrap());
        let errors = lines_of(child.stderr.take().unwrap());
        Self { child, lines, errors }
    }

    /// The next line of its output that has `part`.
    #[track_caller]
    pub fn line_with(&self, part: &str) -> String {
        next_with(&self.lines, part)
    }

    /// The next line of its log that has `part`.
    #[track_caller]
    pub fn log_with(&self, part: &str) -> String {
        next_with(&self.errors, part)
    }

    /// Tells it to end, as an operator's system does, and waits for it.
    #[track_caller]
    pub fn terminate(self) -> Ended {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
        self.end()
    }

    #[track_caller]
    fn end(mut self) -> Ended {
        let mut stderr = String::new();
        loop {
            match self.errors.recv_timeout(PATIENCE) {
                Ok(line) => stderr = stderr + &line + "\n",
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it ends by itself"),
            }
        }
        let stdout = self.lines.iter().map(|line| line + "\n").collect();
        Ended { code: self.child.wait().unwrap().code(), stdout, stderr }
    }
}

fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (line, lines) = mpsc::channel();
    let output = BufReader::new(output);
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|text| line.send(text)));
    lines
}

#[track_caller]
fn next_with(lines: &Receiver<String>, part: &str) -> String {
    loop {
        let line = lines.recv_timeout(PATIENCE).unwrap();
        if line.contains(part) {
            return line;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Permission bits of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
