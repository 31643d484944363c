//! Requests of merchant alpha for a checkout, wrong in one way.

use serde_json::Value;

use super::{ALPHA, Reply, World, order};

pub async fn create_text(world: &World, body: impl Into<Vec<u8>>) -> Reply {
    world.post("/v1/checkouts").bearer(ALPHA).key("key").text("application/json", body).send().await
}

pub async fn create(world: &World, body: &Value) -> Reply {
    create_text(world, body.to_string()).await
}

/// A minimal order with one member more.
pub fn with(name: &str, value: Value) -> Value {
    let mut body = order("1");
    body[name] = value;
    body
}
