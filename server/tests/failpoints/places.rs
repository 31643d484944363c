//! Every place between two steps, and what happens there: the process is killed by SIGKILL, is stopped and wakes, or the step
//! fails as if the database were busy. A place that is not reached fails its test. In the end there is one charge, one shipment and
//! one mail, and whoever repeats the submission gets the first answer.

use crate::{
    server::Deed,
    trial::{
        Heir::{Another, Itself},
        Road::{Extra, Notification, Payment, Sweep},
        Trial,
    },
    witnesses::Receipt::{Written, WrittenOrUnknown},
};

/// A test of each deed at each place.
macro_rules! at_each {
    ($($place:ident),* $(,)?) => { $(
        mod $place {
            use crate::server::Deed;

            #[tokio::test]
            async fn kill() {
                super::$place(Deed::Kill).await;
            }

            #[tokio::test]
            async fn stop() {
                super::$place(Deed::Stop).await;
            }

            #[tokio::test]
            async fn error() {
                super::$place(Deed::Error).await;
            }
        }
    )* };
}

at_each! {
    r13_fault_25_the_claim_is_committed,
    r13_fault_25_nothing_is_sent_yet,
    r13_fault_27_the_bank_has_answered,
    r13_the_result_is_committed,
    r13_r22_nobody_was_asked_yet_after_a_notification,
    r13_r22_the_bank_has_answered_after_a_notification,
    r21_a_notification_is_committed,
    r21_a_notification_is_claimed,
    r21_a_notification_was_asked_about,
    r21_a_notification_is_settled,
    r13_fault_26_the_listing_was_fetched,
    r13_fault_26_the_listing_is_written_down,
    r13_fault_26_the_sweep_is_over,
    r13_n5_a_refund_is_committed,
    r13_n5_a_refund_is_claimed,
    r13_n5_a_refund_was_answered,
    r13_n5_a_refunds_result_is_committed,
    r19_r20_an_effect_is_claimed,
    r19_r20_an_effect_was_sent,
    r19_r20_an_effect_is_settled,
}

async fn r13_fault_25_the_claim_is_committed(deed: Deed) {
    Trial::new("submit.claimed", Payment, Another, Written).of(deed).await;
}

async fn r13_fault_25_nothing_is_sent_yet(deed: Deed) {
    Trial::new("drive.claimed", Payment, Another, Written).of(deed).await;
}

async fn r13_fault_27_the_bank_has_answered(deed: Deed) {
    Trial::new("drive.answered", Payment, Another, Written).of(deed).await;
}

/// From here on the effects are under way at the same time.
async fn r13_the_result_is_committed(deed: Deed) {
    Trial::new("write.committed", Payment, Another, WrittenOrUnknown).of(deed).await;
}

async fn r13_r22_nobody_was_asked_yet_after_a_notification(deed: Deed) {
    Trial::new("look.claimed", Notification, Another, WrittenOrUnknown).of(deed).await;
}

async fn r13_r22_the_bank_has_answered_after_a_notification(deed: Deed) {
    Trial::new("look.answered", Notification, Another, WrittenOrUnknown).of(deed).await;
}

async fn r21_a_notification_is_committed(deed: Deed) {
    Trial::new("inbox.accepted", Notification, Another, WrittenOrUnknown).of(deed).await;
}

async fn r21_a_notification_is_claimed(deed: Deed) {
    Trial::new("inbox.claimed", Notification, Another, WrittenOrUnknown).of(deed).await;
}

async fn r21_a_notification_was_asked_about(deed: Deed) {
    Trial::new("inbox.asked", Notification, Itself, WrittenOrUnknown).of(deed).await;
}

async fn r21_a_notification_is_settled(deed: Deed) {
    Trial::new("inbox.settled", Notification, Itself, WrittenOrUnknown).of(deed).await;
}

/// The worker looks for the payment as well, and may have found it.
async fn r13_fault_26_the_listing_was_fetched(deed: Deed) {
    Trial::new("sweep.listed", Sweep, Another, WrittenOrUnknown).of(deed).await;
}

async fn r13_fault_26_the_listing_is_written_down(deed: Deed) {
    Trial::new("sweep.read", Sweep, Another, WrittenOrUnknown).of(deed).await;
}

async fn r13_fault_26_the_sweep_is_over(deed: Deed) {
    Trial::new("sweep.swept", Sweep, Itself, WrittenOrUnknown).of(deed).await;
}

async fn r13_n5_a_refund_is_committed(deed: Deed) {
    Trial::new("follow_up.opened", Extra, Another, Written).of(deed).await;
}

async fn r13_n5_a_refund_is_claimed(deed: Deed) {
    Trial::new("drive.claimed", Extra, Another, Written).of(deed).await;
}

async fn r13_n5_a_refund_was_answered(deed: Deed) {
    Trial::new("drive.answered", Extra, Another, Written).of(deed).await;
}

/// First reached by the look that finds the extra.
async fn r13_n5_a_refunds_result_is_committed(deed: Deed) {
    Trial::new("write.committed", Extra, Itself, Written).of(deed).await;
}

/// The webhook's or the mail's: both are claimed at once.
async fn r19_r20_an_effect_is_claimed(deed: Deed) {
    Trial::new("outbox.claimed", Payment, Itself, WrittenOrUnknown).of(deed).await;
}

async fn r19_r20_an_effect_was_sent(deed: Deed) {
    Trial::new("outbox.sent", Payment, Itself, WrittenOrUnknown).of(deed).await;
}

async fn r19_r20_an_effect_is_settled(deed: Deed) {
    Trial::new("outbox.settled", Payment, Itself, WrittenOrUnknown).of(deed).await;
}
