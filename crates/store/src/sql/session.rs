//! Statements in, rows out, without naming a database: a few kinds of values are all that the tables hold.

use async_trait::async_trait;
use uuid::Uuid;

use crate::StoreError;

/// A parameter or a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// NULL, of a column of any type.
    Null,
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(String),
    /// BYTEA, BLOB.
    Bytes(Vec<u8>),
    /// UUID; SQLite keeps its 16 bytes.
    Uuid(Uuid),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Uuid> for Value {
    fn from(value: Uuid) -> Self {
        Self::Uuid(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row, read from the left: each statement lists its columns, and the reader takes them in that order.
pub(crate) struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub(crate) fn new(columns: Vec<Value>) -> Self {
        Self(columns.into_iter())
    }

    fn next(&mut self) -> Result<Value, StoreError> {
        self.0.next().ok_or_else(|| unreadable("a column is missing"))
    }

    /// The next column, a BIGINT.
    pub(crate) fn int(&mut self) -> Result<i64, StoreError> {
        self.int_opt()?.ok_or_else(|| unreadable("a BIGINT is null"))
    }

    /// The next column, a BIGINT or null.
    pub(crate) fn int_opt(&mut self) -> Result<Option<i64>, StoreError> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            Value::Text(_) | Value::Bytes(_) | Value::Uuid(_) => Err(unreadable("a column is not a BIGINT")),
        }
    }

    /// The next column, a TEXT.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.text_opt()?.ok_or_else(|| unreadable("a TEXT is null"))
    }

    /// The next column, a TEXT or null.
    pub(crate) fn text_opt(&mut self) -> Result<Option<String>, StoreError> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            Value::Int(_) | Value::Bytes(_) | Value::Uuid(_) => Err(unreadable("a column is not a TEXT")),
        }
    }

    /// The next column, bytes.
    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        self.bytes_opt()?.ok_or_else(|| unreadable("bytes are null"))
    }

    /// The next column, bytes or null.
    pub(crate) fn bytes_opt(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Bytes(value) => Ok(Some(value)),
            Value::Uuid(value) => Ok(Some(value.as_bytes().to_vec())),
            Value::Int(_) | Value::Text(_) => Err(unreadable("a column does not hold bytes")),
        }
    }

    /// The next column, a UUID.
    pub(crate) fn uuid(&mut self) -> Result<Uuid, StoreError> {
        self.uuid_opt()?.ok_or_else(|| unreadable("a UUID is null"))
    }

    /// The next column, a UUID or null.
    pub(crate) fn uuid_opt(&mut self) -> Result<Option<Uuid>, StoreError> {
        let bytes = self.bytes_opt()?;
        bytes
            .map(|bytes| Uuid::from_slice(&bytes).map_err(|_| unreadable("a UUID has not 16 bytes")))
            .transpose()
    }

    /// The next column, parsed.
    pub(crate) fn parsed<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        self.parsed_opt(parse)?.ok_or_else(|| unreadable("a TEXT is null"))
    }

    /// The same, or null.
    pub(crate) fn parsed_opt<T>(
        &mut self,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.text_opt()? else { return Ok(None) };
        // The text may be personal; its length is enough to find the row.
        parse(&text)
            .map(Some)
            .ok_or_else(|| unreadable(&format!("a text of {} bytes is none of this version's", text.len())))
    }
}

pub(crate) fn unreadable(what: &str) -> StoreError {
    StoreError::Unreadable(what.to_owned())
}

/// How a statement failed.
#[derive(Debug)]
pub(crate) enum SessionError {
    /// A unique index has the row already.
    Conflict,
    /// Anything else.
    Failed(StoreError),
}

/// An open transaction of some database.
#[async_trait]
pub(crate) trait Session: Send {
    /// Runs a statement; the number of rows it changed.
    async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, SessionError>;

    /// Runs a query; its rows.
    async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, SessionError>;

    /// Whether rows have to be locked one by one. SQLite has one writer at a time, and no such clause.
    fn locks_rows(&self) -> bool;

    /// The database's clock.
    async fn now_ms(&mut self) -> Result<i64, SessionError>;
}
