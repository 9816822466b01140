//! The MCP servers of a library: which are configured, how each is reached, and what its tools say.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use autokit_api::{ServerTransport, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::CardRecord;
use autokit_mcp_client::{Limits, Pool, ResolvedTransport, ServerTools};
use autokit_workspace::providers::Providers;
use autokit_workspace::secrets::{Secret, name_for};
use autokit_workspace::workspace::{CachedSetting, Workspace};
use tokio::sync::mpsc;

use crate::bindings::ToolBindings;
use crate::tools::{SavedServer, digest_of};

/// The servers of a library and their running processes. Clones share state.
#[derive(Clone, Debug)]
pub struct KnownServers {
    pub(crate) workspace: Workspace,
    providers: Providers,
    pub(crate) state: Arc<ServersState>,
}

/// What this process knows of the servers.
#[derive(Debug)]
pub(crate) struct ServersState {
    pool: Pool,
    changes: Mutex<Option<mpsc::UnboundedReceiver<String>>>,
    list: CachedSetting<Vec<SavedServer>>,
    /// Serializes writes to the lists.
    pub(crate) writing: tokio::sync::Mutex<()>,
    /// Per server that was scanned by this process, the digest of each tool.
    live: Mutex<HashMap<String, Arc<HashMap<String, String>>>>,
    pub(crate) bindings: CachedSetting<ToolBindings>,
}

/// The secrets of a server, by name.
pub type ServerSecrets = BTreeMap<String, String>;

fn secret_name(server: &str) -> String {
    name_for("mcp-server", server)
}

impl KnownServers {
    /// Manages the servers of this library, without starting any.
    pub fn new(workspace: Workspace, providers: Providers, limits: Limits) -> KnownServers {
        let (pool, changes) = Pool::new(limits);
        let state = ServersState {
            pool,
            changes: Mutex::new(Some(changes)),
            list: CachedSetting::new(Setting::McpServers),
            writing: tokio::sync::Mutex::default(),
            live: Mutex::default(),
            bindings: CachedSetting::new(Setting::VouchedTools),
        };
        KnownServers { workspace, providers, state: Arc::new(state) }
    }

    /// Returns the pool of running processes and connections.
    pub fn pool(&self) -> &Pool {
        &self.state.pool
    }

    /// Returns the stream of servers that report changed tools. Only the first caller gets it.
    pub fn take_changes(&self) -> Option<mpsc::UnboundedReceiver<String>> {
        self.state.changes.lock().expect("no holder panics").take()
    }

    /// Returns all servers.
    pub async fn all(&self) -> Result<Arc<Vec<SavedServer>>> {
        self.state.list.read(&self.workspace).await
    }

    /// Changes the list of servers.
    pub async fn change(&self, change: impl FnOnce(&mut Vec<SavedServer>) -> Result<()>) -> Result<()> {
        let _writing = self.state.writing.lock().await;
        let mut list = self.all().await?.to_vec();
        change(&mut list)?;
        self.state.list.write(&self.workspace, list).await?;
        self.workspace.notify_tools_changed();
        Ok(())
    }

    /// Returns the server of this name.
    ///
    /// # Errors
    /// `not_found` when there is none.
    pub async fn get(&self, name: &str) -> Result<SavedServer> {
        let list = self.all().await?;
        list.iter().find(|server| server.name == name).cloned().ok_or_else(|| no_server(name))
    }

    /// Stores the secrets of a server.
    pub async fn set_secrets(&self, server: &str, secrets: &ServerSecrets) -> Result<()> {
        let text = serde_json::to_string(secrets).map_err(|error| ApiError::internal(error.to_string()))?;
        self.providers.secrets().set(&secret_name(server), Secret::new(text)).await
    }

    /// Removes the secrets of a server.
    pub async fn remove_secrets(&self, server: &str) -> Result<()> {
        self.providers.secrets().remove(&secret_name(server)).await?;
        Ok(())
    }

    /// Returns how a server is reached, with its secrets filled in.
    pub async fn reach(&self, server: &SavedServer) -> Result<ResolvedTransport> {
        let secrets = if server.secrets.is_empty() {
            ServerSecrets::new()
        } else {
            let secret = self.providers.secrets().get(&secret_name(&server.name)).await?;
            let secrets = secret.and_then(|secret| serde_json::from_str(secret.expose()).ok());
            secrets.ok_or_else(|| {
                ApiError::new(
                    ErrorCode::WrongKey,
                    format!("the secrets of the MCP server {:?} are not saved on this machine", server.name),
                    "Add the server again with its secrets.",
                )
            })?
        };
        Ok(match &server.reach {
            ServerTransport::Stdio { command, args, folder } => ResolvedTransport::Stdio {
                command: command.clone(),
                args: args.clone(),
                env: secrets,
                folder: Some(folder).filter(|folder| !folder.is_empty()).map(Into::into),
            },
            ServerTransport::Http { url } => ResolvedTransport::Http { url: url.clone(), headers: secrets },
        })
    }

    /// Lists the tools of a server, as of now.
    pub async fn list_tools(&self, server: &SavedServer) -> Result<ServerTools> {
        let reach = self.reach(server).await?;
        let tools = self.pool().tools(&server.name, &reach).await.map_err(|error| {
            ApiError::new(
                ErrorCode::NoConnection,
                error.to_string(),
                "Start it in a terminal to see the error, then refresh.",
            )
        })?;
        let live = tools.tools.iter().map(|tool| (tool.name.to_string(), digest_of(tool))).collect();
        self.state.live.lock().expect("no holder panics").insert(server.name.clone(), Arc::new(live));
        Ok(tools)
    }

    /// Drops the cached digests of a server's tools, so that they are listed again.
    pub fn clear_live_digests(&self, server: &str) {
        self.state.live.lock().expect("no holder panics").remove(server);
    }

    /// Returns the digest of what a server's tool says now; `None` if the server no longer has it.
    pub async fn live_digest(&self, server: &SavedServer, tool: &str) -> Result<Option<String>> {
        let digests = self.state.live.lock().expect("no holder panics").get(&server.name).cloned();
        if let Some(digests) = digests {
            return Ok(digests.get(tool).cloned());
        }
        self.list_tools(server).await?;
        let digests = self.state.live.lock().expect("no holder panics").get(&server.name).cloned();
        Ok(digests.and_then(|digests| digests.get(tool).cloned()))
    }

    /// Returns the cards that are tools of servers.
    pub fn cards(&self) -> Vec<Arc<CardRecord>> {
        self.workspace.cards_containing(&["\"upstream\""])
    }
}

fn no_server(name: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("MCP server {name:?} not found"), "Check the list of servers.")
}
