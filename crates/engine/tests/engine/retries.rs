//! A retry is the same request again, later (R15), and says so to the same account whatever changed in between (fault 49c).

use std::sync::Arc;

use engine::Vault;
use payment::{ObjectStatus, StateName};

use crate::{
    bank::{Fault, pending},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, MINUTE, RETRY, SECOND, World},
};

scenarios! {
    r15_fault_49c_another_account_and_another_version_in_mid_flight,
    r15_an_account_is_asked_with_its_own_secret_after_a_change,
    r15_the_servers_secret_is_rotated_in_mid_flight,
    r15_the_accounts_newest_secret_is_used,
    r15_an_account_is_reached_where_it_is_now,
    r15_a_merchant_that_is_gone_does_not_leave_its_payment_hanging,
    r15_waits_grow,
    r15_fault_44_retry_after_is_honoured,
    fault_49a_accepted_is_asked_again_when_the_bank_says,
    a_retry_after_without_end_silences_nobody,
    n2_a_retry_after_beyond_the_last_possible_send_keeps_no_shopper_waiting,
    n2_a_retry_after_of_a_day_keeps_nobody_from_proving_that_nothing_was_charged,
    n2_a_retry_after_of_a_day_to_a_question_is_no_silence_of_a_day,
}

const OTHER: &str = "200600";

/// The merchant moves to another account, a new encoder is deployed, settings change: what is under way stays as it was sent.
async fn r15_fault_49c_another_account_and_another_version_in_mid_flight(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest, Fault::Error500Before]);
    let offer = world.paying(&engine, "1").await;
    world.bank.deploy();
    let mut moved = merchant(tenant(), OTHER, &secret_of(OTHER), &world.vault);
    moved.url = "https://elsewhere.example".into();
    world.merchants.put(moved);
    let mut changed = world.engine();
    changed.settings.public_url = "https://new.example".into();
    world.settle(&changed).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    let sent = world.bank.sent();
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|sent| sent.body == world.bank.sent()[0].body));
    assert!(
        sent.iter().all(|sent| sent.account == world.bank.sent()[0].account && sent.account.id == ACCOUNT)
    );
    assert_eq!(world.bank.objects()[0].account, ACCOUNT);
    // The next order goes where the merchant wants it now.
    let next = world.paying(&changed, "2").await;
    assert_eq!(world.state(&next).await, StateName::Succeeded);
    assert_eq!(world.bank.objects()[1].account, OTHER);
    assert!(world.bank.sent()[3].body.starts_with(b"edition=1"));
}

/// The provider has another address, or is reached through another one; the account is the same. What is unknown is sent again and asked
/// about there.
async fn r15_an_account_is_reached_where_it_is_now(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let unsent = world.paying(&engine, "1").await;
    world.bank.next([Fault::LoseAnswer]);
    let unanswered = world.paying(&engine, "2").await;
    world.bank.decides(crate::bank::pending());
    let waiting = world.paying(&engine, "3").await;
    let url = "https://elsewhere.example";
    world.merchants.put(store::MerchantRecord { url: url.into(), ..world.merchant().await });
    world.bank.moves_to(Some(url));
    world.bank.moves(waiting.intent.id, payment::ObjectStatus::Succeeded);
    world.settle(&engine).await;
    for offer in [unsent, unanswered, waiting] {
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
    let sent = world.bank.sent();
    assert!(sent[3..].iter().all(|sent| sent.account.url == url && sent.account.id == ACCOUNT));
    assert!(sent[3..].iter().any(|sent| sent.key == world.bank.sent()[0].key));
    assert_eq!(world.bank.charges(), 3);
    world.bank.moves_to(None);
}

/// Queries and listings of the old account, too.
async fn r15_an_account_is_asked_with_its_own_secret_after_a_change(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let unanswered = world.paying(&engine, "1").await;
    world.bank.decides(crate::bank::pending());
    let waiting = world.paying(&engine, "2").await;
    world.merchants.put(merchant(tenant(), OTHER, &secret_of(OTHER), &world.vault));
    world.bank.moves(waiting.intent.id, payment::ObjectStatus::Succeeded);
    world.clock.advance(EXECUTE_MS);
    world.settle(&engine).await;
    for offer in [unanswered, waiting] {
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
    assert_eq!(world.bank.sends(), 2);
}

async fn r15_the_servers_secret_is_rotated_in_mid_flight(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    let mut rotated = world.engine();
    rotated.vault = Arc::new(Vault::new([2; 32], Some([1; 32])));
    world.settle(&rotated).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    // And when the merchant's row was sealed anew, too.
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "2").await;
    world.merchants.put(merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &rotated.vault));
    world.settle(&rotated).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.sends(), world.bank.charges()), (4, 2));
}

/// Fault 49b: a rotated key is refused, alarmed, no decline; the new one is used as soon as it is known.
async fn r15_the_accounts_newest_secret_is_used(world: World) {
    let engine = world.engine();
    world.bank.change_secret(ACCOUNT, "rotated");
    let offer = world.paying(&engine, "1").await;
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Processing, "not executed is not declined");
    let journal = world.journal(&offer).await.join("\n");
    assert!(journal.contains("does not accept our credentials"), "{journal}");
    world.merchants.put(merchant(tenant(), ACCOUNT, "rotated", &world.vault));
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn r15_a_merchant_that_is_gone_does_not_leave_its_payment_hanging(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.merchants.remove(&tenant());
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn r15_waits_grow(world: World) {
    let mut engine = world.engine();
    engine.settings.execute_ms = 20 * HOUR;
    world.bank.every(Some(Fault::LoseRequest));
    let offer = world.paying(&engine, "1").await;
    let mut waits = Vec::new();
    for _ in 0..12 {
        waits.push(world.wake(&engine, &offer).await);
    }
    assert_eq!(waits[0], SECOND);
    assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "{waits:?}");
    assert_eq!(waits.last(), Some(&RETRY.max_ms));
    assert!(waits.iter().filter(|wait| **wait == SECOND).count() <= 2, "{waits:?}");
}

async fn r15_fault_44_retry_after_is_honoured(world: World) {
    let engine = world.engine();
    world.bank.next([
        Fault::RateLimited(Some(2 * MINUTE)),
        Fault::RateLimited(Some(0)),
        Fault::RateLimited(None),
    ]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Processing);
    assert_eq!(world.wake(&engine, &offer).await, 2 * MINUTE);
    // powertools-python#4759: zero is not "none", and not "at once, for ever".
    assert!(world.wake(&engine, &offer).await > 0);
    assert!(world.wake(&engine, &offer).await > 0);
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn fault_49a_accepted_is_asked_again_when_the_bank_says(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::Accepted(45 * SECOND)]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming, "202 is not success");
    assert_eq!(world.wake(&engine, &offer).await, 45 * SECOND);
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// The shopper is told until when it is tried: then it ends, whatever the bank asked for.
async fn n2_a_retry_after_beyond_the_last_possible_send_keeps_no_shopper_waiting(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::RateLimited(Some(DAY))]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.wake(&engine, &offer).await, EXECUTE_MS);
    assert_eq!(world.state(&offer).await, StateName::Canceled);
    assert_eq!(world.bank.sends(), 1);
}

/// A firewall may have said so in the bank's place, and the bank knows nothing of the payment.
async fn n2_a_retry_after_of_a_day_keeps_nobody_from_proving_that_nothing_was_charged(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::Unavailable(DAY)]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    let began = world.clock.now();
    assert_eq!(world.wake(&engine, &offer).await, EXECUTE_MS);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Canceled, 1));
    let took_ms = world.clock.now().since_ms(began);
    assert!(took_ms < 2 * HOUR, "the card token was dead long before: {took_ms} ms");
}

async fn n2_a_retry_after_of_a_day_to_a_question_is_no_silence_of_a_day(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(2 * HOUR);
    world.bank.next_query(Fault::Unavailable(DAY));
    assert!(engine.run_once().await.unwrap());
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    assert!(world.wake(&engine, &offer).await <= HOUR);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// Liveness (invariant 17): a bank that says "in a year" does not keep a payment from a person's eyes for a year.
async fn a_retry_after_without_end_silences_nobody(world: World) {
    let engine = world.engine();
    for (order, fault) in [("1", Fault::Accepted(i64::MAX)), ("2", Fault::RateLimited(Some(365 * DAY)))] {
        world.bank.next([fault]);
        let offer = world.paying(&engine, order).await;
        let waited = world.wake(&engine, &offer).await;
        assert!(waited <= EXECUTE_MS + DAY, "order {order} waits for {waited} ms");
        world.settle(&engine).await;
    }
}
