//! Profiles of agents, and the rules they result in for the current library.
//!
//! An agent's connection determines its scope: `` (everybody's profile), `zoo` (a named profile, which
//! inherits everybody's), or `zoo/cage` (the same, narrowed by a second profile that the agent named
//! itself).

mod saved;

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use autokit_api::commands::{
    ChangeProfile, Context, Handle, ListProfiles, RemoveProfile, SetAgentSessions, SetProfile,
};
use autokit_api::{AgentSessions, Nothing, Profile, ProfileChange, ProfileRef, Profiles, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::Settings as SessionSettings;
use autokit_library::{CardRecord, Library};
use autokit_policy::{Need, Permission, Policy, Rules};
use autokit_search::tiers::KeywordTool;
use autokit_toolcard::CardId;
use autokit_workspace::secrets::name_for;
use autokit_workspace::workspace::Workspace;

use crate::tokens::{AGENTS_TOKEN, AgentTokens};
use saved::SavedProfiles;

/// Most characters of a profile's name.
const NAME_CHARS: usize = 40;
/// Smallest token budget for a program's tools: one tool with its description.
const MIN_BUDGET: u32 = 500;

/// A scope, resolved for the current library.
#[derive(Debug)]
pub(crate) struct ResolvedScope {
    /// Version of the library for which this was computed.
    version: u64,
    /// The profiles from which this was computed.
    saved: Arc<SavedProfiles>,
    policy: Policy,
    /// Whether the agent may find the whole library, except for denied tools.
    finds_all: bool,
    /// The cards assigned to the profile, prepared for keyword matching.
    pub(crate) experts: Vec<(CardId, KeywordTool)>,
    /// Ids of the cards the agent may find; `None` for all.
    pub(crate) allowed: Option<Arc<HashSet<String>>>,
}

/// The profiles of a library. Clones share state.
#[derive(Clone, Debug)]
pub struct AgentProfiles {
    workspace: Workspace,
    tokens: AgentTokens,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    saved: ArcSwap<SavedProfiles>,
    /// Serializes writes.
    writing: tokio::sync::Mutex<()>,
    scoped: Mutex<HashMap<String, Arc<ResolvedScope>>>,
}

/// The profiles of a scope.
struct ScopeProfiles {
    everybody: Arc<Profile>,
    /// The named profile; `None` if the scope is everybody's.
    own: Option<Arc<Profile>>,
    /// The second profile, which the agent named itself.
    narrower: Option<Arc<Profile>>,
}

impl ScopeProfiles {
    /// Resolves a scope; `None` if one of its profiles does not exist. Everybody's always does.
    fn of(scope: &str, saved: &SavedProfiles) -> Option<ScopeProfiles> {
        let everybody = saved.profiles.get("").cloned().unwrap_or_default();
        let named = |name: &str| match name {
            "" => Some(None),
            name => saved.profiles.get(name).cloned().map(Some),
        };
        let (own, narrower) = scope.split_once('/').unwrap_or((scope, ""));
        Some(ScopeProfiles { everybody, own: named(own)?, narrower: named(narrower)? })
    }

    /// Returns all profiles of the scope, everybody's first.
    fn all(&self) -> impl Iterator<Item = &Arc<Profile>> {
        std::iter::once(&self.everybody).chain(&self.own).chain(&self.narrower)
    }

    fn policy(&self) -> Policy {
        let rules = |profile: &Arc<Profile>| Arc::new(profile.permissions.clone());
        let everybody = rules(&self.everybody);
        let policy = match &self.own {
            Some(own) => Policy::for_profile(everybody, rules(own)),
            None => Policy::everybody(everybody),
        };
        self.narrower.as_ref().map(rules).into_iter().fold(policy, Policy::narrowed_by)
    }
}

/// Returns whether a profile lets its agents find a card.
fn includes(profile: &Profile, card: &CardRecord) -> bool {
    profile.only.as_ref().is_none_or(|only| {
        only.cards.iter().chain(&profile.cards).any(|listed| *listed == card.id)
            || only.providers.contains(&card.key.provider)
    })
}

impl ResolvedScope {
    /// Returns the rules.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns whether the agent may find the whole library, except for denied tools.
    pub(crate) fn finds_all(&self) -> bool {
        self.finds_all
    }

    /// Returns whether the agent may find a card.
    pub(crate) fn may_find(&self, card: &CardId) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(card.as_str()))
    }

    /// Returns whether the agent may call a tool, or ask for approval to.
    pub(crate) fn may_call(&self, id: &str, name: &str, provider: &str) -> bool {
        let (id, name, provider) = (id.to_owned(), name.to_owned(), provider.to_owned());
        self.policy.permission_for(&Need::Tool { id, name, provider }) != Permission::Deny
    }

    fn new(
        library: &Library,
        saved: Arc<SavedProfiles>,
        bound: &ScopeProfiles,
        version: u64,
    ) -> ResolvedScope {
        let policy = bound.policy();
        let finds_all = bound.all().all(|profile| profile.only.is_none());
        let may_find = |record: &CardRecord| {
            let need = Need::Tool {
                id: record.id.to_string(),
                name: record.key.name.clone(),
                provider: record.key.provider.clone(),
            };
            bound.all().all(|profile| includes(profile, record))
                && policy.permission_for(&need) != Permission::Deny
        };
        let assigned = &bound.own.as_ref().unwrap_or(&bound.everybody).cards;
        let (experts, allowed) = library.read(|replica| {
            let allowed = (!finds_all || policy.denies_tools()).then(|| {
                let allowed = replica.iter().filter(|record| may_find(record));
                Arc::new(allowed.map(|record| record.id.to_string()).collect::<HashSet<String>>())
            });
            let experts = assigned.iter().filter_map(|id| replica.get(id));
            let experts = experts
                .filter(|record| allowed.as_ref().is_none_or(|all| all.contains(record.id.as_str())))
                .map(|record| {
                    let known = KeywordTool::new(&record.key.name, record.card().description());
                    (record.id.clone(), known)
                })
                .collect();
            (experts, allowed)
        });
        ResolvedScope { version, saved, policy, finds_all, experts, allowed }
    }
}

impl AgentProfiles {
    /// Creates the profiles, none of them loaded yet.
    pub fn new(workspace: Workspace, tokens: AgentTokens) -> AgentProfiles {
        AgentProfiles { workspace, tokens, state: Arc::default() }
    }

    /// Loads the profiles of the library.
    pub async fn load(&self) -> Result<()> {
        let saved: Option<SavedProfiles> = self.workspace.load_setting(Setting::Profiles).await?;
        self.state.saved.store(Arc::new(saved.unwrap_or_default().migrated()));
        Ok(())
    }

    /// Returns the rules of a scope; `None` if a profile of it does not exist.
    pub(crate) fn policy(&self, scope: &str) -> Option<Policy> {
        Some(ScopeProfiles::of(scope, &self.state.saved.load())?.policy())
    }

    /// Resolves a scope for the current library; `None` if a profile of it does not exist.
    pub(crate) fn scoped(&self, scope: &str) -> Option<Arc<ResolvedScope>> {
        let saved = self.state.saved.load_full();
        let version = self.workspace.library_version();
        let known = self.state.scoped.lock().expect("no holder panics").get(scope).cloned();
        if let Some(known) =
            known.filter(|known| known.version == version && Arc::ptr_eq(&known.saved, &saved))
        {
            return Some(known);
        }
        let bound = ScopeProfiles::of(scope, &saved)?;
        let resolved = Arc::new(ResolvedScope::new(&self.workspace.library, saved, &bound, version));
        self.state.scoped.lock().expect("no holder panics").insert(scope.to_owned(), Arc::clone(&resolved));
        Some(resolved)
    }

    /// Returns the parameters of a session in a client program.
    pub(crate) fn session_settings(&self, scope: &str, client: &str) -> SessionSettings {
        let saved = self.state.saved.load();
        let mut settings = saved.sessions.session.clone();
        if let Some(bound) = ScopeProfiles::of(scope, &saved) {
            let own = bound.own.as_ref().unwrap_or(&bound.everybody);
            settings.always.extend(own.always.iter().cloned());
        }
        let client = client.to_lowercase();
        let named = saved.sessions.budgets.iter().filter(|(name, _)| client.contains(&name.to_lowercase()));
        // Of several names that match, the longest is the most specific.
        if let Some((_, budget)) = named.max_by_key(|(name, _)| name.len()) {
            settings.reserved_tokens = settings.context_tokens.saturating_sub(*budget);
            settings.reply_tokens = settings.reply_tokens.min(*budget);
        }
        settings
    }

    /// Changes the profiles and saves them.
    async fn change_profiles<T>(&self, change: impl FnOnce(&mut SavedProfiles) -> Result<T>) -> Result<T> {
        let _writing = self.state.writing.lock().await;
        let mut saved = SavedProfiles::clone(&self.state.saved.load());
        let result = change(&mut saved)?;
        self.workspace.save_setting(Setting::Profiles, &saved).await?;
        self.state.saved.store(Arc::new(saved));
        self.state.scoped.lock().expect("no holder panics").clear();
        self.workspace.notify_tools_changed();
        Ok(result)
    }

    /// Saves a person's permission in an agent's profile.
    pub(crate) async fn set_permission(
        &self,
        scope: &str,
        needs: &[Need],
        permission: Permission,
    ) -> Result<()> {
        let profile = profile_of(scope);
        self.change_profiles(|saved| {
            let changed = saved.change(profile)?;
            for need in needs {
                changed.permissions.set(need, permission);
            }
            Ok(())
        })
        .await
    }

    /// Returns the decision on these needs if the agent's profile allowed them.
    pub(crate) fn decided_if_allowed(&self, scope: &str, needs: &[Need]) -> Option<Permission> {
        let mut saved = SavedProfiles::clone(&self.state.saved.load());
        let changed = saved.change(profile_of(scope)).ok()?;
        for need in needs {
            changed.permissions.set(need, Permission::Allow);
        }
        Some(ScopeProfiles::of(scope, &saved)?.policy().decide(needs).permission)
    }

    /// Returns the name under which the token of a profile is stored; `None` if it has no token yet.
    pub(crate) fn token_key(&self, profile: &str) -> Option<String> {
        self.state.saved.load().tokens.get(profile).cloned()
    }

    /// Like [`AgentProfiles::token_key`], but assigns a name if there is none.
    pub(crate) async fn new_token_key(&self, profile: &str) -> Result<String> {
        self.change_profiles(|saved| {
            if !saved.profiles.contains_key(profile) {
                return Err(no_profile(profile));
            }
            let key = || name_for(AGENTS_TOKEN, &autokit_workspace::token(16));
            Ok(saved.tokens.entry(profile.to_owned()).or_insert_with(key).clone())
        })
        .await
    }

    /// Returns the profiles with a token, and the names under which the tokens are stored.
    pub(crate) fn token_keys(&self) -> Vec<(String, String)> {
        let saved = self.state.saved.load();
        saved.tokens.iter().map(|(profile, key)| (profile.clone(), key.clone())).collect()
    }

    fn profile_list(&self) -> Profiles {
        let saved = self.state.saved.load();
        let mut profiles: Vec<Profile> = saved.profiles.values().map(|profile| (**profile).clone()).collect();
        if !saved.profiles.contains_key("") {
            profiles.insert(0, Profile::default());
        }
        Profiles { profiles, sessions: saved.sessions.clone() }
    }
}

/// Returns the profile of a scope, without the one that narrows it.
pub(crate) fn profile_of(scope: &str) -> &str {
    scope.split_once('/').map_or(scope, |(own, _)| own)
}

/// Returns the error for a scope with an unknown profile.
pub fn no_profile(scope: &str) -> ApiError {
    let (own, narrower) = scope.split_once('/').unwrap_or((scope, ""));
    let named = if narrower.is_empty() {
        format!("profile {own:?} not found")
    } else if own.is_empty() {
        format!("profile {narrower:?} not found")
    } else {
        format!("profile {own:?} or {narrower:?} not found")
    };
    ApiError::new(ErrorCode::NotFound, named, "Add it in Settings, Permissions, or leave the profile out.")
}

fn invalid(message: String, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::Invalid, message, remedy)
}

/// Languages of code that can be run, as calls name them.
const LANGUAGES: [&str; 3] = ["python", "javascript", "shell"];

/// Returns whether a rule names a host as calls do: without scheme and path, and without the scheme's
/// default port.
fn is_host(of: &str) -> bool {
    let name = of.strip_prefix("*.").unwrap_or(of);
    let Ok(url) = url::Url::parse(&format!("https://{name}")) else { return false };
    let host = url.host_str().unwrap_or_default();
    let written = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    written.eq_ignore_ascii_case(name) && !host.ends_with('.') && url.port() != Some(80)
}

/// Normalizes what a secret belongs to as calls name it: the origin of an address, in lower case and
/// without a trailing slash.
fn normalized_secret_owner(of: &str) -> String {
    match url::Url::parse(of.trim()) {
        Ok(url) if url.origin().is_tuple() && url.path() == "/" && url.query().is_none() => {
            url.origin().ascii_serialization()
        }
        _ => of.to_owned(),
    }
}

/// Returns whether a rule names what a secret belongs to as calls do.
fn is_secret_owner(of: &str) -> bool {
    of.strip_prefix("mcp:").is_some_and(|server| !server.is_empty())
        || url::Url::parse(of)
            .is_ok_and(|url| url.origin().is_tuple() && url.origin().ascii_serialization() == of)
}

/// Returns whether a path is absolute and without `..`, as rules need it to compare paths part by part.
fn is_full_path(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == Component::ParentDir)
}

/// Validates a profile.
fn check(profile: &Profile) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if profile.name.len() > NAME_CHARS || !profile.name.chars().all(is_allowed) {
        return Err(invalid(
            format!("{:?} is not a valid profile name", profile.name),
            "Use up to 40 letters, digits, dots, `-` and `_`.",
        ));
    }
    let incomplete = profile.permissions.files.rules.iter().find(|rule| !is_full_path(Path::new(&rule.of)));
    if let Some(rule) = incomplete {
        return Err(invalid(
            format!("{:?} is not an absolute path", rule.of),
            "Enter an absolute path without `..`.",
        ));
    }
    let permissions = &profile.permissions;
    check_overridable(profile)?;
    let first_invalid = |rules: &Rules, is_valid: &dyn Fn(&str) -> bool| {
        rules.rules.iter().find(|rule| !is_valid(&rule.of)).map(|rule| rule.of.clone())
    };
    let checks = [
        (
            first_invalid(&permissions.tools, &|of| !of.trim().is_empty()),
            "tool",
            "Enter the id of its card, or `Provider/*`.",
        ),
        (
            first_invalid(&permissions.hosts, &is_host),
            "host",
            "Enter a host such as `api.example.org`, `*.example.org` or `localhost:8080`.",
        ),
        (
            first_invalid(&permissions.secrets, &is_secret_owner),
            "API key destination",
            "Enter an origin such as `https://api.example.org`, or `mcp:SERVER`.",
        ),
        (
            first_invalid(&permissions.code, &|of| LANGUAGES.contains(&of)),
            "language",
            "Supported languages: python, javascript, shell.",
        ),
    ];
    for (invalid_rule, what, remedy) in checks {
        if let Some(of) = invalid_rule {
            return Err(invalid(format!("{of:?} is not a valid {what}"), remedy));
        }
    }
    Ok(())
}

/// Checks that rules are marked as overridable only where that has an effect: on everybody's `ask` rules.
fn check_overridable(profile: &Profile) -> Result<()> {
    let mut marked = profile.permissions.kinds().into_iter().flat_map(|rules| {
        let otherwise = (rules.overridable, rules.otherwise);
        rules.rules.iter().map(|rule| (rule.overridable, Some(rule.permission))).chain([otherwise])
    });
    let has_no_effect = |(marked, permission): (bool, Option<Permission>)| {
        marked && (!profile.name.is_empty() || permission != Some(Permission::Ask))
    };
    if marked.any(has_no_effect) {
        return Err(invalid(
            "only Ask rules for everyone can be marked as overridable".to_owned(),
            "A Deny rule for everyone is final, and a profile can always be stricter.",
        ));
    }
    Ok(())
}

/// Validates the parameters of sessions.
fn check_sessions(sessions: &AgentSessions) -> Result<()> {
    let SessionSettings { results, capacity, sessions: many, overlap, threshold, .. } = &sessions.session;
    if !(1..=100).contains(&sessions.session.full_context_percent) || sessions.session.preload > *capacity {
        return Err(invalid(
            "the tool budget of a full context is 1 to 100 percent, and no more tools are preloaded than are kept".to_owned(),
            "Reset to defaults, then change one setting at a time.",
        ));
    }
    let share = |value: &f32| (0.0..=1.0).contains(value);
    if *results == 0 || *capacity == 0 || *many == 0 || !share(overlap) || !share(threshold) {
        return Err(invalid(
            "session limits must be at least 1, and shares between 0 and 1".to_owned(),
            "Reset to defaults, then change one setting at a time.",
        ));
    }
    let budgets = sessions.budgets.values().copied().chain([sessions.session.budget()]);
    if budgets.min().is_some_and(|least| least < MIN_BUDGET) {
        return Err(invalid(
            format!("tools need a budget of at least {MIN_BUDGET} tokens"),
            "Raise the budget, or reserve less for the rest.",
        ));
    }
    Ok(())
}

#[async_trait]
impl Handle<ListProfiles> for AgentProfiles {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Profiles> {
        Ok(self.profile_list())
    }
}

/// Normalizes and validates a profile: trims its name, and names secrets as calls do.
fn normalized(mut profile: Profile) -> Result<Profile> {
    profile.name = profile.name.trim().to_owned();
    for rule in &mut profile.permissions.secrets.rules {
        rule.of = normalized_secret_owner(&rule.of);
    }
    check(&profile)?;
    Ok(profile)
}

#[async_trait]
impl Handle<ChangeProfile> for AgentProfiles {
    async fn handle(&self, _: &Context, request: ProfileChange) -> Result<Profiles> {
        let (before, after) = (request.before, normalized(request.after)?);
        if before.name != after.name {
            return Err(invalid("a profile cannot be renamed".to_owned(), "Add another profile."));
        }
        self.change_profiles(|saved| {
            let now = saved.profiles.get(&after.name).map(|profile| (**profile).clone());
            let now = now.unwrap_or_else(|| Profile { name: after.name.clone(), ..Profile::default() });
            if now != before {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    format!("the profile {:?} changed in the meantime", after.name),
                    "Check it again in Settings, Permissions.",
                ));
            }
            saved.profiles.insert(after.name.clone(), Arc::new(after));
            Ok(())
        })
        .await?;
        Ok(self.profile_list())
    }
}

#[async_trait]
impl Handle<SetProfile> for AgentProfiles {
    async fn handle(&self, _: &Context, request: Profile) -> Result<Profiles> {
        let request = normalized(request)?;
        self.change_profiles(|saved| {
            saved.profiles.insert(request.name.clone(), Arc::new(request));
            Ok(())
        })
        .await?;
        Ok(self.profile_list())
    }
}

#[async_trait]
impl Handle<RemoveProfile> for AgentProfiles {
    async fn handle(&self, _: &Context, request: ProfileRef) -> Result<Profiles> {
        if request.name.is_empty() {
            return Err(invalid(
                "the profile for everyone cannot be removed".to_owned(),
                "Change its rules instead.",
            ));
        }
        let token = self
            .change_profiles(|saved| {
                saved.profiles.remove(&request.name).ok_or_else(|| no_profile(&request.name))?;
                Ok(saved.tokens.remove(&request.name))
            })
            .await?;
        if let Some(key) = token {
            self.tokens.remove(&request.name, &key).await;
        }
        Ok(self.profile_list())
    }
}

#[async_trait]
impl Handle<SetAgentSessions> for AgentProfiles {
    async fn handle(&self, _: &Context, request: AgentSessions) -> Result<Profiles> {
        check_sessions(&request)?;
        self.change_profiles(|saved| {
            saved.sessions = request;
            Ok(())
        })
        .await?;
        Ok(self.profile_list())
    }
}
