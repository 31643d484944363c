//! People: shoppers before their tabs and on the bank's page, and the shop; and what servers answer them.

use engine::{Accepted, CheckoutOutcome, IntentOutcome, Submission, SubmitOutcome};
use payment::{
    Capture, Currency, Fingerprint, IdempotencyKey, IntentId, KeyKind, Money, OperationKind, OrderId, State,
    StateName,
};
use providers::Method;
use store::{CheckoutRecord, IntentRecord, KeyUse, Tenant, Terms};

use crate::{
    bank::{Fate, Object, Status},
    check::Broken,
    choices::Choices,
    events::Deed,
    fault::{Fault, Rates},
    merchants,
    task::{Done, Job},
    time::DAY,
    wire::Order,
    world::{Shown, Size, World},
};

/// Whose order it is, and his name for it: two merchants may have the same.
pub(crate) fn order(size: &Size, number: usize) -> (Tenant, OrderId) {
    let order = OrderId::parse(format!("order-{}", number / size.merchants));
    let order = order.unwrap_or_else(|_| unreachable!("a short word"));
    (merchants::tenant(number % size.merchants), order)
}

/// What an order costs, before and after the shop changed its mind.
pub(crate) fn amount(dear: bool) -> Money {
    let rub = Currency::parse("RUB").unwrap_or_else(|_| unreachable!("a currency"));
    let minor = if dear { 170_000 } else { 150_000 };
    Money::from_minor(minor, rub).unwrap_or_else(|_| unreachable!("a sum"))
}

fn key(tenant: Tenant, kind: KeyKind, key: &str, fields: &[(&str, String)]) -> KeyUse {
    let fingerprint = Fingerprint::new(kind, fields);
    let key = IdempotencyKey::parse(key).unwrap_or_else(|_| unreachable!("a short word"));
    KeyUse { tenant, kind, key, fingerprint }
}

fn terms(order: OrderId, dear: bool, held: bool) -> Terms {
    Terms {
        order,
        amount: amount(dear),
        capture: if held { Capture::Manual } else { Capture::Automatic },
        description: None,
        return_url: None,
        email: Some("shopper@example.com".to_owned()),
        metadata: Default::default(),
        expires_in_ms: DAY,
    }
}

/// What becomes of a payment that is new at the bank.
pub(crate) fn fate(choices: &mut Choices, rates: &mut Rates, _: &Order, met: &mut Option<Fault>) -> Fate {
    let possible = [
        Fault::CardRefused,
        Fault::ThreeDs,
        Fault::Slow,
        Fault::RequestRefused,
        Fault::FallsIll,
        Fault::TakesAnotherSum,
    ];
    *met = rates.meet(choices, &possible);
    match met {
        Some(Fault::CardRefused) => Fate::Becomes(Status::Declined),
        Some(Fault::ThreeDs) => Fate::Becomes(Status::Pending),
        Some(Fault::Slow) => Fate::Becomes(Status::Slow),
        Some(Fault::RequestRefused) => Fate::Refused,
        Some(Fault::FallsIll) => Fate::FallsIll,
        Some(Fault::TakesAnotherSum) => Fate::TakesAnotherSum,
        Some(_) | None => Fate::Becomes(Status::Succeeded),
    }
}

/// What a shopper does.
pub(crate) fn happen(world: &mut World, tab: usize, deed: Deed) -> Result<(), Broken> {
    world.tabs[tab].deeds += 1;
    let (tenant, order) = order(&world.size, world.tabs[tab].order);
    if deed == Deed::Load {
        return ask(world, tab, Job::Load { tab, tenant, order });
    }
    let Some(shown) = world.tabs[tab].shown.clone() else { return Ok(()) };
    match deed {
        Deed::Load => Ok(()),
        Deed::Pay => pay(world, tab, tenant, &shown),
        Deed::TryAgain => try_again(world, tab, tenant, &shown),
        Deed::CheckNow => ask(world, tab, Job::CheckNow { tenant, intent: shown.intent }),
        Deed::Release => ask(world, tab, Job::Release { tenant, intent: shown.intent }),
        Deed::Confirm => {
            confirm(world, tab, &shown);
            Ok(())
        }
    }
}

/// The shop opens a checkout for an order, under a new key or its last one.
pub(crate) fn create(world: &mut World, number: usize) -> Result<(), Broken> {
    let dear = world.opened[number] > 0 && world.choices.happens(300);
    let again = world.opened[number] > 0 && world.choices.happens(500);
    if !again {
        world.keys += 1;
    }
    let text = format!("create-{}-{}", number / world.size.merchants, world.keys);
    let (tenant, order) = order(&world.size, number);
    let terms = terms(order, dear, world.size.held);
    let fields = [("order_id", terms.order.as_str().to_owned()), ("amount", amount(dear).to_string())];
    let key = key(tenant, KeyKind::CreateCheckout, &text, &fields);
    world.opened[number] += 1;
    world.story.tell(|| {
        let (shop, Terms { amount, order, .. }) = (&key.tenant.merchant, &terms);
        format!("the shop of {shop} opens a checkout of {amount} for {order} under the key {text}")
    });
    let Some(node) = world.some_ready_node() else { return Ok(()) };
    world.spawn(node, Job::Create(Box::new((key, terms))))
}

/// The shop takes held money or lets go of it, or gives some of what was taken back.
pub(crate) fn follow_up(world: &mut World, intent: IntentId) -> Result<(), Broken> {
    let Some(row) = world.rows.intents.values().find(|row| row.id == intent) else { return Ok(()) };
    let (whole, tenant) = (row.amount, row.tenant.clone());
    let (kind, amount) = if row.state.name() == StateName::Authorized {
        [(OperationKind::Capture, Some(whole)), (OperationKind::Cancel, None)][world.choices.one_of(2)]
    } else {
        // After a part has gone back, all of it is more than is left.
        let part_went =
            world.rows.charges.values().any(|charge| charge.intent == intent && charge.refunded_minor > 0);
        let all = part_went && world.rows.operations.len().is_multiple_of(2);
        (OperationKind::Refund, Some(if all { whole } else { part() }))
    };
    world.story.tell(|| format!("the shop asks for a {} of {intent}", kind.as_str()));
    let Some(node) = world.some_ready_node() else { return Ok(()) };
    world.spawn(node, Job::FollowUp { tenant, intent, kind, amount })
}

/// What support takes of a hold: what an order costs of one that is dear, less of another.
pub(crate) fn most_of(held: Money) -> Money {
    let less = amount(true).minor() - amount(false).minor();
    Money::from_minor(held.minor() - less, held.currency()).unwrap_or(held)
}

/// Two of these are less than what an order costs, three are more.
fn part() -> Money {
    let whole = amount(false);
    Money::from_minor(whole.minor() / 5 * 2, whole.currency()).unwrap_or(whole)
}

/// A tab asks a server.
fn ask(world: &mut World, tab: usize, job: Job) -> Result<(), Broken> {
    let fault = world.meet(&[Fault::PageRequestLost, Fault::PageRequestRepeated]);
    world.story.tell(|| {
        let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
        format!("tab {tab} asks a server, which {}{fault}", job.words())
    });
    if fault == Some(Fault::PageRequestLost) {
        return Ok(());
    }
    let own = world.size.deeds.and(Some(tab % world.nodes.len())).filter(|node| world.nodes[*node].ready);
    let Some(node) = own.or_else(|| world.some_ready_node()) else { return Ok(()) };
    world.tabs[tab].waits = job.tab().is_some();
    if fault.is_some()
        && let Some(other) = world.some_ready_node()
    {
        world.spawn(other, job.clone())?;
    }
    world.spawn(node, job)
}

/// Whose caller it says it is: whoever knows the other merchant's ids may name them, and is told nothing.
fn caller(world: &mut World, own: Tenant) -> Tenant {
    if world.size.merchants < 2 || world.meet(&[Fault::AnothersNamed]).is_none() {
        return own;
    }
    let other = usize::from(own == merchants::tenant(0));
    world.story.tell(|| format!("a caller of the other merchant names what is {}'s", own.merchant));
    merchants::tenant(other)
}

fn pay(world: &mut World, tab: usize, tenant: Tenant, shown: &Shown) -> Result<(), Broken> {
    let tenant = caller(world, tenant);
    world.tabs[tab].clicks += 1;
    let token = format!("tok-{tab}-{}", world.tabs[tab].clicks);
    let redirect = world.size.lively && world.choices.happens(300);
    let method = if redirect {
        Method::Redirect
    } else {
        world.bank.tokenize(token.clone(), world.time.real());
        Method::CardToken(token)
    };
    let fields = [
        ("payment_intent", shown.intent.to_string()),
        ("checkout_version", shown.version.to_string()),
        ("amount", shown.amount.to_string()),
    ];
    let submission = Submission {
        key: key(tenant, KeyKind::Submit, &shown.submit_key.to_string(), &fields),
        intent: shown.intent,
        version: shown.version,
        amount: shown.amount,
        method,
        lang: None,
        email: None,
    };
    ask(world, tab, Job::Submit { tab, submission: Box::new(submission) })
}

fn try_again(world: &mut World, tab: usize, tenant: Tenant, shown: &Shown) -> Result<(), Broken> {
    let tenant = caller(world, tenant);
    world.tabs[tab].clicks += 1;
    let text = format!("again-{tab}-{}", world.tabs[tab].clicks);
    let key = key(tenant, KeyKind::CreateIntent, &text, &[("checkout", shown.checkout.to_string())]);
    ask(world, tab, Job::TryAgain { tab, key: Box::new(key), checkout: shown.checkout })
}

/// The shopper is on the bank's page, and says yes or no.
fn confirm(world: &mut World, tab: usize, shown: &Shown) {
    let waits =
        |object: &Object| Some(&object.id) == shown.object.as_ref() && object.status == Status::Pending;
    let Some(index) = world.bank.objects.iter().position(waits) else { return };
    let refused = world.meet(&[Fault::CardRefused]).is_some();
    let held = world.size.held;
    world.story.tell(|| {
        format!(
            "the shopper of tab {tab} is on the bank's page and says {}",
            if refused { "no" } else { "yes" }
        )
    });
    let yes = if held { Status::Held } else { Status::Succeeded };
    world.object_moves(index, if refused { Status::Declined } else { yes });
}

fn shown(checkout: &CheckoutRecord, intent: &IntentRecord) -> Shown {
    Shown {
        checkout: checkout.id,
        intent: intent.id,
        version: checkout.version,
        amount: checkout.amount,
        submit_key: intent.submit_key,
        state: intent.state.name(),
        object: match &intent.state {
            State::RequiresAction { object, .. } => Some(object.clone()),
            State::Created
            | State::Processing { .. }
            | State::Confirming { .. }
            | State::Authorized { .. }
            | State::NeedsReview { .. }
            | State::Succeeded { .. }
            | State::Declined { .. }
            | State::Canceled { .. }
            | State::Expired { .. } => None,
        },
    }
}

/// A job is done.
pub(crate) fn finished(world: &mut World, node: usize, job: Job, done: Done) -> Result<(), Broken> {
    if let Some(tab) = job.tab() {
        world.tabs[tab].waits = false;
    }
    match (job, done) {
        (Job::Start, Done::Started(gated)) => {
            let gate = if gated { "; it waits for a sweep" } else { "" };
            world.story.tell(|| format!("server {node} is ready{gate}"));
            world.nodes[node].ready = true;
        }
        (Job::Start, Done::Failed(_)) => world.kill(node),
        (Job::Accept { body, tries, .. }, Done::Failed(_)) => world.notice_comes_again(body, tries),
        (Job::Accept { body, .. }, Done::Accepted(accepted)) => {
            if let Accepted::Committed(_) = accepted {
                world.checker.on_notice(&world.rows, &body)?;
            }
        }
        (Job::Create(asked), Done::Created(outcome)) => {
            if let CheckoutOutcome::Answer { answer, .. } = &outcome {
                world.checker.on_answer(&world.rows, &asked.0, answer)?;
            }
        }
        (Job::TryAgain { tab, key, .. }, Done::Tried(outcome)) => {
            if let IntentOutcome::Answer { answer, .. } = &outcome {
                world.checker.on_answer(&world.rows, &key, answer)?;
            }
            // The page loads again.
            world.tabs[tab].shown = None;
        }
        (job, Done::Driven(driven)) => hears(world, &job, &driven.checkout, &driven.intent)?,
        (job, Done::Submitted(outcome)) => submitted(world, &job, &outcome)?,
        (Job::Load { tab, .. }, Done::Loaded(found)) => {
            if let Some((checkout, intent)) = *found {
                hears(
                    world,
                    &Job::Load { tab, tenant: checkout.tenant.clone(), order: checkout.order.clone() },
                    &checkout,
                    &intent,
                )?;
            }
        }
        (_, Done::Claims(claims)) => {
            for claim in claims {
                world.story.tell(|| {
                    format!("server {node} drives {} ({:?})", claim.work.operation.id, claim.work.step)
                });
                world.spawn(node, Job::Drive(Box::new(claim)))?;
            }
        }
        (_, Done::Notices(notices)) => {
            for notice in notices {
                world.spawn(node, Job::Notice(Box::new(notice)))?;
            }
        }
        (_, Done::Effects(effects)) => {
            for effect in effects {
                world.spawn(node, Job::Deliver(Box::new(effect)))?;
            }
        }
        (_, Done::Resolved(resolved)) => world.story.tell(|| format!("a person is told: {resolved:?}")),
        (job, Done::Failed(error)) => {
            world.story.tell(|| format!("server {node}, which {}, fails: {error}", job.words()));
        }
        (_, _) => {}
    }
    Ok(())
}

/// What a submit is told where another was the first.
fn submitted(world: &mut World, job: &Job, outcome: &SubmitOutcome) -> Result<(), Broken> {
    let Job::Submit { tab, submission } = job else { return Ok(()) };
    match outcome {
        SubmitOutcome::Known { checkout, intent, answer } => {
            if let Some(answer) = answer {
                world.checker.on_answer(&world.rows, &submission.key, answer)?;
            }
            hears(world, job, checkout, intent)
        }
        SubmitOutcome::Claimed(_)
        | SubmitOutcome::KeyReused { .. }
        | SubmitOutcome::WrongKey
        | SubmitOutcome::NotFound
        | SubmitOutcome::Changed(_)
        | SubmitOutcome::Paid(_)
        | SubmitOutcome::NotOpen(_) => {
            // The page loads again.
            world.tabs[*tab].shown = None;
            Ok(())
        }
    }
}

/// A tab hears how its payment stands, unless the answer is lost.
fn hears(
    world: &mut World,
    job: &Job,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
) -> Result<(), Broken> {
    if let Job::Load { tenant, .. } = job {
        world.checker.on_show(tenant, checkout, intent)?;
    }
    if let Job::Submit { submission, .. } = job {
        world.checker.on_show(&submission.key.tenant, checkout, intent)?;
    }
    if intent.state.name() == StateName::Succeeded {
        world.checker.on_success(&world.bank, intent.id)?;
    }
    let Some(tab) = job.tab() else { return Ok(()) };
    if world.meet(&[Fault::PageAnswerLost]).is_some() {
        world.story.tell(|| format!("tab {tab} never sees the answer"));
        return Ok(());
    }
    world.story.tell(|| format!("tab {tab} shows {}", intent.state.name()));
    world.tabs[tab].shown = Some(shown(checkout, intent));
    Ok(())
}
