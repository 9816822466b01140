//! Connections to a team's database: embedded, or a server's.

use std::path::PathBuf;

use surrealdb::Surreal;
use surrealdb::engine::any::Any;
use surrealdb::opt::Config;
use surrealdb::opt::auth::Root;

use crate::error::{Code, Result, TeamError};

/// Namespace of the databases of teams.
pub(crate) const NAMESPACE: &str = "autokit";

/// Where the databases of teams are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// In this process's memory.
    Memory,
    /// In a folder, which this process opens alone.
    Folder(PathBuf),
    /// At a server with this URL: `ws://` or `wss://`.
    Server(String),
}

/// Whoever runs the server: may create teams, and everything in them.
#[derive(Clone)]
pub struct Credentials {
    /// Name of the server's own user.
    pub user: String,
    /// Its password.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Credentials {
    pub(crate) fn root(&self) -> Root {
        Root { username: self.user.clone(), password: self.password.clone() }
    }
}

/// A connection that nobody has signed in to; each session is a copy of it with rights of its own.
#[derive(Clone, Debug)]
pub struct Connection {
    db: Surreal<Any>,
}

impl Connection {
    /// Opens an embedded database, whose owner has these credentials from the first time on, or connects to a server.
    ///
    /// # Errors
    /// `Invalid` for an address that cannot be used; `Unreachable` when nobody answers.
    pub async fn open(address: &Address, owner: Option<&Credentials>) -> Result<Connection> {
        let mut config = Config::new();
        if let (Some(owner), Address::Memory | Address::Folder(_)) = (owner, address) {
            config = config.user(owner.root());
        }
        let url = match address {
            Address::Memory => "memory".to_owned(),
            Address::Folder(folder) => match folder.to_str().filter(|text| !text.contains('?')) {
                // Every commit is synced, so that an acknowledged change survives a power failure.
                Some(text) => format!("surrealkv://{text}?sync=every"),
                None => return Err(TeamError::new(Code::Invalid, "the path has `?` or is not UTF-8")),
            },
            Address::Server(url) if url.starts_with("ws://") || url.starts_with("wss://") => url.clone(),
            Address::Server(url) => {
                return Err(TeamError::new(Code::Invalid, format!("{url:?} is neither ws:// nor wss://")));
            }
        };
        let db = surrealdb::engine::any::connect((url, config)).await?;
        Ok(Connection { db })
    }

    /// Returns a session of its own.
    pub(crate) fn session(&self) -> Surreal<Any> {
        self.db.clone()
    }
}
