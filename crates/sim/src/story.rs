//! What happened, as a person can read it: a line an event, with the time since the beginning.

use crate::time::Time;

/// The lines; none where nobody wants to read them.
pub struct Story {
    lines: Option<Vec<String>>,
    time: Time,
    began_ms: i64,
}

impl Story {
    /// An empty story; `tells` if somebody wants to read it.
    pub fn new(tells: bool, time: &Time) -> Self {
        Self { lines: tells.then(Vec::new), time: time.clone(), began_ms: time.real().0 }
    }

    /// Whether somebody wants to read it.
    pub fn is_read(&self) -> bool {
        self.lines.is_some()
    }

    /// One more line.
    pub fn tell(&mut self, words: impl FnOnce() -> String) {
        let Some(lines) = &mut self.lines else { return };
        let ms = self.time.real().0 - self.began_ms;
        lines.push(format!("{:>4}:{:02}.{:03}  {}", ms / 60_000, ms / 1_000 % 60, ms % 1_000, words()));
    }

    /// All lines.
    pub fn lines(&self) -> &[String] {
        self.lines.as_deref().unwrap_or_default()
    }
}
