//! MCP over Streamable HTTP, for agents that cannot start a program: whether the server is on, its address
//! and its tokens.
//!
//! A person switches it on. Its port and tokens stay the same whichever process owns the library. Each
//! token belongs to one profile, everybody's or a named one, and determines the rules for agents that
//! present it. Tokens are stored with the API keys.

mod server;
mod sessions;

use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{Context, GetAgentsHttp, Handle, RenewAgentsHttp, SetAgentsHttp};
use autokit_api::{AgentsHttp, AgentsHttpRef, AgentsHttpSet, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::Gateway;
use autokit_workspace::secrets::Secret;
use autokit_workspace::workspace::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Mutex;

use crate::profiles::{AgentProfiles, no_profile};
use crate::tokens::{AGENTS_TOKEN, AgentTokens};
use server::{McpHttpServer, PATH};
use sessions::SavedSessions;

/// Default port; it is not registered for any service.
const PORT: u16 = 8427;

/// The saved setting of the server.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SavedHttpSettings {
    enabled: bool,
    port: u16,
}

/// The state of the server in this process.
#[derive(Debug, Default)]
struct State {
    server: Option<McpHttpServer>,
    problem: Option<String>,
}

/// The HTTP server for agents. Clones share state.
#[derive(Clone, Debug)]
pub struct AgentHttpServer {
    workspace: Workspace,
    profiles: AgentProfiles,
    tokens: AgentTokens,
    gateway: Gateway,
    state: Arc<Mutex<State>>,
}

impl AgentHttpServer {
    /// Creates a server that is not open yet and will serve agents with this gateway.
    pub fn new(
        workspace: Workspace,
        profiles: AgentProfiles,
        tokens: AgentTokens,
        gateway: Gateway,
    ) -> AgentHttpServer {
        AgentHttpServer { workspace, profiles, tokens, gateway, state: Arc::default() }
    }

    /// Opens the server if it is switched on. A failure is stored and reported by the status.
    pub async fn open(&self) {
        let mut state = self.state.lock().await;
        let opened = async {
            let saved = self.load_settings().await?;
            if saved.enabled { self.serve(saved.port).await.map(Some) } else { Ok(None) }
        };
        match opened.await {
            Ok(server) => state.server = server,
            Err(error) => {
                tracing::warn!(%error, "failed to start the MCP HTTP server");
                state.problem = Some(error.sentence());
            }
        }
    }

    /// Closes the server for the rest of this process.
    pub async fn close(&self) {
        let server = self.state.lock().await.server.take();
        if let Some(server) = server {
            server.close().await;
        }
    }

    async fn load_settings(&self) -> Result<SavedHttpSettings> {
        let saved = self.workspace.load_setting(Setting::AgentsHttp).await?;
        Ok(saved.unwrap_or(SavedHttpSettings { enabled: false, port: PORT }))
    }

    /// Returns the token of a profile, creating one if there is none or if `renew` is set.
    async fn token(&self, profile: &str, renew: bool) -> Result<String> {
        let secrets = self.tokens.providers.secrets();
        let name = match self.profiles.token_key(profile) {
            _ if profile.is_empty() => AGENTS_TOKEN.to_owned(),
            Some(name) => name,
            None => self.profiles.new_token_key(profile).await?,
        };
        if !renew && let Some(token) = secrets.get(&name).await? {
            return Ok(token.expose().to_owned());
        }
        let token = autokit_workspace::token(32);
        secrets.set(&name, Secret::new(token.clone())).await?;
        self.tokens.load(self.profiles.token_keys()).await?;
        Ok(token)
    }

    async fn serve(&self, port: u16) -> Result<McpHttpServer> {
        self.token("", false).await?;
        self.tokens.load(self.profiles.token_keys()).await?;
        let sessions = Arc::new(SavedSessions::new(self.workspace.clone()));
        McpHttpServer::open(port, Arc::clone(&self.tokens.valid), self.gateway.clone(), sessions).await
    }

    /// Opens or closes the server according to the settings, and saves the setting only if that succeeds.
    async fn apply(&self, settings: SavedHttpSettings, renew: Option<&str>) -> Result<AgentsHttp> {
        let mut state = self.state.lock().await;
        let before = self.load_settings().await?;
        if let Some(server) = state.server.take() {
            server.close().await;
        }
        if let Some(profile) = renew {
            self.token(profile, true).await?;
        }
        if settings.enabled {
            match self.serve(settings.port).await {
                Ok(server) => state.server = Some(server),
                Err(error) => {
                    // Restores what was open before.
                    if before.enabled {
                        state.server = self.serve(before.port).await.ok();
                    }
                    return Err(error);
                }
            }
        }
        state.problem = None;
        self.workspace.save_setting(Setting::AgentsHttp, &settings).await?;
        self.view(settings, &state, renew.unwrap_or_default()).await
    }

    async fn view(&self, saved: SavedHttpSettings, state: &State, profile: &str) -> Result<AgentsHttp> {
        let url = format!("http://127.0.0.1:{}{PATH}", saved.port);
        let lines = if saved.enabled {
            let token = self.token(profile, false).await?;
            let server =
                json!({"type": "http", "url": url, "headers": {"Authorization": format!("Bearer {token}")}});
            serde_json::to_string_pretty(&json!({"mcpServers": {"autokit": server}}))
                .map_err(|error| ApiError::internal(error.to_string()))?
        } else {
            String::new()
        };
        Ok(AgentsHttp {
            enabled: saved.enabled,
            port: saved.port,
            open: state.server.is_some(),
            url,
            profile: profile.to_owned(),
            lines,
            problem: state.problem.clone().filter(|_| saved.enabled),
        })
    }

    /// Returns an error if there is no profile of this name.
    fn check_profile(&self, profile: &str) -> Result<()> {
        self.profiles.policy(profile).map(|_| ()).ok_or_else(|| no_profile(profile))
    }
}

#[async_trait]
impl Handle<GetAgentsHttp> for AgentHttpServer {
    async fn handle(&self, _: &Context, request: AgentsHttpRef) -> Result<AgentsHttp> {
        self.check_profile(&request.profile)?;
        let state = self.state.lock().await;
        self.view(self.load_settings().await?, &state, &request.profile).await
    }
}

#[async_trait]
impl Handle<SetAgentsHttp> for AgentHttpServer {
    async fn handle(&self, _: &Context, request: AgentsHttpSet) -> Result<AgentsHttp> {
        let before = self.load_settings().await?;
        let port = request.port.unwrap_or(before.port);
        if port == 0 {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "0 is not a valid port",
                "Enter a port from 1024 to 65535.",
            ));
        }
        self.apply(SavedHttpSettings { enabled: request.enabled, port }, None).await
    }
}

#[async_trait]
impl Handle<RenewAgentsHttp> for AgentHttpServer {
    async fn handle(&self, _: &Context, request: AgentsHttpRef) -> Result<AgentsHttp> {
        self.check_profile(&request.profile)?;
        let saved = self.load_settings().await?;
        if !saved.enabled {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the HTTP server for agents is turned off",
                "Turn it on. That also creates the token.",
            ));
        }
        self.apply(saved, Some(&request.profile)).await
    }
}
