//! `payonce review`: what waits for a person, the story of a payment in words (R24), and a person's word. Beside a running server.

mod choices;
mod list;
mod story;
mod words;

use std::{collections::HashSet, process::ExitCode};

use anyhow::{Context, Result, anyhow, bail};
use engine::{Engine, Grounds, Resolved, Verdict};
use payment::ObjectId;
use store::{ChargeRecord, ReviewItem};

use crate::{
    cli::{ReviewCommand, VerdictFlags},
    config::{Config, Database, Settings},
    setup,
};

/// Most webhooks and mails that are listed as not delivered.
const MAX_UNDELIVERED: u32 = 100;
/// Longest reason or evidence.
const MAX_TEXT_CHARS: usize = 1_000;

/// Does it; 1 where it was refused or nothing was found.
pub async fn run(config: Config, command: ReviewCommand) -> Result<ExitCode> {
    // What the file says about merchants is for the server to write.
    let config = Config { settings: Settings { merchants: Vec::new(), ..config.settings }, ..config };
    // One that is not there would be made, empty, and nothing would ever wait in it.
    let Database::Sqlite(path) = &config.database;
    if !path.exists() {
        bail!(
            "there is no database {}: set PAYONCE_DATA or PAYONCE_DATABASE_URL to the server's",
            path.display()
        );
    }
    let engine = setup::engine(&config).await?;
    match command {
        ReviewCommand::List => list(&engine).await,
        ReviewCommand::Show { id } => show(&engine, &id).await,
        ReviewCommand::Resolve { id, verdict, reason, evidence, amount } => {
            let (reason, evidence) = (text(reason)?, evidence.map(text).transpose()?);
            let grounds = Grounds { reason, evidence, amount };
            resolve(&engine, &id, said(verdict)?, &grounds).await
        }
    }
}

async fn list(engine: &Engine) -> Result<ExitCode> {
    let undelivered = engine.store.undelivered_effects(MAX_UNDELIVERED).await?;
    let review = engine.review().await?;
    let mut alone = HashSet::new();
    for item in &review.items {
        if let ReviewItem::Extra(extra) = item
            && let Some(story) = engine.store.story(extra.tenant.clone(), extra.intent).await?
            && ChargeRecord::paying(&story.charges).is_some_and(ChargeRecord::went_back)
        {
            alone.insert(extra.object.clone());
        }
    }
    print!("{}", list::text(&review, &alone, &undelivered));
    Ok(ExitCode::SUCCESS)
}

async fn show(engine: &Engine, id: &str) -> Result<ExitCode> {
    let Some(text) = story::text(engine, id).await? else {
        eprintln!("payonce: there is no payment, checkout, operation, object or order {id}");
        return Ok(ExitCode::FAILURE);
    };
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn said(flags: VerdictFlags) -> Result<Verdict> {
    let VerdictFlags { charged, not_charged, executed, not_executed, refund_extra } = flags;
    match (charged, executed) {
        (Some(object), _) => Ok(Verdict::Charged(object_id(&object)?)),
        (None, Some(object)) => Ok(Verdict::Executed(object_id(&object)?)),
        (None, None) if not_charged => Ok(Verdict::NotCharged),
        (None, None) if not_executed => Ok(Verdict::NotExecuted),
        (None, None) if refund_extra => Ok(Verdict::RefundExtra),
        (None, None) => Err(anyhow!("say what you found: one of the options of --help")),
    }
}

async fn resolve(engine: &Engine, id: &str, verdict: Verdict, grounds: &Grounds) -> Result<ExitCode> {
    match engine.resolve(id, verdict, grounds).await? {
        Resolved::Done(words) => {
            println!("{words}");
            Ok(ExitCode::SUCCESS)
        }
        Resolved::Refused(words) => {
            eprintln!("payonce: not done: {words}");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn object_id(text: &str) -> Result<ObjectId> {
    ObjectId::parse(text).with_context(|| format!("{text:?} is no provider's object"))
}

/// A text for the journal: there has to be one, and it has an end.
fn text(text: String) -> Result<String> {
    let text = text.trim();
    let fits =
        !text.is_empty() && text.chars().count() <= MAX_TEXT_CHARS && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
        .ok_or_else(|| anyhow!("--reason and --evidence take 1 to {MAX_TEXT_CHARS} characters on one line"))
}
