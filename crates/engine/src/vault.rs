//! What the server's secret is for: client tokens are derived with it, stored secrets are sealed with it. Tables alone open
//! nothing.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use hmac::{Hmac, Mac};
use payment::{CheckoutId, IntentId, MerchantId, Mode};
use sha2::Sha256;
use store::{Answer, BLANK, CheckoutRecord, IntentRecord, Tenant};
use subtle::ConstantTimeEq;

use crate::Answers;

const TOKEN_PREFIX: &str = "ct_";
const TOKEN_KEY: &[u8] = b"payonce client token 1";
const SEAL_KEY: &[u8] = b"payonce seal 1";
const NONCE_BYTES: usize = 24;
/// First byte of every seal: its form.
const SEAL_FORM: u8 = 1;

/// A seal does not open: another secret, another owner, or a changed byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the seal does not open")]
pub struct SealError;

/// What a sealed value is for; it opens for nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal(String);

impl Seal {
    /// A merchant's credentials with a provider.
    pub fn credentials(tenant: &Tenant) -> Self {
        Self(format!("credentials|{}|{}", tenant.mode.as_str(), tenant.merchant))
    }

    /// What a merchant's webhooks are signed with.
    pub fn webhook(tenant: &Tenant) -> Self {
        Self(format!("webhook|{}|{}", tenant.mode.as_str(), tenant.merchant))
    }

    /// An intent's frozen request.
    pub fn request(tenant: &Tenant, intent: IntentId) -> Self {
        Self(format!("request|{}|{}|{intent}", tenant.mode.as_str(), tenant.merchant))
    }
}

/// What a client token grants: one checkout, in a browser's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientToken {
    /// Whose checkout.
    pub tenant: Tenant,
    /// Which.
    pub checkout: CheckoutId,
    /// Which generation of its token.
    pub version: i64,
}

struct Keys {
    token: [u8; 32],
    seal: [u8; 32],
}

/// The server's secret, and the one before it.
pub struct Vault {
    current: Keys,
    old: Option<Keys>,
}

impl Vault {
    /// From 32 bytes each; what the old one wrote still opens.
    pub fn new(secret: [u8; 32], old: Option<[u8; 32]>) -> Self {
        let keys = |secret: [u8; 32]| Keys { token: mac(&secret, TOKEN_KEY), seal: mac(&secret, SEAL_KEY) };
        Self { current: keys(secret), old: old.map(keys) }
    }

    /// The token's text.
    pub fn client_token(&self, token: &ClientToken) -> String {
        let claims = claims_text(token);
        let tag = mac(&self.current.token, claims.as_bytes());
        format!("{TOKEN_PREFIX}{}.{}", URL_SAFE_NO_PAD.encode(claims), URL_SAFE_NO_PAD.encode(tag))
    }

    /// Reads a token; `None` when it is forged.
    pub fn read_client_token(&self, text: &str) -> Option<ClientToken> {
        let (claims, tag) = text.strip_prefix(TOKEN_PREFIX)?.split_once('.')?;
        let (claims, tag) = (URL_SAFE_NO_PAD.decode(claims).ok()?, URL_SAFE_NO_PAD.decode(tag).ok()?);
        let genuine = |keys: &Keys| bool::from(mac(&keys.token, &claims).ct_eq(&tag));
        if !genuine(&self.current) && !self.old.as_ref().is_some_and(genuine) {
            return None;
        }
        parse_claims(std::str::from_utf8(&claims).ok()?)
    }

    /// Seals a secret for one purpose.
    pub fn seal(&self, plain: &[u8], purpose: &Seal, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        let cipher = XChaCha20Poly1305::new(&self.current.seal.into());
        let payload = Payload { msg: plain, aad: purpose.0.as_bytes() };
        let sealed =
            cipher.encrypt(&XNonce::from(nonce), payload).expect("fewer bytes than the cipher's limit");
        [&[SEAL_FORM], nonce.as_slice(), &sealed].concat()
    }

    /// Opens what [`Vault::seal`] made, with this secret or the one before.
    pub fn open(&self, sealed: &[u8], purpose: &Seal) -> Result<Vec<u8>, SealError> {
        let (form, rest) = sealed.split_first().ok_or(SealError)?;
        let (nonce, text) = rest.split_at_checked(NONCE_BYTES).ok_or(SealError)?;
        let nonce: [u8; NONCE_BYTES] = nonce.try_into().map_err(|_| SealError)?;
        if *form != SEAL_FORM {
            return Err(SealError);
        }
        let open = |keys: &Keys| {
            let payload = Payload { msg: text, aad: purpose.0.as_bytes() };
            XChaCha20Poly1305::new(&keys.seal.into()).decrypt(&XNonce::from(nonce), payload).ok()
        };
        open(&self.current).or_else(|| self.old.as_ref().and_then(open)).ok_or(SealError)
    }
}

fn mac(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let mut mac =
        <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// The merchant comes last: it is the only part that may hold a bar.
fn claims_text(token: &ClientToken) -> String {
    let tenant = &token.tenant;
    format!("{}|{}|{}|{}", tenant.mode.as_str(), token.checkout, token.version, tenant.merchant)
}

fn parse_claims(text: &str) -> Option<ClientToken> {
    let mut parts = text.splitn(4, '|');
    let mode = Mode::parse(parts.next()?)?;
    let checkout = parts.next()?.parse().ok()?;
    let version = parts.next()?.parse().ok()?;
    let merchant = MerchantId::parse(parts.next()?).ok()?;
    Some(ClientToken { tenant: Tenant { merchant, mode }, checkout, version })
}

/// A checkout's answer with its token blanked out, as it may be stored.
pub(crate) fn blanked(
    answers: &dyn Answers,
    status: u16,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    token: &str,
) -> Answer {
    let mut answer = answers.checkout(status, checkout, intent, token);
    answer.body = replace(&answer.body, token.as_bytes(), &[BLANK]);
    answer
}

/// Puts `token` where the answer is blank.
pub(crate) fn fill(mut answer: Answer, token: &str) -> Answer {
    answer.body = replace(&answer.body, &[BLANK], token.as_bytes());
    answer
}

fn replace(text: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(what.len()).position(|window| window == what) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(with);
        rest = &rest[at + what.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> ClientToken {
        let tenant = Tenant { merchant: MerchantId::parse("mer|1").unwrap(), mode: Mode::Test };
        ClientToken { tenant, checkout: "co_00000000000000000000000000000001".parse().unwrap(), version: 3 }
    }

    #[test]
    fn a_token_reads_back_and_a_forged_one_does_not() {
        let vault = Vault::new([1; 32], None);
        let text = vault.client_token(&token());
        assert_eq!(vault.read_client_token(&text), Some(token()));
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(vault.read_client_token(&String::from_utf8(forged).unwrap()), None, "byte {at}");
        }
        assert_eq!(Vault::new([2; 32], None).read_client_token(&text), None);
        assert_eq!(Vault::new([2; 32], Some([1; 32])).read_client_token(&text), Some(token()));
    }

    #[test]
    fn a_seal_opens_for_its_purpose_only() {
        let vault = Vault::new([1; 32], None);
        let purpose = Seal::credentials(&token().tenant);
        let sealed = vault.seal(b"secret", &purpose, [7; 24]);
        assert_eq!(vault.open(&sealed, &purpose).as_deref(), Ok(b"secret".as_slice()));
        let other = Seal::request(&token().tenant, "pi_00000000000000000000000000000001".parse().unwrap());
        assert_eq!(vault.open(&sealed, &other), Err(SealError));
        assert_eq!(Vault::new([2; 32], None).open(&sealed, &purpose), Err(SealError));
        assert!(Vault::new([2; 32], Some([1; 32])).open(&sealed, &purpose).is_ok());
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn a_blank_is_filled_where_the_token_was() {
        let blank = replace(br#"{"url":"/pay?token=ct_x","client_token":"ct_x"}"#, b"ct_x", &[BLANK]);
        assert!(!blank.windows(4).any(|window| window == b"ct_x"));
        assert_eq!(replace(&blank, &[BLANK], b"ct_x"), br#"{"url":"/pay?token=ct_x","client_token":"ct_x"}"#);
    }
}
