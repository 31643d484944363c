//! Whether anything changed since the last build. Reads files, judges by content only, never by time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// The hash of everything a build is made from.
pub(crate) struct Fingerprint(String);

impl Fingerprint {
    /// Of the files and folders `inputs` below `root`, and of the file `more`.
    pub(crate) fn of(root: &Path, inputs: &[&str], more: &Path) -> Result<Self> {
        let mut files = vec![more.to_owned()];
        for input in inputs {
            collect(&root.join(input), &mut files)?;
        }
        files.sort();
        let mut hash = Sha256::new();
        for file in files {
            let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            // The length keeps a byte from moving between a file and the next one unseen.
            hash.update(format!("{}\0{}\0", file.display(), content.len()));
            hash.update(content);
        }
        Ok(Self(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Whether `stamp` holds this fingerprint.
    pub(crate) fn matches(&self, stamp: &Path) -> bool {
        fs::read_to_string(stamp).is_ok_and(|written| written == self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(root: &Path) -> String {
        Fingerprint::of(root, &["style", "absent"], &root.join("wasm")).unwrap().0
    }

    #[test]
    fn only_a_change_of_content_or_name_changes_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir(root.join("style")).unwrap();
        fs::write(root.join("wasm"), "1").unwrap();
        fs::write(root.join("style/a.css"), "a{}").unwrap();
        let first = of(root);
        fs::write(root.join("style/a.css"), "a{}").unwrap();
        assert_eq!(first, of(root));
        fs::rename(root.join("style/a.css"), root.join("style/b.css")).unwrap();
        assert_ne!(first, of(root));
        fs::rename(root.join("style/b.css"), root.join("style/a.css")).unwrap();
        fs::write(root.join("wasm"), "2").unwrap();
        assert_ne!(first, of(root));
    }
}
