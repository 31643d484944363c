//! A merchant's endpoint for webhooks: remembers what arrives, and answers as it is told.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use tokio::net::TcpListener;

/// What a next webhook is answered with; 200 when nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    Status(u16),
    /// To another path of this endpoint.
    Redirect,
    /// 200, and a body that never ends.
    Endless,
}

/// A webhook as it arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Arrived {
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }
}

#[derive(Default)]
struct Seen {
    next: Vec<Answers>,
    arrived: Vec<Arrived>,
}

/// The endpoint.
pub struct Endpoint {
    pub url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Endpoint {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let router = Router::new().fallback(receive).with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, seen }
    }

    /// The next ones are answered so, in this order.
    pub fn next(&self, answers: &[Answers]) {
        self.seen.lock().unwrap().next = answers.to_vec();
    }

    pub fn arrived(&self) -> Vec<Arrived> {
        self.seen.lock().unwrap().arrived.clone()
    }
}

async fn receive(
    State(seen): State<Arc<Mutex<Seen>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut seen = seen.lock().unwrap();
    seen.arrived.push(Arrived { path: uri.path().to_owned(), headers, body });
    if seen.next.is_empty() {
        return StatusCode::OK.into_response();
    }
    match seen.next.remove(0) {
        Answers::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Answers::Redirect => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response()
        }
        Answers::Endless => {
            let chunks = futures_util::stream::repeat_with(|| {
                Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 4096]))
            });
            Body::from_stream(chunks).into_response()
        }
    }
}
