//! The settings by name: one list, from which variable, flag and TOML key all follow. Knows no values.

/// Something an operator can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Where the server listens.
    Listen,
    /// Where the sandbox bank listens.
    BankListen,
    /// The data folder.
    Data,
    /// The database.
    DatabaseUrl,
    /// Base of every absolute link.
    PublicUrl,
    /// YooKassa's API.
    BankUrl,
    /// Where the bank sends notifications.
    BankNotifyUrl,
    /// The server's secret.
    Secret,
    /// The secret before it.
    SecretOld,
    /// The demo merchant's key.
    DemoSecretKey,
    /// How mails leave.
    SmtpUrl,
    /// Whom mails are from.
    MailFrom,
    /// Requests a second.
    RateLimit,
    /// The TOML file.
    Config,
}

/// What every variable begins with.
pub const PREFIX: &str = "PAYONCE_";

impl Setting {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 14] = [
        Self::Listen,
        Self::BankListen,
        Self::Data,
        Self::DatabaseUrl,
        Self::PublicUrl,
        Self::BankUrl,
        Self::BankNotifyUrl,
        Self::Secret,
        Self::SecretOld,
        Self::DemoSecretKey,
        Self::SmtpUrl,
        Self::MailFrom,
        Self::RateLimit,
        Self::Config,
    ];

    /// The environment variable, and the name used in messages.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Listen => "PAYONCE_LISTEN",
            Self::BankListen => "PAYONCE_BANK_LISTEN",
            Self::Data => "PAYONCE_DATA",
            Self::DatabaseUrl => "PAYONCE_DATABASE_URL",
            Self::PublicUrl => "PAYONCE_PUBLIC_URL",
            Self::BankUrl => "PAYONCE_BANK_URL",
            Self::BankNotifyUrl => "PAYONCE_BANK_NOTIFY_URL",
            Self::Secret => "PAYONCE_SECRET",
            Self::SecretOld => "PAYONCE_SECRET_OLD",
            Self::DemoSecretKey => "PAYONCE_DEMO_SECRET_KEY",
            Self::SmtpUrl => "PAYONCE_SMTP_URL",
            Self::MailFrom => "PAYONCE_MAIL_FROM",
            Self::RateLimit => "PAYONCE_RATE_LIMIT",
            Self::Config => "PAYONCE_CONFIG",
        }
    }

    /// The key in the TOML file: `bank_listen`. The variable's own name is taken there as well.
    pub fn key(self) -> String {
        self.variable().trim_start_matches(PREFIX).to_ascii_lowercase()
    }

    /// The flag: `--bank-listen`.
    pub fn flag(self) -> String {
        format!("--{}", self.key().replace('_', "-"))
    }

    /// Whether its value must never be shown.
    pub fn is_secret(self) -> bool {
        match self {
            Self::Secret | Self::SecretOld | Self::DemoSecretKey | Self::SmtpUrl => true,
            Self::Listen
            | Self::BankListen
            | Self::Data
            | Self::DatabaseUrl
            | Self::PublicUrl
            | Self::BankUrl
            | Self::BankNotifyUrl
            | Self::MailFrom
            | Self::RateLimit
            | Self::Config => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_and_key_follow_from_the_variable() {
        assert_eq!(Setting::BankNotifyUrl.key(), "bank_notify_url");
        assert_eq!(Setting::BankNotifyUrl.flag(), "--bank-notify-url");
    }
}
