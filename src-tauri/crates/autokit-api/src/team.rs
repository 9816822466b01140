//! Teams: joining and leaving them, their members, and how a replica of a team's library stands.

use std::fmt;

use autokit_toolcard::{Kind, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::sharing::TeamNotice;

/// What a member may do. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TeamRole {
    /// Finds and reads cards.
    Reader,
    /// Proposes changes.
    Contributor,
    /// Decides on proposals, and changes cards.
    Reviewer,
    /// Invites members, and gives roles and groups.
    Admin,
}

/// A team that this person belongs to on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamEntry {
    /// Identifies the team: its database on the server.
    pub id: String,
    /// Its name.
    pub name: String,
    /// URL of its server.
    pub server: String,
    /// The name under which this person is a member.
    pub member: String,
    /// Folder of the replica of its library.
    pub folder: String,
}

/// Request to create a team on a server.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct TeamCreate {
    /// URL of the server: `ws://` or `wss://`.
    pub server: String,
    /// Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
    #[serde(default)]
    pub authorities: Option<String>,
    /// Name of the server's own user.
    pub owner: String,
    /// Its password. It is used once and not stored.
    pub owner_password: String,
    /// Identifies the team: lower-case letters, digits and `_`.
    pub id: String,
    /// Name of the team.
    pub name: String,
    /// Name of its first administrator.
    pub member: String,
    /// Password of the first administrator.
    pub password: String,
}

/// Request to join a team.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct TeamJoin {
    /// The invitation, as a link.
    pub invitation: String,
    /// Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
    #[serde(default)]
    pub authorities: Option<String>,
    /// Name under which to become a member, or under which this person is one already.
    pub member: String,
    /// Password to sign in with.
    pub password: String,
}

/// Reference to a team on this machine.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamRef {
    /// Its id.
    pub id: String,
}

/// What a replica has that the team does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamUnsent {
    /// Number of cards with changes that were not sent.
    pub cards: u32,
}

/// How the replica of a team's library stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamState {
    /// The team.
    pub team: TeamEntry,
    /// Whether changes arrive as they happen.
    pub is_connected: bool,
    /// Why not, if it was tried; or else what is too large to be sent.
    pub error: Option<String>,
    /// When the replica and the team's library were the same last.
    pub synced_at: Option<Timestamp>,
    /// Number of cards with changes that the team does not have yet.
    pub unsent: u32,
    /// Cards of the team that were written since the library was opened.
    pub received: u32,
    /// Cards whose changes were sent since the library was opened.
    pub sent: u32,
    /// Edits that met another one, or that the role does not allow, since the library was opened: they wait in Review.
    pub conflicts: u32,
    /// Cards of the team that are not valid and were left out.
    pub invalid: u32,
    /// What this member was told of since the library was opened, oldest first.
    pub notices: Vec<TeamNotice>,
    /// Cards that were left out since the library was opened: not chosen, or beyond the limit.
    pub left_out: u32,
    /// Which of the team's cards are kept on this machine.
    pub kept: TeamKept,
}

/// Which of the team's cards are kept on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamKept {
    /// What was chosen.
    pub cards: TeamCards,
    /// Whether the replica is made of that; if not, it is after the next synchronization.
    pub is_applied: bool,
    /// Whether cards that this member is allowed to see are not in the replica: not chosen, or beyond the limit.
    pub is_incomplete: bool,
    /// Most cards in a replica.
    pub limit: u32,
}

/// Which cards a replica is made of: those of any of these providers, kinds or tags, in capitals or not; all if none are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamCards {
    /// Providers.
    #[serde(default)]
    pub providers: Vec<String>,
    /// Kinds of tools.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamMember {
    /// The name they sign in with.
    pub name: String,
    /// What they may do.
    pub role: TeamRole,
    /// Names of their groups, as far as this person may know them.
    pub groups: Vec<String>,
    /// Whether they can sign in.
    pub active: bool,
    /// Whether it is this person.
    pub is_self: bool,
}

/// The members of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamMembers {
    /// The members, by name.
    pub members: Vec<TeamMember>,
    /// Names of the groups: all for administrators, one's own for others.
    pub groups: Vec<String>,
}

/// Request for an invitation.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamInvite {
    /// What the new member may do.
    pub role: TeamRole,
    /// Groups they belong to from the beginning; those that do not exist are created.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Days for which it can be used.
    pub days: u32,
}

/// An invitation, which can be used once.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct TeamInvitation {
    /// The link that whoever is invited opens.
    pub link: String,
    /// Until when it can be used.
    pub expires: Timestamp,
}

/// Request to change a member. What is absent stays as it is.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct TeamMemberChange {
    /// The member's name.
    pub name: String,
    /// Their new role.
    #[serde(default)]
    pub role: Option<TeamRole>,
    /// All their groups from now on; those that do not exist are created.
    #[serde(default)]
    pub groups: Option<Vec<String>>,
    /// Whether they can sign in from now on.
    #[serde(default)]
    pub active: Option<bool>,
    /// Their new password.
    #[serde(default)]
    pub password: Option<String>,
}

/// How many reviewers have to accept a change, by its risk. Where more than one has to for any risk, changes are proposed,
/// and nobody accepts what they proposed themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamPolicy {
    /// For a low risk: 1 to 9.
    pub low: u32,
    /// For a medium risk: 1 to 9.
    pub medium: u32,
    /// For a high risk: 1 to 9.
    pub high: u32,
}

// None of these shows its secrets in a log.
impl fmt::Debug for TeamCreate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamCreate")
            .field("server", &self.server)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TeamJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamJoin").field("member", &self.member).finish_non_exhaustive()
    }
}

impl fmt::Debug for TeamInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamInvitation").field("expires", &self.expires).finish_non_exhaustive()
    }
}

impl fmt::Debug for TeamMemberChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamMemberChange")
            .field("name", &self.name)
            .field("role", &self.role)
            .field("groups", &self.groups)
            .field("active", &self.active)
            .finish_non_exhaustive()
    }
}
