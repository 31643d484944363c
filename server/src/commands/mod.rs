//! The commands, and what all of them start with: the settings, the data folder, its lock, the secret.

mod bank;
mod demo;
mod doctor;
mod migrate;
mod review;
mod serve;
mod shutdown;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{
    cli::{Cli, Command},
    config::{Config, SecretBytes, Settings, process_environment},
    folder::{Folder, FolderLock},
};

pub use shutdown::shutdown_signal;

/// Does what the command line says; the exit code, or why it could not be done.
pub async fn run(cli: Cli) -> Result<ExitCode> {
    // From here on a signal is never missed, however early it comes.
    let _heard_later = shutdown_signal();
    let settings = Settings::load(&cli.flags, &process_environment);
    match cli.command {
        Command::Doctor => return Ok(doctor::run(settings).await),
        Command::Demo => {
            let (config, _lock) = locked(settings?, make_secret)?;
            demo::run(config).await?;
        }
        Command::Serve => {
            let (config, _lock) = locked(settings?, refuse_without_secret)?;
            serve::run(config).await?;
        }
        Command::Bank { memory } => bank::run(&settings?, memory).await?,
        Command::Migrate => migrate::run(&settings?).await?,
        Command::Review { command } => return review::run(beside(settings?)?, command).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder, locked for this process, and the secret: as given, else as kept there, else as `without` says.
fn locked(settings: Settings, without: fn(&Folder) -> Result<SecretBytes>) -> Result<(Config, FolderLock)> {
    let folder = Folder::create(&settings.data)?;
    let lock = folder.lock()?;
    let secret = match &settings.given_secret {
        Some(secret) => secret.clone(),
        None => match folder.secret()? {
            Some(secret) => {
                warn_of_open_secret(&folder);
                secret
            }
            None => without(&folder)?,
        },
    };
    Ok((Config { settings, secret }, lock))
}

/// The settings and the secret of a server that may be running: its lock is left alone.
fn beside(settings: Settings) -> Result<Config> {
    let folder = Folder::at(&settings.data);
    let given = match &settings.given_secret {
        Some(secret) => Some(secret.clone()),
        None => folder.secret()?,
    };
    let secret = match given {
        Some(secret) => secret,
        None => refuse_without_secret(&folder)?,
    };
    Ok(Config { settings, secret })
}

fn make_secret(folder: &Folder) -> Result<SecretBytes> {
    Ok(folder.make_secret()?)
}

fn refuse_without_secret(folder: &Folder) -> Result<SecretBytes> {
    let path = folder.secret_path();
    let path = path.display();
    bail!(
        "PAYONCE_SECRET is not set, and there is no {path}; allowed: 32 bytes as base64. Make one and keep it, \
         for without it nothing opens that was stored with it:\n  (umask 077; openssl rand -base64 32 > '{path}')"
    )
}

fn warn_of_open_secret(folder: &Folder) {
    if folder.secret_is_open_to_others().is_ok_and(|open| open) {
        let path = folder.secret_path();
        tracing::warn!(path = %path.display(), "others can read the secret: chmod 600 it");
    }
}
