//! What is wrong with the configuration, as the operator reads it: where, what, and what is allowed. Never shows a secret.

use std::{fmt, path::PathBuf};

use super::Setting;

/// Longest value repeated in a message, in characters.
const MAX_SHOWN_CHARS: usize = 100;

/// Where a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By a flag.
    Flag,
    /// By an environment variable.
    Environment,
    /// In the TOML file.
    File {
        /// The file.
        path: PathBuf,
        /// Counts from 1.
        line: usize,
        /// Counts from 1, in characters.
        column: usize,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Environment => f.write_str("environment"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(String);

impl Problem {
    /// Of no single value.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// At a place in the file.
    pub fn at(origin: &Origin, text: impl fmt::Display) -> Self {
        Self(format!("{origin}: {text}"))
    }

    /// A value that may be shown.
    pub fn value(origin: &Origin, name: &str, value: &str, allowed: impl fmt::Display) -> Self {
        Self::at(origin, format_args!("{name} is {}; allowed: {allowed}", shown(value)))
    }

    /// A value that may not be shown.
    pub fn secret(origin: &Origin, name: &str, allowed: impl fmt::Display) -> Self {
        Self::at(origin, format_args!("{name} (a secret, not shown here) is not usable; allowed: {allowed}"))
    }

    /// A setting's value, shown or not as the setting demands.
    pub fn setting(origin: &Origin, setting: Setting, value: &str, allowed: impl fmt::Display) -> Self {
        let variable = setting.variable();
        let name = match origin {
            Origin::Flag => format!("{variable} ({})", setting.flag()),
            Origin::Environment | Origin::File { .. } => variable.to_owned(),
        };
        if setting.is_secret() {
            Self::secret(origin, &name, allowed)
        } else {
            Self::value(origin, &name, value, allowed)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything that is wrong, so that nobody has to start ten times to find ten mistakes.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be used:{}", lines(.0))]
pub struct ConfigError(pub Vec<Problem>);

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}

/// A value as a message may repeat it: quoted, of bearable length, and without what stands before an `@`, which in a URL is a
/// password.
fn shown(value: &str) -> String {
    let open = value.rfind('@').map_or(value, |at| &value[at..]);
    let hidden = if open.len() < value.len() { "…" } else { "" };
    let short: String = open.chars().take(MAX_SHOWN_CHARS).collect();
    let cut = if short.len() < open.len() { "…" } else { "" };
    format!("\"{hidden}{}{cut}\"", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_not_repeated() {
        assert_eq!(shown("http://user:canary@host/path"), "\"…@host/path\"");
        assert_eq!(shown("http://u:cana@ry@host"), "\"…@host\"");
    }

    #[test]
    fn a_value_stays_one_line() {
        assert_eq!(shown("a\n\"b\""), r#""a\n\"b\"""#);
        assert_eq!(shown(&"x".repeat(200)).chars().count(), MAX_SHOWN_CHARS + 3);
    }
}
