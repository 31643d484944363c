//! The key layer: one look before anything else, in one place (R2, R3).

use payment::Timestamp;
use planted::Fault;

use super::{promised, won};
use crate::{
    Answer, CheckoutRecord, IntentRecord, KeyUse, KnownKey, Tables,
    tables::{Abort, KeyRow},
};

/// What `wanted` already names, if anything: the fingerprint is compared before all other checks.
pub async fn find(tables: &mut dyn Tables, wanted: &KeyUse) -> Result<Option<KnownKey>, Abort> {
    let row = tables.key(&wanted.tenant, wanted.kind, wanted.key.as_str()).await?;
    let Some(row) = row.filter(|_| !planted::is(Fault::KeyNotLookedUp)) else {
        return Ok(None);
    };
    if let Some(field) = wanted.fingerprint.differs_from(&row.key.fingerprint)
        && !planted::is(Fault::FingerprintNotCompared)
    {
        return Ok(Some(KnownKey::Reused { field }));
    }
    let checkout = promised(tables.checkout(&wanted.tenant, row.checkout).await?, "a key's checkout")?;
    let intent = promised(tables.intent(&wanted.tenant, row.intent).await?, "a key's intent")?;
    Ok(Some(KnownKey::Same { checkout: Box::new(checkout), intent: Box::new(intent), answer: row.answer }))
}

/// Claims a key for what it names from now on, with its first final answer if there is one already.
pub async fn claim(
    tables: &mut dyn Tables,
    key: &KeyUse,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    answer: Option<Answer>,
    now: Timestamp,
) -> Result<(), Abort> {
    let row = KeyRow { key: key.clone(), checkout: checkout.id, intent: intent.id, created_at: now, answer };
    won(tables.insert_key(&row).await?)
}
