//! A process that dies at an await: what it was at is dropped there.

use std::{future::poll_fn, pin::pin, task::Poll};

/// Runs `work` until it has been polled `polls` times, and drops it there; none where it came to no end.
pub async fn until_poll<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}
