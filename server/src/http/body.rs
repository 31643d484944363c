//! Reading bodies: bounded, patient only for a while, strict about JSON.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
};
use http_body_util::BodyExt;
use payment::has_card_number;
use serde::{Deserialize, de::DeserializeOwned};

use super::{ApiError, App, Code};

/// Longest body that is read.
const MAX_BODY_BYTES: usize = 64 << 10;
/// A longer one is read and dropped up to here, so that the client sees the refusal and not a broken connection.
const MAX_DROPPED_BYTES: usize = 1 << 20;

/// A JSON body: unknown and repeated fields are refused, and the field to blame is named.
pub(super) async fn read_json<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, ApiError> {
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        // Read and dropped, for the same reason as a body that is too long.
        read(app, body).await?;
        return Err(Code::UnsupportedMediaType.error("Send `Content-Type: application/json`."));
    }
    let bytes = read(app, body).await?;
    parse(&bytes)
}

/// The body of a request that takes none: nothing, or an empty object.
pub(super) async fn read_nothing(app: &App, body: Body) -> Result<(), ApiError> {
    /// No member at all.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    let bytes = read(app, body).await?;
    if !bytes.trim_ascii().is_empty() {
        let Nothing {} = parse(&bytes)?;
    }
    Ok(())
}

/// The value that bytes are.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let detail = error.into_inner().to_string();
        match path.as_str() {
            // The words repeat what came in: a card number in the wrong place is not said again.
            _ if has_card_number(&path) || has_card_number(&detail) => {
                Code::InvalidJson.error("A field has a name or a value that this route does not take.")
            }
            "." => Code::InvalidJson.error(detail),
            _ => Code::InvalidJson.field(path, detail),
        }
    })?;
    deserializer.end().map_err(|error| Code::InvalidJson.error(error.to_string()))?;
    if has_list(bytes) {
        return Err(Code::InvalidJson.error("No field of this route is a list."));
    }
    Ok(value)
}

/// Whether well-formed JSON holds an array: serde takes one for an object, its items for the fields in their order.
fn has_list(json: &[u8]) -> bool {
    let (mut in_text, mut escaped) = (false, false);
    for byte in json {
        match (in_text, *byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'[') => return true,
            (true | false, _) => {}
        }
    }
    false
}

/// A form's fields.
pub(super) async fn read_form<T: DeserializeOwned>(app: &App, body: Body) -> Result<T, ApiError> {
    let bytes = read(app, body).await?;
    serde_urlencoded::from_bytes(&bytes).map_err(|error| Code::InvalidRequest.error(error.to_string()))
}

/// The bytes of a body.
pub(super) async fn read(app: &App, body: Body) -> Result<Bytes, ApiError> {
    let slow = |_| Code::RequestTimeout.error("The body did not arrive in time. Nothing was changed.");
    tokio::time::timeout(app.patience.body, read_bounded(body)).await.map_err(slow)?
}

async fn read_bounded(mut body: Body) -> Result<Bytes, ApiError> {
    let (mut kept, mut seen) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Code::InvalidRequest.error("The body broke off. Nothing was changed."))?;
        let Ok(chunk) = frame.into_data() else { continue };
        seen += chunk.len();
        if seen > MAX_DROPPED_BYTES {
            break;
        }
        if seen <= MAX_BODY_BYTES {
            kept.extend_from_slice(&chunk);
        }
    }
    if seen > MAX_BODY_BYTES {
        return Err(Code::BodyTooLarge.error("A body may have 64 KiB. Nothing was changed."));
    }
    Ok(kept.into())
}
