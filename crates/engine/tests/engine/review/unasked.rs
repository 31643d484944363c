//! Where nobody can ask: the account's secret does not open any more, or the provider is none that this version knows. A person's
//! word rests on evidence then; whatever can still be asked is asked.

use std::sync::Arc;

use engine::{Engine, Vault, Verdict};
use payment::{
    CheckoutStatus, ObjectId, OperationId, OperationKind, OperationState, RefundStatus, StateName,
};
use store::{MerchantRecord, OperationRecord, Stage};

use super::{REASON, Said, Word, done, in_review, not_charged, object, object_of, refused_by, resolve};
use crate::{
    bank::{Fault, pending},
    follow_ups::{finish, open, ready_for, refund, state, sum_of, sums},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{DAY, HOUR, MOST_UNFINISHED, Offer, World, rub},
};

scenarios! {
    fault_33_what_cannot_be_asked_stands_before_a_person_and_is_not_tried_for_ever,
    a_payment_that_cannot_be_asked_about_is_charged_by_evidence,
    a_payment_whose_provider_turns_us_away_is_charged_by_evidence_once_its_key_is_dead,
    n5_r25_what_is_charged_by_evidence_is_written_down_with_the_sum_that_was_shown,
    n5_r25_the_sum_of_what_the_provider_never_showed_is_told_by_the_person,
    n5_r25_a_sum_is_told_of_a_payment_alone_and_never_against_the_provider,
    an_object_that_is_forbidden_alone_is_not_charged_by_evidence,
    a_payment_that_cannot_be_asked_about_is_not_charged_by_evidence_after_its_keys_window,
    an_object_that_another_payment_waits_for_is_not_taken_by_evidence,
    a_refund_that_cannot_be_asked_about_is_executed_by_evidence,
    r23_a_refund_that_knows_its_object_is_executed_by_that_one_and_no_other,
    r23_a_refund_of_another_payment_is_not_counted_for_a_second_one,
    a_refund_that_cannot_be_asked_about_is_not_executed_by_evidence_once_its_key_is_dead,
    a_capture_that_cannot_be_asked_about_and_its_payment_end_by_evidence,
    a_payment_of_a_provider_that_is_not_known_ends_by_evidence,
    with_the_accounts_present_secret_the_provider_is_asked,
    evidence_counts_for_nothing_where_the_server_could_ask,
}

const EVIDENCE: &str = "the account's statement of May";
const WHY: &str = "sealed with another PAYONCE_SECRET";

fn by_evidence(verdict: Verdict) -> Word {
    Word(verdict, Some(EVIDENCE))
}

fn with_sum(verdict: Verdict, sum: &str) -> Said {
    Said(by_evidence(verdict), Some(rub(sum)))
}

/// The secret was changed twice.
fn changed_twice() -> Arc<Vault> {
    Arc::new(Vault::new([3; 32], Some([2; 32])))
}

/// And the merchant has another account now: nothing that was frozen before opens.
fn forgetful(world: &World) -> Engine {
    let vault = changed_twice();
    world.merchants.put(merchant(tenant(), "100502", "its secret", &vault));
    Engine { vault, ..world.engine() }
}

async fn row(world: &World, offer: &Offer, id: OperationId) -> OperationRecord {
    let story = world.story(offer).await;
    std::iter::once(story.operation).chain(story.follow_ups).find(|row| row.id == id).unwrap()
}

/// Works, and fails, until it stands before a person.
async fn until_reviewed(world: &World, engine: &Engine, offer: &Offer, id: OperationId) {
    for _ in 0..10 * MOST_UNFINISHED {
        let row = row(world, offer, id).await;
        if row.stage == Stage::Review {
            return assert_eq!(row.unfinished, MOST_UNFINISHED);
        }
        world.clock.advance(row.wake_at.unwrap().since_ms(world.clock.now()).max(0));
        let _failed = engine.run_once().await;
    }
    panic!("it is tried for ever");
}

/// A payment whose answer was lost, and that nobody here can ask about: before a person.
async fn unasked(world: &World, engine: &Engine, lost: Fault) -> Offer {
    world.bank.next([lost]);
    let offer = world.paying(engine, "1").await;
    until_reviewed(world, &forgetful(world), &offer, world.story(&offer).await.operation.id).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    offer
}

/// The same of a follow-up.
async fn follow_up_unasked(
    world: &World,
    engine: &Engine,
    kind: OperationKind,
    lost: Fault,
) -> (Offer, OperationRecord) {
    let offer = ready_for(world, engine, kind, "1").await;
    world.bank.next_for(kind, [lost]);
    let operation = open(engine, &offer, kind, sum_of(kind)).await;
    assert!(engine.run_once().await.unwrap());
    until_reviewed(world, &forgetful(world), &offer, operation.id).await;
    (offer, operation)
}

/// Its line tells who said it, why, on what evidence, and why nobody was asked.
async fn assert_told(world: &World, offer: &Offer, event: &str, why: &str) {
    let line = world.journal(offer).await.into_iter().find(|line| line.starts_with(event)).unwrap();
    for part in ["a person", REASON, EVIDENCE, why] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

async fn fault_33_what_cannot_be_asked_stands_before_a_person_and_is_not_tried_for_ever(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    let paid = world.paying(&engine, "2").await;
    let refund = refund(&engine, &paid, "100.00").await;
    let (engine, asked) = (forgetful(&world), (world.bank.sends(), world.bank.asked()));
    let both = [(&offer, world.story(&offer).await.operation.id), (&paid, refund.id)];
    for (offer, id) in both {
        until_reviewed(&world, &engine, offer, id).await;
    }
    let fences =
        async || row(&world, &offer, both[0].1).await.fence + row(&world, &paid, refund.id).await.fence;
    let before = fences().await;
    for _ in 0..12 {
        world.clock.advance(HOUR / 6);
        let _failed = engine.run_once().await;
    }
    let looks = fences().await - before;
    assert!((2..=4).contains(&looks), "{looks} looks at both in two hours");
    assert_eq!(engine.review().await.unwrap().items.len(), 2);
    assert_eq!((world.bank.sends(), world.bank.asked()), asked, "nobody could");
}

/// Its merchant's credentials were revoked after the money was taken.
async fn a_payment_whose_provider_turns_us_away_is_charged_by_evidence_once_its_key_is_dead(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.every(Some(Fault::Unauthorized));
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    let (id, charged) = (offer.intent.id, Verdict::Charged(object_of(&world, &offer)));
    let refused = async |word: Word, part| refused_by(&engine, &world, &offer, id, word, part).await;
    refused(by_evidence(charged.clone()), "does not show").await;
    refused(by_evidence(charged.clone()), "or wait").await;
    world.clock.advance(HOUR);
    refused(charged.clone().into(), "does not accept the credentials of this account; say by --evidence")
        .await;
    refused(by_evidence(charged.clone()), "never showed how much").await;
    done(resolve(&engine, id, with_sum(charged, "1500.00")).await);
    assert_told(&world, &offer, "judged_charged", "does not accept the credentials").await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// It took another sum than it was asked for: all of it at once, or a part of what it held. Then the credentials were revoked.
async fn n5_r25_what_is_charged_by_evidence_is_written_down_with_the_sum_that_was_shown(world: World) {
    let engine = world.engine();
    let held = ready_for(&world, &engine, OperationKind::Capture, "2").await;
    world.bank.takes_part(&object_of(&world, &held), rub("600.00"));
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.takes_part(&object_of(&world, &offer), rub("1499.00"));
    world.settle(&engine).await;
    world.bank.every(Some(Fault::Unauthorized));
    world.clock.advance(2 * DAY);
    for (offer, sum) in [(&offer, "1499.00"), (&held, "600.00")] {
        world.settle(&engine).await;
        assert_eq!(world.state(offer).await, StateName::NeedsReview);
        let word = by_evidence(Verdict::Charged(object_of(&world, offer)));
        let words = done(resolve(&engine, offer.intent.id, word).await);
        assert!(words.contains(&format!("{sum} RUB")), "{words}");
        let charge = world.story(offer).await.charges.remove(0);
        assert_eq!((charge.amount, world.status(offer).await), (rub(sum), CheckoutStatus::Paid));
        assert_eq!(world.journal(offer).await.last().unwrap(), "anomaly: other_sum");
    }
}

/// Another sum than was asked for was taken, and nobody here ever saw it. What was asked for is not written down in its place.
async fn n5_r25_the_sum_of_what_the_provider_never_showed_is_told_by_the_person(world: World) {
    let offer = unasked(&world, &world.engine(), Fault::LoseAnswer).await;
    world.bank.takes_part(&object_of(&world, &offer), rub("1499.00"));
    let (engine, intent) = (forgetful(&world), offer.intent.id);
    let charged = Verdict::Charged(object_of(&world, &offer));
    let unsaid = "never showed how much";
    refused_by(&engine, &world, &offer, intent, by_evidence(charged.clone()), unsaid).await;
    let unproved = Said(charged.clone().into(), Some(rub("1499.00")));
    refused_by(&engine, &world, &offer, intent, unproved, "by --evidence what shows").await;
    let words = done(resolve(&engine, intent, with_sum(charged, "1499.00")).await);
    assert!(words.contains("1499.00 RUB"), "{words}");
    let charge = world.story(&offer).await.charges.remove(0);
    assert_eq!((charge.amount, world.status(&offer).await), (rub("1499.00"), CheckoutStatus::Paid));
    assert_told(&world, &offer, "judged_charged", "1499.00 RUB, as it was told").await;
    assert_eq!(world.journal(&offer).await.last().unwrap(), "anomaly: other_sum");
}

async fn n5_r25_a_sum_is_told_of_a_payment_alone_and_never_against_the_provider(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "2", Fault::LoseAnswer).await;
    let charged = Verdict::Charged(object_of(&world, &offer));
    let other = with_sum(charged.clone(), "1499.00");
    let took = "took 1500.00 RUB at the provider, not 1499.00 RUB";
    refused_by(&engine, &world, &offer, offer.intent.id, other, took).await;
    let nothing = with_sum(not_charged(), "1500.00");
    refused_by(&engine, &world, &offer, offer.intent.id, nothing, "and of nothing else").await;
    let (kind, lost) = (OperationKind::Refund, Fault::LoseAnswer);
    let (paid, refund) = follow_up_unasked(&world, &engine, kind, lost).await;
    let executed = with_sum(Verdict::Executed(made_for(&world, refund.id)), "500.00");
    refused_by(&forgetful(&world), &world, &paid, refund.id, executed, "and of nothing else").await;
    done(resolve(&engine, offer.intent.id, with_sum(charged, "1500.00")).await);
}

/// The account is asked as ever.
async fn an_object_that_is_forbidden_alone_is_not_charged_by_evidence(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    world.clock.advance(HOUR);
    let charged = by_evidence(Verdict::Charged(object("object-77")));
    world.bank.next_query(Fault::Unauthorized);
    refused_by(&engine, &world, &offer, offer.intent.id, charged, "does not show object-77 now").await;
}

async fn a_payment_that_cannot_be_asked_about_is_charged_by_evidence(world: World) {
    let asking = world.engine();
    let paid = world.paying(&asking, "paid").await;
    let offer = unasked(&world, &asking, Fault::LoseAnswer).await;
    let (engine, intent) = (forgetful(&world), offer.intent.id);
    let (taken, others) = (object_of(&world, &offer), object_of(&world, &paid));
    refused_by(&engine, &world, &offer, intent, Verdict::Charged(taken.clone()), WHY).await;
    let known = "is known already as the charge of";
    refused_by(&engine, &world, &offer, intent, by_evidence(Verdict::Charged(others)), known).await;
    let words = done(resolve(&engine, intent, with_sum(Verdict::Charged(taken.clone()), "1500.00")).await);
    assert!(words.contains("is paid") && words.contains("1500.00 RUB"), "{words}");
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
    let charge = world.story(&offer).await.charges.remove(0);
    assert_eq!(
        (charge.object, charge.account.as_str(), charge.amount),
        (taken, ACCOUNT, offer.intent.amount)
    );
    assert_told(&world, &offer, "judged_charged", WHY).await;
    assert!(!engine.run_once().await.unwrap(), "nothing is left to ask");
}

/// It may take the money yet: it would be one payment's and another's.
async fn an_object_that_another_payment_waits_for_is_not_taken_by_evidence(world: World) {
    let asking = world.engine();
    world.bank.decides(pending());
    let other = world.paying(&asking, "other").await;
    let theirs = object_of(&world, &other);
    let offer = unasked(&world, &asking, Fault::LoseRequest).await;
    let (engine, word) = (forgetful(&world), by_evidence(Verdict::Charged(theirs)));
    let known = format!("is known already as the payment of {}", other.intent.id);
    refused_by(&engine, &world, &offer, offer.intent.id, word, &known).await;
    assert_eq!(world.story(&offer).await.charges.len(), 0);
}

async fn a_payment_that_cannot_be_asked_about_is_not_charged_by_evidence_after_its_keys_window(world: World) {
    let offer = unasked(&world, &world.engine(), Fault::LoseRequest).await;
    let (engine, intent) = (forgetful(&world), offer.intent.id);
    refused_by(&engine, &world, &offer, intent, by_evidence(not_charged()), "could still be executed; wait")
        .await;
    world.clock.advance(25 * HOUR);
    refused_by(&engine, &world, &offer, intent, not_charged(), WHY).await;
    refused_by(&engine, &world, &offer, intent, not_charged(), "--evidence").await;
    done(resolve(&engine, intent, by_evidence(not_charged())).await);
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Canceled, CheckoutStatus::Open)
    );
    assert_told(&world, &offer, "judged_not_charged", WHY).await;
}

async fn a_refund_that_cannot_be_asked_about_is_executed_by_evidence(world: World) {
    let asking = world.engine();
    let offer = world.paying(&asking, "1").await;
    let other = refund(&asking, &offer, "300.00").await;
    finish(&world, &asking, &offer, other.id).await;
    world.bank.next_for(OperationKind::Refund, [Fault::LoseAnswer]);
    let lost = refund(&asking, &offer, "500.00").await;
    assert!(asking.run_once().await.unwrap());
    let engine = forgetful(&world);
    until_reviewed(&world, &engine, &offer, lost.id).await;
    let made = |of: OperationId| Verdict::Executed(made_for(&world, of));
    refused_by(&engine, &world, &offer, lost.id, made(lost.id), WHY).await;
    refused_by(&engine, &world, &offer, lost.id, by_evidence(made(other.id)), "is known already").await;
    done(resolve(&engine, lost.id, by_evidence(made(lost.id))).await);
    assert!(matches!(state(&world, &offer, lost.id).await, OperationState::Succeeded { .. }));
    assert_eq!(sums(&world, &offer).await, (0, 80_000));
    assert_told(&world, &offer, "refund.judged_executed", WHY).await;
}

fn made_for(world: &World, operation: OperationId) -> ObjectId {
    world.bank.refunds().into_iter().find(|refund| refund.operation == operation).unwrap().id
}

async fn r23_a_refund_that_knows_its_object_is_executed_by_that_one_and_no_other(world: World) {
    let asking = world.engine();
    let offer = world.paying(&asking, "1").await;
    world.bank.decides_refund(RefundStatus::Pending);
    let pending = refund(&asking, &offer, "500.00").await;
    assert!(asking.run_once().await.unwrap());
    let made = made_for(&world, pending.id);
    assert_eq!(row(&world, &offer, pending.id).await.object, Some(made.clone()));
    let engine = forgetful(&world);
    until_reviewed(&world, &engine, &offer, pending.id).await;
    let other = by_evidence(Verdict::Executed(object("refund-77")));
    refused_by(&engine, &world, &offer, pending.id, other, &format!("its own object, {made}")).await;
    done(resolve(&engine, pending.id, by_evidence(Verdict::Executed(made))).await);
    assert!(matches!(state(&world, &offer, pending.id).await, OperationState::Succeeded { .. }));
    assert_eq!(sums(&world, &offer).await, (0, 50_000), "it is not given back once more");
}

async fn r23_a_refund_of_another_payment_is_not_counted_for_a_second_one(world: World) {
    let asking = world.engine();
    let paid = world.paying(&asking, "paid").await;
    let other = refund(&asking, &paid, "500.00").await;
    finish(&world, &asking, &paid, other.id).await;
    let (kind, lost) = (OperationKind::Refund, Fault::LoseRequest);
    let (offer, operation) = follow_up_unasked(&world, &asking, kind, lost).await;
    let known = format!("is known already as the refund of {}", other.id);
    let word = by_evidence(Verdict::Executed(made_for(&world, other.id)));
    refused_by(&forgetful(&world), &world, &offer, operation.id, word, &known).await;
    let payments =
        [(object_of(&world, &paid), "the charge of"), (object_of(&world, &offer), "the charge of")];
    for (payment, known) in payments {
        let word = by_evidence(Verdict::Executed(payment));
        refused_by(&forgetful(&world), &world, &offer, operation.id, word, known).await;
    }
}

async fn a_refund_that_cannot_be_asked_about_is_not_executed_by_evidence_once_its_key_is_dead(world: World) {
    let (kind, lost) = (OperationKind::Refund, Fault::LoseRequest);
    let (offer, operation) = follow_up_unasked(&world, &world.engine(), kind, lost).await;
    let (engine, id) = (forgetful(&world), operation.id);
    let word = by_evidence(Verdict::NotExecuted);
    refused_by(&engine, &world, &offer, id, word.clone(), "could still be executed; wait").await;
    world.clock.advance(25 * HOUR);
    refused_by(&engine, &world, &offer, id, Verdict::NotExecuted, WHY).await;
    done(resolve(&engine, id, word).await);
    assert_eq!(
        (state(&world, &offer, id).await, sums(&world, &offer).await),
        (OperationState::NotExecuted, (0, 0))
    );
    assert_told(&world, &offer, "refund.judged_not_executed", WHY).await;
}

async fn a_capture_that_cannot_be_asked_about_and_its_payment_end_by_evidence(world: World) {
    let (kind, lost) = (OperationKind::Capture, Fault::LoseAnswer);
    let (offer, operation) = follow_up_unasked(&world, &world.engine(), kind, lost).await;
    let (engine, target) = (forgetful(&world), object_of(&world, &offer));
    let wrong = by_evidence(Verdict::Executed(object("object-77")));
    refused_by(&engine, &world, &offer, operation.id, wrong, "the payment it acts on").await;
    done(resolve(&engine, operation.id, by_evidence(Verdict::Executed(target.clone()))).await);
    assert_told(&world, &offer, "capture.judged_executed", WHY).await;
    let pay = world.story(&offer).await.operation.id;
    until_reviewed(&world, &engine, &offer, pay).await;
    done(resolve(&engine, offer.intent.id, with_sum(Verdict::Charged(target), "1500.00")).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// A newer version froze it, and was taken back.
async fn a_payment_of_a_provider_that_is_not_known_ends_by_evidence(world: World) {
    let engine = world.engine();
    let merchant = MerchantRecord { provider: "elsewhere".into(), ..world.merchant().await };
    world.merchants.put(merchant);
    let offer = world.offer(&engine, "1").await;
    drop(world.claim(&engine, &offer).await);
    let why = "knows none that is called elsewhere";
    until_reviewed(&world, &engine, &offer, world.story(&offer).await.operation.id).await;
    let intent = offer.intent.id;
    refused_by(&engine, &world, &offer, intent, Verdict::Charged(object("object-77")), why).await;
    world.clock.advance(25 * HOUR);
    refused_by(&engine, &world, &offer, intent, not_charged(), why).await;
    done(resolve(&engine, intent, by_evidence(not_charged())).await);
    assert_told(&world, &offer, "judged_not_charged", why).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
}

/// The request does not open any more; the account is still the merchant's, and its secret is known.
async fn with_the_accounts_present_secret_the_provider_is_asked(world: World) {
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&world.engine(), "1").await;
    let vault = changed_twice();
    world.merchants.put(merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &vault));
    let engine = Engine { vault, ..world.engine() };
    let intent = offer.intent.id;
    until_reviewed(&world, &engine, &offer, world.story(&offer).await.operation.id).await;
    world.clock.advance(25 * HOUR);
    let holds = "the provider's listing holds";
    refused_by(&engine, &world, &offer, intent, by_evidence(not_charged()), holds).await;
    let other = by_evidence(Verdict::Charged(object("object-77")));
    refused_by(&engine, &world, &offer, intent, other, "does not show").await;
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// The secret was changed once, and the merchant has another account: the server, which has the old secret too, asks. Whoever was
/// given the new one alone cannot, and says so.
async fn evidence_counts_for_nothing_where_the_server_could_ask(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    let paid = ready_for(&world, &engine, OperationKind::Refund, "2").await;
    world.bank.next_for(OperationKind::Refund, [Fault::LoseAnswer]);
    let lost = refund(&engine, &paid, "500.00").await;
    world.bank.every(Some(Fault::LoseAnswer));
    finish(&world, &engine, &paid, lost.id).await;
    world.bank.every(None);
    let server = Arc::new(Vault::new([2; 32], Some([1; 32])));
    world.merchants.put(merchant(tenant(), "100502", "its secret", &server));
    let server = Engine { vault: server, ..world.engine() };
    let given_less = Engine { vault: Arc::new(Vault::new([2; 32], None)), ..world.engine() };
    let words = [Verdict::Charged(object_of(&world, &offer)), not_charged()];
    for verdict in words {
        refused_by(&given_less, &world, &offer, offer.intent.id, by_evidence(verdict), "from here").await;
    }
    world.clock.advance(25 * HOUR);
    for verdict in [Verdict::Executed(made_for(&world, lost.id)), Verdict::NotExecuted] {
        refused_by(&given_less, &world, &paid, lost.id, by_evidence(verdict), "from here").await;
    }
    let holds = "the provider's listing holds";
    refused_by(&server, &world, &offer, offer.intent.id, by_evidence(not_charged()), holds).await;
    done(resolve(&server, lost.id, Verdict::Executed(made_for(&world, lost.id))).await);
}
