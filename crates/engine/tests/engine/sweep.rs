//! The third road of observation: what the account's listing shows, whoever asked for it.

mod gate;
mod gates_left;
mod held;
mod late;
mod left;
mod moved;
mod on_its_way;
mod strangers;
mod waiting;

use engine::{Engine, SubmitOutcome, Swept};
use payment::{
    CheckoutStatus, Holder, ObjectId, ObjectStatus, OperationKind, OrderId, ProviderAccount, StateName,
};
use store::{ClaimLook, LookOf, Looking, Stage};

use crate::{
    bank::{Fault, pending},
    merchant::{ACCOUNT, OTHER_ACCOUNT, merchant, secret_of, tenant},
    review::object_of,
    scenarios,
    world::{HOUR, LEASE_MS, MINUTE, Offer, SECOND, SILENCE_MS, World, known, rub, suspected},
};

scenarios! {
    fault_23_a_charge_that_the_backup_forgot_pays_its_order,
    fault_23_an_object_that_waits_for_a_created_intent_is_adopted,
    fault_23_money_held_for_a_created_intent_is_adopted,
    anothers_lease_makes_a_sweep_incomplete,
    news_is_written_once,
    fault_31_what_contradicts_a_payment_is_written_down_by_the_sweep_that_sees_it,
    r25_the_sweep_finds_what_nobody_asked_about,
    the_sweep_finds_a_refund_whose_answer_was_lost,
    what_was_pending_at_the_last_sweep_is_read_again,
    another_merchants_payment_is_none_of_ours,
}

impl World {
    async fn gated(&self, engine: &Engine) -> bool {
        engine.start().await.unwrap()
    }

    /// The order "1" was made and paid after a backup, which is restored so much later. The gate is down, and the merchant's server
    /// asks for the order's checkout again.
    pub async fn forgets_a_payment(&self, later_ms: i64) -> (Self, Engine, Offer) {
        let engine = self.engine();
        engine.start().await.unwrap();
        let backup = self.backup().await;
        self.paying(&engine, "1").await;
        self.clock.advance(later_ms);
        let world = self.restored(backup).await;
        let engine = world.engine();
        assert!(world.gated(&engine).await);
        let offer = world.offer(&engine, "1").await;
        (world, engine, offer)
    }

    /// Nobody was alive for a while.
    async fn after_a_gap(&self, engine: &Engine) {
        engine.start().await.unwrap();
        self.clock.advance(SILENCE_MS + 1);
        assert!(self.gated(engine).await);
    }

    async fn sweeps(&self, engine: &Engine) -> Swept {
        engine.sweep_merchant(&self.merchant().await).await.unwrap()
    }

    /// Lets a worker do all it can for a while; what leaves in that time.
    async fn sends_within(&self, engine: &Engine, ms: i64) -> usize {
        let (before, began) = (self.bank.sends(), self.clock.now());
        while self.clock.now().since_ms(began) < ms {
            while engine.run_once().await.unwrap() {}
            self.clock.advance(SECOND);
        }
        self.bank.sends() - before
    }

    fn stranger(&self, order: &str) -> ObjectId {
        self.bank.stranger_pays(ACCOUNT, &OrderId::parse(order).unwrap(), rub("1500.00"))
    }
}

/// The shopper presses Pay while dispatch has to wait.
async fn submits(engine: &Engine, offer: &Offer) {
    let (seen, answer) = known(engine.submit(offer.submission("tok_1")).await.unwrap());
    assert_eq!((seen.state.name(), answer), (StateName::Processing, None));
}

async fn fault_23_a_charge_that_the_backup_forgot_pays_its_order(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.offer(&engine, "1").await;
    let backup = world.backup().await;
    let offer = world.order("1").await;
    world.pay(&engine, &offer).await;
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let page = world.order("1").await;
    assert_eq!(page.intent.state.name(), StateName::Created, "the backup knows nothing of it");
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news, swept.strangers), (true, 1, 0));
    assert_eq!(world.status(&page).await, CheckoutStatus::Paid);
    let (seen, _) = known(engine.submit(page.submission("tok_2")).await.unwrap());
    assert_eq!(seen.state.name(), StateName::Succeeded, "who presses Pay again is told that it is paid");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert_eq!(world.bank.charges(), 1);
    assert!(world.journal(&page).await.contains(&"anomaly: never_sent".to_owned()));
}

async fn fault_23_an_object_that_waits_for_a_created_intent_is_adopted(world: World) {
    adopts(world, pending()).await;
}

async fn fault_23_money_held_for_a_created_intent_is_adopted(world: World) {
    adopts(world, ObjectStatus::WaitingForCapture).await;
}

/// What waits at the provider for an intent that the backup does not know to be sent is asked about, and never sent again.
async fn adopts(world: World, status: ObjectStatus) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.bank.decides(status);
    world.pay(&engine, &world.order("1").await).await;
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news), (true, 1));
    let page = world.order("1").await;
    assert!(page.intent.state.object().is_some(), "{:?}", page.intent.state);
    let story = world.story(&page).await;
    assert_eq!((story.operation.stage, story.attempts.len()), (Stage::Open, 0));
    world.bank.moves(page.intent.id, ObjectStatus::Succeeded);
    assert_eq!(world.sends_within(&engine, 10 * MINUTE).await, 0, "it is asked about, and not sent");
    assert_eq!(world.state(&page).await, StateName::Succeeded);
}

async fn anothers_lease_makes_a_sweep_incomplete(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    let claim = ClaimLook {
        tenant: tenant(),
        of: LookOf::Intent(offer.intent.id),
        holder: Holder(world.ids.uuid()),
        lease_ms: LEASE_MS,
    };
    assert!(matches!(world.store.claim_look(claim).await.unwrap(), Looking::Claimed(_)));
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.news, swept.complete), (1, false));
    let waiting = world.offer(&engine, "2").await;
    submits(&engine, &waiting).await;
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 0);
    world.clock.advance(LEASE_MS);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.news, swept.complete), (1, true));
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 1);
}

async fn news_is_written_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    let reversed = world.paying(&engine, "2").await;
    let ended = payment::Ending::Canceled { code: "by_merchant".into() };
    world.bank.moves(reversed.intent.id, payment::ObjectStatus::Ended(ended));
    world.stranger("3");
    // Two presses, what was found of the first one, and of the other one its fate and what contradicts us.
    assert_eq!((world.sweeps(&engine).await.news, world.heard.intents().len()), (2, 5));
    let told = (world.journal(&offer).await, world.journal(&reversed).await);
    assert!(told.0.last().unwrap().contains("found by the sweep"));
    assert!(told.1.contains(&"anomaly: reversed".to_owned()));
    let versions =
        (world.intent(offer.intent.id).await.version, world.intent(reversed.intent.id).await.version);
    for _ in 0..3 {
        world.clock.advance(MINUTE);
        let swept = world.sweeps(&engine).await;
        assert_eq!(swept, Swept { read: 3, complete: true, ..Swept::default() });
    }
    assert_eq!((world.journal(&offer).await, world.journal(&reversed).await), told);
    let now = (world.intent(offer.intent.id).await.version, world.intent(reversed.intent.id).await.version);
    assert_eq!((now, world.bank.asked().0), (versions, 0));
}

/// The next sweep begins where this one ended, and the payment's own listing with it, or even later: where the clock was hours ahead at the
/// send (`crates/sim/regressions`).
async fn fault_31_what_contradicts_a_payment_is_written_down_by_the_sweep_that_sees_it(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    let (object, merchant) = (object_of(&world, &offer), world.merchant().await);
    world.bank.takes_part(&object, rub("1.00"));
    for news in [1, 0] {
        assert_eq!(engine.sweep_merchant(&merchant).await.unwrap().news, news);
        let state = world.intent(offer.intent.id).await.state;
        assert_eq!((state.name(), suspected(&state)), (StateName::Confirming, vec![&object]));
    }
    world.bank.takes_part(&object, rub("1500.00"));
    world.settle(&engine).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// No question, no notification, no worker: the listing alone.
async fn r25_the_sweep_finds_what_nobody_asked_about(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let waiting = world.paying(&engine, "1").await;
    let offer = world.offer(&engine, "2").await;
    drop(world.claim(&engine, &offer).await);
    world.bank.next([Fault::LoseAnswer]);
    world.clock.advance(LEASE_MS);
    let claim = engine
        .claim_due(2, Vec::new())
        .await
        .unwrap()
        .into_iter()
        .find(|claim| claim.work.intent.id == offer.intent.id);
    engine.drive(claim.unwrap()).await.unwrap();
    world.clock.advance(LEASE_MS);
    world.bank.moves(waiting.intent.id, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.news, 2);
    for offer in [waiting, offer] {
        assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    }
    assert_eq!(world.bank.asked().0, 0);
}

async fn the_sweep_finds_a_refund_whose_answer_was_lost(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    world.bank.next_for(OperationKind::Refund, [Fault::LoseAnswer]);
    let some = Some(rub("500.00"));
    let (kind, reason) = (OperationKind::Refund, "returned".to_owned());
    engine.open_follow_up(&tenant(), offer.intent.id, kind, some, reason).await.unwrap();
    assert!(engine.run_once().await.unwrap());
    let refund = async || world.story(&offer).await.follow_ups.remove(0);
    assert_ne!(refund().await.stage, Stage::Done, "its answer was lost");
    let sends = world.bank.sent_for(OperationKind::Refund).len();
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(refund().await.stage, Stage::Done);
    assert_eq!((world.bank.sent_for(OperationKind::Refund).len(), world.bank.refunds().len()), (sends, 1));
    assert_eq!(world.story(&offer).await.charges[0].refunded_minor, 50_000);
}

async fn what_was_pending_at_the_last_sweep_is_read_again(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.stranger("1");
    world.bank.moves_object(&object, pending());
    for _ in 0..6 {
        world.clock.advance(10 * MINUTE);
        assert_eq!(world.sweeps(&engine).await, Swept { read: 1, complete: true, ..Swept::default() });
    }
    world.bank.moves_object(&object, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
}

async fn another_merchants_payment_is_none_of_ours(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    world.bank.stranger_pays(OTHER_ACCOUNT, &OrderId::parse("2").unwrap(), rub("1.00"));
    assert_eq!(world.sweeps(&engine).await, Swept { read: 1, complete: true, ..Swept::default() });
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    // The merchant moves to another account: what was paid to the old one stays paid.
    world.merchants.put(merchant(tenant(), "200600", &secret_of("200600"), &world.vault));
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.read, swept.complete), (0, true));
    let known = world.store.standing(
        tenant(),
        ProviderAccount::parse(ACCOUNT).unwrap(),
        world.bank.objects()[0].id.clone(),
        None,
    );
    assert!(known.await.unwrap().charge.is_some());
    let next = world.offer(&engine, "3").await;
    assert!(matches!(engine.submit(next.submission("tok_1")).await.unwrap(), SubmitOutcome::Claimed(_)));
}
