//! What a table refuses whoever writes it, and where equal things are told apart: by account, merchant and kind.

use std::sync::Arc;

use payment::{Capture, Event, MethodKind, Mode, NotExecutedReason, ProviderAccount, State};
use store::{
    EffectRecord, EffectState, Flow, Frozen, OpenedCheckout, OpenedFollowUp, OperationRecord, Stage,
    StoreError, SubmitCommand, SweepRow, Tables, Tenant,
};

use crate::{
    commands::{
        EXECUTE_MS, LEASE_MS, cancel, capture, charge, declined, frozen, object, open, outcome, refund,
        submit, succeeded, tenant, tenant_of,
    },
    conformance::{
        behaviours,
        gate::{GAP_MS, account, ours},
    },
    world::{SECOND, World, after, claimed},
};

behaviours!(
    an_operation_that_contradicts_its_stage_is_never_written,
    an_effect_that_contradicts_itself_is_never_written,
    equal_objects_of_two_accounts_are_two_payments,
    r23_refunds_of_two_payments_do_not_exclude_each_other,
    what_waits_for_its_shopper_is_let_go_of_and_never_captured,
    other_terms_replace_all_of_the_terms_and_the_shoppers_address,
    r14_who_held_it_before_the_gate_went_down_is_outdated,
    what_was_read_of_an_account_that_is_not_known_is_kept,
);

async fn is_refused(world: &World, flow: Flow<bool>) -> bool {
    matches!(world.write(flow).await, Err(StoreError::Refused(_)))
}

/// What is open is watched, and what is watched is open; what was sent has a request and an end.
async fn an_operation_that_contradicts_its_stage_is_never_written(world: World) {
    let sent = world.sent("order-1").await.operation;
    let stages = [Stage::Open, Stage::Review];
    let bare = stages.into_iter().flat_map(|stage| {
        let row = OperationRecord { stage, ..sent.clone() };
        [OperationRecord { frozen: None, ..row.clone() }, OperationRecord { execute_until: None, ..row }]
    });
    let watched = [Stage::Created, Stage::Done].map(|stage| OperationRecord { stage, ..sent.clone() });
    let forgotten = [OperationRecord { wake_at: None, ..sent.clone() }];
    for row in bare.chain(watched).chain(forgotten) {
        let told = format!("{row:?}");
        let write: Flow<bool> = Arc::new(move |tables: &mut dyn Tables| {
            let row = row.clone();
            Box::pin(async move { tables.update_operation(&row, row.fence).await })
        });
        assert!(is_refused(&world, write).await, "{told}");
    }
    assert_eq!(world.story(sent.intent).await.operation, sent);
}

/// What waits has a wake-up and what is over has none, nor a lease; what was tried has a first time.
async fn an_effect_that_contradicts_itself_is_never_written(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let waits = world.store.effects(tenant(), claim.intent.id).await.unwrap().remove(0);
    let lease = claim.operation.lease;
    let over = EffectRecord { state: EffectState::Abandoned, wake_at: None, ..waits.clone() };
    let wrong = [
        EffectRecord { wake_at: None, ..waits.clone() },
        EffectRecord { wake_at: Some(world.now()), ..over.clone() },
        EffectRecord { lease, ..over },
        EffectRecord { tries: 1, ..waits.clone() },
        EffectRecord { first_tried_at: Some(world.now()), ..waits.clone() },
    ];
    for row in wrong {
        let told = format!("{row:?}");
        let write: Flow<bool> = Arc::new(move |tables: &mut dyn Tables| {
            let row = row.clone();
            Box::pin(async move { tables.update_effect(&row, row.fence).await })
        });
        assert!(is_refused(&world, write).await, "{told}");
    }
    assert_eq!(world.store.effects(tenant(), claim.intent.id).await.unwrap()[0], waits);
}

type Found = (Option<OperationRecord>, Option<OperationRecord>);

/// Whoever is linked to `object-1` in an account, and the newest that goes there.
async fn of_account(world: &World, tenant: &Tenant, account: &ProviderAccount) -> Found {
    let (tenant, account) = (tenant.clone(), account.clone());
    let read: Flow<Found> = Arc::new(move |tables: &mut dyn Tables| {
        let (tenant, account) = (tenant.clone(), account.clone());
        Box::pin(async move {
            let linked = tables.linked_operation(&tenant, &account, &object("object-1")).await?;
            Ok((linked, tables.newest_of_account(&tenant, &account).await?))
        })
    });
    world.write(read).await.unwrap()
}

async fn equal_objects_of_two_accounts_are_two_payments(world: World) {
    let first = world.settled("order-1", succeeded("object-1")).await;
    let (checkout, intent) = world.offer("order-2").await;
    let elsewhere = Frozen { account: account("200600"), ..frozen("a request") };
    let command = SubmitCommand { frozen: elsewhere.clone(), ..submit(&checkout, &intent) };
    let second = claimed(world.store.submit(command).await.unwrap());
    world.commit(outcome(&second, State::Authorized { object: object("object-1") })).await;
    let (here, there) = (account(ours()), elsewhere.account);
    for (claim, account) in [(&first, &here), (&second, &there)] {
        let (linked, newest) = of_account(&world, &tenant(), account).await;
        assert_eq!(linked.map(|row| row.id), Some(claim.operation.id));
        assert_eq!(newest.as_ref().map(|row| row.id), Some(claim.operation.id));
        assert_eq!(world.store.operation(tenant(), claim.operation.id).await.unwrap(), newest);
    }
    // Live money is never found in test mode, nor the other way round.
    assert_eq!(of_account(&world, &tenant_of("mer_1", Mode::Live), &here).await, (None, None));
}

async fn r23_refunds_of_two_payments_do_not_exclude_each_other(world: World) {
    let claim = world.sent("order-1").await;
    let mut twice = outcome(&claim, succeeded("object-1"));
    twice.charges.push(charge(object("object-2")));
    assert_eq!(world.commit(twice).await, (true, true));
    world.followed(refund(&claim.intent, "object-1", "100.00")).await;
    world.followed(refund(&claim.intent, "object-2", "1500.00")).await;
}

async fn what_waits_for_its_shopper_is_let_go_of_and_never_captured(world: World) {
    let url = "https://bank.example/confirm".to_owned();
    let action = State::RequiresAction { object: object("object-1"), url };
    let intent = world.settled("order-1", action).await.intent;
    for refused in [capture(&intent, "object-1"), cancel(&intent, "object-2")] {
        let opened = world.store.open_follow_up(refused).await.unwrap();
        assert!(matches!(opened, OpenedFollowUp::NotNow), "{opened:?}");
    }
    world.followed(cancel(&intent, "object-1")).await;
}

async fn other_terms_replace_all_of_the_terms_and_the_shoppers_address(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let email = Some("another@example.com".to_owned());
    let command = SubmitCommand { email, method: MethodKind::Redirect, ..submit(&checkout, &intent) };
    let claim = claimed(world.store.submit(command).await.unwrap());
    world.commit(outcome(&claim, declined())).await;
    let mut command = open("key-2", "order-1");
    command.terms.capture = Capture::Manual;
    let opened = world.store.open_checkout(command).await.unwrap();
    let OpenedCheckout::Fresh(reopened, _) = opened else { panic!("{opened:?}") };
    assert_eq!((reopened.id, reopened.capture), (checkout.id, Capture::Manual));
    let (read, next) = world.checkout(checkout.id).await;
    assert_eq!((read.capture, next.email, next.number), (Capture::Manual, None, 2));
}

/// Its fence has risen: nothing that it still learns is taken for the newest.
async fn r14_who_held_it_before_the_gate_went_down_is_outdated(world: World) {
    let own = [(tenant(), ours())];
    world.start(&own).await;
    let first = world.sent("order-1").await;
    world.commit(outcome(&first, after(&first, Event::NotExecuted(NotExecutedReason::NotSent)))).await;
    world.clock.advance(EXECUTE_MS);
    let held = world.due(1).await.remove(0).operation;
    world.clock.advance(GAP_MS + LEASE_MS);
    assert!(world.start(&own).await);
    assert!(world.due(1).await.is_empty(), "the gate holds it");
    let now = world.story(first.intent.id).await.operation;
    assert_eq!((now.lease, now.fence), (None, held.fence + 1));
}

/// It was forgotten while its listing was read: what was read is not read again, and is the merchant's own no sooner.
async fn what_was_read_of_an_account_that_is_not_known_is_kept(world: World) {
    world.start(&[(tenant(), ours())]).await;
    let unknown = world.sweep_of(&tenant(), "200600").await;
    world.clock.advance(10 * SECOND);
    let (known_from, swept_until) =
        (unknown.known_from.plus_ms(-SECOND), unknown.swept_until.plus_ms(SECOND));
    world.store.swept(SweepRow { known_from, swept_until, ..unknown.clone() }).await.unwrap();
    let kept = world.sweep_of(&tenant(), "200600").await;
    assert_eq!((kept.known_from, kept.swept_until), (known_from, swept_until));
    assert_eq!(kept.tenure, unknown.tenure);
}
