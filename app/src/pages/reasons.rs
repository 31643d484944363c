//! Why a bank says no, in people's words.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// Messages, and the codes they are for (YooKassa's reasons, and the sandbox's).
const REASONS: [(&str, &[&str]); 13] = [
    ("decline-funds", &["insufficient_funds"]),
    ("decline-expired", &["card_expired", "expired_card"]),
    ("decline-number", &["invalid_card_number"]),
    ("decline-code", &["invalid_csc"]),
    ("decline-limit", &["payment_method_limit_exceeded"]),
    ("decline-restricted", &["country_forbidden", "payment_method_restricted", "permission_revoked"]),
    ("decline-fraud", &["fraud_suspected"]),
    ("decline-call", &["call_issuer"]),
    ("decline-secure", &["3d_secure_failed", "identification_required"]),
    ("decline-timeout", &["expired_on_confirmation", "internal_timeout"]),
    ("decline-issuer", &["issuer_unavailable"]),
    ("decline-rejected", &["invalid_request", "not_supported"]),
    (OTHER, &["other"]),
];

const OTHER: &str = "decline-other";

/// All reasons, hidden but for the one the page opens with.
#[component]
pub(super) fn Reasons(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let shown = message_for(page.reason().as_deref().unwrap_or_default());
    REASONS
        .map(|(message, codes)| {
            view! {
                <p data-reason=codes.join(" ") hidden=message != shown>
                    {page.say(message)}
                </p>
            }
        })
        .collect_view()
}

fn message_for(code: &str) -> &'static str {
    REASONS.iter().find(|(_, codes)| codes.contains(&code)).map_or(OTHER, |(message, _)| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_reason_and_unknown_ones_are_other() {
        assert_eq!(message_for("insufficient_funds"), "decline-funds");
        assert_eq!(message_for("expired_card"), message_for("card_expired"));
        assert_eq!(message_for("general_decline"), OTHER);
        assert_eq!(message_for(""), OTHER);
        let mut codes: Vec<_> = REASONS.iter().flat_map(|(_, codes)| codes.iter()).collect();
        codes.sort_unstable();
        codes.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1]));
    }
}
