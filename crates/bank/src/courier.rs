//! Sends the notifications that the ledger says are due, until they are taken or too old, and lets come due what
//! ends by the clock. One loop, so that no notification is in two hands. After a crash one may be sent again,
//! and none is lost.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::{Client, StatusCode, Url, header, redirect};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

use crate::answer::{cut, raise_amount};
use crate::bank::{Config, State, in_ms};
use crate::fault_kinds::{Kind, On};
use crate::faults::Met;
use crate::ledger::OpenError;
use crate::notifications::{self, Due, Outcome};

/// The most notifications under way at once.
const MAX_IN_HAND: usize = 64;
/// The longest gap between two tries.
const MAX_GAP_MS: i64 = 3_600_000;
/// The longest time without a look at the ledger: a clock that jumps wakes nobody.
const MAX_NAP: Duration = Duration::from_secs(1);

/// Ends when a notification was tried once.
pub(crate) type Tried = oneshot::Receiver<()>;

/// How and where notifications are sent.
pub(crate) struct Courier {
    client: Client,
    url: Url,
    first_gap_ms: i64,
    life_ms: i64,
    woken: Notify,
    awaited: Mutex<HashMap<i64, oneshot::Sender<()>>>,
}

impl Courier {
    pub fn new(url: &str, config: &Config) -> Result<Self, OpenError> {
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let client =
            Client::builder().timeout(config.notify_patience).redirect(redirect::Policy::none()).build();
        Ok(Self {
            client: client.map_err(OpenError::Client)?,
            url: url.ok_or(OpenError::NotifyUrl)?,
            first_gap_ms: in_ms(config.notify_gap).max(1),
            life_ms: in_ms(config.notify_life),
            woken: Notify::new(),
            awaited: Mutex::default(),
        })
    }

    /// Says that the ledger may hold something new.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Ends when notification `seq`, which is being written, was tried once.
    pub fn tried(&self, seq: i64) -> Tried {
        let (sender, receiver) = oneshot::channel();
        self.awaited().insert(seq, sender);
        receiver
    }

    /// Works until it is dropped.
    pub async fn work(self: Arc<Self>, state: Arc<State>) {
        let mut sending = JoinSet::new();
        let mut in_hand = HashSet::new();
        loop {
            let nap = match look(&state).await {
                Ok((due, nap)) => {
                    for one in due {
                        if in_hand.len() < MAX_IN_HAND && in_hand.insert(one.seq) {
                            let met = state.faults.meet(On::Notify, one.order_id.as_deref());
                            let courier = Arc::clone(&self);
                            sending.spawn(async move {
                                let status = courier.try_under(met, one.body.clone()).await;
                                (one, status)
                            });
                        }
                    }
                    nap
                }
                Err(error) => {
                    tracing::error!(%error, "the bank cannot read what it has to announce");
                    MAX_NAP
                }
            };
            tokio::select! {
                () = self.woken.notified() => {}
                () = tokio::time::sleep(nap) => {}
                Some(Ok((one, status))) = sending.join_next() => {
                    let mut ended = vec![(one, status)];
                    while let Some(Ok(next)) = sending.try_join_next() {
                        ended.push(next);
                    }
                    for (one, _) in &ended {
                        in_hand.remove(&one.seq);
                    }
                    self.note(&state, ended).await;
                }
            }
        }
    }

    async fn note(&self, state: &Arc<State>, ended: Vec<(Due, Option<StatusCode>)>) {
        let now_ms = state.now_ms();
        let seqs: Vec<i64> = ended.iter().map(|(one, _)| one.seq).collect();
        let outcomes: Vec<Outcome> =
            ended.into_iter().map(|(one, status)| self.judge(&one, status, now_ms)).collect();
        let noted =
            state.store.run(move |tx| outcomes.iter().try_for_each(|one| notifications::note(tx, one)));
        if let Err(error) = noted.await {
            tracing::error!(%error, "the bank cannot note what it announced: it will announce it again");
            tokio::time::sleep(MAX_NAP).await;
        }
        let mut awaited = self.awaited();
        for sender in seqs.iter().filter_map(|seq| awaited.remove(seq)) {
            // Nobody waits any more when the client went away.
            sender.send(()).ok();
        }
    }

    /// Anything but 200 is no delivery.
    fn judge(&self, one: &Due, status: Option<StatusCode>, now_ms: i64) -> Outcome {
        let delivered = status == Some(StatusCode::OK);
        let copies = if delivered { one.copies - 1 } else { one.copies };
        let next_ms = match copies {
            0 => None,
            _ if delivered => Some(now_ms),
            _ => Some(now_ms + self.gap_ms(one.tries)).filter(|next| next - one.at_ms <= self.life_ms),
        };
        Outcome { seq: one.seq, status: status.map(|status| status.as_u16()), delivered, copies, next_ms }
    }

    /// The gap after a try that `tries` others preceded.
    fn gap_ms(&self, tries: u32) -> i64 {
        let doubled = 1_i64.checked_shl(tries.min(30)).unwrap_or(i64::MAX);
        self.first_gap_ms.saturating_mul(doubled).min(MAX_GAP_MS)
    }

    /// One try, and what the bank makes of the answer.
    async fn try_under(&self, met: Option<Met>, body: String) -> Option<StatusCode> {
        let Some(Met { kind, delay }) = met else { return self.send(body).await };
        match kind {
            Kind::LoseRequest => {
                tokio::time::sleep(delay).await;
                None
            }
            Kind::LoseAnswer => {
                self.send(body).await;
                tokio::time::sleep(delay).await;
                None
            }
            Kind::Garbage => {
                tokio::time::sleep(delay).await;
                self.send(cut(body)).await
            }
            Kind::WrongAmount => {
                tokio::time::sleep(delay).await;
                self.send(with_wrong_amount(&body)).await
            }
            // The others are not armed on notifications.
            Kind::Delay
            | Kind::Error500Before
            | Kind::Error500After
            | Kind::Error500Stored
            | Kind::RateLimit
            | Kind::BadRequest
            | Kind::Processing202
            | Kind::Unauthorized
            | Kind::Pending
            | Kind::NotFound
            | Kind::ForgetKeys
            | Kind::Reverse
            | Kind::Notify(_) => {
                tokio::time::sleep(delay).await;
                self.send(body).await
            }
        }
    }

    async fn send(&self, body: String) -> Option<StatusCode> {
        let request = self.client.post(self.url.clone()).header(header::CONTENT_TYPE, "application/json");
        match request.body(body).send().await {
            Ok(answer) => Some(answer.status()),
            Err(error) => {
                // The address may hold a secret.
                let error = error.without_url();
                tracing::debug!(%error, "a notification found no answer");
                None
            }
        }
    }

    fn awaited(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<()>>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is due, and how long nothing else will be.
async fn look(state: &Arc<State>) -> rusqlite::Result<(Vec<Due>, Duration)> {
    let ((due, wait_ms), _) = state
        .write_alone(|book| {
            book.let_fall_due()?;
            let now_ms = book.when.now_ms;
            let next_ms = notifications::next_event_ms(book.tx, now_ms)?;
            Ok((notifications::due(book.tx, now_ms, MAX_IN_HAND)?, next_ms.map(|ms| ms - now_ms)))
        })
        .await?;
    let wait = wait_ms.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
    Ok((due, wait.unwrap_or(MAX_NAP).min(MAX_NAP)))
}

fn with_wrong_amount(body: &str) -> String {
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    raise_amount(&mut body["object"]);
    body.to_string()
}
