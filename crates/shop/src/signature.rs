//! Whether a webhook is from Payonce: Standard Webhooks, `v1` (HMAC-SHA-256 over id, timestamp and the raw body).
//! Must never look at a body before its signature held, compare signatures byte by byte, or log the secret.

use axum::http::HeaderMap;
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

/// A message's timestamp may be this far from now, on either side: an overheard one cannot be sent again later.
const TOLERANCE_S: u64 = 5 * 60;
/// Signatures looked at; more than one comes while the sender changes its secret.
const MAX_SIGNATURES: usize = 8;
/// Bytes of a secret, as the specification has it.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Why a webhook is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disbelief {
    /// A header is missing or unreadable.
    #[error("the header {0} is missing or unreadable")]
    Header(&'static str),
    /// Too long ago, or too far ahead.
    #[error("its timestamp is more than {TOLERANCE_S} seconds from now")]
    Timestamp,
    /// None of its signatures is made with our secret.
    #[error("its signature is not made with the shop's secret")]
    Signature,
}

/// Not a secret: `whsec_` and 24 to 64 bytes in base64.
#[derive(Debug, PartialEq, Eq)]
pub struct NotASecret;

/// Checks signatures. Holds the secret; has no `Debug`.
pub struct Verifier {
    keyed: Hmac<Sha256>,
}

impl Verifier {
    /// With the secret that sender and shop share.
    ///
    /// # Errors
    /// [`NotASecret`].
    pub fn new(secret: &str) -> Result<Self, NotASecret> {
        let bytes = secret
            .strip_prefix("whsec_")
            .and_then(|encoded| STANDARD.decode(encoded).ok())
            .filter(|bytes| SECRET_BYTES.contains(&bytes.len()))
            .ok_or(NotASecret)?;
        Ok(Self { keyed: Hmac::new_from_slice(&bytes).expect("HMAC takes keys of any length") })
    }

    /// The message's id, once it is shown to be the sender's and of now.
    ///
    /// # Errors
    /// [`Disbelief`].
    pub fn verify<'a>(
        &self,
        headers: &'a HeaderMap,
        body: &[u8],
        now: Timestamp,
    ) -> Result<&'a str, Disbelief> {
        let id = header(headers, "webhook-id")?;
        let timestamp = header(headers, "webhook-timestamp")?;
        let signatures = header(headers, "webhook-signature")?;
        let sent_s: i64 = timestamp.parse().map_err(|_| Disbelief::Header("webhook-timestamp"))?;
        if sent_s.abs_diff(now.as_second()) > TOLERANCE_S {
            return Err(Disbelief::Timestamp);
        }
        let mut mac = self.keyed.clone();
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        signatures
            .split(' ')
            .take(MAX_SIGNATURES)
            .filter_map(|signature| STANDARD.decode(signature.strip_prefix("v1,")?).ok())
            // Constant in time, whatever the signature says.
            .any(|signature| mac.clone().verify_slice(&signature).is_ok())
            .then_some(id)
            .ok_or(Disbelief::Signature)
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Disbelief> {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.filter(|text| !text.is_empty()).ok_or(Disbelief::Header(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";
    const SENT_S: i64 = 1_649_367_553;
    const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;

    fn verify(signature: &str, body: &[u8], now_s: i64) -> Result<String, Disbelief> {
        let headers = HeaderMap::from_iter([
            ("webhook-id".parse().unwrap(), "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk".parse().unwrap()),
            ("webhook-timestamp".parse().unwrap(), SENT_S.to_string().parse().unwrap()),
            ("webhook-signature".parse().unwrap(), signature.parse().unwrap()),
        ]);
        let now = Timestamp::from_second(now_s).unwrap();
        Verifier::new(SECRET).unwrap().verify(&headers, body, now).map(str::to_owned)
    }

    #[test]
    fn the_specifications_example_is_believed() {
        assert_eq!(verify(SIGNATURE, BODY, SENT_S).unwrap(), "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk");
    }

    #[test]
    fn one_good_signature_among_several_is_enough() {
        let others = format!("v1,AAAA v1a,xyz v2,{} {SIGNATURE}", &SIGNATURE[3..]);
        assert!(verify(&others, BODY, SENT_S).is_ok());
        assert_eq!(verify(&others.replace(SIGNATURE, ""), BODY, SENT_S), Err(Disbelief::Signature));
    }

    #[test]
    fn what_was_changed_is_not_believed() {
        let mut body = BODY.to_owned();
        body[2] ^= 1;
        assert_eq!(verify(SIGNATURE, &body, SENT_S), Err(Disbelief::Signature));
        assert_eq!(verify("v1,", BODY, SENT_S), Err(Disbelief::Signature));
        assert_eq!(verify("", BODY, SENT_S), Err(Disbelief::Header("webhook-signature")));
    }

    #[test]
    fn five_minutes_are_tolerated_on_either_side() {
        for (now_s, believed) in [(300, true), (301, false), (-300, true), (-301, false)] {
            assert_eq!(verify(SIGNATURE, BODY, SENT_S + now_s).is_ok(), believed, "{now_s}");
        }
    }

    #[test]
    fn a_secret_is_long_enough_and_marked_as_one() {
        for wrong in ["", "whsec_", "whsec_AAAA", "whsec_!", "C2FVsBQIhrscChlQIMV+b5sSYspob7oD"] {
            assert!(Verifier::new(wrong).is_err(), "{wrong}");
        }
    }
}
