//! What can be made to go wrong with a payment, as the drawer offers it. Names and sentences are messages
//! (`locales/`); what each kind does is the bank's affair (`POST /faults`).

use crate::bank::{Bank, BankError, FaultOrder};

/// Something to go wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Names it in forms and messages.
    pub name: &'static str,
    /// The bank's word for it.
    kind: &'static str,
    /// How many requests meet it.
    times: u32,
    /// How long it holds things up; `None`: it does not.
    delay_ms: Option<u32>,
}

macro_rules! fault {
    ($name:literal, $kind:expr, $times:literal) => {
        Fault { name: $name, kind: $kind, times: $times, delay_ms: None }
    };
    ($name:literal, $kind:literal, $times:literal, $delay_ms:literal) => {
        Fault { name: $name, kind: $kind, times: $times, delay_ms: Some($delay_ms) }
    };
}

/// Everything that is offered, the drill of two lost answers first.
pub const FAULTS: [Fault; 17] = [
    fault!("fault-answer-lost-twice", "lose_answer", 2),
    fault!("fault-answer-lost", "lose_answer", 1),
    fault!("fault-request-lost", "lose_request", 1),
    fault!("fault-error-after", "error_500_after", 1),
    fault!("fault-error-before", "error_500_before", 1),
    fault!("fault-error-for-ever", "error_500_stored", 1),
    // Longer than a submit waits, shorter than a call to the bank may take.
    fault!("fault-slow", "delay", 1, 12_000),
    fault!("fault-undecided", "pending", 1, 15_000),
    fault!("fault-come-later", "processing_202", 1, 3_000),
    fault!("fault-key-refused", "unauthorized", 1),
    fault!("fault-too-many", "rate_limit", 1),
    fault!("fault-half-answer", "garbage", 1),
    fault!("fault-wrong-sum", "wrong_amount", 1),
    fault!("fault-notified-twice", "notify_twice", 1),
    fault!("fault-notified-late", "notify_late", 1, 15_000),
    fault!("fault-notified-first", "notify_first", 1),
    fault!("fault-never-notified", NEVER_NOTIFIED, 1),
];
/// The bank's word for a notification that is not sent.
const NEVER_NOTIFIED: &str = "notify_never";

/// The fault of that name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

/// The fault that is this kind of the bank's, once; `None` where the drawer does not offer it.
pub fn of_kind(kind: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.kind == kind && fault.times == 1)
}

impl Fault {
    /// Tells the bank to let it happen to the order's next payment.
    ///
    /// # Errors
    /// [`BankError`].
    pub async fn arm(&self, bank: &Bank, order: &str) -> Result<(), BankError> {
        let (kind, times, delay_ms) = (self.kind, self.times, self.delay_ms);
        if self.is_drill() {
            // A notification would tell the result before the payment is sent again. A bank that sends none refuses this.
            let silence = FaultOrder { kind: NEVER_NOTIFIED, times: 1, order_id: order, delay_ms: None };
            let _silent_anyway = bank.arm(&silence).await;
        }
        bank.arm(&FaultOrder { kind, times, order_id: order, delay_ms }).await
    }

    /// The drill: nothing but the payment, sent again, tells what became of it.
    fn is_drill(&self) -> bool {
        self.times > 1
    }
}
