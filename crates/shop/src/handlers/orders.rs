//! `POST /shop/orders`, `GET /shop/orders/{number}`: buying, and looking at what was bought.
//! The order is stored before the API is called; posting the form again calls it again with the same key (R1).

use axum::{
    Extension, Form,
    extract::{Path, State, rejection::FormRejection},
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{REFRESH, RETRY_AFTER},
    },
    response::{IntoResponse, Redirect, Response},
};
use contract::{Checkout, CreateCheckout};
use fluent_bundle::FluentArgs;
use jiff::Timestamp;
use reqwest::Url;
use serde::Deserialize;
use tracing::{error, warn};
use uuid::Uuid;

use crate::{
    Shop,
    api::ApiError,
    faults::{self, Fault},
    goods::{self, MAX_QUANTITY},
    handlers::{drawer, missing::Missing},
    language::Visitor,
    orders::{self, Order, Wish},
    pages,
    pages::order::Standing,
};

/// While a payment is being settled the order's page looks again by itself, seconds.
const REFRESH_S: u16 = 10;

/// A buy form.
#[derive(Deserialize)]
pub struct BuyForm {
    form_token: Uuid,
    good: String,
    quantity: u8,
    fault: Option<String>,
}

impl BuyForm {
    /// What is wanted, and what is to go wrong with its payment.
    fn read(self) -> Option<(Wish, Option<&'static Fault>)> {
        let good = goods::find(&self.good)?;
        let fault = match &self.fault {
            Some(name) => Some(faults::find(name)?),
            None => None,
        };
        let wish = Wish { form_token: self.form_token, good, quantity: self.quantity };
        (1..=MAX_QUANTITY).contains(&self.quantity).then_some((wish, fault))
    }
}

/// Makes the order, or finds the one this form made before, and sends the shopper to its payment page.
pub async fn place(
    State(shop): State<Shop>,
    visitor: Visitor,
    form: Result<Form<BuyForm>, FormRejection>,
) -> Result<Response, Missing> {
    let Some((wish, fault)) = form.ok().and_then(|Form(form)| form.read()) else {
        return Ok((StatusCode::BAD_REQUEST, pages::trouble::unreadable_form(visitor)).into_response());
    };
    let placed = shop.orders().place(wish, |number| checkout_request(&shop, visitor, wish, number)).await;
    let placed = placed.map_err(|error| Missing::unreadable(visitor, &error))?;
    let order = placed.order;
    // A form that was posted twice wants its fault once.
    if let (true, Some(fault), Some(bank)) = (placed.is_new, fault, shop.bank())
        && let Err(refused) = drawer::arm(bank, visitor, &order, fault).await
    {
        return Ok(refused);
    }
    let checkout = match shop.api().open_checkout(&order).await {
        Ok(checkout) => checkout,
        Err(error) => return Ok(checkout_failed(visitor, &order, &error)),
    };
    let linked = shop.orders().link(&order.number, &checkout.id).await;
    linked.map_err(|error| Missing::unreadable(visitor, &error))?;
    Ok(match payment_page(&checkout) {
        Ok(page) => Redirect::to(keep_language(page, visitor).as_str()).into_response(),
        Err(error) => checkout_failed(visitor, &order, &error),
    })
}

/// The order, and how its payment and its delivery stand.
pub async fn show(
    State(shop): State<Shop>,
    visitor: Visitor,
    Path(number): Path<String>,
) -> Result<Response, Missing> {
    let order = find(&shop, visitor, &number).await?;
    let standing = standing(&shop, &order).await;
    let shipped_at = shipped_at(&shop, visitor, &order).await?;
    let drawer = match shop.bank() {
        Some(bank) => Some(drawer::open(&shop, bank, &order).await),
        None => None,
    };
    let will_change = standing.is_settling() || (standing == Standing::Paid && shipped_at.is_none());
    let refresh = will_change.then(|| [(REFRESH, HeaderValue::from(REFRESH_S))]);
    let page = pages::order::render(visitor, &order, &standing, shipped_at, drawer.as_ref());
    let nonce = drawer.map(|drawer| Extension(drawer.nonce));
    Ok((refresh, nonce, page).into_response())
}

/// The order of that number.
pub async fn find(shop: &Shop, visitor: Visitor, number: &str) -> Result<Order, Missing> {
    let found = shop.orders().find(number).await;
    found.map_err(|error| Missing::unreadable(visitor, &error))?.ok_or(Missing::Order(visitor))
}

/// When the order was shipped, if it was.
pub async fn shipped_at(shop: &Shop, visitor: Visitor, order: &Order) -> Result<Option<Timestamp>, Missing> {
    let shipped_at = shop.shipments().shipped_at(&order.number).await;
    shipped_at.map_err(|error| Missing::unreadable(visitor, &error))
}

/// What the API will be asked for: frozen with the order, so that every try sends the same.
fn checkout_request(shop: &Shop, visitor: Visitor, wish: Wish, number: &str) -> CreateCheckout {
    let mut return_url = shop.public_url().clone();
    return_url.set_path(&orders::path_of(number));
    return_url.set_query(None);
    let mut args = FluentArgs::new();
    args.set("good", visitor.language.say(wish.good.slug));
    args.set("quantity", wish.quantity);
    CreateCheckout {
        order_id: number.to_owned(),
        amount: wish.good.price.times(wish.quantity).to_amount(),
        description: Some(visitor.language.say_with("order-description", &args)),
        customer: None,
        return_url: Some(keep_language(return_url, visitor).into()),
        metadata: None,
        expires_in: None,
        capture: None,
    }
}

fn payment_page(checkout: &Checkout) -> Result<Url, ApiError> {
    Url::parse(&checkout.url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or(ApiError::Garbled("its link is not an absolute http or https URL"))
}

/// How the order stands, by the API.
pub async fn standing(shop: &Shop, order: &Order) -> Standing {
    let Some(checkout_id) = &order.checkout_id else { return Standing::NotOffered };
    let asked = shop.api().show_checkout(order, checkout_id).await;
    match asked.and_then(|checkout| Ok((payment_page(&checkout)?, checkout))) {
        Ok((page, checkout)) => {
            Standing::of(checkout.status, checkout.payment_intent.state, checkout.in_question, page)
        }
        Err(error) => {
            warn!(
                order = order.number,
                error = &error as &dyn std::error::Error,
                "order status is not known"
            );
            Standing::Unknown
        }
    }
}

/// A visitor who chose a language with `?lang=` finds it on the other side of a redirect as well.
fn keep_language(mut url: Url, visitor: Visitor) -> Url {
    if visitor.chose {
        url.query_pairs_mut().append_pair("lang", visitor.language.tag());
    }
    url
}

fn checkout_failed(visitor: Visitor, order: &Order, failure: &ApiError) -> Response {
    let mut retry_after: Option<[(HeaderName, HeaderValue); 1]> = None;
    let status = match failure {
        ApiError::OrderPaid => StatusCode::CONFLICT,
        ApiError::Busy { retry_after_s } => {
            retry_after = retry_after_s.map(|seconds| [(RETRY_AFTER, HeaderValue::from(seconds))]);
            StatusCode::SERVICE_UNAVAILABLE
        }
        ApiError::NoAnswer(_) => StatusCode::GATEWAY_TIMEOUT,
        ApiError::KeyRefused { .. }
        | ApiError::Refused { .. }
        | ApiError::Failed { .. }
        | ApiError::Garbled(_) => StatusCode::BAD_GATEWAY,
    };
    let (cause, api_request) = (failure as &dyn std::error::Error, failure.request_id());
    if matches!(failure, ApiError::KeyRefused { .. } | ApiError::Refused { .. } | ApiError::Garbled(_)) {
        error!(order = order.number, api_request, error = cause, "checkout was not opened");
    } else {
        warn!(order = order.number, api_request, error = cause, "checkout was not opened");
    }
    (status, retry_after, pages::trouble::no_checkout(visitor, order, failure)).into_response()
}
