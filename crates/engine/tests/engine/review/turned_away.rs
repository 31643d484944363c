//! Where the provider answers us with 401: what it knows, somebody else can see. His word rests on evidence, once nothing can be
//! executed any more; before that, and where the provider is only silent, nothing but the provider's word counts.

use engine::Verdict;
use payment::{CheckoutStatus, ObjectId, OperationKind, OperationState, StateName};

use super::{Word, done, object_of, refused_by, resolve};
use crate::{
    bank::Fault,
    follow_ups::{finish, open, ready_for, state, sum_of, sums},
    scenarios,
    world::{DAY, HOUR, Offer, World},
};

scenarios! {
    a_payment_is_not_charged_by_evidence_while_the_provider_is_only_silent,
    a_refund_is_executed_by_evidence_where_the_provider_turns_us_away,
    a_capture_is_executed_by_evidence_where_the_provider_turns_us_away,
}

const EVIDENCE: &str = "the account's statement of May";

fn by_evidence(verdict: &Verdict) -> Word {
    Word(verdict.clone(), Some(EVIDENCE))
}

async fn a_payment_is_not_charged_by_evidence_while_the_provider_is_only_silent(world: World) {
    let engine = world.engine();
    world.bank.every(Some(Fault::LoseAnswer));
    let offer = world.paying(&engine, "1").await;
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.clock.advance(2 * DAY);
    let word = by_evidence(&Verdict::Charged(object_of(&world, &offer)));
    refused_by(&engine, &world, &offer, offer.intent.id, word, "does not show").await;
    world.bank.every(None);
}

/// It was done, and its answer lost; then the credentials were revoked.
async fn ends_by_evidence(world: &World, kind: OperationKind, made: impl Fn(&Offer) -> ObjectId) -> Offer {
    let engine = world.engine();
    let offer = ready_for(world, &engine, kind, "1").await;
    world.bank.every(Some(Fault::LoseAnswer));
    let id = open(&engine, &offer, kind, sum_of(kind)).await.id;
    let stands = finish(world, &engine, &offer, id).await;
    assert!(matches!(stands, OperationState::NeedsReview { .. }), "{stands:?}");
    let executed = Verdict::Executed(made(&offer));
    let refused = async |word: Word, part| refused_by(&engine, world, &offer, id, word, part).await;
    if kind == OperationKind::Refund {
        // It stands before a person while its key lives; a capture does so a day later.
        world.bank.every(Some(Fault::Unauthorized));
        refused(by_evidence(&executed), "does not show").await;
    }
    world.clock.advance(2 * HOUR);
    world.bank.every(Some(Fault::LoseAnswer));
    refused(by_evidence(&executed), "does not show").await;
    world.bank.every(Some(Fault::Unauthorized));
    refused(executed.clone().into(), "does not accept the credentials of this account; say by --evidence")
        .await;
    done(resolve(&engine, id, by_evidence(&executed)).await);
    assert!(matches!(state(world, &offer, id).await, OperationState::Succeeded { .. }));
    world.bank.every(None);
    offer
}

async fn a_refund_is_executed_by_evidence_where_the_provider_turns_us_away(world: World) {
    let made = |_: &Offer| world.bank.refunds()[0].id.clone();
    let offer = ends_by_evidence(&world, OperationKind::Refund, made).await;
    assert_eq!(sums(&world, &offer).await, (0, 150_000));
}

async fn a_capture_is_executed_by_evidence_where_the_provider_turns_us_away(world: World) {
    let offer = ends_by_evidence(&world, OperationKind::Capture, |offer| object_of(&world, offer)).await;
    world.wake(&world.engine(), &offer).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}
