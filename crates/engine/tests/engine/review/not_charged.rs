//! `--not-charged`: refused until it is proved.

use std::sync::Arc;

use engine::{IntentOutcome, Resolved, Verdict};
use payment::{CheckoutStatus, Ending, ObjectStatus, State, StateName};
use tokio::sync::Notify;

use super::{REASON, Word, done, grounds, in_review, not_charged, object_of, refused, resolve};
use crate::{
    bank::{Fault, pending},
    merchant::ACCOUNT,
    scenarios,
    world::{DAY, GAP_MS, HOUR, LEASE_MS, MINUTE, Offer, World},
};

scenarios! {
    two_complete_listings_after_the_tokens_death_prove_it,
    one_listing_is_not_enough,
    what_the_listing_shows_is_believed,
    an_object_that_is_not_over_is_refused_and_one_that_is_ends_it,
    where_the_provider_cannot_be_asked_time_and_evidence_decide,
    a_listing_that_proves_nothing_is_none,
    fault_49_a_listing_that_could_not_be_read_before_is_read_anew_for_a_persons_word,
    while_a_late_request_could_still_take_money_it_is_refused,
    money_that_comes_after_the_word_closes_the_checkout_again,
    a_listing_that_outlives_the_claim_proves_it_all_the_same,
}

fn with_evidence() -> Word {
    Word(Verdict::NotCharged, Some("the account's statement of May"))
}

async fn assert_ended(world: &World, offer: &Offer, evidence: &str) {
    let State::Canceled { .. } = world.intent(offer.intent.id).await.state else { panic!("it ended") };
    let line = world.journal(offer).await.pop().unwrap();
    for part in ["judged_not_charged", "a person", REASON, evidence] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let engine = world.engine();
    assert_eq!(world.status(offer).await, CheckoutStatus::Open);
    assert!(!engine.run_once().await.unwrap(), "nobody asks any more");
}

/// The first complete listing is the worker's, and nobody wakes it before the person comes.
async fn two_complete_listings_after_the_tokens_death_prove_it(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    world.wake(&engine, &offer).await;
    assert!(world.story(&offer).await.operation.absent_since.is_some());
    world.clock.advance(GAP_MS);
    let words = done(resolve(&engine, offer.intent.id, not_charged()).await);
    assert!(words.contains("without money") && words.contains("can be paid again"), "{words}");
    assert_ended(&world, &offer, "listings of").await;
    let before_again = world.order("1").await;
    world.offer_for(&engine, "1", "1500.00", "renewed").await;
    let (outcome, next) = world.try_again(&engine, &before_again, "again").await;
    assert!(
        matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status < 300),
        "{outcome:?}"
    );
    world.pay(&engine, &next).await;
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn one_listing_is_not_enough(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    refused(&world, &offer, offer.intent.id, not_charged(), "one listing without it is not enough").await;
    refused(&world, &offer, offer.intent.id, with_evidence(), "one listing without it is not enough").await;
    world.wake(&engine, &offer).await;
    world.clock.advance(GAP_MS - 1);
    refused(&world, &offer, offer.intent.id, not_charged(), "wait 1 min").await;
    world.clock.advance(1);
    done(resolve(&engine, offer.intent.id, not_charged()).await);
}

async fn what_the_listing_shows_is_believed(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    world.clock.advance(10 * DAY);
    for verdict in [not_charged().into(), with_evidence()] {
        let part = format!("holds {} of this payment: it is succeeded", object_of(&world, &offer));
        refused(&world, &offer, offer.intent.id, verdict, &part).await;
    }
}

async fn an_object_that_is_not_over_is_refused_and_one_that_is_ends_it(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    while world.state(&offer).await != StateName::NeedsReview {
        world.wake(&engine, &offer).await;
    }
    for verdict in [not_charged().into(), with_evidence()] {
        refused(&world, &offer, offer.intent.id, verdict, "is not over at the provider: it is pending").await;
    }
    let code = "expired_on_confirmation".to_owned();
    world.bank.moves(offer.intent.id, ObjectStatus::Ended(Ending::Expired { code }));
    done(resolve(&engine, offer.intent.id, not_charged()).await);
    assert_ended(&world, &offer, object_of(&world, &offer).as_str()).await;
}

/// Credentials revoked, or no listing.
async fn where_the_provider_cannot_be_asked_time_and_evidence_decide(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    world.bank.change_secret(ACCOUNT, "a new one");
    let intent = offer.intent.id;
    refused(&world, &offer, intent, not_charged(), "--evidence").await;
    // The key's window of 23 h, and 2 h more, since the first send.
    let first_sent = world.story(&offer).await.operation.first_sent_at.unwrap();
    let left_ms = first_sent.plus_ms(25 * HOUR).since_ms(world.clock.now());
    assert!(left_ms > MINUTE, "{left_ms}");
    refused(&world, &offer, intent, with_evidence(), "wait").await;
    world.clock.advance(left_ms - 1);
    refused(&world, &offer, intent, with_evidence(), "a request could still be executed").await;
    world.clock.advance(1);
    refused(&world, &offer, intent, not_charged(), "--evidence").await;
    done(resolve(&engine, intent, with_evidence()).await);
    assert_ended(&world, &offer, "evidence: the account's statement of May").await;
}

async fn a_listing_that_proves_nothing_is_none(world: World) {
    let engine = world.engine();
    world.bank.proves_nothing();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    for _ in 0..3 {
        world.wake(&engine, &offer).await;
    }
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    refused(&world, &offer, offer.intent.id, not_charged(), "--evidence").await;
    world.clock.advance(25 * HOUR);
    done(resolve(&engine, offer.intent.id, with_evidence()).await);
    assert_ended(&world, &offer, "evidence: ").await;
}

/// Its worker met the silence; the provider has an answer by now.
async fn fault_49_a_listing_that_could_not_be_read_before_is_read_anew_for_a_persons_word(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    world.clock.advance(2 * DAY);
    world.bank.listing_down(true);
    world.wake(&engine, &offer).await;
    world.bank.listing_down(false);
    let resolved =
        engine.resolve(&offer.intent.id.to_string(), Verdict::NotCharged, &grounds(Some("none"))).await;
    let Resolved::Refused(words) = resolved.unwrap() else { panic!("a payment was given up") };
    assert!(words.contains("holds object-0 of this payment"), "{words}");
}

/// It stands before a person early where its worker always dies.
async fn while_a_late_request_could_still_take_money_it_is_refused(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    drop(world.claim(&engine, &offer).await);
    while world.state(&offer).await != StateName::NeedsReview {
        let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
        world.clock.advance(wake_at.since_ms(world.clock.now()).max(0));
        drop(world.engine().claim_due(1, Vec::new()).await.unwrap());
    }
    for verdict in [not_charged().into(), with_evidence()] {
        refused(&world, &offer, offer.intent.id, verdict, "a request that is late could still take money")
            .await;
    }
}

async fn money_that_comes_after_the_word_closes_the_checkout_again(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    // The listing knows nothing of it yet.
    world.bank.listing_lags(30 * DAY);
    world.wake(&engine, &offer).await;
    world.clock.advance(GAP_MS);
    done(resolve(&engine, offer.intent.id, not_charged()).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
    engine.look(&offer.checkout.tenant, offer.intent.id, &object_of(&world, &offer)).await.unwrap();
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid, "paid is a fact of the checkout");
    assert!(matches!(world.intent(offer.intent.id).await.state, State::Canceled { .. }), "its state stays");
    assert!(world.journal(&offer).await.iter().any(|line| line == "anomaly: paid_after_end"));
}

/// A large account: it takes longer to read than anybody may hold a payment.
async fn a_listing_that_outlives_the_claim_proves_it_all_the_same(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    world.wake(&engine, &offer).await;
    world.clock.advance(GAP_MS);
    let (gate, reads) = (Arc::new(Notify::new()), world.bank.asked().1);
    world.bank.listing_waits(Arc::clone(&gate));
    let (person, id) = (world.engine(), offer.intent.id);
    let task = tokio::spawn(async move { resolve(&person, id, not_charged()).await });
    while world.bank.reading() == 0 {
        assert!(!task.is_finished(), "it never came to the listing");
        tokio::task::yield_now().await;
    }
    world.clock.advance(LEASE_MS);
    // Somebody else looks at it meanwhile.
    world
        .clock
        .advance(world.story(&offer).await.operation.wake_at.unwrap().since_ms(world.clock.now()).max(0));
    world.bank.listing_down(true);
    assert!(engine.run_once().await.unwrap());
    world.bank.listing_down(false);
    gate.notify_one();
    done(task.await.unwrap());
    assert_eq!(world.bank.asked().1, reads + 2, "that person's listing was read once");
    assert_ended(&world, &offer, "listings of").await;
}
