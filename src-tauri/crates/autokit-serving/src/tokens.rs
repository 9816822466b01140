//! The tokens that let agents in over HTTP. Each belongs to one profile, everybody's or a named one; they are kept
//! with the keys.

use std::sync::Arc;

use arc_swap::ArcSwap;
use autokit_error::Result;
use autokit_workspace::providers::Providers;

/// Name of the token for everybody's profile among the keys; those of other profiles begin with it.
pub(crate) const AGENTS_TOKEN: &str = "agents-http";

/// What lets an agent in, and the profile whose rules hold for it then.
#[derive(Clone)]
pub(crate) struct AgentToken {
    pub(crate) token: String,
    /// Empty for everybody's.
    pub(crate) profile: String,
}

impl std::fmt::Debug for AgentToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentToken").field("profile", &self.profile).finish_non_exhaustive()
    }
}

/// The tokens that let agents in; clones share them.
#[derive(Clone, Debug)]
pub struct AgentTokens {
    pub(crate) providers: Providers,
    pub(crate) valid: Arc<ArcSwap<Vec<AgentToken>>>,
}

impl AgentTokens {
    /// None read yet; they lie with the keys of services.
    pub fn new(providers: Providers) -> AgentTokens {
        AgentTokens { providers, valid: Arc::default() }
    }

    /// Forgets the token of a profile that was removed: who presents it is refused from then on.
    pub(crate) async fn forget(&self, profile: &str, key: &str) {
        self.valid.rcu(|tokens| {
            tokens.iter().filter(|token| token.profile != profile).cloned().collect::<Vec<_>>()
        });
        // Nobody asks for it by this name again, so that it opens nothing if it stays.
        if let Err(error) = self.providers.secrets().remove(key).await {
            tracing::warn!(%error, "the token of a removed profile is still among the keys");
        }
    }

    /// Reads the tokens that are valid from now on; `named` are the profiles that have one beside everybody's,
    /// and under what name it is among the keys.
    pub(crate) async fn load(&self, named: Vec<(String, String)>) -> Result<()> {
        let keys = self.providers.secrets();
        let everybody = (String::new(), AGENTS_TOKEN.to_owned());
        let mut tokens = Vec::new();
        for (profile, name) in std::iter::once(everybody).chain(named) {
            if let Some(token) = keys.get(&name).await? {
                tokens.push(AgentToken { token: token.expose().to_owned(), profile });
            }
        }
        self.valid.store(Arc::new(tokens));
        Ok(())
    }
}
