//! A bank to try things on: `cargo run -p bank --example bank [ADDRESS [LEDGER]]`, in memory when no file is named.

use std::error::Error;

use bank::{Bank, Config, Ledger};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8090".to_owned());
    let ledger = arguments.next().map_or(Ledger::Memory, |path| Ledger::File(path.into()));
    let bank = Bank::open(Config::new(ledger))?;
    let listener = TcpListener::bind(address).await?;
    println!("http://{}", listener.local_addr()?);
    bank.serve(listener, async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await?;
    Ok(())
}
