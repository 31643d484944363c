//! Every row at once, as simulation and the comparison of stores see it.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use payment::{Holder, OrderId, Timestamp};
use store::{
    Abort, AcceptNotice, Announcement, Backend, ClaimNotices, Flow, MemoryStore, NoticeAbout, Start, Store,
    StoreError,
};

use crate::{
    commands::{self, LEASE_MS, frozen, object, outcome, refund, succeeded, tenant},
    conformance::{behaviours, run},
    world::{Hands, MINUTE, SECOND, World, uuid},
};

behaviours!(
    each_table_is_seen,
    what_was_seen_stays_as_it_was,
    r14_an_aborted_transaction_leaves_every_row_as_it_was,
    the_next_wake_up_is_the_earliest_of_all,
);

fn notice() -> AcceptNotice {
    let said = Announcement {
        event: "payment.succeeded".into(),
        object: object("object-1"),
        about: NoticeAbout::Payment,
        status: "succeeded".into(),
        hint: None,
    };
    AcceptNotice { tenant: tenant(), account: frozen("").account, said }
}

async fn each_table_is_seen(world: World) {
    let own = vec![(tenant(), frozen("").account)];
    world.store.start(Start { own, left: Vec::new(), gap_ms: 1 }).await.unwrap();
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let refund = world.followed(refund(&claim.intent, "object-1", "1.00")).await;
    world.store.accept_notice(notice()).await.unwrap();
    let stranger = commands::stranger("object-2", Some("order-2"));
    world.store.put_stranger(stranger.clone()).await.unwrap();

    let rows = world.rows().await;
    let (checkout, intent) = world.checkout(claim.checkout.id).await;
    let story = world.story(intent.id).await;
    assert_eq!(rows.keys.len(), 2);
    assert!(rows.keys.iter().all(|((owner, kind, key), row)| {
        *owner == tenant() && *kind == row.key.kind && key == row.key.key.as_str()
    }));
    assert!(rows.checkouts.values().eq([&checkout]));
    assert!(rows.intents.values().eq([&intent]));
    assert_eq!(rows.operations.len(), 2);
    for operation in [&story.operation, &refund] {
        assert_eq!(rows.operations.get(&(tenant(), operation.id)), Some(operation));
    }
    assert!(rows.attempts.values().eq(&story.attempts));
    assert!(rows.charges.values().eq(&story.charges));
    assert!(rows.journal.values().eq(&story.journal));
    let mut effects = world.store.effects(tenant(), intent.id).await.unwrap();
    effects.sort_by_key(|effect| effect.id);
    assert!(rows.effects.values().eq(&effects) && !effects.is_empty());
    assert_eq!(rows.heartbeat, Some(world.now()));
    let (sweep, _) = world.store.sweep(tenant(), frozen("").account).await.unwrap();
    assert!(rows.sweeps.values().eq([&sweep]));
    assert!(rows.strangers.values().eq([&stranger]));
    let (key, heard) = rows.inbox.iter().next().unwrap();
    assert_eq!((key, rows.inbox.len()), (&heard.key(), 1));
    assert_eq!(world.store.notice(key.clone()).await.unwrap().as_ref(), Some(heard));
}

async fn what_was_seen_stays_as_it_was(world: World) {
    let claim = world.sent("order-1").await;
    let (before, again) = (world.rows().await, world.rows().await);
    assert_eq!((&before, before.digest()), (&again, again.digest()));
    world.commit(outcome(&claim, succeeded("object-1"))).await;
    let after = world.rows().await;
    assert_eq!((&before, before.digest()), (&again, again.digest()));
    assert_ne!(before, after);
    assert_ne!(before.digest(), after.digest());
    assert!(before.charges.is_empty() && !after.charges.is_empty());
}

/// Beats, writes a stranger down, changes an intent, and gives up.
fn in_vain(end: fn() -> Abort) -> Flow<()> {
    Arc::new(move |tables| {
        Box::pin(async move {
            let now = tables.now().await?;
            tables.put_heartbeat(now.plus_ms(SECOND)).await?;
            tables.insert_stranger(&commands::stranger("object-9", None)).await?;
            let order = OrderId::parse("order-1").unwrap();
            let checkout = tables.order(&tenant(), &order).await?.unwrap();
            let intent = tables.newest_intent(&tenant(), checkout.id).await?.unwrap();
            assert!(tables.set_intent_email(&tenant(), intent.id, "other@example.com").await?);
            Err(end())
        })
    })
}

async fn r14_an_aborted_transaction_leaves_every_row_as_it_was(world: World) {
    world.sent("order-1").await;
    let before = world.rows().await;
    let failed = world.write(in_vain(|| Abort::Failed(StoreError::Busy(None)))).await;
    assert!(matches!(failed, Err(StoreError::Busy(_))), "{failed:?}");
    assert_eq!(world.rows().await, before);
    let raced = world.write(in_vain(|| Abort::Raced)).await;
    assert!(matches!(raced, Err(StoreError::Busy(_))), "{raced:?}");
    assert_eq!(world.rows().await, before);
}

async fn the_next_wake_up_is_the_earliest_of_all(world: World) {
    assert_eq!(world.rows().await.next_wake(), None);
    world.offer("order-1").await;
    assert_eq!(world.rows().await.next_wake(), None);
    let claim = world.sent("order-1").await;
    assert_eq!(world.rows().await.next_wake(), Some(world.now().plus_ms(LEASE_MS)));
    world.store.accept_notice(notice()).await.unwrap();
    let heard = world.now();
    assert_eq!(world.rows().await.next_wake(), Some(heard));
    world.clock.advance(MINUTE);
    assert_eq!(world.rows().await.next_wake(), Some(heard));
    let claims = ClaimNotices { holder: Holder(uuid()), lease_ms: 10 * MINUTE, most: 1, busy: Vec::new() };
    assert_eq!(world.store.claim_notices(claims).await.unwrap().len(), 1);
    assert_eq!(world.rows().await.next_wake(), Some(heard.plus_ms(LEASE_MS)));
    world.commit(outcome(&claim, succeeded("object-1"))).await;
    // The operation is over; what follows from it goes out now.
    assert_eq!(world.rows().await.next_wake(), Some(world.now()));
}

#[test]
fn a_copy_in_memory_goes_its_own_way() {
    run(async {
        let clock = Hands::default();
        let store = MemoryStore::new(clock.clock());
        store.open_checkout(commands::open("open-1", "order-1")).await.unwrap();
        let before = store.rows();
        let copy = store.copy().await;
        copy.open_checkout(commands::open("open-2", "order-2")).await.unwrap();
        assert_eq!(store.rows(), before);
        store.beat().await.unwrap();
        assert_eq!((copy.rows().heartbeat, copy.rows().checkouts.len()), (None, 2));
    });
}

#[test]
fn a_read_in_memory_keeps_nothing_and_a_panic_neither() {
    run(async {
        let store = MemoryStore::new(Hands::default().clock());
        let before = store.rows();
        let beats: Flow<()> = Arc::new(|tables| Box::pin(async { tables.put_heartbeat(Timestamp(1)).await }));
        store.read(Arc::clone(&beats)).await.unwrap();
        assert_eq!(store.rows(), before);
        let panics: Flow<()> = Arc::new(move |tables| {
            let beat = beats(tables);
            Box::pin(async {
                beat.await?;
                panic!("a flow panics")
            })
        });
        assert!(AssertUnwindSafe(store.write(panics)).catch_unwind().await.is_err());
        assert_eq!(store.rows(), before);
        store.beat().await.unwrap();
        assert_ne!(store.rows(), before);
    });
}
