//! The shopper's pages. Opening one changes nothing; a plain form works where no script does.

mod compress;
mod forms;
mod receipt;

use std::{convert::Infallible, time::Duration};

use app::{Lang, Message, Page};
use axum::{
    extract::{FromRequestParts, Query, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, request::Parts},
    response::{Html, IntoResponse, Response},
};
use payment::{CheckoutId, State as PaymentState, StateName, Timestamp};
use store::{CheckoutRecord, Doubt, IntentRecord, MerchantRecord};

use super::{
    ApiError, App, Id,
    caller::{self, Caller},
    checkouts,
    payment_intents::{self, doubt, held, shopper_view},
    problem,
};
use crate::{answers::rfc3339, ids, live::Watcher};

pub(super) use compress::compress;
pub(super) use forms::{again, check, email, release, submit};
use receipt::Receipt;

/// How often a page that waits for a look looks itself: another process may be the one that asks.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Where a page is: `?token=…&lang=…`, and the language in which its reader is spoken to. The token is never logged.
pub(super) struct Address {
    query: AddressQuery,
    lang: Lang,
    /// The same, unless nobody said one that we know.
    pub(super) known: Option<Lang>,
}

struct AddressQuery {
    token: Option<String>,
    lang: Option<String>,
}

impl AddressQuery {
    /// Whoever passes a link on may have said the language once more: the last word counts.
    fn of(uri: &Uri) -> Self {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri).map(|Query(pairs)| pairs);
        let mut query = Self { token: None, lang: None };
        for (name, value) in pairs.unwrap_or_default() {
            match name.as_str() {
                "token" => query.token = Some(value),
                "lang" => query.lang = Some(value),
                _ => {}
            }
        }
        query
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = Infallible;

    /// A query that cannot be read brings no token; the page says what is missing.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.uri, &parts.headers))
    }
}

impl Address {
    fn of(uri: &Uri, headers: &HeaderMap) -> Self {
        let query = AddressQuery::of(uri);
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let known = Lang::known(query.lang.as_deref(), accepted);
        Self { query, lang: known.unwrap_or_default(), known }
    }

    /// The client token, as it came.
    pub(super) fn token(&self) -> Option<&str> {
        self.query.token.as_deref()
    }

    /// The payment page.
    fn back_to(&self, id: &str) -> String {
        self.path(id, "")
    }

    /// The page to read.
    fn status_of(&self, id: &str) -> String {
        self.path(id, "/status")
    }

    fn path(&self, id: &str, below: &str) -> String {
        let token = self.token().unwrap_or_default();
        let is_plain = |lang: &&str| lang.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        match self.query.lang.as_deref().filter(is_plain) {
            Some(lang) => format!("/pay/{id}{below}?token={token}&lang={lang}"),
            None => format!("/pay/{id}{below}?token={token}"),
        }
    }
}

/// `GET /pay/{checkout}`.
pub(super) async fn pay(State(app): State<App>, Id(id): Id, address: Address) -> Response {
    match load(&app, &id, &address).await {
        Ok(Shown { page, merchant, .. }) => document(&page, &merchant, page.render_pay()),
        Err(error) => message(&app, address.lang, &error),
    }
}

/// `GET /pay/{checkout}/status`.
pub(super) async fn status(State(app): State<App>, Id(id): Id, address: Address) -> Response {
    match load_after_return(&app, &id, &address).await {
        Ok(Shown { mut page, merchant, intent, doubt, .. }) => {
            if intent.state == PaymentState::Created && doubt == Some(Doubt::Gate) {
                page.intent = held(page.intent, &intent);
            }
            document(&page, &merchant, page.render_status())
        }
        Err(error) => message(&app, address.lang, &error),
    }
}

/// `GET /pay/{checkout}/email`: the page with the form for another address, while one can be left.
pub(super) async fn ask_email(State(app): State<App>, Id(id): Id, address: Address) -> Response {
    match load(&app, &id, &address).await {
        Ok(Shown { page, .. }) if !page.takes_email() => see_other(&address.status_of(&id)),
        Ok(Shown { page, merchant, .. }) => {
            let page = Page { asks_email: true, ..page };
            document(&page, &merchant, page.render_pay())
        }
        Err(error) => message(&app, address.lang, &error),
    }
}

/// `GET` of a form's action: what an address bar asks for after a page with an error.
pub(super) async fn to_status(Id(id): Id, address: Address) -> Response {
    see_other(&address.status_of(&id))
}

/// Whether a page is asked for, so that an error is told in words.
pub(super) fn is_for_people(request: &Request) -> bool {
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    request.uri().path().starts_with("/pay/") && accepted.is_some_and(|types| types.contains("text/html"))
}

/// A path that nobody has: in words, where somebody may stand before it.
pub(super) async fn nowhere(State(app): State<App>, request: Request) -> Response {
    let error = problem::not_found().await;
    if is_for_people(&request) { turn_away(&app, &request, &error) } else { error.into_response() }
}

/// The page that is shown in place of one that nobody made.
pub(super) fn turn_away(app: &App, request: &Request, error: &ApiError) -> Response {
    message(app, Address::of(request.uri(), request.headers()).lang, error)
}

/// Whoever comes here may come back from the bank's page: a worker asks at once what became of it, and that is waited for a little,
/// so that the page does not ask for what was done. What is not learned in time it learns when it looks again.
async fn load_after_return(app: &App, id: &str, address: &Address) -> Result<Shown, ApiError> {
    let before = load(app, id, address).await?;
    if before.intent.state.name() != StateName::RequiresAction {
        return Ok(before);
    }
    // From before the look on: its end is not missed.
    let watcher = app.live.watch(before.intent.id, true);
    look_now(app, &before.intent);
    let Some(watcher) = watcher else { return Ok(before) };
    let looked = load_looked_at(app, id, address, watcher, before.looked_at());
    tokio::time::timeout(app.patience.look, looked).await.unwrap_or(Ok(before))
}

/// What the look brought: another state, or that the bank still waits.
async fn load_looked_at(
    app: &App,
    id: &str,
    address: &Address,
    mut watcher: Watcher,
    before: Option<String>,
) -> Result<Shown, ApiError> {
    loop {
        let serving = watcher.wait(LOOK_EVERY).await;
        let shown = load(app, id, address).await?;
        let moved = shown.intent.state.name() != StateName::RequiresAction;
        if moved || shown.looked_at() != before || !serving {
            return Ok(shown);
        }
    }
}

/// A worker is to ask at once. Whoever waits may go away meanwhile.
fn look_now(app: &App, intent: &IntentRecord) {
    let (engine, tenant, id) = (app.engine.clone(), intent.tenant.clone(), intent.id);
    app.tasks.spawn(async move {
        if let Err(error) = engine.check_now(&tenant, id).await {
            tracing::warn!(intent = %id, %error, "the look at a shopper's return failed; it is looked at when it is due");
        }
    });
}

/// A checkout that this shopper may see.
struct Shown {
    page: Page,
    merchant: MerchantRecord,
    caller: Caller,
    intent: IntentRecord,
    doubt: Option<Doubt>,
}

impl Shown {
    /// When the provider was last asked, while the result is awaited.
    fn looked_at(&self) -> Option<String> {
        self.page.intent.progress.as_ref()?.last_look_at.clone()
    }
}

async fn load(app: &App, id: &str, address: &Address) -> Result<Shown, ApiError> {
    let caller = caller::shopper(app, address.token()).ok_or_else(caller::unauthorized)?;
    let id: CheckoutId = id.parse().map_err(|_| checkouts::not_found())?;
    let (checkout, newest) = checkouts::find(app, &caller, id).await?;
    let merchant = checkouts::merchant(app, &checkout.tenant).await?;
    let receipt = Receipt::of(app, &checkout, &newest).await?;
    let intent = receipt.as_ref().map_or(newest, |receipt| receipt.intent.clone());
    let mut page = page(app, address.lang, &checkout, &intent, &merchant).await?;
    if let Some(receipt) = receipt {
        page.intent = receipt.fill(page.intent);
    }
    Ok(Shown { page, merchant, caller, doubt: doubt(app, &checkout).await?, intent })
}

async fn page(
    app: &App,
    lang: Lang,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    merchant: &MerchantRecord,
) -> Result<Page, ApiError> {
    Ok(Page {
        lang,
        nonce: ids::random_text(),
        assets: (*app.assets).clone(),
        shop_name: merchant.name.clone(),
        checkout: checkouts::view(app, checkout, intent).await?,
        today: today(app),
        intent: shopper_view(app, checkout, intent).await?,
        email: payment_intents::email(checkout, intent),
        return_url: checkout.return_url.clone(),
        tokenize_url: format!("{}/v3/tokens", merchant.url),
        mails: app.mails,
        no_email: None,
        asks_email: false,
        out_of_tries: intent.number >= app.engine.settings.intents_per_checkout,
        notice: None,
    })
}

/// The date in UTC.
fn today(app: &App) -> String {
    let now = rfc3339(Timestamp(app.engine.clock.moments().wall_ms));
    now.split('T').next().unwrap_or_default().to_owned()
}

fn document(page: &Page, merchant: &MerchantRecord, html: String) -> Response {
    let mut response = Html(html).into_response();
    secure(response.headers_mut(), &policy(&page.nonce, merchant));
    response
}

/// What the page may do: its own script and style, the provider's tokenisation, and be framed where the merchant says.
fn policy(nonce: &str, merchant: &MerchantRecord) -> String {
    let frames = match merchant.frame_origins.as_slice() {
        [] => "'none'".to_owned(),
        origins => origins.join(" "),
    };
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; connect-src 'self' {provider}; form-action 'self'; base-uri 'none'; frame-ancestors {frames}",
        provider = merchant.url,
    )
}

fn secure(headers: &mut HeaderMap, policy: &str) {
    headers
        .extend(HeaderValue::from_str(policy).ok().map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

fn see_other(location: &str) -> Response {
    match HeaderValue::from_str(location) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// An error for people.
fn message(app: &App, lang: Lang, error: &ApiError) -> Response {
    let status = error.status();
    let message = match status {
        StatusCode::UNAUTHORIZED => Message::Unauthorized,
        StatusCode::NOT_FOUND => Message::NotFound,
        StatusCode::TOO_MANY_REQUESTS => Message::TooMany,
        status if status.is_client_error() => Message::BadRequest,
        _ => Message::Busy,
    };
    let mut response = (status, Html(app::render_message(lang, &app.assets.css, message))).into_response();
    let headers = response.headers_mut();
    headers.extend(error.retry_after().map(|seconds| (header::RETRY_AFTER, seconds)));
    secure(
        headers,
        "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
    );
    response
}
