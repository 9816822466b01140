//! Where a team's database is, for one test.

use anyhow::Result;
use autokit_team::{Address, Connection, Credentials, INVITATION_LIFETIME, Owner, Role, Session};
use tempfile::TempDir;

/// A database with a team of its own.
pub(crate) struct Place {
    pub(crate) connection: Connection,
    pub(crate) owner: Owner,
    _folder: TempDir,
}

pub(crate) fn credentials() -> Credentials {
    Credentials { user: "root".to_owned(), password: "of the server".to_owned() }
}

impl Place {
    pub(crate) async fn in_memory() -> Result<Place> {
        Place::at(Address::Memory, tempfile::tempdir()?).await
    }

    pub(crate) async fn in_folder() -> Result<Place> {
        let folder = tempfile::tempdir()?;
        Place::at(Address::Folder(folder.path().join("team")), folder).await
    }

    async fn at(address: Address, folder: TempDir) -> Result<Place> {
        let connection = Connection::open(&address, Some(&credentials())).await?;
        let owner = Owner::sign_in(&connection, &credentials(), "kitchen").await?;
        owner.create("The kitchen").await?;
        Ok(Place { connection, owner, _folder: folder })
    }

    /// Adds a member of this name, with the name as the password.
    pub(crate) async fn member(&self, name: &str, role: Role) -> Result<Session> {
        let invitation = self.owner.invite(role, &[], INVITATION_LIFETIME).await?;
        Ok(Session::join(&self.connection, &invitation, name, name).await?)
    }
}
