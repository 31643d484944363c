//! Where a setting's value comes from: its flag, else its variable, else the file. An empty value is a value, and mostly a wrong one.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use super::{
    Problem, Setting, file,
    problem::Origin,
    table::Text,
    values::{self, Allowed},
};
use crate::cli::Flags;

/// The process's environment, or a test's.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// What was given, where.
pub struct Sources<'s> {
    flags: &'s Flags,
    environment: Environment<'s>,
    file: BTreeMap<Setting, Text>,
    /// What is wrong so far.
    pub problems: Vec<Problem>,
}

impl<'s> Sources<'s> {
    /// Flags and environment.
    pub fn new(flags: &'s Flags, environment: Environment<'s>) -> Self {
        Self { flags, environment, file: BTreeMap::new(), problems: Vec::new() }
    }

    /// The path and text of the file that is named; both empty when none is.
    pub fn file_text(&mut self) -> (PathBuf, String) {
        let Some(path) = self.optional(Setting::Config, values::path) else { return Default::default() };
        let text = file::load(&path).map_err(|problem| self.problems.push(problem));
        (path, text.unwrap_or_default())
    }

    /// Adds what the file says.
    pub fn add_file(&mut self, file: BTreeMap<Setting, Text>) {
        self.file = file;
    }

    fn given(&mut self, setting: Setting) -> Option<Text> {
        if let Some(value) = self.flags.given(setting) {
            return Some(Text { value: value.to_owned(), origin: Origin::Flag });
        }
        match (self.environment)(setting.variable()).map(OsString::into_string) {
            Some(Ok(value)) => Some(Text { value, origin: Origin::Environment }),
            Some(Err(_)) => {
                let text = format!("{} is not UTF-8; allowed: text", setting.variable());
                self.problems.push(Problem::at(&Origin::Environment, text));
                None
            }
            None => self.file.get(&setting).cloned(),
        }
    }

    /// A value, when there is one. A wrong one is noted.
    pub fn optional<T>(&mut self, setting: Setting, parse: fn(&str) -> Result<T, Allowed>) -> Option<T> {
        let Text { value, origin } = self.given(setting)?;
        let problem = |allowed| self.problems.push(Problem::setting(&origin, setting, &value, allowed));
        parse(&value).map_err(problem).ok()
    }

    /// A value or its default. A wrong one is noted, and the default stands in for it.
    pub fn or_default<T>(
        &mut self,
        setting: Setting,
        parse: fn(&str) -> Result<T, Allowed>,
        default: impl FnOnce() -> T,
    ) -> T {
        self.optional(setting, parse).unwrap_or_else(default)
    }
}

/// The environment of this process.
pub fn process_environment(variable: &str) -> Option<OsString> {
    std::env::var_os(variable)
}
