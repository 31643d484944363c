//! The final answer, which a submit's key keeps for ever: it tells of the intent as its row stands.

use engine::{Answers, Submission, SubmitOutcome, Verdict};
use payment::{ObjectStatus, StateName};

use crate::{
    bank::{Fault, pending},
    merchant::PlainAnswers,
    review::{done, object_of, resolve},
    scenarios,
    world::{Offer, World, known},
};

scenarios! {
    r2_the_final_answer_tells_the_state_and_the_card,
    r2_the_final_answer_tells_the_card_that_was_known_before,
    r3_a_submit_key_that_was_used_is_its_own_intents_and_no_others,
}

async fn tells_of_its_row(world: &World, offer: &Offer) {
    let (intent, answer) = known(world.engine().submit(offer.submission("tok_2")).await.unwrap());
    assert_eq!(intent.paid_with.as_ref().and_then(|card| card.last4.as_deref()), Some("4444"));
    assert_eq!(answer, Some(PlainAnswers.intent(200, &offer.checkout, &intent)));
}

async fn r2_the_final_answer_tells_the_state_and_the_card(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    tells_of_its_row(&world, &offer).await;
}

/// A person ends it, and nobody shows the card again.
async fn r2_the_final_answer_tells_the_card_that_was_known_before(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.bank.every(Some(Fault::LoseAnswer));
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.bank.every(None);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    done(resolve(&engine, offer.intent.id, Verdict::Charged(object_of(&world, &offer))).await);
    tells_of_its_row(&world, &offer).await;
}

async fn r3_a_submit_key_that_was_used_is_its_own_intents_and_no_others(world: World) {
    let engine = world.engine();
    let (used, other) = (world.paying(&engine, "1").await, world.offer(&engine, "2").await);
    let (own, theirs) = (used.submission("tok_1"), other.submission("tok_1"));
    let mut crossed = theirs.clone();
    crossed.key.key = own.key.key.clone();
    // And with the fingerprint of the other's, which nothing but a bug of ours would send.
    let mistaken = Submission { intent: other.intent.id, ..own.clone() };
    for wrong in [crossed, mistaken] {
        let outcome = engine.submit(wrong).await.unwrap();
        assert!(matches!(outcome, SubmitOutcome::WrongKey), "{outcome:?}");
    }
    let mut changed = used.clone();
    changed.checkout.version += 1;
    let outcome = engine.submit(changed.submission("tok_1")).await.unwrap();
    assert!(
        matches!(&outcome, SubmitOutcome::KeyReused { field } if field == "checkout_version"),
        "{outcome:?}"
    );
    known(engine.submit(own).await.unwrap());
    assert_eq!(world.bank.sends(), 1);
}
