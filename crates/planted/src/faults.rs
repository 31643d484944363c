//! The faults: what each breaks, in words, and which layers hide it.

/// Lists faults, each as `Name "name" [layers that hide it] "what is broken, and what must not be so."`.
macro_rules! faults {
    ($($fault:ident $name:literal [$($layer:ident),*] $breaks:literal)+) => {
        /// A planted fault.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(planted, derive(Debug))]
        pub enum Fault {
            $(#[doc = $breaks] $fault),+
        }

        #[cfg(planted)]
        impl Fault {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$fault),+];

            /// Its name, in kebab-case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$fault => $name),+
                }
            }

            /// What is broken, and what must not be so: one sentence.
            pub fn breaks(self) -> &'static str {
                match self {
                    $(Self::$fault => $breaks),+
                }
            }

            /// All layers that hide it: it shows where they are chosen with it.
            pub fn with(self) -> &'static [Self] {
                match self {
                    $(Self::$fault => &[$(Self::$layer),*]),+
                }
            }
        }
    };
}

faults! {
    // Transitions.
    RejectedAfterUnknown "rejected-after-unknown" []
        "A 400 after an unanswered send declines the payment: an end without evidence, while the first send may take money."
    TimerEndsUnknown "timer-ends-unknown" []
        "Execute-until ends what is unknown as not executed: a timer ends it without evidence, and money may be taken."
    UnansweredIsDeclined "unanswered-is-declined" []
        "A send without an answer, or with a 5xx, is a decline: an end without evidence, while it may have taken money."
    TerminalOverwritten "terminal-overwritten" []
        "What a provider shows later overwrites a final state: final states absorb."
    PendingIsPaid "pending-is-paid" []
        "A pending object counts as money taken: paid exactly if the bank took money."
    AmountNotCompared "amount-not-compared" []
        "An object of another sum or currency is taken for ours: our charges and the bank's money are equal in sum and currency."
    OwnerNotCompared "owner-not-compared" []
        "An object that names another intent is taken for ours: the bank's objects are linked to those that asked for them."
    ClaimedForAccountOfBefore "claimed-for-account-of-before" []
        "A submit that was made out before the merchant took another account is claimed after it: what is first sent goes to the account of now."
    DeclineNeverHeard "decline-never-heard" []
        "A declined object leaves its payment unknown for ever: what the bank has ended ends in a stated time."
    LateMoneyIgnored "late-money-ignored" []
        "Money taken for a payment that had ended is ignored: every object that took money is a charge or before a person."
    UnansweredRefundIsRejected "unanswered-refund-is-rejected" []
        "A refund without an answer, or with a 5xx, is rejected: its reservation is let go of while the money may go back."

    // Keys and the making of things.
    FingerprintNotCompared "fingerprint-not-compared" []
        "A key with other parameters is answered as if they were the first: that is a 422 and changes nothing."
    KeyNotLookedUp "key-not-looked-up" []
        "A key is not looked up before it is claimed, and only its index stops the second claim: a repeat is never busy for ever."
    KeyIndex "key-index" [KeyNotLookedUp]
        "A key that is taken can be claimed again: it names one resource for ever, and its replays are equal."
    OrderTwice "order-twice" []
        "An order that has a checkout gets another: at most one object takes money for an order, but for extras."
    OccupantNotSeen "occupant-not-seen" []
        "A new intent does not look for the one that occupies, and only the index stops it: trying again is never busy for ever."
    OccupyingIndex "occupying-index" [OccupantNotSeen]
        "Two intents can occupy a checkout: at most one at any moment, and a later one only after the earlier ended by evidence."
    NewIntentOnPaid "new-intent-on-paid" [OccupyingIndex]
        "A paid checkout takes a new intent: none is made on a checkout that is not open."
    ExpireEndsSent "expire-ends-sent" []
        "The end of a checkout's time ends a payment that was sent: no timer turns unknown into expired."

    // Claims.
    SubmitAfterExpiry "submit-after-expiry" []
        "A submit after the checkout's time is sent: no dispatch is later than that, and none begins on what is not open."
    PaidSendsAgain "paid-sends-again" []
        "A paid order takes a submit and further sends: none is claimed on a checkout that is not open."
    SendAfterExecuteUntil "send-after-execute-until" [LastLookSkipped]
        "An unknown payment is sent again for ever instead of asked about: every dispatch is before its execute-until."
    FreshStartAtLeaseEnd "fresh-start-at-lease-end" []
        "Whoever takes over begins anew, with a fresh execute-until: that of the first submit stays."
    SilentHolderSentNothing "silent-holder-sent-nothing" []
        "A send whose holder went silent counts as none: an end as not executed needs every send to be known as such."
    SendWithoutAttempt "send-without-attempt" []
        "A send is not written down before it leaves: key, bytes and attempt are committed when the provider gets a request."
    LeaseIgnored "lease-ignored" []
        "Work is claimed while another's lease runs: a claim is taken over only when its lease has ended or was given back."
    GateNotPutDown "gate-not-put-down" []
        "No gate is put down at a start after a silence: a restored copy sends before it knows what it has forgotten."
    GateIgnored "gate-ignored" []
        "A claim does not look at its account's gate: a restored copy sends before it knows what it has forgotten."
    StrangerIgnored "stranger-ignored" []
        "A claim does not look for a stranger's money: an order that somebody took money for is not charged again."

    // Commits.
    FenceNotCompared "fence-not-compared" []
        "A commit does not compare its fence, and only the update's predicate stops it: a stale holder is told so, never busy."
    FencePredicate "fence-predicate" [FenceNotCompared]
        "An operation's update does not compare its fence: every guarded write carries the fence that is current."
    VersionNotCompared "version-not-compared" []
        "A commit does not compare the intent's version: what was decided on an older state is never written over a newer one."
    PaidNotWritten "paid-not-written" []
        "A charge does not make its checkout paid: it is paid exactly if it has a charge."
    EveryChargePays "every-charge-pays" []
        "A charge of a paid checkout is not an extra: one pays, the others carry a remedy or stand before a person."
    JournalLineMissing "journal-line-missing" []
        "A commit leaves no line in the journal: every change of a state is told there, with its evidence."
    WakeUpForgotten "wake-up-forgotten" []
        "What is unfinished after a commit sleeps for years: it ends or stands before a person in a stated time."
    AnswerBeforeResult "answer-before-result" []
        "The first answer of a submit is kept for its replays before there is a result: only what is final is replayed."

    // Refunds.
    SecondRefund "second-refund" []
        "A second refund of a payment may begin while another is unknown: one unfinished at a time."
    RefundSumNotCompared "refund-sum-not-compared" []
        "A refund is not compared with what is left: what is reserved and refunded never exceeds what was taken."
    ReservationReleased "reservation-released" []
        "A refund lets go of its reservation once it is unknown: only a rejection or evidence releases it."
    ReservationKept "reservation-kept" []
        "A refund that ends keeps what it reserved: what is reserved is what is under way, no more."
    RefundNotCounted "refund-not-counted" []
        "A refund that is done is not counted: the bank gives back no more than is written down."
    PayerNotAsked "payer-not-asked" []
        "An extra is given back without a question for the money that paid: of both charges, one stays with the merchant."

    // The road to the provider.
    NewKeyPerAttempt "new-key-per-attempt" []
        "Each send has a provider key of its own: all sends of an operation carry one key, and make one object."
    BodyEncodedAnew "body-encoded-anew" []
        "A send after the first is encoded anew: all sends of an operation carry the same bytes."
    PresentAccount "present-account" []
        "A merchant's present account is asked and sent to: all sends of an operation go to the account of the first."
    LastLookSkipped "last-look-skipped" []
        "A process that was paused does not look at its clocks before the first byte: nothing leaves after execute-until."

    // Absence.
    OneListingProves "one-listing-proves" []
        "One listing without it ends a payment as absent: that takes two, some time apart."
    ListingBeforeTokensDie "listing-before-tokens-die" []
        "A listing from before the card token's death counts for absence: a send on its way may still take money."
    IncompleteListingProves "incomplete-listing-proves" []
        "A listing that was not read to its end counts for absence: the object may be on a page that was not read."

    AbsenceNotLived "absence-not-lived" []
        "A listing counts for absence although the process has not lived through the card token's life: clocks may have been set."

    // The sweep.
    GateLiftedIncomplete "gate-lifted-incomplete" []
        "A sweep that was not complete lifts the gate: nothing is sent before all of the gap is known."
    GateLiftedTooSoon "gate-lifted-too-soon" []
        "A sweep lifts a gate that was met a moment ago: what was sent before it may not be listed yet."
    GateBesideIgnored "gate-beside-ignored" []
        "A new account does not wait until those before it were read: what a copy forgot there may have paid the order."
    LeftNotGated "left-not-gated" []
        "A gap puts no gate down before an account that was left: what a copy forgot there may have paid the order."
    ForgottenNotPut "forgotten-not-put" []
        "What a copy forgot in an account that was left is put before nobody: its order may be paid again."
    SweepPageSkipped "sweep-page-skipped" []
        "A sweep ends after its first page: in the end all of the provider's money is linked or before a person."
    SweepBeginsTooLate "sweep-begins-too-late" []
        "A sweep reads from now on only: in the end all of the provider's money is linked or before a person."
    SweepPassesOverOurs "sweep-passes-over-ours" []
        "A sweep does not write down what is ours and was not known: in the end all of the provider's money is linked."
    StrangersNotPut "strangers-not-put" []
        "A sweep puts no stranger before a person: in the end all of the provider's money is linked or before a person."
    HoldKeepsItsSum "hold-keeps-its-sum" []
        "Of a stranger's hold that was captured in part the old sum stays: what stands before a person is what the bank took."
    LinkedUnasked "linked-unasked" []
        "A stranger's money is linked with the sum that was seen before: our charges and the bank's money are equal in sum."
    LetGoUnasked "let-go-unasked" []
        "A stranger is let go of without a question: what may still take money, or took it since, holds its order."
    LetGoUntold "let-go-untold" []
        "A stranger is let go of by somebody who may not know that it took money since: he is told the sum first."

    // The inbox.
    NoticeAnsweredUncommitted "notice-answered-uncommitted" []
        "A notification is acknowledged although its commit failed: what was answered 200 has a row."
    NoticeDoneUnasked "notice-done-unasked" []
        "A notification is done without a question: each is processed by the provider's answer, or parked."
    NoticeBelieved "notice-believed" []
        "What a notification is about counts as paid, whatever the provider answers: its word is never evidence."

    // The outbox.
    EffectMissing "effect-missing" []
        "A paid checkout has no effects: each is there exactly if its transition committed."
    EffectTwice "effect-twice" []
        "The effects of a paid checkout are written twice, under two ids: one row for each kind and subject."
    ReceiptMissing "receipt-missing" []
        "A paid checkout has its webhook and no receipt: each of its effects is there exactly if its transition committed."
    WebhookOfTerms "webhook-of-terms" []
        "A webhook tells what the order costs, not what was taken: what is told has the sum of a charge."
    WebhookIdPerTry "webhook-id-per-try" []
        "Each try of a webhook has an id of its own: the receiver gets an effect under one id."
    WebhookGivenUp "webhook-given-up" []
        "A webhook, or a mail, is given up after one refusal: the receiver gets it at least once."
    MailSentAgain "mail-sent-again" []
        "A mail is sent again after a send without an answer: what may have arrived is not sent twice."
}
