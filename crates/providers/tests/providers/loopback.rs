//! A server of one test, by hand: every connection and every byte is in the test's sight.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use payment::ProviderKey;
use providers::{Account, Outgoing, Secret, yookassa::YooKassa};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use uuid::Uuid;

pub const PAYMENT: &str =
    r#"{"id":"2f-1","status":"succeeded","amount":{"value":"1500.00","currency":"RUB"}}"#;

/// A request as it arrived.
#[derive(Debug)]
pub struct Arrived {
    pub head: String,
    pub body: Vec<u8>,
}

impl Arrived {
    /// Method and target.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap().strip_suffix(" HTTP/1.1").unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub async fn listen() -> (TcpListener, Account) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let account = account(&listener);
    (listener, account)
}

pub fn account(listener: &TcpListener) -> Account {
    let url = format!("http://{}", listener.local_addr().unwrap());
    Account { url, id: "100500".to_owned(), secret: Secret("test_demo".to_owned()) }
}

pub fn provider() -> YooKassa {
    rustls::crypto::ring::default_provider().install_default().ok();
    YooKassa::new().unwrap()
}

/// Reads one request. `None`: the connection ended and not a byte had come.
pub async fn read_request(stream: &mut TcpStream) -> Option<Arrived> {
    let mut bytes = Vec::new();
    loop {
        // A reset says the same as an end.
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            assert!(bytes.is_empty(), "part of a request: {}", String::from_utf8_lossy(&bytes));
            return None;
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let arrived = Arrived { head, body: bytes[end + 4..].to_vec() };
        let length = arrived.header("content-length").map_or(0, |length| length.parse().unwrap());
        if arrived.body.len() == length {
            return Some(arrived);
        }
    }
}

pub async fn answer(stream: &mut TcpStream, status: u16, header: &str, body: &str) {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{header}content-length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).await.unwrap();
}

/// How often the last look was taken.
#[derive(Clone, Default)]
pub struct Looks(Arc<AtomicUsize>);

impl Looks {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A payment request of these bytes; the last look says `allowed`.
pub fn outgoing(body: impl Into<Vec<u8>>, looks: &Looks, allowed: bool) -> Outgoing {
    let looks = looks.clone();
    guarded(body, move || {
        looks.0.fetch_add(1, Ordering::SeqCst);
        allowed
    })
}

pub fn guarded(body: impl Into<Vec<u8>>, may_leave: impl Fn() -> bool + Send + Sync + 'static) -> Outgoing {
    Outgoing {
        method: "POST".to_owned(),
        path: "/v3/payments".to_owned(),
        body: body.into(),
        key: ProviderKey(Uuid::from_u128(7)),
        may_leave: Arc::new(may_leave),
    }
}
