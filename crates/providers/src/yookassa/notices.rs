//! YooKassa's notifications. Pure. `{type, event, object}`, without id or signature: a hint to ask, never evidence.

use payment::{ObjectId, ObjectStatus};
use serde::Deserialize;
use serde_json::Value;

use super::{fields::Fields, objects};
use crate::{About, Notice};

/// Longest name of an event or a status.
const MAX_WORD: usize = 64;

#[derive(Deserialize)]
struct Notification {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    object: Fields<Object>,
}

#[derive(Deserialize)]
struct Object {
    id: String,
    status: String,
    #[serde(default)]
    payment_id: Value,
    #[serde(default)]
    metadata: Value,
}

/// A notification about a payment or a refund. That its event and its object's status differ is no fault: a late one may show the
/// object as it stands by then.
pub(super) fn read(body: &[u8]) -> Option<Notice> {
    let Fields(notification) = serde_json::from_slice(body).ok()?;
    let Notification { kind, event, object: Fields(object) } = notification;
    let (noun, verb) = event.split_once('.')?;
    if kind != "notification" || !is_word(verb) || !is_word(&object.status) {
        return None;
    }
    let about = match noun {
        "payment" => About::Payment,
        "refund" => About::Refund { payment: ObjectId::parse(object.payment_id.as_str()?).ok()? },
        _ => return None,
    };
    Some(Notice {
        about,
        object: ObjectId::parse(object.id).ok()?,
        status: object.status,
        intent: objects::intent(&object.metadata),
        event,
    })
}

fn is_word(text: &str) -> bool {
    (1..=MAX_WORD).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// `pending`, then `waiting_for_capture`, then an end. An end is past everything but the other end: where one is announced and the
/// other is answered, one of the two is false or was reversed, and only asking again can show money that moved after all. So that
/// is not "reached"; the asker bounds how often. A word we do not know is certainly passed only by an end.
pub(super) fn has_reached(now: &ObjectStatus, announced: &str) -> bool {
    match announced {
        "pending" => true,
        "waiting_for_capture" => !matches!(now, ObjectStatus::Pending { .. }),
        "succeeded" => *now == ObjectStatus::Succeeded,
        "canceled" => matches!(now, ObjectStatus::Ended(_)),
        _ => matches!(now, ObjectStatus::Succeeded | ObjectStatus::Ended(_)),
    }
}

#[cfg(test)]
mod tests {
    use payment::Ending;

    use super::*;
    use crate::yookassa::fixtures::{NOTIFICATION, PAID, REFUND_NOTIFICATION};

    #[test]
    fn a_notification_of_a_payment_is_a_hint_to_ask() {
        let expected = Notice {
            event: "payment.waiting_for_capture".to_owned(),
            object: ObjectId::parse("22d6d597-000f-5000-9000-145f6df21d6f").unwrap(),
            about: About::Payment,
            status: "waiting_for_capture".to_owned(),
            intent: "pi_00000000000000000000000000000001".parse().ok(),
        };
        assert_eq!(read(NOTIFICATION.as_bytes()), Some(expected));
    }

    #[test]
    fn a_notification_of_a_refund_names_its_payment() {
        let notice = read(REFUND_NOTIFICATION.as_bytes()).unwrap();
        let payment = ObjectId::parse("216749da-000f-50be-b000-096747fad91e").unwrap();
        assert_eq!((notice.about, notice.intent), (About::Refund { payment }, None));
        assert_eq!((notice.event.as_str(), notice.status.as_str()), ("refund.succeeded", "succeeded"));
    }

    #[test]
    fn a_late_notification_may_show_its_object_as_it_stands_by_then() {
        let late = NOTIFICATION.replace(r#""status":"waiting_for_capture""#, r#""status":"succeeded""#);
        let notice = read(late.as_bytes()).unwrap();
        assert_eq!(
            (notice.event.as_str(), notice.status.as_str()),
            ("payment.waiting_for_capture", "succeeded")
        );
    }

    #[test]
    fn unknown_fields_and_odd_metadata_do_not_matter() {
        for metadata in
            ["[]", "null", "7", r#"{"payment_intent_id":{"a":[1]}}"#, r#"{"payment_intent_id":"pi_x"}"#]
        {
            let odd = NOTIFICATION
                .replace(r#"{"payment_intent_id":"pi_00000000000000000000000000000001"}"#, metadata)
                .replace(r#""test":false"#, r#""test":{"x":[]},"payment_id":5"#);
            let notice = read(odd.as_bytes()).unwrap_or_else(|| panic!("{odd}"));
            assert_eq!(notice.intent, None, "{metadata}");
        }
    }

    #[test]
    fn fault_forged_what_has_not_the_shape_is_no_notification() {
        let cases = [
            (r#""notification""#, r#""notice""#.to_owned()),
            (r#""notification""#, "7".to_owned()),
            ("payment.waiting_for_capture", "payment".to_owned()),
            ("payment.waiting_for_capture", "payment.".to_owned()),
            ("payment.waiting_for_capture", "payment.Waiting ".to_owned()),
            ("payment.waiting_for_capture", format!("payment.{}", "x".repeat(65))),
            ("payment.waiting_for_capture", "payout.succeeded".to_owned()),
            ("payment.waiting_for_capture", "payment_method.active".to_owned()),
            ("payment.waiting_for_capture", "refund.succeeded".to_owned()),
            (r#""status":"waiting_for_capture""#, r#""status":"""#.to_owned()),
            (r#""status":"waiting_for_capture""#, r#""status":"a\u0000b""#.to_owned()),
            (r#""status":"waiting_for_capture""#, format!(r#""status":"{}""#, "x".repeat(65))),
            (r#""status":"waiting_for_capture""#, r#""status":{}"#.to_owned()),
            ("22d6d597-000f-5000-9000-145f6df21d6f", String::new()),
            ("22d6d597-000f-5000-9000-145f6df21d6f", "x".repeat(1 << 20)),
            ("22d6d597-000f-5000-9000-145f6df21d6f", "a\\u0007b".to_owned()),
            (r#""22d6d597-000f-5000-9000-145f6df21d6f""#, "22".to_owned()),
            (r#""object""#, r#""subject""#.to_owned()),
        ];
        for (of, to) in cases {
            let body = NOTIFICATION.replace(of, &to);
            assert_ne!(body, NOTIFICATION);
            assert_eq!(read(body.as_bytes()), None, "{of} → {:.80}", to);
        }
        let nested = format!(r#"{{"type":"notification","object":{}"#, "[".repeat(100_000));
        let list = r#"["notification","payment.succeeded",{"id":"2f-1","status":"succeeded"}]"#;
        let listed = r#"{"type":"notification","event":"payment.succeeded","object":["2f-1","succeeded"]}"#;
        let odd = ["", "null", "[]", "{}", PAID, &NOTIFICATION[..90], &nested, "\u{feff}{}", list, listed];
        for body in odd {
            assert_eq!(read(body.as_bytes()), None, "{:.80}", body);
        }
        assert_eq!(read(b"\xff\xfe{}"), None);
    }

    #[test]
    fn an_announcement_is_reached_by_its_status_and_by_any_later_one() {
        let code = String::new;
        let pending = ObjectStatus::Pending { confirmation_url: None };
        let held = ObjectStatus::WaitingForCapture;
        let succeeded = ObjectStatus::Succeeded;
        let words = ["pending", "waiting_for_capture", "succeeded", "canceled", "new_word"];
        let reached = |now: &ObjectStatus| words.map(|announced| has_reached(now, announced));
        assert_eq!(reached(&pending), [true, false, false, false, false]);
        assert_eq!(reached(&held), [true, true, false, false, false]);
        // The other end than the announced one: not reached, so it is asked again.
        assert_eq!(reached(&succeeded), [true, true, true, false, true]);
        for ending in [
            Ending::Declined { code: code() },
            Ending::Canceled { code: code() },
            Ending::Expired { code: code() },
        ] {
            assert_eq!(reached(&ObjectStatus::Ended(ending)), [true, true, false, true, true]);
        }
    }
}
