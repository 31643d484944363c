//! `cargo xtask web`: everything the browser gets, built from this repository; `cargo xtask rules`: which test proves which
//! rule. Never touches the server's build.

mod budget;
mod fingerprint;
mod names;
mod node;
mod rules;
mod site;
mod toolchain;
mod web;

use std::path::Path;

const USAGE: &str = "\
cargo xtask web [--check-budget]
cargo xtask rules

  web    Builds the frontend for WebAssembly, binds, optimises, hashes and compresses it together with the styles
  and the plain scripts, and leaves the result in target/site. Does nothing when nothing changed.

  rules  Writes into docs/rules.md which tests name which rule, fault or attack.

  --check-budget   fail when the browser would download more than we allow ourselves";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace");
    match arguments[..] {
        ["web"] => {
            println!("{}", web::build(root)?);
            Ok(())
        }
        ["web", "--check-budget"] => {
            let sizes = web::build(root)?;
            println!("{sizes}");
            sizes.check()
        }
        ["rules"] => Ok(std::fs::write(root.join("docs/rules.md"), rules::document(root)?)?),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => anyhow::bail!("unknown arguments\n\n{USAGE}"),
    }
}
