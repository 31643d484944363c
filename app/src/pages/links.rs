//! The addresses of a checkout's pages. Each carries the token, which authorises it, and the language.

use super::{Lang, Page};

impl Page {
    /// The payment page, and where its form goes.
    pub(super) fn pay_path(&self) -> String {
        self.path("", self.lang)
    }

    /// The same page in the other language.
    pub(super) fn other_language_path(&self) -> String {
        self.path("", self.lang.other())
    }

    /// The page to read in the other language.
    pub(super) fn other_language_status_path(&self) -> String {
        self.path("/status", self.lang.other())
    }

    /// The link to keep, with the language.
    pub(super) fn kept_url(&self) -> String {
        format!("{}&lang={}", self.checkout.url, self.lang.tag())
    }

    /// The page to read.
    pub(super) fn status_path(&self) -> String {
        self.path("/status", self.lang)
    }

    /// Where a new try is asked for without scripts.
    pub(super) fn again_path(&self) -> String {
        self.path("/again", self.lang)
    }

    /// Where the bank is asked now.
    pub(super) fn check_path(&self) -> String {
        self.path("/check", self.lang)
    }

    /// Where the bank is asked to let go of the payment.
    pub(super) fn release_path(&self) -> String {
        self.path("/release", self.lang)
    }

    /// Where an address is left.
    pub(super) fn email_path(&self) -> String {
        self.path("/email", self.lang)
    }

    fn path(&self, below: &str, lang: Lang) -> String {
        let checkout = &self.checkout;
        format!("/pay/{}{below}?token={}&lang={}", checkout.id, checkout.client_token, lang.tag())
    }
}
