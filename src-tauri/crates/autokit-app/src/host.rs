//! The loopback HTTP host, through which other processes, and browser tests of the window, reach the
//! process that owns the store.
//!
//! * `GET  /v1/hello` — which process this is and which protocol it speaks
//! * `POST /v1/call/{command}` — one command, JSON in and out
//! * `GET  /v1/events` — events, one JSON object per line, until the client disconnects
//! * `GET  /v1/mcp` — upgrades to a byte stream to the MCP server, for `autokit mcp` in another process
//! * `/mcp` — the MCP server itself, as Streamable HTTP
//!
//! It binds to loopback only. Every request must carry the token from the endpoint file, which only the
//! person can read, and a `Host` header that names this machine, so that web pages cannot reach it by DNS
//! rebinding.

use std::convert::Infallible;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autokit_api::commands::{Context, PROTOCOL, dispatch};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::transport::http_route;
use autokit_serving::http::validate_messages;
use autokit_serving::listen::{HttpListener, bearer, constant_time_eq, is_local};
use autokit_serving::messages::MESSAGE_BYTES;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path as UrlPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, next_event};

/// Header with the idempotency key of a request.
pub(crate) const REQUEST_HEADER: &str = "x-autokit-request";
/// Header with the author of a request.
pub(crate) const AUTHOR_HEADER: &str = "x-autokit-author";
/// Header with the version of the protocol the client speaks.
pub(crate) const PROTOCOL_HEADER: &str = "x-autokit-protocol";

/// Path of the byte stream to the MCP server, and the protocol it upgrades to.
pub(crate) const MCP_STREAM_PATH: &str = "/v1/mcp";
pub(crate) const MCP_PROTOCOL: &str = "autokit-mcp";
/// Header with the name of an agent's session.
pub(crate) const CONNECTION_HEADER: &str = "x-autokit-connection";
/// Header with an agent's profile.
pub(crate) const PROFILE_HEADER: &str = autokit_gateway::server::PROFILE_HEADER;

/// Largest request body in bytes; a pasted import fits.
const MAX_BODY: usize = 256 << 20;

/// How to reach the owner, as published in the data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Process id of the owner.
    pub pid: u32,
    /// Loopback port.
    pub port: u16,
    /// The bearer token clients have to present.
    pub token: String,
    /// Version of AutoKit.
    pub version: String,
    /// [`PROTOCOL`] of the owner.
    pub protocol: u32,
}

impl Endpoint {
    /// Returns the base URL.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Reads what the current or last owner published.
    pub fn read(path: &Path) -> Option<Endpoint> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    fn publish(&self, path: &Path) -> std::io::Result<()> {
        let partial = path.with_extension(format!("{}.partial", self.pid));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&partial)?;
        file.write_all(serde_json::to_string(self)?.as_bytes())?;
        drop(file);
        fs::rename(&partial, path)
    }

    /// Removes the endpoint file, whoever published it. The caller owns the store.
    pub(crate) fn unpublish(path: &Path) {
        match fs::remove_file(path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            // Other processes try the old endpoint in vain until they time out, or another owner publishes
            // its own.
            Err(error) => tracing::warn!(%error, "failed to remove the endpoint file"),
        }
    }
}

/// The response of `hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// Process id.
    pub pid: u32,
    /// Version of AutoKit.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
}

/// A running host; it serves until dropped or stopped.
#[derive(Debug)]
pub struct Host {
    /// How to reach it.
    pub endpoint: Endpoint,
    file: PathBuf,
    http: HttpListener,
}

#[derive(Clone)]
struct Shared {
    engine: Arc<Engine>,
    token: Arc<str>,
    stop: CancellationToken,
}

impl Host {
    /// Binds a free loopback port and publishes the endpoint in `file`. If a host of this process was stopped before, its
    /// port and token are used again, so that pages of browsers that know them reconnect.
    ///
    /// # Errors
    /// If the port cannot be bound or the file cannot be written.
    pub async fn start(engine: Arc<Engine>, file: &Path, stopped: Option<&Endpoint>) -> Result<Host> {
        let failed = |what: &str, error: std::io::Error| {
            ApiError::new(
                ErrorCode::ReadOnly,
                format!("{what}: {error}"),
                "Make the data directory writable, or choose another one with --data-dir.",
            )
        };
        let bind = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let again = match stopped {
            Some(stopped) => bind(stopped.port).await.ok(),
            None => None,
        };
        let listener = match again {
            Some(listener) => listener,
            None => bind(0).await.map_err(|error| failed("could not open the loopback endpoint", error))?,
        };
        let port = listener
            .local_addr()
            .map_err(|error| failed("the loopback endpoint has no address", error))?
            .port();
        let endpoint = Endpoint {
            pid: std::process::id(),
            port,
            token: stopped.map_or_else(|| autokit_workspace::token(32), |stopped| stopped.token.clone()),
            version: crate::VERSION.to_owned(),
            protocol: PROTOCOL,
        };
        let stop = CancellationToken::new();
        let shared = Shared { engine, token: endpoint.token.as_str().into(), stop: stop.clone() };
        let manager = Arc::new(LocalSessionManager::default());
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.child_token())
            .with_max_request_body_bytes(MESSAGE_BYTES);
        let agents = http_route("/mcp", shared.engine.gateway().clone(), Arc::clone(&manager), config)
            .layer(middleware::from_fn_with_state(manager, validate_messages))
            .with_state(());
        let app = Router::new()
            .route("/v1/hello", get(hello))
            .route("/v1/call/{command}", post(call))
            .route("/v1/events", get(events))
            .route(MCP_STREAM_PATH, get(mcp_stream))
            .merge(agents)
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(middleware::from_fn_with_state(shared.clone(), authorize))
            .with_state(shared);
        let http = HttpListener::start(listener, app, stop);
        // Published last, so that whoever reads the file finds a server that responds.
        endpoint.publish(file).map_err(|error| failed("could not write the endpoint file", error))?;
        Ok(Host { endpoint, file: file.to_owned(), http })
    }

    /// Unpublishes the endpoint, so that new clients wait for the next owner. Connected ones are served
    /// until [`Host::stop`].
    pub fn unpublish(&self) {
        Endpoint::unpublish(&self.file);
    }

    /// Stops accepting requests and finishes running ones.
    pub async fn stop(self) {
        self.http.shut_down().await;
    }
}

/// Upgrades the connection to a byte stream to the MCP server.
async fn mcp_stream(State(shared): State<Shared>, mut request: Request) -> Response {
    let header = |name: &str| {
        request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
    };
    let (connection, profile) = (header(CONNECTION_HEADER), header(PROFILE_HEADER));
    let protocol = header(header::UPGRADE.as_str());
    let upgrade = request.extensions_mut().remove::<hyper::upgrade::OnUpgrade>();
    let Some(upgrade) = upgrade.filter(|_| protocol == MCP_PROTOCOL && !connection.is_empty()) else {
        return StatusCode::UPGRADE_REQUIRED.into_response();
    };
    tokio::spawn(async move {
        match upgrade.await {
            Ok(stream) => {
                let stream = Box::pin(hyper_util::rt::TokioIo::new(stream));
                shared.engine.serve_agent(stream, &connection, &profile, shared.stop.child_token()).await;
            }
            Err(error) => tracing::info!(%error, "failed to upgrade an agent connection"),
        }
    });
    let response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, MCP_PROTOCOL)
        .body(Body::empty());
    response.unwrap_or_else(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response())
}

async fn authorize(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    if !is_local(request.headers()) {
        return (StatusCode::FORBIDDEN, "wrong host").into_response();
    }
    if !is_authorized(request.headers(), &shared.token) {
        return error_response(ApiError::new(
            ErrorCode::Unauthorized,
            "this page has no valid token",
            "Open the full URL that `autokit serve` printed last. The token changes with every start.",
        ));
    }
    next.run(request).await
}

/// Returns whether a request presents a token.
pub(crate) fn is_authorized(headers: &HeaderMap, token: &str) -> bool {
    constant_time_eq(bearer(headers).unwrap_or_default().as_bytes(), token.as_bytes())
}

async fn hello() -> Json<Hello> {
    Json(Hello { pid: std::process::id(), version: crate::VERSION.to_owned(), protocol: PROTOCOL })
}

async fn call(
    State(shared): State<Shared>,
    UrlPath(command): UrlPath<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let protocol = header(PROTOCOL_HEADER).and_then(|text| text.parse().ok()).unwrap_or(0);
    let outcome = if protocol == PROTOCOL {
        let context = Context {
            request: header(REQUEST_HEADER),
            author: header(AUTHOR_HEADER).unwrap_or_else(crate::person),
        };
        match serde_json::from_slice::<Value>(&body) {
            Ok(body) => dispatch(&*shared.engine, &context, &command, body).await,
            Err(error) => Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("the request body is not valid JSON: {error}"),
                "Send valid JSON.",
            )),
        }
    } else {
        Err(version_mismatch(&format!("protocol {protocol}")))
    };
    match outcome {
        Ok(value) => Json(value).into_response(),
        Err(error) => error_response(error),
    }
}

fn error_response(error: ApiError) -> Response {
    (http_status(error.code), Json(error)).into_response()
}

/// Returns the error for a client with another protocol version.
pub(crate) fn version_mismatch(other: &str) -> ApiError {
    ApiError::new(
        ErrorCode::VersionMismatch,
        format!("the process that owns the library uses protocol {PROTOCOL}, the client uses {other}"),
        "Close every AutoKit window and command, then use the same version everywhere.",
    )
}

fn http_status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::BadRequest | ErrorCode::Invalid | ErrorCode::UnreadableFile => StatusCode::BAD_REQUEST,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::Conflict | ErrorCode::Duplicate => StatusCode::CONFLICT,
        ErrorCode::VersionMismatch => StatusCode::UPGRADE_REQUIRED,
        ErrorCode::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

async fn events(State(shared): State<Shared>) -> Response {
    let receiver = shared.engine.events().subscribe();
    // Whoever asked for it could not be told while the endpoint was closed.
    let restored = shared.engine.restored().map(|event| serde_json::to_vec(event).unwrap_or_default());
    let stop = shared.stop.clone();
    let lines = futures_util::stream::unfold((receiver, stop), |(mut receiver, stop)| async move {
        let event = tokio::select! {
            () = stop.cancelled() => return None,
            event = next_event(&mut receiver) => event?,
        };
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        Some((Ok::<_, Infallible>(Bytes::from(line)), (receiver, stop)))
    });
    // An empty line at once, because a proxy may hold the headers back until the body starts.
    let mut first = restored.unwrap_or_default();
    first.push(b'\n');
    let first = futures_util::stream::once(async { Ok(Bytes::from(first)) });
    Response::builder()
        .header(header::CONTENT_TYPE, "application/x-ndjson")
        .body(Body::from_stream(first.chain(lines)))
        .unwrap_or_else(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response())
}
