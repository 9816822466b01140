//! Tokens of agents for MCP over HTTP. Each belongs to one profile, everybody's or a named one, and is
//! stored with the API keys.

use std::sync::Arc;

use arc_swap::ArcSwap;
use autokit_error::Result;
use autokit_workspace::providers::Providers;

/// Name under which the token of everybody's profile is stored; those of other profiles begin with it.
pub(crate) const AGENTS_TOKEN: &str = "agents-http";

/// A token, and the profile whose rules apply to agents that present it.
#[derive(Clone)]
pub(crate) struct AgentToken {
    pub(crate) token: String,
    /// Empty for everybody's profile.
    pub(crate) profile: String,
}

impl std::fmt::Debug for AgentToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentToken").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// The valid tokens. Clones share them.
#[derive(Clone, Debug)]
pub struct AgentTokens {
    pub(crate) providers: Providers,
    pub(crate) valid: Arc<ArcSwap<Vec<AgentToken>>>,
}

impl AgentTokens {
    /// Creates the tokens, none of them loaded yet; they are stored with the keys of providers.
    pub fn new(providers: Providers) -> AgentTokens {
        AgentTokens { providers, valid: Arc::default() }
    }

    /// Removes the token of a removed profile; clients that present it are rejected from then on.
    pub(crate) async fn remove(&self, profile: &str, key: &str) {
        self.valid.rcu(|tokens| {
            tokens.iter().filter(|token| token.profile != profile).cloned().collect::<Vec<_>>()
        });
        // Nothing looks this name up again, so a leftover token is useless.
        if let Err(error) = self.providers.secrets().remove(key).await {
            tracing::warn!(%error, "failed to delete the token of a removed profile");
        }
    }

    /// Loads the valid tokens. `named` are the profiles that have one besides everybody's, with the names
    /// under which the tokens are stored.
    pub(crate) async fn load(&self, named: Vec<(String, String)>) -> Result<()> {
        let secrets = self.providers.secrets();
        let everybody = (String::new(), AGENTS_TOKEN.to_owned());
        let mut tokens = Vec::new();
        for (profile, name) in std::iter::once(everybody).chain(named) {
            if let Some(token) = secrets.get(&name).await? {
                tokens.push(AgentToken { token: token.expose().to_owned(), profile });
            }
        }
        self.valid.store(Arc::new(tokens));
        Ok(())
    }
}
