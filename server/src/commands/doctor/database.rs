//! The database file, and the merchants it knows.

use engine::{Seal, Vault};
use store::{Directory, Inspection, SqlStore, Sqlite, SqliteOptions, StoreError};

use super::{Finding, in_one_line, provider::Account};
use crate::config::{Database, SecretBytes, SecretText, Settings};

/// What SQLite calls FULL: a commit is on the disk before it is told.
const FULL: i64 = 2;

/// The file: opens, has this version's schema, takes writes and keeps them. And whether it can be read further.
pub async fn check(settings: &Settings) -> (Finding, bool) {
    let Database::Sqlite(path) = &settings.database;
    let name = path.display().to_string();
    if !path.is_file() {
        let what = format!("{name} is not there");
        return (
            Finding::wrong(what, "run `payonce migrate`, or start `payonce serve`, which make it"),
            false,
        );
    }
    if path.metadata().is_ok_and(|file| file.len() == 0) {
        let what = format!("{name} is empty: a copy of the database was cut off");
        return (
            Finding::wrong(
                what,
                "restore a backup as docs/operations.md says; delete it if there never was a database",
            ),
            false,
        );
    }
    match Sqlite::inspect(path).await {
        Ok(inspection) => judge(&name, &inspection),
        Err(error) => {
            let what = format!("{name} does not open: {}", in_one_line(&error));
            (
                Finding::wrong(what, "check that it is Payonce's database, and who may read and write it"),
                false,
            )
        }
    }
}

fn judge(name: &str, inspection: &Inspection) -> (Finding, bool) {
    let (schema, newest) = (inspection.schema, Sqlite::newest_schema());
    if schema < newest {
        let what = format!("the schema of {name} is at version {schema}, this payonce needs {newest}");
        return (Finding::wrong(what, "run `payonce migrate`"), false);
    }
    if schema > newest {
        let what = format!("the schema of {name} is at version {schema}, this payonce knows {newest}");
        return (Finding::wrong(what, "use the newer payonce that made it"), false);
    }
    if let Some(damage) = &inspection.damage {
        let what = format!("{name} is broken: {}", damage.replace('\n', " "));
        return (
            Finding::wrong(what, "stop the server, and restore a backup as docs/operations.md says"),
            false,
        );
    }
    if let Some(error) = &inspection.refuses_writes {
        let what = format!("{name} takes no writes: {}", in_one_line(error));
        return (Finding::wrong(what, "check the disk, and who may write the file"), true);
    }
    if inspection.journal_mode != "wal" || inspection.synchronous != FULL {
        let (journal, synchronous) = (&inspection.journal_mode, inspection.synchronous);
        let what = format!(
            "{name} is kept with journal {journal}, synchronous {synchronous}, not with WAL and FULL"
        );
        return (
            Finding::wrong(what, "move it to a local disk: some network file systems cannot do it"),
            true,
        );
    }
    (Finding::Ok(format!("{name} has schema {schema}, takes writes, and keeps them (WAL, FULL)")), true)
}

/// The accounts of the merchants in the database.
pub async fn accounts(settings: &Settings, secret: SecretBytes) -> Result<Vec<Account>, Finding> {
    let Database::Sqlite(path) = &settings.database;
    let unreadable =
        |error: StoreError| Finding::wrong(in_one_line(&error), "see the line about the database");
    let store = SqlStore::<Sqlite>::open(SqliteOptions::new(path)).await.map_err(unreadable)?;
    let vault = Vault::new(secret.0, settings.secret_old.as_ref().map(|old| old.0));
    let open = |merchant: store::MerchantRecord| {
        let opened = vault.open(&merchant.sealed_secret, &Seal::credentials(&merchant.tenant));
        let secret = opened.map_err(|_| {
            let what =
                format!("the provider secret of {} does not open with this secret", merchant.tenant.merchant);
            Finding::wrong(what, "set PAYONCE_SECRET_OLD to the secret that stored it")
        })?;
        Ok(Account {
            tenant: merchant.tenant,
            url: merchant.url,
            id: merchant.account.as_str().to_owned(),
            secret: SecretText(String::from_utf8_lossy(&secret).into_owned()),
        })
    };
    store.merchants().await.map_err(unreadable)?.into_iter().map(open).collect()
}
