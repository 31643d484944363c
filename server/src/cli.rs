//! The command line. It only takes texts: what they mean is for the configuration to read, together with the environment and the
//! file.

use clap::{Args, Parser, Subcommand};
use payment::{Currency, Money};

use crate::config::Setting;

/// Takes a payment once.
#[derive(Parser)]
#[command(
    name = "payonce",
    version,
    about = "Takes a payment once: a checkout, its server, and a bank to try it with",
    after_help = ORDER_OF_SOURCES,
    after_long_help = EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// The settings given as flags.
    #[command(flatten)]
    pub flags: Flags,
}

const ORDER_OF_SOURCES: &str =
    "Each setting: its flag, else its variable, else the file of PAYONCE_CONFIG, else the default.";

const EXAMPLES: &str = "\
Each setting: its flag, else its environment variable, else the TOML file that
PAYONCE_CONFIG names, else the default. A wrong value stops the start and says
what is allowed. Logs go to standard error; RUST_LOG says how much (info).

Try it:
  payonce demo
  then open http://127.0.0.1:8080/shop

Run it for a merchant of your own:
  export PAYONCE_SECRET=$(openssl rand -base64 32)
      Keep it: without it, what was stored with it does not open.
  payonce serve --config payonce.toml --public-url https://pay.shop.example

payonce.toml (settings by their variables' names, or in lower case without
PAYONCE_; then times in seconds; then merchants):
  listen = \"127.0.0.1:8080\"
  [timing]
  lease_s = 30
  # execute_s, token_life_s, token_margin_s, listing_gap_s, retry_max_s,
  # sweep_s, review_after_s likewise
  [[merchant]]
  id = \"mer_1\"
  name = \"Zerno\"
  mode = \"test\"  # or \"live\"
  secret_key = \"sk_test_1234567890\"
  publishable_key = \"pk_test_1234567890\"
  return_origins = [\"https://shop.example\"]
  frame_origins = [\"https://shop.example\"]
  [merchant.provider]
  kind = \"yookassa\"
  account = \"100500\"
  secret = \"test_demo\"
  url = \"https://api.yookassa.ru\"";

/// What `payonce` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Sandbox bank, server and demo shop in one process
    ///
    /// Makes the data folder and its secret, brings the database up to date, makes the merchant mer_demo, and opens its port last.
    /// For trying and for tests: everybody knows its keys.
    #[command(after_help = ORDER_OF_SOURCES)]
    Demo,
    /// The server, for the merchants of the file and those already in the database
    ///
    /// Brings a SQLite file up to date. Needs a secret: in PAYONCE_SECRET or in the file `secret` of the data folder.
    /// Never makes a merchant with a known key.
    #[command(after_help = ORDER_OF_SOURCES)]
    Serve,
    /// The sandbox bank alone, on PAYONCE_BANK_LISTEN
    ///
    /// Speaks YooKassa's API v3 under /v3 (shop 100500, secret test_demo), shows what it charged at /ledger, and breaks on demand at
    /// /faults. Keeps its ledger in bank.db of the data folder.
    #[command(after_help = ORDER_OF_SOURCES)]
    Bank {
        /// Keep the ledger in memory: fast, and gone with the process; for benchmarks
        #[arg(long)]
        memory: bool,
    },
    /// Brings the database's schema up to date
    #[command(after_help = ORDER_OF_SOURCES)]
    Migrate,
    /// Checks configuration, data folder, database, providers and clock
    ///
    /// One line for each: ok, or what is wrong and what to do. Ends with 1 if anything is wrong. Changes nothing.
    #[command(after_help = ORDER_OF_SOURCES)]
    Doctor,
    /// What waits for a person, and how a person ends it
    ///
    /// For the operator, beside a running server: reads the same database and asks the provider. Takes PAYONCE_DATA,
    /// PAYONCE_DATABASE_URL and PAYONCE_SECRET as `serve` does.
    #[command(after_help = ORDER_OF_SOURCES, subcommand_required = true, arg_required_else_help = true)]
    Review {
        /// What to do
        #[command(subcommand)]
        command: ReviewCommand,
    },
}

/// What `payonce review` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum ReviewCommand {
    /// Each with its id, how much, since when and why, and what that means for the money
    List,
    /// The whole story of a payment in words: what was sent, what the provider said, what can be done
    Show {
        /// pi_…, co_…, op_…, the provider's object of an extra or a stranger, or an order
        id: String,
    },
    /// Ends one, with a reason for the journal
    ///
    /// The provider is asked first: a word against what it says is refused. --not-charged is refused until it is proved that no
    /// request can take money any more; --evidence is for when the provider cannot be asked.
    Resolve {
        /// As `payonce review list` shows it
        id: String,
        /// What was found
        #[command(flatten)]
        verdict: VerdictFlags,
        /// Why; it is kept
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// What shows it, where the provider cannot be asked; it is kept
        #[arg(long, value_name = "TEXT", conflicts_with = "refund_extra")]
        evidence: Option<String>,
        /// How much was taken, where evidence alone says so, as `1500.00 RUB`; written down instead of what the provider showed
        #[arg(long, value_name = "SUM", requires_all = ["charged", "evidence"], value_parser = sum)]
        amount: Option<Money>,
    },
}

/// A sum as it is shown: `1500.00 RUB`.
fn sum(text: &str) -> Result<Money, String> {
    let (value, code) = text.split_once(' ').ok_or("a sum has a currency, as `1500.00 RUB`")?;
    let money = Currency::parse(code).and_then(|currency| Money::parse(value, currency));
    money.map_err(|error| format!("{error}; a sum is written as `1500.00 RUB`"))
}

/// What a person found: one of them.
#[derive(Args, Clone, Debug)]
#[group(id = "verdict", required = true, multiple = false)]
pub struct VerdictFlags {
    /// This object took the money: the payment succeeded
    #[arg(long, value_name = "OBJECT")]
    pub charged: Option<String>,
    /// No money was taken: the payment is over, another may begin
    #[arg(long)]
    pub not_charged: bool,
    /// This object did it: the refund, capture or cancel is done; of an extra: this refund gave it back
    #[arg(long, value_name = "OBJECT")]
    pub executed: Option<String>,
    /// The refund, capture or cancel was not done
    #[arg(long)]
    pub not_executed: bool,
    /// Give the extra charge back
    #[arg(long)]
    pub refund_extra: bool,
}

/// The settings as flags. No `Debug`: there are secrets among them.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Settings")]
pub struct Flags {
    /// Where the server listens [env: PAYONCE_LISTEN] [default: 127.0.0.1:8080]
    #[arg(long, global = true, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Where the sandbox bank listens [env: PAYONCE_BANK_LISTEN] [default: 127.0.0.1:8090]
    #[arg(long, global = true, value_name = "ADDRESS:PORT")]
    bank_listen: Option<String>,
    /// Folder for databases and the secret [env: PAYONCE_DATA] [default: ./payonce-data]
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<String>,
    /// The database, sqlite://PATH [env: PAYONCE_DATABASE_URL] [default: payonce.db in the data folder]
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// Base of every absolute link [env: PAYONCE_PUBLIC_URL] [default: http:// and where the server listens]
    #[arg(long, global = true, value_name = "URL")]
    public_url: Option<String>,
    /// YooKassa's API, without /v3 [env: PAYONCE_BANK_URL] [default: http:// and where the bank listens]
    #[arg(long, global = true, value_name = "URL")]
    bank_url: Option<String>,
    /// Where the bank sends notifications [env: PAYONCE_BANK_NOTIFY_URL] [default: set by demo]
    #[arg(long, global = true, value_name = "URL")]
    bank_notify_url: Option<String>,
    /// 32 bytes as base64; better in the environment than here, where others can see it [env: PAYONCE_SECRET] [default: the file
    /// `secret` in the data folder; demo makes it]
    #[arg(long, global = true, value_name = "BASE64", allow_hyphen_values = true)]
    secret: Option<String>,
    /// The secret before that, while what it sealed is still in use [env: PAYONCE_SECRET_OLD]
    #[arg(long, global = true, value_name = "BASE64", allow_hyphen_values = true)]
    secret_old: Option<String>,
    /// The key of the demo's merchant mer_demo [env: PAYONCE_DEMO_SECRET_KEY] [default: sk_test_demo]
    #[arg(long, global = true, value_name = "KEY", allow_hyphen_values = true)]
    demo_secret_key: Option<String>,
    /// How mails leave: smtp://, smtps://, or file: for .eml files in `mails` of the data folder; better in the environment than
    /// here, where others can see its password [env: PAYONCE_SMTP_URL] [default: no mails; in demo file:]
    #[arg(long, global = true, value_name = "URL")]
    smtp_url: Option<String>,
    /// Whom mails are from; needed with an SMTP server [env: PAYONCE_MAIL_FROM] [default: payonce@localhost]
    #[arg(long, global = true, value_name = "ADDRESS")]
    mail_from: Option<String>,
    /// Requests a second per key and address, or off [env: PAYONCE_RATE_LIMIT] [default: 500]
    #[arg(long, global = true, value_name = "NUMBER|off", allow_hyphen_values = true)]
    rate_limit: Option<String>,
    /// A TOML file with the same settings, [timing] and [[merchant]] [env: PAYONCE_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<String>,
}

impl Flags {
    /// What a setting's flag says.
    pub fn given(&self, setting: Setting) -> Option<&str> {
        let value = match setting {
            Setting::Listen => &self.listen,
            Setting::BankListen => &self.bank_listen,
            Setting::Data => &self.data,
            Setting::DatabaseUrl => &self.database_url,
            Setting::PublicUrl => &self.public_url,
            Setting::BankUrl => &self.bank_url,
            Setting::BankNotifyUrl => &self.bank_notify_url,
            Setting::Secret => &self.secret,
            Setting::SecretOld => &self.secret_old,
            Setting::DemoSecretKey => &self.demo_secret_key,
            Setting::SmtpUrl => &self.smtp_url,
            Setting::MailFrom => &self.mail_from,
            Setting::RateLimit => &self.rate_limit,
            Setting::Config => &self.config,
        };
        value.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_names_every_flag_and_variable() {
        let mut cli = Cli::command();
        cli.build();
        let mut helps = vec![cli.clone().render_long_help().to_string()];
        helps.extend(
            cli.get_subcommands_mut()
                .filter(|command| command.get_name() != "help")
                .map(|command| command.render_long_help().to_string()),
        );
        assert_eq!(helps.len(), 7);
        let one_line = |help: &String| help.split_whitespace().collect::<Vec<_>>().join(" ");
        let helps: Vec<String> = helps.iter().map(one_line).collect();
        for (help, setting) in helps.iter().flat_map(|help| Setting::ALL.map(|setting| (help, setting))) {
            assert!(help.contains(&format!("[env: {}]", setting.variable())), "{setting:?} in {help}");
            assert!(help.contains(&format!("{} ", setting.flag())), "{setting:?} in {help}");
        }
    }

    #[test]
    fn a_flag_may_stand_before_or_after_the_command() {
        for line in [["payonce", "--listen", "x", "serve"], ["payonce", "serve", "--listen", "x"]] {
            let cli = Cli::try_parse_from(line).ok().unwrap();
            assert_eq!(cli.flags.given(Setting::Listen), Some("x"));
            assert_eq!(cli.flags.given(Setting::Data), None);
        }
    }
}
