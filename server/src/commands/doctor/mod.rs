//! `payonce doctor`: one line for each thing an operator should know: ok, or what is wrong and what to do. Changes nothing, and
//! shows no secret.

mod database;
mod folder;
mod mails;
mod provider;

use std::process::ExitCode;

use crate::config::{ConfigError, Settings};

/// What a check found.
enum Finding {
    /// Nothing to do.
    Ok(String),
    /// It could not be told.
    Unknown(String),
    /// Something to do.
    Wrong {
        /// What is wrong.
        what: String,
        /// How to put it right.
        remedy: String,
    },
}

impl Finding {
    fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Wrong { what: what.into(), remedy: remedy.into() }
    }
}

/// One line of the report.
struct Check {
    name: String,
    finding: Finding,
}

impl Check {
    fn new(name: impl Into<String>, finding: Finding) -> Self {
        Self { name: name.into(), finding }
    }

    fn is_wrong(&self) -> bool {
        matches!(self.finding, Finding::Wrong { .. })
    }

    fn line(&self) -> String {
        let name = &self.name;
        match &self.finding {
            Finding::Ok(text) => format!("ok       {name}: {text}"),
            Finding::Unknown(text) => format!("unknown  {name}: {text}"),
            Finding::Wrong { what, remedy } => format!("WRONG    {name}: {what}; to do: {remedy}"),
        }
    }
}

/// Checks everything that can be checked with these settings and prints what it finds.
pub async fn run(settings: Result<Settings, ConfigError>) -> ExitCode {
    let checks = match settings {
        Ok(settings) => check(&settings).await,
        Err(ConfigError(problems)) => {
            let problem = |problem: &crate::config::Problem| {
                Check::new(
                    "configuration",
                    Finding::wrong(problem.to_string(), "set one of the allowed values"),
                )
            };
            problems.iter().map(problem).collect()
        }
    };
    checks.iter().for_each(|check| println!("{}", check.line()));
    match checks.iter().filter(|check| check.is_wrong()).count() {
        0 => ExitCode::SUCCESS,
        wrong => {
            println!("{wrong} of {} checks found something wrong", checks.len());
            ExitCode::FAILURE
        }
    }
}

async fn check(settings: &Settings) -> Vec<Check> {
    let mut checks = vec![Check::new("configuration", Finding::Ok(summary(settings)))];
    checks.push(Check::new("folder", folder::check(&settings.data)));
    let (secret, finding) = folder::secret(settings);
    checks.push(Check::new("secret", finding));
    let (finding, is_usable) = database::check(settings).await;
    checks.push(Check::new("database", finding));
    let mut accounts = provider::configured(settings);
    if let (true, Some(secret)) = (is_usable, secret) {
        match database::accounts(settings, secret).await {
            Ok(stored) => provider::add_stored(&mut accounts, stored),
            Err(finding) => checks.push(Check::new("merchants", finding)),
        }
    }
    checks.extend(provider::check(&accounts).await);
    checks.push(Check::new("mails", mails::check(settings).await));
    checks
}

fn summary(settings: &Settings) -> String {
    let merchants = settings.merchants.len();
    format!(
        "listens on {}, known as {}, {merchants} merchants in the file",
        settings.listen, settings.public_url
    )
}

/// An error with its causes, in one line.
fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text.replace('\n', " ")
}
