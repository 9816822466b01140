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

use crate::door::{AgentToken, Door, PATH};
use crate::secrets::Secret;

use super::profiles::no_profile;
use super::{Core, Engine};
use sessions::KeptSessions;

/// Name of the token for everybody's profile among the keys; those of other profiles begin with it.
pub(super) const AGENTS_TOKEN: &str = "agents-http";
/// The port where none was chosen; none is registered there.
const PORT: u16 = 8427;

/// The address as it is kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Kept {
    enabled: bool,
    port: u16,
}

/// The address in this process.
#[derive(Debug, Default)]
pub(super) struct Doorway {
    door: Option<Door>,
    problem: Option<String>,
}

impl Core {
    async fn agents_http(&self) -> Result<Kept> {
        let kept = self.kept(Setting::AgentsHttp).await?;
        Ok(kept.unwrap_or(Kept { enabled: false, port: PORT }))
    }

    /// The token of a profile; a new one if there is none yet, or if one is wanted.
    async fn agents_token(&self, profile: &str, renew: bool) -> Result<String> {
        let keys = self.secrets(&self.services.load().settings);
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
        let keys = self.secrets(&self.services.load().settings);
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
        if let Err(error) = self.secrets(&self.services.load().settings).remove(key).await {
            tracing::warn!(%error, "the token of a removed profile is still among the keys");
        }
    }
}

impl Engine {
    /// Opens the address if it is switched on; what keeps it from opening is told when somebody asks.
    pub(crate) async fn open_door(&self) {
        let mut doorway = self.doorway.lock().await;
        let opened = async {
            let kept = self.core.agents_http().await?;
            if kept.enabled { self.door_at(kept.port).await.map(Some) } else { Ok(None) }
        };
        match opened.await {
            Ok(door) => doorway.door = door,
            Err(error) => {
                tracing::warn!(%error, "the address for agents is not open");
                doorway.problem = Some(error.sentence());
            }
        }
    }

    /// Closes the address for as long as this process lives.
    pub(crate) async fn close_door(&self) {
        let door = self.doorway.lock().await.door.take();
        if let Some(door) = door {
            door.close().await;
        }
    }

    async fn door_at(&self, port: u16) -> Result<Door> {
        self.core.agents_token("", false).await?;
        self.core.load_agents_tokens().await?;
        let sessions = Arc::new(KeptSessions::new(Arc::clone(&self.core)));
        Door::open(port, Arc::clone(&self.core.agents_tokens), self.gateway.clone(), sessions).await
    }

    /// Opens or closes the address as it shall be, and only then keeps that.
    async fn change_door(&self, wanted: Kept, renew: Option<&str>) -> Result<AgentsHttp> {
        let mut doorway = self.doorway.lock().await;
        let before = self.core.agents_http().await?;
        if let Some(door) = doorway.door.take() {
            door.close().await;
        }
        if let Some(profile) = renew {
            self.core.agents_token(profile, true).await?;
        }
        if wanted.enabled {
            match self.door_at(wanted.port).await {
                Ok(door) => doorway.door = Some(door),
                Err(error) => {
                    // What was open before stays what it was.
                    if before.enabled {
                        doorway.door = self.door_at(before.port).await.ok();
                    }
                    return Err(error);
                }
            }
        }
        doorway.problem = None;
        self.core.keep_as(Setting::AgentsHttp, &wanted).await?;
        self.door_view(wanted, &doorway, renew.unwrap_or_default()).await
    }

    async fn door_view(&self, kept: Kept, doorway: &Doorway, profile: &str) -> Result<AgentsHttp> {
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
            open: doorway.door.is_some(),
            url,
            profile: profile.to_owned(),
            lines,
            problem: doorway.problem.clone().filter(|_| kept.enabled),
        })
    }
}

impl Handle<GetAgentsHttp> for Engine {
    async fn handle(&self, _: &Context, request: AgentsHttpRef) -> Result<AgentsHttp> {
        self.core.policy(&request.profile).ok_or_else(|| no_profile(&request.profile))?;
        let doorway = self.doorway.lock().await;
        self.door_view(self.core.agents_http().await?, &doorway, &request.profile).await
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
        self.change_door(Kept { enabled: request.enabled, port }, None).await
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
        self.change_door(kept, Some(&request.profile)).await
    }
}
