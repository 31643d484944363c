//! What is told to the operator's log at once, since no row and no screen would make anybody look.

use std::{
    fmt::{Debug, Write},
    sync::{Arc, Mutex},
};

use engine::Verdict;
use payment::{Ending, NotExecutedReason, ObjectStatus, OperationKind, OrderId, RefundStatus};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

use crate::{
    bank::{Fault, pending},
    follow_ups::{KINDS, finish, open, ready_for, refund, step, sum_of},
    merchant::{ACCOUNT, secret_of},
    review::{in_review, resolve},
    scenarios,
    world::{HOUR, World, rub},
};

scenarios! {
    fault_49b_whoever_is_turned_away_by_the_provider_alarms_the_merchant,
    fault_49b_a_question_that_is_turned_away_alarms_too,
    fault_49b_a_refund_a_capture_and_a_cancel_alarm_as_well,
    fault_49b_so_do_questions_about_them,
    fault_49b_a_firewall_that_turns_us_away_alarms_too,
    fault_31_a_clock_that_is_off_is_told_in_words,
    r25_money_of_another_sum_that_a_person_counts_for_an_order_is_told_once,
    r25_late_money_of_an_order_that_has_another_sum_now_is_told_once,
    what_passes_by_itself_alarms_nobody,
}

const TURNED_AWAY: &str = "the provider turns us away";

/// Errors that are logged in this thread, a line each.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn open() -> (Self, DefaultGuard) {
        let log = Self::default();
        (log.clone(), tracing::subscriber::set_default(log))
    }

    fn alarms(&self) -> Vec<String> {
        self.told(TURNED_AWAY)
    }

    /// The lines with these words since the last time it was asked.
    pub fn told(&self, words: &str) -> Vec<String> {
        self.0.lock().unwrap().drain(..).filter(|line| line.contains(words)).collect()
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

/// 401 and 403, 404 and 405: no decline, and nothing that waiting heals.
async fn fault_49b_whoever_is_turned_away_by_the_provider_alarms_the_merchant(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    for (order, fault, words) in
        [("1", Fault::Unauthorized, "401 or 403"), ("2", Fault::NotFound, "404 or 405")]
    {
        world.bank.next([fault]);
        let offer = world.paying(&engine, order).await;
        let alarms = log.alarms();
        assert_eq!(alarms.len(), 1, "{alarms:?}");
        for part in [&offer.intent.id.to_string(), ACCOUNT, words] {
            assert!(alarms[0].contains(part), "{part} in {alarms:?}");
        }
        assert!(!alarms[0].contains(&secret_of(ACCOUNT)), "{alarms:?}");
    }
}

async fn fault_49b_a_question_that_is_turned_away_alarms_too(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    assert_eq!(log.alarms(), [""; 0]);
    for fault in [Fault::Unauthorized, Fault::NotFound] {
        world.bank.next_query(fault);
        world.wake(&engine, &offer).await;
        assert_eq!(log.alarms().len(), 1);
    }
}

async fn fault_49b_a_refund_a_capture_and_a_cancel_alarm_as_well(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    for kind in KINDS {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        world.bank.next_for(kind, [Fault::Unauthorized]);
        let id = open(&engine, &offer, kind, sum_of(kind)).await.id;
        step(&world, &engine, &offer, id).await;
        assert_eq!(log.alarms().len(), 1, "{kind:?}");
        finish(&world, &engine, &offer, id).await;
        assert_eq!(log.alarms(), [""; 0], "{kind:?}");
    }
}

/// It may stand between us for good, and what it says may be true.
async fn fault_49b_a_firewall_that_turns_us_away_alarms_too(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    for (order, reason, alarms) in [
        ("1", NotExecutedReason::NotAuthorized, 1),
        ("2", NotExecutedReason::NotFound, 1),
        ("3", NotExecutedReason::RateLimited, 0),
    ] {
        world.bank.next([Fault::TurnedAway(reason)]);
        world.paying(&engine, order).await;
        let told = log.alarms();
        assert_eq!(told.len(), alarms, "{told:?}");
        assert!(told.iter().all(|line| line.contains("not in the provider's own words")), "{told:?}");
    }
}

const OTHER_SUM: &str = "another sum than its own";

async fn r25_money_of_another_sum_that_a_person_counts_for_an_order_is_told_once(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    for (order, sum, alarms) in [("1", "1499.00", 1), ("2", "1500.00", 0)] {
        let offer = in_review(&world, &engine, order, Fault::LoseRequest).await;
        let by_hand = world.bank.stranger_pays(ACCOUNT, &OrderId::parse("till").unwrap(), rub(sum));
        log.told(OTHER_SUM);
        resolve(&engine, offer.intent.id, Verdict::Charged(by_hand)).await;
        let told = log.told(OTHER_SUM);
        assert_eq!(told.len(), alarms, "{told:?}");
        assert!(told.iter().all(|line| line.contains(&offer.intent.id.to_string())), "{told:?}");
    }
}

/// Its first intent was declined, and it was opened again for less.
async fn r25_late_money_of_an_order_that_has_another_sum_now_is_told_once(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    let offer = world.paying(&engine, "1").await;
    world.offer_for(&engine, "1", "1200.00", "again").await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    let merchant = world.merchant().await;
    for alarms in [1, 0] {
        engine.sweep_merchant(&merchant).await.unwrap();
        assert_eq!(log.told(OTHER_SUM).len(), alarms);
    }
}

async fn fault_31_a_clock_that_is_off_is_told_in_words(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    engine.start().await.unwrap();
    for (ahead_ms, words) in [(2 * HOUR, "ours is behind"), (-2 * HOUR, "ours is ahead")] {
        world.bank.tells_time(ahead_ms);
        engine.sweep_merchant(&world.merchant().await).await.unwrap();
        let told = log.told("clock or the provider's is wrong by 120 minutes");
        assert!(told.len() == 1 && told[0].contains(words) && told[0].contains(ACCOUNT), "{told:?}");
    }
    world.bank.tells_time(HOUR);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(log.told("clock"), [""; 0]);
}

async fn fault_49b_so_do_questions_about_them(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    let offer = world.paying(&engine, "refunded").await;
    world.bank.decides_refund(RefundStatus::Pending);
    let refund = refund(&engine, &offer, "500.00").await.id;
    step(&world, &engine, &offer, refund).await;
    world.bank.next_query(Fault::Unauthorized);
    step(&world, &engine, &offer, refund).await;
    assert_eq!(log.alarms().len(), 1);
    world.bank.moves_refund(refund, RefundStatus::Succeeded);
    finish(&world, &engine, &offer, refund).await;

    let offer = ready_for(&world, &engine, OperationKind::Capture, "captured").await;
    // Rejected after an unknown send: the payment itself is asked about.
    world.bank.next_for(OperationKind::Capture, [Fault::LoseRequest, Fault::BadRequest]);
    let capture = open(&engine, &offer, OperationKind::Capture, sum_of(OperationKind::Capture)).await.id;
    step(&world, &engine, &offer, capture).await;
    // So is it by its own operation.
    world.bank.next_query(Fault::Unauthorized);
    world.bank.next_query(Fault::Unauthorized);
    step(&world, &engine, &offer, capture).await;
    assert_eq!(log.alarms().len(), 2);
    finish(&world, &engine, &offer, capture).await;
}

async fn what_passes_by_itself_alarms_nobody(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    let faults = [Fault::NotSent, Fault::RateLimited(None), Fault::Error500Before, Fault::LoseAnswer];
    world.bank.next(faults);
    world.paying(&engine, "1").await;
    world.settle(&engine).await;
    world.bank.next([Fault::BadRequest]);
    world.paying(&engine, "2").await;
    assert_eq!(log.alarms(), [""; 0]);
}
