//! The MCP server, for both generations of the protocol.
//!
//! Up to 2025-11-25 the connection is the session. From 2026-07-28 each request states its protocol
//! version; no state is kept for its connection, and the context is the handle in its arguments.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    Extensions, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ResultType, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::gateway::{CallResponse, Gateway, ToolCallRequest, error_result, query_of};
use crate::names::{CALL_TOOL, OWN_TOOLS, SEARCH_TOOLS};
use crate::session::{McpSessionId, Session};
use crate::subscribers::Subscribers;
use crate::toolbox::Progress;

use std::sync::Arc;

/// Header in which a client of Streamable HTTP names a profile that narrows its own; in the URL it is the
/// query parameter `profile`.
pub const PROFILE_HEADER: &str = "x-autokit-profile";

/// The profile a token belongs to, added to an HTTP request's extensions by the code that authorizes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenProfile(pub String);

/// Header in which a client of Streamable HTTP names its session.
const SESSION_HEADER: &str = "mcp-session-id";

/// The supported methods of both generations.
const METHODS: [&str; 7] = [
    "initialize",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
    "completion/complete",
];

/// Most progress messages that are buffered for a slow client; more are dropped.
const PROGRESS_BUFFER: usize = 64;

/// One connection to the gateway.
#[derive(Clone)]
pub struct Server {
    gateway: Gateway,
    /// Session of this connection, unless HTTP names one.
    connection: String,
    profile: String,
    /// The sessions whose clients are notified over this connection.
    subscribers: Arc<Subscribers>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// The tools a request is about.
enum Scope {
    /// Those of the session of its connection.
    Session(Arc<Session>),
    /// Those of the context it names or creates.
    Stateless,
}

impl Server {
    /// Creates a server for one connection of an agent with this profile. `connection` names the agent's
    /// session and stays the same across reconnections.
    pub fn new(gateway: Gateway, connection: String, profile: String) -> Server {
        Server { gateway, connection, profile, subscribers: Arc::default() }
    }

    /// Returns the profile of a request: that of its connection or token, narrowed by the ones it names
    /// itself. See [`narrowed`].
    fn profile(&self, extensions: &Extensions) -> String {
        let parts = extensions.get::<http::request::Parts>();
        let of_token = parts.and_then(|parts| parts.extensions.get::<TokenProfile>());
        let base = of_token.map_or(&self.profile, |TokenProfile(profile)| profile);
        parts.map_or_else(|| base.clone(), |parts| narrowed(base, parts))
    }

    /// Returns the profile of a request, or an error if it does not exist.
    fn checked_profile(&self, extensions: &Extensions) -> Result<String, ErrorData> {
        let profile = self.profile(extensions);
        match self.gateway.toolbox().check_profile(&profile) {
            Ok(()) => Ok(profile),
            Err(refusal) => Err(ErrorData::invalid_request(refusal.to_string(), None)),
        }
    }

    /// Returns the connection of a request: the session that HTTP names, or the connection it came over.
    fn connection_of(&self, extensions: &Extensions) -> String {
        let parts = extensions.get::<http::request::Parts>();
        let named = parts.and_then(|parts| parts.headers.get(SESSION_HEADER)?.to_str().ok());
        named.unwrap_or(&self.connection).to_owned()
    }

    async fn scope(&self, context: &RequestContext<RoleServer>) -> Scope {
        let declared = context.meta.protocol_version();
        // Dates compare as text. A request of this generation without a version was rejected before.
        let newest = ProtocolVersion::V_2026_07_28;
        if declared.as_ref().is_some_and(|version| version.as_str() >= newest.as_str()) {
            return Scope::Stateless;
        }
        let connection = self.connection_of(&context.extensions);
        let (client, protocol) = client_and_protocol(context);
        let profile = self.profile(&context.extensions);
        let session = self.gateway.session(&connection, &profile, &client, &protocol).await;
        self.subscribers.subscribe(&self.gateway, &session, &context.peer);
        Scope::Session(session)
    }

    /// Returns the context a stateless request names.
    async fn named_context(
        &self,
        arguments: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Arc<Session>>, CallResponse> {
        let handle = match arguments.get("context") {
            None | Some(Value::Null) => return Ok(None),
            Some(handle) => handle.as_str().unwrap_or_default(),
        };
        let session = self.gateway.context(&McpSessionId::new(handle)).await;
        // A handle of another profile would lend that profile's permissions.
        let profile = self.profile(&context.extensions);
        match session.filter(|session| session.lock().profile == profile) {
            Some(session) => Ok(Some(session)),
            None => Err(CallResponse::unchanged(error_result(&format!(
                "Unknown context: it is mistyped or has expired. Omit `context` in {SEARCH_TOOLS} to start a new one."
            )))),
        }
    }

    async fn search(
        &self,
        scope: &Scope,
        arguments: &Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> CallResponse {
        // Checked before a context is created for it.
        if let Err(message) = query_of(arguments) {
            return CallResponse::unchanged(error_result(&message));
        }
        match scope {
            Scope::Session(session) => self.gateway.search(session, arguments, false).await,
            Scope::Stateless => {
                let session = match self.named_context(arguments, context).await {
                    Ok(Some(session)) => session,
                    Ok(None) => {
                        let (client, protocol) = client_and_protocol(context);
                        let profile = self.profile(&context.extensions);
                        match self.gateway.new_context(&profile, &client, &protocol).await {
                            Ok(session) => session,
                            Err(refusal) => {
                                return CallResponse::unchanged(error_result(&refusal.to_string()));
                            }
                        }
                    }
                    Err(response) => return response,
                };
                self.gateway.search(&session, arguments, true).await
            }
        }
    }

    /// Calls a tool through `call_tool` or by its own name.
    async fn call(
        &self,
        scope: &Scope,
        name: String,
        mut arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> CallResponse {
        let via_call_tool = name == CALL_TOOL;
        let session = match scope {
            Scope::Session(session) => Arc::clone(session),
            Scope::Stateless => match self.named_context(&arguments, context).await {
                Ok(Some(session)) => session,
                // AutoKit's own tools need no context; their calls are counted in one session per client
                // program.
                Ok(None) if !via_call_tool && OWN_TOOLS.contains(&name.as_str()) => {
                    let (client, protocol) = client_and_protocol(context);
                    let id = format!("own:{client}");
                    let profile = self.profile(&context.extensions);
                    self.gateway.session(&id, &profile, &client, &protocol).await
                }
                Ok(None) => {
                    let message = format!(
                        "`context` is missing: {SEARCH_TOOLS} returns one with its results, and {CALL_TOOL} requires it."
                    );
                    return CallResponse::unchanged(error_result(&message));
                }
                Err(response) => return response,
            },
        };
        let (name, arguments) = if via_call_tool {
            let wrong = |message: &str| CallResponse::unchanged(error_result(message));
            let Some(name) = arguments.get("name").and_then(Value::as_str).map(str::to_owned) else {
                return wrong(&format!("`name` is missing: pass the name of a tool {SEARCH_TOOLS} found."));
            };
            if name == CALL_TOOL || name == SEARCH_TOOLS {
                return wrong(&format!("Call `{name}` directly, not through {CALL_TOOL}."));
            }
            match arguments.remove("arguments") {
                None | Some(Value::Null) => (name, Map::new()),
                Some(Value::Object(inner)) => (name, inner),
                // Some models write the object as text.
                Some(Value::String(text)) => match serde_json::from_str(&text) {
                    Ok(Value::Object(inner)) => (name, inner),
                    _ => return wrong("`arguments` must be an object."),
                },
                Some(_) => return wrong("`arguments` must be an object."),
            }
        } else {
            (name, arguments)
        };
        let (progress, receiver) = mpsc::channel(PROGRESS_BUFFER);
        let invocation = ToolCallRequest { name, arguments, cancel: context.ct.clone(), progress };
        let forwarding = forward_progress(context.clone(), receiver);
        // The channel closes when the call ends, and forwarding ends with it.
        let (response, ()) = tokio::join!(self.gateway.call(&session, invocation), forwarding);
        response
    }
}

/// Narrows a profile by those that the headers or the URL of a request name: `base/other`. The toolbox
/// requires that both allow what is done.
fn narrowed(base: &str, parts: &http::request::Parts) -> String {
    let headers = parts.headers.get_all(PROFILE_HEADER).into_iter();
    let headers = headers.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let query = query.filter(|(key, _)| key == "profile").map(|(_, value)| value.into_owned());
    let mut profile = vec![base.to_owned()];
    for named in headers.chain(query).filter(|named| !named.is_empty()) {
        if !profile.contains(&named) {
            profile.push(named);
        }
    }
    profile.join("/")
}

/// Forwards the progress of a call, if the client requested it.
async fn forward_progress(context: RequestContext<RoleServer>, mut receiver: mpsc::Receiver<Progress>) {
    let token = context.meta.get_progress_token();
    let mut last = f64::NEG_INFINITY;
    while let Some(progress) = receiver.recv().await {
        let Some(token) = &token else { continue };
        // The protocol requires progress to increase with each notification.
        if progress.done <= last {
            continue;
        }
        last = progress.done;
        let mut param = ProgressNotificationParam::new(token.clone(), progress.done);
        (param.total, param.message) = (progress.total, progress.message);
        if let Err(error) = context.peer.notify_progress(param).await {
            tracing::debug!(%error, "failed to send a progress notification");
        }
    }
}

/// Returns the client's own name with its version, and the protocol it speaks.
fn client_and_protocol(context: &RequestContext<RoleServer>) -> (String, String) {
    let client = context.client_info().map_or_else(String::new, |client| {
        let label = format!("{} {}", client.name, client.version);
        label.chars().filter(|c| !c.is_control()).take(80).collect()
    });
    (client, context.protocol_version().map_or_else(String::new, |version| version.to_string()))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let mut info = ServerConfig::new(tools).with_instructions(
            "AutoKit gives access to many tools. Use search_tools to find the ones you need; the tools it finds can then be called.",
        );
        info.server_info = Implementation::new("autokit", env!("CARGO_PKG_VERSION")).with_title("AutoKit");
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.checked_profile(&context.extensions)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.checked_profile(&context.extensions)?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // The SDK treats a request it cannot parse like one with an unknown method.
        if METHODS.contains(&request.method.as_str()) {
            let message = format!("invalid parameters for {}", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("method not found: {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // Resumes a saved session whose client has reconnected to another process.
        let profile = self.profile(&context.extensions);
        let connection = self.connection_of(&context.extensions);
        if let Some(session) = self.gateway.known_session(&connection, &profile).await {
            self.subscribers.subscribe(&self.gateway, &session, &context.peer);
        }
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let profile = self.checked_profile(&context.request_context().extensions)?;
        self.gateway.notify_subscription(&profile, &context).await;
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let profile = self.checked_profile(&context.extensions)?;
        let tools = match self.scope(&context).await {
            Scope::Session(session) => self.gateway.tools(&session).await,
            Scope::Stateless => self.gateway.own_tools(&profile),
        };
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Err(refusal) = self.checked_profile(&context.extensions) {
            return Ok(error_result(&refusal.message).into());
        }
        let scope = self.scope(&context).await;
        let name = request.name.into_owned();
        let arguments = request.arguments.unwrap_or_default();
        let mut response = if name == SEARCH_TOOLS {
            self.search(&scope, &arguments, &context).await
        } else {
            self.call(&scope, name, arguments, &context).await
        };
        if response.changed
            && matches!(scope, Scope::Session(_))
            && let Err(error) = context.peer.notify_tool_list_changed().await
        {
            tracing::debug!(%error, "failed to notify a client of changed tools");
        }
        // Upstream servers of the older generation do not set it. The newer protocol requires it; for older
        // clients the SDK removes it.
        response.result.result_type = Some(ResultType::COMPLETE);
        Ok(response.result.into())
    }
}
