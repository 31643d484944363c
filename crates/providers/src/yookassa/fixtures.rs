//! Objects as YooKassa documents them, with what we do not know among it.

pub(super) const PAID: &str = r#"{"id":"2f-1","status":"succeeded","paid":true,"amount":{"value":"1500.00","currency":"RUB"},
    "metadata":{"payment_intent_id":"pi_00000000000000000000000000000001","order_id":"№ 7","cms_name":"x"},"payment_method":
    {"type":"bank_card","card":{"last4":"4444"}},"created_at":"2026-11-30T10:00:00.123Z","unknown":1}"#;

pub(super) const REFUND: &str = r#"{"id":"216749f7-0016-50be-b000-078d43a63ae4","status":"succeeded",
    "amount":{"value":"1.00","currency":"RUB"},"created_at":"2017-10-04T19:27:51.407Z",
    "payment_id":"216749da-000f-50be-b000-096747fad91e","receipt_registration":"pending",
    "description":"op_00000000000000000000000000000002 changed their mind"}"#;

pub(super) const NOTIFICATION: &str = r#"{"type":"notification","event":"payment.waiting_for_capture","object":{
    "id":"22d6d597-000f-5000-9000-145f6df21d6f","status":"waiting_for_capture","paid":true,
    "amount":{"value":"2.00","currency":"RUB"},"created_at":"2018-07-10T14:27:54.691Z",
    "metadata":{"payment_intent_id":"pi_00000000000000000000000000000001"},"test":false}}"#;

pub(super) const REFUND_NOTIFICATION: &str = r#"{"type":"notification","event":"refund.succeeded","object":{
    "id":"216749f7-0016-50be-b000-078d43a63ae4","payment_id":"216749da-000f-50be-b000-096747fad91e",
    "status":"succeeded","amount":{"value":"1.00","currency":"RUB"},"created_at":"2017-10-04T19:27:51.407Z"}}"#;
