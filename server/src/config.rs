//! The configuration: flags, environment and file become one set of values, or a list of what is wrong. Makes and locks nothing;
//! the data folder is for `folder`.

mod file;
mod mails;
mod merchants;
mod problem;
mod secret;
mod setting;
mod sources;
mod table;
mod timing;
mod values;

use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    ops::Deref,
    path::PathBuf,
};

use lettre::Address;
use payment::Mode;

use crate::cli::Flags;
use sources::Sources;
use table::{Document, Table};

pub use mails::MailTransport;
pub use merchants::{MerchantConfig, ProviderConfig, WebhookConfig};
pub use problem::{ConfigError, Problem};
pub use secret::{ALLOWED as ALLOWED_SECRET, SecretBytes, SecretText};
pub use setting::Setting;
pub use sources::{Environment, process_environment};
pub use timing::Timing;
pub use values::{Database, RateLimit};

const LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8080));
const BANK_LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8090));

/// The demo merchant's secret key, unless it is set. Everybody knows it.
pub const DEMO_SECRET_KEY: &str = "sk_test_demo";
/// The demo merchant's publishable key.
pub const DEMO_PUBLISHABLE_KEY: &str = "pk_test_demo";

/// Whether a live merchant's webhooks may go to this address.
pub(crate) fn is_public_https(url: &str) -> bool {
    values::public_https_address(url).is_ok()
}

/// All settings, checked. Secrets in it do not show in `Debug`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the server listens.
    pub listen: SocketAddr,
    /// Where the sandbox bank listens.
    pub bank_listen: SocketAddr,
    /// The data folder; may not exist yet.
    pub data: PathBuf,
    /// Where payments are kept.
    pub database: Database,
    /// Base of every absolute link, without a slash at its end.
    pub public_url: String,
    /// The sandbox bank's API, without a version and without a slash at its end.
    pub bank_url: String,
    /// Where the bank sends notifications.
    pub bank_notify_url: Option<String>,
    /// The server's secret, when a flag, the environment or the file gives it.
    pub given_secret: Option<SecretBytes>,
    /// The secret before it.
    pub secret_old: Option<SecretBytes>,
    /// The demo merchant's secret key.
    pub demo_secret_key: SecretText,
    /// How mails leave; none: no mails are sent, and none are promised.
    pub mails: Option<MailTransport>,
    /// Whom mails are from.
    pub mail_from: Address,
    /// Requests a second.
    pub rate_limit: RateLimit,
    /// How long things take.
    pub timing: Timing,
    /// The file's merchants.
    pub merchants: Vec<MerchantConfig>,
}

/// What a server starts with: the settings, and the secret wherever it was found. Reads as its settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The settings.
    pub settings: Settings,
    /// Derives client tokens, seals what is stored.
    pub secret: SecretBytes,
}

impl Deref for Config {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl Settings {
    /// Reads everything there is; tells everything that is wrong.
    pub fn load(flags: &Flags, environment: Environment<'_>) -> Result<Self, ConfigError> {
        let mut sources = Sources::new(flags, environment);
        let (path, text) = sources.file_text();
        let document = Document::new(&path, &text);
        let table = document.parse();
        let mut root = Table::root(&document, &table);
        sources.add_file(file::read_settings(&mut root));
        let mut settings = Self::read(&mut sources);
        (settings.timing, settings.merchants) = file::read_sections(root, &settings.bank_url);
        let mut problems = sources.problems;
        problems.extend(document.into_problems());
        problems.extend(settings.open_payment_page());
        problems.extend(settings.nameless_mails());
        if problems.is_empty() { Ok(settings) } else { Err(ConfigError(problems)) }
    }

    fn read(sources: &mut Sources<'_>) -> Self {
        let listen = sources.or_default(Setting::Listen, values::address, || LISTEN);
        let bank_listen = sources.or_default(Setting::BankListen, values::address, || BANK_LISTEN);
        let data = sources.or_default(Setting::Data, values::path, || PathBuf::from("payonce-data"));
        let in_data = || Database::Sqlite(data.join("payonce.db"));
        let known_key = || SecretText(DEMO_SECRET_KEY.to_owned());
        let default_rate = || RateLimit::PerSecond(500);
        Self {
            listen,
            bank_listen,
            database: sources.or_default(Setting::DatabaseUrl, values::database, in_data),
            data: data.clone(),
            public_url: sources.or_default(Setting::PublicUrl, values::origin, || format!("http://{listen}")),
            bank_url: sources
                .or_default(Setting::BankUrl, values::api_base, || format!("http://{bank_listen}")),
            bank_notify_url: sources.optional(Setting::BankNotifyUrl, values::web_address),
            given_secret: sources.optional(Setting::Secret, values::secret),
            secret_old: sources.optional(Setting::SecretOld, values::secret),
            demo_secret_key: sources.or_default(Setting::DemoSecretKey, values::demo_key, known_key),
            mails: sources.optional(Setting::SmtpUrl, mails::mail_transport),
            mail_from: sources.or_default(Setting::MailFrom, mails::mail_address, mails::nobody),
            rate_limit: sources.or_default(Setting::RateLimit, values::rate_limit, default_rate),
            timing: Timing::default(),
            merchants: Vec::new(),
        }
    }

    /// Where mails are kept that are written and not sent.
    pub fn mail_folder(&self) -> PathBuf {
        self.data.join("mails")
    }

    /// A mail server takes mails from somebody.
    fn nameless_mails(&self) -> Option<Problem> {
        let is_sent = matches!(self.mails, Some(MailTransport::Smtp(_)));
        let (name, with) = (Setting::MailFrom.variable(), Setting::SmtpUrl.variable());
        (is_sent && self.mail_from == mails::nobody())
            .then(|| Problem::new(format!("{name} is missing; needed with {with}: an address of yours")))
    }

    /// Who pays a live merchant must not do it on a page that others can change on its way.
    fn open_payment_page(&self) -> Option<Problem> {
        let is_live = self.merchants.iter().any(|merchant| merchant.mode == Mode::Live);
        let is_open = is_live && values::is_readable_on_the_way(&self.public_url);
        is_open.then(|| {
            let (name, url) = (Setting::PublicUrl.variable(), &self.public_url);
            Problem::new(format!(
                "{name} is \"{url}\"; allowed with a merchant in live mode: an https:// URL"
            ))
        })
    }
}
