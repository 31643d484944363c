//! `payonce bank`: the sandbox bank alone.

use anyhow::{Context, Result};
use bank::{Bank, Config, Ledger};

use super::shutdown_signal;
use crate::{config::Settings, folder::Folder, net};

/// Runs until it is told to stop.
pub async fn run(settings: &Settings, memory: bool) -> Result<()> {
    let (ledger, kept) = if memory {
        (Ledger::Memory, "in memory, gone with this process".to_owned())
    } else {
        Folder::create(&settings.data)?;
        let path = settings.data.join("bank.db");
        let kept = path.display().to_string();
        (Ledger::File(path), kept)
    };
    let listener = net::bind(settings.bank_listen, "PAYONCE_BANK_LISTEN").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let mut config = Config::new(ledger);
    // An address that was set is the one by which payers reach the confirmation page, too.
    let is_set = settings.bank_url != format!("http://{}", settings.bank_listen);
    config.public_url = is_set.then(|| settings.bank_url.clone());
    config.notify_url = settings.bank_notify_url.clone();
    let account = format!("{}:{}", config.shop_id, config.secret);
    let bank = Bank::open(config).context("cannot open the sandbox bank")?;
    println!(
        "Payonce sandbox bank\n\
         \x20 API     {url}/v3      YooKassa API v3, Basic {account}\n\
         \x20 ledger  {url}/ledger  what was charged\n\
         \x20 faults  {url}/faults  what goes wrong on demand\n\
         \x20 kept    {kept}\n\
         Ctrl+C ends it."
    );
    bank.serve(listener, shutdown_signal()).await.context("the bank ended")
}
