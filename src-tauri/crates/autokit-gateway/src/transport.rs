//! Serves agents over byte streams and Streamable HTTP.
//!
//! Nothing here is generic or `async`, so that the code of the MCP SDK is generated in this crate and not once
//! more in every crate that serves agents.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::gateway::Gateway;
use crate::server::Server;
use crate::session::random_name;

/// A byte stream in both directions.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A boxed [`ByteStream`].
pub type BoxedStream = Pin<Box<dyn ByteStream>>;

/// Serves the agent at the other end of a stream until it disconnects or `stop` is cancelled. Each message is
/// a line of JSON with at most `max_line` bytes.
pub fn serve_stream(
    server: Server,
    stream: BoxedStream,
    max_line: usize,
    stop: CancellationToken,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let (from, to) = tokio::io::split(stream);
        let transport = AsyncRwTransport::new(from, to).with_max_line_length(max_line);
        match server.serve_with_ct(transport, stop).await {
            Ok(service) => {
                if let Err(error) = service.waiting().await {
                    tracing::warn!(%error, "agent connection task failed");
                }
            }
            // The agent disconnected before `initialize`, or sent something else.
            Err(error) => tracing::info!(%error, "failed to initialize an agent connection"),
        }
    })
}

/// Returns the route of an MCP server over Streamable HTTP. `sessions` holds its sessions.
pub fn http_route(
    path: &str,
    gateway: Gateway,
    sessions: Arc<LocalSessionManager>,
    config: StreamableHttpServerConfig,
) -> Router {
    // Each HTTP request names its session itself, or stands alone, so the server gets a random name.
    let server = move || {
        let name = random_name("http").map_err(std::io::Error::other)?;
        Ok(Server::new(gateway.clone(), name, String::new()))
    };
    Router::new().route_service(path, StreamableHttpService::new(server, sessions, config))
}
