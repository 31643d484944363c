//! A stream of events, as an EventSource reads it.

use std::time::Duration;

use serde_json::Value;

use super::{World, text};

/// A test ends that waits longer for an event: the comments that keep a silent stream alive are none.
const DEADLINE: Duration = Duration::from_secs(20);

/// An open stream.
pub struct Events {
    response: reqwest::Response,
    read: String,
}

impl Events {
    /// Opens the stream of a checkout's intent with its client token in the address.
    pub async fn of(world: &World, checkout: &Value) -> Self {
        let (intent, token) = (text(&checkout["payment_intent"]["id"]), text(&checkout["client_token"]));
        let url = format!("{}/v1/payment_intents/{intent}/events?token={token}", world.url);
        let response = within("an answer", world.client.get(url).send()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { response, read: String::new() }
    }

    /// The next state; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        within("an event, or the end", self.read_next()).await
    }

    async fn read_next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.read = rest;
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                // A comment keeps the connection alive and says nothing.
                let Some(data) = line("data:") else { continue };
                assert_eq!(line("event:"), Some("state"), "{event}");
                return Some(serde_json::from_str(data).unwrap());
            }
            // A server that goes away may cut the connection.
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next one in this state; what comes before is passed over.
    pub async fn until(&mut self, state: &str) -> Value {
        let reading = async {
            loop {
                let seen =
                    self.read_next().await.unwrap_or_else(|| panic!("the stream ended before {state}"));
                if seen["state"] == state {
                    return seen;
                }
            }
        };
        within(state, reading).await
    }
}

/// What comes of it, or the words that say what was waited for.
async fn within<T>(what: &str, reading: impl Future<Output = T>) -> T {
    let read = tokio::time::timeout(DEADLINE, reading).await;
    read.unwrap_or_else(|_| panic!("for {DEADLINE:?} this was waited for at a stream, in vain: {what}"))
}
