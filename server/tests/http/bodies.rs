//! Bodies and whole requests that are not what they should be (attacks 13–17, 23): too long, too deep, too slow, too many.

use std::time::Duration;

use crate::support::{ALPHA, BETA, Raw, Setup, World, at_once, create_text, eventually, order};
use payonce::config::RateLimit;

#[tokio::test]
async fn attack_13_a_body_that_is_too_long_is_refused_and_the_client_sees_it() {
    let world = World::start().await;
    let padded = |bytes: usize| {
        let body = order("1").to_string();
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    create_text(&world, padded((64 << 10) + 1)).await.problem(413, "body_too_large");
    create_text(&world, padded(200 << 10)).await.problem(413, "body_too_large");
    create_text(&world, padded(1 << 20)).await.problem(413, "body_too_large");
    // Beyond what is read and dropped the connection may break, but nothing is done and the server lives.
    for bytes in [2 << 20, 8 << 20] {
        let call =
            world.post("/v1/checkouts").bearer(ALPHA).key("key").text("application/json", padded(bytes));
        if let Ok(reply) = call.try_send().await {
            reply.problem(413, "body_too_large");
        }
    }
    // Whoever has no key hears that, also after a long body.
    let anonymous = world.post("/v1/checkouts").key("key").text("application/json", padded(200 << 10));
    anonymous.send().await.problem(401, "unauthorized");
    let keyless = world.post("/v1/checkouts").bearer(ALPHA).text("application/json", padded(200 << 10));
    keyless.send().await.problem(400, "idempotency_key_missing");
    let wrong_type =
        world.post("/v1/checkouts").bearer(ALPHA).key("key").text("text/plain", padded(200 << 10));
    let status = wrong_type.send().await.status;
    assert!(status == 413 || status == 415, "{status}");
    let chunked = format!("{:x}\r\n{}\r\n0\r\n\r\n", 200 << 10, " ".repeat(200 << 10));
    let request = format!(
        "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"
    );
    assert!(Raw::exchange(&world.url, request).await.starts_with("HTTP/1.1 413"));
    let exact = create_text(&world, padded(64 << 10)).await.expect(201);
    assert!(!exact.is_replay());
}

#[tokio::test]
async fn attack_14_deep_nesting_is_refused() {
    let world = World::start().await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        create_text(&world, nested.clone()).await.problem(400, "invalid_json");
        let inside = format!(
            r#"{{"order_id":"1","amount":{{"value":"1","currency":"RUB"}},"metadata":{{"a":{nested}}}}}"#
        );
        let reply = create_text(&world, inside).await;
        assert!(reply.status == 400 || reply.status == 413, "{reply:?}");
    }
    world.get("/healthz").send().await.expect(200);
}

#[tokio::test]
async fn attack_15_only_json_is_taken_for_json() {
    let world = World::start().await;
    let body = order("1").to_string();
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "multipart/form-data",
        "json",
        "*/*",
    ] {
        let call = world.post("/v1/checkouts").bearer(ALPHA).key("key").text(content_type, body.clone());
        call.send().await.problem(415, "unsupported_media_type");
    }
    let request = format!(
        "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert!(Raw::exchange(&world.url, request).await.starts_with("HTTP/1.1 415"));
    let call =
        world.post("/v1/checkouts").bearer(ALPHA).key("key").text("Application/JSON; charset=UTF-8", body);
    call.send().await.expect(201);
}

#[tokio::test]
async fn attack_16_a_body_that_comes_too_slowly_is_408() {
    let mut setup = Setup::default();
    setup.patience.body = Duration::from_millis(500);
    let world = World::with(setup).await;
    let head = format!(
        "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    let answer = Raw::exchange(&world.url, head).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"), "{answer}");
    assert!(!world.open("key", &order("1")).send().await.expect(201).is_replay());
}

#[tokio::test]
async fn attack_16_a_head_that_comes_too_slowly_ends_the_connection() {
    let mut setup = Setup::default();
    setup.patience.head = Duration::from_millis(500);
    let world = World::with(setup).await;
    let answer = Raw::exchange(&world.url, "GET /healthz HTTP/1.1\r\nHo".to_owned()).await;
    assert_eq!(answer, "", "the connection ends without an answer");
    world.get("/healthz").send().await.expect(200);
}

#[tokio::test]
async fn attack_17_with_two_lengths_one_request_is_seen() {
    let world = World::start().await;
    let body = order("1").to_string();
    let smuggled = "GET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    for lengths in [
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", body.len() + 100),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", body.len() + 100),
    ] {
        let request = format!(
            "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
             Content-Type: application/json\r\n{lengths}\r\n{:x}\r\n{body}\r\n0\r\n\r\n{smuggled}",
            body.len()
        );
        let answer = Raw::exchange(&world.url, request).await;
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        assert!(answer.starts_with("HTTP/1.1 201") || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    for lengths in [
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
    ] {
        let request =
            format!("POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lengths}\r\n{{}}x");
        let answer = Raw::exchange(&world.url, request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{lengths}: {answer}");
    }
}

#[tokio::test]
async fn attack_23_a_flood_is_429_and_others_go_on() {
    let world = World::with(Setup { rate: RateLimit::PerSecond(5), ..Setup::default() }).await;
    let flood = (0..60).map(|_| world.get("/v1/checkouts/co_1").bearer(ALPHA).send());
    let (refused, passed): (Vec<_>, Vec<_>) =
        at_once(flood).await.into_iter().partition(|reply| reply.status == 429);
    assert!(
        passed.len() >= 20 && passed.iter().all(|reply| reply.status == 404),
        "the burst: {}",
        passed.len()
    );
    let refused = refused.first().unwrap();
    refused.problem(429, "rate_limited");
    let seconds: u32 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{seconds}");
    world.get("/v1/checkouts/co_1").bearer(BETA).send().await.problem(404, "not_found");
    world.get("/healthz").send().await.expect(200);
    // A key that was refused means nothing yet.
    let checkout = eventually("the flood is forgiven", || async {
        let reply = world.open("key", &order("1")).send().await;
        (reply.status != 429).then_some(reply)
    })
    .await;
    assert!(!checkout.expect(201).is_replay());
}

#[tokio::test]
async fn odd_requests_do_not_hurt() {
    let world = World::start().await;
    for request in [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "\r\n\r\n".to_owned(),
        "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n".to_owned(),
        "x".repeat(1000),
        format!("GET /{} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "a".repeat(70_000)),
        format!(
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: {}\r\n\r\n",
            "a".repeat(500_000)
        ),
        format!("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{}\r\n", "X: a\r\n".repeat(200)),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nConnection: close\r\n\r\n".to_owned(),
    ] {
        let mut raw = Raw::connect(&world.url).await;
        raw.write(&request).await;
        raw.end().await;
        let answer = raw.rest().await;
        assert!(!answer.contains("HTTP/1.1 5"), "{answer}");
    }
    world.get("/healthz").send().await.expect(200);
}
