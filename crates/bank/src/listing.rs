//! Which page of a listing is asked for. A filter that the bank does not know is refused: a listing that silently
//! says more than was asked would be false evidence.

use std::str::FromStr;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::payments::Status;
use crate::refusal::Refusal;

const DEFAULT_LIMIT: i64 = 10;
const MAX_LIMIT: i64 = 100;
const NANOS_PER_MS: i128 = 1_000_000;

/// A page of a listing, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub created: Span,
    /// Of payments; none where any will do, those without money too.
    pub captured: Option<Span>,
    pub status: Option<Status>,
    pub payment_method: Option<String>,
    pub payment_id: Option<String>,
    pub limit: i64,
    /// The id of the last object already given.
    pub cursor: Option<String>,
    /// Only what stands behind this (created, sequence) in the listing.
    pub before: (i64, i64),
}

/// From which millisecond on, and before which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub from_ms: i64,
    pub to_ms: i64,
}

impl Span {
    const EVER: Self = Self { from_ms: i64::MIN, to_ms: i64::MAX };

    /// Keeps to one more bound; what is wrong with it.
    fn narrow(&mut self, bound: &str, time: &str) -> Result<(), &'static str> {
        match bound {
            "gte" => self.from_ms = self.from_ms.max(first_ms_from(time).ok_or(TIME)?),
            "gt" => self.from_ms = self.from_ms.max(first_ms_after(time).ok_or(TIME)?),
            "lt" => self.to_ms = self.to_ms.min(first_ms_from(time).ok_or(TIME)?),
            "lte" => self.to_ms = self.to_ms.min(first_ms_after(time).ok_or(TIME)?),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }
}

/// What is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Payments,
    Refunds,
}

impl Page {
    /// Reads a query string.
    pub fn parse(listed: Listed, query: &str) -> Result<Self, Refusal> {
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query)
            .map_err(|_| Refusal::invalid("query", "The query string cannot be read"))?;
        let mut page = Self {
            created: Span::EVER,
            captured: None,
            status: None,
            payment_method: None,
            payment_id: None,
            limit: DEFAULT_LIMIT,
            cursor: None,
            before: (i64::MAX, i64::MAX),
        };
        for (name, value) in pairs {
            page.restrict(listed, &name, value)?;
        }
        Ok(page)
    }

    fn restrict(&mut self, listed: Listed, name: &str, value: String) -> Result<(), Refusal> {
        let wrong = |what: &str| Refusal::invalid(name, what);
        match name.split_once('.') {
            Some(("created_at", bound)) => return self.created.narrow(bound, &value).map_err(wrong),
            Some(("captured_at", bound)) if listed == Listed::Payments => {
                return self.captured.get_or_insert(Span::EVER).narrow(bound, &value).map_err(wrong);
            }
            Some(_) | None => {}
        }
        match name {
            "status" => self.status = Some(Status::named(&value).ok_or_else(|| wrong("Unknown status"))?),
            "payment_method" if listed == Listed::Payments => self.payment_method = Some(value),
            "payment_id" if listed == Listed::Refunds => self.payment_id = Some(value),
            "cursor" => self.cursor = Some(value),
            "limit" => {
                let limit = i64::from_str(&value).ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                self.limit = limit.ok_or_else(|| wrong("A number from 1 to 100 is wanted"))?;
            }
            _ => return Err(wrong(UNKNOWN)),
        }
        Ok(())
    }

    /// `{"type":"list",…}` of the rows found, one of which may be of the next page.
    pub fn render(&self, mut items: Vec<Value>) -> Value {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let cursor = items.last().map(|item| item["id"].clone()).filter(|_| more);
        let mut list = json!({ "type": "list", "items": items });
        if let Some(cursor) = cursor {
            list["next_cursor"] = cursor;
        }
        list
    }
}

const TIME: &str = "An RFC 3339 time is wanted";
const UNKNOWN: &str = "The sandbox does not know this filter";

/// The first whole millisecond not before `text`.
fn first_ms_from(text: &str) -> Option<i64> {
    let nanos = text.parse::<Timestamp>().ok()?.as_nanosecond();
    i64::try_from((nanos + NANOS_PER_MS - 1).div_euclid(NANOS_PER_MS)).ok()
}

/// The first whole millisecond after `text`.
fn first_ms_after(text: &str) -> Option<i64> {
    let nanos = text.parse::<Timestamp>().ok()?.as_nanosecond();
    i64::try_from(nanos.div_euclid(NANOS_PER_MS) + 1).ok()
}
