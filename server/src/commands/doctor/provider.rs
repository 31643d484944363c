//! Whether each merchant's provider answers and accepts its account, and whether its clock agrees with ours.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimeParser};
use payment::Mode;
use reqwest::{Client, Response, StatusCode, header::DATE, redirect::Policy};
use serde_json::Value;
use store::Tenant;

use super::{Check, Finding, in_one_line};
use crate::config::{SecretText, Settings};

/// A provider that needs longer would be of no use to a shopper.
const DEADLINE: Duration = Duration::from_secs(10);
/// Clocks further apart than this make signatures and expiries go wrong.
const MAX_SKEW: SignedDuration = SignedDuration::from_secs(30);

/// What a sweep reads, and the gate waits for.
const LISTED: [&str; 2] = ["payments", "refunds"];

/// A merchant's account with its provider.
pub struct Account {
    /// Whose.
    pub tenant: Tenant,
    /// Base of the API.
    pub url: String,
    /// Its id there.
    pub id: String,
    /// Its secret.
    pub secret: SecretText,
}

/// The accounts of the file.
pub fn configured(settings: &Settings) -> Vec<Account> {
    let account = |merchant: &crate::config::MerchantConfig| Account {
        tenant: Tenant { merchant: merchant.id.clone(), mode: merchant.mode },
        url: merchant.provider.url.clone(),
        id: merchant.provider.account.clone(),
        secret: merchant.provider.secret.clone(),
    };
    settings.merchants.iter().map(account).collect()
}

/// Adds the accounts of the database; for a merchant in both, the file counts, as it does for the server.
pub fn add_stored(accounts: &mut Vec<Account>, stored: Vec<Account>) {
    for account in stored {
        if !accounts.iter().any(|known| known.tenant == account.tenant) {
            accounts.push(account);
        }
    }
}

/// A line for each account, and one for the clock.
pub async fn check(accounts: &[Account]) -> Vec<Check> {
    if accounts.is_empty() {
        let remedy = "add a [[merchant]] to the file that PAYONCE_CONFIG names, or run `payonce demo`";
        return vec![
            Check::new("merchants", Finding::wrong("there is none", remedy)),
            Check::new("clock", unknown_clock()),
        ];
    }
    let client = Client::builder().timeout(DEADLINE).redirect(Policy::none()).build();
    let client = match client {
        Ok(client) => client,
        Err(error) => return vec![Check::new("providers", Finding::Unknown(in_one_line(&error)))],
    };
    let mut checks = Vec::new();
    let mut widest: Option<SignedDuration> = None;
    for account in accounts {
        let mut finding = Finding::Unknown("it was not asked".to_owned());
        for what in LISTED {
            let answer = ask(&client, account, what).await;
            let skew = answer.as_ref().ok().and_then(skew);
            widest = [widest, skew].into_iter().flatten().max_by_key(|skew| skew.abs());
            let (status, is_test) = match answer {
                Ok(answer) => (Ok(answer.status()), is_test_shop(answer).await),
                Err(error) => (Err(error), None),
            };
            finding = judge(account, what, status);
            if let (Finding::Ok(_), Some(wrong)) =
                (&finding, is_test.and_then(|test| wrong_shop(account, test)))
            {
                finding = wrong;
            }
            if !matches!(finding, Finding::Ok(_)) {
                break;
            }
        }
        let name = format!("provider of {} ({})", account.tenant.merchant, account.tenant.mode.as_str());
        checks.push(Check::new(name, finding));
    }
    checks.push(Check::new("clock", widest.map_or_else(unknown_clock, judge_clock)));
    checks
}

async fn ask(client: &Client, account: &Account, what: &str) -> Result<Response, reqwest::Error> {
    let url = format!("{}/v3/{what}?limit=1", account.url);
    client.get(url).basic_auth(&account.id, Some(&account.secret.0)).send().await
}

/// Whether a shop's newest payment is a test; none where there is no payment yet.
async fn is_test_shop(answer: Response) -> Option<bool> {
    let listed: Value = serde_json::from_slice(&answer.bytes().await.ok()?).ok()?;
    listed.get("items")?.get(0)?.get("test")?.as_bool()
}

/// A live merchant with a test shop would hand out goods for money that does not exist.
fn wrong_shop(account: &Account, is_test: bool) -> Option<Finding> {
    let id = &account.id;
    match (account.tenant.mode, is_test) {
        (Mode::Live, true) => {
            let what =
                format!("account {id} is a test shop's: no money moves there, and the merchant is live");
            Some(Finding::wrong(what, "set the account and the secret of the real shop"))
        }
        (Mode::Test, false) => {
            let what = format!("account {id} takes real money, and the merchant is in test mode");
            Some(Finding::wrong(what, "set the account and the secret of a test shop"))
        }
        (Mode::Live, false) | (Mode::Test, true) => None,
    }
}

fn judge(account: &Account, what: &str, status: Result<StatusCode, reqwest::Error>) -> Finding {
    let (url, id) = (&account.url, &account.id);
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            let silence = format!("{url} does not answer: {}", in_one_line(&error.without_url()));
            return Finding::wrong(silence, "check the URL, and whether this machine may connect to it");
        }
    };
    match status {
        StatusCode::OK => Finding::Ok(format!("{url} answers and accepts account {id}")),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let remedy = "set its account and secret, and let them read payments and refunds";
            Finding::wrong(format!("{url} does not accept account {id} (its {what})"), remedy)
        }
        other => Finding::wrong(
            format!("{url} answers {other} (its {what})"),
            "check the URL, without /v3, or try again later",
        ),
    }
}

/// How far our clock is ahead of the provider's, to the second.
fn skew(answer: &Response) -> Option<SignedDuration> {
    let date = answer.headers().get(DATE)?.to_str().ok()?;
    let theirs = DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(Timestamp::now().duration_since(theirs))
}

fn judge_clock(skew: SignedDuration) -> Finding {
    let seconds = skew.as_secs();
    if skew.abs() < MAX_SKEW {
        Finding::Ok(format!("{} s from the providers'", seconds.abs()))
    } else {
        let direction = if skew.is_negative() { "behind" } else { "ahead of" };
        Finding::wrong(
            format!("{} s {direction} a provider's", seconds.abs()),
            "let a time service (NTP) set it",
        )
    }
}

fn unknown_clock() -> Finding {
    Finding::Unknown("no provider said what time it is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, date: &str) -> Response {
        let answer = axum::http::Response::builder().status(status).header(DATE, date).body("").unwrap();
        Response::from(answer)
    }

    #[test]
    fn the_clock_is_compared_with_the_providers() {
        let at =
            |timestamp: Timestamp| skew(&answer(200, &timestamp.strftime("%a, %d %b %Y %T GMT").to_string()));
        let now = Timestamp::now();
        assert!(at(now).unwrap().abs() < SignedDuration::from_secs(5));
        let behind = at(now + SignedDuration::from_secs(90)).unwrap();
        assert!(matches!(judge_clock(behind), Finding::Wrong { what, .. } if what.contains("behind")));
        assert!(matches!(judge_clock(SignedDuration::from_secs(29)), Finding::Ok(_)));
        assert!(skew(&answer(200, "yesterday")).is_none());
    }

    fn account(mode: Mode) -> Account {
        Account {
            tenant: Tenant { merchant: payment::MerchantId::parse("mer_1").unwrap(), mode },
            url: "http://bank".to_owned(),
            id: "100500".to_owned(),
            secret: SecretText("canary".to_owned()),
        }
    }

    #[tokio::test]
    async fn a_shop_of_the_other_mode_is_wrong() {
        let shop =
            async |body: &'static str| is_test_shop(Response::from(axum::http::Response::new(body))).await;
        assert_eq!(shop(r#"{"items":[{"id":"2f","test":true}]}"#).await, Some(true));
        assert_eq!(shop(r#"{"items":[{"id":"2f","test":false}]}"#).await, Some(false));
        for nothing in ["", "{}", r#"{"items":[]}"#, r#"{"items":[{"test":"yes"}]}"#] {
            assert_eq!(shop(nothing).await, None, "{nothing}");
        }
        let line = |mode, test| {
            wrong_shop(&account(mode), test).map(|finding| Check::new("provider", finding).line())
        };
        assert!(line(Mode::Live, true).unwrap().contains("account 100500 is a test shop's"));
        assert!(line(Mode::Test, false).unwrap().contains("takes real money"));
        assert_eq!([line(Mode::Live, false), line(Mode::Test, true)], [None, None]);
    }

    #[test]
    fn a_refused_account_is_told_from_a_missing_page() {
        let account = account(Mode::Test);
        let line = |status| {
            Check::new("provider", judge(&account, "refunds", Ok(answer(status, "").status()))).line()
        };
        assert!(line(200).starts_with("ok"));
        assert!(line(401).contains("does not accept account 100500 (its refunds)"));
        assert!(line(404).contains("answers 404"));
        assert!([200, 401, 404].into_iter().all(|status| !line(status).contains("canary")));
    }
}
