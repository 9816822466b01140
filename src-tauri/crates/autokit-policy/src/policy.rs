//! Combination of the rules for everybody with those of profiles.
//!
//! Rules are inherited when a call is decided on and never copied, so that a new rule for everybody applies
//! to every profile at once:
//!
//! * what is denied for everybody is denied;
//! * a profile may always be stricter than everybody;
//! * a profile may loosen an `ask` for everybody only if that is marked as overridable, or if no person has
//!   decided and AutoKit's default applies, and only by a rule that names the thing at least as
//!   specifically.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::{Need, Permission, Permissions, RuleMatch};

/// The decision on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The strictest permission of all needs.
    pub permission: Permission,
    /// All needs with this permission; empty for [`Permission::Allow`].
    pub reasons: Vec<Need>,
}

/// The rules that apply to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    everybody: Arc<Permissions>,
    /// The rules of each profile that applies; `None` for a profile without rules of its own. The strictest
    /// of them applies.
    profiles: Vec<Option<Arc<Permissions>>>,
}

impl Policy {
    /// Creates the policy of agents without a named profile.
    pub fn everybody(everybody: Arc<Permissions>) -> Policy {
        Policy { everybody, profiles: vec![None] }
    }

    /// Creates the policy of a profile.
    pub fn for_profile(everybody: Arc<Permissions>, profile: Arc<Permissions>) -> Policy {
        Policy { everybody, profiles: vec![Some(profile)] }
    }

    /// Narrows the policy by another profile, whose rules have to agree too.
    #[must_use]
    pub fn narrowed_by(mut self, profile: Arc<Permissions>) -> Policy {
        self.profiles.push(Some(profile));
        self
    }

    fn layers(&self) -> impl Iterator<Item = &Permissions> {
        std::iter::once(&*self.everybody).chain(self.profiles.iter().flatten().map(|profile| &**profile))
    }

    /// Decides on one need.
    pub fn permission_for(&self, need: &Need) -> Permission {
        let built_in = RuleMatch { exactness: 0, permission: need.built_in(), overridable: true };
        // Whether the rule is overridable does not matter here: a deny for everybody is final.
        if self.everybody.denies(need) {
            return Permission::Deny;
        }
        let common = self.everybody.matching_rule(need).unwrap_or(built_in);
        let inherited = |profile: &Option<Arc<Permissions>>| {
            let Some(own) = profile.as_ref().and_then(|profile| profile.matching_rule(need)) else {
                return common.permission;
            };
            if common.overridable && own.exactness >= common.exactness {
                own.permission
            } else {
                own.permission.max(common.permission)
            }
        };
        self.profiles.iter().map(inherited).max().unwrap_or(common.permission)
    }

    /// Decides on all needs of a call.
    pub fn decide(&self, needs: &[Need]) -> Decision {
        let permission =
            needs.iter().map(|need| self.permission_for(need)).max().unwrap_or(Permission::Allow);
        let reasons = match permission {
            Permission::Allow => Vec::new(),
            strict => needs.iter().filter(|need| self.permission_for(need) == strict).cloned().collect(),
        };
        Decision { permission, reasons }
    }

    /// Returns whether any rule denies a tool.
    pub fn denies_tools(&self) -> bool {
        self.layers().any(|layer| layer.tools.denies())
    }

    /// Returns whether every host may be reached without asking.
    pub fn allows_all_hosts(&self) -> bool {
        self.strictest_host() == Permission::Allow
    }

    /// Returns the permission of the host with the strictest rule.
    pub fn strictest_host(&self) -> Permission {
        self.layers().map(|layer| layer.hosts.strictest()).max().unwrap_or(Permission::Allow)
    }

    /// Returns the folders that rules name and that are not denied, outermost first.
    pub fn folders(&self) -> Vec<&str> {
        let open =
            |of: &&str| self.permission_for(&Need::Files { folder: (*of).to_owned() }) != Permission::Deny;
        self.named_folders().into_iter().filter(open).collect()
    }

    /// Returns whether rules distinguish parts of a folder.
    pub fn divides(&self, folder: &Path) -> bool {
        self.named_folders().iter().filter(|of| Path::new(of).starts_with(folder)).count() > 1
    }

    fn named_folders(&self) -> BTreeSet<&str> {
        self.layers().flat_map(|layer| &layer.files.rules).map(|rule| rule.of.as_str()).collect()
    }
}

#[cfg(test)]
mod tests;
