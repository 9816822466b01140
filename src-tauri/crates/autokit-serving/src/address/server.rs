//! The HTTP server for agents: MCP as Streamable HTTP on a fixed port.
//!
//! It binds to loopback only. Every request must carry a valid token, name this machine in `Host`, and not
//! come from a web page of another host, which browsers report in `Origin`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use arc_swap::ArcSwap;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::Gateway;
use autokit_gateway::server::TokenProfile;
use autokit_gateway::transport::http_route;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::http::validate_messages;
use crate::listen::{HttpListener, bearer, constant_time_eq, is_local};
use crate::messages::MESSAGE_BYTES;
use crate::tokens::AgentToken;

/// Path of the MCP endpoint.
pub(crate) const PATH: &str = "/mcp";
/// Allowed origins: web pages of this machine, which need the token like any client.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// A running server; it closes when it is dropped.
#[derive(Debug)]
pub(crate) struct McpHttpServer {
    http: HttpListener,
}

impl McpHttpServer {
    /// Starts the server.
    ///
    /// # Errors
    /// `conflict` if the port is taken or cannot be opened.
    pub(crate) async fn open(
        port: u16,
        tokens: Arc<ArcSwap<Vec<AgentToken>>>,
        gateway: Gateway,
        sessions: Arc<dyn SessionStore>,
    ) -> Result<McpHttpServer> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
        let listener = listener.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => ApiError::new(
                ErrorCode::Conflict,
                format!("port {port} is already in use"),
                "Choose another port, or close the program that uses it.",
            ),
            _ => ApiError::new(
                ErrorCode::Conflict,
                format!("could not open port {port}: {error}"),
                "Choose a port above 1023.",
            ),
        })?;
        let stop = CancellationToken::new();
        let mut config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.child_token())
            .with_max_request_body_bytes(MESSAGE_BYTES)
            .with_allowed_origins(ORIGINS);
        config.session_store = Some(sessions);
        let manager = Arc::new(LocalSessionManager::default());
        let app = http_route(PATH, gateway, Arc::clone(&manager), config)
            .layer(middleware::from_fn_with_state(manager, validate_messages))
            .layer(middleware::from_fn_with_state(tokens, authorize));
        let http = HttpListener::start(listener, app, stop);
        Ok(McpHttpServer { http })
    }

    /// Stops accepting requests and frees the port.
    pub(crate) async fn close(self) {
        self.http.shut_down().await;
    }
}

async fn authorize(
    State(tokens): State<Arc<ArcSwap<Vec<AgentToken>>>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_local(request.headers()) {
        return (StatusCode::FORBIDDEN, "wrong host").into_response();
    }
    let presented = bearer(request.headers()).unwrap_or_default().as_bytes();
    // Compares with every token, so that timing does not reveal which one came close.
    let profile = tokens.load().iter().fold(None, |found, valid| {
        if constant_time_eq(presented, valid.token.as_bytes()) { Some(valid.profile.clone()) } else { found }
    });
    let Some(profile) = profile else {
        let mut response =
            (StatusCode::UNAUTHORIZED, "the token is missing or no longer valid").into_response();
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    };
    request.extensions_mut().insert(TokenProfile(profile));
    next.run(request).await
}
