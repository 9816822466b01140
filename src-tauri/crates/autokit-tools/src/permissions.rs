//! What tools may do when an agent calls them.
//!
//! A call needs things: the tool itself, a host on the network, files below a folder, a secret, the right
//! to run code. Each is allowed, asked for, or denied, and the strictest word on any of them holds for the
//! call. The words are a person's, kept for each profile of agents; what a tool says of itself never
//! loosens one.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use url::Url;

/// What a person says to something. The order is that of strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It is done.
    Allow,
    /// A person is asked each time; where none can be, it is not done.
    #[default]
    Ask,
    /// It is not done.
    Deny,
}

/// A word on one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rule {
    /// The thing, as [`Need`] names it: a card's id or `Provider/*`, a host (`api.example.org`,
    /// `localhost:8080`, `*.example.org`), a folder, the origin or MCP server a secret is for, a language.
    pub of: String,
    /// The word.
    pub permission: Permission,
}

/// The words on one sort of things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Rules {
    /// On what no rule names.
    pub otherwise: Permission,
    /// On what they name. Of several that fit, the one that names it most exactly holds; of two that
    /// name it alike, the stricter.
    pub rules: Vec<Rule>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::otherwise(Permission::default())
    }
}

impl Rules {
    /// One word on everything.
    pub fn otherwise(otherwise: Permission) -> Rules {
        Rules { otherwise, rules: Vec::new() }
    }

    /// Whether nothing at all is asked for or denied, by whatever name.
    pub fn allow_all(&self) -> bool {
        self.otherwise == Permission::Allow && self.rules.is_empty()
    }

    /// Puts a word on one thing in the place of an earlier one.
    pub fn set(&mut self, of: &str, permission: Permission) {
        self.rules.retain(|rule| rule.of != of);
        self.rules.push(Rule { of: of.to_owned(), permission });
    }

    fn decide(&self, fit: impl Fn(&str) -> Option<usize>) -> Permission {
        let fitting = self.rules.iter().filter_map(|rule| Some((fit(rule.of.trim())?, rule.permission)));
        fitting.max().map_or(self.otherwise, |(_, permission)| permission)
    }
}

/// What agents of a profile may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct Permissions {
    /// Which tools they may call. All: a person took each into the library.
    pub tools: Rules,
    /// Which hosts tools may reach for them. All; this machine and private networks are closed besides, but
    /// for hosts that the network settings name.
    pub hosts: Rules,
    /// Which folders they may read. None, until a person names one.
    pub files: Rules,
    /// Which secrets are sent for them. All: a key goes only where the person who gave it said.
    pub secrets: Rules,
    /// Which languages they may run code in. A person is asked, although it runs in a sandbox.
    pub code: Rules,
}

impl Default for Permissions {
    fn default() -> Permissions {
        Permissions {
            tools: Rules::otherwise(Permission::Allow),
            hosts: Rules::otherwise(Permission::Allow),
            files: Rules::otherwise(Permission::Deny),
            secrets: Rules::otherwise(Permission::Allow),
            code: Rules::otherwise(Permission::Ask),
        }
    }
}

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
    /// To reach the host of an address, named as rules name hosts; none if it has none.
    pub fn to_reach(url: &Url) -> Option<Need> {
        let name = url.host_str()?.trim_end_matches('.');
        let host = url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        Some(Need::Host { host })
    }

    /// The rules it falls under.
    fn rules<'a>(&self, permissions: &'a Permissions) -> &'a Rules {
        match self {
            Need::Tool { .. } => &permissions.tools,
            Need::Host { .. } => &permissions.hosts,
            Need::Files { .. } => &permissions.files,
            Need::Secret { .. } => &permissions.secrets,
            Need::Code { .. } => &permissions.code,
        }
    }

    /// What a rule for exactly this calls it.
    pub fn key(&self) -> &str {
        match self {
            Need::Tool { id, .. } => id,
            Need::Host { host } => host,
            Need::Files { folder } => folder,
            Need::Secret { of } => of,
            Need::Code { language } => language,
        }
    }

    /// How exactly a rule names it; none if it names something else.
    fn fit(&self, of: &str) -> Option<usize> {
        let exact = || (of == self.key()).then_some(usize::MAX);
        match self {
            Need::Tool { provider, .. } => {
                exact().or_else(|| of.strip_suffix("/*")?.eq_ignore_ascii_case(provider).then_some(1))
            }
            Need::Host { host } => fit_host(of, host),
            Need::Files { folder } => {
                let (of, folder) = (std::path::Path::new(of), std::path::Path::new(folder));
                folder.starts_with(of).then(|| of.components().count())
            }
            Need::Secret { .. } | Need::Code { .. } => exact(),
        }
    }

    /// What a person reads: "to reach api.example.org".
    pub fn words(&self) -> String {
        match self {
            Need::Tool { name, provider, .. } if provider.is_empty() => format!("to call {name}"),
            Need::Tool { name, provider, .. } => format!("to call {name} of {provider}"),
            Need::Host { host } => format!("to reach {host}"),
            Need::Files { folder } => format!("to read files in {folder}"),
            Need::Secret { of } => format!("to send the key for {of}"),
            Need::Code { language } => format!("to run code in {language}"),
        }
    }
}

/// `host` is `name` or `name:port`; so may a rule be, which then fits that port alone.
fn fit_host(of: &str, host: &str) -> Option<usize> {
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
    // A rule with a port does not fit another port.
    (of.to_ascii_lowercase().trim_end_matches('.') == name(host)).then_some(usize::MAX - 1)
}

/// What holds for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The strictest word.
    pub permission: Permission,
    /// What it is about: everything that has this word, unless it is [`Permission::Allow`].
    pub because: Vec<Need>,
}

impl Permissions {
    /// Decides on one thing.
    pub fn on(&self, need: &Need) -> Permission {
        need.rules(self).decide(|of| need.fit(of))
    }

    /// Decides on all a call needs.
    pub fn decide(&self, needs: &[Need]) -> Decision {
        let permission = needs.iter().map(|need| self.on(need)).max().unwrap_or(Permission::Allow);
        let because = match permission {
            Permission::Allow => Vec::new(),
            strict => needs.iter().filter(|need| self.on(need) == strict).cloned().collect(),
        };
        Decision { permission, because }
    }

    /// Puts a person's word on one thing.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(id: &str, provider: &str) -> Need {
        Need::Tool { id: id.to_owned(), name: "send".to_owned(), provider: provider.to_owned() }
    }

    fn host(host: &str) -> Need {
        Need::Host { host: host.to_owned() }
    }

    fn files(folder: &str) -> Need {
        Need::Files { folder: folder.to_owned() }
    }

    #[test]
    fn the_strictest_word_on_any_need_holds() {
        let permissions = Permissions::default();
        assert_eq!(permissions.decide(&[]).permission, Permission::Allow);
        assert_eq!(
            permissions.decide(&[tool("a", "Acme"), host("x.org")]),
            Decision { permission: Permission::Allow, because: Vec::new() }
        );
        let code = Need::Code { language: "python".to_owned() };
        let asked = permissions.decide(&[tool("a", "Acme"), code.clone()]);
        assert_eq!(asked, Decision { permission: Permission::Ask, because: vec![code.clone()] });
        let denied = permissions.decide(&[files("/home/me"), code, host("x.org")]);
        assert_eq!(denied, Decision { permission: Permission::Deny, because: vec![files("/home/me")] });
    }

    #[test]
    fn each_sort_of_need_can_be_denied_by_itself() {
        let secret = Need::Secret { of: "https://api.acme.com".to_owned() };
        let code = Need::Code { language: "python".to_owned() };
        let all = [tool("a", "Acme"), host("api.acme.com"), files("/srv/data"), secret, code];
        let mut open = Permissions::default();
        for need in &all {
            open.set(need, Permission::Allow);
        }
        assert_eq!(open.decide(&all).permission, Permission::Allow);
        for need in &all {
            let mut closed = open.clone();
            closed.set(need, Permission::Deny);
            let decided = closed.decide(&all);
            assert_eq!(decided, Decision { permission: Permission::Deny, because: vec![need.clone()] });
        }
    }

    #[test]
    fn the_most_exact_rule_holds() {
        let mut tools = Permissions::default();
        tools.tools.set("Acme/*", Permission::Deny);
        tools.tools.set("a", Permission::Allow);
        assert_eq!(tools.on(&tool("a", "Acme")), Permission::Allow);
        assert_eq!(tools.on(&tool("b", "Acme")), Permission::Deny);
        assert_eq!(tools.on(&tool("b", "Acme/*")), Permission::Allow);

        let mut hosts = Permissions { hosts: Rules::otherwise(Permission::Ask), ..Permissions::default() };
        hosts.hosts.set("*.acme.com", Permission::Deny);
        hosts.hosts.set("*.api.acme.com", Permission::Ask);
        hosts.hosts.set("eu.api.acme.com", Permission::Allow);
        hosts.hosts.set("localhost:8080", Permission::Allow);
        for (named, word) in [
            ("eu.api.acme.com", Permission::Allow),
            ("EU.api.acme.com", Permission::Allow),
            ("eu.api.acme.com:8443", Permission::Allow),
            ("us.api.acme.com", Permission::Ask),
            ("www.acme.com", Permission::Deny),
            ("acme.com", Permission::Ask),
            ("evilacme.com", Permission::Ask),
            ("www.acme.com.evil.org", Permission::Ask),
            ("localhost:8080", Permission::Allow),
            ("localhost:8081", Permission::Ask),
            ("localhost", Permission::Ask),
        ] {
            assert_eq!(hosts.on(&host(named)), word, "{named}");
        }

        let mut folders = Permissions::default();
        folders.files.set("/srv/me/data", Permission::Allow);
        folders.files.set("/srv/me/data/private", Permission::Deny);
        for (folder, word) in [
            ("/srv/me/data", Permission::Allow),
            ("/srv/me/data/a/b", Permission::Allow),
            ("/srv/me/data/private/x", Permission::Deny),
            ("/srv/me/database", Permission::Deny),
            ("/", Permission::Deny),
        ] {
            assert_eq!(folders.on(&files(folder)), word, "{folder}");
        }
    }

    #[test]
    fn of_two_words_alike_the_stricter_holds_and_a_newer_word_replaces() {
        let mut rules = Permissions::default();
        let rule = |permission| Rule { of: "a".to_owned(), permission };
        rules.tools.rules = vec![rule(Permission::Deny), rule(Permission::Allow)];
        assert_eq!(rules.on(&tool("a", "")), Permission::Deny);
        rules.set(&tool("a", ""), Permission::Allow);
        assert_eq!((rules.on(&tool("a", "")), rules.tools.rules.len()), (Permission::Allow, 1));
    }

    #[test]
    fn what_is_kept_reads_back_and_what_is_missing_takes_the_default() {
        let text = serde_json::to_string(&Permissions::default()).expect("JSON");
        assert_eq!(serde_json::from_str::<Permissions>(&text).expect("it"), Permissions::default());
        assert_eq!(serde_json::from_str::<Permissions>("{}").expect("it"), Permissions::default());
    }
}
