//! The address for agents that cannot start a program: whether it is open, where, and what it asks for.
//!
//! It is switched on by a person. Its port and its token are its own and stay the same whichever process
//! owns the library; the token is kept with the keys.

mod sessions;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::api::{AgentsHttp, AgentsHttpSet, Nothing, Setting};
use crate::commands::{Context, GetAgentsHttp, Handle, RenewAgentsHttp, SetAgentsHttp};
use crate::door::{Door, PATH};
use crate::error::{ApiError, ErrorCode, Result};
use crate::secrets::Secret;

use super::{Core, Engine};
use sessions::KeptSessions;

/// Name of its token among the keys.
const TOKEN: &str = "agents-http";
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

    /// The token of the address; a new one if there is none yet, or if one is wanted.
    async fn agents_token(&self, renew: bool) -> Result<String> {
        let keys = self.secrets(&self.services.load().settings);
        if !renew && let Some(token) = keys.get(TOKEN).await? {
            return Ok(token.expose().to_owned());
        }
        let token = crate::token(32);
        keys.set(TOKEN, Secret::new(token.clone())).await?;
        Ok(token)
    }
}

impl Engine {
    /// Opens the address if it is switched on; what keeps it from opening is told when somebody asks.
    pub(crate) async fn open_door(&self) {
        let mut doorway = self.doorway.lock().await;
        let opened = async {
            let kept = self.core.agents_http().await?;
            if kept.enabled { self.door_at(kept.port, false).await.map(Some) } else { Ok(None) }
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

    async fn door_at(&self, port: u16, renew: bool) -> Result<Door> {
        let token = self.core.agents_token(renew).await?;
        let sessions = Arc::new(KeptSessions::new(Arc::clone(&self.core)));
        Door::open(port, &token, self.gateway.clone(), sessions).await
    }

    /// Opens or closes the address as it shall be, and only then keeps that.
    async fn change_door(&self, wanted: Kept, renew: bool) -> Result<AgentsHttp> {
        let mut doorway = self.doorway.lock().await;
        let before = self.core.agents_http().await?;
        if let Some(door) = doorway.door.take() {
            door.close().await;
        }
        if wanted.enabled {
            match self.door_at(wanted.port, renew).await {
                Ok(door) => doorway.door = Some(door),
                Err(error) => {
                    // What was open before stays what it was.
                    if before.enabled {
                        doorway.door = self.door_at(before.port, false).await.ok();
                    }
                    return Err(error);
                }
            }
        }
        doorway.problem = None;
        self.core.keep_as(Setting::AgentsHttp, &wanted).await?;
        self.door_view(wanted, &doorway).await
    }

    async fn door_view(&self, kept: Kept, doorway: &Doorway) -> Result<AgentsHttp> {
        let url = format!("http://127.0.0.1:{}{PATH}", kept.port);
        let lines = if kept.enabled {
            let token = self.core.agents_token(false).await?;
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
            lines,
            problem: doorway.problem.clone().filter(|_| kept.enabled),
        })
    }
}

impl Handle<GetAgentsHttp> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<AgentsHttp> {
        let doorway = self.doorway.lock().await;
        self.door_view(self.core.agents_http().await?, &doorway).await
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
        self.change_door(Kept { enabled: request.enabled, port }, false).await
    }
}

impl Handle<RenewAgentsHttp> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<AgentsHttp> {
        let kept = self.core.agents_http().await?;
        if !kept.enabled {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the address for agents is switched off",
                "Switch it on; what it asks for is made then.",
            ));
        }
        self.change_door(kept, true).await
    }
}
