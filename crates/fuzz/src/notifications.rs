//! The bodies of a provider's notifications. Input: the body.

use payment::ObjectId;
use providers::{About, Notice, yookassa::offline};
use serde_json::json;

use crate::written;

pub(crate) fn check(body: &[u8]) {
    let Some(notice) = offline::notice(body) else { return };
    is_plain(&notice);
    is_what_was_written(&notice, body);
    is_stable(&notice);
    names_one_thing(notice);
}

fn is_plain(notice: &Notice) {
    let is_word = |text: &str| {
        let word = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        (1..=64).contains(&text.len()) && text.bytes().all(word)
    };
    let noun = match notice.about {
        About::Payment => "payment.",
        About::Refund { .. } => "refund.",
    };
    assert!(notice.event.strip_prefix(noun).is_some_and(is_word), "{notice:?}");
    assert!(is_word(&notice.status), "{notice:?}");
    let payment = match &notice.about {
        About::Payment => None,
        About::Refund { payment } => Some(payment),
    };
    for id in [Some(&notice.object), payment].into_iter().flatten() {
        assert_eq!(ObjectId::parse(id.as_str()).as_ref(), Ok(id));
    }
}

fn is_what_was_written(notice: &Notice, body: &[u8]) {
    assert!(written::is_json(body), "no JSON");
    let first = body.trim_ascii_start().first();
    assert_eq!(first, Some(&b'{'), "no object");
    let Some(value) = written::object(body) else { return };
    let text = |path: &[&str]| written::text(&value, path);
    assert_eq!(text(&["type"]), Some("notification"));
    assert_eq!(text(&["event"]), Some(notice.event.as_str()));
    assert_eq!(text(&["object", "id"]), Some(notice.object.as_str()));
    assert_eq!(text(&["object", "status"]), Some(notice.status.as_str()));
    if let About::Refund { payment } = &notice.about {
        assert_eq!(text(&["object", "payment_id"]), Some(payment.as_str()));
    }
    let named = text(&["object", "metadata", "payment_intent_id"]).and_then(|id| id.parse().ok());
    assert_eq!(notice.intent, named);
}

/// What we keep of it reads as the same notification.
fn is_stable(notice: &Notice) {
    let mut object = json!({ "id": notice.object, "status": notice.status });
    if let About::Refund { payment } = &notice.about {
        object["payment_id"] = json!(payment);
    }
    if let Some(intent) = notice.intent {
        object["metadata"] = json!({ "payment_intent_id": intent.to_string() });
    }
    let kept = json!({ "type": "notification", "event": notice.event, "object": object });
    assert_eq!(offline::notice(kept.to_string().as_bytes()).as_ref(), Some(notice));
}

/// Two notifications have one identity only if they announce the same of the same object.
fn names_one_thing(notice: Notice) {
    let said = engine::announcement(notice);
    if !said.is_plain() {
        return;
    }
    let identity = said.identity();
    let parts: Vec<_> = identity.splitn(3, ' ').collect();
    assert_eq!(parts, [said.event.as_str(), said.status.as_str(), said.object.as_str()]);
}
