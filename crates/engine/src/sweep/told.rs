//! What a notification names and no intent of ours is linked to: asked about at the provider, and met by the sweep's own rule. Others
//! may have made it long before it is paid, so that no listing reaches back to it. Whoever makes notifications up makes us ask no more
//! than a merchant's share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use payment::{ObjectId, ObjectStatus, ProviderAccount};
use providers::Reply;
use store::Tenant;

use super::{
    Swept,
    strangers::{Reading, Strangers},
};
use crate::{Engine, EngineError};

/// Most questions of a merchant's notifications in a minute.
const MOST_A_MINUTE: u32 = 60;
const MINUTE_MS: i64 = 60_000;

/// How many of each merchant's notifications about nobody's objects this process asked about in his present minute.
#[derive(Clone, Debug, Default)]
pub struct Questions(Arc<Mutex<HashMap<Tenant, (i64, u32)>>>);

impl Questions {
    /// Whether one more may be asked at that moment, by the clock that nobody sets.
    fn may_ask(&self, tenant: &Tenant, boot_ms: i64) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = asked.entry(tenant.clone()).or_insert((boot_ms, 0));
        if boot_ms - minute.0 >= MINUTE_MS {
            *minute = (boot_ms, 0);
        }
        let may = minute.1 < MOST_A_MINUTE;
        minute.1 += u32::from(may);
        may
    }
}

/// What the provider said of it.
pub(crate) enum Told {
    /// Nothing, or it was not asked.
    Nothing,
    /// It stands so. Whoever it concerns was told, unless somebody else was at work there.
    Saw { status: ObjectStatus, held: bool },
}

impl Engine {
    /// Asks about an object that none of our intents is linked to.
    pub(crate) async fn ask_about_unknown(
        &self,
        tenant: &Tenant,
        id: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Told, EngineError> {
        let merchant = self.directory.merchant(tenant).await?;
        let Some(merchant) = merchant.filter(|merchant| merchant.account == *id) else {
            return Ok(Told::Nothing);
        };
        if !self.memory.questions.may_ask(tenant, self.clock.moments().boot_ms) {
            return Ok(Told::Nothing);
        }
        let account = self.account_of(&merchant)?;
        let (row, time) = self.swept_until(tenant, id).await?;
        let Reply::Object(seen) = self.provider.query(&account, object).await else {
            return Ok(Told::Nothing);
        };
        let (status, mut swept) = (seen.status.clone(), Swept::default());
        let strangers = Strangers::of_own(&row, time);
        let mut reading = Reading { tenant, account: &account, id, strangers, time, others: None };
        self.take_word(&mut reading, seen, &mut swept).await?;
        Ok(Told::Saw { status, held: swept.held > 0 })
    }
}
