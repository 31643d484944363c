//! The folder of mails that the demo "sends": one `.eml` file each, written by the server while the shop reads.
//! Must never open what is not such a file in that folder, nor fail because one of them is not yet whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use mail_parser::{Address, Message, MessageParser};

/// Mails that are read and listed: the newest.
const MAX_MAILS: usize = 200;
/// Longest mail that is read; a longer one is cut.
const MAX_MAIL_BYTES: u64 = 256 * 1024;
/// Longest name of a file.
const MAX_NAME: usize = 128;

/// One mail, as far as it is written.
#[derive(Debug, PartialEq, Eq)]
pub struct Mail {
    /// The file's name.
    pub name: String,
    /// When it was written.
    pub at: Timestamp,
    /// To whom; empty when that is not written yet.
    pub to: String,
    /// From whom.
    pub from: String,
    /// What about.
    pub subject: String,
    /// Its words.
    pub text: String,
}

/// The folder. Cheap to clone.
#[derive(Clone)]
pub struct Mailbox {
    folder: PathBuf,
}

impl Mailbox {
    /// The mails in that folder, which need not be there yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The newest mails, newest first.
    ///
    /// # Errors
    /// When the folder cannot be read; one that is not there is empty.
    pub async fn newest(&self) -> io::Result<Vec<Mail>> {
        let mailbox = self.clone();
        on_a_waiting_thread(move || mailbox.read_newest()).await
    }

    /// The mail in the file of that name.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub async fn find(&self, name: &str) -> io::Result<Option<Mail>> {
        if !is_name(name) {
            return Ok(None);
        }
        let (mailbox, name) = (self.clone(), name.to_owned());
        on_a_waiting_thread(move || {
            let path = mailbox.folder.join(&name);
            match written_at(&path) {
                Some(at) => read_mail(&path, name, at).map(Some),
                None => Ok(None),
            }
        })
        .await
    }

    fn read_newest(&self) -> io::Result<Vec<Mail>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name().into_string().ok().filter(|name| is_name(name))?;
                Some((written_at(&self.folder.join(&name))?, name))
            })
            .collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.truncate(MAX_MAILS);
        // One that went away meanwhile is not missed.
        let read =
            found.into_iter().filter_map(|(at, name)| read_mail(&self.folder.join(&name), name, at).ok());
        Ok(read.collect())
    }
}

impl Mail {
    /// Whether it names the order.
    pub fn is_about(&self, order: &str) -> bool {
        self.subject.contains(order) || self.text.contains(order)
    }
}

/// Letters, digits, `.`, `-` and `_`, not first a dot, and `.eml` last: no way out of the folder.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.len() <= MAX_NAME && !name.starts_with('.') && name.ends_with(".eml") && name.chars().all(fits)
}

/// When the file was written; `None` for what is not a file of its own, such as a link to elsewhere.
fn written_at(path: &Path) -> Option<Timestamp> {
    let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Timestamp::try_from(about.modified().ok()?).ok()
}

fn read_mail(path: &Path, name: String, at: Timestamp) -> io::Result<Mail> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(fs::File::open(path)?, MAX_MAIL_BYTES), &mut bytes)?;
    // A mail without a single header is one just begun: nothing is known of it yet.
    let message = MessageParser::default().parse(&bytes);
    let message = message.as_ref();
    Ok(Mail {
        name,
        at,
        to: addresses(message.and_then(Message::to)),
        from: senders(message.and_then(Message::from)),
        subject: message.and_then(Message::subject).unwrap_or_default().to_owned(),
        text: message.and_then(|message| message.body_text(0)).unwrap_or_default().into_owned(),
    })
}

/// As a reader is shown them, by name.
fn senders(of: Option<&Address<'_>>) -> String {
    let named = |name: &str, address: &str| format!("{name} <{address}>");
    let listed = of.into_iter().flat_map(Address::iter).filter_map(|one| {
        let address = one.address()?;
        Some(one.name().map_or_else(|| address.to_owned(), |name| named(name, address)))
    });
    listed.collect::<Vec<_>>().join(", ")
}

fn addresses(of: Option<&Address<'_>>) -> String {
    let listed = of.into_iter().flat_map(Address::iter).filter_map(|one| one.address());
    listed.collect::<Vec<_>>().join(", ")
}

async fn on_a_waiting_thread<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(read).await.expect("reading mails does not panic, and is never aborted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        assert!(is_name("0b0c6f9e-5a5e-4f3c-9d1e-2f8f8f6c1a11.eml"));
        for wrong in
            ["", ".eml", "../a.eml", "a/b.eml", "a\\b.eml", "a.txt", "..eml", "a\0.eml", "ä.eml", "a.eml/"]
        {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
