//! Sends a mail once, over SMTP or into a folder of `.eml` files. Never shows an address, a password, or what a server said with
//! either in it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, anyhow};
use engine::{Again, Delivery, Mail};
use lettre::{
    Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{
        Mailbox, SinglePart,
        header::{HeaderName, HeaderValue},
    },
    transport::smtp::Error as SmtpError,
};

use reqwest::Url;

use super::words::words;
use crate::config::{MailTransport, Settings};

/// A mail server's answer to one command is awaited this long.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// The whole of a mail's way to the server, of a connection before it likewise.
const DEADLINE: Duration = Duration::from_secs(12);
/// Only the owner reads other people's mails.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The way out for mails.
pub struct Mails {
    from: Address,
    way: Way,
}

enum Way {
    /// Into a folder, where the demo shows them.
    Folder(PathBuf),
    Smtp(Box<AsyncSmtpTransport<Tokio1Executor>>),
}

impl Mails {
    /// As the settings say; `None` when mails are not sent.
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let way = match &settings.mails {
            None => return Ok(None),
            Some(MailTransport::Folder) => Way::Folder(settings.mail_folder()),
            Some(MailTransport::Smtp(url)) => {
                let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(&url.0);
                // The error's own text may repeat the URL, and there is a password in it.
                let builder = builder.map_err(|_| anyhow!("PAYONCE_SMTP_URL cannot be used"))?;
                Way::Smtp(Box::new(builder.timeout(Some(ANSWER_DEADLINE)).build()))
            }
        };
        Ok(Some(Self { from: settings.mail_from.clone(), way }))
    }

    /// Where mails go, once it is shown that they can; else why they cannot.
    pub async fn check(&self) -> Result<String, String> {
        match &self.way {
            Way::Folder(folder) => Ok(format!("written into {}", folder.display())),
            Way::Smtp(transport) => match tokio::time::timeout(DEADLINE, transport.test_connection()).await {
                Ok(Ok(true)) => Ok("the mail server answers".to_owned()),
                Ok(Ok(false)) | Err(_) => Err("the mail server does not answer".to_owned()),
                Ok(Err(error)) => Err(about(&error)),
            },
        }
    }

    /// One try.
    pub async fn send(&self, mail: &Mail) -> Delivery {
        let message = match compose(mail, &self.from) {
            Ok(message) => message,
            Err(why) => return Delivery::Refused(why.to_owned(), Again::Never),
        };
        match &self.way {
            Way::Folder(folder) => put(folder.clone(), format!("{}.eml", mail.id), message.formatted()).await,
            Way::Smtp(transport) => submit(transport, message).await,
        }
    }
}

fn compose(mail: &Mail, from: &Address) -> Result<Message, &'static str> {
    let to = recipient(&mail.to).ok_or("the address is none that mails go to")?;
    let words = words(mail);
    // Nobody's absence has to be told to a machine (RFC 3834).
    let automatic =
        HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned());
    Message::builder()
        .from(Mailbox::new(Some(mail.shop.clone()), from.clone()))
        .to(Mailbox::new(None, to))
        .message_id(Some(format!("<{}@{}>", mail.id, from.domain())))
        .subject(words.subject)
        .raw_header(automatic)
        .singlepart(SinglePart::plain(words.text))
        .map_err(|_| "a mail cannot be made of it")
}

/// A domain in other letters than Latin ones has a name that every mail server takes. What stands before the `@` has none: that takes
/// a server with SMTPUTF8.
fn recipient(to: &str) -> Option<Address> {
    let address: Address = to.parse().ok()?;
    if address.domain().is_ascii() {
        return Some(address);
    }
    let url = Url::parse(&format!("http://{}/", address.domain())).ok()?;
    Address::new(address.user(), url.host_str()?).ok()
}

/// Until the mail itself is on its way nothing can have arrived; from then on only an answer tells.
async fn submit(transport: &AsyncSmtpTransport<Tokio1Executor>, message: Message) -> Delivery {
    match tokio::time::timeout(DEADLINE, transport.test_connection()).await {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) | Err(_) => return refused("the mail server does not answer", Again::Later(None)),
        Ok(Err(error)) => return refused(&about(&error), Again::Later(None)),
    }
    match tokio::time::timeout(DEADLINE, transport.send(message)).await {
        Ok(Ok(response)) => Delivery::Delivered(response.code().to_string()),
        Ok(Err(error)) if error.is_transient() => refused(&about(&error), Again::Later(None)),
        Ok(Err(error)) if error.is_permanent() || error.is_client() => refused(&about(&error), Again::Never),
        Ok(Err(error)) => Delivery::Unanswered(about(&error)),
        Err(_) => Delivery::Unanswered("no answer in time".to_owned()),
    }
}

fn refused(why: &str, again: Again) -> Delivery {
    Delivery::Refused(why.to_owned(), again)
}

/// An error in words that are safe to keep: a server's own may repeat the address.
fn about(error: &SmtpError) -> String {
    match error.status() {
        Some(code) => code.to_string(),
        None if error.is_timeout() => "no answer in time".to_owned(),
        None if error.is_tls() => "no secure connection".to_owned(),
        None if error.is_client() => "the mail server cannot take such a mail".to_owned(),
        None => "no connection to the mail server, or it ended".to_owned(),
    }
}

/// Whole or not at all, and under the mail's own name: a second try replaces the first.
async fn put(folder: PathBuf, name: String, text: Vec<u8>) -> Delivery {
    let written = tokio::task::spawn_blocking(move || write(&folder, &name, &text)).await;
    match written {
        Ok(Ok(())) => Delivery::Delivered("written".to_owned()),
        Ok(Err(error)) => refused(&format!("not written: {}", error.kind()), Again::Later(None)),
        Err(_) => Delivery::Unanswered("writing it ended in a panic".to_owned()),
    }
}

fn write(folder: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    let draft = folder.join(format!("{name}.new"));
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(FILE_MODE).open(&draft)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(name))?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_in_any_letters_is_written_so_that_every_mail_server_takes_it() {
        let written = |to: &str| recipient(to).map(|address| address.to_string());
        assert_eq!(written("anna@example.com").as_deref(), Some("anna@example.com"));
        assert_eq!(written("anna@пример.рф").as_deref(), Some("anna@xn--e1afmkfd.xn--p1ai"));
        assert_eq!(written("почта@пример.рф").as_deref(), Some("почта@xn--e1afmkfd.xn--p1ai"));
        assert_eq!(written("anna@"), None);
    }
}
