//! A person's word: every verdict on every item. What can be asked is asked first, a word against it is refused, and a refusal
//! changes nothing.

mod charged;
mod every_end;
mod extras;
mod follow_ups;
mod given_back;
mod holds;
mod not_charged;
mod payer;
mod strangers;
mod suspects;
mod turned_away;
mod unasked;

use engine::{Engine, Grounds, Resolved, Verdict, item_id};
use payment::{Money, ObjectId, StateName};
use store::{ReviewItem, Story};

use crate::{
    bank::Fault,
    scenarios,
    world::{DAY, MINUTE, Offer, World},
};

scenarios! {
    nothing_else_waits_for_a_person,
    an_intent_unresolved_a_day_after_its_last_possible_send_enters_review_and_is_asked_about,
    money_that_comes_later_ends_it_without_a_person,
    what_is_worked_on_just_now_is_left_alone,
    what_was_resolved_meanwhile_is_not_resolved_again,
}

/// Why a person says so, in these tests.
pub const REASON: &str = "the bank's manager said so on the phone";

/// An order whose payment is unknown for so long that it stands before a person; the bank was silent all the time.
pub async fn in_review(world: &World, engine: &Engine, order: &str, lost: Fault) -> Offer {
    world.bank.every(Some(lost));
    let offer = world.paying(engine, order).await;
    world.settle(engine).await;
    world.bank.every(None);
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    offer
}

/// A verdict, and what shows it.
#[derive(Clone, Debug)]
pub struct Word(pub Verdict, pub Option<&'static str>);

impl From<Verdict> for Word {
    fn from(verdict: Verdict) -> Self {
        Self(verdict, None)
    }
}

/// A word, and how much was taken.
#[derive(Clone, Debug)]
pub struct Said(pub Word, pub Option<Money>);

impl<W: Into<Word>> From<W> for Said {
    fn from(word: W) -> Self {
        Self(word.into(), None)
    }
}

pub fn grounds(evidence: Option<&str>) -> Grounds {
    Grounds { reason: REASON.to_owned(), evidence: evidence.map(str::to_owned), amount: None }
}

pub async fn resolve(engine: &Engine, id: impl ToString, said: impl Into<Said>) -> Resolved {
    let Said(Word(verdict, evidence), amount) = said.into();
    let grounds = Grounds { amount, ..grounds(evidence) };
    engine.resolve(&id.to_string(), verdict, &grounds).await.unwrap()
}

/// Asserts that it was done; the words.
#[track_caller]
pub fn done(resolved: Resolved) -> String {
    let Resolved::Done(words) = resolved else { panic!("{resolved:?}") };
    words
}

/// All there is of an order, apart from who looked last, with which success, and when somebody looks next.
pub async fn rows(world: &World, offer: &Offer) -> (Story, store::CheckoutRecord, payment::State) {
    let mut story = world.story(offer).await;
    for row in std::iter::once(&mut story.operation).chain(&mut story.follow_ups) {
        (row.lease, row.fence, row.wake_at, row.looked_at, row.unfinished) = (None, 0, None, None, 0);
    }
    let (checkout, intent) =
        world.store.intent(offer.checkout.tenant.clone(), offer.intent.id).await.unwrap().unwrap();
    (story, checkout, intent.state)
}

/// Asserts that this verdict is refused in these words, and that it leaves no trace and holds nothing up.
pub async fn refused(world: &World, offer: &Offer, id: impl ToString, word: impl Into<Said>, part: &str) {
    refused_by(&world.engine(), world, offer, id, word, part).await;
}

/// The same by that engine.
pub async fn refused_by(
    engine: &Engine,
    world: &World,
    offer: &Offer,
    id: impl ToString,
    word: impl Into<Said>,
    part: &str,
) {
    let word: Said = word.into();
    let (before, waiting) = (rows(world, offer).await, engine.review().await.unwrap().items.len());
    let resolved = resolve(engine, id, word.clone()).await;
    let Resolved::Refused(words) = resolved else { panic!("{word:?}: {resolved:?}") };
    assert!(words.contains(part), "{part:?} in {words:?}");
    assert!(!words.contains(['{', '}']) && !words.contains("Some("), "words for people: {words}");
    assert_eq!(rows(world, offer).await, before, "{word:?}");
    assert_eq!(engine.review().await.unwrap().items.len(), waiting);
    let story = world.story(offer).await;
    for row in std::iter::once(&story.operation).chain(&story.follow_ups) {
        assert_eq!(row.lease, None, "nobody holds it");
    }
}

pub fn not_charged() -> Verdict {
    Verdict::NotCharged
}

pub fn object(id: &str) -> ObjectId {
    ObjectId::parse(id).unwrap()
}

/// The bank's object of an order.
pub fn object_of(world: &World, offer: &Offer) -> ObjectId {
    let objects = world.bank.objects();
    objects.into_iter().find(|object| object.intent == offer.intent.id).unwrap().id
}

pub async fn waiting(engine: &Engine) -> Vec<String> {
    engine.review().await.unwrap().items.iter().map(item_id).collect()
}

async fn nothing_else_waits_for_a_person(world: World) {
    let engine = world.engine();
    let fresh = world.offer(&engine, "fresh").await;
    let paid = world.paying(&engine, "paid").await;
    world.bank.next([Fault::LoseAnswer]);
    let unknown = world.paying(&engine, "unknown").await;
    assert_eq!(waiting(&engine).await, [""; 0]);
    for offer in [&fresh, &paid, &unknown] {
        let verdicts = [
            Verdict::Charged(object("object-0")),
            Verdict::NotCharged,
            Verdict::Executed(object("object-0")),
            Verdict::NotExecuted,
            Verdict::RefundExtra,
        ];
        for verdict in verdicts {
            refused(&world, offer, offer.intent.id, verdict, "does not wait for a person").await;
        }
    }
    for id in ["", "pi_1", "object-0", "order 1", "'; DROP TABLE checkout"] {
        refused(&world, &paid, id, not_charged(), "does not wait for a person").await;
    }
}

async fn an_intent_unresolved_a_day_after_its_last_possible_send_enters_review_and_is_asked_about(
    world: World,
) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    let execute_until = world.story(&offer).await.operation.execute_until.unwrap();
    let late_ms = world.clock.now().since_ms(execute_until);
    assert!((DAY..DAY + 10 * MINUTE).contains(&late_ms), "{late_ms}");
    assert_eq!(waiting(&engine).await, [offer.intent.id.to_string()]);
    let [ReviewItem::Operation { intent, checkout, .. }] = &engine.review().await.unwrap().items[..] else {
        panic!()
    };
    assert_eq!((intent.id, checkout.id), (offer.intent.id, offer.checkout.id));
    let (_, listings) = world.bank.asked();
    world.bank.every(Some(Fault::LoseRequest));
    for _ in 0..3 {
        world.wake(&engine, &offer).await;
    }
    assert!(world.bank.asked().1 >= listings + 3, "questions go on");
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.bank.every(None);
}

async fn money_that_comes_later_ends_it_without_a_person(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((waiting(&engine).await.len(), world.bank.charges()), (0, 1));
    refused(&world, &offer, offer.intent.id, not_charged(), "does not wait for a person").await;
}

async fn what_is_worked_on_just_now_is_left_alone(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
    world.clock.advance(wake_at.since_ms(world.clock.now()));
    let claim = world.engine().claim_due(1, Vec::new()).await.unwrap().remove(0);
    let verdict = Verdict::Charged(object_of(&world, &offer));
    let resolved = resolve(&engine, offer.intent.id, verdict).await;
    assert!(matches!(&resolved, Resolved::Refused(words) if words.contains("at work")), "{resolved:?}");
    engine.drive(claim).await.unwrap();
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Two people at once: one word counts.
async fn what_was_resolved_meanwhile_is_not_resolved_again(world: World) {
    let (one, other) = (world.engine(), world.engine());
    let offer = in_review(&world, &one, "1", Fault::LoseAnswer).await;
    let verdict = Verdict::Charged(object_of(&world, &offer));
    let (first, second) = tokio::join!(
        resolve(&one, offer.intent.id, verdict.clone()),
        resolve(&other, offer.intent.id, verdict)
    );
    let is_done = |resolved: &Resolved| matches!(resolved, Resolved::Done(_));
    assert_eq!(
        [&first, &second].into_iter().filter(|resolved| is_done(resolved)).count(),
        1,
        "{first:?} {second:?}"
    );
    let judged = world.journal(&offer).await;
    assert_eq!(judged.iter().filter(|line| line.starts_with("judged_charged")).count(), 1);
    assert_eq!(world.story(&offer).await.charges.len(), 1);
}
