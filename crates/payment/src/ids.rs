//! Ids as newtypes, so that an order, an operation and an attempt can never be mistaken for each other (R8).

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text is not an id of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Wrong prefix, length or characters.
    #[error("not an id of the form `{prefix}…` with 32 hexadecimal digits")]
    Malformed {
        /// What it has to begin with.
        prefix: &'static str,
    },
    /// Empty, too long, or with control characters.
    #[error("must have 1 to {max} characters, none of them a control character")]
    Text {
        /// Most characters allowed.
        max: usize,
    },
}

macro_rules! prefixed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let malformed = IdError::Malformed { prefix: $prefix };
                let hex = text.strip_prefix($prefix).ok_or_else(|| malformed.clone())?;
                let lower = hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                if !lower {
                    return Err(malformed);
                }
                Uuid::try_parse(hex).map(Self).map_err(|_| malformed)
            }
        }
    };
}

prefixed_id!(
    /// An order offered for payment: `co_…`.
    CheckoutId, "co_"
);
prefixed_id!(
    /// One logical intention to pay: `pi_…`.
    IntentId, "pi_"
);
prefixed_id!(
    /// One thing asked of a provider: `op_…`.
    OperationId, "op_"
);
prefixed_id!(
    /// One send of an operation, its request id: `att_…`.
    AttemptId, "att_"
);
prefixed_id!(
    /// Something that follows once from a payment: `evt_…`.
    EffectId, "evt_"
);

macro_rules! uuid_key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                fmt::Display::fmt(&self.0.hyphenated(), f)
            }
        }
    };
}

uuid_key!(
    /// What the browser sends with every submission of an intent (R1): a UUID v4, 36 characters.
    SubmitKey
);
uuid_key!(
    /// What we send the provider with every send of an operation (R15, R17): a UUID v4, 36 characters, within YooKassa's 64.
    ProviderKey
);
uuid_key!(
    /// Who holds a lease: one process's life.
    Holder
);

// Their texts are shared: rows that are copied a lot are full of them.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $max:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Most characters allowed.
            pub const MAX_CHARS: usize = $max;

            /// Takes a text as it is, code point for code point.
            pub fn parse(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                let fits = !text.is_empty() && text.chars().count() <= $max && !text.chars().any(char::is_control);
                if fits { Ok(Self(text.into())) } else { Err(IdError::Text { max: $max }) }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(|text| Self(text.into()))
            }
        }
    };
}

text_id!(
    /// The merchant's own reference for what is bought.
    OrderId, 64
);
text_id!(
    /// A tenant.
    MerchantId, 64
);
text_id!(
    /// The account with the provider that the money goes to; frozen with the first dispatch.
    ProviderAccount, 64
);
text_id!(
    /// The provider's id of its object.
    ObjectId, 128
);

/// Test and live never meet: the mode comes from the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Play money.
    Test,
    /// Real money.
    Live,
}

impl Mode {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Live => "live",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Test, Self::Live].into_iter().find(|mode| mode.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        let id = IntentId(Uuid::from_u128(0x1234_5678_9abc_def0_1234_5678_9abc_def0));
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in ["", "pi_", "co_123456789abcdef0123456789abcdef0", "pi_123456789ABCDEF0123456789ABCDEF0"]
        {
            assert!(wrong.parse::<IntentId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_order_id_keeps_its_text_and_its_limit() {
        assert_eq!(OrderId::parse(" № 123 ").map(|id| id.as_str().to_owned()), Ok(" № 123 ".to_owned()));
        assert!(OrderId::parse("").is_err());
        assert!(OrderId::parse("ф".repeat(64)).is_ok());
        assert!(OrderId::parse("ф".repeat(65)).is_err());
        assert!(OrderId::parse("a\u{0}b").is_err());
    }
}
