//! The data folder: made when missing, locked by the one server that works in it, home of the secret. Never shows the secret and
//! never replaces it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::config::{ALLOWED_SECRET, SecretBytes};

/// Only the owner may look in.
const FOLDER_MODE: u32 = 0o700;
/// Only the owner may read or write.
const FILE_MODE: u32 = 0o600;
/// What others may do with a file.
const OTHERS: u32 = 0o077;
/// Longest secret file that is read.
const MAX_SECRET_BYTES: u64 = 1024;

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be made.
    #[error("PAYONCE_DATA: the folder {path} cannot be made; allowed: a folder that this user may write")]
    Make {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Another server works in it.
    #[error(
        "PAYONCE_DATA: another server{holder} works in {path}; end it, or set PAYONCE_DATA to another folder"
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Which process, if it says so.
        holder: String,
    },
    /// A file in it cannot be read or written.
    #[error("PAYONCE_DATA: {path} cannot be used")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The secret's file holds something else.
    #[error("PAYONCE_DATA: {path} does not hold a secret; allowed: {ALLOWED_SECRET}")]
    NotASecret {
        /// The file.
        path: PathBuf,
    },
}

/// An existing data folder.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// The right to be the server of a folder; ends when dropped, or with the process.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl Folder {
    /// The folder, made if it is missing.
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        let failed = |source| FolderError::Make { path: path.to_owned(), source };
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path).map_err(failed)?;
        Ok(Self { path: path.to_owned() })
    }

    /// The folder as it is, or is not yet.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where the secret is kept.
    pub fn secret_path(&self) -> PathBuf {
        self.path.join("secret")
    }

    /// Locks the folder for a server.
    pub fn lock(&self) -> Result<FolderLock, FolderError> {
        let path = self.path.join("payonce.lock");
        let failed = |source| FolderError::File { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(FolderError::InUse { path: self.path.clone(), holder: holder(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // For the message of the next one only: the lock is the system's, not the text.
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(failed)?;
        Ok(FolderLock { _file: file })
    }

    /// The secret, when there is one.
    pub fn secret(&self) -> Result<Option<SecretBytes>, FolderError> {
        let path = self.secret_path();
        let failed = |source| FolderError::File { path: path.clone(), source };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut text = String::new();
        file.take(MAX_SECRET_BYTES).read_to_string(&mut text).map_err(failed)?;
        let secret = SecretBytes::parse(&text);
        secret.map(Some).ok_or(FolderError::NotASecret { path })
    }

    /// Whether others than the owner can read the secret's file.
    pub fn secret_is_open_to_others(&self) -> io::Result<bool> {
        Ok(fs::metadata(self.secret_path())?.permissions().mode() & OTHERS != 0)
    }

    /// Makes a secret from the system's randomness and keeps it. Call with the folder locked, when there is none.
    pub fn make_secret(&self) -> Result<SecretBytes, FolderError> {
        let (path, draft) = (self.secret_path(), self.path.join("secret.new"));
        let failed = |source| FolderError::File { path: path.clone(), source };
        let mut secret = SecretBytes([0; 32]);
        getrandom::fill(&mut secret.0).map_err(|error| failed(io::Error::other(error)))?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(FILE_MODE);
        let mut file = options.open(&draft).map_err(failed)?;
        writeln!(file, "{}", secret.to_base64()).and_then(|()| file.sync_all()).map_err(failed)?;
        // Whole or not at all, and on disk before anything is sealed with it.
        fs::rename(&draft, &path).map_err(failed)?;
        File::open(&self.path).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(secret)
    }
}

/// Who holds the lock, in the words of the message.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let process = file.take(32).read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u32>().ok());
    process.map(|process| format!(" (process {process})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let outside = tempfile::tempdir().unwrap();
        let folder = Folder::create(&outside.path().join("a/b")).unwrap();
        (outside, folder)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_sees_the_folder_and_its_secret() {
        let (_outside, folder) = folder();
        assert_eq!(mode(&folder.path), 0o700);
        assert_eq!(folder.secret().unwrap(), None);
        let made = folder.make_secret().unwrap();
        assert_eq!(mode(&folder.secret_path()), 0o600);
        assert!(!folder.secret_is_open_to_others().unwrap());
        assert_eq!(folder.secret().unwrap(), Some(made));
    }

    #[test]
    fn a_folder_has_one_server() {
        let (_outside, folder) = folder();
        let lock = folder.lock().unwrap();
        let error = folder.lock().unwrap_err().to_string();
        assert!(error.contains(&format!("(process {})", std::process::id())), "{error}");
        drop(lock);
        folder.lock().unwrap();
    }

    #[test]
    fn a_file_with_something_else_is_not_taken_for_a_secret() {
        let (_outside, folder) = folder();
        fs::write(folder.secret_path(), "canary").unwrap();
        let error = folder.secret().unwrap_err().to_string();
        assert!(error.contains("32 bytes as base64") && !error.contains("canary"), "{error}");
    }
}
