//! SIGTERM and SIGINT, heard once for the whole process: whoever asks later still learns of a signal that came before.

use std::{sync::LazyLock, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// The process is gone this long after the signal, whatever hangs: what is under way is recovered as after a crash.
const DEADLINE: Duration = Duration::from_millis(9_500);

static TOLD: LazyLock<CancellationToken> = LazyLock::new(|| {
    let told = CancellationToken::new();
    match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        (Ok(terminate), Ok(interrupt)) => {
            tokio::spawn(listen(told.clone(), terminate, interrupt));
        }
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "signals cannot be heard: the process ends without saying good-bye");
        }
    }
    told
});

async fn listen(told: CancellationToken, mut terminate: Signal, mut interrupt: Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    told.cancel();
    tokio::time::sleep(DEADLINE).await;
    tracing::warn!("not everything ended in time; it is taken up again at the next start");
    std::process::exit(0);
}

/// Ends when the process has been told to stop. Must first be called inside the runtime.
pub fn shutdown_signal() -> WaitForCancellationFuture<'static> {
    TOLD.cancelled()
}
