//! Permissions of agents: what the tools they call may do.
//!
//! A call needs things: the tool itself, a host on the network, files below a folder, a secret, the right
//! to run code. Each is allowed, asked for, or denied, and the strictest of these decisions applies to the
//! call. A person decides for everybody ([`Permissions`] of the profile without a name) and for single
//! profiles. [`Policy`] combines both; what a tool claims about itself never loosens anything.

pub mod audit;
mod policy;
mod secret;

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use url::Url;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

pub use policy::{Decision, Policy};
pub use secret::Secret;

/// What a person says to something. The order is that of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It is done.
    Allow,
    /// A person is asked each time; where none can be, it is not done.
    Ask,
    /// It is not done.
    Deny,
}

/// A permission for one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rule {
    /// The thing, as [`Need`] names it: a card's id or `Provider/*`, a host (`api.example.org`,
    /// `localhost:8080`, `*.example.org`), a folder, the origin or MCP server a secret is for, a language.
    pub of: String,
    /// What holds for it.
    pub permission: Permission,
    /// Whether a profile may loosen it. Only on a rule for everybody that asks.
    #[serde(default)]
    pub overridable: bool,
}

/// The rules for one kind of thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Rules {
    /// What holds for everything no rule names. None: for everybody AutoKit's own default, which any
    /// profile may change; for a profile what holds for everybody.
    pub otherwise: Option<Permission>,
    /// Whether a profile may loosen `otherwise`. Only for everybody, where `otherwise` asks.
    pub overridable: bool,
    /// What holds for the things they name. Of several that fit, the one that names it most exactly holds;
    /// of two that name it alike, the stricter.
    pub rules: Vec<Rule>,
}

/// The decision of one set of rules on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RuleMatch {
    /// How specifically the rule names the thing; 0 if no rule names it.
    exactness: usize,
    permission: Permission,
    /// Whether a profile may loosen it.
    overridable: bool,
}

impl Rules {
    /// Creates rules with one permission for everything.
    pub fn otherwise(otherwise: Permission) -> Rules {
        Rules { otherwise: Some(otherwise), ..Rules::default() }
    }

    /// Sets the permission for one thing, replacing an earlier one.
    pub fn set(&mut self, of: &str, permission: Permission) {
        self.put(Rule { of: of.to_owned(), permission, overridable: false });
    }

    /// Adds a rule, replacing an earlier one for the same thing.
    pub fn put(&mut self, rule: Rule) {
        self.rules.retain(|other| other.of != rule.of);
        self.rules.push(rule);
    }

    /// Returns whether anything is denied.
    fn denies(&self) -> bool {
        self.strictest() == Permission::Deny
    }

    /// Returns the strictest permission for anything.
    fn strictest(&self) -> Permission {
        let given = self.rules.iter().map(|rule| rule.permission).chain(self.otherwise);
        given.max().unwrap_or(Permission::Allow)
    }

    fn matching_rule(&self, fit: impl Fn(&str) -> Option<usize>) -> Option<RuleMatch> {
        let matching = self.rules.iter().filter_map(|rule| {
            let exactness = fit(rule.of.trim())?.saturating_add(1);
            Some(RuleMatch { exactness, permission: rule.permission, overridable: rule.overridable })
        });
        let named =
            matching.max_by_key(|matched| (matched.exactness, matched.permission, !matched.overridable));
        let otherwise = |permission| RuleMatch { exactness: 0, permission, overridable: self.overridable };
        named.or_else(|| self.otherwise.map(otherwise))
    }
}

/// What agents may do: by the rules for everybody, or by those that a profile adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Permissions {
    /// Which tools they may call. By default all: a person took each into the library.
    pub tools: Rules,
    /// Which hosts tools may reach for them. By default all; this machine and private networks are closed
    /// besides, but for hosts that the network settings name.
    pub hosts: Rules,
    /// Which folders they may read. By default none, until a person names one.
    pub files: Rules,
    /// Which secrets are sent for them. By default all: a key goes only where the person who gave it said.
    pub secrets: Rules,
    /// Which languages they may run code in. By default a person is asked, although it runs in a sandbox.
    pub code: Rules,
}

impl Permissions {
    /// Returns the decision on one thing; `None` if neither a rule nor `otherwise` covers it.
    fn matching_rule(&self, need: &Need) -> Option<RuleMatch> {
        need.rules(self).matching_rule(|of| need.match_exactness(of))
    }

    /// Whether a rule, or `otherwise`, denies this. Among the rules for everybody such a denial is final.
    pub fn denies(&self, need: &Need) -> bool {
        self.matching_rule(need).is_some_and(|matched| matched.permission == Permission::Deny)
    }

    /// Sets the permission for one thing.
    pub fn set(&mut self, need: &Need, permission: Permission) {
        let rules = match need {
            Need::Tool { .. } => &mut self.tools,
            Need::Host { .. } => &mut self.hosts,
            Need::Files { .. } => &mut self.files,
            Need::Secret { .. } => &mut self.secrets,
            Need::Code { .. } => &mut self.code,
        };
        rules.set(need.key(), permission);
    }

    /// Returns the rules of each kind.
    pub fn kinds(&self) -> [&Rules; 5] {
        [&self.tools, &self.hosts, &self.files, &self.secrets, &self.code]
    }

    /// As [`Permissions::kinds`], to be changed.
    pub fn kinds_mut(&mut self) -> [&mut Rules; 5] {
        [&mut self.tools, &mut self.hosts, &mut self.files, &mut self.secrets, &mut self.code]
    }
}

/// Defaults where no person has decided, in the order of [`Permissions::kinds`].
pub const BUILT_IN: [Permission; 5] =
    [Permission::Allow, Permission::Allow, Permission::Deny, Permission::Allow, Permission::Ask];

/// Something a call needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "scope", rename_all = "snake_case")]
pub enum Need {
    /// To call a tool.
    Tool {
        /// Id of its card, or of a tool of AutoKit's own.
        id: String,
        /// What it is called.
        name: String,
        /// Who offers it.
        provider: String,
    },
    /// To reach a host.
    Host {
        /// Its name, with the port where that is not the scheme's own.
        host: String,
    },
    /// To read files.
    Files {
        /// The folder they are below, in full.
        folder: String,
    },
    /// To send a secret.
    Secret {
        /// The origin (`https://api.example.org`) or MCP server (`mcp:name`) it was given for.
        of: String,
    },
    /// To run code.
    Code {
        /// The language.
        language: String,
    },
}

impl Need {
    /// Returns the permission needed to reach the host of a URL, named as rules name hosts; `None` if the
    /// URL has no host.
    pub fn for_url(url: &Url) -> Option<Need> {
        let name = url.host_str()?.trim_end_matches('.');
        let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        Some(Need::Host { host })
    }

    /// Returns AutoKit's default, which applies where no person has decided.
    fn built_in(&self) -> Permission {
        let [tools, hosts, files, secrets, code] = BUILT_IN;
        match self {
            Need::Tool { .. } => tools,
            Need::Host { .. } => hosts,
            Need::Files { .. } => files,
            Need::Secret { .. } => secrets,
            Need::Code { .. } => code,
        }
    }

    /// Returns the rules of its kind.
    fn rules<'a>(&self, permissions: &'a Permissions) -> &'a Rules {
        match self {
            Need::Tool { .. } => &permissions.tools,
            Need::Host { .. } => &permissions.hosts,
            Need::Files { .. } => &permissions.files,
            Need::Secret { .. } => &permissions.secrets,
            Need::Code { .. } => &permissions.code,
        }
    }

    /// Returns the `of` of a rule for exactly this.
    pub fn key(&self) -> &str {
        match self {
            Need::Tool { id, .. } => id,
            Need::Host { host } => host,
            Need::Files { folder } => folder,
            Need::Secret { of } => of,
            Need::Code { language } => language,
        }
    }

    /// Returns how specifically a rule names it; `None` if the rule names something else.
    fn match_exactness(&self, of: &str) -> Option<usize> {
        let exact = || (of == self.key()).then_some(usize::MAX);
        match self {
            Need::Tool { provider, .. } => {
                exact().or_else(|| of.strip_suffix("/*")?.eq_ignore_ascii_case(provider).then_some(1))
            }
            Need::Host { host } => host_exactness(of, host),
            Need::Files { folder } => {
                let (of, folder) = (std::path::Path::new(of), std::path::Path::new(folder));
                folder.starts_with(of).then(|| of.components().count())
            }
            Need::Secret { .. } | Need::Code { .. } => exact(),
        }
    }

    /// Describes it for people: "to reach api.example.org".
    pub fn describe(&self) -> String {
        match self {
            Need::Tool { name, provider, .. } if provider.is_empty() => format!("to call {name}"),
            Need::Tool { name, provider, .. } => format!("to call {name} from {provider}"),
            Need::Host { host } => format!("to reach {host}"),
            Need::Files { folder } => format!("to read files in {folder}"),
            Need::Secret { of } => format!("to use the API key for {of}"),
            Need::Code { language } => format!("to run code in {language}"),
        }
    }
}

/// Matches a rule against a host. Both may be `name` or `name:port`; a rule with a port matches that port
/// only.
fn host_exactness(of: &str, host: &str) -> Option<usize> {
    let name = |text: &str| {
        let bare = match text.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => name,
            _ => text,
        };
        bare.trim_end_matches('.').to_ascii_lowercase()
    };
    if of.eq_ignore_ascii_case(host) {
        return Some(usize::MAX);
    }
    if let Some(domain) = of.strip_prefix("*.") {
        let under = name(host).strip_suffix(&domain.to_ascii_lowercase())?.ends_with('.');
        return under.then_some(domain.len());
    }
    // A rule with a port does not match another port.
    (of.to_ascii_lowercase().trim_end_matches('.') == name(host)).then_some(usize::MAX - 1)
}
