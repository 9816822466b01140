//! `autokit profiles`: what agents find first, may find, may do.

use std::collections::HashMap;
use std::path::{Component, PathBuf};

use autokit_api::commands::{ChangeProfile, GetCard, GetTool, ListProfiles, RemoveProfile, SetProfile};
use autokit_api::{
    Allowlist, CardRef, Nothing, Profile, ProfileChange, ProfileRef, Profiles, ToolEntry, ToolRef,
};
use autokit_app::node::Node;
use autokit_app::{ApiError, BUILT_IN, CardId, ErrorCode, Need, Permission, Rule, Rules, file_problem};
use clap::{Args, Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;

use crate::outcome::{End, Result};
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
pub(crate) struct RuleArgs {
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
pub(crate) struct RuleSubject {
    #[command(flatten)]
    word: RuleArgs,
    /// Let profiles override this rule (only in the rules for everyone).
    #[arg(long)]
    overridable: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
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

async fn id_of(node: &Node, card: &str) -> Result<CardId> {
    Ok(node.call::<GetCard>(CardRef { card: card.to_owned() }).await?.summary.id)
}

async fn ids_of(node: &Node, cards: &[String]) -> Result<Vec<CardId>> {
    let mut ids = Vec::new();
    for card in cards {
        ids.push(id_of(node, card).await?);
    }
    Ok(ids)
}

/// The id of a tool that can be called, or of any other card.
async fn tool_id(node: &Node, tool: &str) -> Result<String> {
    match node.call::<GetTool>(ToolRef { tool: tool.to_owned(), profile: String::new() }).await {
        Ok(view) => Ok(view.entry.id),
        // What is only there to be read has a card all the same.
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => {
            Ok(id_of(node, tool).await?.to_string())
        }
        Err(error) => Err(error.into()),
    }
}

/// The thing as a rule names it: cards by their ids, folders in full.
async fn thing(node: &Node, scope: ScopeChoice, of: &str) -> Result<String> {
    Ok(match scope {
        ScopeChoice::Tool if !of.ends_with("/*") => tool_id(node, of).await?,
        ScopeChoice::Folder => full_path(of)?.display().to_string(),
        _ => of.to_owned(),
    })
}

/// A folder from the root on. Links are kept as they are written, unless `..` goes through them.
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

async fn profile(node: &Node, name: &str) -> Result<Profile> {
    let all = node.call::<ListProfiles>(Nothing {}).await?.profiles;
    let found = all.into_iter().find(|profile| profile.name == name);
    Ok(found.ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("no profile named {name:?}"),
            "Add it with `autokit profiles add NAME`.",
        )
    })?)
}

/// How often a change is tried again that came between others'.
const TRIES: usize = 50;

/// Changes a profile as it is now; where somebody else changed it meanwhile, their change as well.
async fn change(node: &Node, name: &str, make: impl Fn(&mut Profile) -> Result<()>) -> Result<Profiles> {
    for _ in 1..TRIES {
        let before = profile(node, name).await?;
        let mut after = before.clone();
        make(&mut after)?;
        match node.call::<ChangeProfile>(ProfileChange { before, after }).await {
            Err(error) if error.code == ErrorCode::Conflict => {}
            outcome => return Ok(outcome?),
        }
    }
    let busy = "the profile keeps being changed by others";
    Err(ApiError::new(ErrorCode::Conflict, busy, "Try again later.").into())
}

async fn say(
    node: &Node,
    word: &RuleArgs,
    permission: Option<Permission>,
    overridable: bool,
) -> Result<Profiles> {
    // What a rule to forget is about may be gone, and then only its own words name it.
    let named = match &word.of {
        Some(of) if permission.is_some() => thing(node, word.scope, of).await?,
        Some(of) => thing(node, word.scope, of).await.unwrap_or_else(|_| of.clone()),
        None => String::new(),
    };
    change(node, &word.profile, |profile| {
        let rules = rules(profile, word.scope);
        match (&word.of, permission) {
            (None, permission) => {
                rules.otherwise = permission;
                rules.overridable = overridable;
            }
            (Some(_), Some(permission)) => rules.put(Rule { of: named.clone(), permission, overridable }),
            (Some(of), None) => {
                let all = rules.rules.len();
                rules.rules.retain(|rule| rule.of != named && rule.of != *of);
                if rules.rules.len() == all {
                    let none = format!("no rule for {of:?}");
                    let remedy = "List rules with `autokit profiles list`.";
                    return Err(ApiError::new(ErrorCode::NotFound, none, remedy).into());
                }
            }
        }
        Ok(())
    })
    .await
}

/// The need that a rule for this target is about.
async fn need_of(node: &Node, scope: ScopeChoice, of: &str) -> Result<Need> {
    let target = thing(node, scope, of).await?;
    Ok(match scope {
        ScopeChoice::Tool => {
            let tool = ToolRef { tool: target.clone(), profile: String::new() };
            let provider = match target.strip_suffix("/*") {
                Some(provider) => provider.to_owned(),
                // A card that cannot be called has no provider that a rule could name.
                None => node.call::<GetTool>(tool).await.map(|view| view.entry.provider).unwrap_or_default(),
            };
            Need::Tool { name: target.clone(), id: target, provider }
        }
        ScopeChoice::Host => Need::Host { host: target },
        ScopeChoice::Folder => Need::Files { folder: target },
        ScopeChoice::Key => Need::Secret { of: target },
        ScopeChoice::Code => Need::Code { language: target },
    })
}

/// Warns that what a profile now allows stays denied by a rule for everyone.
async fn warn_of_deny(node: &Node, profiles: &mut Profiles, word: &RuleArgs) -> Result<()> {
    let Some(everyone) = profiles.profiles.iter_mut().find(|profile| profile.name.is_empty()) else {
        return Ok(());
    };
    let denied = match &word.of {
        Some(of) => everyone.permissions.denies(&need_of(node, word.scope, of).await?),
        None => rules(everyone, word.scope).otherwise == Some(Permission::Deny),
    };
    if denied {
        // The rule is kept, whoever reads this.
        let _ = warn(
            "It stays denied: profiles can't allow what is denied for everyone.",
            "Remove that rule with `autokit profiles forget`, or see it with `autokit profiles list`.",
        );
    }
    Ok(())
}

pub(crate) async fn run(node: &Node, out: &Output, command: ProfilesCommand) -> Result<End> {
    let profiles = match command {
        ProfilesCommand::List => node.call::<ListProfiles>(Nothing {}).await?,
        ProfilesCommand::Add { name, about } => {
            let listed = node.call::<ListProfiles>(Nothing {}).await?;
            if !listed.profiles.iter().any(|profile| profile.name == name) {
                node.call::<SetProfile>(Profile { name, about, ..Profile::default() }).await?
            } else if about.is_empty() {
                listed
            } else {
                change(node, &name, |profile| {
                    profile.about.clone_from(&about);
                    Ok(())
                })
                .await?
            }
        }
        ProfilesCommand::Remove { name } => node.call::<RemoveProfile>(ProfileRef { name }).await?,
        ProfilesCommand::Allow(word) => {
            let mut profiles = say(node, &word, Some(Permission::Allow), false).await?;
            // With --json, standard error holds nothing but an error.
            if !out.json() && !word.profile.is_empty() {
                warn_of_deny(node, &mut profiles, &word).await?;
            }
            profiles
        }
        ProfilesCommand::Ask(RuleSubject { word, overridable }) => {
            say(node, &word, Some(Permission::Ask), overridable).await?
        }
        ProfilesCommand::Deny(word) => say(node, &word, Some(Permission::Deny), false).await?,
        ProfilesCommand::Forget(word) => say(node, &word, None, false).await?,
        ProfilesCommand::Assign { cards, profile: name } => {
            let cards = ids_of(node, &cards).await?;
            change(node, &name, |profile| {
                profile.cards.clone_from(&cards);
                Ok(())
            })
            .await?
        }
        ProfilesCommand::Only { provider, card, profile: name } => {
            let list = Allowlist { cards: ids_of(node, &card).await?, providers: provider };
            let only = (list != Allowlist::default()).then_some(list);
            change(node, &name, |profile| {
                profile.only.clone_from(&only);
                Ok(())
            })
            .await?
        }
        ProfilesCommand::Always { tools, profile: name } => {
            change(node, &name, |profile| {
                profile.always.clone_from(&tools);
                Ok(())
            })
            .await?
        }
    };
    let names = if out.json() { Names::new() } else { names(node, &profiles).await };
    out.show(&profiles, |text| {
        for profile in &profiles.profiles {
            write(text, profile, &names)?;
        }
        Ok(())
    })?;
    Ok(End::Done)
}

/// Cards by their ids, as people call them.
type Names = HashMap<String, String>;

/// The names of all cards that profiles speak of; one that is gone keeps its id.
async fn names(node: &Node, profiles: &Profiles) -> Names {
    let mut names = Names::new();
    for profile in &profiles.profiles {
        let rules = profile.permissions.tools.rules.iter().map(|rule| &rule.of);
        let only = profile.only.iter().flat_map(|only| &only.cards);
        let cards = only.chain(&profile.cards).map(ToString::to_string);
        for id in rules.chain(&profile.always).cloned().chain(cards) {
            // AutoKit's own first: a card may be called as one of them is.
            let tool = ToolRef { tool: id.clone(), profile: String::new() };
            if let Ok(ToolEntry { provider, name, .. }) =
                node.call::<GetTool>(tool).await.map(|view| view.entry)
            {
                names.insert(id.clone(), format!("{provider} / {name}"));
            } else if let Ok(card) = node.call::<GetCard>(CardRef { card: id.clone() }).await {
                let summary = card.summary;
                names.insert(id.clone(), format!("{} / {}", summary.provider, summary.name));
            }
        }
    }
    names
}

fn word(permission: Permission) -> String {
    match permission {
        Permission::Allow => "allow".green().to_string(),
        Permission::Ask => "ask".yellow().to_string(),
        Permission::Deny => "deny".red().to_string(),
    }
}

fn write(text: &mut dyn std::io::Write, profile: &Profile, names: &Names) -> std::io::Result<()> {
    let called = |id: &String| names.get(id).unwrap_or(id).clone();
    let name = if profile.name.is_empty() { "everybody" } else { &profile.name };
    writeln!(text, "{}  {}", printable(name).bold(), printable(&profile.about))?;
    let kinds = ["tool", "host", "folder", "key", "code"].into_iter().zip(profile.permissions.kinds());
    for ((scope, rules), built_in) in kinds.zip(BUILT_IN) {
        let otherwise = match rules.otherwise {
            Some(permission) => word(permission),
            None if profile.name.is_empty() => format!("{} {}", word(built_in), "by default".dimmed()),
            None => "same as everyone".dimmed().to_string(),
        };
        let mark = |overridable| if overridable { "  profiles may override" } else { "" };
        writeln!(text, "  {scope:<8} {otherwise}{}", mark(rules.overridable).dimmed())?;
        for rule in &rules.rules {
            let (word, mark) = (word(rule.permission), mark(rule.overridable));
            writeln!(text, "           {word}  {}{}", printable(&called(&rule.of)), mark.dimmed())?;
        }
    }
    let mut more = |name: &str, things: &[String]| {
        if things.is_empty() {
            return Ok(());
        }
        let things: Vec<String> = things.iter().map(called).collect();
        writeln!(text, "  {name:<8} {}", printable(&things.join(", ")))
    };
    let ids = |cards: &[CardId]| -> Vec<String> { cards.iter().map(ToString::to_string).collect() };
    more("first", &ids(&profile.cards))?;
    more("always", &profile.always)?;
    if let Some(only) = &profile.only {
        more("only", &[only.providers.clone(), ids(&only.cards)].concat())?;
    }
    Ok(())
}
