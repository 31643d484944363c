//! One request, and its answer whole: status, headers, bytes.

use std::time::Duration;

use reqwest::{Client, Method, header::HeaderMap};
use serde_json::Value;

/// A test ends that waits longer for an answer: more than any answer takes, less than the runner waits for the test.
const DEADLINE: Duration = Duration::from_secs(60);

/// A request to be sent.
pub struct Call {
    client: Client,
    method: Method,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

/// An answer.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Call {
    pub fn new(client: &Client, method: &str, url: String) -> Self {
        let method = method.parse().unwrap();
        Self { client: client.clone(), method, url, headers: Vec::new(), body: Vec::new() }
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }

    pub fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    /// Adds a line: a second one of the same name stands beside the first.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.text("application/json", body.to_string())
    }

    pub fn text(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("Content-Type", content_type)
    }

    pub async fn send(self) -> Reply {
        let what = format!("{} {}", self.method, self.url);
        let reply = self.try_send().await;
        reply.unwrap_or_else(|error| panic!("no whole answer within {DEADLINE:?} to {what}: {error:?}"))
    }

    pub async fn try_send(self) -> Result<Reply, reqwest::Error> {
        let mut request = self.client.request(self.method, self.url).timeout(DEADLINE).body(self.body);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Reply { status, headers, bytes: response.bytes().await?.to_vec() })
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.bytes))
    }
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Whether it carries both marks of a replay; one alone is a failure.
    #[track_caller]
    pub fn is_replay(&self) -> bool {
        let marks = ["Idempotent-Replayed", "Idempotency-Replayed"].map(|name| self.header(name));
        assert_eq!(marks[0], marks[1], "{self:?}");
        assert!(matches!(marks[0], None | Some("true")), "{self:?}");
        marks[0].is_some()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Checks that it is a problem (RFC 9457) in every member, with this status and code.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("Content-Type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["code"], code, "{problem}");
        assert!(
            problem["type"].as_str().is_some_and(|link| link.ends_with(&format!("#{code}"))),
            "{problem}"
        );
        for member in ["title", "detail"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        }
        assert_eq!(problem["request_id"].as_str(), self.header("Request-Id"), "{self:?}");
        let known = ["type", "title", "status", "detail", "code", "field", "request_id", "checkout"];
        let strange = problem.as_object().unwrap().keys().find(|member| !known.contains(&member.as_str()));
        assert_eq!(strange, None, "{problem}");
        problem
    }

    /// As [`Reply::problem`], with the field to blame.
    #[track_caller]
    pub fn blames(&self, status: u16, code: &str, field: &str) -> Value {
        let problem = self.problem(status, code);
        assert_eq!(problem["field"], field, "{problem}");
        problem
    }
}
