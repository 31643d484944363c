//! The folder that the server carries: files under hashed names, each also compressed, and a manifest of them.
//! Never knows what is in a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use brotli::enc::BrotliEncoderParams;
use sha2::{Digest as _, Sha256};

/// Enough hexadecimal digits that two versions of a file never share a name.
const HASH_DIGITS: usize = 16;

/// A site in the making, in a folder beside the one it will replace.
pub(crate) struct Site {
    folder: PathBuf,
    manifest: BTreeMap<String, String>,
}

impl Site {
    /// Starts anew; the published site stays as it is until [`Site::publish`].
    pub(crate) fn beside(destination: &Path) -> Result<Self> {
        let folder = destination.with_extension("next");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("pkg"))?;
        Ok(Self { folder, manifest: BTreeMap::new() })
    }

    /// Writes `name.ext` as `pkg/name.HASH.ext` and `pkg/name.HASH.ext.br`; the manifest finds it by `key`.
    pub(crate) fn add(&mut self, key: &str, name: &str, content: &[u8]) -> Result<()> {
        let hashed = hashed_name(name, content);
        let path = self.folder.join("pkg").join(&hashed);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        fs::write(compressed_path(&path), compress(content)?)?;
        if self.manifest.insert(key.to_owned(), format!("/pkg/{hashed}")).is_some() {
            bail!("two files want to be {key} in the manifest");
        }
        Ok(())
    }

    /// Writes the manifest and puts the site in its place.
    pub(crate) fn publish(self, destination: &Path) -> Result<()> {
        let manifest = serde_json::to_string_pretty(&self.manifest)?;
        fs::write(self.folder.join("manifest.json"), manifest + "\n")?;
        if destination.exists() {
            fs::remove_dir_all(destination)?;
        }
        fs::rename(&self.folder, destination)
            .with_context(|| format!("cannot write {}", destination.display()))
    }
}

/// Where the compressed form of a file lies.
pub(crate) fn compressed_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".br");
    name.into()
}

fn hashed_name(name: &str, content: &[u8]) -> String {
    let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let hash = &digest[..HASH_DIGITS];
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{hash}.{extension}"),
        None => format!("{name}.{hash}"),
    }
}

fn compress(content: &[u8]) -> Result<Vec<u8>> {
    let parameters = BrotliEncoderParams { quality: 11, size_hint: content.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut Cursor::new(content), &mut compressed, &parameters)?;
    Ok(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_gets_another_name_and_the_same_one_keeps_it() {
        let name = hashed_name("payonce.css", b"a{}");
        assert_eq!(name, hashed_name("payonce.css", b"a{}"));
        assert_ne!(name, hashed_name("payonce.css", b"b{}"));
        assert!(name.starts_with("payonce.") && name.ends_with(".css"), "{name}");
    }

    #[test]
    fn a_published_site_holds_only_what_its_manifest_names() {
        let temporary = tempfile::tempdir().unwrap();
        let destination = temporary.path().join("site");
        for content in [b"old".as_slice(), b"new"] {
            let mut site = Site::beside(&destination).unwrap();
            site.add("loader", "loader.js", content).unwrap();
            site.publish(&destination).unwrap();
        }
        let manifest = fs::read_to_string(destination.join("manifest.json")).unwrap();
        let manifest: BTreeMap<String, String> = serde_json::from_str(&manifest).unwrap();
        let served = destination.join(manifest["loader"].trim_start_matches('/'));
        assert_eq!(fs::read(&served).unwrap(), b"new");
        assert!(compressed_path(&served).exists());
        assert_eq!(fs::read_dir(destination.join("pkg")).unwrap().count(), 2);
    }

    #[test]
    fn two_files_of_one_key_are_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let mut site = Site::beside(&temporary.path().join("site")).unwrap();
        site.add("js", "payonce.js", b"1").unwrap();
        assert!(site.add("js", "js.js", b"2").is_err());
    }
}
