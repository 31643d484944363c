//! The bank's own list of objects beside ours (R25): what it took is written down, and what is written down it took.

use std::collections::BTreeSet;

use payment::{CanceledReason, CheckoutStatus, ObjectId, ProviderAccount, State, StateName};
use providers::{By, Span};
use store::{ChargeRecord, CheckoutRecord, Directory as _, IntentRecord, Story, Tenant};

use crate::{
    bank::Object,
    world::{LEASE_MS, World},
};

/// 8: an intent of which is said that nothing was executed has no object, unless the bank broke its word.
pub fn check_ending(world: &World, intent: &IntentRecord) {
    let not_executed = State::Canceled { reason: CanceledReason::NotExecuted };
    let absent = State::Canceled { reason: CanceledReason::Absent };
    if [not_executed, absent].contains(&intent.state) && !world.bank.broke_its_word() {
        let object = world.bank.objects().into_iter().find(|object| object.intent == intent.id);
        assert!(object.is_none(), "8: {} was executed: {object:?}", intent.id);
    }
}

/// 1: what paid, and what is an extra.
pub fn check_money(world: &World, checkout: &CheckoutRecord, chain: &[(IntentRecord, Story)]) {
    let (id, charges) = (checkout.id, &chain[0].1.charges);
    let objects = world.bank.objects();
    let keeps = |object: &&Object| object.took_money && !world.bank.gave_all_back(object);
    let taken = objects.iter().filter(|object| object.checkout == id).filter(keeps).count();
    assert_eq!(checkout.status == CheckoutStatus::Paid, !charges.is_empty(), "1: paid exactly if charged");
    let paying = charges.iter().filter(|charge| !charge.extra).count();
    assert!(paying <= 1, "1: {paying} charges pay {}", checkout.order);
    assert!(charges.is_empty() || paying == 1, "1: extras alone pay nothing");
    for charge in charges {
        let object = objects.iter().find(|object| is_of(charge, object));
        let object = object.unwrap_or_else(|| panic!("1: the bank knows nothing of {charge:?}"));
        assert!(object.took_money, "1: {object:?} took no money");
        assert_eq!(object.amount, charge.amount, "16: the sum of {}", object.id);
    }
    let flagged = |charge: &ChargeRecord| {
        let told = |story: &Story| story.journal.iter().any(|row| row.line.event == "anomaly");
        chain.iter().any(|(intent, story)| intent.id == charge.intent && told(story))
    };
    assert!(charges.iter().all(|charge| !charge.extra || flagged(charge)), "1: an extra nobody is told of");
    let succeeded = chain.iter().any(|(intent, _)| intent.state.name() == StateName::Succeeded);
    assert!(!succeeded || checkout.status == CheckoutStatus::Paid, "1: what succeeded has paid");
    let over = chain.iter().all(|(intent, _)| intent.state.is_terminal());
    let known = !over || taken == 0 || checkout.status == CheckoutStatus::Paid;
    // Money that was taken after the end is news until somebody asks.
    assert!(known || world.bank.broke_its_word(), "1: money taken, and nobody knows");
}

fn is_of(charge: &ChargeRecord, object: &Object) -> bool {
    charge.object == object.id && charge.account.as_str() == object.account
}

/// 16 and 17, when all faults are over: every operation is over, waits for a person, or for a capture, and the bank's list and
/// ours are the same, both ways.
pub async fn check_to_the_last_object(world: &World) {
    let engine = world.engine();
    world.bank.heal();
    world.settle(&engine).await;
    for (tenant, id) in accounts(world).await {
        let (account, span) =
            (world.bank.account(id.as_str()), Span { by: By::Made, from: world.began, to: None });
        // Whoever died with something in his hands has it until his lease ends.
        world.clock.advance(LEASE_MS);
        let swept = engine.sweep(&tenant, &account, &id, span).await.unwrap();
        assert!(swept.complete, "16: {id:?} is not read: {swept:?}");
        let again = engine.sweep(&tenant, &account, &id, span).await.unwrap();
        assert_eq!((again.news, again.strangers), (0, 0), "16: a second sweep knows it all");
    }
    world.settle(&engine).await;
    let intents = world.intents().await;
    for object in world.bank.objects() {
        check_object(world, &object, &intents).await;
    }
}

/// The accounts that money went to, and those it goes to now.
async fn accounts(world: &World) -> BTreeSet<(Tenant, ProviderAccount)> {
    let merchants = world.merchants.merchants().await.unwrap().into_iter();
    let mut accounts: BTreeSet<_> = merchants.map(|merchant| (merchant.tenant, merchant.account)).collect();
    for (intent, story) in world.intents().await.into_iter().flat_map(|(_, chain)| chain) {
        accounts.extend(story.operation.frozen.map(|frozen| (intent.tenant, frozen.account.clone())));
    }
    accounts
}

async fn check_object(
    world: &World,
    object: &Object,
    intents: &[(CheckoutRecord, Vec<(IntentRecord, Story)>)],
) {
    let (account, id) = (ProviderAccount::parse(&object.account).unwrap(), object.id.clone());
    let mut known = false;
    for tenant in world.tenants() {
        let standing = world.store.standing(tenant, account.clone(), id.clone(), None).await.unwrap();
        let charged = standing.charge.as_ref().is_some_and(|charge| charge.amount == object.amount);
        let met = standing.stranger.as_ref().is_some_and(|stranger| stranger.amount == object.amount);
        known |= charged || met;
    }
    // A person is asked about what was given back, and it is no charge if he says so.
    let keeps = object.took_money && !world.bank.gave_all_back(object);
    assert!(known || !keeps, "16: {object:?} took money, and is not written down");
    let ours = intents.iter().flat_map(|(_, chain)| chain).find(|(intent, _)| intent.id == object.intent);
    let Some((_, story)) = ours else { return };
    assert!(is_named(&object.id, story), "16: {object:?} is in no story");
}

fn is_named(object: &ObjectId, story: &Story) -> bool {
    let linked = story.operation.object.as_ref() == Some(object);
    let word = format!("object {object} ");
    linked || story.journal.iter().any(|row| row.line.evidence.contains(&word))
}
