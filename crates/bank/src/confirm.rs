//! The page where the payer confirms, refuses, or leaves without doing either. Plain forms, no script. Looking at
//! the page changes nothing.

use std::sync::Arc;

use axum::extract::{Form, Path, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;

use crate::bank::State;
use crate::book::{Book, When};
use crate::cards::{Card, Outcome};
use crate::http::internal;
use crate::money::Amount;
use crate::payment_rows;
use crate::payments::{Payment, Status};

/// What the payer chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Confirm,
    Refuse,
    Leave,
}

/// The form.
#[derive(Deserialize)]
pub(crate) struct Choice {
    decision: Decision,
}

/// `GET /confirm/{payment}`.
pub(crate) async fn show(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let texts = Texts::preferred(&headers);
    let found = state.write(move |book| {
        book.let_fall_due()?;
        payment_rows::find(book.tx, &id)
    });
    match found.await {
        Ok(payment) => page(payment.as_ref(), texts),
        Err(error) => internal(&error).into_response(),
    }
}

/// `POST /confirm/{payment}`: then the payer goes back to the shop, or sees what became of the payment.
pub(crate) async fn decide(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(Choice { decision }): Form<Choice>,
) -> Response {
    let texts = Texts::preferred(&headers);
    match state.write(move |book| apply(book, &id, decision)).await {
        Ok(Some(Payment { return_url: Some(url), .. })) => Redirect::to(&url).into_response(),
        Ok(payment) => page(payment.as_ref(), texts),
        Err(error) => internal(&error).into_response(),
    }
}

/// Does what the payer chose, if the payment still asks.
fn apply(book: &Book<'_>, id: &str, decision: Decision) -> rusqlite::Result<Option<Payment>> {
    let When { now_ms, lives } = book.when;
    book.let_fall_due()?;
    let Some(mut payment) = payment_rows::find(book.tx, id)? else { return Ok(None) };
    if !payment.asks_the_payer() {
        return Ok(Some(payment));
    }
    match decision {
        Decision::Confirm => {
            payment.card.get_or_insert_with(|| Card::of_page(now_ms));
            payment.settle(Outcome::Success, now_ms, &lives);
        }
        Decision::Refuse => payment.cancel("payment_network", "3d_secure_failed"),
        Decision::Leave => return Ok(Some(payment)),
    }
    book.change_payment(Status::Pending, &payment)?;
    Ok(Some(payment))
}

/// The words of the page in one language.
struct Texts {
    lang: &'static str,
    /// Between each three digits.
    group: &'static str,
    title: &'static str,
    sandbox: &'static str,
    question: &'static str,
    confirm: &'static str,
    refuse: &'static str,
    leave: &'static str,
    back: &'static str,
    unknown: &'static str,
    pending: &'static str,
    waiting: &'static str,
    succeeded: &'static str,
    canceled: &'static str,
}

const ENGLISH: Texts = Texts {
    lang: "en",
    group: ",",
    title: "Confirm the payment",
    sandbox: "Sandbox bank. No real money moves here.",
    question: "Do you confirm this payment?",
    confirm: "Confirm",
    refuse: "Refuse",
    leave: "Leave without deciding",
    back: "Back to the shop",
    unknown: "There is no such payment.",
    pending: "The payment is being worked on. You may close this page.",
    waiting: "The payment is confirmed, and the shop has yet to take the money.",
    succeeded: "The payment went through.",
    canceled: "The payment was canceled. No money was taken.",
};

const RUSSIAN: Texts = Texts {
    lang: "ru",
    group: "\u{a0}",
    title: "Подтверждение платежа",
    sandbox: "Банк-песочница. Настоящие деньги здесь не движутся.",
    question: "Подтверждаете этот платёж?",
    confirm: "Подтвердить",
    refuse: "Отказаться",
    leave: "Уйти, ничего не решив",
    back: "Вернуться в магазин",
    unknown: "Такого платежа нет.",
    pending: "Платёж обрабатывается. Страницу можно закрыть.",
    waiting: "Платёж подтверждён, магазин ещё не списал деньги.",
    succeeded: "Платёж прошёл.",
    canceled: "Платёж отменён. Деньги не списаны.",
};

impl Texts {
    /// The first language of `Accept-Language` that the page speaks, the browser's order being its preference.
    fn preferred(headers: &HeaderMap) -> &'static Self {
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let languages =
            accepted.unwrap_or_default().split(',').map(|item| item.trim().get(..2).unwrap_or_default());
        let known = |language: &str| match language.to_ascii_lowercase().as_str() {
            "ru" => Some(&RUSSIAN),
            "en" => Some(&ENGLISH),
            _ => None,
        };
        languages.filter_map(known).next().unwrap_or(&ENGLISH)
    }

    fn of(&self, status: Status) -> &'static str {
        match status {
            Status::Pending => self.pending,
            Status::WaitingForCapture => self.waiting,
            Status::Succeeded => self.succeeded,
            Status::Canceled => self.canceled,
        }
    }
}

const STYLE: &str = ":root{color-scheme:light dark;--ink:light-dark(#1a1a1a,#eceef2);--ground:light-dark(#fff,#16181d);
--muted:light-dark(#595959,#a7afbc)}body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:10vh auto;padding:0 1rem;
color:var(--ink);background:var(--ground)}a{color:light-dark(#1d4ed8,#a9b9ff)}h1{font-size:1.4rem}.sum{font-size:2rem;font-variant-numeric:tabular-nums;margin:0}
button{font:inherit;display:block;width:100%;min-height:3rem;margin:.75rem 0;border:1px solid var(--muted);
border-radius:.5rem;background:var(--ground);color:inherit;cursor:pointer}button[value=confirm]{background:#14532d;
border-color:#14532d;color:#fff}:focus-visible{outline:3px solid light-dark(#1d4ed8,#a9b9ff);outline-offset:2px}
small{color:var(--muted)}";

fn page(payment: Option<&Payment>, texts: &Texts) -> Response {
    let status = if payment.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let document = html! {
        (DOCTYPE)
        html lang=(texts.lang) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (texts.title) }
                style { (STYLE) }
            }
            body {
                main {
                    h1 { (texts.title) }
                    @match payment {
                        Some(payment) => (sheet(payment, texts)),
                        None => p role="status" { (texts.unknown) },
                    }
                    p { small { (texts.sandbox) } }
                }
            }
        }
    };
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, document).into_response()
}

/// As people write it: `1 500,00 ₽`, `RUB 1,500.00`.
fn sum(amount: &Amount, texts: &Texts) -> String {
    let (whole, hundredths) = (amount.minor / 100, amount.minor % 100);
    let digits = whole.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    let whole = groups.join(texts.group);
    match (texts.lang, amount.currency.as_str()) {
        ("ru", "RUB") => format!("{whole},{hundredths:02}\u{a0}₽"),
        ("ru", currency) => format!("{whole},{hundredths:02}\u{a0}{currency}"),
        (_, currency) => format!("{currency}\u{a0}{whole}.{hundredths:02}"),
    }
}

fn sheet(payment: &Payment, texts: &Texts) -> Markup {
    html! {
        p class="sum" data-status=(payment.status.name()) { (sum(&payment.amount, texts)) }
        @if let Some(description) = &payment.description {
            p { (description) }
        }
        @if let Some(card) = &payment.card {
            p { "•••• " (card.last4()) }
        }
        @if payment.asks_the_payer() {
            p { (texts.question) }
            form method="post" {
                button name="decision" value="confirm" { (texts.confirm) }
                button name="decision" value="refuse" { (texts.refuse) }
                button name="decision" value="leave" { (texts.leave) }
            }
        } @else {
            p role="status" { (texts.of(payment.status)) }
            @if let Some(url) = &payment.return_url {
                p { a href=(url) { (texts.back) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_written_as_its_readers_expect() {
        let written = |minor, currency: &str, texts| {
            sum(&Amount { minor, currency: currency.to_owned() }, texts).replace('\u{a0}', " ")
        };
        assert_eq!(written(150_000, "RUB", &RUSSIAN), "1 500,00 ₽");
        assert_eq!(written(123_456_789, "KZT", &RUSSIAN), "1 234 567,89 KZT");
        assert_eq!(written(150_005, "RUB", &ENGLISH), "RUB 1,500.05");
        assert_eq!(written(7, "USD", &ENGLISH), "USD 0.07");
    }
}
