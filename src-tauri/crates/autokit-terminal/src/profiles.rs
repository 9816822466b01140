//! `autokit profiles`: what agents can find and do.

use std::collections::HashMap;
use std::path::{Component, PathBuf};

use autokit_api::Client;
use autokit_api::commands::{ChangeProfile, GetCard, GetTool, ListProfiles, RemoveProfile, SetProfile};
use autokit_api::{
    Allowlist, CardRef, Nothing, Profile, ProfileChange, ProfileRef, Profiles, ToolEntry, ToolRef,
};
use autokit_error::{ApiError, ErrorCode, file_problem};
use autokit_policy::{BUILT_IN, Need, Permission, Rule, Rules};
use autokit_toolcard::CardId;
use clap::{Args, Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, printable, warn};

/// Permission type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// A tool: name or ID from `autokit tools list`, or `Provider/*`.
    Tool,
    /// A host: `api.example.org`, `*.example.org`, `localhost:8080`.
    Host,
    /// A folder and its subfolders.
    Folder,
    /// An API key: the origin it is for, or `mcp:SERVER`.
    Key,
    /// Code execution: `python`, `javascript`, `shell`.
    Code,
}

#[derive(Debug, Args)]
pub struct RuleArgs {
    /// Permission type.
    #[arg(value_enum)]
    scope: ScopeChoice,
    /// Target of the rule; defaults to everything not covered by another rule.
    of: Option<String>,
    /// Profile; defaults to the rules for everyone.
    #[arg(long, default_value = "")]
    profile: String,
}

#[derive(Debug, Args)]
pub struct RuleSubject {
    #[command(flatten)]
    word: RuleArgs,
    /// Let profiles override this rule (only in the rules for everyone).
    #[arg(long)]
    overridable: bool,
}

#[derive(Debug, Subcommand)]
pub enum ProfilesCommand {
    /// List profiles and their rules.
    List,
    /// Add a profile, used with `autokit mcp --profile NAME`.
    Add {
        /// Profile name.
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        name: String,
        /// Description.
        #[arg(long, default_value = "")]
        about: String,
    },
    /// Remove a profile; agents using it are rejected.
    Remove {
        /// Profile name.
        name: String,
    },
    /// Allow without approval.
    Allow(RuleArgs),
    /// Require approval each time.
    Ask(RuleSubject),
    /// Deny. In the rules for everyone this is final: no profile can override it.
    Deny(RuleArgs),
    /// Remove a rule; the rule for everyone or the default applies again.
    Forget(RuleArgs),
    /// Pin cards to the top of search results.
    Assign {
        /// Card names or IDs; none unpins all.
        cards: Vec<String>,
        /// Profile; defaults to the rules for everyone.
        #[arg(long, default_value = "")]
        profile: String,
    },
    /// Limit searches to these cards; without any, searches cover the whole library.
    Only {
        /// Include all cards from a provider.
        #[arg(long)]
        provider: Vec<String>,
        /// Include a card, by name or ID.
        #[arg(long)]
        card: Vec<String>,
        /// Profile; defaults to the rules for everyone.
        #[arg(long, default_value = "")]
        profile: String,
    },
    /// Load tools at the start of each session.
    Always {
        /// Names or IDs of cards or built-in tools; none clears the list.
        tools: Vec<String>,
        /// Profile; defaults to the rules for everyone.
        #[arg(long, default_value = "")]
        profile: String,
    },
}

fn rules(profile: &mut Profile, scope: ScopeChoice) -> &mut Rules {
    let permissions = &mut profile.permissions;
    match scope {
        ScopeChoice::Tool => &mut permissions.tools,
        ScopeChoice::Host => &mut permissions.hosts,
        ScopeChoice::Folder => &mut permissions.files,
        ScopeChoice::Key => &mut permissions.secrets,
        ScopeChoice::Code => &mut permissions.code,
    }
}

async fn id_of(library: &dyn Client, card: &str) -> Result<CardId> {
    Ok(library.call::<GetCard>(CardRef { card: card.to_owned() }).await?.summary.id)
}

async fn ids_of(library: &dyn Client, cards: &[String]) -> Result<Vec<CardId>> {
    let mut ids = Vec::new();
    for card in cards {
        ids.push(id_of(library, card).await?);
    }
    Ok(ids)
}

/// Returns the id of a callable tool or of any other card.
async fn tool_id(library: &dyn Client, tool: &str) -> Result<String> {
    match library.call::<GetTool>(ToolRef { tool: tool.to_owned(), profile: String::new() }).await {
        Ok(view) => Ok(view.entry.id),
        // A tool that cannot be called still has a card.
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => {
            Ok(id_of(library, tool).await?.to_string())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns a target as rules refer to it: cards by id, folders by absolute path.
async fn resolve_target(library: &dyn Client, scope: ScopeChoice, of: &str) -> Result<String> {
    Ok(match scope {
        ScopeChoice::Tool if !of.ends_with("/*") => tool_id(library, of).await?,
        ScopeChoice::Folder => full_path(of)?.display().to_string(),
        _ => of.to_owned(),
    })
}

/// Returns the absolute path of a folder. Symbolic links are resolved only if the path contains `..`.
fn full_path(folder: &str) -> Result<PathBuf> {
    let path = std::path::absolute(folder)?;
    if !path.components().any(|part| part == Component::ParentDir) {
        return Ok(path);
    }
    path.canonicalize().map_err(|error| {
        let message = format!("{folder}: {}", file_problem(&error));
        ApiError::new(ErrorCode::BadRequest, message, "Pass an existing folder.").into()
    })
}

async fn profile(library: &dyn Client, name: &str) -> Result<Profile> {
    let all = library.call::<ListProfiles>(Nothing {}).await?.profiles;
    let found = all.into_iter().find(|profile| profile.name == name);
    Ok(found.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("no profile named {name:?}"),
            "Add it with `autokit profiles add NAME`.",
        )
    })?)
}

/// Attempts at a change that conflicts with concurrent ones.
const MAX_ATTEMPTS: usize = 50;

/// Changes a profile; retries if it was changed concurrently, so that no change is lost.
async fn change(
    library: &dyn Client,
    name: &str,
    edit: impl Fn(&mut Profile) -> Result<()>,
) -> Result<Profiles> {
    for _ in 1..MAX_ATTEMPTS {
        let before = profile(library, name).await?;
        let mut after = before.clone();
        edit(&mut after)?;
        match library.call::<ChangeProfile>(ProfileChange { before, after }).await {
            Err(error) if error.code == ErrorCode::Conflict => {}
            outcome => return Ok(outcome?),
        }
    }
    let message = "the profile keeps being changed by others";
    Err(ApiError::new(ErrorCode::Conflict, message, "Try again later.").into())
}

async fn set_rule(
    library: &dyn Client,
    rule: &RuleArgs,
    permission: Option<Permission>,
    overridable: bool,
) -> Result<Profiles> {
    // The target of a rule to remove may no longer exist; then its text is used.
    let target = match &rule.of {
        Some(of) if permission.is_some() => resolve_target(library, rule.scope, of).await?,
        Some(of) => resolve_target(library, rule.scope, of).await.unwrap_or_else(|_| of.clone()),
        None => String::new(),
    };
    change(library, &rule.profile, |profile| {
        let rules = rules(profile, rule.scope);
        match (&rule.of, permission) {
            (None, permission) => {
                rules.otherwise = permission;
                rules.overridable = overridable;
            }
            (Some(_), Some(permission)) => rules.put(Rule { of: target.clone(), permission, overridable }),
            (Some(of), None) => {
                let before = rules.rules.len();
                rules.rules.retain(|other| other.of != target && other.of != *of);
                if rules.rules.len() == before {
                    let message = format!("no rule for {of:?}");
                    let remedy = "List rules with `autokit profiles list`.";
                    return Err(ApiError::new(ErrorCode::NotFound, message, remedy).into());
                }
            }
        }
        Ok(())
    })
    .await
}

/// Returns the need that a rule for this target applies to.
async fn need_for(library: &dyn Client, scope: ScopeChoice, of: &str) -> Result<Need> {
    let target = resolve_target(library, scope, of).await?;
    Ok(match scope {
        ScopeChoice::Tool => {
            let tool = ToolRef { tool: target.clone(), profile: String::new() };
            let provider = match target.strip_suffix("/*") {
                Some(provider) => provider.to_owned(),
                // A card that cannot be called has no provider that a rule could apply to.
                None => {
                    library.call::<GetTool>(tool).await.map(|view| view.entry.provider).unwrap_or_default()
                }
            };
            Need::Tool { name: target.clone(), id: target, provider }
        }
        ScopeChoice::Host => Need::Host { host: target },
        ScopeChoice::Folder => Need::Files { folder: target },
        ScopeChoice::Key => Need::Secret { of: target },
        ScopeChoice::Code => Need::Code { language: target },
    })
}

/// Warns if what a profile now allows is still denied by a rule for everyone.
async fn warn_of_deny(library: &dyn Client, profiles: &mut Profiles, rule: &RuleArgs) -> Result<()> {
    let Some(everyone) = profiles.profiles.iter_mut().find(|profile| profile.name.is_empty()) else {
        return Ok(());
    };
    let denied = match &rule.of {
        Some(of) => everyone.permissions.denies(&need_for(library, rule.scope, of).await?),
        None => rules(everyone, rule.scope).otherwise == Some(Permission::Deny),
    };
    if denied {
        // The rule is saved even if the warning cannot be written.
        let _ = warn(
            "It stays denied: profiles can't allow what is denied for everyone.",
            "Remove that rule with `autokit profiles forget`, or see it with `autokit profiles list`.",
        );
    }
    Ok(())
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ProfilesCommand) -> Result<Outcome> {
    let profiles = match command {
        ProfilesCommand::List => library.call::<ListProfiles>(Nothing {}).await?,
        ProfilesCommand::Add { name, about } => {
            let listed = library.call::<ListProfiles>(Nothing {}).await?;
            if !listed.profiles.iter().any(|profile| profile.name == name) {
                library.call::<SetProfile>(Profile { name, about, ..Profile::default() }).await?
            } else if about.is_empty() {
                listed
            } else {
                change(library, &name, |profile| {
                    profile.about.clone_from(&about);
                    Ok(())
                })
                .await?
            }
        }
        ProfilesCommand::Remove { name } => library.call::<RemoveProfile>(ProfileRef { name }).await?,
        ProfilesCommand::Allow(rule) => {
            let mut profiles = set_rule(library, &rule, Some(Permission::Allow), false).await?;
            // With --json, stderr has only errors.
            if !out.json() && !rule.profile.is_empty() {
                warn_of_deny(library, &mut profiles, &rule).await?;
            }
            profiles
        }
        ProfilesCommand::Ask(RuleSubject { word: rule, overridable }) => {
            set_rule(library, &rule, Some(Permission::Ask), overridable).await?
        }
        ProfilesCommand::Deny(rule) => set_rule(library, &rule, Some(Permission::Deny), false).await?,
        ProfilesCommand::Forget(rule) => set_rule(library, &rule, None, false).await?,
        ProfilesCommand::Assign { cards, profile: name } => {
            let cards = ids_of(library, &cards).await?;
            change(library, &name, |profile| {
                profile.cards.clone_from(&cards);
                Ok(())
            })
            .await?
        }
        ProfilesCommand::Only { provider, card, profile: name } => {
            let list = Allowlist { cards: ids_of(library, &card).await?, providers: provider };
            let only = (list != Allowlist::default()).then_some(list);
            change(library, &name, |profile| {
                profile.only.clone_from(&only);
                Ok(())
            })
            .await?
        }
        ProfilesCommand::Always { tools, profile: name } => {
            change(library, &name, |profile| {
                profile.always.clone_from(&tools);
                Ok(())
            })
            .await?
        }
    };
    let names = if out.json() { Names::new() } else { names(library, &profiles).await };
    out.show(&profiles, |text| {
        for profile in &profiles.profiles {
            write(text, profile, &names)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Display names of cards, by id.
type Names = HashMap<String, String>;

/// Returns the names of all cards in profiles. Deleted cards have none and are shown by id.
async fn names(library: &dyn Client, profiles: &Profiles) -> Names {
    let mut names = Names::new();
    for profile in &profiles.profiles {
        let rules = profile.permissions.tools.rules.iter().map(|rule| &rule.of);
        let only = profile.only.iter().flat_map(|only| &only.cards);
        let cards = only.chain(&profile.cards).map(ToString::to_string);
        for id in rules.chain(&profile.always).cloned().chain(cards) {
            // Built-in tools first, because a card may have the same name.
            let tool = ToolRef { tool: id.clone(), profile: String::new() };
            if let Ok(ToolEntry { provider, name, .. }) =
                library.call::<GetTool>(tool).await.map(|view| view.entry)
            {
                names.insert(id.clone(), format!("{provider} / {name}"));
            } else if let Ok(card) = library.call::<GetCard>(CardRef { card: id.clone() }).await {
                let summary = card.summary;
                names.insert(id.clone(), format!("{} / {}", summary.provider, summary.name));
            }
        }
    }
    names
}

fn permission_label(permission: Permission) -> String {
    match permission {
        Permission::Allow => "allow".green().to_string(),
        Permission::Ask => "ask".yellow().to_string(),
        Permission::Deny => "deny".red().to_string(),
    }
}

fn write(text: &mut dyn std::io::Write, profile: &Profile, names: &Names) -> std::io::Result<()> {
    let name_of = |id: &String| names.get(id).unwrap_or(id).clone();
    let name = if profile.name.is_empty() { "everyone" } else { &profile.name };
    writeln!(text, "{}  {}", printable(name).bold(), printable(&profile.about))?;
    let kinds = ["tool", "host", "folder", "key", "code"].into_iter().zip(profile.permissions.kinds());
    for ((scope, rules), built_in) in kinds.zip(BUILT_IN) {
        let otherwise = match rules.otherwise {
            Some(permission) => permission_label(permission),
            None if profile.name.is_empty() => {
                format!("{} {}", permission_label(built_in), "by default".dimmed())
            }
            None => "same as everyone".dimmed().to_string(),
        };
        let mark = |overridable| if overridable { "  profiles may override" } else { "" };
        writeln!(text, "  {scope:<8} {otherwise}{}", mark(rules.overridable).dimmed())?;
        for rule in &rules.rules {
            let (label, mark) = (permission_label(rule.permission), mark(rule.overridable));
            writeln!(text, "           {label}  {}{}", printable(&name_of(&rule.of)), mark.dimmed())?;
        }
    }
    let mut write_list = |name: &str, items: &[String]| {
        if items.is_empty() {
            return Ok(());
        }
        let items: Vec<String> = items.iter().map(name_of).collect();
        writeln!(text, "  {name:<8} {}", printable(&items.join(", ")))
    };
    let ids = |cards: &[CardId]| -> Vec<String> { cards.iter().map(ToString::to_string).collect() };
    write_list("first", &ids(&profile.cards))?;
    write_list("always", &profile.always)?;
    if let Some(only) = &profile.only {
        write_list("only", &[only.providers.clone(), ids(&only.cards)].concat())?;
    }
    Ok(())
}
