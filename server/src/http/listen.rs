//! Accepts connections and serves them. Its own loop: `axum::serve` gives a request's head no deadline, and a client that sends a
//! byte a second would hold its connection for ever (attack 16).

use std::{convert::Infallible, io, net::SocketAddr, pin::pin, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use super::{App, router};

/// A pause when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves the routes and `more` until `stop`; then lets open requests end, for `grace` at most. What they asked for runs in tasks of
/// its own and does not end with them.
pub async fn serve(
    listener: TcpListener,
    app: App,
    more: Router,
    stop: impl Future<Output = ()>,
    grace: Duration,
) -> io::Result<()> {
    let head_deadline = app.patience.head;
    let live = app.live.clone();
    let router = router(app).merge(more);
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let connection = graceful.watch(connection(stream, peer, router.clone(), head_deadline));
                    // An error here is a client that went away or was too slow.
                    tokio::spawn(async move { connection.await.ok() });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    // A stream would not end by itself.
    live.close();
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("connections that did not end in time are cut off; their work goes on");
    }
    Ok(())
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    head_deadline: Duration,
) -> impl GracefulConnection<Error = hyper::Error> + Send {
    // An answer is one write: without this the kernel would hold its last packet back.
    stream.set_nodelay(true).ok();
    let service = service_fn(move |request: Request<Incoming>| {
        let router = router.clone();
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            Ok::<_, Infallible>(router.oneshot(request).await.unwrap_or_else(|never| match never {}))
        }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_deadline)
        .serve_connection(TokioIo::new(stream), service)
}
