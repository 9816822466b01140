//! Keeps a library in step with a team's.
//!
//! A replica is an ordinary library: it answers, is edited and reviewed without a connection. [`TeamSync::sync`] sends the
//! revisions that the team does not have yet and receives those that are not here. Where two people changed a card at
//! the same time, fields that only one of them changed are merged; of the others the team's value stands, and the
//! person's own becomes a proposal in Review, so that no edit is lost.
//!
//! | file | what it does |
//! |---|---|
//! | `sync.rs` | one round: what is forgotten, sent, received |
//! | `send.rs` | local changes as requests, each carried out once |
//! | `receive.rs` | the team's cards, merged with what is not sent yet |
//! | `follow.rs` | round after round, for as long as the library is open |
//! | `embedding.rs` | how the cards of a library are embedded |
//! | `vectors.rs` | vectors, computed once by whoever writes a card |
//! | `notices.rs` | what a member is told of: assignments and mentions |
//! | `sharing.rs` | who sees which cards, and the members and groups that can be chosen, as noted here |
//! | `visibility.rs` | the same, exchanged with the team |
//! | `proposals.rs`, `proposals/receive.rs` | proposals, decisions and comments, in both directions |
//! | `part.rs` | replicas of a part of the cards: by a filter, up to a limit |
//! | `position.rs` | up to where the team's library was read |

mod embedding;
mod error;
mod follow;
mod notices;
mod part;
mod position;
mod proposals;
mod receive;
mod send;
mod sharing;
mod sync;
mod vectors;
mod visibility;

pub use embedding::Embedding;
pub use error::{Result, SyncError};
pub use follow::{Follower, Following, Membership, State};
pub use notices::{Notice, NoticeKind};
pub use part::{Part, filter, part, set_filter};
pub use position::MAX_CARDS;
pub use send::{problem, unsent};
pub use sharing::{
    Directory, DirectoryGroup, DirectoryMember, Sharing, new_cards, set_new_cards, share, sharing,
};
pub use sync::{Report, SyncScope, TeamSync, forget_team, synced_at};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;
