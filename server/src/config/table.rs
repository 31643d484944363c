//! Reads a TOML table key by key and remembers what nobody asked for, so that a misspelt key is refused with its place. Keeps
//! every message free of values that may be secret, which the messages of a derived deserialiser are not.

use std::{cell::RefCell, fmt, path::Path};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    problem::{Origin, Problem},
    values::Allowed,
};

/// The file being read, and what was found wrong in it so far.
pub struct Document<'d> {
    path: &'d Path,
    text: &'d str,
    problems: RefCell<Vec<Problem>>,
}

impl<'d> Document<'d> {
    /// A file and what it says.
    pub fn new(path: &'d Path, text: &'d str) -> Self {
        Self { path, text, problems: RefCell::default() }
    }

    /// The whole of it; empty when it is not TOML, which is noted.
    pub fn parse(&self) -> DeTable<'d> {
        let complain = |error: toml::de::Error| {
            // The error's own text repeats the line, and there may be a secret in it.
            let origin = self.place(error.span().map_or(0, |span| span.start));
            self.complain(Problem::at(&origin, format_args!("this is not TOML: {}", error.message())));
        };
        DeTable::parse(self.text).map_err(complain).map(Spanned::into_inner).unwrap_or_default()
    }

    /// What was found wrong.
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// The place of a byte.
    pub fn place(&self, byte: usize) -> Origin {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Origin::File {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// Notes what is wrong.
    pub fn complain(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }
}

/// A text from the file, with its place.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub value: String,
    /// Where it stands.
    pub origin: Origin,
}

/// How a text's value may appear in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As it is.
    Openly,
    /// Not at all.
    Never,
}

/// A table of the file.
pub struct Table<'d> {
    document: &'d Document<'d>,
    entries: &'d DeTable<'d>,
    /// What keys in messages begin with: `merchant[1].`.
    prefix: String,
    /// Where the table begins.
    origin: Origin,
    asked: Vec<String>,
}

impl<'d> Table<'d> {
    /// The whole document.
    pub fn root(document: &'d Document<'d>, entries: &'d DeTable<'d>) -> Self {
        Self::new(document, entries, String::new(), 0)
    }

    fn new(document: &'d Document<'d>, entries: &'d DeTable<'d>, prefix: String, byte: usize) -> Self {
        Self { document, entries, prefix, origin: document.place(byte), asked: Vec::new() }
    }

    /// Where the table begins.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// A key as messages name it.
    pub fn name(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Notes what is wrong with one of its values.
    pub fn complain(&self, problem: Problem) {
        self.document.complain(problem);
    }

    fn ask(&mut self, key: &str) -> Option<&'d Spanned<DeValue<'d>>> {
        self.asked.push(key.to_owned());
        self.entries.get(key)
    }

    fn wrong_kind(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let origin = self.document.place(value.span().start);
        let found = kind(value.get_ref());
        self.complain(Problem::at(&origin, format_args!("{} is {found}; allowed: {wanted}", self.name(key))));
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// A text.
    pub fn text(&mut self, key: &str) -> Option<Text> {
        let value = self.ask(key)?;
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_kind(key, value, "a text in quotes");
            return None;
        };
        Some(Text { value: text.to_owned(), origin: self.document.place(value.span().start) })
    }

    /// A number, or a text in its place.
    pub fn text_or_number(&mut self, key: &str) -> Option<Text> {
        let is_number = self.entries.get(key).is_some_and(|value| number(value.get_ref()).is_some());
        if is_number { self.number(key, "a number") } else { self.text(key) }
    }

    /// A number, as the file writes it.
    pub fn number(&mut self, key: &str, wanted: &str) -> Option<Text> {
        let value = self.ask(key)?;
        let Some(number) = number(value.get_ref()) else {
            self.wrong_kind(key, value, wanted);
            return None;
        };
        Some(Text { value: number, origin: self.document.place(value.span().start) })
    }

    /// A text read by `parse`; what is wrong is noted.
    pub fn parsed<T, A: fmt::Display>(
        &mut self,
        key: &str,
        shown: Shown,
        parse: impl FnOnce(&str) -> Result<T, A>,
    ) -> Option<T> {
        let text = self.text(key)?;
        match (parse(&text.value), shown) {
            (Ok(value), _) => return Some(value),
            (Err(allowed), Shown::Openly) => {
                self.complain(Problem::value(&text.origin, &self.name(key), &text.value, allowed));
            }
            (Err(allowed), Shown::Never) => {
                self.complain(Problem::secret(&text.origin, &self.name(key), allowed));
            }
        }
        None
    }

    /// As [`Table::parsed`]; a missing key is noted too.
    pub fn required<T, A: fmt::Display>(
        &mut self,
        key: &str,
        shown: Shown,
        parse: impl FnOnce(&str) -> Result<T, A>,
    ) -> Option<T> {
        if !self.has(key) {
            self.complain(Problem::at(&self.origin, format_args!("{} is missing", self.name(key))));
        }
        self.parsed(key, shown, parse)
    }

    /// A list of texts, each read by `parse`; none when the key is missing.
    pub fn list<T>(&mut self, key: &str, parse: impl Fn(&str) -> Result<T, Allowed>) -> Vec<T> {
        let Some(value) = self.ask(key) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_kind(key, value, "a list in brackets");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.item(key, item, &parse)).collect()
    }

    fn item<T>(
        &self,
        key: &str,
        item: &Spanned<DeValue<'_>>,
        parse: impl Fn(&str) -> Result<T, Allowed>,
    ) -> Option<T> {
        let Some(text) = item.get_ref().as_str() else {
            self.wrong_kind(key, item, "a list of texts in quotes");
            return None;
        };
        let origin = self.document.place(item.span().start);
        let problem = |allowed| self.complain(Problem::value(&origin, &self.name(key), text, allowed));
        parse(text).map_err(problem).ok()
    }

    /// A table in the table.
    pub fn table(&mut self, key: &str) -> Option<Table<'d>> {
        let value = self.ask(key)?;
        let Some(entries) = value.get_ref().as_table() else {
            self.wrong_kind(key, value, "a table");
            return None;
        };
        Some(Table::new(self.document, entries, format!("{}{key}.", self.prefix), value.span().start))
    }

    /// The tables of an array, `[[key]]` in the file.
    pub fn tables(&mut self, key: &str) -> Vec<Table<'d>> {
        let Some(value) = self.ask(key) else { return Vec::new() };
        let wanted = format!("[[{key}]], a list of tables");
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_kind(key, value, &wanted);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.get_ref().as_table() {
                Some(entries) => {
                    let prefix = format!("{}{key}[{}].", self.prefix, index + 1);
                    tables.push(Table::new(self.document, entries, prefix, item.span().start));
                }
                None => self.wrong_kind(key, item, &wanted),
            }
        }
        tables
    }

    /// Refuses every key that was not asked for.
    pub fn refuse_others(&self, allowed: &[&str]) {
        for key in self.entries.keys() {
            if !self.asked.iter().any(|asked| asked == key.get_ref()) {
                let origin = self.document.place(key.span().start);
                let name = self.name(&key.get_ref().escape_debug().to_string());
                let allowed = allowed.join(", ");
                self.complain(Problem::at(
                    &origin,
                    format_args!("{name} is not a known key; allowed: {allowed}"),
                ));
            }
        }
    }
}

/// A number as the file writes it.
fn number(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::String(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
