//! Every item that stands before a person can be ended: each kind of it, against all that a provider can show when it comes to that. A
//! table of what ends it: by itself, by which words (`+`: with evidence), or, where nothing does yet, what to wait for. Extras have
//! their own tests.

mod table;

use std::fmt::Write;

use engine::{Engine, Grounds, Resolved, Verdict};
use payment::{Ending, ObjectId, ObjectStatus, OperationId, OperationKind, OrderId, RefundStatus};

use super::{grounds, strangers::sweep};
use crate::{
    bank::{Fault, Lie, pending},
    follow_ups::{open, ready_for, sum_of},
    merchant::ACCOUNT,
    world::{DAY, GAP_MS, HOUR, MINUTE, Offer, World, rub, run},
};

/// What stands before a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its answer was lost.
    Unanswered,
    /// It waited for its shopper, and the bank went silent.
    Waiting,
    /// A restored copy knows no send of it.
    Forgotten,
    Refund,
    /// Its object is known, and was pending.
    PendingRefund,
    Capture,
    Cancel,
    /// Money that no payment of ours asked for, and money that may be taken.
    Stranger,
    WaitingStranger,
}

/// What the provider shows of it from then on.
#[derive(Clone, Copy, Debug)]
enum Shown {
    Pending,
    Held,
    Succeeded,
    Ended,
    GivenBack,
    GivenBackInPart,
    /// Succeeded, waiting, or ended, with another sum, another owner, or another order.
    Other(Lie, Status),
    /// Not this object (404), or not this one to us (403).
    Gone,
    Forbidden,
    /// Nothing at all: 404, 401, 500.
    Nothing404,
    Nothing401,
    Nothing500,
}

#[derive(Clone, Copy, Debug)]
enum Status {
    Succeeded,
    Held,
    Ended,
}

const SHOWN: [Shown; 23] = [
    Shown::Pending,
    Shown::Held,
    Shown::Succeeded,
    Shown::Ended,
    Shown::GivenBack,
    Shown::GivenBackInPart,
    Shown::Other(Lie::Amount, Status::Succeeded),
    Shown::Other(Lie::Amount, Status::Held),
    Shown::Other(Lie::Amount, Status::Ended),
    Shown::Other(Lie::Owner, Status::Succeeded),
    Shown::Other(Lie::Owner, Status::Held),
    Shown::Other(Lie::Owner, Status::Ended),
    Shown::Other(Lie::Another, Status::Succeeded),
    Shown::Other(Lie::Another, Status::Held),
    Shown::Other(Lie::Another, Status::Ended),
    Shown::Other(Lie::Order, Status::Succeeded),
    Shown::Other(Lie::Order, Status::Held),
    Shown::Other(Lie::Order, Status::Ended),
    Shown::Gone,
    Shown::Forbidden,
    Shown::Nothing404,
    Shown::Nothing401,
    Shown::Nothing500,
];

/// An item before a person: what it is called by, its order, and the provider's object.
struct Item {
    world: World,
    engine: Engine,
    id: String,
    object: ObjectId,
    /// Of a refund.
    refund: Option<OperationId>,
}

/// What becomes of a follow-up's send.
const LOST: Option<Fault> = Some(Fault::LoseAnswer);

fn ended() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Canceled { code: "expired_on_capture".to_owned() })
}

impl Item {
    async fn of(kind: Kind) -> Self {
        let world = World::new_in_memory().await;
        let engine = world.engine();
        engine.start().await.unwrap();
        // The order that a lie names is one of ours.
        world.offer(&engine, "another-order").await;
        match kind {
            Kind::Unanswered => {
                world.bank.next([Fault::LoseAnswer]);
                let offer = world.paying(&engine, "1").await;
                Self::paid(world, engine, offer).await
            }
            Kind::Waiting => {
                world.bank.decides(pending());
                let offer = world.paying(&engine, "1").await;
                Self::paid(world, engine, offer).await
            }
            Kind::Forgotten => {
                world.offer(&engine, "1").await;
                let backup = world.backup().await;
                world.bank.decides(pending());
                world.pay(&engine, &world.order("1").await).await;
                world.clock.advance(HOUR);
                let world = world.restored(backup).await;
                let engine = world.engine();
                engine.start().await.unwrap();
                sweep(&world, &engine).await;
                let offer = world.order("1").await;
                Self::paid(world, engine, offer).await
            }
            Kind::Refund => Self::follow_up(world, engine, OperationKind::Refund, LOST).await,
            Kind::PendingRefund => {
                world.bank.decides_refund(RefundStatus::Pending);
                Self::follow_up(world, engine, OperationKind::Refund, None).await
            }
            Kind::Capture => Self::follow_up(world, engine, OperationKind::Capture, LOST).await,
            Kind::Cancel => Self::follow_up(world, engine, OperationKind::Cancel, LOST).await,
            Kind::Stranger | Kind::WaitingStranger => {
                world.offer(&engine, "1").await;
                let order = OrderId::parse("1").unwrap();
                let object = if kind == Kind::Stranger {
                    world.bank.stranger_pays(ACCOUNT, &order, rub("1500.00"))
                } else {
                    world.bank.stranger_waits(ACCOUNT, &order, ObjectStatus::WaitingForCapture)
                };
                sweep(&world, &engine).await;
                Self { world, engine, id: object.to_string(), object, refund: None }
            }
        }
    }

    /// The bank is silent until a person has to look.
    async fn paid(world: World, engine: Engine, offer: Offer) -> Self {
        world.bank.every(Some(Fault::LoseRequest));
        let (id, object) = (offer.intent.id.to_string(), super::object_of(&world, &offer));
        let item = Self { world, engine, id, object, refund: None };
        item.waits_for_a_person().await;
        item
    }

    async fn follow_up(world: World, engine: Engine, kind: OperationKind, lost: Option<Fault>) -> Self {
        let offer = ready_for(&world, &engine, kind, "1").await;
        let object = super::object_of(&world, &offer);
        world.bank.next_for(kind, lost);
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        engine.run_once().await.unwrap();
        world.bank.every(Some(Fault::LoseAnswer));
        let (id, refund) =
            (operation.id.to_string(), (kind == OperationKind::Refund).then_some(operation.id));
        let item = Self { world, engine, id, object, refund };
        item.waits_for_a_person().await;
        item
    }

    async fn waits_for_a_person(&self) {
        for _ in 0..1_000 {
            if self.waits().await {
                self.world.bank.every(None);
                return;
            }
            self.world.clock.advance(10 * MINUTE);
            while self.engine.run_once().await.unwrap() {}
        }
        panic!("{} stands before nobody", self.id);
    }

    async fn waits(&self) -> bool {
        self.engine.review_item(&self.id).await.unwrap().is_some()
    }

    /// From now on the provider shows it so; and time passes, in which the server asks.
    async fn shows(&self, shown: Shown) {
        let bank = &self.world.bank;
        let stands = |status: ObjectStatus| match self.refund {
            None => bank.moves_object(&self.object, status),
            Some(refund) => bank.moves_refund(
                refund,
                match status {
                    ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture => RefundStatus::Pending,
                    ObjectStatus::Succeeded => RefundStatus::Succeeded,
                    ObjectStatus::Ended(_) => RefundStatus::Canceled { code: "general_decline".into() },
                },
            ),
        };
        match shown {
            Shown::Pending => stands(pending()),
            Shown::Held => stands(ObjectStatus::WaitingForCapture),
            Shown::Succeeded => stands(ObjectStatus::Succeeded),
            Shown::Ended => stands(ended()),
            Shown::GivenBack | Shown::GivenBackInPart => {
                stands(ObjectStatus::Succeeded);
                if self.refund.is_none() {
                    let sum = if matches!(shown, Shown::GivenBack) { "1500.00" } else { "100.00" };
                    bank.gives_back_by_hand(&self.object, rub(sum), RefundStatus::Succeeded);
                }
            }
            Shown::Other(lie, status) => {
                bank.lies(Some(lie));
                stands(match status {
                    Status::Succeeded => ObjectStatus::Succeeded,
                    Status::Held => ObjectStatus::WaitingForCapture,
                    Status::Ended => ended(),
                });
            }
            Shown::Gone => match self.refund {
                None => bank.loses(&self.object),
                Some(refund) => bank.loses_refund(refund),
            },
            Shown::Forbidden => bank.forbids(Some(&self.object)),
            Shown::Nothing404 => bank.every(Some(Fault::NotFound)),
            Shown::Nothing401 => bank.every(Some(Fault::Unauthorized)),
            Shown::Nothing500 => bank.every(Some(Fault::Error500Before)),
        }
        for wait in [9 * DAY, GAP_MS, GAP_MS, 2 * HOUR, 2 * HOUR] {
            self.world.clock.advance(wait);
            while self.engine.run_once().await.unwrap() {}
            let merchant = self.world.merchant().await;
            self.engine.sweep_merchant(&merchant).await.unwrap();
        }
    }

    /// Says it without and with evidence: by which it ended, or why not. Twice without: who may not know that money was taken is told
    /// once. And with the sum, where that is what is asked for.
    async fn says(&self, verdict: Verdict) -> Result<&'static str, String> {
        let mut refused = String::new();
        let evidence = Some("the account's statement of May");
        for (evidence, mark) in [(None, ""), (None, ""), (evidence, "+"), (evidence, "+")] {
            let amount = refused.ends_with("say it by --amount").then(|| rub("1500.00"));
            let grounds = Grounds { amount, ..grounds(evidence) };
            match self.engine.resolve(&self.id, verdict.clone(), &grounds).await.unwrap() {
                Resolved::Done(_) => {
                    assert!(!self.waits().await, "{} is over", self.id);
                    return Ok(mark);
                }
                Resolved::Refused(words) => refused = words,
            }
        }
        Err(refused)
    }
}

/// What a person may say of it.
fn verdicts(kind: Kind, item: &Item) -> Vec<(&'static str, Verdict)> {
    match kind {
        Kind::Unanswered | Kind::Waiting | Kind::Forgotten | Kind::Stranger | Kind::WaitingStranger => {
            vec![("charged", Verdict::Charged(item.object.clone())), ("not charged", Verdict::NotCharged)]
        }
        Kind::Refund | Kind::PendingRefund => {
            let made = item.world.bank.refunds()[0].id.clone();
            vec![("executed", Verdict::Executed(made)), ("not executed", Verdict::NotExecuted)]
        }
        Kind::Capture | Kind::Cancel => {
            vec![("executed", Verdict::Executed(item.object.clone())), ("not executed", Verdict::NotExecuted)]
        }
    }
}

/// What ends it.
async fn ends(kind: Kind, shown: Shown) -> String {
    let item = Item::of(kind).await;
    item.shows(shown).await;
    if !item.waits().await {
        return "itself".to_owned();
    }
    let (mut by, mut refusals) = (Vec::new(), String::new());
    for at in 0..verdicts(kind, &item).len() {
        // Each word in a world of its own.
        let item = Item::of(kind).await;
        item.shows(shown).await;
        let (name, verdict) = verdicts(kind, &item).swap_remove(at);
        match item.says(verdict).await {
            Ok(mark) => by.push(format!("{name}{mark}")),
            Err(words) => write!(refusals, " | {name}: {words}").unwrap(),
        }
    }
    match by.is_empty() {
        false => by.join(", "),
        true if refusals.contains("or wait: it ends by itself")
            || refusals.contains("Wait until it is over") =>
        {
            "waits".to_owned()
        }
        true => format!("NOTHING{refusals}"),
    }
}

fn all_ends(kinds: &[Kind]) {
    run(async {
        let mut wrong = Vec::new();
        for kind in kinds {
            for shown in SHOWN {
                let (found, expected) = (ends(*kind, shown).await, table::expected(*kind, shown));
                if found != expected {
                    wrong.push(format!("{kind:?} {shown:?}: {found}, not {expected}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    });
}

#[test]
fn every_payment_before_a_person_can_be_ended() {
    all_ends(&[Kind::Unanswered, Kind::Waiting, Kind::Forgotten]);
}

#[test]
fn every_refund_capture_and_cancel_before_a_person_can_be_ended() {
    all_ends(&[Kind::Refund, Kind::PendingRefund, Kind::Capture, Kind::Cancel]);
}

#[test]
fn every_stranger_before_a_person_can_be_ended() {
    all_ends(&[Kind::Stranger, Kind::WaitingStranger]);
}
