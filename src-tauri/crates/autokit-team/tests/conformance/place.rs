//! Where a team's database is, for one test.

use anyhow::Result;
use autokit_team::{Address, Connection, Credentials, INVITATION_LIFETIME, Owner, Role, Session};
use autokit_test_server::{PASSWORD, Server, USER};
use tempfile::TempDir;

/// A database with a team of its own.
pub(crate) struct Place {
    pub(crate) connection: Connection,
    pub(crate) owner: Owner,
    // Ends before its folder goes.
    _server: Option<Server>,
    _folder: TempDir,
}

pub(crate) fn credentials() -> Credentials {
    Credentials { user: USER.to_owned(), password: PASSWORD.to_owned() }
}

impl Place {
    pub(crate) async fn in_memory() -> Result<Place> {
        Place::at(Address::Memory, tempfile::tempdir()?, None).await
    }

    pub(crate) async fn in_folder() -> Result<Place> {
        let folder = tempfile::tempdir()?;
        Place::at(Address::Folder(folder.path().join("team")), folder, None).await
    }

    pub(crate) async fn at_server() -> Result<Place> {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let address = Address::Server { url: server.url(), authorities: None };
        Place::at(address, folder, Some(server)).await
    }

    async fn at(address: Address, folder: TempDir, server: Option<Server>) -> Result<Place> {
        let connection = Connection::open(&address, Some(&credentials())).await?;
        let owner = Owner::sign_in(&connection, &credentials(), "kitchen").await?;
        owner.create("The kitchen").await?;
        Ok(Place { connection, owner, _server: server, _folder: folder })
    }

    /// Adds a member of this name, with the name as the password.
    pub(crate) async fn member(&self, name: &str, role: Role) -> Result<Session> {
        let invitation = self.owner.invite(role, &[], INVITATION_LIFETIME).await?;
        Ok(Session::join(&self.connection, &invitation, name, name).await?)
    }
}
