//! A client that writes bytes: for requests that no proper client sends, and for leaving in the middle of one.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A connection.
pub struct Raw(pub TcpStream);

impl Raw {
    pub async fn connect(url: &str) -> Self {
        Self(TcpStream::connect(url.trim_start_matches("http://")).await.unwrap())
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        // A server that has answered already may have closed its end.
        self.0.write_all(bytes.as_ref()).await.ok();
        self
    }

    /// Says that nothing more will come.
    pub async fn end(&mut self) {
        self.0.shutdown().await.ok();
    }

    /// All that comes until the server closes.
    pub async fn rest(mut self) -> String {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).await.ok();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// One request, one connection, everything that is answered.
    pub async fn exchange(url: &str, bytes: impl AsRef<[u8]>) -> String {
        let mut raw = Self::connect(url).await;
        raw.write(bytes).await;
        raw.rest().await
    }
}
