//! Builds the commands of the store, each with what a test does not care about filled in.

use std::sync::Arc;

use payment::{
    AttemptId, Capture, CheckoutId, Currency, DeclinedBy, Fingerprint, Holder, IdempotencyKey, IntentId,
    KeyKind, MerchantId, MethodKind, Mode, Money, ObjectId, OperationId, OperationKind, OperationState,
    OrderId, ProviderAccount, ProviderKey, State, SubmitKey, UnknownReason,
};
use store::{
    Answer, Asked, Change, Charge, CheckoutRecord, ClaimLook, Claimed, Commit, Frozen, IntentRecord, KeyUse,
    LookOf, MerchantRecord, NewIds, OpenCheckout, OpenFollowUp, OpenIntent, Render, Stage, StrangerRecord,
    SubmitCommand, Task, Tenant, Terms,
};

use crate::world::{DAY, MINUTE, SECOND, START, uuid};

pub const LEASE_MS: i64 = 30 * SECOND;
pub const EXECUTE_MS: i64 = 15 * MINUTE;
pub const WAKE_MS: i64 = 10 * SECOND;
pub const LIMIT: i64 = 3;
pub const MOST_UNFINISHED: i64 = 20;
pub const REVIEW_AFTER_MS: i64 = 86_400_000;

pub fn tenant() -> Tenant {
    tenant_of("mer_1", Mode::Test)
}

pub fn tenant_of(merchant: &str, mode: Mode) -> Tenant {
    Tenant { merchant: MerchantId::parse(merchant).unwrap(), mode }
}

pub fn rub(value: &str) -> Money {
    Money::parse(value, Currency::parse("RUB").unwrap()).unwrap()
}

pub fn object(id: &str) -> ObjectId {
    ObjectId::parse(id).unwrap()
}

pub fn ids() -> NewIds {
    NewIds {
        checkout: CheckoutId(uuid()),
        intent: IntentId(uuid()),
        operation: OperationId(uuid()),
        submit_key: SubmitKey(uuid()),
        provider_key: ProviderKey(uuid()),
    }
}

pub fn key(tenant: Tenant, kind: KeyKind, key: &str, fields: &[(&str, String)]) -> KeyUse {
    KeyUse {
        tenant,
        kind,
        key: IdempotencyKey::parse(key).unwrap(),
        fingerprint: Fingerprint::new(kind, fields),
    }
}

/// The answer tells what it was written from, so that a replay can be told from a second writing.
fn render() -> Render {
    Arc::new(|status, checkout, intent| Answer {
        status,
        location: Some(format!("/v1/checkouts/{}", checkout.id)),
        body: format!("{} {} {} {}", checkout.id, checkout.version, intent.id, intent.state.name())
            .into_bytes(),
    })
}

/// Opens a checkout of 1500.00 for a day.
pub fn open(key_text: &str, order: &str) -> OpenCheckout {
    open_for(tenant(), key_text, order, "1500.00")
}

pub fn open_for(tenant: Tenant, key_text: &str, order: &str, amount: &str) -> OpenCheckout {
    let fields = [("order_id", order.to_owned()), ("amount", amount.to_owned())];
    OpenCheckout {
        key: key(tenant, KeyKind::CreateCheckout, key_text, &fields),
        ids: ids(),
        terms: Terms {
            order: OrderId::parse(order).unwrap(),
            amount: rub(amount),
            capture: Capture::Automatic,
            description: Some("Coffee, 1 kg".into()),
            return_url: Some("https://shop.example/thanks".into()),
            email: Some("shopper@example.com".into()),
            metadata: [("cart".to_owned(), "7".to_owned())].into(),
            expires_in_ms: DAY,
        },
        render: render(),
    }
}

pub fn open_intent(key_text: &str, checkout: CheckoutId) -> OpenIntent {
    let fields = [("checkout", checkout.to_string())];
    OpenIntent {
        key: key(tenant(), KeyKind::CreateIntent, key_text, &fields),
        checkout,
        ids: ids(),
        limit: LIMIT,
        render: render(),
    }
}

/// What the shopper's page sends: the intent's submit key, the version and the amount shown.
pub fn submit(checkout: &CheckoutRecord, intent: &IntentRecord) -> SubmitCommand {
    let fields = [("intent", intent.id.to_string()), ("amount", checkout.amount.decimal())];
    SubmitCommand {
        key: key(checkout.tenant.clone(), KeyKind::Submit, &intent.submit_key.to_string(), &fields),
        checkout: checkout.id,
        intent: intent.id,
        version: checkout.version,
        amount: checkout.amount,
        method: MethodKind::CardToken,
        email: None,
        frozen: frozen("a request"),
        attempt: AttemptId(uuid()),
        holder: Holder(uuid()),
        lease_ms: LEASE_MS,
        execute_ms: EXECUTE_MS,
    }
}

pub fn frozen(body: &str) -> Frozen {
    Frozen {
        provider: "yookassa".into(),
        account: ProviderAccount::parse("100500").unwrap(),
        url: "http://bank.example".into(),
        method: "POST".into(),
        path: "/v3/payments".into(),
        sealed_body: body.as_bytes().to_vec(),
    }
}

/// What a claim's holder writes when the intent came to `state`.
pub fn outcome(claim: &Claimed, state: State) -> Commit {
    let (from, to) = (claim.intent.state.name().as_str(), state.name().as_str());
    let ended = claim.attempt.as_ref().map(|attempt| (attempt.id, "answered".to_owned()));
    let charges = if let State::Succeeded { object, .. } = &state {
        vec![Charge { amount: claim.intent.amount, ..charge(object.clone()) }]
    } else {
        Vec::new()
    };
    Commit {
        tenant: claim.operation.tenant.clone(),
        checkout: claim.checkout.id,
        intent: claim.intent.id,
        version: claim.intent.version,
        operation: claim.operation.id,
        fence: claim.operation.fence,
        paid_with: None,
        object: state.object().cloned(),
        follow_up: None,
        touches_intent: true,
        charges,
        anomalies: Vec::new(),
        changes: vec![Change { from, event: "observed".into(), to, evidence: "a test says so".into() }],
        ended,
        absent_since: None,
        adopted: None,
        not_before_ms: None,
        asked: Asked::Now,
        out_of_turn: false,
        wake_in_ms: matches!(Stage::of(state.name()), Stage::Open | Stage::Review).then_some(WAKE_MS),
        answer: state.is_terminal().then(|| final_answer(to)),
        state,
    }
}

/// What a capture's, cancel's or refund's holder writes when it came to `state`, and its intent stays what it is.
pub fn follow_up_outcome(claim: &Claimed, state: OperationState) -> Commit {
    let Task::FollowUp(follow_up) = &claim.operation.task else { panic!("{claim:?}") };
    let (from, to) = (follow_up.state.name(), state.name());
    let event = format!("{}.observed", follow_up.kind.as_str());
    let open = Stage::of_follow_up(&state) != Stage::Done;
    Commit {
        object: None,
        charges: Vec::new(),
        touches_intent: false,
        changes: vec![Change { from, event, to, evidence: "a test says so".into() }],
        wake_in_ms: open.then_some(WAKE_MS),
        follow_up: Some(state),
        answer: None,
        ..outcome(claim, claim.intent.state.clone())
    }
}

/// Asks for a refund of `value` of an object.
pub fn refund(intent: &IntentRecord, target: &str, value: &str) -> OpenFollowUp {
    OpenFollowUp { amount: Some(rub(value)), ..follow_up(intent, OperationKind::Refund, target) }
}

/// Asks for a capture of the whole sum.
pub fn capture(intent: &IntentRecord, target: &str) -> OpenFollowUp {
    OpenFollowUp { amount: Some(intent.amount), ..follow_up(intent, OperationKind::Capture, target) }
}

pub fn cancel(intent: &IntentRecord, target: &str) -> OpenFollowUp {
    follow_up(intent, OperationKind::Cancel, target)
}

fn follow_up(intent: &IntentRecord, kind: OperationKind, target: &str) -> OpenFollowUp {
    OpenFollowUp {
        of_open_extra: false,
        tenant: intent.tenant.clone(),
        intent: intent.id,
        operation: OperationId(uuid()),
        provider_key: ProviderKey(uuid()),
        kind,
        target: object(target),
        amount: None,
        frozen: frozen("a follow-up"),
        execute_ms: EXECUTE_MS,
        made: None,
        reason: "a test wants it".into(),
    }
}

pub fn look(of: LookOf) -> ClaimLook {
    ClaimLook { tenant: tenant(), of, holder: Holder(uuid()), lease_ms: LEASE_MS }
}

/// Money in our account that names `order`, and that no intent of ours asked for.
pub fn stranger(id: &str, order: Option<&str>) -> StrangerRecord {
    StrangerRecord {
        tenant: tenant(),
        account: frozen("").account,
        object: object(id),
        order: order.map(|order| OrderId::parse(order).unwrap()),
        amount: rub("1500.00"),
        took_money: true,
        untold: false,
        found_at: START,
        resolution: None,
    }
}

/// 1500.00 taken by the account that every request of these tests goes to.
pub fn charge(object: ObjectId) -> Charge {
    Charge { account: frozen("").account, object, amount: rub("1500.00") }
}

pub fn final_answer(body: &str) -> Answer {
    Answer { status: 200, location: None, body: body.as_bytes().to_vec() }
}

pub fn succeeded(id: &str) -> State {
    State::Succeeded { object: object(id), at: START }
}

pub fn declined() -> State {
    State::Declined {
        by: DeclinedBy::Issuer,
        code: "insufficient_funds".into(),
        message: "Not enough".into(),
    }
}

pub fn confirming(id: Option<&str>) -> State {
    State::Confirming {
        since: START,
        why: UnknownReason::NoAnswer,
        object: id.map(object),
        suspects: Vec::new(),
    }
}

/// A merchant whose money goes to `account`.
pub fn merchant(tenant: Tenant, account: ProviderAccount) -> MerchantRecord {
    MerchantRecord {
        tenant,
        name: "Zerno".to_owned(),
        provider: "fake".to_owned(),
        account,
        url: "https://bank.example".to_owned(),
        sealed_secret: vec![1],
        return_origins: Vec::new(),
        frame_origins: Vec::new(),
        refund_extras: false,
        webhook: None,
        notify_secret_hash: None,
    }
}
