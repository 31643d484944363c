//! A mail server on this machine: speaks as much SMTP as a mail needs, remembers what arrives, and refuses or dies as it is told.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// What happens to a next mail; it is taken when nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its address is answered with this code.
    Code(u16),
    /// It is taken, and the connection ends without an answer.
    Silence,
}

/// A mail as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub to: String,
    pub text: String,
}

#[derive(Default)]
struct Seen {
    next: Vec<Fate>,
    letters: Vec<Letter>,
}

/// The server.
pub struct MailServer {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

impl MailServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(talk(connection, Arc::clone(&shared)));
            }
        });
        Self { url, seen }
    }

    /// The next ones fare so, in this order.
    pub fn next(&self, fates: &[Fate]) {
        self.seen.lock().unwrap().next = fates.to_vec();
    }

    pub fn letters(&self) -> Vec<Letter> {
        self.seen.lock().unwrap().letters.clone()
    }
}

async fn talk(connection: TcpStream, seen: Arc<Mutex<Seen>>) -> Option<()> {
    let mut wire = BufReader::new(connection);
    wire.write_all(b"220 mail.example\r\n").await.ok()?;
    let (mut to, mut fate) = (String::new(), None);
    loop {
        let mut line = String::new();
        if wire.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let command = line.to_ascii_uppercase();
        let answer = if command.starts_with("EHLO") {
            "250-mail.example\r\n250 8BITMIME\r\n".to_owned()
        } else if command.starts_with("RCPT") {
            to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            fate = take_fate(&seen);
            match fate {
                Some(Fate::Code(code)) => format!("{code} <{to}> is not wanted\r\n"),
                Some(Fate::Silence) | None => "250 ok\r\n".to_owned(),
            }
        } else if command.starts_with("DATA") {
            wire.write_all(b"354 go on\r\n").await.ok()?;
            let text = read_text(&mut wire).await?;
            seen.lock().unwrap().letters.push(Letter { to: to.clone(), text });
            if fate == Some(Fate::Silence) {
                return None;
            }
            "250 taken\r\n".to_owned()
        } else {
            "250 ok\r\n".to_owned()
        };
        wire.write_all(answer.as_bytes()).await.ok()?;
    }
}

fn take_fate(seen: &Mutex<Seen>) -> Option<Fate> {
    let mut seen = seen.lock().unwrap();
    (!seen.next.is_empty()).then(|| seen.next.remove(0))
}

async fn read_text(wire: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if wire.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if line == ".\r\n" {
            return Some(text);
        }
        text.push_str(&line);
    }
}
