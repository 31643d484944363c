//! The merchants of the file: `[[merchant]]`. Only their form is checked here; what two of them may not share is in the file's
//! reader.

use payment::{MerchantId, Mode, ProviderAccount};

use super::{
    SecretText,
    problem::Problem,
    table::{Shown, Table},
    values::{self, Allowed},
};

/// A merchant in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerchantConfig {
    /// Its id.
    pub id: MerchantId,
    /// Shown to shoppers.
    pub name: String,
    /// Test or live.
    pub mode: Mode,
    /// What its server signs in with.
    pub secret_key: SecretText,
    /// What its pages may know.
    pub publishable_key: Option<String>,
    /// Who moves its money.
    pub provider: ProviderConfig,
    /// Where `return_url` may lead.
    pub return_origins: Vec<String>,
    /// Which pages may frame the checkout.
    pub frame_origins: Vec<String>,
    /// Where it hears of payments.
    pub webhook: Option<WebhookConfig>,
    /// Whether money taken for an order that was paid already is given back without a person.
    pub refund_extras: bool,
}

/// An account with a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Which provider: `yookassa`.
    pub kind: String,
    /// The account's id there.
    pub account: String,
    /// Its secret.
    pub secret: SecretText,
    /// Base of the API, without a version and without a slash at its end.
    pub url: String,
    /// The secret part of the address for the provider's notifications.
    pub notify_secret: Option<SecretText>,
}

/// An address for the merchant's webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfig {
    /// Where they go.
    pub url: String,
    /// What they are signed with.
    pub secret: SecretText,
}

const KEYS: [&str; 10] = [
    "id",
    "name",
    "mode",
    "secret_key",
    "publishable_key",
    "provider",
    "return_origins",
    "frame_origins",
    "webhook",
    "extras",
];
const PROVIDER_KEYS: [&str; 5] = ["kind", "account", "secret", "url", "notify_secret"];
const WEBHOOK_KEYS: [&str; 2] = ["url", "secret"];

const MAX_NAME_CHARS: usize = 128;
/// Keys that everybody knows: a merchant with one is everybody's.
const DEMO_KEYS: [&str; 2] = [super::DEMO_SECRET_KEY, super::DEMO_PUBLISHABLE_KEY];

/// Reads one `[[merchant]]`; what is wrong is noted, and then there is none. In test mode `bank_url` is where its
/// provider is, unless it says otherwise.
pub fn read(mut table: Table<'_>, bank_url: &str) -> Option<MerchantConfig> {
    let id = table
        .required("id", Shown::Openly, |text| MerchantId::parse(text).map_err(|error| error.to_string()));
    let name = table.required("name", Shown::Openly, name);
    let mode = table
        .required("mode", Shown::Openly, |text| Mode::parse(text).ok_or(Allowed("\"test\" or \"live\"")));
    let secret_key = table.required("secret_key", Shown::Never, |text| key(text, "sk", mode));
    let publishable_key = table.parsed("publishable_key", Shown::Never, |text| key(text, "pk", mode));
    let provider = read_provider(&mut table, mode, bank_url);
    let return_origins = table.list("return_origins", values::origin);
    let frame_origins = table.list("frame_origins", values::origin);
    let webhook = table.table("webhook").map(|webhook| read_webhook(webhook, mode));
    let extras = table.parsed("extras", Shown::Openly, extras);
    table.refuse_others(&KEYS);
    Some(MerchantConfig {
        id: id?,
        name: name?,
        mode: mode?,
        secret_key: SecretText(secret_key?),
        publishable_key,
        provider: provider?,
        return_origins,
        frame_origins,
        webhook: match webhook {
            Some(webhook) => Some(webhook?),
            None => None,
        },
        refund_extras: extras.unwrap_or(false),
    })
}

/// What becomes of money that is taken for an order that was paid already; whether it is given back.
fn extras(text: &str) -> Result<bool, Allowed> {
    match text {
        "review" => Ok(false),
        "refund" => Ok(true),
        _ => Err(Allowed("\"review\" or \"refund\"")),
    }
}

fn name(text: &str) -> Result<String, Allowed> {
    let fits = !text.trim().is_empty()
        && text.chars().count() <= MAX_NAME_CHARS
        && !text.chars().any(char::is_control);
    if fits {
        Ok(text.to_owned())
    } else {
        Err(Allowed("1 to 128 characters, none of them a control character"))
    }
}

/// An API key. One that says of itself that it is for something else is a mistake that would cost money.
fn key(text: &str, kind: &str, mode: Option<Mode>) -> Result<String, Allowed> {
    if DEMO_KEYS.contains(&text) {
        return Err(Allowed("a key of your own; this one is the demo's, and everybody knows it"));
    }
    let key = values::api_key(text)?;
    let mut parts = key.splitn(3, '_');
    let (said_kind, said_mode) = (parts.next(), parts.next().and_then(Mode::parse));
    if said_kind.is_some_and(|said| ["sk", "pk"].contains(&said) && said != kind) {
        return Err(Allowed("sk_… as the secret key, pk_… as the publishable key"));
    }
    if mode.is_some() && said_mode.is_some() && mode != said_mode {
        return Err(Allowed("…_test_… in test mode, …_live_… in live mode"));
    }
    Ok(key)
}

fn read_provider(merchant: &mut Table<'_>, mode: Option<Mode>, bank_url: &str) -> Option<ProviderConfig> {
    let Some(mut table) = merchant.table("provider") else {
        let missing = format!(
            "{} is missing; allowed: a table with {}",
            merchant.name("provider"),
            PROVIDER_KEYS.join(", ")
        );
        merchant.complain(Problem::at(merchant.origin(), missing));
        return None;
    };
    let kind = table.required("kind", Shown::Openly, |text| match text {
        "yookassa" => Ok(text.to_owned()),
        _ => Err(Allowed("\"yookassa\"")),
    });
    let account = table.required("account", Shown::Openly, |text| {
        let account = ProviderAccount::parse(text).map_err(|error| error.to_string())?;
        // What Basic authentication cannot carry.
        if text.contains(':') { Err("no colon in it".to_owned()) } else { Ok(account.as_str().to_owned()) }
    });
    let secret = table.required("secret", Shown::Never, values::shared_secret);
    let url = match mode {
        // Real money goes nowhere by default.
        Some(Mode::Live) => table.required("url", Shown::Openly, live_url),
        Some(Mode::Test) | None if !table.has("url") => Some(bank_url.to_owned()),
        Some(Mode::Test) | None => table.parsed("url", Shown::Openly, values::api_base),
    };
    let notify_secret = table.parsed("notify_secret", Shown::Never, values::path_secret);
    table.refuse_others(&PROVIDER_KEYS);
    Some(ProviderConfig {
        kind: kind?,
        account: account?,
        secret: SecretText(secret?),
        url: url?,
        notify_secret: notify_secret.map(SecretText),
    })
}

fn live_url(text: &str) -> Result<String, Allowed> {
    let url = values::api_base(text)?;
    if values::is_readable_on_the_way(&url) { Err(Allowed("an https:// URL in live mode")) } else { Ok(url) }
}

fn read_webhook(mut table: Table<'_>, mode: Option<Mode>) -> Option<WebhookConfig> {
    let url = table.required("url", Shown::Openly, |text| match mode {
        Some(Mode::Live) => values::public_https_address(text),
        Some(Mode::Test) | None => values::web_address(text),
    });
    let secret = table.required("secret", Shown::Never, values::webhook_secret);
    table.refuse_others(&WEBHOOK_KEYS);
    Some(WebhookConfig { url: url?, secret: SecretText(secret?) })
}
