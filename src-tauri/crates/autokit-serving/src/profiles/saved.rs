//! Profiles as they are saved, and migration of those of earlier versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use autokit_api::{AgentSessions, Profile};
use autokit_error::Result;
use autokit_policy::{BUILT_IN, Permission, Permissions, Rules};
use serde::{Deserialize, Serialize};

use super::no_profile;

/// The version in which profiles began to inherit everybody's rules. Before, each held a copy of them.
const INHERITED: u32 = 1;

/// Profiles as they are saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SavedProfiles {
    version: u32,
    pub(super) profiles: BTreeMap<String, Arc<Profile>>,
    /// Per profile with an HTTP token, the name under which the token is stored. A profile created under
    /// the name of a removed one gets another name.
    pub(super) tokens: BTreeMap<String, String>,
    pub sessions: AgentSessions,
}

impl SavedProfiles {
    /// Returns a profile to be changed. Everybody's always exists.
    ///
    /// # Errors
    /// `not_found` if there is no such profile.
    pub(super) fn change(&mut self, name: &str) -> Result<&mut Profile> {
        if !name.is_empty() && !self.profiles.contains_key(name) {
            return Err(no_profile(name));
        }
        Ok(Arc::make_mut(self.profiles.entry(name.to_owned()).or_default()))
    }

    /// Migrates to the current version. Rules that a profile copied from everybody's are dropped, because
    /// they are inherited now; so are unchanged defaults of AutoKit, because nobody decided on them.
    pub(super) fn migrated(mut self) -> SavedProfiles {
        if self.version >= INHERITED {
            return self;
        }
        self.version = INHERITED;
        let everybody = self.profiles.get("").map(|profile| profile.permissions.clone()).unwrap_or_default();
        for (name, profile) in &mut self.profiles {
            let profile = Arc::make_mut(profile);
            let copied = if name.is_empty() { Permissions::default() } else { everybody.clone() };
            let kinds = profile.permissions.kinds_mut().into_iter().zip(copied.kinds()).zip(BUILT_IN);
            for ((rules, copied), default) in kinds {
                remove_copies(rules, copied, default);
            }
        }
        self
    }
}

fn remove_copies(rules: &mut Rules, copied: &Rules, default: Permission) {
    rules.rules.retain(|rule| !copied.rules.contains(rule));
    // Only a person can have made a profile looser or stricter than everybody's, so that stays.
    if rules.otherwise.unwrap_or(default) == copied.otherwise.unwrap_or(default) {
        rules.otherwise = None;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(saved: serde_json::Value) -> SavedProfiles {
        serde_json::from_value::<SavedProfiles>(saved).expect("saved profiles").migrated()
    }

    #[test]
    fn copied_rules_of_earlier_versions_are_inherited() {
        let rule = |of: &str, permission: &str| json!({"of": of, "permission": permission});
        let read = read(json!({"profiles": {
            "": {"name": "", "permissions": {
                "tools": {"otherwise": "allow", "rules": [rule("send", "deny"), rule("read", "ask")]},
                "files": {"otherwise": "deny", "rules": []},
                "code": {"otherwise": "deny", "rules": []},
            }},
            "zoo": {"name": "zoo", "permissions": {
                "tools": {"otherwise": "allow", "rules": [rule("read", "ask"), rule("send", "allow")]},
                "hosts": {"otherwise": "deny", "rules": [rule("a.org", "allow")]},
                "files": {"otherwise": "deny", "rules": [rule("/srv", "allow")]},
                "code": {"otherwise": "ask", "rules": []},
            }},
        }}));
        let of = |name: &str| read.profiles[name].permissions.clone();
        let (everybody, zoo) = (of(""), of("zoo"));
        assert_eq!(everybody.tools.otherwise, None);
        assert_eq!(everybody.tools.rules.len(), 2);
        assert_eq!((everybody.files.otherwise, everybody.code.otherwise), (None, Some(Permission::Deny)));
        // The profile's own decisions stay. A deny for everybody still applies to it.
        assert_eq!(zoo.tools.rules.iter().map(|rule| rule.of.as_str()).collect::<Vec<_>>(), ["send"]);
        assert_eq!((zoo.tools.otherwise, zoo.hosts.otherwise), (None, Some(Permission::Deny)));
        assert_eq!((zoo.files.otherwise, zoo.files.rules.len()), (None, 1));
        assert_eq!(zoo.code.otherwise, Some(Permission::Ask));
        let again = serde_json::to_value(&read).expect("JSON");
        assert_eq!(serde_json::from_value::<SavedProfiles>(again).expect("profiles").migrated(), read);
    }

    #[test]
    fn profiles_of_the_current_version_are_not_migrated() {
        let mut saved = SavedProfiles::default().migrated();
        saved.change("").expect("everybody's").permissions.files.otherwise = Some(Permission::Deny);
        let text = serde_json::to_string(&saved).expect("JSON");
        assert_eq!(serde_json::from_str::<SavedProfiles>(&text).expect("profiles").migrated(), saved);
        assert!(saved.change("nobody").is_err());
    }
}
