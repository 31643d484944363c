//! Notifications: late, early, repeated, reordered, forged. They make us ask; the bank's answer alone has effects.

use engine::{Accepted, Engine, Submission};
use payment::{
    CheckoutStatus, Ending, IntentId, ObjectStatus, OperationKind, ProviderAccount, RefundStatus, State,
    StateName,
};
use store::{NoticeAccepted, NoticeKey, NoticeRecord, NoticeState, OpenedFollowUp, Stage, Tenant};

use crate::{
    bank::{Fault, pending},
    flaky::{Call, Flaky, When},
    merchant::{ACCOUNT, tenant, tenant_of},
    scenarios,
    world::{DAY, HOUR, LEASE_MS, MINUTE, SECOND, World, claimed},
};

scenarios! {
    r21_fault_50_a_repeat_asks_again_and_changes_nothing_more,
    r22_fault_51_a_notification_before_the_response_and_the_response_agree,
    r22_fault_51_a_notification_suffices_where_the_response_was_lost,
    r22_the_notification_takes_over_and_the_late_response_agrees,
    fault_52_out_of_order_they_end_where_the_bank_stands,
    r21_fault_53_a_new_state_of_the_object_is_taken,
    fault_54_an_unknown_object_is_parked_and_matched_later,
    fault_54_what_nobody_knows_is_looked_for_once_a_day_in_the_end,
    fault_54_a_forged_one_first_and_the_true_one_still_counts,
    fault_54_a_forged_end_of_a_real_object_is_asked_about_and_dropped,
    fault_54_a_made_up_object_changes_no_intent,
    fault_54_another_intents_object_is_no_word_about_this_one,
    r21_fault_55_what_died_half_way_is_still_done,
    r21_a_commit_without_an_answer_loses_no_notification,
    fault_57_notification_and_response_make_one_of_each_effect,
    a_late_success_of_a_declined_intent_pays_the_order,
    fault_49d_a_reversal_is_an_anomaly_and_the_intent_keeps_its_state,
    a_silent_bank_is_asked_again,
    a_refund_is_driven_by_its_notification,
    a_refund_that_nobody_knows_is_parked,
    attack_44_another_merchants_notification_says_nothing,
    what_is_none_of_ours_is_not_written_down,
}

/// What the bank sends about an object, or who knows the address.
fn body(object: &str, status: &str, intent: Option<IntentId>) -> Vec<u8> {
    let intent = intent.map(|intent| intent.to_string()).unwrap_or_default();
    format!("event=payment.{status}\nobject={object}\nstatus={status}\nintent={intent}\n").into_bytes()
}

impl World {
    pub async fn hears_as(&self, tenant: &Tenant, body: &[u8]) -> Accepted {
        self.engine().accept_notice(tenant, body).await.unwrap()
    }

    pub async fn hears(&self, object: &str, status: &str, intent: Option<IntentId>) -> NoticeAccepted {
        let accepted = self.hears_as(&tenant(), &body(object, status, intent)).await;
        let Accepted::Committed(accepted) = accepted else { panic!("{accepted:?}") };
        accepted
    }

    async fn notice(&self, object: &str, status: &str) -> NoticeRecord {
        self.notice_of(&format!("payment.{status}"), object, status).await
    }

    pub async fn notice_of(&self, event: &str, object: &str, status: &str) -> NoticeRecord {
        let key = NoticeKey {
            merchant: tenant().merchant,
            account: ProviderAccount::parse(ACCOUNT).unwrap(),
            identity: format!("{event} {status} {object}"),
        };
        self.store.notice(key).await.unwrap().unwrap()
    }

    /// Moves the clock to the notification's wake-up and works; how long that was, ms.
    async fn wake_notice(&self, engine: &Engine, object: &str, status: &str) -> i64 {
        let wake_at = self.notice(object, status).await.state.wake_at().expect("it waits for nothing");
        let wait = wake_at.since_ms(self.clock.now()).max(0);
        self.clock.advance(wait);
        assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
        wait
    }

    pub async fn is_done(&self, object: &str, status: &str) {
        assert_eq!(self.notice(object, status).await.state, NoticeState::Done);
    }

    async fn is_parked(&self, object: &str, status: &str) {
        let state = self.notice(object, status).await.state;
        assert!(matches!(state, NoticeState::Parked { .. }), "{state:?}");
    }

    fn queries(&self) -> usize {
        self.bank.asked().0
    }
}

async fn r21_fault_50_a_repeat_asks_again_and_changes_nothing_more(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let journal = world.journal(&offer).await;
    for (times, accepted) in
        [(1, NoticeAccepted::New), (2, NoticeAccepted::Known), (3, NoticeAccepted::Known)]
    {
        assert_eq!(world.hears("object-0", "succeeded", Some(offer.intent.id)).await, accepted);
        assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
        assert_eq!(world.queries(), times);
        world.is_done("object-0", "succeeded").await;
    }
    // Two that come at once are one question.
    world.hears("object-0", "succeeded", None).await;
    world.hears("object-0", "succeeded", None).await;
    assert_eq!((engine.work_inbox(10).await.unwrap(), world.queries()), (1, 4));
    assert_eq!(world.journal(&offer).await, journal);
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r22_fault_51_a_notification_before_the_response_and_the_response_agree(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    // The bank announces what its answer, still under way, will say.
    world.hears("object-0", "succeeded", Some(offer.intent.id)).await;
    assert_eq!(world.engine().work_inbox(10).await.unwrap(), 1);
    assert_eq!(world.queries(), 0, "whoever holds it will say");
    engine.drive(claim).await.unwrap();
    world.wake_notice(&engine, "object-0", "succeeded").await;
    world.is_done("object-0", "succeeded").await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
    let observed = world.journal(&offer).await.iter().filter(|line| line.starts_with("observed")).count();
    assert_eq!(observed, 1);
}

/// Also woocommerce-gateway-stripe#3217: it is not waited for a return that never comes.
async fn r22_fault_51_a_notification_suffices_where_the_response_was_lost(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.hears("object-0", "succeeded", Some(offer.intent.id)).await;
    engine.work_inbox(10).await.unwrap();
    world.is_done("object-0", "succeeded").await;
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r22_the_notification_takes_over_and_the_late_response_agrees(world: World) {
    let (engine, other) = (world.engine(), world.engine());
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    world.bank.next([Fault::LoseAnswer]);
    engine.drive(claim).await.unwrap();
    // The next holder is slow: his lease ends, and a notification comes in.
    let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
    world.clock.advance(wake_at.since_ms(world.clock.now()));
    let slow = engine.claim_due(1, Vec::new()).await.unwrap().remove(0);
    world.clock.advance(LEASE_MS);
    world.hears("object-0", "succeeded", Some(offer.intent.id)).await;
    other.work_inbox(10).await.unwrap();
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    let journal = world.journal(&offer).await;
    engine.drive(slow).await.unwrap();
    assert_eq!((world.journal(&offer).await, world.bank.charges()), (journal, 1));
}

async fn fault_52_out_of_order_they_end_where_the_bank_stands(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Authorized);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    for status in ["succeeded", "waiting_for_capture", "pending"] {
        world.hears("object-0", status, Some(offer.intent.id)).await;
        engine.work_inbox(10).await.unwrap();
        world.is_done("object-0", status).await;
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
    assert_eq!(world.bank.charges(), 1);
}

async fn r21_fault_53_a_new_state_of_the_object_is_taken(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    let steps = [
        (ObjectStatus::WaitingForCapture, "waiting_for_capture", StateName::Authorized),
        (ObjectStatus::Succeeded, "succeeded", StateName::Succeeded),
    ];
    for (status, word, state) in steps {
        world.bank.moves(offer.intent.id, status);
        assert_eq!(world.hears("object-0", word, None).await, NoticeAccepted::New);
        engine.work_inbox(10).await.unwrap();
        world.is_done("object-0", word).await;
        assert_eq!(world.state(&offer).await, state);
    }
}

/// Also statamic-cargo#190: it comes before we know whose object it is, and is not lost.
async fn fault_54_an_unknown_object_is_parked_and_matched_later(world: World) {
    let engine = world.engine();
    world.hears("object-0", "succeeded", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_parked("object-0", "succeeded").await;
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.wake_notice(&engine, "object-0", "succeeded").await;
    world.is_done("object-0", "succeeded").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_54_what_nobody_knows_is_looked_for_once_a_day_in_the_end(world: World) {
    let engine = world.engine();
    world.hears("object-9", "succeeded", None).await;
    let mut waits = Vec::new();
    for _ in 0..25 {
        waits.push(world.wake_notice(&engine, "object-9", "succeeded").await);
        world.is_parked("object-9", "succeeded").await;
    }
    assert!(waits.is_sorted(), "{waits:?}");
    assert!(waits[1] <= SECOND && waits[24] > 5 * HOUR && waits[24] <= DAY, "{waits:?}");
    assert_eq!(world.bank.asked(), (0, 0), "nobody is asked about nobody");
}

async fn fault_54_a_forged_one_first_and_the_true_one_still_counts(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.offer(&engine, "1").await;
    // Whoever forged it guessed the object's id, and another order.
    let other = world.offer(&engine, "2").await;
    world.hears("object-0", "succeeded", Some(other.intent.id)).await;
    engine.work_inbox(10).await.unwrap();
    world.pay(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    assert_eq!(world.hears("object-0", "succeeded", Some(offer.intent.id)).await, NoticeAccepted::Known);
    engine.work_inbox(10).await.unwrap();
    world.is_done("object-0", "succeeded").await;
    let states = (world.state(&offer).await, world.state(&other).await);
    assert_eq!(states, (StateName::Succeeded, StateName::Created));
}

async fn fault_54_a_forged_end_of_a_real_object_is_asked_about_and_dropped(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let journal = world.journal(&offer).await;
    world.hears("object-0", "canceled", Some(offer.intent.id)).await;
    for asked in 1..=10 {
        let waiting = world.notice("object-0", "canceled").await.state;
        assert!(matches!(waiting, NoticeState::Waiting { .. }), "{waiting:?}");
        world.wake_notice(&engine, "object-0", "canceled").await;
        assert_eq!(world.queries(), asked);
    }
    world.is_done("object-0", "canceled").await;
    assert_eq!(world.journal(&offer).await, journal);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_54_a_made_up_object_changes_no_intent(world: World) {
    let engine = world.engine();
    let (created, confirming) = (world.offer(&engine, "1").await, world.offer(&engine, "2").await);
    world.bank.next([Fault::LoseRequest]);
    world.pay(&engine, &confirming).await;
    let before = world.intent(confirming.intent.id).await;
    for (object, offer) in [("object-8", &created), ("object-9", &confirming)] {
        world.hears(object, "succeeded", Some(offer.intent.id)).await;
        for _ in 0..19 {
            world.wake_notice(&engine, object, "succeeded").await;
        }
        let waiting = world.notice(object, "succeeded").await.state;
        assert!(matches!(waiting, NoticeState::Waiting { .. }), "{waiting:?}");
        world.wake_notice(&engine, object, "succeeded").await;
        world.is_parked(object, "succeeded").await;
    }
    assert_eq!(world.intent(confirming.intent.id).await.state, before.state);
    assert_eq!((world.state(&created).await, world.bank.charges()), (StateName::Created, 0));
    world.pay(&engine, &created).await;
    assert_eq!(world.state(&created).await, StateName::Succeeded);
}

async fn fault_54_another_intents_object_is_no_word_about_this_one(world: World) {
    let engine = world.engine();
    let (owner, victim) = (world.offer(&engine, "1").await, world.offer(&engine, "2").await);
    world.bank.next([Fault::LoseAnswer]);
    world.pay(&engine, &owner).await;
    world.bank.next([Fault::LoseRequest]);
    world.pay(&engine, &victim).await;
    let before = (world.intent(victim.intent.id).await.state, world.journal(&victim).await);
    world.hears("object-0", "succeeded", Some(victim.intent.id)).await;
    engine.work_inbox(10).await.unwrap();
    world.is_parked("object-0", "succeeded").await;
    assert_eq!((world.intent(victim.intent.id).await.state, world.journal(&victim).await), before);
    assert_eq!(world.state(&owner).await, StateName::Confirming);
}

async fn r21_fault_55_what_died_half_way_is_still_done(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.hears("object-0", "succeeded", Some(offer.intent.id)).await;
    // One process dies with it in its hands, one after it has asked.
    assert_eq!(engine.claim_notices(10, Vec::new()).await.unwrap().len(), 1);
    assert_eq!(world.engine().work_inbox(10).await.unwrap(), 0);
    world.clock.advance(LEASE_MS);
    let mut dying = world.engine();
    dying.store = Flaky::new(world.store.clone(), &[(Call::SettleNotice, When::Before); 2]);
    assert!(dying.work_inbox(10).await.is_err());
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    world.clock.advance(LEASE_MS);
    assert_eq!(world.engine().work_inbox(10).await.unwrap(), 1);
    world.is_done("object-0", "succeeded").await;
    assert_eq!(world.bank.charges(), 1);
}

async fn r21_a_commit_without_an_answer_loses_no_notification(world: World) {
    let mut engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    for when in [When::Before, When::After] {
        engine.store =
            Flaky::new(world.store.clone(), &[(Call::AcceptNotice, when), (Call::SettleNotice, when)]);
        let body = body("object-0", "succeeded", Some(offer.intent.id));
        let accepted = engine.accept_notice(&tenant(), &body).await.unwrap();
        assert!(matches!(accepted, Accepted::Committed(_)));
        assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
        world.is_done("object-0", "succeeded").await;
    }
    // Where it stays unknown, nobody is told that it is written.
    engine.store = Flaky::new(world.store.clone(), &[(Call::AcceptNotice, When::Before); 2]);
    assert!(engine.accept_notice(&tenant(), &body("object-0", "succeeded", None)).await.is_err());
}

async fn fault_57_notification_and_response_make_one_of_each_effect(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let submission = Submission { email: Some("anna@example.com".into()), ..offer.submission("tok_1") };
    let claim = claimed(engine.submit(submission).await.unwrap());
    world.hears("object-0", "succeeded", Some(offer.intent.id)).await;
    engine.work_inbox(10).await.unwrap();
    engine.drive(claim).await.unwrap();
    world.wake_notice(&engine, "object-0", "succeeded").await;
    let effects = world.store.effects(tenant(), offer.intent.id).await.unwrap();
    let mut kinds: Vec<_> = effects.iter().map(|effect| effect.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["checkout.paid", "receipt"]);
}

async fn a_late_success_of_a_declined_intent_pays_the_order(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "general_decline".into() }));
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Declined);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.clock.advance(DAY);
    world.hears("object-0", "succeeded", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_done("object-0", "succeeded").await;
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Declined, CheckoutStatus::Paid)
    );
    assert!(world.journal(&offer).await.iter().any(|line| line.starts_with("anomaly")));
}

async fn fault_49d_a_reversal_is_an_anomaly_and_the_intent_keeps_its_state(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.moves(offer.intent.id, ObjectStatus::Ended(Ending::Canceled { code: "by_merchant".into() }));
    for _ in 0..2 {
        world.hears("object-0", "canceled", None).await;
        engine.work_inbox(10).await.unwrap();
        world.is_done("object-0", "canceled").await;
    }
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
    let anomalies = world.journal(&offer).await.iter().filter(|line| line.starts_with("anomaly")).count();
    assert!(anomalies >= 1);
}

async fn a_silent_bank_is_asked_again(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.hears("object-0", "succeeded", None).await;
    let mut waits = Vec::new();
    for fault in [Fault::LoseRequest, Fault::Garbage, Fault::Unauthorized, Fault::RateLimited(None)] {
        world.bank.next_query(fault);
        waits.push(world.wake_notice(&engine, "object-0", "succeeded").await);
        let State::RequiresAction { .. } = world.intent(offer.intent.id).await.state else { panic!("moved") };
    }
    assert!(waits[3] > waits[1] && waits[3] <= 5 * MINUTE, "{waits:?}");
    world.wake_notice(&engine, "object-0", "succeeded").await;
    world.is_done("object-0", "succeeded").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// It is done at the bank and its own worker is far from looking.
async fn a_refund_is_driven_by_its_notification(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.decides_refund(RefundStatus::Pending);
    let amount = Some(offer.checkout.amount);
    let opened = engine
        .open_follow_up(&tenant(), offer.intent.id, OperationKind::Refund, amount, "returned".into())
        .await;
    let OpenedFollowUp::Fresh(refund) = opened.unwrap() else { panic!("not opened") };
    assert!(engine.run_once().await.unwrap());
    world.bank.moves_refund(refund.id, RefundStatus::Succeeded);
    let body = world.bank.refund_notice(refund.id);
    for asked in 1..=2 {
        world.hears_as(&tenant(), &body).await;
        assert_eq!((engine.work_inbox(10).await.unwrap(), world.queries()), (1, asked));
        assert_eq!(
            world.notice_of("refund.succeeded", "refund-0", "succeeded").await.state,
            NoticeState::Done
        );
    }
    let story = world.story(&offer).await;
    assert_eq!((story.follow_ups[0].stage, story.charges[0].refunded_minor), (Stage::Done, 150_000));
}

async fn a_refund_that_nobody_knows_is_parked(world: World) {
    let engine = world.engine();
    world.paying(&engine, "1").await;
    let body = b"event=refund.succeeded\nobject=refund-9\nstatus=succeeded\npayment=object-0\n";
    world.hears_as(&tenant(), body).await;
    assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
    let state = world.notice_of("refund.succeeded", "refund-9", "succeeded").await.state;
    assert!(matches!(state, NoticeState::Parked { .. }), "{state:?}");
}

async fn attack_44_another_merchants_notification_says_nothing(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.hears_as(&tenant_of("mer_2"), &body("object-0", "succeeded", Some(offer.intent.id))).await;
    assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
    assert_eq!((world.state(&offer).await, world.queries()), (StateName::RequiresAction, 0));
}

async fn what_is_none_of_ours_is_not_written_down(world: World) {
    let long = "x".repeat(200);
    for wrong in [
        b"garbage".to_vec(),
        body("object-0", &long, None),
        body("object-0", "with space", None),
        body(&long, "succeeded", None),
        body("объект", "succeeded", None),
    ] {
        assert_eq!(world.hears_as(&tenant(), &wrong).await, Accepted::NotOurs, "{wrong:?}");
    }
    assert_eq!(world.engine().work_inbox(10).await.unwrap(), 0);
}
