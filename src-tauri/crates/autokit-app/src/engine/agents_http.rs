//! The address for agents that cannot start a program: whether it is open, where, and what it asks for.
//!
//! It is switched on by a person. Its port and its tokens are its own and stay the same whichever process
//! owns the library. A token belongs to one profile, everybody's or a named one, and decides which rules hold
//! for who presents it; tokens are kept with the keys.

mod sessions;

use std::sync::Arc;

use autokit_api::commands::{Context, GetAgentsHttp, Handle, RenewAgentsHttp, SetAgentsHttp};
use autokit_api::{AgentsHttp, AgentsHttpRef, AgentsHttpSet, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::mcp_http_server::{AgentToken, McpHttpServer, PATH};
use crate::secrets::Secret;

use super::profiles::no_profile;
use super::{Core, Engine};
use sessions::SavedSessions;

/// Name of the token for everybody's profile among the keys; those of other profiles begin with it.
pub(super) const AGENTS_TOKEN: &str = "agents-http";
/// The port where none was chosen; none is registered there.
const PORT: u16 = 8427;

/// The address as it is kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SavedAddress {
    enabled: bool,
    port: u16,
}

/// The address in this process.
#[derive(Debug, Default)]
pub(super) struct McpHttpState {
    server: Option<McpHttpServer>,
    problem: Option<String>,
}

impl Core {
    async fn agents_http(&self) -> Result<SavedAddress> {
        let kept = self.workspace.saved(Setting::AgentsHttp).await?;
        Ok(kept.unwrap_or(SavedAddress { enabled: false, port: PORT }))
    }

    /// The token of a profile; a new one if there is none yet, or if one is wanted.
    async fn agents_token(&self, profile: &str, renew: bool) -> Result<String> {
        let keys = self.providers.secrets();
        let name = match self.token_key(profile) {
            _ if profile.is_empty() => AGENTS_TOKEN.to_owned(),
            Some(name) => name,
            None => self.new_token_key(profile).await?,
        };
        if !renew && let Some(token) = keys.get(&name).await? {
            return Ok(token.expose().to_owned());
        }
        let token = crate::token(32);
        keys.set(&name, Secret::new(token.clone())).await?;
        self.load_agents_tokens().await?;
        Ok(token)
    }

    /// Makes the tokens known to the address that are valid now: those of profiles that exist.
    async fn load_agents_tokens(&self) -> Result<()> {
        let keys = self.providers.secrets();
        let everybody = (String::new(), AGENTS_TOKEN.to_owned());
        let mut tokens = Vec::new();
        for (profile, name) in std::iter::once(everybody).chain(self.token_keys()) {
            if let Some(token) = keys.get(&name).await? {
                tokens.push(AgentToken { token: token.expose().to_owned(), profile });
            }
        }
        self.agents_tokens.store(Arc::new(tokens));
        Ok(())
    }

    /// Forgets the token of a profile that was removed: who presents it is refused from then on.
    pub(super) async fn forget_agents_token(&self, profile: &str, key: &str) {
        self.agents_tokens.rcu(|tokens| {
            tokens.iter().filter(|token| token.profile != profile).cloned().collect::<Vec<_>>()
        });
        // Nobody asks for it by this name again, so that it opens nothing if it stays.
        if let Err(error) = self.providers.secrets().remove(key).await {
            tracing::warn!(%error, "the token of a removed profile is still among the keys");
        }
    }
}

impl Engine {
    /// Opens the address if it is switched on; what keeps it from opening is told when somebody asks.
    pub(crate) async fn open_mcp_http(&self) {
        let mut mcp_http = self.mcp_http.lock().await;
        let opened = async {
            let kept = self.core.agents_http().await?;
            if kept.enabled { self.serve_mcp_http_at(kept.port).await.map(Some) } else { Ok(None) }
        };
        match opened.await {
            Ok(server) => mcp_http.server = server,
            Err(error) => {
                tracing::warn!(%error, "the address for agents is not open");
                mcp_http.problem = Some(error.sentence());
            }
        }
    }

    /// Closes the address for as long as this process lives.
    pub(crate) async fn close_mcp_http(&self) {
        let server = self.mcp_http.lock().await.server.take();
        if let Some(server) = server {
            server.close().await;
        }
    }

    async fn serve_mcp_http_at(&self, port: u16) -> Result<McpHttpServer> {
        self.core.agents_token("", false).await?;
        self.core.load_agents_tokens().await?;
        let sessions = Arc::new(SavedSessions::new(Arc::clone(&self.core)));
        McpHttpServer::open(port, Arc::clone(&self.core.agents_tokens), self.gateway.clone(), sessions).await
    }

    /// Opens or closes the address as it shall be, and only then keeps that.
    async fn change_mcp_http(&self, wanted: SavedAddress, renew: Option<&str>) -> Result<AgentsHttp> {
        let mut mcp_http = self.mcp_http.lock().await;
        let before = self.core.agents_http().await?;
        if let Some(server) = mcp_http.server.take() {
            server.close().await;
        }
        if let Some(profile) = renew {
            self.core.agents_token(profile, true).await?;
        }
        if wanted.enabled {
            match self.serve_mcp_http_at(wanted.port).await {
                Ok(server) => mcp_http.server = Some(server),
                Err(error) => {
                    // What was open before stays what it was.
                    if before.enabled {
                        mcp_http.server = self.serve_mcp_http_at(before.port).await.ok();
                    }
                    return Err(error);
                }
            }
        }
        mcp_http.problem = None;
        self.core.workspace.save(Setting::AgentsHttp, &wanted).await?;
        self.mcp_http_view(wanted, &mcp_http, renew.unwrap_or_default()).await
    }

    async fn mcp_http_view(
        &self,
        kept: SavedAddress,
        mcp_http: &McpHttpState,
        profile: &str,
    ) -> Result<AgentsHttp> {
        let url = format!("http://127.0.0.1:{}{PATH}", kept.port);
        let lines = if kept.enabled {
            let token = self.core.agents_token(profile, false).await?;
            let server =
                json!({"type": "http", "url": url, "headers": {"Authorization": format!("Bearer {token}")}});
            serde_json::to_string_pretty(&json!({"mcpServers": {"autokit": server}}))
                .map_err(|error| ApiError::internal(error.to_string()))?
        } else {
            String::new()
        };
        Ok(AgentsHttp {
            enabled: kept.enabled,
            port: kept.port,
            open: mcp_http.server.is_some(),
            url,
            profile: profile.to_owned(),
            lines,
            problem: mcp_http.problem.clone().filter(|_| kept.enabled),
        })
    }
}

impl Handle<GetAgentsHttp> for Engine {
    async fn handle(&self, _: &Context, request: AgentsHttpRef) -> Result<AgentsHttp> {
        self.core.policy(&request.profile).ok_or_else(|| no_profile(&request.profile))?;
        let mcp_http = self.mcp_http.lock().await;
        self.mcp_http_view(self.core.agents_http().await?, &mcp_http, &request.profile).await
    }
}

impl Handle<SetAgentsHttp> for Engine {
    async fn handle(&self, _: &Context, request: AgentsHttpSet) -> Result<AgentsHttp> {
        let before = self.core.agents_http().await?;
        let port = request.port.unwrap_or(before.port);
        if port == 0 {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the address for agents has to keep its port, and 0 is none",
                "Give a port from 1024 to 65535.",
            ));
        }
        self.change_mcp_http(SavedAddress { enabled: request.enabled, port }, None).await
    }
}

impl Handle<RenewAgentsHttp> for Engine {
    async fn handle(&self, _: &Context, request: AgentsHttpRef) -> Result<AgentsHttp> {
        self.core.policy(&request.profile).ok_or_else(|| no_profile(&request.profile))?;
        let kept = self.core.agents_http().await?;
        if !kept.enabled {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the address for agents is switched off",
                "Switch it on; what it asks for is made then.",
            ));
        }
        self.change_mcp_http(kept, Some(&request.profile)).await
    }
}
