//! The address for agents that cannot start a program: MCP as Streamable HTTP at a port that stays the same.
//!
//! Only loopback is bound. Every request carries the token of the address, names this machine as its host,
//! and comes from no web page: a browser would say so in `Origin`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use autokit_gateway::{Gateway, Server};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::engine::Serving;
use crate::error::{ApiError, ErrorCode, Result};
use crate::host::{bears, is_local};
use crate::mcp::MESSAGE_BYTES;

/// Where at the port agents are served.
pub(crate) const PATH: &str = "/mcp";
/// How long calls that are on their way are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// An address that is open; it closes when it is dropped.
#[derive(Debug)]
pub(crate) struct Door {
    stop: DropGuard,
    served: tokio::task::JoinHandle<()>,
}

impl Door {
    /// Opens the address.
    ///
    /// # Errors
    /// `conflict` when somebody else has the port.
    pub(crate) async fn open(
        port: u16,
        token: &str,
        gateway: Gateway<Serving>,
        sessions: Arc<dyn SessionStore>,
    ) -> Result<Door> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
        let listener = listener.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => ApiError::new(
                ErrorCode::Conflict,
                format!("another program has port {port} of this machine"),
                "Choose another port, or end that program.",
            ),
            _ => ApiError::new(
                ErrorCode::Conflict,
                format!("port {port} of this machine cannot be opened: {error}"),
                "Choose another port, above 1023.",
            ),
        })?;
        let stop = CancellationToken::new();
        // HTTP names the session of each request itself, or the request stands alone.
        let server =
            move || Ok(Server::new(gateway.clone(), format!("http_{}", crate::token(16)), String::new()));
        let mut config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.child_token())
            .with_max_request_body_bytes(MESSAGE_BYTES)
            .enforce_origin_validation();
        config.session_store = Some(sessions);
        let agents = StreamableHttpService::new(server, Arc::new(LocalSessionManager::default()), config);
        let app = Router::new()
            .route_service(PATH, agents)
            .layer(middleware::from_fn_with_state(Arc::<str>::from(token), admit));
        let signal = stop.clone();
        let served = tokio::spawn(async move {
            let server = axum::serve(listener, app).with_graceful_shutdown(signal.cancelled_owned());
            if let Err(error) = server.await {
                tracing::error!(%error, "the address for agents ended");
            }
        });
        Ok(Door { stop: stop.drop_guard(), served })
    }

    /// Takes no more requests and lets go of the port.
    pub(crate) async fn close(self) {
        let Door { stop, mut served } = self;
        drop(stop);
        if tokio::time::timeout(PATIENCE, &mut served).await.is_err() {
            served.abort();
            // Only now is the port free.
            let _ = served.await;
        }
    }
}

async fn admit(State(token): State<Arc<str>>, request: Request, next: Next) -> Response {
    if !is_local(request.headers()) {
        return (StatusCode::FORBIDDEN, "not this host").into_response();
    }
    if !bears(request.headers(), &token) {
        let mut refused =
            (StatusCode::UNAUTHORIZED, "the token of this address is missing or another one now")
                .into_response();
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return refused;
    }
    next.run(request).await
}
