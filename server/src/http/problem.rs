//! The one place that makes HTTP errors: RFC 9457 problems with stable codes. Internal text is logged, never shown.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use contract::{Checkout, PROBLEMS, Problem};
use engine::EngineError;
use store::StoreError;

use super::CURRENT_REQUEST;
use crate::answers::json;

macro_rules! codes {
    ($($name:ident = $status:ident, $code:literal, $title:literal;)+) => {
        /// Every kind of problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $($name),+
        }

        impl Code {
            /// All of them, by status.
            const ALL: &[Self] = &[$(Self::$name),+];

            /// HTTP status, stable word, title.
            fn parts(self) -> (StatusCode, &'static str, &'static str) {
                match self {
                    $(Self::$name => (StatusCode::$status, $code, $title)),+
                }
            }
        }
    };
}

codes! {
    InvalidJson = BAD_REQUEST, "invalid_json", "The body is not the JSON this route takes";
    InvalidRequest = BAD_REQUEST, "invalid_request", "The request cannot be read";
    KeyMissing = BAD_REQUEST, "idempotency_key_missing", "The Idempotency-Key header is missing";
    KeyInvalid = BAD_REQUEST, "idempotency_key_invalid", "The Idempotency-Key header is not a key";
    Unauthorized = UNAUTHORIZED, "unauthorized", "The credentials are missing or not valid";
    Forbidden = FORBIDDEN, "forbidden", "This key may not do that";
    NotFound = NOT_FOUND, "not_found", "There is no such thing";
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "This route does not take that method";
    RequestTimeout = REQUEST_TIMEOUT, "request_timeout", "The request came too slowly";
    OrderPaid = CONFLICT, "order_paid", "The order is paid";
    IntentInProgress = CONFLICT, "intent_in_progress", "The order's payment is under way";
    CheckoutChanged = CONFLICT, "checkout_changed", "The checkout has other terms now";
    CheckoutNotOpen = CONFLICT, "checkout_not_open", "The checkout is over";
    BodyTooLarge = PAYLOAD_TOO_LARGE, "body_too_large", "The body is too large";
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body is not JSON";
    KeyReused = UNPROCESSABLE_ENTITY, "idempotency_key_reused", "The key was used with other parameters";
    SubmitKeyMismatch = UNPROCESSABLE_ENTITY, "submit_key_mismatch", "The key is not this intent's submit key";
    InvalidField = UNPROCESSABLE_ENTITY, "invalid_field", "A field's value cannot be taken";
    CardNumber = UNPROCESSABLE_ENTITY, "card_number_in_text", "A card number has no business in this field";
    TooManyIntents = TOO_MANY_REQUESTS, "too_many_intents", "The checkout has been tried too often";
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests";
    Internal = INTERNAL_SERVER_ERROR, "internal", "The server failed";
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The server cannot do this now";
}

impl Code {
    /// An error of this kind.
    pub(crate) fn error(self, detail: impl Into<String>) -> ApiError {
        ApiError {
            code: self,
            detail: detail.into(),
            field: None,
            location: None,
            retry_after_s: None,
            checkout: None,
        }
    }

    /// An error of this kind that one field is to blame for.
    pub(crate) fn field(self, field: impl Into<String>, detail: impl Into<String>) -> ApiError {
        ApiError { field: Some(field.into()), ..self.error(detail) }
    }
}

/// An error on its way out.
#[derive(Debug)]
pub(crate) struct ApiError {
    code: Code,
    detail: String,
    field: Option<String>,
    location: Option<String>,
    retry_after_s: Option<u32>,
    checkout: Option<Box<Checkout>>,
}

impl ApiError {
    /// Adds where to look.
    pub(crate) fn at(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }

    /// Adds when to come back.
    pub(crate) fn retry_after_s(mut self, seconds: u32) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Adds the terms as they are now.
    pub(crate) fn with_checkout(mut self, checkout: Checkout) -> Self {
        self.checkout = Some(Box::new(checkout));
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.code.parts().0
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// When to come back.
    pub(crate) fn retry_after(&self) -> Option<HeaderValue> {
        self.retry_after_s.map(HeaderValue::from)
    }

    /// The field to blame.
    pub(crate) fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(StoreError::Busy(_) | StoreError::Refused(_)) => {
                tracing::warn!(%error, cause = ?std::error::Error::source(&error), "the store did not take a request");
                Code::Unavailable
                    .error("This request changed nothing and charged nothing. Repeat it with the same key.")
                    .retry_after_s(1)
            }
            EngineError::Store(StoreError::Unknown(_)) => {
                tracing::error!(%error, cause = ?std::error::Error::source(&error), "a commit's outcome is unknown");
                Code::Unavailable
                    .error("Whether this was recorded is not known yet. Repeat the request with the same key, and only with it.")
                    .retry_after_s(1)
            }
            EngineError::Store(StoreError::Unreadable(_) | StoreError::Schema(_))
            | EngineError::Sealed(_)
            | EngineError::NoMerchant(_)
            | EngineError::Transition(_)
            | EngineError::UnknownProvider(_) => {
                tracing::error!(%error, "a request failed");
                Code::Internal.error(
                    "The server failed. Repeat the request with the same key: it cannot be executed twice.",
                )
            }
        }
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        let (status, code, title) = error.code.parts();
        Self {
            kind: format!("{PROBLEMS}#{code}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: error.detail,
            code: code.to_owned(),
            field: error.field,
            request_id: CURRENT_REQUEST.try_with(Clone::clone).unwrap_or_default(),
            checkout: error.checkout,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(mut self) -> Response {
        let (code, retry_after, location) = (self.code, self.retry_after(), self.location.take());
        let mut response = (code.parts().0, json(&Problem::from(self))).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(location) = location.and_then(|location| HeaderValue::from_str(&location).ok()) {
            headers.insert(header::LOCATION, location);
        }
        headers.extend(retry_after.map(|seconds| (header::RETRY_AFTER, seconds)));
        if code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// `GET /docs/problems`: where every problem's `type` leads.
pub(super) async fn explain() -> Html<String> {
    let rows = Code::ALL.iter().map(|code| {
        let (status, code, title) = code.parts();
        format!("<tr id=\"{code}\"><td>{}<td><code>{code}</code><td>{title}\n", status.as_u16())
    });
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Payonce: problems</title><h1>Problems</h1><p>What an answer's <code>code</code> says. Its <code>detail</code> \
         says what it means for the money, and what to do.</p><table><tr><th>Status<th>Code<th>Meaning\n{}</table></html>\n",
        rows.collect::<String>()
    ))
}

/// Any path that is none of ours.
pub(super) async fn not_found() -> ApiError {
    Code::NotFound.error("There is no such path.")
}

/// A path of ours with a method it does not take; axum adds `Allow`.
pub(super) async fn method_not_allowed() -> ApiError {
    Code::MethodNotAllowed.error("The `Allow` header lists the methods this path takes.")
}

#[cfg(test)]
mod tests {
    use contract::REFUSALS;

    use super::Code;

    #[test]
    fn what_a_page_believes_is_a_refusal_of_ours() {
        for code in REFUSALS {
            let known = Code::ALL.iter().find(|known| known.parts().1 == code);
            assert!(known.is_some_and(|known| known.parts().0.is_client_error()), "{code}");
        }
    }
}
