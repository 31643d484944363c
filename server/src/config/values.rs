//! Single values from text, each with the words for what is allowed. Pure: touches no file and no network.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Url;

use super::secret::{self, SecretBytes, SecretText};

/// A text is not such a value; what would be, in words for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed(pub &'static str);

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where the data is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A SQLite file.
    Sqlite(PathBuf),
}

/// How many requests a key and an address may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// No limit, for benchmarks.
    Off,
    /// So many a second.
    PerSecond(u32),
}

const ADDRESS: Allowed = Allowed("an IP address and a port, for example 127.0.0.1:8080");
const PATH: Allowed = Allowed("a path");
const DATABASE: Allowed =
    Allowed("sqlite://PATH of a file, for example sqlite:///var/lib/payonce/payonce.db");
const POSTGRESQL: Allowed = Allowed(
    "sqlite://PATH; PostgreSQL comes with a later version of payonce, this one keeps its data in SQLite",
);
const ORIGIN: Allowed =
    Allowed("http:// or https:// and a host, without path, user or query: https://shop.example");
const API_BASE: Allowed =
    Allowed("an http:// or https:// URL without user, query or the /v3 at its end: https://api.yookassa.ru");
const ANY_URL: Allowed = Allowed("an http:// or https:// URL without user: https://shop.example/hook");
const PUBLIC_URL: Allowed =
    Allowed("in live mode an https:// URL with the name of a public host, without user and port");
const WEBHOOK_SECRET: Allowed =
    Allowed("whsec_ and 24 to 64 bytes as base64: whsec_$(openssl rand -base64 32)");
const RATE: Allowed = Allowed("a whole number of requests a second from 1 to 1000000, or off");
const API_KEY: Allowed = Allowed("8 to 255 visible ASCII characters, without spaces");
const SHARED_SECRET: Allowed = Allowed("1 to 255 visible ASCII characters, without spaces");
const PATH_SECRET: Allowed = Allowed("1 to 128 characters of A-Z a-z 0-9 - _");

const MAX_RATE: u32 = 1_000_000;

/// An address to listen on.
pub fn address(text: &str) -> Result<SocketAddr, Allowed> {
    text.parse().map_err(|_| ADDRESS)
}

/// A path.
pub fn path(text: &str) -> Result<PathBuf, Allowed> {
    if text.is_empty() || text.contains('\0') { Err(PATH) } else { Ok(PathBuf::from(text)) }
}

/// A database: `sqlite://path` or `sqlite:path`.
pub fn database(text: &str) -> Result<Database, Allowed> {
    if ["postgres:", "postgresql:"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err(POSTGRESQL);
    }
    let path = text.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path));
    match path {
        // A database in memory would forget payments; parameters would undo what keeps them safe.
        Some(path) if !path.is_empty() && !path.starts_with(':') && !path.contains(['?', '\0']) => {
            Ok(Database::Sqlite(PathBuf::from(path)))
        }
        Some(_) | None => Err(DATABASE),
    }
}

fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some_and(is_plain_host)
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none();
    plain.then_some(url)
}

/// URLs allow more in a host, but these stand in headers as well: no wildcard, nothing that ends a directive.
fn is_plain_host(host: &str) -> bool {
    !host.is_empty()
        && host.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
        })
}

/// An origin, as browsers write it.
pub fn origin(text: &str) -> Result<String, Allowed> {
    let url = web_url(text).filter(|url| url.path() == "/" && url.query().is_none()).ok_or(ORIGIN)?;
    Ok(url.origin().ascii_serialization())
}

/// The base of a provider's API, without a slash at its end.
pub fn api_base(text: &str) -> Result<String, Allowed> {
    let url = web_url(text).filter(|url| url.query().is_none()).ok_or(API_BASE)?;
    let base = url.as_str().trim_end_matches('/');
    if base.ends_with("/v3") { Err(API_BASE) } else { Ok(base.to_owned()) }
}

/// Any address of a web service.
pub fn web_address(text: &str) -> Result<String, Allowed> {
    web_url(text).map(String::from).ok_or(ANY_URL)
}

/// An address that a live merchant's webhooks may go to. Where its name leads is checked again by who connects.
pub fn public_https_address(text: &str) -> Result<String, Allowed> {
    let url = web_url(text).ok_or(PUBLIC_URL)?;
    let has_name = url.domain().is_some_and(|host| host != "localhost");
    let fits = url.scheme() == "https" && url.port().is_none() && has_name;
    if fits { Ok(url.into()) } else { Err(PUBLIC_URL) }
}

/// Whether what is sent to this URL can be read on the way: not https, and not to this machine.
pub fn is_readable_on_the_way(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return true };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    url.scheme() != "https" && !is_this_machine(host)
}

/// Whether a host's name or address leads to this machine.
pub fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// What webhooks are signed with (Standard Webhooks).
pub fn webhook_secret(text: &str) -> Result<String, Allowed> {
    let bytes = text.strip_prefix("whsec_").and_then(|encoded| STANDARD.decode(encoded).ok());
    bytes.filter(|bytes| (24..=64).contains(&bytes.len())).map(|_| text.to_owned()).ok_or(WEBHOOK_SECRET)
}

/// A limit of requests.
pub fn rate_limit(text: &str) -> Result<RateLimit, Allowed> {
    if text == "off" {
        return Ok(RateLimit::Off);
    }
    match text.parse() {
        Ok(rate @ 1..=MAX_RATE) => Ok(RateLimit::PerSecond(rate)),
        Ok(_) | Err(_) => Err(RATE),
    }
}

/// The server's secret.
pub fn secret(text: &str) -> Result<SecretBytes, Allowed> {
    SecretBytes::parse(text).ok_or(Allowed(secret::ALLOWED))
}

/// The demo merchant's key.
pub fn demo_key(text: &str) -> Result<SecretText, Allowed> {
    api_key(text).map(SecretText)
}

/// One of our API keys: something a header can carry.
pub fn api_key(text: &str) -> Result<String, Allowed> {
    shared_secret(text).ok().filter(|key| key.len() >= 8).ok_or(API_KEY)
}

/// A secret that somebody else made.
pub fn shared_secret(text: &str) -> Result<String, Allowed> {
    let fits = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { Ok(text.to_owned()) } else { Err(SHARED_SECRET) }
}

/// A secret that stands in the path of a URL.
pub fn path_secret(text: &str) -> Result<String, Allowed> {
    let fits = (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fits { Ok(text.to_owned()) } else { Err(PATH_SECRET) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_file() {
        let file = |path: &str| Ok(Database::Sqlite(PathBuf::from(path)));
        assert_eq!(database("sqlite:///var/lib/p.db"), file("/var/lib/p.db"));
        assert_eq!(database("sqlite://p.db"), file("p.db"));
        assert_eq!(database("sqlite:p.db"), file("p.db"));
        for wrong in
            ["", "p.db", "sqlite:", "sqlite://", "sqlite::memory:", "sqlite://p.db?mode=memory", "mysql://h"]
        {
            assert_eq!(database(wrong), Err(DATABASE), "{wrong}");
        }
        assert_eq!(database("postgres://user:pw@host/db"), Err(POSTGRESQL));
        assert_eq!(database("postgresql://host/db"), Err(POSTGRESQL));
    }

    #[test]
    fn an_origin_has_nothing_but_scheme_host_and_port() {
        assert_eq!(origin("https://Shop.Example:443/"), Ok("https://shop.example".to_owned()));
        assert_eq!(origin("http://[::1]:8080"), Ok("http://[::1]:8080".to_owned()));
        for wrong in [
            "shop.example",
            "ftp://h",
            "https://",
            "https://h/p",
            "https://h?q",
            "https://u@h",
            "https://*",
            "https://h;x",
        ] {
            assert_eq!(origin(wrong), Err(ORIGIN), "{wrong}");
        }
    }

    #[test]
    fn an_api_base_has_no_version_and_no_slash_at_its_end() {
        assert_eq!(api_base("https://api.yookassa.ru/"), Ok("https://api.yookassa.ru".to_owned()));
        assert_eq!(api_base("http://127.0.0.1:8090/proxy/"), Ok("http://127.0.0.1:8090/proxy".to_owned()));
        for wrong in ["https://api.yookassa.ru/v3", "https://api.yookassa.ru/v3/", "https://u:p@h", "h:80"] {
            assert_eq!(api_base(wrong), Err(API_BASE), "{wrong}");
        }
    }

    #[test]
    fn only_this_machine_is_reached_without_https() {
        for fine in ["https://h", "http://127.0.0.1:8090", "http://[::1]:1", "http://localhost:1"] {
            assert!(!is_readable_on_the_way(fine), "{fine}");
        }
        for open in ["http://h", "http://10.0.0.1", "http://localhost.example"] {
            assert!(is_readable_on_the_way(open), "{open}");
        }
    }

    #[test]
    fn a_webhook_secret_is_of_standard_webhooks() {
        assert!(webhook_secret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").is_ok());
        for wrong in
            ["", "whsec_", "whsec_canary", "C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_C2FVsBQIhrscChlQ"]
        {
            assert_eq!(webhook_secret(wrong), Err(WEBHOOK_SECRET), "{wrong}");
        }
    }

    #[test]
    fn a_rate_is_a_number_or_off() {
        assert_eq!(rate_limit("off"), Ok(RateLimit::Off));
        assert_eq!(rate_limit("500"), Ok(RateLimit::PerSecond(500)));
        for wrong in ["0", "-1", "1000001", "1.5", "Off", "", "unlimited"] {
            assert_eq!(rate_limit(wrong), Err(RATE), "{wrong}");
        }
    }

    #[test]
    fn a_key_fits_a_header() {
        assert!(api_key("sk_test_demo").is_ok());
        for wrong in ["", "short", "with space", "new\nline", "ключ-ключ", &"k".repeat(256)] {
            assert_eq!(api_key(wrong), Err(API_KEY), "{wrong}");
        }
        assert!(path_secret("abcDEF12-_").is_ok());
        assert!(path_secret("abc/DEF12").is_err());
    }
}
