//! `payonce serve` as a process of its own, to be killed without warning.

use std::{
    fs::File,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use reqwest::Client;

use super::{
    Call, Sandbox,
    world::{ACCOUNT_SECRET, ALPHA, ALPHA_ID, NOTIFY_SECRET, PUBLIC_URL, eventually},
};

/// What is known to nobody but the server, whose webhooks and mails here find closed ports.
pub const SMTP_PASSWORD: &str = "smtp_password_canary";
pub const WEBHOOK_PATH: &str = "webhook_path_canary";
pub const WEBHOOK_KEY: &str = "webhookkeycanarywebhookkeycanary";

/// A server's process.
pub struct Child {
    pub url: String,
    client: Client,
    process: std::process::Child,
}

impl Child {
    /// Starts one over `folder`; what it logs is added to `folder/log`.
    pub async fn start(client: &Client, bank: &Sandbox, folder: &Path, log: &str) -> Self {
        let listen = free_address();
        let file = folder.join("payonce.toml");
        std::fs::write(&file, config(&bank.url)).unwrap();
        let log_file = File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_payonce"))
            .arg("serve")
            .env_clear()
            .env("PAYONCE_CONFIG", file)
            .env("PAYONCE_DATA", folder.join("data"))
            .env("PAYONCE_LISTEN", &listen)
            .env("PAYONCE_PUBLIC_URL", PUBLIC_URL)
            .env("PAYONCE_SECRET", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=")
            .env("PAYONCE_SMTP_URL", format!("smtp://mailer:{SMTP_PASSWORD}@127.0.0.1:9"))
            .env("PAYONCE_MAIL_FROM", "mails@pay.example")
            .env("RUST_LOG", log)
            .stdin(Stdio::null())
            .stdout(log_file.try_clone().unwrap())
            .stderr(log_file)
            .spawn()
            .unwrap();
        let child = Self { url: format!("http://{listen}"), client: client.clone(), process };
        eventually("the server answers", || async {
            child.call("GET", "/readyz").try_send().await.ok().filter(|reply| reply.status == 200)
        })
        .await;
        child
    }

    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(&self.client, method, format!("{}{path}", self.url))
    }

    /// SIGKILL: nothing of it runs any more.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn config(bank_url: &str) -> String {
    format!(
        r#"
        [timing]
        lease_s = 0.3
        retry_max_s = 0.05
        listing_gap_s = 0.05
        [[merchant]]
        id = "{ALPHA_ID}"
        name = "Zerno"
        mode = "test"
        secret_key = "{ALPHA}"
        provider = {{ kind = "yookassa", account = "100500", secret = "{ACCOUNT_SECRET}", url = "{bank_url}", notify_secret = "{NOTIFY_SECRET}" }}
        webhook = {{ url = "http://127.0.0.1:9/{WEBHOOK_PATH}", secret = "whsec_{WEBHOOK_KEY}" }}
        "#
    )
}
