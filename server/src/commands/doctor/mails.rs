//! Whether mails can leave.

use super::Finding;
use crate::{config::Settings, effects::Mails};

pub(super) async fn check(settings: &Settings) -> Finding {
    let remedy = "see that PAYONCE_SMTP_URL names a server that is there, with its user and password";
    match Mails::new(settings) {
        Ok(None) => Finding::Ok("none are sent, and none are promised".to_owned()),
        Ok(Some(mails)) => match mails.check().await {
            Ok(how) => Finding::Ok(how),
            Err(why) => Finding::wrong(why, remedy),
        },
        Err(error) => Finding::wrong(error.to_string(), remedy),
    }
}
