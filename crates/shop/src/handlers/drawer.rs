//! `POST /shop/orders/{number}/faults`, `GET /shop/orders/{number}/live`: the drawer of an order.

use axum::{
    Form,
    extract::{Path, State, rejection::FormRejection},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use serde::Deserialize;
use tracing::warn;

use super::{missing::Missing, orders};
use crate::{
    Shop,
    bank::Bank,
    faults::{self, Fault},
    figures::Figures,
    headers::Nonce,
    language::Visitor,
    orders::Order,
    pages::{self, drawer::OrderDrawer},
};

/// The drawer's form.
#[derive(Deserialize)]
pub struct FaultForm {
    fault: String,
}

/// Lets the chosen fault happen to the order's next payment.
pub async fn choose(
    State(shop): State<Shop>,
    visitor: Visitor,
    Path(number): Path<String>,
    form: Result<Form<FaultForm>, FormRejection>,
) -> Result<Response, Missing> {
    let bank = shop.bank().ok_or(Missing::Page(visitor))?;
    let order = orders::find(&shop, visitor, &number).await?;
    let Some(fault) = form.ok().and_then(|Form(form)| faults::find(&form.fault)) else {
        return Ok((StatusCode::BAD_REQUEST, pages::trouble::unreadable_form(visitor)).into_response());
    };
    Ok(match arm(bank, visitor, &order, fault).await {
        Ok(()) => Redirect::to(&visitor.link(&order.path())).into_response(),
        Err(refused) => refused,
    })
}

/// The parts of the order's page that change by themselves.
pub async fn live(
    State(shop): State<Shop>,
    visitor: Visitor,
    Path(number): Path<String>,
) -> Result<Response, Missing> {
    let bank = shop.bank().ok_or(Missing::Page(visitor))?;
    let order = orders::find(&shop, visitor, &number).await?;
    let shipped_at = orders::shipped_at(&shop, visitor, &order).await?;
    let (standing, drawer) = tokio::join!(orders::standing(&shop, &order), open(&shop, bank, &order));
    let markup =
        pages::drawer::live(visitor, &standing, shipped_at, &drawer.figures, drawer.armed.as_deref());
    Ok(markup.into_response())
}

/// The order's drawer as it is now.
pub async fn open(shop: &Shop, bank: &Bank, order: &Order) -> OrderDrawer {
    let (figures, armed) = tokio::join!(Figures::gather(shop, bank, order), bank.armed_for(&order.number));
    let armed = armed.inspect_err(|error| {
        warn!(error = error as &dyn std::error::Error, "the bank's faults are not known");
    });
    OrderDrawer { figures, armed: armed.ok(), has_mailbox: shop.mailbox().is_some(), nonce: Nonce::new() }
}

/// Tells the bank, or the shopper that the bank did not listen.
pub async fn arm(bank: &Bank, visitor: Visitor, order: &Order, fault: &Fault) -> Result<(), Response> {
    fault.arm(bank, &order.number).await.map_err(|error| {
        let error = &error as &dyn std::error::Error;
        warn!(order = order.number, fault = fault.name, error, "a fault was not set");
        (StatusCode::BAD_GATEWAY, pages::trouble::fault_not_set(visitor, order)).into_response()
    })
}
