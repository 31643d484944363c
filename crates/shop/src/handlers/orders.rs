//! `POST /shop/orders`, `GET /shop/orders/{number}`: buying, and looking at what was bought.
//! The order is stored before the API is called; posting the form again calls it again with the same key (R1).

use axum::{
    Form,
    extract::{Path, State, rejection::FormRejection},
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{REFRESH, RETRY_AFTER},
    },
    response::{IntoResponse, Redirect, Response},
};
use contract::{Checkout, CreateCheckout};
use fluent_bundle::FluentArgs;
use reqwest::Url;
use serde::Deserialize;
use tracing::{error, warn};
use uuid::Uuid;

use crate::{
    Shop,
    api::ApiError,
    goods::{self, MAX_QUANTITY},
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
}

impl BuyForm {
    fn into_wish(self) -> Option<Wish> {
        let good = goods::find(&self.good)?;
        (1..=MAX_QUANTITY).contains(&self.quantity).then_some(Wish {
            form_token: self.form_token,
            good,
            quantity: self.quantity,
        })
    }
}

/// Makes the order, or finds the one this form made before, and sends the shopper to its payment page.
pub async fn place(
    State(shop): State<Shop>,
    visitor: Visitor,
    form: Result<Form<BuyForm>, FormRejection>,
) -> Response {
    let Some(wish) = form.ok().and_then(|Form(form)| form.into_wish()) else {
        return (StatusCode::BAD_REQUEST, pages::trouble::unreadable_form(visitor)).into_response();
    };
    let order = shop.orders().place(wish, |number| checkout_request(&shop, visitor, wish, number));
    match open_checkout(&shop, &order).await {
        Ok(payment_page) => Redirect::to(keep_language(payment_page, visitor).as_str()).into_response(),
        Err(error) => checkout_failed(visitor, &order, &error),
    }
}

/// The order, and how its payment stands.
pub async fn show(State(shop): State<Shop>, visitor: Visitor, Path(number): Path<String>) -> Response {
    let Some(order) = shop.orders().find(&number) else {
        return (StatusCode::NOT_FOUND, pages::trouble::no_such_order(visitor)).into_response();
    };
    let standing = standing(&shop, &order).await;
    let refresh = standing.is_settling().then(|| [(REFRESH, HeaderValue::from(REFRESH_S))]);
    (refresh, pages::order::render(visitor, &order, &standing)).into_response()
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

/// Opens the order's checkout and gives the address of its payment page.
async fn open_checkout(shop: &Shop, order: &Order) -> Result<Url, ApiError> {
    let checkout = shop.api().open_checkout(order).await?;
    shop.orders().link(&order.number, &checkout.id);
    payment_page(&checkout)
}

fn payment_page(checkout: &Checkout) -> Result<Url, ApiError> {
    Url::parse(&checkout.url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or(ApiError::Garbled("its link is not an absolute http or https URL"))
}

async fn standing(shop: &Shop, order: &Order) -> Standing {
    let Some(checkout_id) = &order.checkout_id else { return Standing::NotOffered };
    let asked = shop.api().show_checkout(order, checkout_id).await;
    match asked.and_then(|checkout| Ok((payment_page(&checkout)?, checkout))) {
        Ok((page, checkout)) => Standing::of(checkout.status, checkout.payment_intent.state, page),
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
