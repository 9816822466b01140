//! The teams a person belongs to on this machine. Each has a folder of its own in the person's data directory, with a
//! replica of the team's library that is opened like any other.
//!
//! | module | contents |
//! |---|---|
//! | [`folder`] | where the replicas are, and what is noted beside each |
//! | `invitation` | invitations as links |
//! | [`teams`] | creating, joining and leaving teams |
//! | [`replica`] | an open replica: in step with the team, its members |

pub mod folder;
mod invitation;
pub mod replica;
pub mod teams;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
