//! Profiles of agents: which there are, and what each comes to with the library as it is.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use autokit_gateway::{Hit, Settings as SessionSettings};
use autokit_library::CardRecord;
use autokit_retrieve::tiers::KeywordTool;
use autokit_toolcard::CardId;
use autokit_tools::permissions::{Need, Permission, Rules};
use serde::{Deserialize, Serialize};

use crate::api::{AgentSessions, Nothing, Profile, ProfileRef, Profiles, Setting};
use crate::commands::{Context, Handle, ListProfiles, RemoveProfile, SetAgentSessions, SetProfile};
use crate::error::{ApiError, ErrorCode, Result};

use super::{Core, Engine};

/// Characters of a name.
const NAME_CHARS: usize = 40;
/// The least tools of a program may cost: one tool and what is said of it.
const LEAST_BUDGET: u32 = 500;

/// Profiles as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    profiles: BTreeMap<String, Arc<Profile>>,
    sessions: AgentSessions,
}

/// A profile with the library as it is.
#[derive(Debug)]
pub(super) struct Scoped {
    /// Position of the library this was made from.
    cursor: u64,
    profile: Arc<Profile>,
    /// The cards assigned to it, prepared to be found by keywords.
    pub(super) experts: Vec<(CardId, KeywordTool)>,
    /// Ids of the cards it may find; none if it may find all.
    pub(super) allowed: Option<Arc<HashSet<String>>>,
}

/// The profiles of a library.
#[derive(Debug, Default)]
pub(super) struct ProfileBook {
    kept: ArcSwap<Kept>,
    /// One writer at a time.
    writing: tokio::sync::Mutex<()>,
    scoped: Mutex<HashMap<String, Arc<Scoped>>>,
}

impl Scoped {
    /// The profile.
    pub(super) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Whether its agents may find a card.
    pub(super) fn may_find(&self, card: &CardId) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(card.as_str()))
    }

    /// Whether its agents may call a tool, or ask to.
    pub(super) fn may_call(&self, hit: &Hit) -> bool {
        let (id, name, provider) = (hit.id.clone(), hit.name.clone(), hit.provider.clone());
        self.profile.permissions.on(&Need::Tool { id, name, provider }) != Permission::Deny
    }

    fn new(core: &Core, profile: &Arc<Profile>, cursor: u64) -> Scoped {
        let tools = &profile.permissions.tools;
        let denies = tools.otherwise == Permission::Deny
            || tools.rules.iter().any(|rule| rule.permission == Permission::Deny);
        let may = |record: &CardRecord| {
            let id = record.id.to_string();
            let listed = profile.only.as_ref().is_none_or(|only| {
                only.cards.contains(&id)
                    || profile.cards.contains(&id)
                    || only.providers.contains(&record.key.provider)
            });
            let provider = record.key.provider.clone();
            let need = Need::Tool { id, name: record.key.name.clone(), provider };
            listed && profile.permissions.on(&need) != Permission::Deny
        };
        let (experts, allowed) = core.library.read(|replica| {
            let allowed = (denies || profile.only.is_some()).then(|| {
                let allowed = replica.iter().filter(|record| may(record));
                Arc::new(allowed.map(|record| record.id.to_string()).collect::<HashSet<String>>())
            });
            let assigned = profile.cards.iter().filter_map(|id| replica.get(&CardId::new(id)));
            let experts = assigned
                .filter(|record| allowed.as_ref().is_none_or(|all| all.contains(record.id.as_str())))
                .map(|record| {
                    let known = KeywordTool::new(&record.key.name, record.card().description());
                    (record.id.clone(), known)
                })
                .collect();
            (experts, allowed)
        });
        Scoped { cursor, profile: Arc::clone(profile), experts, allowed }
    }
}

impl Core {
    /// Reads the profiles of the library.
    pub(super) async fn load_profiles(&self) -> Result<()> {
        let kept: Option<Kept> = self.kept(Setting::Profiles).await?;
        self.profiles.kept.store(Arc::new(kept.unwrap_or_default()));
        Ok(())
    }

    /// A profile. The one everybody has is always there; another is none before a person made it.
    pub(super) fn profile(&self, name: &str) -> Option<Arc<Profile>> {
        match self.profiles.kept.load().profiles.get(name) {
            Some(profile) => Some(Arc::clone(profile)),
            None => name.is_empty().then(Arc::default),
        }
    }

    /// A profile with the library as it is now.
    pub(super) fn scoped(&self, name: &str) -> Option<Arc<Scoped>> {
        let profile = self.profile(name)?;
        let cursor = self.library.read(autokit_library::Replica::cursor);
        let known = self.profiles.scoped.lock().expect("no holder panics").get(name).cloned();
        if let Some(known) = known.filter(|known| known.cursor == cursor && known.profile == profile) {
            return Some(known);
        }
        let made = Arc::new(Scoped::new(self, &profile, cursor));
        self.profiles.scoped.lock().expect("no holder panics").insert(name.to_owned(), Arc::clone(&made));
        Some(made)
    }

    /// The parameters of a session in a program.
    pub(super) fn session_settings(&self, profile: &str, client: &str) -> SessionSettings {
        let kept = self.profiles.kept.load();
        let mut settings = kept.sessions.session.clone();
        if let Some(profile) = self.profile(profile) {
            settings.always.extend(profile.always.iter().cloned());
        }
        let client = client.to_lowercase();
        let named = kept.sessions.budgets.iter().filter(|(name, _)| client.contains(&name.to_lowercase()));
        // Of several names that fit, the longest says most.
        if let Some((_, budget)) = named.max_by_key(|(name, _)| name.len()) {
            settings.reserved_tokens = settings.context_tokens.saturating_sub(*budget);
            settings.reply_tokens = settings.reply_tokens.min(*budget);
        }
        settings
    }

    /// Changes the profiles.
    async fn change_profiles<T>(&self, change: impl FnOnce(&mut Kept) -> Result<T>) -> Result<T> {
        let _turn = self.profiles.writing.lock().await;
        let mut kept = Kept::clone(&self.profiles.kept.load());
        let made = change(&mut kept)?;
        self.keep_as(Setting::Profiles, &kept).await?;
        self.profiles.kept.store(Arc::new(kept));
        self.profiles.scoped.lock().expect("no holder panics").clear();
        Ok(made)
    }

    /// Puts a person's word on things into a profile.
    pub(super) async fn set_permission(
        &self,
        profile: &str,
        needs: &[Need],
        permission: Permission,
    ) -> Result<()> {
        self.change_profiles(|kept| {
            if !profile.is_empty() && !kept.profiles.contains_key(profile) {
                return Err(no_profile(profile));
            }
            let changed = Arc::make_mut(kept.profiles.entry(profile.to_owned()).or_default());
            for need in needs {
                changed.permissions.set(need, permission);
            }
            Ok(())
        })
        .await
    }

    fn profile_list(&self) -> Profiles {
        let kept = self.profiles.kept.load();
        let mut profiles: Vec<Profile> = kept.profiles.values().map(|profile| (**profile).clone()).collect();
        if !kept.profiles.contains_key("") {
            profiles.insert(0, Profile::default());
        }
        Profiles { profiles, sessions: kept.sessions.clone() }
    }
}

/// The profile an agent names is not there.
pub(super) fn no_profile(name: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is no profile {name:?}"),
        "Add it in Settings, Permissions, or leave the profile out.",
    )
}

fn invalid(message: String, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::Invalid, message, remedy)
}

/// Languages code can be run in, as calls name them.
const LANGUAGES: [&str; 3] = ["python", "javascript", "shell"];

/// Whether a rule names a host as calls do: without scheme and path, and without the port a scheme has itself.
fn is_host(of: &str) -> bool {
    let name = of.strip_prefix("*.").unwrap_or(of);
    let Ok(url) = url::Url::parse(&format!("https://{name}")) else { return false };
    let host = url.host_str().unwrap_or_default();
    let written = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    written.eq_ignore_ascii_case(name) && !host.ends_with('.') && url.port() != Some(80)
}

/// Whether a rule names what a key is for as calls do.
fn is_key(of: &str) -> bool {
    of.strip_prefix("mcp:").is_some_and(|server| !server.is_empty())
        || url::Url::parse(of)
            .is_ok_and(|url| url.origin().is_tuple() && url.origin().ascii_serialization() == of)
}

/// What is wrong with a profile, if anything is.
fn check(profile: &Profile) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if profile.name.len() > NAME_CHARS || !profile.name.chars().all(plain) {
        return Err(invalid(
            format!("{:?} cannot be the name of a profile", profile.name),
            "Use up to 40 letters, digits, dots, `-` and `_`.",
        ));
    }
    let relative =
        profile.permissions.files.rules.iter().find(|rule| !std::path::Path::new(&rule.of).is_absolute());
    if let Some(rule) = relative {
        return Err(invalid(
            format!("{:?} is no folder in full", rule.of),
            "Name a folder from the root on.",
        ));
    }
    let permissions = &profile.permissions;
    let bad = |rules: &Rules, fits: &dyn Fn(&str) -> bool| {
        rules.rules.iter().find(|rule| !fits(&rule.of)).map(|rule| rule.of.clone())
    };
    let said = [
        (
            bad(&permissions.tools, &|of| !of.trim().is_empty()),
            "a tool",
            "Give the id of its card, or `Provider/*`.",
        ),
        (
            bad(&permissions.hosts, &is_host),
            "a host",
            "Write `api.example.org`, `*.example.org` or `localhost:8080`.",
        ),
        (
            bad(&permissions.secrets, &is_key),
            "what a key is for",
            "Write `https://api.example.org` or `mcp:SERVER`.",
        ),
        (
            bad(&permissions.code, &|of| LANGUAGES.contains(&of)),
            "a language",
            "Write python, javascript or shell.",
        ),
    ];
    for (bad, what, remedy) in said {
        if let Some(of) = bad {
            return Err(invalid(format!("{of:?} is not {what}: the rule would never hold"), remedy));
        }
    }
    Ok(())
}

/// What is wrong with parameters, if anything is.
fn check_sessions(sessions: &AgentSessions) -> Result<()> {
    let SessionSettings { results, capacity, sessions: many, overlap, threshold, .. } = &sessions.session;
    let share = |value: &f32| (0.0..=1.0).contains(value);
    if *results == 0 || *capacity == 0 || *many == 0 || !share(overlap) || !share(threshold) {
        return Err(invalid(
            "sessions need room for a result, a tool and a session, and shares between 0 and 1".to_owned(),
            "Put the defaults back, then change one thing at a time.",
        ));
    }
    let budgets = sessions.budgets.values().copied().chain([sessions.session.budget()]);
    if budgets.min().is_some_and(|least| least < LEAST_BUDGET) {
        return Err(invalid(
            format!("tools have to be allowed {LEAST_BUDGET} tokens at least"),
            "Give them more, or reserve less for the rest.",
        ));
    }
    Ok(())
}

impl Handle<ListProfiles> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Profiles> {
        Ok(self.core.profile_list())
    }
}

impl Handle<SetProfile> for Engine {
    async fn handle(&self, _: &Context, mut request: Profile) -> Result<Profiles> {
        request.name = request.name.trim().to_owned();
        check(&request)?;
        self.core
            .change_profiles(|kept| {
                kept.profiles.insert(request.name.clone(), Arc::new(request));
                Ok(())
            })
            .await?;
        Ok(self.core.profile_list())
    }
}

impl Handle<RemoveProfile> for Engine {
    async fn handle(&self, _: &Context, request: ProfileRef) -> Result<Profiles> {
        if request.name.is_empty() {
            return Err(invalid("everybody's profile stays".to_owned(), "Change what it allows instead."));
        }
        self.core
            .change_profiles(|kept| {
                kept.profiles.remove(&request.name).map(|_| ()).ok_or_else(|| no_profile(&request.name))
            })
            .await?;
        Ok(self.core.profile_list())
    }
}

impl Handle<SetAgentSessions> for Engine {
    async fn handle(&self, _: &Context, request: AgentSessions) -> Result<Profiles> {
        check_sessions(&request)?;
        self.core
            .change_profiles(|kept| {
                kept.sessions = request;
                Ok(())
            })
            .await?;
        Ok(self.core.profile_list())
    }
}
