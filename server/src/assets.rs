//! The browser's files, carried in the binary: hashed names, immutable, brotli where it is accepted.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use rust_embed::RustEmbed;

use crate::http::Id;

/// `cargo xtask web` fills it; without it the pages work, and say that the card form cannot load.
#[derive(RustEmbed)]
#[folder = "../target/site"]
#[allow_missing = true]
struct Site;

/// The files' paths, as the manifest names them; empty where nothing was built.
pub(crate) fn paths() -> app::Assets {
    let manifest = Site::get("manifest.json").and_then(|file| serde_json::from_slice(&file.data).ok());
    let manifest: serde_json::Value = manifest.unwrap_or_default();
    let path = |name: &str| manifest.get(name).and_then(|path| path.as_str()).unwrap_or_default().to_owned();
    app::Assets { css: path("css"), js: path("js"), wasm: path("wasm") }
}

/// `GET /pkg/{file}`.
pub(crate) async fn serve(Id(file): Id, headers: HeaderMap) -> Response {
    let name = format!("pkg/{file}");
    let compressed = takes_brotli(&headers).then(|| Site::get(&format!("{name}.br"))).flatten();
    let encoding = compressed.as_ref().map(|_| "br");
    let Some(found) = compressed.or_else(|| Site::get(&name)).filter(|_| !file.ends_with(".br")) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = (
        [
            (header::CONTENT_TYPE, content_type(&file)),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            (header::VARY, "accept-encoding"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ],
        found.data.into_owned(),
    )
        .into_response();
    if let Some(encoding) = encoding {
        response.headers_mut().insert(header::CONTENT_ENCODING, header::HeaderValue::from_static(encoding));
    }
    response
}

/// Whether the browser takes what is in brotli.
pub(crate) fn takes_brotli(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(accepts_brotli)
}

/// `br`, unless with a weight of nothing (RFC 9110, 12.5.3).
fn accepts_brotli(coding: &str) -> bool {
    let mut parts = coding.split(';').map(str::trim);
    let refused = |weight: &str| weight.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
    parts.next().is_some_and(|name| name.eq_ignore_ascii_case("br")) && !parts.any(refused)
}

fn content_type(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some(_) | None => "application/octet-stream",
    }
}
