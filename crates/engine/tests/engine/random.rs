//! Random histories: faults, dead and sleeping processes, repeats, jumps of the clock. After healing, at most one charge per
//! checkout, and everything is settled or waits.

use engine::{Claim, Engine, SubmitOutcome};
use payment::{CheckoutStatus, Ending, ObjectStatus, Stance, StateName};
use proptest::{prelude::*, test_runner::Config};
use store::Stage;

use crate::{
    bank::{Fault, pending},
    check::{check, check_to_the_last_object},
    merchant::tenant,
    world::{DAY, EXECUTE_MS, LEASE_MS, MINUTE, RETRY, SECOND, TOKEN_LIFE_MS, World, create_key, run, terms},
};

const ORDERS: [&str; 3] = ["1", "2", "3"];

#[derive(Clone, Debug)]
enum Act {
    Create {
        key: u8,
        order: usize,
        dear: bool,
    },
    TryAgain {
        key: u8,
        order: usize,
        there: bool,
    },
    /// `dies`: the claim is never driven; `sleeps`: it is driven later.
    Submit {
        order: usize,
        there: bool,
        dies: bool,
        sleeps: bool,
    },
    Work {
        there: bool,
        dies: bool,
        sleeps: bool,
    },
    WakeUp,
    /// Another server starts, perhaps after nobody was alive for a while.
    Start,
    Beat,
    Sweep,
    /// The network brings the last request once more, late.
    Straggler,
    SetWall(i64),
    Next(Fault),
    Decide(u8),
    Confirm,
    Expire,
    Advance(i64),
}

fn any_fault() -> impl Strategy<Value = Fault> {
    prop::sample::select(vec![
        Fault::NotSent,
        Fault::LoseRequest,
        Fault::LoseAnswer,
        Fault::Error500Before,
        Fault::Error500After,
        Fault::BadRequest,
        Fault::Unauthorized,
        Fault::NotFound,
        Fault::RateLimited(Some(MINUTE)),
        Fault::Accepted(5 * SECOND),
        Fault::Garbage,
    ])
}

fn any_act() -> impl Strategy<Value = Act> {
    let rarely = || prop::bool::weighted(0.2);
    let pauses = prop::sample::select(vec![1, SECOND, 10 * SECOND, LEASE_MS, 5 * MINUTE, 16 * MINUTE, DAY]);
    prop_oneof![
        2 => (0_u8..4, 0..ORDERS.len(), rarely()).prop_map(|(key, order, dear)| Act::Create { key, order, dear }),
        2 => (0_u8..8, 0..ORDERS.len(), any::<bool>()).prop_map(|(key, order, there)| Act::TryAgain { key, order, there }),
        5 => (0..ORDERS.len(), any::<bool>(), rarely(), rarely())
            .prop_map(|(order, there, dies, sleeps)| Act::Submit { order, there, dies, sleeps }),
        5 => (any::<bool>(), rarely(), rarely()).prop_map(|(there, dies, sleeps)| Act::Work { there, dies, sleeps }),
        2 => Just(Act::WakeUp),
        1 => Just(Act::Start),
        1 => Just(Act::Beat),
        2 => Just(Act::Sweep),
        1 => Just(Act::Straggler),
        1 => prop::sample::select(vec![-7_200_000, 7_200_000]).prop_map(Act::SetWall),
        5 => any_fault().prop_map(Act::Next),
        1 => (0_u8..4).prop_map(Act::Decide),
        1 => Just(Act::Confirm),
        1 => Just(Act::Expire),
        5 => pauses.prop_map(Act::Advance),
    ]
}

struct Play {
    world: World,
    engines: [Engine; 2],
    asleep: Vec<Claim>,
}

impl Play {
    fn engine(&self, there: bool) -> &Engine {
        &self.engines[usize::from(there)]
    }

    /// Drives, dies or sleeps.
    async fn take(&mut self, claim: Claim, there: bool, dies: bool, sleeps: bool) {
        if sleeps {
            self.asleep.push(claim);
        } else if !dies {
            self.engine(there).drive(claim).await.unwrap();
        }
    }

    async fn act(&mut self, act: Act) {
        match act {
            Act::Create { key, order, dear } => {
                let (order, amount) = (ORDERS[order], if dear { "1700.00" } else { "1500.00" });
                let key = create_key(&tenant(), &format!("create-{order}-{key}"), order, amount);
                self.engine(false).open_checkout(key, terms(order, amount)).await.unwrap();
                self.world.order(order).await;
            }
            Act::TryAgain { key, order, there } => {
                let Some(offer) = self.offer(order).await else { return };
                let key = format!("again-{order}-{key}");
                self.world.try_again(self.engine(there), &offer, &key).await;
            }
            Act::Submit { order, there, dies, sleeps } => {
                let Some(offer) = self.offer(order).await else { return };
                let submitted = self.engine(there).submit(offer.submission("tok_1")).await.unwrap();
                if let SubmitOutcome::Claimed(claim) = submitted {
                    self.take(*claim, there, dies, sleeps).await;
                }
            }
            Act::Work { there, dies, sleeps } => {
                for claim in self.engine(there).claim_due(2, Vec::new()).await.unwrap() {
                    self.take(claim, there, dies, sleeps).await;
                }
            }
            Act::WakeUp => {
                let Some(claim) = self.asleep.pop() else { return };
                self.engine(false).drive(claim).await.unwrap();
            }
            Act::Start => drop(self.engine(true).start().await.unwrap()),
            Act::Beat => self.engine(true).beat().await.unwrap(),
            Act::Sweep => {
                let merchant = self.world.merchant().await;
                self.engine(true).sweep_merchant(&merchant).await.unwrap();
            }
            Act::Straggler => self.straggler().await,
            Act::SetWall(ms) => self.world.clock.set_wall(ms),
            Act::Next(fault) => self.world.bank.next([fault]),
            Act::Decide(to) => self.world.bank.decides(match to {
                0 | 1 => pending(),
                2 => ObjectStatus::Pending { confirmation_url: None },
                _ => ObjectStatus::Ended(Ending::Declined { code: "no".into() }),
            }),
            Act::Confirm => self.confirm(),
            Act::Expire => drop(self.engine(false).expire().await.unwrap()),
            Act::Advance(ms) => self.world.clock.advance(ms),
        }
    }

    /// An unanswered request arrives a second time, or for the first, while its card token lives.
    async fn straggler(&self) {
        let Some(sent) = self.world.bank.sent().pop() else { return };
        let alive = self.world.clock.now().since_ms(sent.at) < TOKEN_LIFE_MS - EXECUTE_MS;
        if alive && self.world.intent(sent.intent).await.state.name() == StateName::Confirming {
            self.world.bank.repeat_last();
        }
    }

    /// Shoppers confirm whatever waits for them.
    fn confirm(&self) {
        for object in self.world.bank.objects() {
            if matches!(object.status, ObjectStatus::Pending { .. }) {
                self.world.bank.moves(object.intent, ObjectStatus::Succeeded);
            }
        }
    }

    async fn offer(&self, order: usize) -> Option<crate::world::Offer> {
        let order = payment::OrderId::parse(ORDERS[order]).unwrap();
        let (checkout, intent) = self.world.store.order(tenant(), order).await.unwrap()?;
        Some(crate::world::Offer { checkout, intent })
    }

    async fn heal(&self) {
        self.world.bank.heal();
        self.confirm();
        let merchant = self.world.merchant().await;
        self.world.clock.advance(LEASE_MS);
        while !self.engine(true).sweep_merchant(&merchant).await.unwrap().complete {
            self.world.clock.advance(LEASE_MS);
        }
        self.world.settle(self.engine(true)).await;
        // What stands before a person is still asked about.
        self.world.clock.advance(RETRY.max_ms);
        while self.engine(true).run_once().await.unwrap() {}
        self.engine(true).expire().await.unwrap();
    }

    async fn judge(&self) {
        check_to_the_last_object(&self.world).await;
        check(&self.world).await;
        for (tenant, id) in self.world.opened() {
            let (checkout, newest) = self.world.store.checkout(tenant.clone(), id).await.unwrap().unwrap();
            let objects = self.world.bank.objects();
            let charges = objects.iter().filter(|o| o.checkout == id && o.took_money).count();
            assert!(charges <= 1, "{} was charged {charges} times", checkout.order);
            assert_eq!(charges == 1, checkout.status == CheckoutStatus::Paid);
            assert_eq!(charges == 1, newest.state.stance() == Stance::Paid);
            let stage = self.world.store.story(tenant, newest.id).await.unwrap().unwrap().operation.stage;
            assert_ne!(stage, Stage::Open, "{} is {}", newest.id, newest.state.name());
            assert!(newest.state.name() != StateName::NeedsReview || charges == 0);
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 256, failure_persistence: None, ..Config::default() })]

    #[test]
    fn whatever_happens_a_checkout_is_charged_once(acts in prop::collection::vec(any_act(), 1..80)) {
        run(async {
            let world = World::new_in_memory().await;
            let engines = [world.engine(), world.engine()];
            let mut play = Play { world, engines, asleep: Vec::new() };
            for act in acts {
                play.act(act).await;
                check(&play.world).await;
            }
            play.heal().await;
            play.judge().await;
        });
    }
}
