//! A person's word: what cannot be known automatically ends here, with the evidence there is. What the provider can still tell is
//! asked first, and a word against it is refused.

mod extra;
mod follow_up;
mod intent;
mod known;
mod stranger;
mod suspects;

use std::fmt;

use payment::{Money, ObjectId, Timestamp};
use store::{Review, ReviewId, ReviewItem, Task};

pub use self::known::Unaskable;
use crate::{Engine, EngineError};

const HELD: &str = "the server is at work on it just now; try again in a moment";
const NOT_SHOWN: &str = "the provider does not show it now; try again later";
/// Most items of each kind that are listed. Any is found by its id.
pub const MAX_REVIEW_ITEMS: u32 = 1_000;

/// What a person found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This object took the money.
    Charged(ObjectId),
    /// No money was taken.
    NotCharged,
    /// The refund, capture or cancel was done by this object.
    Executed(ObjectId),
    /// It was not done.
    NotExecuted,
    /// Give the extra back.
    RefundExtra,
}

/// What a person's word rests on; it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounds {
    /// Why it is said.
    pub reason: String,
    /// What shows it: needed where the provider cannot be asked.
    pub evidence: Option<String>,
    /// How much was taken, of a payment that evidence says was charged: what the provider shows, it tells itself.
    pub amount: Option<Money>,
}

impl fmt::Display for Grounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)?;
        match &self.evidence {
            Some(evidence) => write!(formatter, "; evidence: {evidence}"),
            None => Ok(()),
        }
    }
}

/// What came of a person's word, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It is written down.
    Done(String),
    /// It is not, and why.
    Refused(String),
}

fn refused(words: impl Into<String>) -> Result<Resolved, EngineError> {
    Ok(Resolved::Refused(words.into()))
}

fn done(words: impl Into<String>) -> Result<Resolved, EngineError> {
    Ok(Resolved::Done(words.into()))
}

impl Engine {
    /// What stands before a person, up to [`MAX_REVIEW_ITEMS`] of each kind.
    pub async fn review(&self) -> Result<Review, EngineError> {
        Ok(self.store.review(MAX_REVIEW_ITEMS).await?)
    }

    /// What stands before a person by that id: an intent (`pi_…`), an operation (`op_…`), or the provider's object of an extra or a
    /// stranger.
    pub async fn review_item(&self, id: &str) -> Result<Option<ReviewItem>, EngineError> {
        match read_id(id) {
            Some(id) => Ok(self.store.review_item(id).await?),
            None => Ok(None),
        }
    }

    /// Takes a person's word about an item of the review.
    pub async fn resolve(
        &self,
        id: &str,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        match self.review_item(id).await? {
            Some(item) if grounds.amount.is_some() && !takes_amount(&item, &verdict) => refused(format!(
                "a sum is told of a payment that was charged, and of nothing else: that of {id} is known"
            )),
            None => {
                refused(format!("{id} does not wait for a person: `payonce review list` shows what does"))
            }
            Some(ReviewItem::Operation { intent, operation, .. }) => match &operation.task {
                Task::Pay => self.resolve_intent(&intent.tenant, intent.id, verdict, grounds).await,
                Task::FollowUp(_) => {
                    self.resolve_follow_up(&intent.tenant, operation.id, verdict, grounds).await
                }
            },
            Some(ReviewItem::Extra(charge)) => self.resolve_extra(&charge, verdict, grounds).await,
            Some(ReviewItem::Stranger(stranger)) => self.resolve_stranger(&stranger, verdict, grounds).await,
        }
    }
}

/// Whether how much it took may be what a person has to tell.
fn takes_amount(item: &ReviewItem, verdict: &Verdict) -> bool {
    let is_payment =
        matches!(item, ReviewItem::Operation { operation, .. } if matches!(operation.task, Task::Pay));
    is_payment && matches!(verdict, Verdict::Charged(_))
}

/// How long until then, for a person.
fn waiting(until: Timestamp, now: Timestamp) -> String {
    let minutes = until.since_ms(now).max(0) / 60_000 + 1;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn read_id(text: &str) -> Option<ReviewId> {
    let intent = text.parse().map(ReviewId::Intent);
    let operation = || text.parse().map(ReviewId::Operation);
    intent.or_else(|_| operation()).ok().or_else(|| ObjectId::parse(text).ok().map(ReviewId::Object))
}

/// What a person calls an item by.
pub fn item_id(item: &ReviewItem) -> String {
    match item {
        ReviewItem::Operation { intent, operation, .. } => match &operation.task {
            Task::Pay => intent.id.to_string(),
            Task::FollowUp(_) => operation.id.to_string(),
        },
        ReviewItem::Extra(charge) => charge.object.to_string(),
        ReviewItem::Stranger(stranger) => stranger.object.to_string(),
    }
}
