//! Secrets as the configuration holds them: the server's 32 bytes, written as base64, and texts. Never printed, never part of an
//! error.

use std::fmt;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};

/// What is accepted, in the words of every message about it.
pub const ALLOWED: &str = "32 bytes as base64, as `openssl rand -base64 32` writes them";

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// 32 secret bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretBytes(pub [u8; 32]);

impl SecretBytes {
    /// Reads base64 of either alphabet, padded or not, with space around it; `None` unless it is exactly 32 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let decoded = [&alphabet::STANDARD, &alphabet::URL_SAFE]
            .into_iter()
            .find_map(|alphabet| GeneralPurpose::new(alphabet, LENIENT).decode(text).ok())?;
        decoded.try_into().map(Self).ok()
    }

    /// As [`SecretBytes::parse`] reads it.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0)
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(…)")
    }
}

/// A text that must not be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(pub String);

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_reads_back_in_either_alphabet() {
        let secret = SecretBytes([0xfb; 32]);
        let text = secret.to_base64();
        assert_eq!(SecretBytes::parse(&format!(" {text}\n")), Some(secret.clone()));
        let url_safe = text.replace('+', "-").replace('/', "_");
        assert_eq!(SecretBytes::parse(url_safe.trim_end_matches('=')), Some(secret));
    }

    #[test]
    fn any_other_length_is_refused() {
        for wrong in ["", "YQ==", "not base64!", &STANDARD.encode([1; 31]), &STANDARD.encode([1; 33])] {
            assert_eq!(SecretBytes::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn it_is_never_printed() {
        assert_eq!(format!("{:?}", SecretBytes([7; 32])), "SecretBytes(…)");
        assert_eq!(format!("{:?}", SecretText("canary".to_owned())), "SecretText(…)");
    }
}
