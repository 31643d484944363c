//! What the provider showed for ours, and what contradicts what was asked for: it is asked before anybody is believed.

use engine::{Engine, Verdict};
use payment::{CheckoutStatus, Ending, ObjectId, ObjectStatus, StateName};

use super::{Word, done, not_charged, object_of, refused, resolve, strangers::sweep, waiting};
use crate::{
    bank::{Fault, Lie, pending},
    scenarios,
    world::{DAY, GAP_MS, Offer, World, suspected},
};

scenarios! {
    fault_47_money_that_answered_our_own_send_is_not_denied_by_a_word,
    fault_47_an_answer_that_may_still_take_money_is_waited_for_and_one_that_is_over_ends_it,
    fault_47_an_answer_that_cannot_be_asked_about_needs_evidence,
    fault_47_an_answer_that_a_sweep_took_for_a_strangers_pays_by_one_word,
    fault_47_an_answer_that_is_written_down_already_holds_nothing_up,
    fault_47_an_answer_that_names_no_payment_of_ours_can_be_said_to_have_paid,
}

/// A payment in review, each of whose sends was answered so; long enough for two listings to say that nothing bears its name.
async fn answered(world: &World, engine: &Engine, lie: Lie) -> (Offer, ObjectId) {
    world.bank.lies(Some(lie));
    let offer = world.paying(engine, "1").await;
    world.settle(engine).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.wake(engine, &offer).await;
    world.clock.advance(GAP_MS);
    let object = object_of(world, &offer);
    assert_eq!(suspected(&world.intent(offer.intent.id).await.state), [&object]);
    (offer, object)
}

fn with_evidence() -> Word {
    Word(Verdict::NotCharged, Some("the account's statement of May"))
}

async fn assert_paid(world: &World, engine: &Engine, offer: &Offer, object: &ObjectId) {
    done(resolve(engine, offer.intent.id, Verdict::Charged(object.clone())).await);
    assert_eq!(world.state(offer).await, StateName::Succeeded);
    assert_eq!((world.status(offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
    assert_eq!(waiting(engine).await, [""; 0]);
}

async fn fault_47_money_that_answered_our_own_send_is_not_denied_by_a_word(world: World) {
    let engine = world.engine();
    let (offer, object) = answered(&world, &engine, Lie::Owner).await;
    world.clock.advance(10 * DAY);
    for word in [not_charged().into(), with_evidence()] {
        let part =
            format!("it took 1500.00 RUB: where that is this shopper's money, say `--charged {object}`");
        refused(&world, &offer, offer.intent.id, word, &part).await;
    }
    assert_paid(&world, &engine, &offer, &object).await;
}

async fn fault_47_an_answer_that_may_still_take_money_is_waited_for_and_one_that_is_over_ends_it(
    world: World,
) {
    let engine = world.engine();
    world.bank.decides(pending());
    let (offer, object) = answered(&world, &engine, Lie::Owner).await;
    let id = offer.intent.id;
    for (status, part) in [
        (pending(), "may still take money: it is pending"),
        (ObjectStatus::WaitingForCapture, "may still take money: it is waiting_for_capture"),
    ] {
        world.bank.moves(id, status);
        for word in [not_charged().into(), with_evidence()] {
            refused(&world, &offer, id, word, part).await;
        }
    }
    refused(&world, &offer, id, Verdict::Charged(object), "took no money").await;
    world.bank.moves(id, ObjectStatus::Ended(Ending::Expired { code: "expired".to_owned() }));
    done(resolve(&engine, id, not_charged()).await);
    assert_eq!(world.state(&offer).await, StateName::Canceled);
}

async fn fault_47_an_answer_that_cannot_be_asked_about_needs_evidence(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let (offer, _) = answered(&world, &engine, Lie::Owner).await;
    world.clock.advance(2 * DAY);
    world.bank.next_query(Fault::LoseAnswer);
    refused(&world, &offer, offer.intent.id, not_charged(), "--evidence").await;
    world.bank.next_query(Fault::LoseAnswer);
    done(resolve(&engine, offer.intent.id, with_evidence()).await);
}

/// Its money is this payment's before it is anybody's.
async fn fault_47_an_answer_that_a_sweep_took_for_a_strangers_pays_by_one_word(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let (offer, object) = answered(&world, &engine, Lie::Owner).await;
    sweep(&world, &engine).await;
    assert_eq!(waiting(&engine).await, [offer.intent.id.to_string(), object.to_string()]);
    refused(&world, &offer, offer.intent.id, not_charged(), "say `--charged").await;
    assert_paid(&world, &engine, &offer, &object).await;
}

async fn fault_47_an_answer_that_is_written_down_already_holds_nothing_up(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let (offer, object) = answered(&world, &engine, Lie::Owner).await;
    sweep(&world, &engine).await;
    done(resolve(&engine, &object, Verdict::Charged(object.clone())).await);
    world.wake(&engine, &offer).await;
    world.clock.advance(GAP_MS);
    done(resolve(&engine, offer.intent.id, not_charged()).await);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn fault_47_an_answer_that_names_no_payment_of_ours_can_be_said_to_have_paid(world: World) {
    let engine = world.engine();
    let (offer, object) = answered(&world, &engine, Lie::Another).await;
    refused(&world, &offer, offer.intent.id, not_charged(), "say `--charged").await;
    assert_paid(&world, &engine, &offer, &object).await;
}
