//! The address for agents that cannot start a program: MCP as Streamable HTTP at a port that stays the same.
//!
//! Only loopback is bound. Every request carries a token of the address, names this machine as its host,
//! and comes from no web page of another: a browser would say so in `Origin`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use arc_swap::ArcSwap;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::server::TokenProfile;
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
use tokio_util::sync::CancellationToken;

use crate::http::strict;
use crate::listen::{Listening, bearer, is_local, same};
use crate::messages::MESSAGE_BYTES;
use crate::serving::Serving;
use crate::tokens::AgentToken;

/// Where at the port agents are served.
pub(crate) const PATH: &str = "/mcp";
/// Web pages of this machine, which need the token like anybody else; no other page may come in.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// An address that is open; it closes when it is dropped.
#[derive(Debug)]
pub(crate) struct McpHttpServer {
    listening: Listening,
}

impl McpHttpServer {
    /// Opens the address.
    ///
    /// # Errors
    /// `conflict` when somebody else has the port.
    pub(crate) async fn open(
        port: u16,
        tokens: Arc<ArcSwap<Vec<AgentToken>>>,
        gateway: Gateway<Serving>,
        sessions: Arc<dyn SessionStore>,
    ) -> Result<McpHttpServer> {
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
        let server = move || {
            Ok(Server::new(gateway.clone(), format!("http_{}", autokit_workspace::token(16)), String::new()))
        };
        let mut config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.child_token())
            .with_max_request_body_bytes(MESSAGE_BYTES)
            .with_allowed_origins(ORIGINS);
        config.session_store = Some(sessions);
        let manager = Arc::new(LocalSessionManager::default());
        let agents = StreamableHttpService::new(server, Arc::clone(&manager), config);
        let app = Router::new()
            .route_service(PATH, agents)
            .layer(middleware::from_fn_with_state(manager, strict))
            .layer(middleware::from_fn_with_state(tokens, admit));
        let listening = Listening::start(listener, app, stop);
        Ok(McpHttpServer { listening })
    }

    /// Takes no more requests and lets go of the port.
    pub(crate) async fn close(self) {
        self.listening.end().await;
    }
}

async fn admit(
    State(tokens): State<Arc<ArcSwap<Vec<AgentToken>>>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_local(request.headers()) {
        return (StatusCode::FORBIDDEN, "not this host").into_response();
    }
    let presented = bearer(request.headers()).unwrap_or_default().as_bytes();
    // Every token is compared, so that the time does not tell which came close.
    let profile = tokens.load().iter().fold(None, |found, valid| {
        if same(presented, valid.token.as_bytes()) { Some(valid.profile.clone()) } else { found }
    });
    let Some(profile) = profile else {
        let mut refused =
            (StatusCode::UNAUTHORIZED, "the token of this address is missing or no longer valid")
                .into_response();
        refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return refused;
    };
    request.extensions_mut().insert(TokenProfile(profile));
    next.run(request).await
}
