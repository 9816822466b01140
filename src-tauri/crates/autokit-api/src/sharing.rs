//! Who sees the cards of a team, and what its administrators do at its server.

use std::fmt;

use autokit_toolcard::{CardId, ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::team::TeamRole;

/// Who sees a card of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum CardVisibility {
    /// Whoever can read the team's library.
    Everyone,
    /// All members.
    Team,
    /// Members of a role or a higher one.
    Role(TeamRole),
    /// Members of the group with this name.
    Group(String),
    /// The member with this name.
    Person(String),
}

/// Who sees a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CardSharing {
    /// At the team; `None` for a card that it does not have yet.
    pub visible_to: Option<CardVisibility>,
    /// Once that was sent; `None` if nothing is to be sent.
    pub wanted: Option<CardVisibility>,
}

/// Request to change who sees cards.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ShareCards {
    /// Card ids, or exact names that no other card has.
    pub cards: Vec<String>,
    /// Who sees them from now on, among whom is this member.
    pub visible_to: CardVisibility,
}

/// Request to choose who sees cards that are added on this machine.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct NewCards {
    /// Who sees them.
    pub visible_to: CardVisibility,
}

/// A member who can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DirectoryMember {
    /// The name they sign in with.
    pub name: String,
    /// What they may do.
    pub role: TeamRole,
}

/// Who can be chosen in a team, as last read from its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamDirectory {
    /// Name of this member.
    pub self_name: String,
    /// Members who can sign in, by name.
    pub members: Vec<DirectoryMember>,
    /// Names of one's own groups.
    pub groups: Vec<String>,
    /// Whether this member may change who sees a card.
    pub may_share: bool,
    /// Who sees cards that are added on this machine.
    pub new_cards: CardVisibility,
}

/// Request for the audit log of a team.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct TeamAuditRequest {
    /// Most entries to return, the newest: 1 to 10,000.
    pub limit: u32,
}

/// Something that was done in a team: a sign-in, a grant or a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamAuditEntry {
    /// When.
    pub at: Timestamp,
    /// Name of the member who did it; `None` for whoever runs the server.
    pub by: Option<String>,
    /// What was done: `joined`, `signed_in`, `invited`, `role`, `groups`, `removed`, `restored`, `password`, `policy`,
    /// `shared`, `accepted`, `rejected`, `exported`, `imported`, `upgraded`.
    pub what: String,
    /// To whom or what: a member, a role, a risk, a card.
    pub about: String,
}

/// What a member is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TeamNoticeKind {
    /// Somebody asks them to review a proposal.
    Assigned,
    /// A comment has their name after an `@`.
    Mentioned,
}

/// Something that a member is told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamNotice {
    /// What it is.
    pub kind: TeamNoticeKind,
    /// The proposal that it is about.
    pub proposal: ProposalId,
    /// Name of the card that it is about.
    pub card: String,
    /// Who did it, if that is known.
    pub by: Option<String>,
    /// The comment, or why the change was proposed.
    pub text: String,
}

/// Request for what happened in the library lately.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct TeamActivityRequest {
    /// Most entries to return, the newest: 1 to 1,000.
    pub limit: u32,
}

/// Something that happened in the library: a card was written, or something was done about a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamActivityEntry {
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub by: String,
    /// What was done: an operation on a card, such as `create`, `edit`, `accept`, `delete`; or about a proposal: `proposed`,
    /// `commented`, `approved`, `rejected`, `withdrawn`, `assigned`.
    pub what: String,
    /// Name of the card.
    pub card: String,
    /// Its id, if it exists.
    pub card_id: Option<CardId>,
    /// The proposal.
    pub proposal: Option<ProposalId>,
    /// The reason, or the comment.
    pub text: String,
}

/// A team's database at a server, and whoever runs that.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct TeamServer {
    /// URL of the server: `ws://` or `wss://`.
    pub server: String,
    /// Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
    #[serde(default)]
    pub authorities: Option<String>,
    /// Name of the server's own user.
    pub owner: String,
    /// Its password. It is used once and not stored.
    pub owner_password: String,
    /// Identifies the team.
    pub id: String,
}

/// Request to export a team to a file, or to make one of such a file.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamFileRequest {
    /// The team.
    pub team: TeamServer,
    /// Path of the file.
    pub path: String,
}

/// A team that was exported or imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TeamFileOutcome {
    /// Path of the file.
    pub path: String,
    /// Number of rows in it.
    #[ts(type = "number")]
    pub rows: u64,
}

/// Request to bring the tables of a team up to date and to make new keys for signing tokens.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamUpgrade {
    /// The team.
    pub team: TeamServer,
    /// Hours for which a token is valid, 1 to 720; as before if absent.
    #[serde(default)]
    pub token_hours: Option<u16>,
    /// Hours after which an open connection has to sign in again, 1 to 720; as before if absent.
    #[serde(default)]
    pub session_hours: Option<u16>,
}

/// Request to use a team at another address from now on.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TeamMove {
    /// The team on this machine.
    pub id: String,
    /// URL of its server: `ws://` or `wss://`.
    pub server: String,
    /// Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
    #[serde(default)]
    pub authorities: Option<String>,
}

impl fmt::Debug for TeamServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamServer")
            .field("server", &self.server)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
