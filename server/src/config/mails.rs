//! How mails leave, from text: a folder or an SMTP server, and whom they are from. Pure: touches no file and no network.

use lettre::Address;
use reqwest::Url;

use super::{
    secret::SecretText,
    values::{Allowed, is_this_machine},
};

/// How mails leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailTransport {
    /// As `.eml` files in `mails` of the data folder.
    Folder,
    /// By an SMTP server; the URL may hold a password.
    Smtp(SecretText),
}

const SMTP: Allowed = Allowed(
    "smtps://user:password@host, smtp://host?tls=required or ?tls=opportunistic, to this machine also smtp://127.0.0.1:25, \
     or file: for .eml files in the data folder",
);
const MAIL_ADDRESS: Allowed = Allowed("a mail address, for example payments@shop.example");

/// How mails leave. What tells a shopper of a payment, and signs its sender in, is not sent openly over a network.
pub fn mail_transport(text: &str) -> Result<MailTransport, Allowed> {
    if text == "file:" {
        return Ok(MailTransport::Folder);
    }
    let url = Url::parse(text).map_err(|_| SMTP)?;
    let host = url.host_str().ok_or(SMTP)?.trim_matches(['[', ']']);
    let tls = match url.query() {
        None => None,
        Some("tls=required" | "tls=opportunistic") => Some(()),
        Some(_) => return Err(SMTP),
    };
    let fits = match url.scheme() {
        "smtps" => tls.is_none(),
        "smtp" => tls.is_some() || is_this_machine(host),
        _ => false,
    };
    if fits { Ok(MailTransport::Smtp(SecretText(text.to_owned()))) } else { Err(SMTP) }
}

/// Whom mails are from.
pub fn mail_address(text: &str) -> Result<Address, Allowed> {
    text.parse().map_err(|_| MAIL_ADDRESS)
}

/// Whom mails are from that are written and not sent.
pub fn nobody() -> Address {
    Address::new("payonce", "localhost").expect("an address")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_leave_for_a_folder_or_by_smtp_and_not_openly() {
        assert_eq!(mail_transport("file:"), Ok(MailTransport::Folder));
        for fine in [
            "smtps://user:canary@mail.example",
            "smtp://mail.example?tls=required",
            "smtp://user:canary@mail.example:587?tls=opportunistic",
            "smtp://127.0.0.1:2525",
            "smtp://[::1]:25",
        ] {
            assert_eq!(mail_transport(fine), Ok(MailTransport::Smtp(SecretText(fine.to_owned()))));
        }
        for wrong in [
            "",
            "file:///tmp/mails",
            "mail.example:25",
            "smtp://",
            "smtp://mail.example",
            "smtp://10.0.0.1:25",
            "smtp://mail.example?tls=none",
            "smtps://mail.example?tls=opportunistic",
            "http://mail.example",
        ] {
            assert_eq!(mail_transport(wrong), Err(SMTP), "{wrong}");
        }
        assert!(mail_address("payments@shop.example").is_ok());
        for wrong in ["", "shop.example", "a@b@c", "Shop <a@shop.example>", "a@shop.example\nBcc: b@c.d"] {
            assert_eq!(mail_address(wrong), Err(MAIL_ADDRESS), "{wrong}");
        }
    }
}
