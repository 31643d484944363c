//! Notifications: one row each, and a question for every time it comes in.

use std::sync::Arc;

use payment::{Holder, IntentId, Mode, ProviderAccount};
use store::{
    AcceptNotice, Announcement, ClaimNotices, ClaimedNotice, Flow, NoticeAbout, NoticeAccepted, NoticeKey,
    NoticeRecord, NoticeSettled, NoticeState, NoticeSubject, NoticeVerdict, OpenFollowUp, SettleNotice,
};

use crate::{
    commands::{self, LEASE_MS, object, succeeded, tenant, tenant_of},
    conformance::behaviours,
    world::{DAY, SECOND, World, uuid},
};

behaviours!(
    r21_a_repeat_is_the_same_row_and_another_question,
    r21_another_status_of_the_object_is_another_notification,
    r21_the_same_notification_of_another_merchant_is_another,
    r21_a_row_that_is_there_is_not_written_again,
    a_notification_is_written_only_under_its_fence,
    fault_55_what_is_not_settled_is_claimed_again_after_its_lease,
    fault_50_what_comes_in_again_outdates_whoever_asked_before,
    fault_54_what_a_forged_one_named_wrongly_the_true_one_names,
    a_verdict_whose_answer_was_lost_is_not_written_twice,
    a_linked_object_says_whom_it_is_about,
    a_refunds_object_is_no_payment,
    an_intent_of_another_merchant_is_nobody,
    fault_54_a_parked_one_finds_what_is_linked_later,
    parked_ones_are_bounded_and_the_oldest_go_first,
    the_earliest_come_first_and_no_more_than_asked_for,
    what_is_done_is_never_due,
);

const KEEP: u32 = 3;

fn account() -> ProviderAccount {
    ProviderAccount::parse("100500").unwrap()
}

/// Of the account of every sent order.
fn says(id: &str, status: &str) -> Announcement {
    let event = format!("payment.{status}");
    let about = NoticeAbout::Payment;
    Announcement { event, object: object(id), about, status: status.into(), hint: None }
}

fn naming(id: &str, intent: IntentId) -> Announcement {
    Announcement { hint: Some(intent), ..says(id, "succeeded") }
}

fn refund(id: &str) -> Announcement {
    let about = NoticeAbout::Refund { payment: object("object-1") };
    Announcement { event: "refund.succeeded".into(), about, ..says(id, "succeeded") }
}

fn accept(said: Announcement) -> AcceptNotice {
    AcceptNotice { tenant: tenant(), account: account(), said }
}

fn key(said: &Announcement) -> NoticeKey {
    NoticeKey { merchant: tenant().merchant, account: account(), identity: said.identity() }
}

impl World {
    async fn hears(&self, said: &Announcement) -> NoticeAccepted {
        self.store.accept_notice(accept(said.clone())).await.unwrap()
    }

    async fn due_notices(&self, most: u32) -> Vec<ClaimedNotice> {
        let claim = ClaimNotices { holder: Holder(uuid()), lease_ms: LEASE_MS, most, busy: Vec::new() };
        self.store.claim_notices(claim).await.unwrap()
    }

    /// The one that is due.
    async fn due_notice(&self) -> ClaimedNotice {
        let mut due = self.due_notices(10).await;
        assert_eq!(due.len(), 1);
        due.remove(0)
    }

    async fn settle(&self, claimed: &ClaimedNotice, verdict: NoticeVerdict) -> NoticeSettled {
        let (key, fence) = (claimed.notice.key(), claimed.notice.fence);
        self.store.settle_notice(SettleNotice { key, fence, verdict }).await.unwrap()
    }

    async fn notice(&self, said: &Announcement) -> Option<NoticeRecord> {
        self.store.notice(key(said)).await.unwrap()
    }
}

const WRITTEN: NoticeSettled = NoticeSettled::Done { forgotten: 0 };
const AGAIN: NoticeVerdict = NoticeVerdict::AskAgain { wake_in_ms: SECOND, looked: true };
const PARK: NoticeVerdict = NoticeVerdict::Park { wake_in_ms: SECOND, keep: KEEP };

async fn r21_a_repeat_is_the_same_row_and_another_question(world: World) {
    let said = says("object-1", "succeeded");
    assert_eq!(world.hears(&said).await, NoticeAccepted::New);
    let first = world.notice(&said).await.unwrap();
    let waiting = NoticeState::Waiting { wake_at: world.now() };
    assert_eq!((&first.said, first.state, first.received_at), (&said, waiting, world.now()));
    assert_eq!(world.hears(&said).await, NoticeAccepted::Known);
    let claimed = world.due_notice().await;
    assert_eq!(claimed.notice.tries, 1);
    assert_eq!(world.settle(&claimed, NoticeVerdict::Done).await, WRITTEN);
    assert!(world.due_notices(10).await.is_empty());
    world.clock.advance(DAY);
    assert_eq!(world.hears(&said).await, NoticeAccepted::Known);
    let again = world.due_notice().await;
    assert_eq!((again.notice.received_at, again.notice.tries), (first.received_at, 1));
    assert!(again.notice.fence > claimed.notice.fence);
}

async fn r21_another_status_of_the_object_is_another_notification(world: World) {
    for said in [says("object-1", "waiting_for_capture"), says("object-1", "succeeded"), refund("object-1")] {
        assert_eq!(world.hears(&said).await, NoticeAccepted::New);
    }
    assert_eq!(world.due_notices(10).await.len(), 3);
}

async fn r21_the_same_notification_of_another_merchant_is_another(world: World) {
    let said = says("object-1", "succeeded");
    world.hears(&said).await;
    let tenant = tenant_of("mer_2", Mode::Test);
    let other = AcceptNotice { tenant, ..accept(said.clone()) };
    assert_eq!(world.store.accept_notice(other).await.unwrap(), NoticeAccepted::New);
    let account = ProviderAccount::parse("100501").unwrap();
    let other = AcceptNotice { account, ..accept(said) };
    assert_eq!(world.store.accept_notice(other).await.unwrap(), NoticeAccepted::New);
}

/// The flow looks before it writes; with many writers the primary key decides.
async fn r21_a_row_that_is_there_is_not_written_again(world: World) {
    let said = says("object-1", "succeeded");
    world.hears(&said).await;
    let mut row = world.notice(&said).await.unwrap();
    row.fence = 99;
    let insert: Flow<bool> = Arc::new(move |tables| {
        let row = row.clone();
        Box::pin(async move { tables.insert_notice(&row).await })
    });
    assert!(!world.write(insert).await.unwrap());
    assert_eq!(world.notice(&said).await.unwrap().fence, 0);
}

async fn a_notification_is_written_only_under_its_fence(world: World) {
    let said = says("object-1", "succeeded");
    world.hears(&said).await;
    let row = world.notice(&said).await.unwrap();
    let changed = NoticeRecord { looks: 9, ..row.clone() };
    let update: Flow<bool> = Arc::new(move |tables| {
        let row = changed.clone();
        Box::pin(async move { tables.update_notice(&row, row.fence + 1).await })
    });
    assert!(!world.write(update).await.unwrap());
    assert_eq!(world.notice(&said).await, Some(row));
}

async fn fault_55_what_is_not_settled_is_claimed_again_after_its_lease(world: World) {
    world.hears(&refund("refund-1")).await;
    let first = world.due_notice().await;
    assert_eq!(first.notice.lease.unwrap().until, world.now().plus_ms(LEASE_MS));
    world.clock.advance(LEASE_MS - 1);
    assert!(world.due_notices(10).await.is_empty());
    world.clock.advance(1);
    let second = world.due_notice().await;
    assert_eq!((second.notice.fence, second.notice.tries), (first.notice.fence + 1, 2));
    // The first holder comes back.
    assert_eq!(world.settle(&first, NoticeVerdict::Done).await, NoticeSettled::Stale);
    assert_eq!(world.notice(&refund("refund-1")).await, Some(second.notice));
}

async fn fault_50_what_comes_in_again_outdates_whoever_asked_before(world: World) {
    let said = says("object-1", "succeeded");
    world.hears(&said).await;
    let asked_before = world.due_notice().await;
    world.hears(&said).await;
    assert_eq!(world.settle(&asked_before, NoticeVerdict::Done).await, NoticeSettled::Stale);
    let claimed = world.due_notice().await;
    assert_eq!(world.settle(&claimed, AGAIN).await, WRITTEN);
    let row = world.notice(&said).await.unwrap();
    let wake_at = world.now().plus_ms(SECOND);
    assert_eq!((row.state, row.looks, row.lease), (NoticeState::Waiting { wake_at }, 1, None));
}

async fn fault_54_what_a_forged_one_named_wrongly_the_true_one_names(world: World) {
    let (_, wrong) = world.offer("order-1").await;
    let (_, right) = world.offer("order-2").await;
    world.hears(&naming("object-1", wrong.id)).await;
    world.hears(&naming("object-1", right.id)).await;
    world.hears(&says("object-1", "succeeded")).await;
    assert_eq!(world.due_notice().await.subject, Some(NoticeSubject::Payment(right.id)));
}

async fn a_verdict_whose_answer_was_lost_is_not_written_twice(world: World) {
    world.hears(&says("object-1", "succeeded")).await;
    let claimed = world.due_notice().await;
    for _ in 0..2 {
        assert_eq!(world.settle(&claimed, AGAIN).await, WRITTEN);
    }
    assert_eq!(world.notice(&claimed.notice.said).await.unwrap().looks, 1);
}

async fn a_linked_object_says_whom_it_is_about(world: World) {
    let linked = world.settled("order-1", succeeded("object-1")).await;
    let (_, named) = world.offer("order-2").await;
    world.hears(&naming("object-1", named.id)).await;
    assert_eq!(world.due_notice().await.subject, Some(NoticeSubject::Payment(linked.intent.id)));
    // A payment is no refund.
    world.hears(&refund("object-1")).await;
    assert_eq!(world.due_notice().await.subject, None);
}

async fn a_refunds_object_is_no_payment(world: World) {
    let intent = world.settled("order-1", succeeded("object-1")).await.intent;
    let found =
        OpenFollowUp { made: Some(object("refund-1")), ..commands::refund(&intent, "object-1", "1.00") };
    let id = world.followed(found).await.id;
    world.hears(&refund("refund-1")).await;
    assert_eq!(world.due_notice().await.subject, Some(NoticeSubject::Refund(id)));
    world.hears(&says("refund-1", "succeeded")).await;
    assert_eq!(world.due_notice().await.subject, None);
}

async fn an_intent_of_another_merchant_is_nobody(world: World) {
    let (_, intent) = world.offer("order-1").await;
    let stranger =
        AcceptNotice { tenant: tenant_of("mer_2", Mode::Test), ..accept(naming("object-1", intent.id)) };
    world.store.accept_notice(stranger).await.unwrap();
    assert_eq!(world.due_notice().await.subject, None);
    world.hears(&naming("object-2", IntentId(uuid()))).await;
    assert_eq!(world.due_notice().await.subject, None);
}

async fn fault_54_a_parked_one_finds_what_is_linked_later(world: World) {
    let said = says("object-1", "succeeded");
    world.hears(&said).await;
    let early = world.due_notice().await;
    assert_eq!(early.subject, None);
    world.settle(&early, PARK).await;
    let wake_at = world.now().plus_ms(SECOND);
    assert_eq!(world.notice(&said).await.unwrap().state, NoticeState::Parked { wake_at });
    let linked = world.settled("order-1", succeeded("object-1")).await;
    assert!(world.due_notices(10).await.is_empty());
    world.clock.advance(SECOND);
    let late = world.due_notice().await;
    assert_eq!((late.subject, late.notice.tries), (Some(NoticeSubject::Payment(linked.intent.id)), 2));
    world.settle(&late, NoticeVerdict::Done).await;
    assert_eq!(world.notice(&said).await.unwrap().state, NoticeState::Done);
}

async fn parked_ones_are_bounded_and_the_oldest_go_first(world: World) {
    let waiting = says("waiting", "succeeded");
    world.hears(&waiting).await;
    let held = world.due_notice().await;
    let others =
        AcceptNotice { tenant: tenant_of("mer_2", Mode::Test), ..accept(says("object-0", "succeeded")) };
    world.store.accept_notice(others).await.unwrap();
    world.settle(&world.due_notice().await, PARK).await;
    for number in 0..KEEP {
        world.hears(&says(&format!("object-{number}"), "succeeded")).await;
        assert_eq!(world.settle(&world.due_notice().await, PARK).await, WRITTEN);
        world.clock.advance(1);
    }
    world.hears(&says("one-more", "succeeded")).await;
    assert_eq!(world.settle(&world.due_notice().await, PARK).await, NoticeSettled::Done { forgotten: 1 });
    assert_eq!(world.notice(&says("object-0", "succeeded")).await, None);
    for kept in ["object-1", "object-2", "one-more", "waiting"] {
        assert!(world.notice(&says(kept, "succeeded")).await.is_some(), "{kept}");
    }
    assert_eq!(world.settle(&held, NoticeVerdict::Done).await, WRITTEN, "only parked ones are forgotten");
    world.clock.advance(SECOND);
    assert_eq!(world.due_notices(10).await.len(), 4, "another merchant's are counted by themselves");
}

async fn the_earliest_come_first_and_no_more_than_asked_for(world: World) {
    for id in ["object-2", "object-1", "object-3"] {
        world.hears(&says(id, "succeeded")).await;
        world.clock.advance(1);
    }
    assert!(world.due_notices(0).await.is_empty());
    let due = world.due_notices(2).await;
    let ids: Vec<_> = due.iter().map(|claimed| claimed.notice.said.object.as_str()).collect();
    assert_eq!(ids, ["object-2", "object-1"]);
    assert_eq!(world.due_notices(2).await.len(), 1);
}

async fn what_is_done_is_never_due(world: World) {
    world.hears(&says("object-1", "succeeded")).await;
    world.settle(&world.due_notice().await, NoticeVerdict::Done).await;
    world.clock.advance(100 * DAY);
    assert!(world.due_notices(10).await.is_empty());
}
