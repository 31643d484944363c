//! How much the browser downloads, and how much we allow. Only measures.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::site::compressed_path;

/// A limit for some of the files together, in bytes after brotli. (That HTML and CSS together stay small is
/// tested where there is HTML.)
struct Limit {
    name: &'static str,
    keys: &'static [&'static str],
    brotli: u64,
}

const LIMITS: [Limit; 2] = [
    Limit { name: "WebAssembly and its glue", keys: &["js", "wasm"], brotli: 60_000 },
    Limit { name: "embed.js", keys: &["embed"], brotli: 3_000 },
];

/// The bytes of one file.
struct Size {
    raw: u64,
    brotli: u64,
}

/// The size of each file of a site, by its key in the manifest.
pub(crate) struct Sizes(BTreeMap<String, Size>);

impl Sizes {
    /// Measures the files that the site's manifest names.
    pub(crate) fn read(site: &Path) -> Result<Self> {
        let manifest = fs::read_to_string(site.join("manifest.json")).context("the site has no manifest")?;
        let manifest: BTreeMap<String, String> = serde_json::from_str(&manifest)?;
        let mut sizes = BTreeMap::new();
        for (key, address) in manifest {
            let path = site.join(address.trim_start_matches('/'));
            let size =
                Size { raw: fs::metadata(&path)?.len(), brotli: fs::metadata(compressed_path(&path))?.len() };
            sizes.insert(key, size);
        }
        Ok(Self(sizes))
    }

    /// Fails when a limit is exceeded, and names it.
    pub(crate) fn check(&self) -> Result<()> {
        let over: Vec<String> = LIMITS
            .iter()
            .map(|limit| (limit, self.brotli(limit.keys)))
            .filter(|(limit, size)| *size > limit.brotli)
            .map(|(limit, size)| format!("{}: {size} bytes, allowed are {}", limit.name, limit.brotli))
            .collect();
        if !over.is_empty() {
            bail!("over budget: {}", over.join("; "));
        }
        Ok(())
    }

    fn brotli(&self, keys: &[&str]) -> u64 {
        keys.iter().filter_map(|key| self.0.get(*key)).map(|size| size.brotli).sum()
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<26}{:>10}{:>10}", "bytes", "raw", "brotli")?;
        for (key, size) in &self.0 {
            writeln!(f, "{key:<26}{:>10}{:>10}", size.raw, size.brotli)?;
        }
        for limit in &LIMITS {
            writeln!(f, "{:<36}{:>10} of {}", limit.name, self.brotli(limit.keys), limit.brotli)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(js: u64, wasm: u64) -> Sizes {
        let size = |brotli| Size { raw: brotli * 3, brotli };
        Sizes(BTreeMap::from([("js".to_owned(), size(js)), ("wasm".to_owned(), size(wasm))]))
    }

    #[test]
    fn the_glue_counts_towards_the_limit_of_the_wasm() {
        assert!(sizes(5_000, 55_000).check().is_ok());
        let refusal = sizes(5_001, 55_000).check().unwrap_err().to_string();
        assert!(refusal.contains("WebAssembly and its glue: 60001 bytes"), "{refusal}");
    }
}
