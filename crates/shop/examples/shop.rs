//! The shop in front of an API: `cargo run -p shop --example shop -- http://127.0.0.1:8080 sk_test_demo`,
//! then open <http://127.0.0.1:8085/shop>. Without an API it shows what shoppers see when there is none. A folder
//! of `.eml` files can be named third. It keeps nothing.

use std::path::PathBuf;

use shop::{Config, Shop, ShopDatabase};

const LISTEN: &str = "127.0.0.1:8085";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let api_url = args.next().unwrap_or_else(|| "http://127.0.0.1:8080".to_owned());
    let secret_key = args.next().unwrap_or_else(|| "sk_test_demo".to_owned());
    // A second call would find one installed, which is as good.
    rustls::crypto::ring::default_provider().install_default().ok();
    let shop = Shop::open(Config {
        payment_pages_url: api_url.clone(),
        api_url,
        public_url: format!("http://{LISTEN}"),
        secret_key,
        webhook_secret: "whsec_ZXZlcnlib2R5IGtub3dzIHRoaXMgb25lOiBkZW1vISE=".to_owned(),
        database: ShopDatabase::Memory,
        bank_url: Some("http://127.0.0.1:8090".to_owned()),
        mail_folder: args.next().map(PathBuf::from),
    })?;
    let listener = tokio::net::TcpListener::bind(LISTEN).await?;
    println!("http://{LISTEN}/shop");
    axum::serve(listener, shop.router()).await?;
    Ok(())
}
