//! Pages go over the wire in brotli where the browser takes it: on a slow line it is what decides when there is something to read.
//! Must never be put before a stream, which it would hold back, nor before an answer of the API.
//!
//! A page has secrets (its token, the submit key) beside text of others (the description, an address that was typed), so that its
//! length could tell of them to somebody who has it made again and again with text of his own. Nobody can who does not know
//! the token: no cookie authorises a page, only the token in its address, and who knows that has the page.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use brotli::enc::BrotliEncoderParams;

use crate::assets;

/// Half a millisecond for a page; the highest takes a hundred times that for a tenth fewer bytes.
const QUALITY: i32 = 5;
/// No page is longer.
const MAX_PAGE_BYTES: usize = 1 << 20;

/// For the pages' routes.
pub(in crate::http) async fn compress(request: Request, next: Next) -> Response {
    // What answers a HEAD has no body.
    let wanted = assets::takes_brotli(request.headers()) && request.method() != Method::HEAD;
    let mut response = next.run(request).await;
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !wanted || !is_html(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(page) = to_bytes(body, MAX_PAGE_BYTES).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
    Response::from_parts(head, Body::from(shorten(&page)))
}

fn is_html(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/html"))
}

fn shorten(page: &[u8]) -> Vec<u8> {
    let params = BrotliEncoderParams { quality: QUALITY, size_hint: page.len(), ..Default::default() };
    let mut short = Vec::new();
    let mut rest = page;
    brotli::BrotliCompress(&mut rest, &mut short, &params).expect("memory takes all bytes");
    short
}
