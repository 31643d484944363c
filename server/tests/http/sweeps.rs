//! The background's sweeps: each account by itself.

use std::time::Duration;

use engine::Seal;
use payment::{MerchantId, Mode};
use store::{Directory, MerchantRecord, Store, Tenant};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::support::{Setup, World, eventually};

/// A test ends that waits longer for a sweep to begin.
const DEADLINE: Duration = Duration::from_secs(20);

/// One more merchant, whose provider listens here.
async fn provider_of_one_more(world: &World) -> TcpListener {
    let known = world.engine.directory.merchants().await.unwrap().remove(0);
    let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tenant = Tenant { merchant: MerchantId::parse("mer_more").unwrap(), mode: Mode::Test };
    let merchant = MerchantRecord {
        sealed_secret: world.engine.vault.seal(b"secret", &Seal::credentials(&tenant), [1; 24]),
        url: format!("http://{}", provider.local_addr().unwrap()),
        webhook: None,
        notify_secret_hash: None,
        tenant,
        ..known
    };
    world.store.put_merchant(merchant, Vec::new()).await.unwrap();
    provider
}

async fn asked(provider: &TcpListener) -> TcpStream {
    timeout(DEADLINE, provider.accept()).await.expect("it is swept").unwrap().0
}

#[tokio::test]
async fn fault_23_a_provider_that_never_answers_holds_up_nobody_elses_sweep() {
    let mut setup = Setup::default();
    setup.timing.sweep_ms = 50;
    let world = World::with(setup).await;
    let other = world.engine.directory.merchants().await.unwrap().remove(0);
    let silent = provider_of_one_more(&world).await;
    let _asked = asked(&silent).await;
    let swept_until = async || {
        let row = world.store.sweep(other.tenant.clone(), other.account.clone()).await.unwrap().0;
        row.swept_until
    };
    let before = swept_until().await;
    eventually("another sweep of the others", || async { (swept_until().await > before).then_some(()) })
        .await;
}

/// The next one would come after ten minutes.
#[tokio::test]
async fn fault_23_a_sweep_that_failed_is_repeated_soon() {
    let world = World::start().await;
    let broken = provider_of_one_more(&world).await;
    // The payments and the refunds are asked for; then both again.
    for _ in 0..4 {
        drop(asked(&broken).await);
    }
}
