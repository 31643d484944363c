//! Takes a port, and says clearly when that is not possible.

use std::{io, net::SocketAddr};

use tokio::net::TcpListener;

/// A port cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody has it.
    #[error("{address} is in use by another program; end that one, or set {variable} to another address")]
    InUse {
        /// The address.
        address: SocketAddr,
        /// Which setting names it.
        variable: &'static str,
    },
    /// The system does not give it.
    #[error(
        "cannot listen on {address}; set {variable} to an address of this machine, and a port this user may take"
    )]
    Refused {
        /// The address.
        address: SocketAddr,
        /// Which setting names it.
        variable: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Listens on `address`, which the setting `variable` names.
pub async fn bind(address: SocketAddr, variable: &'static str) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            BindError::InUse { address, variable }
        } else {
            BindError::Refused { address, variable, source }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_busy_port_is_named_with_its_setting() {
        let first = bind("127.0.0.1:0".parse().unwrap(), "PAYONCE_LISTEN").await.unwrap();
        let address = first.local_addr().unwrap();
        let error = bind(address, "PAYONCE_LISTEN").await.unwrap_err().to_string();
        assert!(error.contains(&address.to_string()) && error.contains("PAYONCE_LISTEN"), "{error}");
    }
}
