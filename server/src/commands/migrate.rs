//! `payonce migrate`: brings the schema up to date, and says from which version to which.

use anyhow::{Context, Result};
use store::Sqlite;

use crate::{
    config::{Database, Settings},
    folder::Folder,
};

/// Migrates the configured database; makes it when it is missing.
pub async fn run(settings: &Settings) -> Result<()> {
    let Database::Sqlite(path) = &settings.database;
    if path.starts_with(&settings.data) {
        Folder::create(&settings.data)?;
    }
    let name = path.display();
    let migrated = Sqlite::migrate(path).await.with_context(|| format!("cannot migrate {name}"))?;
    if migrated.from == migrated.to {
        println!("{name}: the schema is at version {}, nothing to do", migrated.to);
    } else {
        println!("{name}: the schema went from version {} to {}", migrated.from, migrated.to);
    }
    Ok(())
}
