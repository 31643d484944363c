//! Who has enough in work is passed over by the next claims, and comes as soon as it has not.

use payment::{Holder, MerchantId, Mode, ProviderAccount};
use store::{
    AcceptNotice, Announcement, ClaimDue, ClaimEffects, ClaimNotices, Claimed, NoticeAbout, OpenedCheckout,
    Tenant,
};

use crate::{
    commands::{LEASE_MS, object, open_for, outcome, submit, succeeded, tenant_of},
    conformance::behaviours,
    world::{self, World, claimed, uuid},
};

behaviours!(
    fault_33_operations_of_a_busy_merchant_hold_up_no_other,
    fault_33_effects_of_a_busy_merchant_hold_up_no_other,
    fault_33_notifications_of_a_busy_merchant_hold_up_no_other,
);

/// Each begins or ends as another does.
const MERCHANTS: [&str; 4] = ["mer_1", "mer_10", "r_1", "mer_1|mer_10"];
/// Of the first merchant: more than a claim looks at beyond what it is asked for.
const MANY: usize = 70;

fn named(names: &[&str]) -> Vec<MerchantId> {
    names.iter().map(|name| MerchantId::parse(*name).unwrap()).collect()
}

/// Many of the first merchant are due, and then one of each other, in this order.
async fn are_passed_over_while_busy(claim: impl AsyncFn(u32, Vec<MerchantId>) -> Vec<MerchantId>) {
    assert_eq!(claim(100, named(&MERCHANTS)).await, []);
    assert_eq!(
        claim(1, named(&["mer_1"])).await,
        named(&["mer_10"]),
        "the names are not parts of each other"
    );
    assert_eq!(claim(1, named(&["mer_10", "mer_1"])).await, named(&["r_1"]));
    assert_eq!(claim(100, named(&["r_1", "mer_1"])).await, named(&["mer_1|mer_10"]));
    assert_eq!(claim(100, named(&["mer_1"])).await, []);
    assert_eq!(claim(100, Vec::new()).await, vec![named(&["mer_1"])[0].clone(); MANY]);
}

impl World {
    /// Many orders of the first merchant are sent, and then one of each other.
    async fn many_sent(&self) -> Vec<Claimed> {
        let mut sent = Vec::new();
        for tenant in self.many() {
            let order = format!("order-{}", uuid());
            let mut open = open_for(tenant.clone(), &order, &order, "1500.00");
            // A mail would be a second effect.
            open.terms.email = None;
            let opened = self.store.open_checkout(open).await.unwrap();
            let OpenedCheckout::Fresh(checkout, _) = opened else { panic!("{opened:?}") };
            let (checkout, intent) = self.store.checkout(tenant, checkout.id).await.unwrap().unwrap();
            sent.push(claimed(self.store.submit(submit(&checkout, &intent)).await.unwrap()));
        }
        sent
    }

    /// Whose each is. A moment passes before each.
    fn many(&self) -> impl Iterator<Item = Tenant> {
        let merchants = [MERCHANTS[0]; MANY].into_iter().chain(MERCHANTS[1..].iter().copied());
        merchants.inspect(|_| self.clock.advance(1)).map(|merchant| tenant_of(merchant, Mode::Test))
    }
}

async fn fault_33_operations_of_a_busy_merchant_hold_up_no_other(world: World) {
    world.many_sent().await;
    world.clock.advance(LEASE_MS);
    are_passed_over_while_busy(async |most, busy| {
        let claim = ClaimDue { busy, ..world::due(most as usize) };
        let claims = world.store.claim_due(claim).await.unwrap();
        claims.into_iter().map(|claim| claim.operation.tenant.merchant).collect()
    })
    .await;
}

async fn fault_33_effects_of_a_busy_merchant_hold_up_no_other(world: World) {
    for sent in world.many_sent().await {
        world.clock.advance(1);
        world.commit(outcome(&sent, succeeded(&sent.operation.id.to_string()))).await;
    }
    are_passed_over_while_busy(async |most, busy| {
        let claim = ClaimEffects { holder: Holder(uuid()), lease_ms: LEASE_MS, most, busy };
        let claims = world.store.claim_effects(claim).await.unwrap();
        claims.into_iter().map(|claim| claim.effect.tenant.merchant).collect()
    })
    .await;
}

async fn fault_33_notifications_of_a_busy_merchant_hold_up_no_other(world: World) {
    for tenant in world.many() {
        let (event, status) = ("payment.succeeded".into(), "succeeded".into());
        let (object, about) = (object(&uuid().to_string()), NoticeAbout::Payment);
        let said = Announcement { event, object, about, status, hint: None };
        let account = ProviderAccount::parse("100500").unwrap();
        world.store.accept_notice(AcceptNotice { tenant, account, said }).await.unwrap();
    }
    are_passed_over_while_busy(async |most, busy| {
        let claim = ClaimNotices { holder: Holder(uuid()), lease_ms: LEASE_MS, most, busy };
        let claims = world.store.claim_notices(claim).await.unwrap();
        claims.into_iter().map(|claim| claim.notice.tenant.merchant).collect()
    })
    .await;
}
