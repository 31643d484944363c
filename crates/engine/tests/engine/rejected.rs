//! A wrong request ends its intent; a corrected one is a new intent, linked, under new keys (R16).

use engine::IntentOutcome;
use payment::{CanceledReason, DeclinedBy, State, StateName, UnknownReason};

use crate::{
    bank::Fault,
    scenarios,
    world::{TOKEN_LIFE_MS, TOKEN_MARGIN_MS, World, known},
};

scenarios! {
    r16_fault_43_a_rejection_ends_the_intent_and_a_corrected_try_is_linked,
    r16_fault_43_a_rejection_after_an_unanswered_send_says_nothing_about_that_send,
    fault_43_a_token_that_died_after_an_unanswered_send_ends_by_two_listings,
    r16_a_rejection_after_sends_that_were_not_executed_is_definite,
    tries_are_counted,
}

/// Also medusa#16390 (a stored 4xx replayed for ever) and medusa#16292 (the failed row is kept).
async fn r16_fault_43_a_rejection_ends_the_intent_and_a_corrected_try_is_linked(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::BadRequest]);
    let first = world.paying(&engine, "1").await;
    let State::Declined { by: DeclinedBy::ProviderRejected, code, message } =
        world.intent(first.intent.id).await.state
    else {
        panic!("rejected is declined")
    };
    assert_eq!((code.as_str(), message.as_str()), ("invalid_request", "Bad token"));
    let (outcome, second) = world.try_again(&engine, &first, "again").await;
    assert!(matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status == 201));
    assert_eq!(second.intent.previous, Some(first.intent.id));
    assert_ne!(second.intent.submit_key, first.intent.submit_key);
    let keys = (world.story(&first).await.operation, world.story(&second).await.operation);
    assert_ne!(keys.0.provider_key, keys.1.provider_key);
    world.pay(&engine, &second).await;
    assert_eq!((world.state(&second).await, world.bank.charges()), (StateName::Succeeded, 1));
    // The first one's receipt is what it was.
    let (seen, answer) = known(engine.submit(first.submission("tok_9")).await.unwrap());
    assert_eq!((seen.state.name(), answer.is_some()), (StateName::Declined, true));
    assert_eq!(world.bank.sends(), 2);
}

async fn r16_fault_43_a_rejection_after_an_unanswered_send_says_nothing_about_that_send(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest, Fault::BadRequest, Fault::BadRequest]);
    let offer = world.paying(&engine, "1").await;
    for _ in 0..2 {
        world.wake(&engine, &offer).await;
        let State::Confirming { why: UnknownReason::RejectedAfterUnknown, .. } =
            world.intent(offer.intent.id).await.state
        else {
            panic!("a dead token says nothing about the first send")
        };
    }
    let (_, found) = world.try_again(&engine, &offer, "again").await;
    assert_eq!(found.intent.id, offer.intent.id);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Whatever is sent after it is refused for good: that alone never ends it.
async fn fault_43_a_token_that_died_after_an_unanswered_send_ends_by_two_listings(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    world.bank.next(std::iter::repeat_n(Fault::BadRequest, 1_000));
    let offer = world.paying(&engine, "1").await;
    let began = world.clock.now();
    while world.clock.now().since_ms(began) < TOKEN_LIFE_MS + TOKEN_MARGIN_MS {
        assert_eq!(world.state(&offer).await, StateName::Confirming);
        world.wake(&engine, &offer).await;
    }
    world.settle(&engine).await;
    let state = world.intent(offer.intent.id).await.state;
    assert_eq!(state, State::Canceled { reason: CanceledReason::Absent });
    assert!(world.bank.sends() > 2 && world.bank.objects().is_empty());
    world.bank.heal();
    let (_, next) = world.try_again(&engine, &offer, "again").await;
    world.pay(&engine, &next).await;
    assert_eq!((world.state(&next).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn r16_a_rejection_after_sends_that_were_not_executed_is_definite(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::NotSent, Fault::RateLimited(None), Fault::Unauthorized, Fault::BadRequest]);
    let offer = world.paying(&engine, "1").await;
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Declined, 4));
}

/// Card testing: three in these settings.
async fn tries_are_counted(world: World) {
    let engine = world.engine();
    let mut offer = world.offer(&engine, "1").await;
    for number in 1..=3 {
        assert_eq!(offer.intent.number, number);
        world.bank.next([Fault::BadRequest]);
        world.pay(&engine, &offer).await;
        let (outcome, next) = world.try_again(&engine, &offer, &format!("again-{number}")).await;
        assert_eq!(outcome == IntentOutcome::TooMany, number == 3);
        offer = next;
    }
    assert_eq!(world.state(&offer).await, StateName::Declined);
}
