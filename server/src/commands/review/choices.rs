//! What a person can say about what waits: only what is not refused out of hand, and why the rest is. Asks no provider.

use std::fmt::Write;

use crate::answers::rfc3339;
use anyhow::Result;
use engine::{Engine, Unaskable};
use payment::{IntentId, ObjectId, OperationKind, State};
use store::{ChargeRecord, IntentRecord, OperationRecord, Stage, Story, StrangerRecord, Task};

#[derive(Default)]
struct Choices(String);

impl Choices {
    fn offer(&mut self, id: &str, verdict: &str, meaning: &str) {
        let _infallible =
            write!(self.0, "\n  payonce review resolve {id} {verdict} --reason TEXT\n      {meaning}");
    }

    fn note(&mut self, words: &str) {
        let _infallible = write!(self.0, "\n  {words}");
    }

    fn text(self) -> String {
        if self.0.is_empty() {
            return "Nothing waits for a person here.".to_owned();
        }
        format!("What you can do:{}", self.0)
    }
}

/// About a payment, its captures, cancels and refunds, and what was taken besides.
pub(super) async fn of_payment(engine: &Engine, intent: &IntentRecord, story: &Story) -> Result<String> {
    let mut choices = Choices::default();
    if let State::NeedsReview { object, suspects, .. } = &intent.state {
        let others =
            suspects.iter().map(|suspect| &suspect.object).filter(|other| object.as_ref() != Some(other));
        let objects: Vec<_> = object.iter().chain(others).collect();
        payment(engine, &mut choices, intent.id, &objects, &story.operation).await?;
    }
    for row in story.follow_ups.iter().filter(|row| row.stage == Stage::Review) {
        follow_up(engine, &mut choices, row).await?;
    }
    let gone = ChargeRecord::paying(&story.charges).is_some_and(ChargeRecord::went_back);
    for charge in story.charges.iter().filter(|charge| charge.is_open_extra()) {
        if charge.reserved_minor > 0 {
            choices.note(&format!(
                "{} is being given back: nothing can be said of it until that refund is over, or waits for a person itself.",
                charge.object
            ));
        } else if engine.can_refund(charge).await? {
            let object = charge.object.as_str();
            if !gone {
                choices.offer(object, "--refund-extra", "give it back");
            }
            let elsewhere =
                "it was given back in the provider's dashboard, by this refund (the provider is asked first)";
            choices.offer(object, "--executed REFUND", elsewhere);
            let returned = "nothing of it is left: all of it was given back, or the bank took it back (the provider is asked first)";
            choices.offer(object, "--not-charged", returned);
            let kept = "it stays, and pays the order: what had paid went back (the provider is asked first)";
            choices.offer(object, &format!("--charged {object}"), kept);
        } else {
            choices.note(&format!(
                "{} can be given back in the dashboard of account {} alone: nobody here has its secret any more",
                charge.object,
                charge.account.as_str()
            ));
            let returned = "nothing of it is left: all of it was given back, or the bank took it back";
            choices.offer(charge.object.as_str(), "--not-charged --evidence TEXT", returned);
        }
    }
    Ok(choices.text())
}

/// About money that no payment of ours asked for.
pub(super) async fn of_stranger(engine: &Engine, stranger: &StrangerRecord) -> Result<String> {
    let (mut choices, object) = (Choices::default(), stranger.object.as_str());
    if !stranger.took_money && engine.can_ask_about(stranger).await? {
        let over_at = rfc3339(engine.is_over_at(stranger));
        choices.note(&format!(
            "It took no money yet: nothing can be said of it before it does, or ends. Where the provider does not show it any more, \
             --not-charged --evidence TEXT counts from {over_at} on."
        ));
        return Ok(choices.text());
    }
    match engine.payable_by(stranger).await? {
        Ok(_) => choices.offer(
            object,
            &format!("--charged {object}"),
            "it pays that order (the provider is asked first)",
        ),
        Err(why) => choices.note(&format!("It can pay no order now: {why}.")),
    }
    let released = "it has nothing to do with us: no order is held up by it";
    choices.offer(object, "--not-charged", released);
    Ok(choices.text())
}

async fn payment(
    engine: &Engine,
    choices: &mut Choices,
    id: IntentId,
    objects: &[&ObjectId],
    row: &OperationRecord,
) -> Result<()> {
    let id = id.to_string();
    let mut charged: Vec<_> = objects.iter().map(|object| format!("--charged {object}")).collect();
    if charged.is_empty() {
        charged.push("--charged OBJECT".to_owned());
    }
    let paid = "this object of the provider took the money: the order is paid";
    let unpaid = "no money was taken, or all of it was given back: the order can be paid again";
    match engine.unaskable(row).await? {
        None => {
            for charged in charged {
                choices.offer(&id, &charged, &format!("{paid} (it is asked first)"));
            }
            choices.offer(&id, "--not-charged", &format!("{unpaid} (refused until that is proved)"));
        }
        Some(Unaskable::ByAnybody(why)) => {
            choices.note(&format!("{why}; so evidence decides"));
            for charged in charged {
                choices.offer(&id, &format!("{charged} --evidence TEXT --amount SUM"), paid);
            }
            let refused = format!("{unpaid} (refused until no request can be executed any more)");
            choices.offer(&id, "--not-charged --evidence TEXT", &refused);
        }
        Some(Unaskable::FromHere(why)) => choices.note(&format!("{id} cannot be ended from here: {why}.")),
    }
    Ok(())
}

async fn follow_up(engine: &Engine, choices: &mut Choices, row: &OperationRecord) -> Result<()> {
    let id = row.id.to_string();
    let object = match (row.task.kind(), &row.object, &row.task) {
        (OperationKind::Refund, Some(refund), _) => refund.as_str(),
        (OperationKind::Refund, None, _) | (_, _, Task::Pay) => "REFUND",
        (_, _, Task::FollowUp(follow_up)) => follow_up.target.as_str(),
    };
    let executed = format!("--executed {object}");
    match engine.unaskable(row).await? {
        None => {
            choices.offer(&id, &executed, "it was done (the provider is asked first)");
            choices.offer(&id, "--not-executed", "it was not done (refused until that is proved)");
        }
        Some(Unaskable::ByAnybody(why)) => {
            choices.note(&format!("{why}; so evidence decides"));
            choices.offer(&id, &format!("{executed} --evidence TEXT"), "it was done");
            let refused = "it was not done (refused until no request can be executed any more)";
            choices.offer(&id, "--not-executed --evidence TEXT", refused);
        }
        Some(Unaskable::FromHere(why)) => choices.note(&format!("{id} cannot be ended from here: {why}.")),
    }
    Ok(())
}
