//! A stand-in for the bank: it takes faults, and shows a ledger that tests write.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use serde_json::{Value, json};

#[derive(Default)]
struct Books {
    faults: Vec<Value>,
    payments: Vec<Value>,
    is_obstinate: bool,
}

/// The stand-in. Clones share one set of books.
#[derive(Clone, Default)]
pub struct FakeBank {
    books: Arc<Mutex<Books>>,
}

impl FakeBank {
    /// The faults it was told, in order.
    pub fn faults(&self) -> Vec<Value> {
        self.books.lock().unwrap().faults.clone()
    }

    /// From now on it takes no fault.
    pub fn is_obstinate(&self) {
        self.books.lock().unwrap().is_obstinate = true;
    }

    /// Writes a payment into the ledger.
    pub fn enter(&self, order_id: &str, status: &str) {
        let payment =
            json!({ "id": "p", "status": status, "metadata": { "order_id": order_id, "other": 1 } });
        self.books.lock().unwrap().payments.push(payment);
    }

    pub fn router(&self) -> Router {
        Router::new()
            .route("/faults", post(arm).get(armed))
            .route("/ledger", get(ledger))
            .with_state(self.clone())
    }
}

async fn arm(State(bank): State<FakeBank>, Json(fault): Json<Value>) -> (StatusCode, Json<Value>) {
    let mut books = bank.books.lock().unwrap();
    if books.is_obstinate {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "unknown kind" })));
    }
    books.faults.push(fault.clone());
    (StatusCode::OK, Json(fault))
}

async fn armed(State(bank): State<FakeBank>) -> Json<Value> {
    Json(json!({ "faults": bank.faults() }))
}

async fn ledger(State(bank): State<FakeBank>) -> Json<Value> {
    let payments = bank.books.lock().unwrap().payments.clone();
    Json(json!({ "payments": payments, "refunds": [], "requests": [] }))
}
