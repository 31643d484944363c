//! The database is busy, full, or its connections are gone (faults 18, 19, 22): 503, never "declined", and nothing is half done.

use std::time::Duration;

use rusqlite::Connection;

use crate::support::{ALPHA, GOOD, Setup, World, at_once, order, text};

async fn impatient() -> World {
    World::with(Setup { store_patience: Duration::from_millis(500), worker: false, ..Setup::default() }).await
}

fn lock(world: &World) -> Connection {
    let connection = Connection::open(world.folder.path().join("payonce.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

#[tokio::test]
async fn fault_22_a_busy_database_is_503_and_the_same_key_works_afterwards() {
    let world = impatient().await;
    let (checkout, other) = (world.checkout("1").await, world.checkout("2").await);
    let locked = lock(&world);
    let token = world.bank.token(GOOD).await;
    let calls =
        [world.open("key", &order("3")), world.again(&checkout, "again"), world.submit(&checkout, &token)];
    for reply in at_once(calls.into_iter().map(|call| call.send())).await {
        reply.problem(503, "unavailable");
        assert_eq!(reply.header("Retry-After"), Some("1"));
    }
    // Reading goes on.
    assert_eq!(world.shown(&other).await, other);
    world.get(&world.page(&other)).send().await.expect(200);
    assert!(world.bank.creates().await.is_empty());
    locked.execute_batch("ROLLBACK").unwrap();
    assert!(!world.open("key", &order("3")).send().await.expect(201).is_replay());
    assert!(!world.again(&checkout, "again").send().await.expect(200).is_replay());
    let paid = world.submit(&checkout, &token).send().await.expect(200);
    assert_eq!((paid.json()["state"].as_str(), paid.is_replay()), (Some("succeeded"), false));
    assert_eq!((world.bank.charges("1").await, world.bank.creates().await.len()), (1, 1));
}

#[tokio::test]
async fn fault_22_busy_for_less_than_its_patience_is_only_slower() {
    let world = World::start().await;
    let locked = lock(&world);
    let call = tokio::spawn(world.open("key", &order("1")).send());
    // The request is at the writer's door by the time another one has been answered.
    world.get("/readyz").send().await.expect(200);
    assert!(!call.is_finished());
    locked.execute_batch("ROLLBACK").unwrap();
    call.await.unwrap().expect(201);
}

#[tokio::test]
async fn fault_18_with_no_connection_left_it_is_503_and_then_works() {
    let world = impatient().await;
    let checkout = world.checkout("1").await;
    let token = world.bank.token(GOOD).await;
    let mut held = Vec::new();
    while let Some(connection) = world.store.dialect().readers().try_acquire() {
        held.push(connection);
    }
    while held.len() < 4 {
        held.push(world.store.dialect().readers().acquire().await.unwrap());
    }
    let calls = [
        world.get("/readyz"),
        world.get(&format!("/v1/checkouts/{}", text(&checkout["id"]))).bearer(ALPHA),
        world.open("key", &order("2")),
        world.submit(&checkout, &token),
    ];
    for reply in at_once(calls.into_iter().map(|call| call.send())).await {
        reply.problem(503, "unavailable");
    }
    let page = world.get(&world.page(&checkout)).send().await.expect(503);
    assert!(page.header("Content-Type").unwrap().starts_with("text/html"));
    world.get("/healthz").send().await.expect(200);
    assert!(world.bank.creates().await.is_empty());
    drop(held);
    world.get("/readyz").send().await.expect(200);
    assert!(!world.open("key", &order("2")).send().await.expect(201).is_replay());
    assert_eq!(world.submit(&checkout, &token).send().await.expect(200).json()["state"], "succeeded");
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn fault_19_on_a_full_disk_it_is_503_and_nothing_is_charged() {
    const PAGES: u32 = 400;
    const READY: usize = 40;
    let setup = Setup { max_pages: Some(PAGES), worker: false, ..Setup::default() };
    let world = World::with(setup).await;
    let mut ready = Vec::new();
    for number in 0..READY {
        ready.push((world.checkout(&format!("ready-{number}")).await, world.bank.token(GOOD).await));
    }
    // Whoever else writes to this disk.
    let other = Connection::open(world.folder.path().join("payonce.db")).unwrap();
    other.busy_timeout(Duration::from_secs(5)).unwrap();
    let pages = "SELECT page_count FROM pragma_page_count";
    let used: u32 = other.query_row(pages, [], |row| row.get(0)).unwrap();
    other
        .execute_batch(&format!(
            "CREATE TABLE ballast (filling BLOB); INSERT INTO ballast VALUES (zeroblob({} * 4096))",
            PAGES - used
        ))
        .unwrap();
    let mut opened = 0;
    let refused = loop {
        let reply = world.open(&format!("key-{opened}"), &order(&format!("new-{opened}"))).send().await;
        if reply.status != 201 {
            break reply;
        }
        opened += 1;
    };
    refused.problem(503, "unavailable");
    let mut turned_away = Vec::new();
    for (checkout, token) in &ready {
        let reply = world.submit(checkout, token).send().await;
        if reply.status == 503 {
            reply.problem(503, "unavailable");
            turned_away.push((checkout, token));
        }
    }
    assert!(!turned_away.is_empty(), "there was room for all of them");
    for (checkout, _) in &turned_away {
        assert_eq!(
            world.bank.payments(text(&checkout["order_id"])).await.len(),
            0,
            "it said: nothing was charged"
        );
    }
    other.execute_batch("DROP TABLE ballast").unwrap();
    assert!(
        !world
            .open(&format!("key-{opened}"), &order(&format!("new-{opened}")))
            .send()
            .await
            .expect(201)
            .is_replay()
    );
    for (checkout, token) in turned_away {
        assert_eq!(world.submit(checkout, token).send().await.expect(200).json()["state"], "succeeded");
        assert_eq!(world.bank.charges(text(&checkout["order_id"])).await, 1);
    }
}
