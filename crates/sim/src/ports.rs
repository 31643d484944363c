//! What the engine is given in this world: a store, a bank and receivers that wait at the desk, and ids and answers that do not.

use std::{
    any::type_name,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use engine::{Answers, Delivery, Ids, Mail, Sender, Webhook};
use payment::{
    AttemptId, CheckoutId, Holder, IntentId, Money, ObjectId, ObjectStatus, OperationId, ProviderKey,
    RefundObservation, SubmitKey,
};
use providers::{Account, Encoded, Notice, Outgoing, Page, PayRequest, Provider, RefundRequest, Reply, Span};
use store::{
    Answer, Backend, CheckoutRecord, Flow, IntentRecord, MemoryStore, MerchantRecord, NewIds, Rows,
    StoreError,
};
use uuid::Uuid;

use crate::{
    bank,
    check::Broken,
    desk::{BankAnswer, Call, Desk, Message, Request, Verdict, Wait},
    sqlite::Twins,
    time::Time,
    wire,
};

/// A store of either kind.
#[derive(Clone)]
pub enum Backing {
    /// In memory.
    Memory(Arc<MemoryStore>),
    /// In a SQLite file.
    Sqlite(Arc<Twins>),
}

impl Backing {
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        match self {
            Self::Memory(store) => store.write(flow).await,
            Self::Sqlite(twins) => twins.write(flow).await,
        }
    }

    /// All rows as they are now.
    pub fn rows(&self) -> Result<Arc<Rows>, Broken> {
        match self {
            Self::Memory(store) => Ok(store.rows()),
            Self::Sqlite(twins) => twins.rows(),
        }
    }

    /// A backup is taken, of the rows as they are now.
    pub fn back_up(&self) {
        match self {
            Self::Memory(_) => {}
            Self::Sqlite(twins) => twins.back_up(),
        }
    }

    /// The backup is brought back; these are its rows.
    pub fn bring_back(&mut self, rows: Arc<Rows>, time: &Time) {
        match self {
            Self::Memory(store) => *store = Arc::new(MemoryStore::of(rows, time.of_store())),
            Self::Sqlite(twins) => twins.bring_back(rows, time),
        }
    }

    /// The directory is written down, as a server does before it starts.
    pub fn put_merchants(&self, merchants: Vec<MerchantRecord>) {
        for merchant in merchants {
            match self {
                Self::Memory(store) => store.put_account(merchant.tenant, merchant.account),
                Self::Sqlite(twins) => twins.put_merchant(merchant),
            }
        }
    }

    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        match self {
            Self::Memory(store) => store.read(flow).await,
            Self::Sqlite(twins) => twins.read(flow).await,
        }
    }
}

/// The store as a server reaches it: each transaction waits for the scheduler.
pub struct Transactions {
    /// Where it waits.
    pub desk: Desk,
    /// What it runs on.
    pub backing: Backing,
}

fn lost() -> StoreError {
    StoreError::Unknown(Arc::new(std::io::Error::other("the connection broke at COMMIT")))
}

/// Why a transaction does not run, if it does not.
fn refusal(verdict: &Verdict) -> Option<StoreError> {
    match verdict {
        Verdict::Busy => Some(StoreError::Busy(None)),
        Verdict::Full => Some(full()),
        Verdict::Lost { applied: false } => Some(lost()),
        Verdict::Apply
        | Verdict::ApplyLater
        | Verdict::Lost { applied: true }
        | Verdict::Go
        | Verdict::Bank(_)
        | Verdict::Delivery(_) => None,
    }
}

/// The scheduler answers each wait by what belongs to it.
fn unheard_of() -> ! {
    unreachable!("a wait got what belongs to another")
}

fn full() -> StoreError {
    StoreError::Refused(Arc::new(std::io::Error::other("the disk is full")))
}

#[async_trait]
impl Backend for Transactions {
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        let verdict = self.desk.wait(Wait::Write(type_name::<R>())).await;
        if let Some(refusal) = refusal(&verdict) {
            return Err(refusal);
        }
        self.desk.wrote();
        let written = self.backing.write(flow).await;
        if matches!(verdict, Verdict::Lost { .. }) {
            return Err(lost());
        }
        if matches!(verdict, Verdict::ApplyLater) {
            drop(self.desk.wait(Wait::Answer(type_name::<R>())).await);
        }
        written
    }

    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        let verdict = self.desk.wait(Wait::Read(type_name::<R>())).await;
        if let Some(refusal) = refusal(&verdict) {
            return Err(refusal);
        }
        let read = self.backing.read(flow).await;
        if matches!(verdict, Verdict::ApplyLater) {
            drop(self.desk.wait(Wait::Answer(type_name::<R>())).await);
        }
        read
    }
}

/// The bank as a server reaches it.
pub struct ToBank {
    /// Where a call waits.
    pub desk: Desk,
    /// When it leaves.
    pub time: Time,
}

impl ToBank {
    async fn ask(&self, call: Call) -> BankAnswer {
        let Verdict::Bank(answer) = self.desk.wait(Wait::Bank(call)).await else { unheard_of() };
        answer
    }

    /// Waits before the first byte; `None` where nothing may leave any more.
    async fn leave(&self, account: &Account, request: Outgoing) -> Option<Request> {
        drop(self.desk.wait(Wait::Leave).await);
        (request.may_leave)().then(|| Request {
            account: account.clone(),
            path: request.path,
            body: request.body,
            key: request.key,
            left_at: self.time.real(),
            dated_at: self.time.now(),
        })
    }
}

fn too_late<O>() -> Reply<O> {
    Reply::NotExecuted { reason: payment::NotExecutedReason::TooLate, retry_after_ms: None }
}

#[async_trait]
impl Provider for ToBank {
    fn name(&self) -> &'static str {
        "bank"
    }

    fn resend_window_ms(&self) -> Option<i64> {
        Some(bank::KEY_LIFE_MS - crate::time::HOUR)
    }

    fn proves_absence(&self) -> bool {
        true
    }

    fn pending_ends_after_ms(&self) -> Option<i64> {
        Some(bank::PENDING_LIFE_MS)
    }

    fn hold_ends_after_ms(&self) -> i64 {
        bank::HOLD_LIFE_MS
    }

    fn can_cancel(&self, status: &ObjectStatus) -> bool {
        matches!(status, ObjectStatus::WaitingForCapture)
    }

    fn encode_pay(&self, request: &PayRequest) -> Encoded {
        wire::pay(request)
    }

    fn encode_capture(&self, payment: &ObjectId, amount: Money) -> Encoded {
        wire::capture(payment, amount)
    }

    fn encode_cancel(&self, payment: &ObjectId) -> Encoded {
        wire::cancel(payment)
    }

    fn encode_refund(&self, request: &RefundRequest) -> Encoded {
        wire::refund(request)
    }

    async fn send(&self, account: &Account, request: Outgoing) -> Reply {
        let Some(request) = self.leave(account, request).await else { return too_late() };
        let BankAnswer::Payment(reply) = self.ask(Call::Send(request)).await else { unheard_of() };
        reply
    }

    async fn send_refund(&self, account: &Account, request: Outgoing) -> Reply<RefundObservation> {
        let Some(request) = self.leave(account, request).await else { return too_late() };
        let BankAnswer::Refund(reply) = self.ask(Call::SendRefund(request)).await else { unheard_of() };
        reply
    }

    async fn query(&self, account: &Account, payment: &ObjectId) -> Reply {
        let BankAnswer::Payment(reply) = self.ask(Call::Query(account.clone(), payment.clone())).await else {
            unheard_of()
        };
        reply
    }

    async fn query_refund(&self, account: &Account, refund: &ObjectId) -> Reply<RefundObservation> {
        let BankAnswer::Refund(reply) = self.ask(Call::QueryRefund(account.clone(), refund.clone())).await
        else {
            unheard_of()
        };
        reply
    }

    async fn list(&self, account: &Account, span: Span, cursor: Option<&str>) -> Page {
        let BankAnswer::Payments(page) =
            self.ask(Call::List(account.clone(), span, cursor.map(str::to_owned))).await
        else {
            unheard_of()
        };
        page
    }

    async fn list_refunds(
        &self,
        account: &Account,
        of: Option<&ObjectId>,
        span: Span,
        cursor: Option<&str>,
    ) -> Page<RefundObservation> {
        let call = Call::ListRefunds(account.clone(), of.cloned(), span, cursor.map(str::to_owned));
        let BankAnswer::Refunds(page) = self.ask(call).await else { unheard_of() };
        page
    }

    fn read_notice(&self, body: &[u8]) -> Option<Notice> {
        wire::read_notice(body)
    }

    fn has_reached(&self, now: &ObjectStatus, announced: &str) -> bool {
        bank::place(bank::word(now)) >= bank::place(announced)
    }
}

/// The receivers of webhooks and mails as a server reaches them.
pub struct ToReceivers(pub Desk);

impl ToReceivers {
    async fn deliver(&self, message: Message) -> Delivery {
        let Verdict::Delivery(delivery) = self.0.wait(Wait::Delivery(message)).await else { unheard_of() };
        delivery
    }
}

#[async_trait]
impl Sender for ToReceivers {
    async fn webhook(&self, webhook: &Webhook) -> Delivery {
        let Webhook { id, kind, checkout, intent, amount, .. } = webhook;
        let (checkout, intent) = (checkout.id, intent.id);
        self.deliver(Message { id: *id, kind: *kind, checkout, intent, amount: *amount }).await
    }

    async fn mail(&self, mail: &Mail) -> Delivery {
        let Mail { id, kind, checkout, intent, amount, .. } = mail;
        let (checkout, intent) = (checkout.id, intent.id);
        self.deliver(Message { id: *id, kind: *kind, checkout, intent, amount: *amount }).await
    }

    fn sends_mails(&self) -> bool {
        true
    }
}

/// Ids that count, so that they repeat from run to run; each server's are its own, whatever others do meanwhile, and so are each kind's.
#[derive(Clone)]
pub struct CountingIds {
    node: u64,
    drawn: Arc<[AtomicU64; 3]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Holder,
    Row,
    Attempt,
}

/// What all ids have in common.
const IDS: u128 = 0x0190_0000_0000_4000_8000_0000_0000_0000;

fn is(kind: Kind, bytes: &[u8]) -> bool {
    let begins = (IDS | u128::from((kind as u64) << 48)).to_be_bytes();
    bytes.len() == begins.len() && bytes[..10] == begins[..10]
}

/// Whether these bytes are a holder's id.
pub(crate) fn is_holder(bytes: &[u8]) -> bool {
    is(Kind::Holder, bytes)
}

/// Whether these bytes are an attempt's id.
pub(crate) fn is_attempt(bytes: &[u8]) -> bool {
    is(Kind::Attempt, bytes)
}

impl CountingIds {
    /// Those of a server.
    pub fn of(node: usize) -> Self {
        Self { node: node as u64, drawn: Arc::default() }
    }

    /// Others that go on from where these are.
    pub fn again(&self) -> Self {
        let drawn = self.drawn.each_ref().map(|drawn| AtomicU64::new(drawn.load(Ordering::Relaxed)));
        Self { node: self.node, drawn: Arc::new(drawn) }
    }

    fn next(&self, kind: Kind) -> Uuid {
        let next = self.drawn[kind as usize].fetch_add(1, Ordering::Relaxed) + 1;
        let own = (kind as u64) << 48 | self.node << 32 | next;
        Uuid::from_u128(IDS | u128::from(own))
    }

    /// A server that starts.
    pub fn holder(&self) -> Holder {
        Holder(self.next(Kind::Holder))
    }

    /// How many were drawn for rows that have names of their own.
    pub(crate) fn rows(&self) -> u64 {
        self.drawn[Kind::Row as usize].load(Ordering::Relaxed)
    }
}

impl Ids for CountingIds {
    fn new_ids(&self) -> NewIds {
        NewIds {
            checkout: CheckoutId(self.next(Kind::Row)),
            intent: IntentId(self.next(Kind::Row)),
            operation: OperationId(self.next(Kind::Row)),
            submit_key: SubmitKey(self.next(Kind::Row)),
            provider_key: ProviderKey(self.next(Kind::Row)),
        }
    }

    fn attempt(&self) -> AttemptId {
        AttemptId(self.next(Kind::Attempt))
    }

    /// Waits are as long as they can be; the jitter is proved where it lives.
    fn random(&self) -> u64 {
        19_200_000 - 1
    }

    /// What is sealed here is no secret, and says no more than its content.
    fn nonce(&self) -> [u8; 24] {
        [0; 24]
    }
}

/// Answers that tell what they were written from.
pub struct PlainAnswers;

impl Answers for PlainAnswers {
    fn checkout(&self, status: u16, checkout: &CheckoutRecord, intent: &IntentRecord, token: &str) -> Answer {
        let body = format!("{} {} {token}", intent.id, intent.submit_key);
        Answer { status, location: Some(checkout.id.to_string()), body: body.into_bytes() }
    }

    fn intent(&self, status: u16, _: &CheckoutRecord, intent: &IntentRecord) -> Answer {
        let body = format!("{} {}", intent.id, intent.state.name());
        Answer { status, location: None, body: body.into_bytes() }
    }
}
