//! What goes into a visit and what comes out of it.
//! Must never hold a rule: those are in `visit`.

use crate::{
    form::{Form, Wrong},
    stage::Note,
    wire::{Offer, Seen},
};

/// Something that happened to the page.
#[derive(Debug)]
pub enum Event {
    /// The shopper goes on at the bank's page: the browser posts the form.
    ToBank,
    /// The form was sent, by button or key.
    Pay(Result<Form, Vec<Wrong>>),
    /// What came of it.
    Replied(Reply),
    /// The server said how the intent stands; else why it did not.
    Asked(Result<Seen, Note>),
    /// The stream told how the intent stands; `None` when it broke.
    Told(Option<Seen>),
    /// What is offered now in place of what the form shows, `None` where nothing is; else why it is not known.
    Offered(Result<Option<Offer>, Note>),
    /// The pause before the next question is over.
    Due,
    /// The shopper wants the bank to be asked now.
    Check,
    /// The shopper wants to pay another way than at the bank's page.
    Release,
    /// What came of it; else why nothing did.
    Released(Result<Seen, Note>),
    /// This tab or another one did something. Never believed, only a reason to ask.
    Heard,
    /// The page came back from the back-forward cache.
    Restored,
    /// The shopper has read the new terms.
    Accept,
    /// A new try was asked for.
    TryAgain,
    /// Whether it could be had.
    Renewed(Result<(), Note>),
    /// The page was read anew in place of a press that came too late.
    WasBehind,
}

/// What came of pressing pay.
#[derive(Debug)]
pub enum Reply {
    /// The server took it: this is the intent now, whichever tab's card it is paid with.
    Seen(Seen),
    /// The bank or we will not take what stands in a field; nothing was started.
    FieldRefused(Wrong),
    /// Nothing was started, for certain.
    NotSent(Note),
    /// The order has other terms now; nothing was started.
    Changed(Offer),
    /// The page is behind: the checkout is paid, or has another intent.
    Behind,
    /// No answer, or one that says nothing (R10).
    Lost,
}

/// What this browser's storage knows of the page's intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// Nothing.
    New,
    /// It was opened before, in whichever tab: a submit may be on its way.
    Opened,
    /// This tab has begun to pay it.
    Begun,
}

/// How a payment goes on that is not what this page offered (N1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherWay<'a> {
    /// Another card than the one this page sent last, which may have been sent before from here: its last digits.
    Card(&'a str),
    /// The bank's page; this page offered a card.
    Bank,
    /// Somebody began it while this page had its form open.
    Tab,
}

/// What the browser is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Remember that this tab has begun to pay.
    Begin,
    /// Make a token of the card and submit it.
    Submit(Form),
    /// Ask how the intent stands.
    Ask,
    /// Do so after a pause; replaces an earlier one.
    AskIn {
        /// The pause in seconds.
        pause_s: u32,
    },
    /// Ask what is offered now.
    AskOffer,
    /// Have the bank asked how the intent stands.
    Check,
    /// Have the bank asked to let go of the payment.
    Release,
    /// Ask for a new intent.
    Renew,
    /// Ask about this intent from now on.
    Follow {
        /// `pi_…`
        intent: String,
    },
    /// Put the new terms on the form, in place of the old.
    Adopt(Offer),
    /// Read the page anew: always right.
    Reload,
    /// Remember for the page that is read anew why it is.
    KeepBehind,
    /// Let the other tabs know that it is worth asking.
    Tell,
    /// The intent is over: storage need not know it any more.
    Forget,
}
