//! Money that is held: as long as the provider shows it, it waits for the merchant; when nobody can ask any more, and its hold is
//! over by itself, it stands before a person.

use engine::{Engine, IntentOutcome, Verdict};
use payment::{
    CheckoutStatus, Ending, ObjectStatus, OperationKind, RefundStatus, ReviewReason, State, StateName,
};

use super::{Word, done, not_charged, object_of, refused, resolve, waiting};
use crate::{
    bank::{Fault, HOLD_MS, PENDING_MS},
    follow_ups::{finish, open, ready_for, sum_of},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{DAY, EXECUTE_MS, MINUTE, Offer, World, rub},
};

scenarios! {
    fault_49c_a_hold_whose_account_was_closed_stands_before_a_person_once_it_is_over,
    fault_49c_a_hold_that_was_taken_meanwhile_is_charged_by_a_persons_word,
    r12_a_hold_that_is_shown_waits_for_no_person_however_old,
    r12_a_hold_that_is_shown_again_is_held_again,
    n5_a_hold_of_which_a_part_was_taken_and_given_back_is_no_strangers_money,
}

/// From the first send on: nothing is sent any more, the shopper has left the bank's page, the hold is over, and a day.
const REVIEWED_AFTER_MS: i64 = EXECUTE_MS + PENDING_MS + HOLD_MS + DAY;

async fn held(world: &World, engine: &Engine) -> Offer {
    let offer = ready_for(world, engine, OperationKind::Capture, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Authorized);
    offer
}

/// A worker looks so long after the first send.
async fn looks_after(world: &World, engine: &Engine, ms: i64) {
    world.clock.advance(world.began.plus_ms(ms).since_ms(world.clock.now()));
    assert!(engine.run_once().await.unwrap(), "somebody looks");
}

/// The merchant has another account, and the old one does not know him any more.
fn leaves(world: &World) {
    world.merchants.put(merchant(tenant(), "100502", &secret_of("100502"), &world.vault));
    world.bank.change_secret(ACCOUNT, "nobody's");
}

/// The bank lets go of what nobody captured.
fn lets_go() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Canceled { code: "expired_on_capture".into() })
}

async fn fault_49c_a_hold_whose_account_was_closed_stands_before_a_person_once_it_is_over(world: World) {
    let engine = world.engine();
    let offer = held(&world, &engine).await;
    leaves(&world);
    for ms in [DAY, HOLD_MS, REVIEWED_AFTER_MS - MINUTE] {
        looks_after(&world, &engine, ms).await;
        assert_eq!(world.state(&offer).await, StateName::Authorized, "it may be captured yet");
        assert_eq!(waiting(&engine).await, [""; 0]);
    }
    looks_after(&world, &engine, REVIEWED_AFTER_MS + 5 * MINUTE).await;
    let State::NeedsReview { why: ReviewReason::Overdue, object: Some(known), .. } =
        world.intent(offer.intent.id).await.state
    else {
        panic!("a person is called")
    };
    let object = object_of(&world, &offer);
    assert_eq!((&known, waiting(&engine).await), (&object, vec![offer.intent.id.to_string()]));
    let line = world.journal(&offer).await.pop().unwrap();
    assert!(line.starts_with("overdue: the provider does not show the money it held"), "{line}");
    world.bank.moves(offer.intent.id, lets_go());
    let intent = offer.intent.id;
    refused(&world, &offer, intent, Verdict::Charged(object), "say by --evidence").await;
    refused(&world, &offer, intent, not_charged(), "say by --evidence").await;
    done(resolve(&engine, intent, Word(Verdict::NotCharged, Some("the account's statement"))).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
    world.offer_for(&engine, "1", "1500.00", "renewed").await;
    let (outcome, next) = world.try_again(&engine, &offer, "again").await;
    assert!(
        matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status < 300),
        "{outcome:?}"
    );
    world.pay(&engine, &next).await;
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

/// By hand, in the provider's dashboard, before anybody could ask again.
async fn fault_49c_a_hold_that_was_taken_meanwhile_is_charged_by_a_persons_word(world: World) {
    let engine = world.engine();
    let offer = held(&world, &engine).await;
    world.bank.next_query(Fault::Unauthorized);
    looks_after(&world, &engine, REVIEWED_AFTER_MS).await;
    assert_eq!(waiting(&engine).await, [offer.intent.id.to_string()]);
    let (intent, charged) = (offer.intent.id, || Verdict::Charged(object_of(&world, &offer)));
    refused(&world, &offer, intent, charged(), "it is waiting_for_capture").await;
    refused(&world, &offer, intent, not_charged(), "is not over at the provider").await;
    world.bank.moves(intent, ObjectStatus::Succeeded);
    refused(&world, &offer, intent, not_charged(), "is not over at the provider").await;
    done(resolve(&engine, intent, charged()).await);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn r12_a_hold_that_is_shown_waits_for_no_person_however_old(world: World) {
    let engine = world.engine();
    let offer = held(&world, &engine).await;
    for ms in [REVIEWED_AFTER_MS, REVIEWED_AFTER_MS + 30 * DAY] {
        looks_after(&world, &engine, ms).await;
        assert_eq!(world.state(&offer).await, StateName::Authorized);
    }
    assert_eq!(waiting(&engine).await, [""; 0]);
    assert_eq!(world.journal(&offer).await.len(), 3, "opened, submitted, held");
}

async fn r12_a_hold_that_is_shown_again_is_held_again(world: World) {
    let engine = world.engine();
    let offer = held(&world, &engine).await;
    world.bank.next_query(Fault::LoseAnswer);
    looks_after(&world, &engine, REVIEWED_AFTER_MS).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, waiting(&engine).await.len()), (StateName::Authorized, 0));
    let capture = open(&engine, &offer, OperationKind::Capture, sum_of(OperationKind::Capture)).await;
    finish(&world, &engine, &offer, capture.id).await;
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

/// Both by hand, in the provider's dashboard; a person said that it took no money.
async fn n5_a_hold_of_which_a_part_was_taken_and_given_back_is_no_strangers_money(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = held(&world, &engine).await;
    let (intent, object) = (offer.intent.id, object_of(&world, &offer));
    world.bank.takes_part(&object, rub("100.00"));
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    world.bank.gives_back_by_hand(&object, rub("100.00"), RefundStatus::Succeeded);
    while world.state(&offer).await != StateName::NeedsReview {
        world.wake(&engine, &offer).await;
    }
    done(resolve(&engine, intent, not_charged()).await);
    assert_eq!(engine.sweep_merchant(&world.merchant().await).await.unwrap().strangers, 0);
    assert_eq!((world.status(&offer).await, waiting(&engine).await.len()), (CheckoutStatus::Open, 0));
}
