//! `payonce demo`: bank, server and shop in one process, with a merchant whose keys everybody knows.

use anyhow::{Context, Result};
use axum::{response::Redirect, routing::get};
use bank::{Bank, Ledger};
use payment::{MerchantId, Mode};
use shop::{Config as ShopConfig, Shop, ShopDatabase};

use super::serve::Running;
use crate::{
    commands::shutdown_signal,
    config::{Config, MailTransport, MerchantConfig, ProviderConfig, SecretText, WebhookConfig},
    ids, net, setup,
};

const MERCHANT: &str = "mer_demo";
const PUBLISHABLE_KEY: &str = "pk_test_demo";
const BANK_ACCOUNT: &str = "100500";
const BANK_SECRET: &str = "test_demo";
/// What the shop's webhooks are signed with.
const WEBHOOK_SECRET: &str = "whsec_ZXZlcnlib2R5IGtub3dzIHRoaXMgb25lOiBkZW1vISE=";

/// Runs until it is told to stop.
pub async fn run(mut config: Config) -> Result<()> {
    config.settings.mails = config.settings.mails.or(Some(MailTransport::Folder));
    let bank_listener = net::bind(config.bank_listen, "PAYONCE_BANK_LISTEN").await?;
    let ledger = Ledger::File(config.data.join("bank.db"));
    // Nobody but this bank knows it, and only until the next start.
    let notify_secret = SecretText(ids::random_text());
    let notify_url = config.bank_notify_url.clone().unwrap_or_else(|| {
        format!("http://{}/v1/webhooks/yookassa/{MERCHANT}/{}", config.listen, notify_secret.0)
    });
    let banking_config = bank::Config { notify_url: Some(notify_url), ..bank::Config::new(ledger) };
    let bank = Bank::open(banking_config).context("cannot open the sandbox bank")?;
    let banking = tokio::spawn(bank.serve(bank_listener, shutdown_signal()));

    let mut engine = setup::engine(&config).await?;
    if is_own_bank(&config) {
        // It went down with whatever was on its way to it, so that a demo that is started again need not wait for that.
        engine.settings.on_its_way_ms = 0;
    }
    // Before the start, which meets the merchant's account.
    setup::put_merchant(&engine, &merchant(&config, notify_secret)?).await?;
    let running = Running::start(&config, engine).await?;
    let shop = Shop::open(ShopConfig {
        api_url: format!("http://{}", config.listen),
        payment_pages_url: config.public_url.clone(),
        public_url: config.public_url.clone(),
        secret_key: config.demo_secret_key.0.clone(),
        webhook_secret: WEBHOOK_SECRET.to_owned(),
        database: ShopDatabase::File(config.data.join("shop.db")),
        bank_url: Some(config.bank_url.clone()),
        mail_folder: (config.mails == Some(MailTransport::Folder)).then(|| config.mail_folder()),
    })?;
    // Last, so that whoever reaches it finds everything there.
    let listener = net::bind(config.listen, "PAYONCE_LISTEN").await?;
    print!("{}", welcome(&config));
    running.serve(listener, shop.router().route("/", get(|| async { Redirect::temporary("/shop") }))).await?;
    banking.await.context("the bank's task")?.context("the bank ended")
}

/// Whether requests go straight to the bank in this process.
fn is_own_bank(config: &Config) -> bool {
    config.bank_url == format!("http://{}", config.bank_listen)
}

fn merchant(config: &Config, notify_secret: SecretText) -> Result<MerchantConfig> {
    Ok(MerchantConfig {
        id: MerchantId::parse(MERCHANT)?,
        name: "Зерно".to_owned(),
        mode: Mode::Test,
        secret_key: config.demo_secret_key.clone(),
        publishable_key: Some(PUBLISHABLE_KEY.to_owned()),
        provider: ProviderConfig {
            kind: "yookassa".to_owned(),
            account: BANK_ACCOUNT.to_owned(),
            secret: SecretText(BANK_SECRET.to_owned()),
            url: config.bank_url.clone(),
            notify_secret: Some(notify_secret),
        },
        return_origins: vec![config.public_url.clone()],
        frame_origins: vec![config.public_url.clone()],
        refund_extras: false,
        webhook: Some(WebhookConfig {
            // To the shop in this very process, whatever stands before the public address.
            url: format!("http://{}/shop/webhooks", config.listen),
            secret: SecretText(WEBHOOK_SECRET.to_owned()),
        }),
    })
}

fn welcome(config: &Config) -> String {
    let (url, bank, data) = (&config.public_url, &config.bank_url, config.data.display());
    format!(
        "Payonce demo\n\
         \x20 shop    {url}/shop    order something and pay with 5555 5555 5555 4444, any later date, any code\n\
         \x20 API     {url}/v1      Authorization: Bearer {PUBLIC_HINT}\n\
         \x20 bank    {bank}/ledger what the bank has really charged\n\
         \x20 data    {data}\n\
         Ctrl+C ends it; the data stays.\n"
    )
}

/// The default is known to everybody; another one is not printed.
const PUBLIC_HINT: &str = "sk_test_demo (or PAYONCE_DEMO_SECRET_KEY)";
