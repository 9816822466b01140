//! Creating, joining and leaving teams.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{
    Context, CountUnsent, CreateTeam, Handle, JoinTeam, LeaveTeam, ListTeams, MoveTeam,
};
use autokit_api::{Nothing, TeamCreate, TeamEntry, TeamJoin, TeamMove, TeamRef, TeamUnsent};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{DataDir, Library, LibraryError, Ownership, Storage};
use autokit_team::{Address, Code, Connection, Credentials, INVITATION_LIFETIME, Owner, Role, Session};
use autokit_workspace::options::EngineOptions;
use autokit_workspace::providers::Providers;
use autokit_workspace::secrets::{Secret, Secrets};
use autokit_workspace::workspace::Workspace;

use crate::folder::{self, TeamFile};
use crate::invitation;
use crate::others::OtherLibraries;

/// Fewest characters of a password.
const SHORTEST_PASSWORD: usize = 8;

/// Owns the folder of a replica, so that nobody else has its library open.
fn own(folder: &Path) -> Result<Ownership> {
    DataDir::new(folder).try_own().map_err(|error| match ApiError::from(LibraryError::from(error)) {
        error if error.code == ErrorCode::OwnerUnreachable => ApiError::new(
            ErrorCode::Conflict,
            "the team's library is open",
            "Switch to another library, and close programs that use this one.",
        ),
        error => error,
    })
}

/// The teams of a person on this machine.
#[derive(Clone, Debug)]
pub struct Teams {
    workspace: Workspace,
    providers: Providers,
    config_dir: Arc<PathBuf>,
    others: Arc<dyn OtherLibraries>,
}

fn check(member: &str, password: &str) -> Result<()> {
    if member.trim().is_empty() {
        let message = "the name under which to become a member is empty";
        return Err(ApiError::new(ErrorCode::Invalid, message, "Enter a name."));
    }
    if password.chars().count() < SHORTEST_PASSWORD {
        let message = format!("the password has fewer than {SHORTEST_PASSWORD} characters");
        return Err(ApiError::new(ErrorCode::Invalid, message, "Choose a longer one."));
    }
    Ok(())
}

impl Teams {
    /// Manages the teams of the person whose library, or a replica, is open. `others` may have replicas open, too.
    pub fn new(
        workspace: Workspace,
        providers: Providers,
        options: &EngineOptions,
        others: Arc<dyn OtherLibraries>,
    ) -> Teams {
        Teams { workspace, providers, config_dir: Arc::new(options.config_dir.clone()), others }
    }

    fn data_dir(&self) -> Result<&DataDir> {
        self.workspace.library.dir().ok_or_else(|| {
            let message = "this library is in memory and has no folder for teams";
            ApiError::new(ErrorCode::Refused, message, "Open a library in a folder.")
        })
    }

    /// Makes the folder of the replica and stores the password.
    async fn keep(
        &self,
        session: &Session,
        address: &Address,
        member: &str,
        password: String,
    ) -> Result<TeamEntry> {
        let Address::Server { url, authorities } = address else {
            return Err(ApiError::internal("a team is at a server"));
        };
        let data_dir = self.data_dir()?.root();
        let secrets = self.providers.secrets();
        let file = TeamFile {
            name: session.team_name().await?,
            server: url.clone(),
            authorities: authorities.clone(),
            database: session.database().to_owned(),
            member: member.to_owned(),
            keys: secrets.storage(),
        };
        let same = folder::all(data_dir)?.into_iter().find(|(_, known)| {
            (&known.server, &known.database, &known.member) == (&file.server, &file.database, &file.member)
        });
        secrets.set(&file.secret(), Secret::new(password)).await?;
        match same {
            Some((entry, _)) => Ok(entry),
            None => folder::create(data_dir, &file),
        }
    }
}

#[async_trait]
impl Handle<ListTeams> for Teams {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<TeamEntry>> {
        Ok(folder::all(self.data_dir()?.root())?.into_iter().map(|(entry, _)| entry).collect())
    }
}

#[async_trait]
impl Handle<CreateTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamCreate) -> Result<TeamEntry> {
        check(&request.member, &request.password)?;
        self.data_dir()?;
        let address = Address::Server { url: request.server, authorities: request.authorities };
        let connection = Connection::open(&address, None).await?;
        let credentials = Credentials { user: request.owner, password: request.owner_password };
        let owner = Owner::sign_in(&connection, &credentials, &request.id).await?;
        owner.create(&request.name).await?;
        let invitation = owner.invite(Role::Admin, &[], INVITATION_LIFETIME).await?;
        let session = Session::join(&connection, &invitation, &request.member, &request.password).await?;
        self.keep(&session, &address, &request.member, request.password).await
    }
}

#[async_trait]
impl Handle<JoinTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamJoin) -> Result<TeamEntry> {
        check(&request.member, &request.password)?;
        self.data_dir()?;
        let (server, invitation) = invitation::read(&request.invitation)?;
        let address = Address::Server { url: server, authorities: request.authorities };
        let connection = Connection::open(&address, None).await?;
        let joined = Session::join(&connection, &invitation, &request.member, &request.password).await;
        let session = match joined {
            // Whoever is a member already signs in, such as on another machine.
            Err(error) if error.code == Code::Invitation => {
                let (database, member) = (&invitation.database, &request.member);
                Session::sign_in(&connection, database, member, &request.password).await.map_err(|_| error)?
            }
            joined => joined?,
        };
        self.keep(&session, &address, &request.member, request.password).await
    }
}

#[async_trait]
impl Handle<CountUnsent> for Teams {
    async fn handle(&self, _: &Context, request: TeamRef) -> Result<TeamUnsent> {
        let folder = folder::find(self.data_dir()?.root(), &request.id)?;
        let _closed = self.others.hold_closed(&folder).await?;
        let storage = Storage::Disk(own(&folder)?);
        let library = Box::pin(Library::open(storage, self.workspace.clock.clone())).await?;
        let unsent = autokit_sync::unsent(&library).await;
        library.close().await?;
        Ok(TeamUnsent { cards: unsent?.len() as u32 })
    }
}

#[async_trait]
impl Handle<MoveTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamMove) -> Result<TeamEntry> {
        let folder = folder::find(self.data_dir()?.root(), &request.id)?;
        let before = folder::read(&folder)?
            .ok_or_else(|| ApiError::internal("the folder of a team says which one it is"))?;
        let file = TeamFile { server: request.server, authorities: request.authorities, ..before.clone() };
        // Whoever has it open keeps in step with the old address.
        let _closed = self.others.hold_closed(&folder).await?;
        let owned = own(&folder)?;
        let secrets = Secrets::open(file.keys, &self.config_dir);
        let Some(password) = secrets.get(&before.secret()).await? else {
            return Err(ApiError::new(
                ErrorCode::Unauthorized,
                "the password for the team is not on this machine",
                "Join again with an invitation link and the same name and password.",
            ));
        };
        // Its cards are known by the keys of this team: another one's would be taken for them.
        let connection = Connection::open(&file.address(), None).await?;
        Session::sign_in(&connection, &file.database, &file.member, password.expose()).await?;
        if file.secret() == before.secret() {
            folder::write(&folder, &file)?;
        } else {
            secrets.set(&file.secret(), password).await?;
            folder::write(&folder, &file)?;
            secrets.remove(&before.secret()).await?;
        }
        drop(owned);
        Ok(file.entry(&folder))
    }
}

#[async_trait]
impl Handle<LeaveTeam> for Teams {
    async fn handle(&self, _: &Context, request: TeamRef) -> Result<TeamEntry> {
        let folder = folder::find(self.data_dir()?.root(), &request.id)?;
        let file = folder::read(&folder)?
            .ok_or_else(|| ApiError::internal("the folder of a team says which one it is"))?;
        // Whoever has it open would go on writing into what is gone.
        let _closed = self.others.hold_closed(&folder).await?;
        let owned = own(&folder)?;
        Secrets::open(file.keys, &self.config_dir).remove(&file.secret()).await?;
        folder::remove(&folder)?;
        drop(owned);
        Ok(file.entry(&folder))
    }
}
