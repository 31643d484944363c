//! A full disk: nothing half written, nobody told too early, and all well again when there is room (faults 19, 20, 68).

use futures_util::future::join_all;
use payment::{CheckoutStatus, StateName};
use store::{OpenedCheckout, SqlStore, Sqlite, SqliteOptions, Store, StoreError};

use super::{File, Raw};
use crate::{
    commands::{open, outcome, submit, succeeded, tenant},
    world::{World, claimed},
};

/// Members of one batch: more than fit.
const MEMBERS: usize = 48;

/// A store on a file that may grow by `pages`, and has a ballast to drop.
async fn nearly_full(file: &File, pages: u32) -> (SqlStore<Sqlite>, Raw) {
    drop(file.store().await);
    let mut raw = file.raw().await;
    raw.run("CREATE TABLE ballast (filling BLOB); INSERT INTO ballast VALUES (zeroblob(400000))")
        .await
        .unwrap();
    let used = u32::try_from(raw.int("SELECT page_count FROM pragma_page_count").await).unwrap();
    let options = SqliteOptions { max_pages: Some(used + pages), ..file.options() };
    (SqlStore::open(options).await.unwrap(), raw)
}

async fn make_room(raw: &mut Raw) {
    raw.run("DROP TABLE ballast").await.unwrap();
}

fn is_refused<R>(answer: &Result<R, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Refused(_)))
}

#[tokio::test]
async fn fault_19_a_full_disk_accepts_nothing_and_says_so() {
    let file = File::new();
    let (store, mut raw) = nearly_full(&file, 0).await;
    let mut accepted = 0;
    let refused = loop {
        let number = accepted;
        let answer = store.open_checkout(open(&format!("key-{number}"), &format!("order-{number}"))).await;
        if answer.is_err() {
            break answer;
        }
        accepted += 1;
        assert!(accepted < 500, "the disk never fills");
    };
    assert!(is_refused(&refused), "{refused:?}");
    assert_eq!(raw.opened().await, [accepted; 5], "nothing of the refused one is there");
    // What needs no room still works: reading, and an honest answer to a repeat.
    assert!(store.ping().await.is_ok());
    make_room(&mut raw).await;
    let again = store.open_checkout(open(&format!("key-{accepted}"), &format!("order-{accepted}"))).await;
    assert!(matches!(again, Ok(OpenedCheckout::Fresh(_, answer)) if answer.status == 201));
}

#[tokio::test]
async fn fault_20_a_result_that_finds_no_room_is_written_later() {
    let file = File::new();
    let (store, mut raw) = nearly_full(&file, 40).await;
    let world = World::over(store, file.clock.clone());
    let (checkout, intent) = world.offer("order-1").await;
    let claim = claimed(world.store.submit(submit(&checkout, &intent)).await.unwrap());
    // A long story needs more pages than there are.
    let mut commit = outcome(&claim, succeeded("object-1"));
    commit.changes[0].evidence = "evidence ".repeat(40_000);
    let refused = world.store.commit(commit.clone()).await;
    assert!(is_refused(&refused), "{refused:?}");
    let (checkout, intent) = world.checkout(checkout.id).await;
    assert_eq!((checkout.status, intent.state.name()), (CheckoutStatus::Open, StateName::Processing));
    assert_eq!(raw.count("charge").await, 0);
    assert_eq!(world.story(intent.id).await.operation, claim.operation);
    make_room(&mut raw).await;
    assert_eq!(world.commit(commit).await, (true, false));
    assert_eq!(world.checkout(checkout.id).await.0.status, CheckoutStatus::Paid);
}

#[tokio::test]
async fn fault_68_a_batch_on_a_full_disk_tells_each_member_the_truth() {
    let file = File::new();
    let (store, mut raw) = nearly_full(&file, 6).await;
    let command = |number: usize| {
        let mut command = open(&format!("key-{number}"), &format!("order-{number}"));
        command.terms.description = Some("a long description ".repeat(40));
        command
    };
    let answers = join_all((0..MEMBERS).map(|number| store.open_checkout(command(number)))).await;
    let told = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!(told < MEMBERS, "the disk was to fill within the batch");
    for answer in &answers {
        match answer {
            Ok(OpenedCheckout::Fresh(checkout, _)) => {
                assert!(store.checkout(tenant(), checkout.id).await.unwrap().is_some(), "told too early");
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => assert!(is_refused(answer), "{answer:?}"),
        }
    }
    assert_eq!(raw.opened().await, [told as i64; 5], "nothing is half written");
    make_room(&mut raw).await;
    let again = join_all((0..MEMBERS).map(|number| store.open_checkout(command(number)))).await;
    for (first, second) in answers.iter().zip(&again) {
        let expected = if first.is_ok() { "Known" } else { "Fresh" };
        assert!(format!("{:?}", second.as_ref().unwrap()).starts_with(expected), "{first:?} then {second:?}");
    }
    assert_eq!(raw.opened().await, [MEMBERS as i64; 5]);
}
