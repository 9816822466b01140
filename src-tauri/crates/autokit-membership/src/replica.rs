//! An open replica of a team's library: kept in step with it, and the members of the team.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use autokit_api::commands::{
    ChangeMember, Context, GetTeam, GetTeamCards, GetTeamPolicy, Handle, InviteMember, ListMembers,
    SetTeamCards, SetTeamPolicy, SyncTeam,
};
use autokit_api::{
    Event, Nothing, TeamCards, TeamEntry, TeamInvitation, TeamInvite, TeamKept, TeamMember, TeamMemberChange,
    TeamMembers, TeamPolicy, TeamRole, TeamState,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_sync::{Follower, Following, Membership, Report, State};
use autokit_team::{CardFilter, Group, GroupKey, Member, Role, Session};
use autokit_toolcard::Risk;
use autokit_workspace::models::Models;
use autokit_workspace::options::EngineOptions;
use autokit_workspace::secrets::{Secret, Secrets};
use autokit_workspace::workspace::Workspace;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex, Notify};

use crate::embedding::CurrentModel;
use crate::folder::{self, TeamFile};
use crate::invitation;

/// Longest that an invitation can be used, in days.
const MOST_DAYS: u32 = 365;
/// How long an open session may take to answer before another one is opened.
const ANSWER: Duration = Duration::from_secs(5);
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// The team whose library is open; nothing for a person's own library.
#[derive(Clone, Debug)]
pub struct TeamReplica {
    pub(crate) workspace: Workspace,
    models: Models,
    config_dir: Arc<PathBuf>,
    team: Option<Arc<(TeamEntry, TeamFile)>>,
    /// What a process that stays follows.
    following: Arc<OnceLock<Following>>,
    pub(crate) changed: Arc<Notify>,
    /// One synchronization at a time, of a process that does not follow.
    syncing: Arc<Mutex<()>>,
    /// What administrators and members ask the server for apart from synchronizing.
    session: Arc<Mutex<Option<Session>>>,
}

impl TeamReplica {
    /// Finds out which team's library is open.
    ///
    /// # Errors
    /// If the file that says so cannot be read.
    pub fn new(workspace: Workspace, models: Models, options: &EngineOptions) -> Result<TeamReplica> {
        let folder = workspace.library.dir().map(|dir| dir.root().to_owned());
        let team = match &folder {
            Some(folder) => folder::read(folder)?.map(|file| Arc::new((file.entry(folder), file))),
            None => None,
        };
        Ok(TeamReplica {
            workspace,
            models,
            config_dir: Arc::new(options.config_dir.clone()),
            team,
            following: Arc::default(),
            changed: Arc::default(),
            syncing: Arc::default(),
            session: Arc::default(),
        })
    }

    /// Keeps the library in step from now on, if it is a team's.
    pub fn start(&self) {
        if self.team.is_none() {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = this.follow() => {}
                () = this.workspace.wait_for_shutdown() => {}
            }
        });
    }

    async fn follow(&self) {
        let membership = match self.membership().await {
            Ok(membership) => membership,
            Err(error) => {
                tracing::warn!(%error, "the team's library is not kept in step");
                return;
            }
        };
        let (library, clock) = (Arc::clone(&self.workspace.library), self.workspace.clock.clone());
        let follower = Follower::new(library, membership, clock, Arc::clone(&self.changed))
            .with_embedding(Arc::new(CurrentModel(self.models.clone())));
        let mut state = follower.state();
        self.following.get_or_init(|| follower.following());
        let publish = async {
            let mut before = State::default();
            while state.changed().await.is_ok() {
                let now = state.borrow_and_update().clone();
                self.publish(&before, &now).await;
                before = now;
            }
        };
        tokio::join!(follower.run(), publish, self.notice_changes());
    }

    /// Tells who shows the library what arrived.
    async fn publish(&self, before: &State, now: &State) {
        let (was, is) = (&before.total, &now.total);
        let counts = |report: &Report| (report.received, report.purged, report.conflicts, report.proposals);
        let has_changed = counts(was) != counts(is);
        // Whoever was removed learns it as an error, and has no cards left.
        if has_changed || before.error != now.error {
            self.workspace.notify_library_changed();
            if let Err(error) = self.workspace.notify_proposals_changed().await {
                tracing::warn!(%error, "failed to count the proposals");
            }
        }
        for notice in now.total.notices.iter().skip(was.notices.len()) {
            let notice = self.notice(notice).await;
            self.workspace.publish(Event::TeamNotice { notice });
        }
        self.workspace.publish(Event::Team);
    }

    /// Wakes the follower when a card or a proposal changes here, or cards were embedded.
    async fn notice_changes(&self) {
        let mut events = self.workspace.events().subscribe();
        loop {
            match events.recv().await {
                Ok(Event::Library { .. } | Event::Proposals { .. } | Event::Model { .. })
                | Err(RecvError::Lagged(_)) => {
                    self.changed.notify_one();
                }
                Ok(_) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    pub(crate) fn team(&self) -> Result<&(TeamEntry, TeamFile)> {
        self.team.as_deref().ok_or_else(|| {
            let message = "this library is not a team's";
            ApiError::new(ErrorCode::NotFound, message, "Open the library of a team.")
        })
    }

    async fn membership(&self) -> Result<Membership> {
        self.team()?.1.membership(&self.config_dir).await?.ok_or_else(|| {
            ApiError::new(
                ErrorCode::Unauthorized,
                "the password for the team is not on this machine",
                "Join again with an invitation link and the same name and password.",
            )
        })
    }

    /// Returns a session at the team's server: the one that is open, unless it expired or the server is gone.
    pub(crate) async fn session(&self) -> Result<Session> {
        let mut session = self.session.lock().await;
        if let Some(open) = session.as_ref() {
            let answer = tokio::time::timeout(ANSWER, open.access()).await;
            if answer.is_ok_and(|access| access.is_ok()) {
                return Ok(open.clone());
            }
        }
        Ok(session.insert(self.membership().await?.sign_in().await?).clone())
    }

    async fn state(&self) -> Result<Option<TeamState>> {
        let Some(team) = self.team.as_deref() else { return Ok(None) };
        if let Some(following) = self.following.get() {
            let state = following.state().borrow().clone();
            return Ok(Some(self.to_api(&team.0, &state).await?));
        }
        // A process that does not stay asks whether the team answers.
        let answered = match self.membership().await {
            Ok(membership) => membership.sign_in().await.map(drop).map_err(ApiError::from),
            Err(error) => Err(error),
        };
        let is_connected = answered.is_ok();
        let state = State {
            is_connected,
            error: match answered {
                Ok(()) => autokit_sync::problem(&self.workspace.library).await?,
                Err(error) => Some(error.message),
            },
            synced_at: autokit_sync::synced_at(&self.workspace.library).await?,
            unsent: autokit_sync::unsent(&self.workspace.library).await?.len(),
            ..State::default()
        };
        Ok(Some(self.to_api(&team.0, &state).await?))
    }

    async fn to_api(&self, team: &TeamEntry, state: &State) -> Result<TeamState> {
        let mut notices = Vec::with_capacity(state.total.notices.len());
        for notice in &state.total.notices {
            notices.push(self.notice(notice).await);
        }
        Ok(TeamState {
            team: team.clone(),
            is_connected: state.is_connected,
            error: state.error.clone(),
            synced_at: state.synced_at,
            unsent: state.unsent as u32,
            received: state.total.received as u32,
            sent: state.total.sent as u32,
            conflicts: state.total.conflicts as u32,
            invalid: state.total.invalid as u32,
            notices,
            left_out: state.total.left_out as u32,
            kept: self.kept().await?,
        })
    }

    async fn kept(&self) -> Result<TeamKept> {
        let library = &self.workspace.library;
        let chosen = autokit_sync::filter(library).await?;
        let part = autokit_sync::part(library).await?;
        let is_applied = part.filter == chosen;
        let CardFilter { providers, kinds, tags } = chosen;
        Ok(TeamKept {
            cards: TeamCards { providers, kinds, tags },
            is_applied,
            is_incomplete: part.is_incomplete,
            limit: autokit_sync::MAX_CARDS as u32,
        })
    }
}

pub(crate) fn role_from(role: TeamRole) -> Role {
    match role {
        TeamRole::Reader => Role::Reader,
        TeamRole::Contributor => Role::Contributor,
        TeamRole::Reviewer => Role::Reviewer,
        TeamRole::Admin => Role::Admin,
    }
}

pub(crate) fn role_of(role: Role) -> TeamRole {
    match role {
        Role::Reader => TeamRole::Reader,
        Role::Contributor => TeamRole::Contributor,
        Role::Reviewer => TeamRole::Reviewer,
        Role::Admin => TeamRole::Admin,
    }
}

/// Returns the groups of these names; those that do not exist are created.
async fn groups_named(session: &Session, names: &[String]) -> Result<Vec<GroupKey>> {
    let known = session.groups().await?;
    let mut keys = Vec::with_capacity(names.len());
    for name in names {
        keys.push(match known.iter().find(|group| group.name == *name) {
            Some(group) => group.key.clone(),
            None => session.create_group(name).await?.key,
        });
    }
    Ok(keys)
}

async fn members(session: &Session) -> Result<TeamMembers> {
    let groups: Vec<Group> = session.groups().await?;
    let name_of =
        |key: &GroupKey| groups.iter().find(|group| group.key == *key).map(|group| group.name.clone());
    let member = |member: Member| TeamMember {
        is_self: member.key == *session.member(),
        groups: member.groups.iter().filter_map(name_of).collect(),
        name: member.name,
        role: role_of(member.role),
        active: member.active,
    };
    let members = session.members().await?.into_iter().map(member).collect();
    Ok(TeamMembers { members, groups: groups.iter().map(|group| group.name.clone()).collect() })
}

#[async_trait]
impl Handle<GetTeam> for TeamReplica {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Option<TeamState>> {
        self.state().await
    }
}

#[async_trait]
impl Handle<SyncTeam> for TeamReplica {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<TeamState> {
        let (entry, _) = self.team()?;
        let Some(following) = self.following.get() else {
            let _syncing = self.syncing.lock().await;
            let membership = self.membership().await?;
            let embedding = Arc::new(CurrentModel(self.models.clone()));
            let mut sync = membership.sync_of(&self.workspace.library, Some(embedding)).await?;
            let total = sync.sync().await?;
            let now = self.workspace.clock.stamp();
            sync.note_synced(now).await?;
            let state = State {
                is_connected: true,
                error: sync.problem(),
                synced_at: Some(now),
                unsent: autokit_sync::unsent(&self.workspace.library).await?.len(),
                total,
                ..State::default()
            };
            self.publish(&State::default(), &state).await;
            return self.to_api(entry, &state).await;
        };
        let state = following.next_round().await;
        match state.error.clone().filter(|_| !state.is_connected) {
            Some(error) => {
                let remedy =
                    "Check the address and your connection. Changes are kept until the server answers.";
                Err(ApiError::new(ErrorCode::NoConnection, error, remedy))
            }
            None => self.to_api(entry, &state).await,
        }
    }
}

#[async_trait]
impl Handle<ListMembers> for TeamReplica {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<TeamMembers> {
        members(&self.session().await?).await
    }
}

#[async_trait]
impl Handle<InviteMember> for TeamReplica {
    async fn handle(&self, _: &Context, request: TeamInvite) -> Result<TeamInvitation> {
        if !(1..=MOST_DAYS).contains(&request.days) {
            let message = format!("an invitation can be used for 1 to {MOST_DAYS} days");
            return Err(ApiError::new(ErrorCode::Invalid, message, "Choose another number of days."));
        }
        let session = self.session().await?;
        let groups = groups_named(&session, &request.groups).await?;
        let lifetime = Duration::from_secs(u64::from(request.days) * SECONDS_PER_DAY);
        let invitation = session.invite(role_from(request.role), &groups, lifetime).await?;
        Ok(TeamInvitation {
            link: invitation::link(&self.team()?.1.server, &invitation),
            expires: (self.workspace.clock.now() + lifetime).into(),
        })
    }
}

#[async_trait]
impl Handle<ChangeMember> for TeamReplica {
    async fn handle(&self, _: &Context, request: TeamMemberChange) -> Result<TeamMembers> {
        let session = self.session().await?;
        let known = session.members().await?;
        let Some(member) = known.into_iter().find(|member| member.name == request.name) else {
            let message = format!("there is no member {:?}", request.name);
            return Err(ApiError::new(ErrorCode::NotFound, message, "Check the list of members."));
        };
        if let Some(groups) = &request.groups {
            let groups = groups_named(&session, groups).await?;
            session.set_groups(&member.key, &groups).await?;
        }
        if let Some(role) = request.role {
            session.set_role(&member.key, role_from(role)).await?;
        }
        if let Some(active) = request.active {
            session.set_active(&member.key, active).await?;
        }
        if let Some(password) = &request.password {
            session.set_password(&member.key, password).await?;
            if member.key == *session.member() {
                // Whoever opens this library next signs in with it.
                let file = &self.team()?.1;
                let secrets = Secrets::open(file.keys, &self.config_dir);
                secrets.set(&file.secret(), Secret::new(password.clone())).await?;
            }
        }
        members(&session).await
    }
}

fn policy_of(approvals: &BTreeMap<String, u32>) -> TeamPolicy {
    let of = |risk: Risk| approvals.get(risk.as_str()).copied().unwrap_or(1);
    TeamPolicy { low: of(Risk::Low), medium: of(Risk::Medium), high: of(Risk::High) }
}

#[async_trait]
impl Handle<GetTeamPolicy> for TeamReplica {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<TeamPolicy> {
        Ok(policy_of(&self.session().await?.access().await?.approvals))
    }
}

#[async_trait]
impl Handle<SetTeamCards> for TeamReplica {
    async fn handle(&self, _: &Context, request: TeamCards) -> Result<TeamKept> {
        self.team()?;
        let TeamCards { providers, kinds, tags } = request;
        if providers.iter().chain(&tags).any(|name| name.trim().is_empty()) {
            let message = "the name of a provider or tag is empty";
            return Err(ApiError::new(ErrorCode::BadRequest, message, "Leave it out to keep all cards."));
        }
        let filter = CardFilter { providers, kinds, tags };
        autokit_sync::set_filter(&self.workspace.library, &filter).await?;
        self.changed.notify_one();
        self.kept().await
    }
}

#[async_trait]
impl Handle<GetTeamCards> for TeamReplica {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<TeamKept> {
        self.team()?;
        self.kept().await
    }
}

#[async_trait]
impl Handle<SetTeamPolicy> for TeamReplica {
    async fn handle(&self, _: &Context, request: TeamPolicy) -> Result<TeamPolicy> {
        let session = self.session().await?;
        let before = policy_of(&session.access().await?.approvals);
        let changed = [
            (Risk::Low, before.low, request.low),
            (Risk::Medium, before.medium, request.medium),
            (Risk::High, before.high, request.high),
        ];
        for (risk, _, approvals) in changed.into_iter().filter(|(_, before, approvals)| before != approvals) {
            session.set_policy(risk.as_str(), approvals).await?;
        }
        self.changed.notify_one();
        Ok(policy_of(&session.access().await?.approvals))
    }
}
