//! Ids and randomness from the operating system: the only place that makes them.

use engine::Ids;
use payment::{AttemptId, CheckoutId, Holder, IntentId, OperationId, ProviderKey, SubmitKey};
use store::NewIds;
use uuid::Uuid;

/// Random keys, ids that sort by time.
pub struct SystemIds;

/// An id: rows made together lie together.
#[expect(clippy::disallowed_methods, reason = "the source of ids that is passed in elsewhere")]
fn ordered() -> Uuid {
    Uuid::now_v7()
}

/// A key: nothing can be told from it.
#[expect(clippy::disallowed_methods, reason = "the source of keys that is passed in elsewhere")]
fn unguessable() -> Uuid {
    Uuid::new_v4()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}

/// Who this process is, for leases.
pub(crate) fn holder() -> Holder {
    Holder(unguessable())
}

/// A nonce for a page's `Content-Security-Policy`, or a request's id.
pub(crate) fn random_text() -> String {
    unguessable().simple().to_string()
}

impl Ids for SystemIds {
    fn new_ids(&self) -> NewIds {
        NewIds {
            checkout: CheckoutId(ordered()),
            intent: IntentId(ordered()),
            operation: OperationId(ordered()),
            submit_key: SubmitKey(unguessable()),
            provider_key: ProviderKey(unguessable()),
        }
    }

    fn attempt(&self) -> AttemptId {
        AttemptId(ordered())
    }

    fn random(&self) -> u64 {
        u64::from_ne_bytes(random())
    }

    fn nonce(&self) -> [u8; 24] {
        random()
    }
}
