//! The pages' plain forms: what works without a script. Each ends in a page that shows the true state.
//! Must never take a card: its fields have no names.

use app::Notice;
use axum::{body::Body, extract::State, http::StatusCode, response::Response};
use contract::{Amount, Customer, PaymentMethodInput, Submit};
use engine::Released;
use payment::{CheckoutId, IdError, IdempotencyKey, IntentId, MethodKind};
use serde::Deserialize;

use super::{Address, Shown, document, load, message, see_other};
use crate::{
    answers::{rfc3339, state},
    http::{
        ApiError, App, Code, Id,
        body::read_form,
        caller::{self, Caller},
        checkouts, live, payment_intents, submit, terms,
    },
};

/// The form of the payment page, as far as it has names.
#[derive(Deserialize)]
struct PayForm {
    method: Option<String>,
    intent: Option<String>,
    submit_key: Option<String>,
    checkout_version: Option<String>,
    amount_value: Option<String>,
    amount_currency: Option<String>,
    email: Option<String>,
}

impl PayForm {
    /// What it submits, if it is what our page has: intent, key, terms.
    fn read(self) -> Option<(String, IdempotencyKey, Submit)> {
        let email = self.email.map(|email| email.trim().to_owned()).filter(|email| !email.is_empty());
        let submit = Submit {
            payment_method: PaymentMethodInput::Redirect {},
            checkout_version: self.checkout_version?.parse().ok()?,
            amount: Amount::new(self.amount_value?, self.amount_currency?),
            customer: email.map(|email| Customer { email: Some(email) }),
        };
        Some((self.intent?, IdempotencyKey::parse(&self.submit_key?).ok()?, submit))
    }
}

/// `POST /pay/{checkout}`: pays on the bank's own page. The status page carries the link to it. Without `method=redirect` nothing is
/// submitted: a card cannot come this way.
pub(in crate::http) async fn submit(
    State(app): State<App>,
    Id(id): Id,
    address: Address,
    body: Body,
) -> Response {
    let ended = pay_at_bank(&app, &id, &address, body).await;
    ended.unwrap_or_else(|error| message(&app, address.lang, &error))
}

async fn pay_at_bank(app: &App, id: &str, address: &Address, body: Body) -> Result<Response, ApiError> {
    let shown = load(app, id, address).await?;
    let form = match read_form::<PayForm>(app, body).await {
        Ok(form) if form.method.as_deref() == Some("redirect") => form,
        Ok(_) | Err(_) => return Ok(see_other(&address.back_to(id))),
    };
    let (email, status) = (form.email.clone(), address.status_of(id));
    let Some((intent, key, submit)) = form.read() else {
        return Ok(say(shown, Notice::Refused, StatusCode::BAD_REQUEST, &status));
    };
    let submitted = submit::submit_as(app, &shown.caller, &intent, key, submit, address.known).await;
    let shown = load(app, id, address).await?;
    match submitted.map_err(|error| (Refusal::of(&error), error)) {
        Ok(_) if is_paid_by_card(&shown) => Ok(go_on(shown, Notice::CardElsewhere)),
        Ok(_) | Err((Refusal::Over, _)) => Ok(see_other(&status)),
        Err((Refusal::Said(notice), error)) => Ok(say(shown, notice, error.status(), &status)),
        Err((Refusal::Email, _)) => Ok(no_email(shown, email.unwrap_or_default())),
        Err((Refusal::Unknown, error)) => Err(error),
    }
}

/// Whether another tab's card was quicker, and its result is awaited (fault 67).
fn is_paid_by_card(shown: &Shown) -> bool {
    shown.intent.method == Some(MethodKind::CardToken) && state(shown.intent.state.name()).is_awaited()
}

/// What a refused submit means for the page.
enum Refusal {
    /// There is nothing to submit any more: the status page tells why.
    Over,
    /// Nothing was started, and the form can be sent anew.
    Said(Notice),
    /// The same; the address is none.
    Email,
    /// Whether anything was started is not certain.
    Unknown,
}

impl Refusal {
    fn of(error: &ApiError) -> Self {
        match error.code() {
            Code::OrderPaid | Code::CheckoutNotOpen | Code::IntentInProgress => Self::Over,
            Code::CheckoutChanged => Self::Said(Notice::TermsChanged),
            Code::InvalidField if error.field() == Some("customer.email") => Self::Email,
            Code::TooManyIntents => Self::Said(Notice::TooManyTries),
            Code::RateLimited => Self::Said(Notice::Busy),
            Code::InvalidJson
            | Code::InvalidRequest
            | Code::InvalidField
            | Code::CardNumber
            | Code::KeyMissing
            | Code::KeyInvalid
            | Code::KeyReused
            | Code::SubmitKeyMismatch
            | Code::NotFound
            | Code::MethodNotAllowed
            | Code::UnsupportedMediaType
            | Code::BodyTooLarge
            | Code::RequestTimeout => Self::Said(Notice::Refused),
            Code::Unauthorized | Code::Forbidden | Code::Internal | Code::Unavailable => Self::Unknown,
        }
    }
}

/// The payment page with a word about the form that was sent: the payment goes on there, under the shopper's eyes.
fn go_on(shown: Shown, notice: Notice) -> Response {
    let Shown { mut page, merchant, .. } = shown;
    page.notice = Some(notice);
    document(&page, &merchant, page.render_pay())
}

/// The same. Only where the order has not gone on: else the page to read tells how.
fn say(shown: Shown, notice: Notice, status: StatusCode, to_read: &str) -> Response {
    if !shown.page.has_form() {
        return see_other(to_read);
    }
    let Shown { mut page, merchant, .. } = shown;
    page.notice = Some(notice);
    let mut response = document(&page, &merchant, page.render_pay());
    *response.status_mut() = status;
    response
}

/// The page with the mistake at its field, and with all that was typed.
fn no_email(shown: Shown, typed: String) -> Response {
    let Shown { mut page, merchant, .. } = shown;
    page.no_email = Some(typed);
    let mut response = document(&page, &merchant, page.render_pay());
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    response
}

/// `POST /pay/{checkout}/check`: has the bank asked now.
pub(in crate::http) async fn check(State(app): State<App>, Id(id): Id, address: Address) -> Response {
    let checked = async {
        let Shown { intent, .. } = load(&app, &id, &address).await?;
        live::check_now(&app, &intent.tenant, intent.id).await?;
        // The page to read says what came of it.
        Ok(see_other(&address.status_of(&id)))
    };
    checked.await.unwrap_or_else(|error| message(&app, address.lang, &error))
}

/// `POST /pay/{checkout}/release`: has the bank asked to let go of the payment, or says when it does so by itself.
pub(in crate::http) async fn release(State(app): State<App>, Id(id): Id, address: Address) -> Response {
    let released = async {
        let Shown { intent, .. } = load(&app, &id, &address).await?;
        let released = live::release_now(&app, &intent.tenant, intent.id).await?;
        Ok::<_, ApiError>((released, load(&app, &id, &address).await?))
    };
    let (notice, shown) = match released.await {
        Ok((Released::Asked, shown)) => (Notice::ReleaseAsked, shown),
        Ok((Released::EndsBy(at), shown)) => (Notice::ReleasedBy(rfc3339(at)), shown),
        Ok((Released::Nothing, _)) => return see_other(&address.status_of(&id)),
        Err(error) => return message(&app, address.lang, &error),
    };
    tell(shown, notice)
}

/// The status page with a word about the form that was sent. A reload would send it again: it looks at that page's own address instead.
fn tell(shown: Shown, notice: Notice) -> Response {
    let Shown { mut page, merchant, .. } = shown;
    page.notice = Some(notice);
    document(&page, &merchant, page.render_status())
}

/// The form under "write to me".
#[derive(Deserialize)]
struct Mail {
    email: String,
}

/// `POST /pay/{checkout}/email`: where the result is told, while it is awaited.
pub(in crate::http) async fn email(
    State(app): State<App>,
    Id(id): Id,
    address: Address,
    body: Body,
) -> Response {
    let kept = keep_email(&app, &id, &address, body).await;
    kept.unwrap_or_else(|error| message(&app, address.lang, &error))
}

async fn keep_email(app: &App, id: &str, address: &Address, body: Body) -> Result<Response, ApiError> {
    let shown = load(app, id, address).await?;
    let form = read_form::<Mail>(app, body).await?;
    let typed = form.email.trim().to_owned();
    let Ok(Some(email)) = terms::email(Some(Customer { email: Some(typed) })) else {
        return Ok(no_email(shown, form.email));
    };
    if app.mails && state(shown.intent.state.name()).is_awaited() {
        let (engine, tenant, intent) = (app.engine.clone(), shown.intent.tenant.clone(), shown.intent.id);
        app.run(async move { engine.set_email(&tenant, intent, email).await }).await?;
    }
    // The page says where it will write to.
    Ok(see_other(&address.back_to(id)))
}

/// The form under "try again".
#[derive(Deserialize)]
struct Again {
    previous: String,
}

/// `POST /pay/{checkout}/again`: trying again without a script. The key names the intent it follows, so that two tabs make one.
pub(in crate::http) async fn again(
    State(app): State<App>,
    Id(id): Id,
    address: Address,
    body: Body,
) -> Response {
    let answered = match open_again(&app, &id, &address, body).await {
        Err(error) if error.code() == Code::TooManyIntents => {
            load(&app, &id, &address).await.map(|shown| tell(shown, Notice::TooManyTries))
        }
        // Whatever came of it, the page shows the true state.
        opened => opened.map(|()| see_other(&address.back_to(&id))),
    };
    answered.unwrap_or_else(|error| message(&app, address.lang, &error))
}

async fn open_again(app: &App, id: &str, address: &Address, body: Body) -> Result<(), ApiError> {
    let caller: Caller = caller::shopper(app, address.token()).ok_or_else(caller::unauthorized)?;
    let checkout: CheckoutId = id.parse().map_err(|_| checkouts::not_found())?;
    let form: Again = read_form(app, body).await?;
    let previous: IntentId = form
        .previous
        .parse()
        .map_err(|error: IdError| Code::InvalidRequest.field("previous", error.to_string()))?;
    let key =
        IdempotencyKey::parse(&format!("again-{previous}")).expect("an intent's id has a key's characters");
    match payment_intents::open(app, &caller, checkout, key).await {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.code(), Code::OrderPaid | Code::CheckoutNotOpen) => Ok(()),
        Err(error) => Err(error),
    }
}
