//! The shop's side of notifications: takes them, answers as told, and remembers all of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bank::Config;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::support::{TestBank, in_time};

#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    desk: Arc<Desk>,
    _serving: Arc<Serving>,
}

struct Desk {
    /// Next answers; 200 when there are none.
    answers: Mutex<VecDeque<u16>>,
    /// An answer takes a permit.
    answering: Semaphore,
    seen: watch::Sender<Vec<Seen>>,
}

/// What came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub headers: HeaderMap,
    pub text: String,
}

struct Serving(JoinHandle<()>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Receiver {
    pub async fn start() -> Self {
        let desk = Arc::new(Desk {
            answers: Mutex::default(),
            answering: Semaphore::new(1000),
            seen: watch::Sender::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/notify/secret", listener.local_addr().unwrap());
        let router = Router::new().route("/notify/secret", post(take)).with_state(Arc::clone(&desk));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, desk, _serving: Arc::new(Serving(serving)) }
    }

    /// A bank that announces everything to a receiver.
    pub async fn beside_bank() -> (TestBank, Self) {
        Self::beside(|_| {}).await
    }

    /// The same, the bank otherwise as it is told to be.
    pub async fn beside(change: impl FnOnce(&mut Config)) -> (TestBank, Self) {
        let receiver = Self::start().await;
        let bank = TestBank::with(|config| {
            config.notify_url = Some(receiver.url.clone());
            change(config);
        })
        .await;
        (bank, receiver)
    }

    /// What it answers next, in this order.
    pub fn answer(&self, statuses: &[u16]) {
        self.desk.answers.lock().unwrap().extend(statuses);
    }

    /// Takes notifications, but answers none until `go_on`.
    pub fn fall_silent(&self) {
        self.desk.answering.forget_permits(1000);
    }

    pub fn go_on(&self) {
        self.desk.answering.add_permits(1000);
    }

    /// All that has come, once these are at least `count`.
    pub async fn seen(&self, count: usize) -> Vec<Seen> {
        let mut seen = self.desk.seen.subscribe();
        in_time(async { seen.wait_for(|seen| seen.len() >= count).await.unwrap().clone() }).await
    }

    /// How many have come.
    pub fn so_far(&self) -> usize {
        self.desk.seen.borrow().len()
    }

    /// The events of `count` notifications, asserting that no more have come.
    pub async fn events(&self, count: usize) -> Vec<String> {
        let seen = self.seen(count).await;
        assert_eq!(seen.len(), count, "{seen:?}");
        seen.iter().map(|one| one.body()["event"].as_str().unwrap().to_owned()).collect()
    }
}

impl Seen {
    pub fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

async fn take(State(desk): State<Arc<Desk>>, headers: HeaderMap, text: String) -> StatusCode {
    desk.seen.send_modify(|seen| seen.push(Seen { headers, text }));
    desk.answering.acquire().await.unwrap().forget();
    let status = desk.answers.lock().unwrap().pop_front().unwrap_or(200);
    StatusCode::from_u16(status).unwrap()
}
