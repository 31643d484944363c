//! One keep-alive connection, as light as can be: the clients share the machine with the server. Knows nothing of payments.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, StatusCode,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap},
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// An answer, read to its end.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// A client with one connection; a new one is opened when the server closed it.
pub struct Client {
    address: SocketAddr,
    host: String,
    connection: SendRequest<Full<Bytes>>,
}

impl Client {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        Ok(Self { address, host: address.to_string(), connection: open(address).await? })
    }

    /// `GET`.
    pub async fn get(&mut self, path: &str) -> Result<Answer> {
        self.send(
            Request::builder().method(Method::GET).uri(path).header(HOST, &self.host).body(Full::default())?,
        )
        .await
    }

    /// `GET` with credentials.
    pub async fn get_as(&mut self, path: &str, authorization: &str) -> Result<Answer> {
        let request = Request::builder().method(Method::GET).uri(path).header(HOST, &self.host);
        self.send(request.header(AUTHORIZATION, authorization).body(Full::default())?).await
    }

    /// `POST` of JSON. `authorization` and `key` (`Idempotency-Key`) are left out where there are none.
    pub async fn post(
        &mut self,
        path: &str,
        authorization: Option<&str>,
        key: Option<&str>,
        json: Vec<u8>,
    ) -> Result<Answer> {
        let mut request = Request::builder().method(Method::POST).uri(path).header(HOST, &self.host);
        request = request.header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(key) = key {
            request = request.header(contract::IDEMPOTENCY_KEY, key);
        }
        self.send(request.body(Full::from(json))?).await
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Answer> {
        if self.connection.is_closed() {
            self.connection = open(self.address).await?;
        }
        self.connection.ready().await?;
        let (head, body) = self.connection.send_request(request).await?.into_parts();
        Ok(Answer { status: head.status, headers: head.headers, body: body.collect().await?.to_bytes() })
    }
}

async fn open(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // What goes wrong with it is told by the next request.
    tokio::spawn(connection);
    Ok(sender)
}
