//! What a browser loads for the payment page, compressed as well as brotli can.

use std::{io::Cursor, net::SocketAddr};

use anyhow::{Context, Result, ensure};
use brotli::enc::BrotliEncoderParams;
use serde::{Deserialize, Serialize};

use crate::http::{Answer, Client};

/// Bytes after brotli 11.
#[derive(Clone, Serialize, Deserialize)]
pub struct Bytes {
    /// The page.
    pub html: usize,
    /// Its styles.
    pub css: usize,
    /// The WebAssembly.
    pub wasm: usize,
    /// What loads it.
    pub glue: usize,
}

/// Loads the payment page at `path` and the files it names.
pub async fn measure(server: SocketAddr, path: &str) -> Result<Bytes> {
    let mut client = Client::connect(server).await?;
    let page = found(client.get(path).await?, path)?;
    let html = String::from_utf8(page)?;
    let mut sizes = Bytes { html: compressed(html.as_bytes())?, css: 0, wasm: 0, glue: 0 };
    for file in files(&html) {
        let size = compressed(&found(client.get(file).await?, file)?)?;
        match file.rsplit('.').next() {
            Some("css") => sizes.css += size,
            Some("wasm") => sizes.wasm += size,
            Some("js") => sizes.glue += size,
            Some(_) | None => {}
        }
    }
    ensure!(
        sizes.css > 0 && sizes.wasm > 0 && sizes.glue > 0,
        "the page names no styles or no WebAssembly: was it built?"
    );
    Ok(sizes)
}

/// The files below /pkg that a page names, each once.
fn files(html: &str) -> Vec<&str> {
    let mut files: Vec<&str> = html
        .match_indices("/pkg/")
        .map(|(start, _)| {
            html[start..].split(['"', '\'', ' ', ')', '<', '>', '&', ';', '`']).next().unwrap_or_default()
        })
        .collect();
    files.sort_unstable();
    files.dedup();
    files
}

fn found(answer: Answer, path: &str) -> Result<Vec<u8>> {
    ensure!(answer.status.is_success(), "{path} answers {}", answer.status);
    Ok(answer.body.into())
}

fn compressed(content: &[u8]) -> Result<usize> {
    let parameters = BrotliEncoderParams { quality: 11, size_hint: content.len(), ..Default::default() };
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut Cursor::new(content), &mut out, &parameters).context("cannot compress")?;
    Ok(out.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_page_is_found_once() {
        let html = r#"<link href="/pkg/a.1.css"><link href='/pkg/a.1.css'><script>import("/pkg/b.2.js");init('/pkg/c.3.wasm')</script>"#;
        assert_eq!(files(html), ["/pkg/a.1.css", "/pkg/b.2.js", "/pkg/c.3.wasm"]);
    }
}
