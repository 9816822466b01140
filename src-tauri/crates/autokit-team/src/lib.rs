//! A library that several people share.
//!
//! The server is SurrealDB's own, without code of ours: the tables, permissions and events in `schema.surql` decide who
//! sees and changes what. A member signs in with a record of the table `member`, so that the same rules hold for this
//! crate, for statements of the member's own, and for live queries. An embedded database takes the place of a server in
//! tests, and where one is moved.

mod access;
mod cards;
mod connection;
mod cursor;
mod error;
mod export;
mod filter;
mod hidden;
mod listing;
mod live;
mod members;
mod owner;
mod proposals;
mod request;
mod schema;
mod session;
mod upgrade;
mod vectors;

pub use access::{CardKey, GroupKey, MemberKey, ProposalKey, Role, Visibility};
pub use cards::{CardFeed, Changes, SharedCard};
pub use connection::{Address, Connection, Credentials};
pub use cursor::Cursor;
pub use error::{Code, Result, TeamError};
pub use filter::CardFilter;
pub use hidden::Hidden;
pub use live::Changed;
pub use members::{AuditEntry, Group, Member};
pub use owner::{INVITATION_LIFETIME, Invitation, Lifetimes, Owner};
pub use proposals::{Comment, Given, ProposalChanges, ProposalFeed, SharedProposal};
pub use request::{Approval, CardWrite, NewProposal, Request, Step, Written};
pub use schema::MAX_TEXT;
pub use session::{MemberAccess, Session};
pub use vectors::CardVectors;

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;
