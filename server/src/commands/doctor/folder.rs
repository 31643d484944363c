//! The data folder and the secret, as they are.

use std::path::Path;

use rustix::fs::{Access, access, statvfs};

use super::{Finding, in_one_line};
use crate::{
    config::{SecretBytes, Settings},
    folder::Folder,
};

/// Less than this, and a day of payments may not fit.
const MIN_FREE_BYTES: u64 = 256 << 20;

/// The folder: there, writable, with space left.
pub fn check(path: &Path) -> Finding {
    let name = path.display();
    if !path.is_dir() {
        return Finding::wrong(
            format!("{name} is not there"),
            "start `payonce serve` or `payonce migrate`, which make it",
        );
    }
    if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        return Finding::wrong(
            format!("{name} is not writable: {error}"),
            "give it to the user who runs payonce",
        );
    }
    match statvfs(path).map(|system| system.f_bavail.saturating_mul(system.f_frsize)) {
        Ok(free) if free < MIN_FREE_BYTES => {
            Finding::wrong(format!("{} MiB are free in {name}", free >> 20), "make room, or move the folder")
        }
        Ok(free) => Finding::Ok(format!("{name} is writable, {} MiB are free", free >> 20)),
        Err(error) => Finding::Unknown(format!("{name} is writable; its free space is not known: {error}")),
    }
}

/// The secret: given or kept, and for its owner only.
pub fn secret(settings: &Settings) -> (Option<SecretBytes>, Finding) {
    if let Some(secret) = &settings.given_secret {
        return (Some(secret.clone()), Finding::Ok("PAYONCE_SECRET is set".to_owned()));
    }
    let folder = Folder::at(&settings.data);
    let path = folder.secret_path();
    let path = path.display();
    let make = format!("(umask 077; openssl rand -base64 32 > '{path}'), or set PAYONCE_SECRET");
    match folder.secret() {
        Err(error) => (None, Finding::wrong(in_one_line(&error), make)),
        Ok(None) => {
            (None, Finding::wrong(format!("PAYONCE_SECRET is not set, and there is no {path}"), make))
        }
        Ok(Some(secret)) => {
            let is_open = folder.secret_is_open_to_others().unwrap_or(false);
            let finding = if is_open {
                Finding::wrong(format!("others can read {path}"), format!("chmod 600 '{path}'"))
            } else {
                Finding::Ok(format!("{path} is there, for its owner only"))
            };
            (Some(secret), finding)
        }
    }
}
