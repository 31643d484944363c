//! What paid an order, where an extra is to pay in its place or to be given back: one answer that does not come says nothing about it.

use engine::{OutOfReach, Verdict};
use payment::{ObjectId, ObjectStatus, OperationKind, OperationState, OrderId, RefundStatus};
use store::{Fate, MerchantRecord};

use super::{
    Word, done,
    extras::{charged_twice, fate, gives_back, keep, sweeps, takes_back},
    follow_ups::{SECOND_ACCOUNT, paid_in_two_accounts},
    not_charged, refused, resolve, waiting,
};
use crate::{
    bank::Fault,
    follow_ups::{finish, step},
    merchant::{ACCOUNT, tenant},
    scenarios,
    world::{Offer, World, rub},
};

scenarios! {
    n5_what_wavered_once_is_not_gone_for_one_silent_answer,
    n5_what_was_kept_is_not_gone_for_one_silent_answer,
    n5_an_extra_that_is_on_its_way_back_does_not_pay,
    n5_one_object_that_is_forbidden_and_a_listing_that_fails_are_no_closed_account,
    n5_an_extra_of_a_closed_account_pays_by_evidence,
    n5_what_was_given_back_and_is_there_again_is_a_persons_matter,
    n5_what_a_person_said_to_be_gone_and_the_provider_shows_is_a_persons_matter,
    n5_an_extra_of_a_closed_account_does_not_pay_while_another_one_is_silent_about_what_paid,
    n5_what_the_setting_opened_is_not_sent_once_nobody_can_ask_about_what_paid,
    n5_what_a_person_opened_is_sent_though_nobody_can_ask_about_what_paid,
    n5_an_extra_is_a_persons_matter_once_a_part_of_what_paid_was_given_back,
    r25_the_card_that_paid_is_told_beside_an_extra_of_another_card,
    a_stranger_of_an_order_that_was_paid_is_released_in_other_words,
}

const NOT_SHOWN: &str = "does not show the money that paid";

/// The extra is shown, and what paid is not, once for each word.
async fn says_nothing_of(world: &World, offer: &Offer, paying: &ObjectId, extra: &ObjectId) {
    world.bank.forbids(Some(paying));
    for verdict in [keep(extra), Verdict::RefundExtra] {
        refused(world, offer, extra, verdict, NOT_SHOWN).await;
    }
    world.bank.forbids(None);
}

async fn n5_what_wavered_once_is_not_gone_for_one_silent_answer(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    takes_back(&world, &paying);
    sweeps(&world, &engine).await;
    assert_eq!(fate(&world, &offer, &paying).await, Some(Fate::Returned));
    says_nothing_of(&world, &offer, &paying, &extra).await;
    world.bank.moves_object(&paying, ObjectStatus::Succeeded);
    sweeps(&world, &engine).await;
    says_nothing_of(&world, &offer, &paying, &extra).await;
    assert_eq!(fate(&world, &offer, &paying).await, None);
    refused(&world, &offer, &extra, keep(&extra), "lies at the provider").await;
}

/// That the first charge was taken back says nothing of the one that was kept in its place.
async fn n5_what_was_kept_is_not_gone_for_one_silent_answer(world: World) {
    let engine = world.engine();
    let (offer, first, kept) = charged_twice(&world, &engine).await;
    takes_back(&world, &first);
    done(resolve(&engine, &kept, keep(&kept)).await);
    world.bank.forget_keys();
    world.bank.repeat_last();
    sweeps(&world, &engine).await;
    let third = super::object(&waiting(&engine).await[0]);
    says_nothing_of(&world, &offer, &kept, &third).await;
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    assert_eq!(
        engine.refund_extras(&mut OutOfReach::default()).await.unwrap(),
        1,
        "it lies there, and always did"
    );
}

async fn n5_an_extra_that_is_on_its_way_back_does_not_pay(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    gives_back(&world, &paying);
    let back = world.bank.gives_back_by_hand(&extra, rub("1500.00"), RefundStatus::Pending);
    refused(&world, &offer, &extra, keep(&extra), "is being given back").await;
    world.bank.moves_refund_by_hand(&back, RefundStatus::Canceled { code: "general_decline".into() });
    done(resolve(&engine, &extra, keep(&extra)).await);
    assert_eq!(fate(&world, &offer, &extra).await, Some(Fate::Kept));
}

async fn n5_one_object_that_is_forbidden_and_a_listing_that_fails_are_no_closed_account(world: World) {
    let engine = world.engine();
    let (offer, _, extra) = charged_twice(&world, &engine).await;
    world.bank.forbids(Some(&extra));
    world.bank.listing(|listing| listing.down = true);
    let evidence = Some("the account's statement");
    for verdict in [not_charged(), keep(&extra)] {
        refused(&world, &offer, &extra, Word(verdict, evidence), "does not show it now").await;
    }
}

async fn n5_an_extra_of_a_closed_account_pays_by_evidence(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    takes_back(&world, &paying);
    sweeps(&world, &engine).await;
    world.bank.every(Some(Fault::Unauthorized));
    refused(&world, &offer, &extra, keep(&extra), "say by --evidence").await;
    done(resolve(&engine, &extra, Word(keep(&extra), Some("the account's statement"))).await);
    world.bank.every(None);
    assert_eq!((fate(&world, &offer, &extra).await, waiting(&engine).await.len()), (Some(Fate::Kept), 0));
}

async fn n5_what_was_given_back_and_is_there_again_is_a_persons_matter(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    let refund = world.bank.gives_back_by_hand(&paying, rub("1500.00"), RefundStatus::Succeeded);
    sweeps(&world, &engine).await;
    assert_eq!(fate(&world, &offer, &paying).await, Some(Fate::Returned));
    let code = "insufficient_funds".to_owned();
    world.bank.moves_refund_by_hand(&refund, RefundStatus::Canceled { code });
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    for _ in 0..2 {
        assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    }
    assert_eq!(waiting(&engine).await, [extra.to_string()]);
}

/// A chargeback, say, which the provider does not show: whoever kept the extra for it may be right, so no setting gives it back.
async fn n5_what_a_person_said_to_be_gone_and_the_provider_shows_is_a_persons_matter(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    world.bank.every(Some(Fault::Unauthorized));
    done(resolve(&engine, &extra, Word(keep(&extra), Some("the account's statement"))).await);
    assert_eq!(fate(&world, &offer, &paying).await, Some(Fate::Returned));
    world.bank.every(None);
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    sweeps(&world, &engine).await;
    assert_eq!(
        (fate(&world, &offer, &paying).await, waiting(&engine).await),
        (None, vec![extra.to_string()])
    );
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
}

/// What paid lies elsewhere, where nobody turns us away.
async fn n5_an_extra_of_a_closed_account_does_not_pay_while_another_one_is_silent_about_what_paid(
    world: World,
) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    let paying = super::object_of(&world, &offer);
    world.bank.change_secret(SECOND_ACCOUNT, "nobody's");
    world.bank.forbids(Some(&paying));
    let word = Word(keep(&extra), Some("the account's statement"));
    refused(&world, &offer, &extra, word, NOT_SHOWN).await;
}

async fn n5_what_the_setting_opened_is_not_sent_once_nobody_can_ask_about_what_paid(world: World) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    world.bank.next_for(OperationKind::Refund, [Fault::Unauthorized]);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    step(&world, &engine, &offer, refund.id).await;
    world.bank.change_secret(ACCOUNT, "nobody's");
    let ended = finish(&world, &engine, &offer, refund.id).await;
    assert!(matches!(&ended, OperationState::Rejected { code, .. } if code == "withheld"), "{ended:?}");
    assert_eq!((world.bank.refunds().len(), waiting(&engine).await), (0, vec![extra.to_string()]));
}

async fn n5_what_a_person_opened_is_sent_though_nobody_can_ask_about_what_paid(world: World) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    world.bank.next_for(OperationKind::Refund, [Fault::Unauthorized]);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    step(&world, &engine, &offer, refund.id).await;
    world.bank.change_secret(ACCOUNT, "nobody's");
    let ended = finish(&world, &engine, &offer, refund.id).await;
    assert!(matches!(ended, OperationState::Succeeded { .. }), "{ended:?}");
}

/// It may be the first of two refunds of the charge that was one too many.
async fn n5_an_extra_is_a_persons_matter_once_a_part_of_what_paid_was_given_back(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    world.bank.gives_back_by_hand(&paying, rub("750.00"), RefundStatus::Succeeded);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    let ended = finish(&world, &engine, &offer, refund.id).await;
    assert!(matches!(ended, OperationState::Succeeded { .. }), "{ended:?}");
}

async fn r25_the_card_that_paid_is_told_beside_an_extra_of_another_card(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    world.bank.shows_card("0004");
    for (object, last4) in [(&extra, "4444"), (&paying, "0004")] {
        engine.look(&tenant(), offer.intent.id, object).await.unwrap();
        let (_, intent) = world.store.intent(tenant(), offer.intent.id).await.unwrap().unwrap();
        assert_eq!(intent.paid_with.unwrap().last4.as_deref(), Some(last4));
    }
}

async fn a_stranger_of_an_order_that_was_paid_is_released_in_other_words(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let order = OrderId::parse("1").unwrap();
    let open = world.bank.stranger_pays(ACCOUNT, &OrderId::parse("2").unwrap(), rub("1500.00"));
    world.paying(&engine, "1").await;
    let [none, more] = [(), ()].map(|()| world.bank.stranger_pays(ACCOUNT, &order, rub("1500.00")));
    sweeps(&world, &engine).await;
    let words = done(resolve(&engine, &open, not_charged()).await);
    assert!(words.ends_with("which can be paid again"), "{words}");
    let words = done(resolve(&engine, &none, not_charged()).await);
    assert!(!words.contains("paid again"), "{words}");
    let words = done(resolve(&engine, &more, keep(&more)).await);
    assert!(words.ends_with("which was paid already"), "{words}");
}
