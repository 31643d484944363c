//! `GET /shop/mailbox`, `GET /shop/mailbox/{name}`: the demo's mails.

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};

use super::missing::Missing;
use crate::{Shop, language::Visitor, pages};

/// All of them.
pub async fn list(State(shop): State<Shop>, visitor: Visitor) -> Result<Response, Missing> {
    let mailbox = shop.mailbox().ok_or(Missing::Page(visitor))?;
    let mails = mailbox.newest().await.map_err(|error| Missing::unreadable(visitor, &error))?;
    Ok(pages::mailbox::list(visitor, &mails).into_response())
}

/// One of them.
pub async fn show(
    State(shop): State<Shop>,
    visitor: Visitor,
    Path(name): Path<String>,
) -> Result<Response, Missing> {
    let mailbox = shop.mailbox().ok_or(Missing::Page(visitor))?;
    let mail = mailbox.find(&name).await.map_err(|error| Missing::unreadable(visitor, &error))?;
    Ok(pages::mailbox::show(visitor, &mail.ok_or(Missing::Page(visitor))?).into_response())
}
