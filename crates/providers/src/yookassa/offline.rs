//! What bytes of YooKassa's mean, without a network: for the fuzzer. Adds nothing to what the provider itself does with an answer.

use payment::{Observation, RefundObservation};
use reqwest::StatusCode;

use super::{
    answers, notices,
    objects::{self, Link},
};
use crate::{
    Notice, Page, Reply,
    http::{Answer, NoAnswer},
};

/// An answer to a request about a payment.
pub fn payment(status: StatusCode, body: &[u8]) -> Reply {
    answers::reply(answer(status, body), read_payment)
}

/// An answer to a request about a refund.
pub fn refund(status: StatusCode, body: &[u8]) -> Reply<RefundObservation> {
    answers::reply(answer(status, body), objects::refund)
}

/// A page of payments.
pub fn payments(status: StatusCode, body: &[u8]) -> Page {
    answers::page(answer(status, body), read_payment)
}

/// A page of refunds.
pub fn refunds(status: StatusCode, body: &[u8]) -> Page<RefundObservation> {
    answers::page(answer(status, body), objects::refund)
}

/// A notification.
pub fn notice(body: &[u8]) -> Option<Notice> {
    notices::read(body)
}

fn answer(status: StatusCode, body: &[u8]) -> Result<Answer, NoAnswer> {
    Ok(Answer { status, retry_after_ms: None, at: None, body: body.to_vec() })
}

fn read_payment(written: objects::Payment) -> Option<Observation> {
    objects::payment(written, Link::Https)
}
