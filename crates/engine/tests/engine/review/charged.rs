//! `--charged OBJECT`: the provider is asked first.

use engine::Verdict;
use payment::{CheckoutStatus, Ending, ObjectStatus, OrderId, State, StateName};

use super::{REASON, done, in_review, object, object_of, refused, resolve};
use crate::{
    bank::{Fault, Lie, pending},
    merchant::ACCOUNT,
    scenarios,
    world::{World, known, rub},
};

scenarios! {
    an_object_that_took_the_money_pays_the_order,
    one_that_took_another_sum_pays_it_and_the_sum_is_written_down_as_taken,
    one_that_names_nobody_pays_it_when_a_person_says_so,
    one_that_took_no_money_is_refused,
    one_that_is_not_there_or_not_shown_is_refused,
    one_that_belongs_to_another_payment_is_refused,
    one_that_names_another_order_of_ours_is_refused,
    one_that_is_a_charge_already_is_refused,
    a_payment_takes_no_verdict_of_a_refund,
}

async fn an_object_that_took_the_money_pays_the_order(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    let taken = object_of(&world, &offer);
    let words = done(resolve(&engine, offer.intent.id, Verdict::Charged(taken.clone())).await);
    assert!(
        words.contains("paid") && words.contains("1500.00 RUB") && words.contains(taken.as_str()),
        "{words}"
    );
    let State::Succeeded { object, .. } = world.intent(offer.intent.id).await.state else {
        panic!("it is paid")
    };
    let story = world.story(&offer).await;
    assert_eq!((&object, story.operation.object.as_ref()), (&taken, Some(&taken)));
    assert_eq!((story.charges.len(), &story.charges[0].object), (1, &taken));
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
    let last = world.journal(&offer).await.pop().unwrap();
    for part in ["judged_charged", "a person", taken.as_str(), "1500.00 RUB", REASON] {
        assert!(last.contains(part), "{part} in {last}");
    }
    let (_, replay) = known(engine.submit(offer.submission("tok_2")).await.unwrap());
    assert!(replay.is_some(), "a repeat has its final answer");
    assert!(!engine.run_once().await.unwrap(), "nothing is left to ask");
}

async fn one_that_took_another_sum_pays_it_and_the_sum_is_written_down_as_taken(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    let by_hand = world.bank.stranger_pays(ACCOUNT, &OrderId::parse("till").unwrap(), rub("1500.01"));
    let words = done(resolve(&engine, offer.intent.id, Verdict::Charged(by_hand)).await);
    assert!(words.contains("1500.01 RUB"), "{words}");
    let charge = world.story(&offer).await.charges.remove(0);
    assert_eq!((charge.amount, world.status(&offer).await), (rub("1500.01"), CheckoutStatus::Paid));
    let journal = world.journal(&offer).await;
    assert!(journal[journal.len() - 2].contains("1500.01 RUB"), "{journal:?}");
    assert_eq!(journal.last().unwrap(), "anomaly: other_sum");
}

async fn one_that_names_nobody_pays_it_when_a_person_says_so(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    // Taken by hand, at a till of the same account.
    let by_hand = world.bank.stranger_pays(ACCOUNT, &OrderId::parse("till").unwrap(), rub("1500.00"));
    done(resolve(&engine, offer.intent.id, Verdict::Charged(by_hand.clone())).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    assert_eq!(world.story(&offer).await.charges[0].object, by_hand);
}

async fn one_that_took_no_money_is_refused(world: World) {
    let engine = world.engine();
    let code = "why".to_owned();
    let statuses = [
        (pending(), "pending"),
        (ObjectStatus::WaitingForCapture, "waiting_for_capture"),
        (ObjectStatus::Ended(Ending::Declined { code }), "canceled"),
    ];
    for (order, (status, word)) in ["1", "2", "3"].into_iter().zip(statuses) {
        world.bank.decides(status);
        let offer = in_review(&world, &engine, order, Fault::LoseAnswer).await;
        let verdict = Verdict::Charged(object_of(&world, &offer));
        refused(&world, &offer, offer.intent.id, verdict, &format!("took no money: it is {word}")).await;
        world.wake(&engine, &offer).await;
    }
}

async fn one_that_is_not_there_or_not_shown_is_refused(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    let intent = offer.intent.id;
    let part = "does not show";
    refused(&world, &offer, intent, Verdict::Charged(object("object-77")), part).await;
    for silence in [Fault::LoseAnswer, Fault::Error500Before, Fault::Unauthorized, Fault::RateLimited(None)] {
        world.bank.next_query(silence);
        refused(&world, &offer, intent, Verdict::Charged(object_of(&world, &offer)), part).await;
    }
    done(resolve(&engine, intent, Verdict::Charged(object_of(&world, &offer))).await);
}

async fn one_that_belongs_to_another_payment_is_refused(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    let other = in_review(&world, &engine, "2", Fault::LoseAnswer).await;
    // That one's time came too while the bank was silent for the other.
    let verdict = Verdict::Charged(object_of(&world, &other));
    refused(&world, &offer, offer.intent.id, verdict, "names another payment").await;
}

/// Taken by hand for that order: one charge must not pay two.
async fn one_that_names_another_order_of_ours_is_refused(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    world.offer(&engine, "2").await;
    let by_hand = world.bank.stranger_pays(ACCOUNT, &OrderId::parse("2").unwrap(), rub("1500.00"));
    refused(&world, &offer, offer.intent.id, Verdict::Charged(by_hand), "names order 2").await;
}

async fn one_that_is_a_charge_already_is_refused(world: World) {
    let engine = world.engine();
    let paid = world.paying(&engine, "paid").await;
    let taken = object_of(&world, &paid);
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    world.bank.lies(Some(Lie::Owner));
    refused(&world, &offer, offer.intent.id, Verdict::Charged(taken), "is known already as the charge of")
        .await;
    world.bank.lies(None);
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
}

async fn a_payment_takes_no_verdict_of_a_refund(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    let taken = object_of(&world, &offer);
    for verdict in [Verdict::Executed(taken), Verdict::NotExecuted, Verdict::RefundExtra] {
        refused(&world, &offer, offer.intent.id, verdict, "--charged OBJECT or --not-charged").await;
    }
}
