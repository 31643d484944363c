//! What makes two requests the same: the key, its scope, and the significant parameters in one canonical form (R3, R4, R7).

use std::fmt;

use sha2::{Digest, Sha256};

/// Version of the canonical form: a change of it never matches what an older one wrote.
const VERSION: &str = "1";

/// A text is not an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 255 visible ASCII characters, none of them a double quote, a backslash or a comma")]
pub struct KeySyntaxError;

/// What a caller sends to name one intention. It grants no right.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Longest key, as Stripe allows.
    pub const MAX_CHARS: usize = 255;

    /// Takes 1–255 characters of 0x21–0x7E without `"`, `\` and `,`; case matters, nothing is trimmed.
    pub fn parse(text: &str) -> Result<Self, KeySyntaxError> {
        let allowed = |b: u8| matches!(b, 0x21..=0x7e) && !matches!(b, b'"' | b'\\' | b',');
        let fits = !text.is_empty() && text.len() <= Self::MAX_CHARS && text.bytes().all(allowed);
        if fits { Ok(Self(text.to_owned())) } else { Err(KeySyntaxError) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("IdempotencyKey(…)")
    }
}

/// The kind of operation a key is for: part of its scope (R7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyKind {
    /// `POST /v1/checkouts`.
    CreateCheckout,
    /// `POST /v1/checkouts/{id}/payment_intents`.
    CreateIntent,
    /// `POST /v1/payment_intents/{id}/submit`.
    Submit,
}

impl KeyKind {
    /// As stored and as fingerprinted.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CreateCheckout => "create_checkout",
            Self::CreateIntent => "create_intent",
            Self::Submit => "submit",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::CreateCheckout, Self::CreateIntent, Self::Submit]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// The significant parameters of a request, typed and defaulted, as canonical text: a JSON array of name and value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    canonical: String,
}

impl Fingerprint {
    /// From the parameters in their documented order. The kind and the form's version are part of it.
    pub fn new(kind: KeyKind, fields: &[(&str, String)]) -> Self {
        let mut pairs = vec![("version", VERSION.to_owned()), ("kind", kind.as_str().to_owned())];
        pairs.extend(fields.iter().cloned());
        let canonical = serde_json::to_string(&pairs).expect("pairs of text are JSON");
        Self { canonical }
    }

    /// From its stored form.
    pub fn from_canonical(canonical: impl Into<String>) -> Self {
        Self { canonical: canonical.into() }
    }

    /// The stored form.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// SHA-256 of the canonical text.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.canonical.as_bytes()).into()
    }

    /// The first field in which `self` differs from `first`, so that the refusal can name it (R3); `None` when equal.
    pub fn differs_from(&self, first: &Fingerprint) -> Option<String> {
        if self.digest() == first.digest() {
            return None;
        }
        let pairs = |text: &str| serde_json::from_str::<Vec<(String, String)>>(text).unwrap_or_default();
        let (ours, theirs) = (pairs(&self.canonical), pairs(&first.canonical));
        let differing = ours
            .iter()
            .find(|pair| !theirs.contains(pair))
            .or_else(|| theirs.iter().find(|p| !ours.contains(p)));
        Some(differing.map_or_else(|| "version".to_owned(), |(name, _)| name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn print(fields: &[(&str, &str)]) -> Fingerprint {
        let owned: Vec<_> = fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Fingerprint::new(KeyKind::CreateCheckout, &owned)
    }

    #[test]
    fn r3_the_differing_field_is_named() {
        let first = print(&[("order_id", "123"), ("amount", "1500.00 RUB")]);
        assert_eq!(
            print(&[("order_id", "123"), ("amount", "5000.00 RUB")]).differs_from(&first).as_deref(),
            Some("amount")
        );
        assert_eq!(print(&[("order_id", "123"), ("amount", "1500.00 RUB")]).differs_from(&first), None);
        assert_eq!(print(&[("order_id", "123")]).differs_from(&first).as_deref(), Some("amount"));
    }

    #[test]
    fn r7_the_kind_is_part_of_the_fingerprint() {
        let other = Fingerprint::new(KeyKind::Submit, &[("order_id", "123".into())]);
        assert_eq!(other.differs_from(&print(&[("order_id", "123")])).as_deref(), Some("kind"));
    }

    #[test]
    fn a_key_is_taken_as_it_is_or_not_at_all() {
        assert_eq!(IdempotencyKey::parse("aB-1").map(|k| k.as_str().to_owned()), Ok("aB-1".into()));
        assert!(IdempotencyKey::parse(&"k".repeat(255)).is_ok());
        for wrong in ["", " a", "a b", "a\"", "a\\", "a,b", "a\r", "é", &"k".repeat(256)] {
            assert_eq!(IdempotencyKey::parse(wrong), Err(KeySyntaxError), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn r4_no_two_different_requests_share_a_fingerprint(a in ".{0,8}", b in ".{0,8}", c in ".{0,8}", d in ".{0,8}") {
            let (first, second) = (print(&[("x", &a), ("y", &b)]), print(&[("x", &c), ("y", &d)]));
            prop_assert_eq!(first.differs_from(&second).is_none(), a == c && b == d);
        }
    }
}
