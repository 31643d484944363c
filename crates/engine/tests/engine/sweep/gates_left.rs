//! Whose accounts were left, and when the gate of one may be lifted (fault 23).

use payment::{CheckoutStatus, ObjectId, OrderId, ProviderAccount};
use store::Tenant;

use super::left::{left, moves};
use crate::{
    bank::Fault,
    merchant::{ACCOUNT, OTHER_ACCOUNT, merchant, secret_of, tenant, tenant_of},
    scenarios,
    world::{Offer, SECOND, SILENCE_MS, World, create_key, terms},
};

scenarios! {
    fault_23_an_account_is_left_by_one_although_another_merchant_has_it,
    fault_23_an_account_that_two_merchants_left_is_each_ones,
    fault_23_each_account_that_was_left_is_read,
    fault_23_what_is_on_its_way_to_an_account_that_was_left_is_waited_for,
    a_listing_that_leads_nowhere_is_not_read_for_ever_and_lifts_no_gate,
}

/// The accounts that were left, in order.
async fn names(world: &World) -> Vec<(Tenant, String)> {
    let found = left(&world.engine()).await.into_iter();
    let mut names: Vec<_> = found.map(|left| (left.tenant, left.id.as_str().to_owned())).collect();
    names.sort();
    names
}

/// Each is read, and then none is left.
async fn all_are_read(world: &World) {
    let engine = world.engine();
    for left in left(&engine).await {
        assert!(engine.sweep_left(&left).await.unwrap().complete);
    }
    assert_eq!(names(world).await, []);
}

/// The second merchant's money goes to that account.
fn second_has(world: &World, account: &str) {
    world.merchants.put(merchant(tenant_of("mer_2"), account, &secret_of(account), &world.vault));
}

fn account(id: &str) -> ProviderAccount {
    ProviderAccount::parse(id).unwrap()
}

async fn fault_23_an_account_is_left_by_one_although_another_merchant_has_it(world: World) {
    second_has(&world, ACCOUNT);
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    world.paying(&engine, "1").await;
    assert_eq!(names(&world).await, []);
    moves(&world);
    assert_eq!(names(&world).await, [(tenant(), ACCOUNT.to_owned())]);
    all_are_read(&world).await;
}

/// Something of the second's is unfinished there, and nothing of the first's; the gates of both are down.
async fn fault_23_an_account_that_two_merchants_left_is_each_ones(world: World) {
    second_has(&world, ACCOUNT);
    let (engine, theirs) = (world.engine(), tenant_of("mer_2"));
    engine.start().await.unwrap();
    world.paying(&engine, "1").await;
    let key = create_key(&theirs, "k", "1", "1500.00");
    engine.open_checkout(key, terms("1", "1500.00")).await.unwrap();
    let found = world.store.order(theirs.clone(), OrderId::parse("1").unwrap()).await.unwrap();
    let (checkout, intent) = found.unwrap();
    world.note(&checkout);
    world.bank.next([Fault::LoseAnswer]);
    let claim = world.claim(&engine, &Offer { checkout, intent }).await;
    engine.drive(claim).await.unwrap();
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    moves(&world);
    second_has(&world, OTHER_ACCOUNT);
    let both = [(tenant(), ACCOUNT.to_owned()), (theirs, ACCOUNT.to_owned())];
    assert_eq!(names(&world).await, both);
    all_are_read(&world).await;
}

/// In one of them something is unfinished, in the other one nothing, but its gate is down.
async fn fault_23_each_account_that_was_left_is_read(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    world.paying(&engine, "1").await;
    moves(&world);
    world.has_met(&engine).await;
    world.paying(&engine, "2").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    world.merchants.put(merchant(tenant(), "200700", &secret_of("200700"), &world.vault));
    let both = [(tenant(), ACCOUNT.to_owned()), (tenant(), "200600".to_owned())];
    assert_eq!(names(&world).await, both);
    all_are_read(&world).await;
}

/// A request from before the gate arrives after the first listing.
async fn fault_23_what_is_on_its_way_to_an_account_that_was_left_is_waited_for(world: World) {
    let mut engine = world.engine();
    engine.settings.on_its_way_ms = 30 * SECOND;
    engine.start().await.unwrap();
    world.bank.next([Fault::NotSent]);
    let offer = world.paying(&engine, "1").await;
    moves(&world);
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    world.sweeps(&engine).await;
    let sweep = async || {
        let left = left(&engine).await;
        assert_eq!(left.len(), 1);
        let swept = engine.sweep_left(&left[0]).await.unwrap();
        let (row, _) = world.store.sweep(tenant(), account(ACCOUNT)).await.unwrap();
        (swept.too_soon_ms, row.gated_from.is_some())
    };
    assert_eq!(sweep().await, (Some(30 * SECOND), true));
    world.clock.advance(29 * SECOND);
    assert_eq!(sweep().await, (Some(SECOND), true));
    assert_eq!(world.sends_within(&engine, SECOND).await, 0);
    world.sweeps(&engine).await;
    assert_eq!(sweep().await, (None, false), "not a moment longer than what is on its way takes");
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 1);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// A page that names itself, or nothing, as the next one: of payments, then of refunds.
async fn a_listing_that_leads_nowhere_is_not_read_for_ever_and_lifts_no_gate(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    let object: ObjectId = world.stranger("1");
    for (next, pages) in [("0", 6), ("", 3)] {
        world.bank.listing(|listing| listing.next = Some(next));
        let (_, before) = world.bank.asked();
        let swept = world.sweeps(&engine).await;
        assert_eq!((swept.complete, world.bank.asked().1 - before), (false, pages), "{next:?}");
        let (row, _) = world.store.sweep(tenant(), account(ACCOUNT)).await.unwrap();
        assert!(row.gated_from.is_some());
    }
    world.bank.listing(|listing| listing.next = None);
    assert!(world.sweeps(&engine).await.complete);
    let items = engine.review().await.unwrap().items;
    assert!(items.iter().any(|item| engine::item_id(item) == object.as_str()), "{items:?}");
}
