//! The first claim: who submits an intent first owns its one dispatch.

use payment::{CanceledReason, CheckoutStatus, Fingerprint, KeyKind, State, StateName, Step};
use store::{KnownKey, Stage, SubmitCommand, Submitted};

use crate::{
    commands::{
        EXECUTE_MS, LEASE_MS, declined, final_answer, frozen, open_for, open_intent, outcome, rub, submit,
        succeeded, tenant,
    },
    conformance::behaviours,
    world::{MINUTE, World, claimed, events, is, uuid},
};

behaviours!(
    r6_the_first_submit_claims_and_freezes,
    r6_every_other_submit_reads_the_winners_state,
    the_receipt_goes_where_the_first_submit_said,
    nobody_has_to_give_an_address,
    fault_15_the_same_command_again_still_holds_its_claim,
    r2_a_repeat_after_the_end_gets_the_final_answer,
    r3_a_reused_submit_key_is_refused,
    only_the_intents_own_key_submits_it,
    fault_65_terms_that_changed_are_not_paid,
    fault_65_an_edited_order_ends_the_intent_that_a_tab_shows,
    fault_66_at_the_moment_of_expiry_nothing_is_submitted,
    fault_66_just_before_expiry_it_is_submitted_and_does_not_expire,
    nothing_is_sent_after_the_checkouts_time,
    fault_61_a_stale_tab_reads_that_another_intent_paid,
    an_intent_of_another_checkout_is_not_found,
);

async fn submitted(world: &World, command: SubmitCommand) -> Submitted {
    world.store.submit(command).await.unwrap()
}

async fn r6_the_first_submit_claims_and_freezes(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    world.clock.advance(MINUTE);
    let command = submit(&checkout, &intent);
    let claim = claimed(submitted(&world, command.clone()).await);
    assert_eq!((claim.step.clone(), claim.unanswered, claim.now), (Step::Send, false, world.now()));
    assert_eq!(claim.intent.state, State::Processing { since: world.now(), last: None });
    assert_eq!((claim.intent.method, claim.intent.version), (Some(command.method), 2));
    assert_eq!(claim.checkout, checkout);

    let story = world.story(intent.id).await;
    let operation = story.operation.clone();
    assert_eq!((operation.clone(), story.attempts.clone()), (claim.operation, vec![claim.attempt.unwrap()]));
    assert_eq!((operation.stage, operation.fence, operation.tries), (Stage::Open, 1, 1));
    assert_eq!(operation.frozen.as_deref(), Some(&command.frozen));
    assert_eq!(operation.first_sent_at, Some(world.now()));
    assert_eq!(operation.execute_until, Some(world.now().plus_ms(EXECUTE_MS)));
    let lease = operation.lease.unwrap();
    assert_eq!((lease.holder, lease.until), (command.holder, world.now().plus_ms(LEASE_MS)));
    assert_eq!(operation.wake_at, Some(lease.until), "a holder that dies is replaced when its lease ends");
    let attempt = &story.attempts[0];
    assert_eq!((attempt.id, attempt.number, attempt.fence), (command.attempt, 1, 1));
    assert_eq!((attempt.started_at, attempt.outcome.clone()), (world.now(), None));
    assert_eq!(events(&story), ["opened", "submitted"]);
    assert_eq!(world.intent(intent.id).await, claim.intent);
}

async fn r6_every_other_submit_reads_the_winners_state(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let winner = claimed(submitted(&world, submit(&checkout, &intent)).await);
    // Another tab has another card: the method is no part of the fingerprint.
    let mut second_tab = submit(&checkout, &intent);
    second_tab.frozen = frozen("another card");
    let read = submitted(&world, second_tab).await;
    let Submitted::Known(KnownKey::Same { intent: named, answer, .. }) = read else { panic!("{read:?}") };
    assert_eq!((*named, answer), (winner.intent, None));
    let story = world.story(intent.id).await;
    assert_eq!((story.attempts.len(), story.operation.fence), (1, 1));
    assert_eq!(story.operation.frozen.as_deref(), Some(&frozen("a request")));
}

async fn the_receipt_goes_where_the_first_submit_said(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    assert_eq!(intent.email, None);
    let anna = SubmitCommand { email: Some("anna@example.com".to_owned()), ..submit(&checkout, &intent) };
    let claim = claimed(submitted(&world, anna).await);
    assert_eq!(claim.intent.email.as_deref(), Some("anna@example.com"));
    let boris = SubmitCommand { email: Some("boris@example.com".to_owned()), ..submit(&checkout, &intent) };
    let read = submitted(&world, boris).await;
    assert!(matches!(read, Submitted::Known(KnownKey::Same { .. })), "no part of the fingerprint: {read:?}");
    world.commit(outcome(&claim, succeeded("object-1"))).await;
    let (checkout_now, paid) = world.checkout(checkout.id).await;
    assert_eq!((paid.email, checkout_now.email), (claim.intent.email, checkout.email));
    let journal = format!("{:?}", world.story(intent.id).await.journal);
    assert!(!journal.contains("anna"), "what is in the journal cannot be erased");
}

async fn nobody_has_to_give_an_address(world: World) {
    let claim = world.sent("order-1").await;
    assert_eq!(world.intent(claim.intent.id).await.email, None);
}

async fn fault_15_the_same_command_again_still_holds_its_claim(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let command = submit(&checkout, &intent);
    let first = claimed(submitted(&world, command.clone()).await);
    let again = claimed(submitted(&world, command).await);
    assert_eq!(
        (again.operation, again.attempt, again.intent),
        (first.operation, first.attempt, first.intent)
    );
    assert_eq!(world.story(intent.id).await.attempts.len(), 1);
}

async fn r2_a_repeat_after_the_end_gets_the_final_answer(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let command = submit(&checkout, &intent);
    let claim = claimed(submitted(&world, command.clone()).await);
    world.commit(outcome(&claim, declined())).await;
    for repeat in [command, submit(&checkout, &intent)] {
        let read = submitted(&world, repeat).await;
        let Submitted::Known(KnownKey::Same { intent: named, answer, .. }) = read else { panic!("{read:?}") };
        is(&named, StateName::Declined);
        assert_eq!(answer, Some(final_answer("declined")));
    }
}

async fn r3_a_reused_submit_key_is_refused(world: World) {
    let claim = world.sent("order-1").await;
    let mut other = submit(&claim.checkout, &claim.intent);
    other.key.fingerprint = Fingerprint::new(
        KeyKind::Submit,
        &[("intent", claim.intent.id.to_string()), ("amount", "1.00".into())],
    );
    let refused = submitted(&world, other).await;
    assert!(
        matches!(&refused, Submitted::Known(KnownKey::Reused { field }) if field == "amount"),
        "{refused:?}"
    );
}

async fn only_the_intents_own_key_submits_it(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let mut stranger = intent.clone();
    stranger.submit_key = payment::SubmitKey(uuid());
    let refused = submitted(&world, submit(&checkout, &stranger)).await;
    assert!(matches!(refused, Submitted::WrongKey), "{refused:?}");
    is(&world.intent(intent.id).await, StateName::Created);
}

async fn fault_65_terms_that_changed_are_not_paid(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let mut cheaper = submit(&checkout, &intent);
    cheaper.amount = rub("15.00");
    let mut older = submit(&checkout, &intent);
    older.version -= 1;
    for stale in [cheaper, older] {
        let refused = submitted(&world, stale.clone()).await;
        assert!(matches!(&refused, Submitted::Changed(now) if **now == checkout), "{refused:?}");
        assert_eq!(world.store.find_key(stale.key).await.unwrap(), None, "a refusal claims no key");
    }
    is(&world.intent(intent.id).await, StateName::Created);
    claimed(submitted(&world, submit(&checkout, &intent)).await);
}

async fn fault_65_an_edited_order_ends_the_intent_that_a_tab_shows(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let edited = open_for(tenant(), "edit", "order-1", "1700.00");
    world.store.open_checkout(edited).await.unwrap();
    let refused = submitted(&world, submit(&checkout, &intent)).await;
    let Submitted::Over(now, ended) = refused else { panic!("{refused:?}") };
    assert_eq!((now.version, now.amount), (2, rub("1700.00")));
    assert_eq!(ended.state, State::Canceled { reason: CanceledReason::Replaced });
    assert!(world.story(intent.id).await.attempts.is_empty());
}

async fn fault_66_at_the_moment_of_expiry_nothing_is_submitted(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    world.clock.set(checkout.expires_at);
    let refused = submitted(&world, submit(&checkout, &intent)).await;
    assert!(matches!(&refused, Submitted::NotOpen(seen) if seen.id == checkout.id), "{refused:?}");
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 1);
    let refused = submitted(&world, submit(&checkout, &intent)).await;
    assert!(matches!(&refused, Submitted::Over(_, ended) if ended.state.name() == StateName::Expired));
}

async fn fault_66_just_before_expiry_it_is_submitted_and_does_not_expire(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    world.clock.set(checkout.expires_at.plus_ms(-1));
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 0);
    claimed(submitted(&world, submit(&checkout, &intent)).await);
    world.clock.advance(1);
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 0);
    let (checkout, intent) = world.checkout(checkout.id).await;
    assert_eq!(checkout.status, CheckoutStatus::Open);
    is(&intent, StateName::Processing);
}

async fn nothing_is_sent_after_the_checkouts_time(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    world.clock.set(checkout.expires_at.plus_ms(-MINUTE));
    let claim = claimed(submitted(&world, submit(&checkout, &intent)).await);
    assert_eq!(claim.operation.execute_until, Some(checkout.expires_at));
}

async fn fault_61_a_stale_tab_reads_that_another_intent_paid(world: World) {
    let first = world.settled("order-1", declined()).await;
    world.store.open_intent(open_intent("try-2", first.checkout.id)).await.unwrap();
    let (checkout, second) = world.checkout(first.checkout.id).await;
    let claim = claimed(submitted(&world, submit(&checkout, &second)).await);
    world.commit(outcome(&claim, succeeded("object-2"))).await;
    let read = submitted(&world, submit(&checkout, &first.intent)).await;
    let Submitted::Known(KnownKey::Same { checkout, intent, .. }) = read else { panic!("{read:?}") };
    assert_eq!((checkout.status, intent.id), (CheckoutStatus::Paid, first.intent.id));
    is(&intent, StateName::Declined);
}

async fn an_intent_of_another_checkout_is_not_found(world: World) {
    let (first, _) = world.offer("order-1").await;
    let (_, other) = world.offer("order-2").await;
    let refused = submitted(&world, submit(&first, &other)).await;
    assert!(matches!(refused, Submitted::NotFound), "{refused:?}");
    is(&world.intent(other.id).await, StateName::Created);
}
