//! The teams a person belongs to on this machine. Each has a folder of its own in the person's data directory, with a
//! replica of the team's library that is opened like any other.
//!
//! | module | contents |
//! |---|---|
//! | `activity` | what happened in an open replica, and what its member is told of |
//! | `embedding` | how the cards of a replica are embedded |
//! | [`folder`] | where the replicas are, and what is noted beside each |
//! | [`others`] | libraries that are open beside the one of this process |
//! | `invitation` | invitations as links |
//! | [`teams`] | creating, joining and leaving teams |
//! | `sharing` | who sees the cards of an open replica, and the audit log |
//! | `server` | what whoever runs the server does: export, import, upgrade |
//! | [`replica`] | an open replica: in step with the team, its members |

mod activity;
mod embedding;
pub mod folder;
mod invitation;
pub mod others;
pub mod replica;
mod server;
mod sharing;
pub mod teams;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
