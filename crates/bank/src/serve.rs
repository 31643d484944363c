//! Accepts connections and serves them. Its own loop, because a lost answer must close the connection without a
//! byte, which no response can say: the service fails instead, and hyper drops the connection.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::answer::Unsent;
use crate::bank::Bank;
use crate::http::{self, Peer};

/// How long requests in work may take after a shutdown was asked for; then they are cut off.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// A pause when the system has no more sockets to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

impl Bank {
    /// Serves until `shutdown`, then lets what is in work finish, for five seconds at most.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        self.state.listens_on(listener.local_addr()?);
        let mut rounds = JoinSet::new();
        if let Some(courier) = &self.state.courier {
            // Ends with this function.
            rounds.spawn(Arc::clone(courier).work(Arc::clone(&self.state)));
        }
        let router = http::router(self.state);
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        let connection = graceful.watch(connection(stream, peer, router.clone()));
                        // An error here is a client that went away, or one whose answer we lost on purpose.
                        connections.spawn(async move { connection.await.ok() });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the bank cannot accept a connection");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        drop(listener);
        if tokio::time::timeout(SHUTDOWN_GRACE, graceful.shutdown()).await.is_err() {
            tracing::warn!(open = connections.len(), "the bank cuts off requests that did not end in time");
        }
        Ok(())
    }
}

/// Why a connection is dropped.
#[derive(Debug, thiserror::Error)]
#[error("the answer is lost on purpose")]
struct LostOnPurpose;

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    // An answer is one write: without this the kernel would hold its last packet back.
    stream.set_nodelay(true).ok();
    let service = service_fn(move |request| answer(router.clone(), peer, request));
    http1::Builder::new().serve_connection(TokioIo::new(stream), service)
}

async fn answer(
    router: Router,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response, LostOnPurpose> {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Peer(peer));
    let response = router.oneshot(request).await.unwrap_or_else(|never: Infallible| match never {});
    if response.extensions().get::<Unsent>().is_some() { Err(LostOnPurpose) } else { Ok(response) }
}
