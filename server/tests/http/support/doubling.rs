//! A proxy that sends every request twice, as some on the way do, and gives back the second answer.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use reqwest::Client;
use tokio::net::TcpListener;

/// Starts one before `bank_url`; its own URL.
pub async fn start(client: &Client, bank_url: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(twice).with_state((client.clone(), bank_url.to_owned()));
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn twice(
    State((client, bank_url)): State<(Client, String)>,
    method: Method,
    uri: Uri,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    headers.remove(header::HOST);
    let send = || {
        client
            .request(method.clone(), format!("{bank_url}{uri}"))
            .headers(headers.clone())
            .body(body.clone())
            .send()
    };
    send().await.unwrap();
    let answer = send().await.unwrap();
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
    (status, [(header::CONTENT_TYPE, "application/json")], answer.bytes().await.unwrap()).into_response()
}
