//! Opening a checkout, its keys, and adopting a known order.

use payment::{CanceledReason, CheckoutStatus, Event, KeyKind, Mode, State, StateName};
use store::{KnownKey, OpenedCheckout, Stage, Tenant};

use crate::{
    commands::{declined, key, open, open_for, open_intent, outcome, submit, succeeded, tenant, tenant_of},
    conformance::behaviours,
    world::{DAY, HOUR, World, after, claimed, events, is, uuid},
};

behaviours!(
    r1_a_new_key_opens_a_checkout_with_its_intent_and_operation,
    r2_a_repeat_gets_the_first_answer_byte_for_byte,
    r3_a_reused_key_is_refused_with_the_field_and_changes_nothing,
    r5_two_orders_are_two_purchases,
    r7_a_key_is_another_one_for_another_merchant_mode_or_kind,
    r7_nobody_reads_what_is_anothers,
    r8_a_known_order_with_the_same_terms_is_adopted,
    other_terms_reopen_an_order_and_replace_its_created_intent,
    other_terms_reopen_an_order_that_ended_without_money,
    r9_other_terms_wait_while_a_payment_is_under_way,
    an_order_past_its_time_is_offered_anew,
    a_paid_order_takes_no_other_checkout,
    fault_11_an_old_key_still_names_its_checkout,
);

fn fresh(opened: OpenedCheckout) -> (store::CheckoutRecord, store::Answer) {
    let OpenedCheckout::Fresh(checkout, answer) = opened else { panic!("{opened:?}") };
    (*checkout, answer)
}

async fn r1_a_new_key_opens_a_checkout_with_its_intent_and_operation(world: World) {
    let command = open("key-1", "order-1");
    let (checkout, answer) = fresh(world.store.open_checkout(command.clone()).await.unwrap());
    assert_eq!(answer.status, 201);
    assert_eq!(
        (checkout.id, checkout.status, checkout.version),
        (command.ids.checkout, CheckoutStatus::Open, 1)
    );
    assert_eq!((checkout.created_at, checkout.expires_at), (world.now(), world.now().plus_ms(DAY)));
    assert_eq!(
        (checkout.email.clone(), checkout.metadata.clone()),
        (command.terms.email, command.terms.metadata)
    );

    let (read, intent) = world.checkout(checkout.id).await;
    assert_eq!(read, checkout);
    assert_eq!(world.order("order-1").await, Some((read, intent.clone())));
    assert_eq!((intent.id, intent.submit_key), (command.ids.intent, command.ids.submit_key));
    assert_eq!((intent.number, intent.previous, intent.version), (1, None, 1));
    assert_eq!((intent.state.clone(), intent.amount), (State::Created, checkout.amount));
    assert_eq!((intent.checkout_version, intent.created_at), (1, world.now()));

    let story = world.story(intent.id).await;
    assert_eq!(
        (story.operation.id, story.operation.provider_key),
        (command.ids.operation, command.ids.provider_key)
    );
    assert_eq!(
        (story.operation.stage, story.operation.fence, story.operation.wake_at),
        (Stage::Created, 0, None)
    );
    assert_eq!(story.operation.frozen, None);
    assert!(story.attempts.is_empty());
    assert_eq!(events(&story), ["opened"]);
    assert_eq!(story.journal[0].line.at, world.now());
}

async fn r2_a_repeat_gets_the_first_answer_byte_for_byte(world: World) {
    let (checkout, first) = fresh(world.store.open_checkout(open("key-1", "order-1")).await.unwrap());
    world.clock.advance(HOUR);
    let (_, intent) = world.checkout(checkout.id).await;
    world.store.submit(submit(&checkout, &intent)).await.unwrap();

    // Another process repeats it with other ids in hand: it names the first rows, as they are now.
    let repeat = open("key-1", "order-1");
    let opened = world.store.open_checkout(repeat.clone()).await.unwrap();
    let OpenedCheckout::Known(KnownKey::Same { checkout: named, intent, answer }) = opened else {
        panic!("{opened:?}")
    };
    assert_eq!((named.id, answer), (checkout.id, Some(first)));
    is(&intent, StateName::Processing);
    let found = world.store.find_key(repeat.key).await.unwrap();
    assert!(matches!(found, Some(KnownKey::Same { checkout: found, .. }) if found == named));
}

async fn r3_a_reused_key_is_refused_with_the_field_and_changes_nothing(world: World) {
    let (checkout, _) = fresh(world.store.open_checkout(open("key-1", "order-1")).await.unwrap());
    let before = world.checkout(checkout.id).await;
    let other = open_for(tenant(), "key-1", "order-1", "5000.00");
    let refused = world.store.open_checkout(other.clone()).await.unwrap();
    assert_eq!(refused, OpenedCheckout::Known(KnownKey::Reused { field: "amount".into() }));
    let found = world.store.find_key(other.key).await.unwrap();
    assert_eq!(found, Some(KnownKey::Reused { field: "amount".into() }));
    let other_order = world.store.open_checkout(open("key-1", "order-2")).await.unwrap();
    assert_eq!(other_order, OpenedCheckout::Known(KnownKey::Reused { field: "order_id".into() }));
    assert_eq!(world.checkout(checkout.id).await, before);
    assert_eq!(world.order("order-2").await, None);
}

async fn r5_two_orders_are_two_purchases(world: World) {
    let first = world.settled("order-1", succeeded("object-1")).await;
    let second = world.settled("order-2", succeeded("object-2")).await;
    assert_ne!(first.operation.provider_key, second.operation.provider_key);
    for claim in [first, second] {
        assert_eq!(world.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Paid);
    }
}

async fn r7_a_key_is_another_one_for_another_merchant_mode_or_kind(world: World) {
    let mut ids = Vec::new();
    for owner in [tenant(), tenant_of("mer_2", Mode::Test), tenant_of("mer_1", Mode::Live)] {
        let command = open_for(owner, "key-1", "order-1", "1500.00");
        let (checkout, answer) = fresh(world.store.open_checkout(command).await.unwrap());
        assert_eq!(answer.status, 201);
        ids.push(checkout.id);
    }
    let again = world.store.open_intent(open_intent("key-1", ids[0])).await.unwrap();
    assert!(matches!(again, store::OpenedIntent::Fresh(..)), "{again:?}");
    let unused = key(tenant(), KeyKind::Submit, "key-1", &[]);
    assert_eq!(world.store.find_key(unused).await.unwrap(), None);
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

async fn r7_nobody_reads_what_is_anothers(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    for stranger in [tenant_of("mer_2", Mode::Test), tenant_of("mer_1", Mode::Live)] {
        reads_nothing(&world, stranger.clone(), &checkout, &intent).await;
        let mut command = submit(&checkout, &intent);
        command.key.tenant = stranger;
        let submitted = world.store.submit(command).await.unwrap();
        assert!(matches!(submitted, store::Submitted::NotFound), "{submitted:?}");
    }
    is(&world.intent(intent.id).await, StateName::Created);
}

async fn reads_nothing(
    world: &World,
    stranger: Tenant,
    checkout: &store::CheckoutRecord,
    intent: &store::IntentRecord,
) {
    let store = &world.store;
    assert_eq!(store.checkout(stranger.clone(), checkout.id).await.unwrap(), None);
    assert_eq!(store.intent(stranger.clone(), intent.id).await.unwrap(), None);
    assert_eq!(store.order(stranger.clone(), checkout.order.clone()).await.unwrap(), None);
    assert!(store.story(stranger, intent.id).await.unwrap().is_none());
}

async fn r8_a_known_order_with_the_same_terms_is_adopted(world: World) {
    let (checkout, first) = fresh(world.store.open_checkout(open("key-1", "order-1")).await.unwrap());
    let (adopted, answer) = fresh(world.store.open_checkout(open("key-2", "order-1")).await.unwrap());
    assert_eq!(adopted, checkout);
    assert_eq!((answer.status, answer.body), (200, first.body));
    let repeat = world.store.open_checkout(open("key-2", "order-1")).await.unwrap();
    assert!(
        matches!(repeat, OpenedCheckout::Known(KnownKey::Same { answer: Some(a), .. }) if a.status == 200)
    );
    // While it is being paid, the same terms still name the same checkout.
    let (_, intent) = world.checkout(checkout.id).await;
    world.store.submit(submit(&checkout, &intent)).await.unwrap();
    let (adopted, answer) = fresh(world.store.open_checkout(open("key-3", "order-1")).await.unwrap());
    assert_eq!((adopted.id, adopted.version, answer.status), (checkout.id, 1, 200));
}

async fn other_terms_reopen_an_order_and_replace_its_created_intent(world: World) {
    let (checkout, first) = world.offer("order-1").await;
    world.clock.advance(HOUR);
    let command = open_for(tenant(), "key-2", "order-1", "1700.00");
    let (reopened, answer) = fresh(world.store.open_checkout(command.clone()).await.unwrap());
    assert_eq!((reopened.id, reopened.version, answer.status), (checkout.id, 2, 200));
    assert_eq!((reopened.amount, reopened.created_at), (command.terms.amount, checkout.created_at));
    assert_eq!(reopened.expires_at, world.now().plus_ms(DAY));

    let (_, second) = world.checkout(checkout.id).await;
    assert_eq!((second.number, second.previous, second.checkout_version), (2, Some(first.id), 2));
    assert_eq!((second.amount, second.id), (command.terms.amount, command.ids.intent));
    assert_ne!(second.submit_key, first.submit_key);
    let replaced = world.intent(first.id).await;
    assert_eq!(replaced.state, State::Canceled { reason: CanceledReason::Replaced });
    assert_eq!(events(&world.story(first.id).await), ["opened", "replaced"]);
    assert_eq!(events(&world.story(second.id).await), ["opened"]);
}

async fn other_terms_reopen_an_order_that_ended_without_money(world: World) {
    let first = world.settled("order-1", declined()).await;
    let command = open_for(tenant(), "key-2", "order-1", "1700.00");
    let (reopened, _) = fresh(world.store.open_checkout(command).await.unwrap());
    assert_eq!(
        (reopened.id, reopened.version, reopened.status),
        (first.checkout.id, 2, CheckoutStatus::Open)
    );
    let (_, second) = world.checkout(reopened.id).await;
    assert_eq!((second.number, second.previous), (2, Some(first.intent.id)));
    is(&world.intent(first.intent.id).await, StateName::Declined);
}

async fn r9_other_terms_wait_while_a_payment_is_under_way(world: World) {
    let claim = world.sent("order-1").await;
    let unanswered = after(&claim, Event::Unanswered(payment::UnknownReason::NoAnswer));
    let other = || open_for(tenant(), &format!("key-{}", uuid()), "order-1", "1700.00");
    let waits = OpenedCheckout::InProgress(claim.checkout.id, claim.intent.id);
    assert_eq!(world.store.open_checkout(other()).await.unwrap(), waits);
    world.commit(outcome(&claim, unanswered)).await;
    assert_eq!(world.store.open_checkout(other()).await.unwrap(), waits);
    // Its time running out does not end what is unknown.
    world.clock.advance(2 * DAY);
    assert_eq!(world.store.open_checkout(other()).await.unwrap(), waits);
    let same = world.store.open_checkout(open("key-late", "order-1")).await.unwrap();
    assert_eq!(same, waits);
    assert_eq!(world.checkout(claim.checkout.id).await.0.version, 1);
    // A refusal claims no key.
    let key = open("key-late", "order-1").key;
    assert_eq!(world.store.find_key(key).await.unwrap(), None);
}

async fn an_order_past_its_time_is_offered_anew(world: World) {
    let (checkout, first) = world.offer("order-1").await;
    let (other, _) = world.offer("order-2").await;
    world.clock.advance(DAY);
    // Before the sweep has ended it, and after.
    let (again, _) = world.offer("order-1").await;
    assert_eq!((again.id, again.version, again.status), (checkout.id, 2, CheckoutStatus::Open));
    is(&world.intent(first.id).await, StateName::Canceled);
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 1);
    assert_eq!(world.checkout(other.id).await.0.status, CheckoutStatus::Expired);
    let (again, intent) = world.offer("order-2").await;
    assert_eq!((again.id, again.version, again.status), (other.id, 2, CheckoutStatus::Open));
    claimed(world.store.submit(submit(&again, &intent)).await.unwrap());
}

async fn a_paid_order_takes_no_other_checkout(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    for command in [open("key-2", "order-1"), open_for(tenant(), "key-3", "order-1", "1700.00")] {
        let opened = world.store.open_checkout(command).await.unwrap();
        assert_eq!(opened, OpenedCheckout::Paid(claim.checkout.id));
    }
    assert_eq!(world.checkout(claim.checkout.id).await.1.id, claim.intent.id);
}

async fn fault_11_an_old_key_still_names_its_checkout(world: World) {
    let (checkout, first) = fresh(world.store.open_checkout(open("key-1", "order-1")).await.unwrap());
    world.clock.advance(400 * DAY);
    world.store.expire(10).await.unwrap();
    let opened = world.store.open_checkout(open("key-1", "order-1")).await.unwrap();
    let OpenedCheckout::Known(KnownKey::Same { checkout: named, answer, .. }) = opened else {
        panic!("{opened:?}")
    };
    assert_eq!((named.id, named.status, answer), (checkout.id, CheckoutStatus::Expired, Some(first)));
}
