//! What the rules for everybody and those of a profile come to together.
//!
//! Rules are inherited when a call is decided on and never copied, so that a rule for everybody that is new
//! binds every profile at once:
//!
//! * what is denied for everybody is denied;
//! * a profile may always be stricter than everybody;
//! * it may loosen what everybody is asked for only where that is marked as overridable, or where nobody
//!   said anything and AutoKit's own default holds, and only by a rule that names the thing as exactly.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::{Need, Permission, Permissions, Said};

/// What holds for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The strictest permission.
    pub permission: Permission,
    /// What it is about: everything that has this permission, unless it is [`Permission::Allow`].
    pub because: Vec<Need>,
}

/// The rules that hold for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    everybody: Arc<Permissions>,
    /// The rules of each profile the agent is bound by; none stands for no rules of its own. All of them have
    /// to agree: the strictest holds.
    profiles: Vec<Option<Arc<Permissions>>>,
}

impl Policy {
    /// The rules for everybody.
    pub fn everybody(everybody: Arc<Permissions>) -> Policy {
        Policy { everybody, profiles: vec![None] }
    }

    /// The rules of a profile.
    pub fn of_profile(everybody: Arc<Permissions>, profile: Arc<Permissions>) -> Policy {
        Policy { everybody, profiles: vec![Some(profile)] }
    }

    /// The same for an agent that asked to be bound by another profile as well.
    #[must_use]
    pub fn narrowed_by(mut self, profile: Arc<Permissions>) -> Policy {
        self.profiles.push(Some(profile));
        self
    }

    fn layers(&self) -> impl Iterator<Item = &Permissions> {
        std::iter::once(&*self.everybody).chain(self.profiles.iter().flatten().map(|profile| &**profile))
    }

    /// Decides on one thing.
    pub fn on(&self, need: &Need) -> Permission {
        let built_in = Said { exactness: 0, permission: need.built_in(), overridable: true };
        let common = match self.everybody.says(need) {
            // Whatever was said about it: a deny for everybody is final.
            Some(said) if said.permission == Permission::Deny => return Permission::Deny,
            Some(said) => said,
            None => built_in,
        };
        let inherited = |profile: &Option<Arc<Permissions>>| {
            let Some(own) = profile.as_ref().and_then(|profile| profile.says(need)) else {
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

    /// Decides on all a call needs.
    pub fn decide(&self, needs: &[Need]) -> Decision {
        let permission = needs.iter().map(|need| self.on(need)).max().unwrap_or(Permission::Allow);
        let because = match permission {
            Permission::Allow => Vec::new(),
            strict => needs.iter().filter(|need| self.on(need) == strict).cloned().collect(),
        };
        Decision { permission, because }
    }

    /// Whether some tool may be denied.
    pub fn denies_tools(&self) -> bool {
        self.layers().any(|layer| layer.tools.denies())
    }

    /// Whether every host may be reached without a question.
    pub fn reaches_all_hosts(&self) -> bool {
        self.layers().all(|layer| layer.hosts.strictest() == Permission::Allow)
    }

    /// The folders that rules name and that are not denied, outermost first.
    pub fn folders(&self) -> Vec<&str> {
        let open = |of: &&str| self.on(&Need::Files { folder: (*of).to_owned() }) != Permission::Deny;
        self.named_folders().into_iter().filter(open).collect()
    }

    /// Whether rules tell parts of a folder apart.
    pub fn divides(&self, folder: &Path) -> bool {
        self.named_folders().iter().filter(|of| Path::new(of).starts_with(folder)).count() > 1
    }

    fn named_folders(&self) -> BTreeSet<&str> {
        self.layers().flat_map(|layer| &layer.files.rules).map(|rule| rule.of.as_str()).collect()
    }
}

#[cfg(test)]
mod tests;
