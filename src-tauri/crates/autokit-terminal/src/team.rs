//! `autokit team`: a library that several people share.

use std::io::{self, Write};
use std::path::PathBuf;

use autokit_api::commands::{
    ChangeMember, CreateTeam, GetTeam, GetTeamPolicy, InviteMember, JoinTeam, LeaveTeam, ListMembers,
    ListTeams, SetTeamPolicy, SyncTeam,
};
use autokit_api::{
    Client, Nothing, TeamCreate, TeamEntry, TeamInvite, TeamJoin, TeamMember, TeamMemberChange, TeamPolicy,
    TeamRef, TeamRole, TeamState,
};
use autokit_error::{ApiError, ErrorCode};
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};
use crate::secret;

/// What a member may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArgument {
    /// Find and read cards.
    Reader,
    /// Also propose changes.
    Contributor,
    /// Also decide on proposals and change cards.
    Reviewer,
    /// Also invite members and give roles.
    Admin,
}

impl From<RoleArgument> for TeamRole {
    fn from(role: RoleArgument) -> TeamRole {
        match role {
            RoleArgument::Reader => TeamRole::Reader,
            RoleArgument::Contributor => TeamRole::Contributor,
            RoleArgument::Reviewer => TeamRole::Reviewer,
            RoleArgument::Admin => TeamRole::Admin,
        }
    }
}

/// `autokit team`.
#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// List your teams on this machine.
    List,
    /// Create a team on a SurrealDB server and become its first administrator. Asks for the server's password, then for
    /// yours.
    Create {
        /// Server URL: `wss://teams.example.org`.
        server: String,
        /// Team ID: lower-case letters, digits and `_`.
        id: String,
        /// Team name; defaults to the ID.
        #[arg(long)]
        name: Option<String>,
        /// Your name in the team.
        #[arg(long = "as", value_name = "NAME")]
        member: String,
        /// User of the server.
        #[arg(long, default_value = "root")]
        owner: String,
        /// PEM file with the only authorities trusted to name the server; defaults to those of the system.
        #[arg(long, value_name = "FILE")]
        authorities: Option<PathBuf>,
    },
    /// Join a team with an invitation link. Asks for your password.
    Join {
        /// Invitation link: `autokit://join?…`.
        link: String,
        /// Your name in the team.
        #[arg(long = "as", value_name = "NAME")]
        member: String,
        /// PEM file with the only authorities trusted to name the server; defaults to those of the system.
        #[arg(long, value_name = "FILE")]
        authorities: Option<PathBuf>,
    },
    /// Leave a team: delete its library and your password from this machine.
    Leave {
        /// Team ID.
        id: String,
        /// Leave although changes were not sent; they are lost.
        #[arg(long)]
        discard: bool,
    },
    /// Show the connection, what was not sent, and the last sync. Use with `--team`.
    Status,
    /// Send and receive changes now. Use with `--team`.
    Sync,
    /// List the members. Use with `--team`.
    Members,
    /// Make an invitation link, which can be used once. Use with `--team`.
    Invite {
        /// Role of the new member.
        #[arg(long, value_enum, default_value = "contributor")]
        role: RoleArgument,
        /// Group of the new member; can be repeated.
        #[arg(long = "group", value_name = "NAME")]
        groups: Vec<String>,
        /// Days for which the link works.
        #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=365))]
        days: u32,
    },
    /// Change a member's role or groups. Use with `--team`.
    Change {
        /// Member name.
        name: String,
        /// New role.
        #[arg(long, value_enum)]
        role: Option<RoleArgument>,
        /// Group; repeat for all groups from now on.
        #[arg(long = "group", value_name = "NAME", conflicts_with = "no_groups")]
        groups: Vec<String>,
        /// Remove from all groups.
        #[arg(long)]
        no_groups: bool,
    },
    /// Remove a member: they can no longer sign in. Use with `--team`.
    Remove {
        /// Member name.
        name: String,
    },
    /// Let a removed member sign in again. Use with `--team`.
    Restore {
        /// Member name.
        name: String,
    },
    /// Show or set how many reviewers have to accept a change, by its risk. Use with `--team`.
    Policy {
        /// Reviewers for a low risk.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=9))]
        low: Option<u32>,
        /// Reviewers for a medium risk.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=9))]
        medium: Option<u32>,
        /// Reviewers for a high risk.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=9))]
        high: Option<u32>,
    },
    /// Set a password: yours, or as an administrator that of another member. Asks for it. Use with `--team`.
    Password {
        /// Member name.
        name: String,
    },
}

impl TeamCommand {
    /// Returns the team to leave, and whether what was not sent may be lost.
    pub fn leaving(&self) -> Option<(&str, bool)> {
        match self {
            TeamCommand::Leave { id, discard } => Some((id, *discard)),
            _ => None,
        }
    }
}

fn read_authorities(file: Option<PathBuf>) -> Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let message = format!("{}: {error}", file.display());
        ApiError::new(ErrorCode::UnreadableFile, message, "Name a PEM file that you may read.")
    })?;
    Ok(Some(text))
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: TeamCommand) -> Result<Outcome> {
    let change =
        |name: String| TeamMemberChange { name, role: None, groups: None, active: None, password: None };
    match command {
        TeamCommand::List => {
            let teams = library.call::<ListTeams>(Nothing {}).await?;
            out.show(&teams, |text| {
                if teams.is_empty() {
                    return writeln!(text, "No teams yet. Join one with `autokit team join LINK --as NAME`");
                }
                teams.iter().try_for_each(|team| write_team(text, team))
            })?;
            Ok(if teams.is_empty() { Outcome::NothingFound } else { Outcome::Done })
        }
        TeamCommand::Create { server, id, name, member, owner, authorities } => {
            let request = TeamCreate {
                authorities: read_authorities(authorities)?,
                owner_password: secret::read(&format!("Password of {owner} on the server"))?,
                password: secret::read(&format!("New password for {member}"))?,
                name: name.unwrap_or_else(|| id.clone()),
                server,
                owner,
                id,
                member,
            };
            let team = library.call::<CreateTeam>(request).await?;
            show_joined(out, "Created", &team)
        }
        TeamCommand::Join { link, member, authorities } => {
            let request = TeamJoin {
                authorities: read_authorities(authorities)?,
                password: secret::read(&format!("Password for {member}"))?,
                invitation: link,
                member,
            };
            let team = library.call::<JoinTeam>(request).await?;
            show_joined(out, "Joined", &team)
        }
        TeamCommand::Leave { id, .. } => {
            let team = library.call::<LeaveTeam>(TeamRef { id }).await?;
            out.show(&team, |text| {
                writeln!(text, "Left {}. Its library is no longer on this machine.", printable(&team.name))
            })?;
            Ok(Outcome::Done)
        }
        TeamCommand::Policy { low, medium, high } => {
            let mut policy = library.call::<GetTeamPolicy>(Nothing {}).await?;
            if low.or(medium).or(high).is_some() {
                let wanted = TeamPolicy {
                    low: low.unwrap_or(policy.low),
                    medium: medium.unwrap_or(policy.medium),
                    high: high.unwrap_or(policy.high),
                };
                policy = library.call::<SetTeamPolicy>(wanted).await?;
            }
            out.show(&policy, |text| {
                let needed = |number| count(number, "reviewer");
                writeln!(text, "Low risk     {}", needed(policy.low))?;
                writeln!(text, "Medium risk  {}", needed(policy.medium))?;
                writeln!(text, "High risk    {}", needed(policy.high))
            })?;
            Ok(Outcome::Done)
        }
        TeamCommand::Status => {
            let Some(state) = library.call::<GetTeam>(Nothing {}).await? else {
                let message = "this library is not a team's";
                let remedy = "Name a team with `--team ID`; see `autokit team list`.";
                return Err(ApiError::new(ErrorCode::NotFound, message, remedy).into());
            };
            show_state(out, &state)
        }
        TeamCommand::Sync => show_state(out, &library.call::<SyncTeam>(Nothing {}).await?),
        TeamCommand::Members => {
            let all = library.call::<ListMembers>(Nothing {}).await?;
            out.show(&all, |text| all.members.iter().try_for_each(|member| write_member(text, member)))?;
            Ok(Outcome::Done)
        }
        TeamCommand::Invite { role, groups, days } => {
            let request = TeamInvite { role: role.into(), groups, days };
            let invitation = library.call::<InviteMember>(request).await?;
            out.show(&invitation, |text| {
                writeln!(text, "{}", invitation.link)?;
                writeln!(text, "Works once, until {}", format_time(invitation.expires))
            })?;
            Ok(Outcome::Done)
        }
        TeamCommand::Change { name, role, groups, no_groups } => {
            if role.is_none() && groups.is_empty() && !no_groups {
                let remedy = "Give `--role`, `--group` or `--no-groups`.";
                return Err(ApiError::new(ErrorCode::BadRequest, "nothing to change", remedy).into());
            }
            let groups = (no_groups || !groups.is_empty()).then_some(groups);
            change_member(
                library,
                out,
                TeamMemberChange { role: role.map(Into::into), groups, ..change(name) },
            )
            .await
        }
        TeamCommand::Remove { name } => {
            change_member(library, out, TeamMemberChange { active: Some(false), ..change(name) }).await
        }
        TeamCommand::Restore { name } => {
            change_member(library, out, TeamMemberChange { active: Some(true), ..change(name) }).await
        }
        TeamCommand::Password { name } => {
            let password = Some(secret::read(&format!("New password for {name}"))?);
            change_member(library, out, TeamMemberChange { password, ..change(name) }).await
        }
    }
}

async fn change_member(library: &dyn Client, out: &Output, request: TeamMemberChange) -> Result<Outcome> {
    let name = request.name.clone();
    let all = library.call::<ChangeMember>(request).await?;
    out.show(&all, |text| {
        let changed = all.members.iter().find(|member| member.name == name);
        changed.map_or(Ok(()), |member| write_member(text, member))
    })?;
    Ok(Outcome::Done)
}

fn show_joined(out: &Output, what: &str, team: &TeamEntry) -> Result<Outcome> {
    out.show(team, |text| {
        writeln!(text, "{what} {}", printable(&team.name).bold())?;
        writeln!(
            text,
            "Use its library with `--team {}`, such as `autokit --team {} team sync`",
            team.id, team.id
        )
    })?;
    Ok(Outcome::Done)
}

fn show_state(out: &Output, state: &TeamState) -> Result<Outcome> {
    out.show(state, |text| write_state(text, state))?;
    Ok(Outcome::Done)
}

fn write_team(text: &mut dyn Write, team: &TeamEntry) -> io::Result<()> {
    writeln!(text, "{}  {}", printable(&team.id).bold(), printable(&team.name))?;
    writeln!(text, "  {} as {}", printable(&team.server), printable(&team.member))
}

fn write_state(text: &mut dyn Write, state: &TeamState) -> io::Result<()> {
    write_team(text, &state.team)?;
    let connection = if state.is_connected {
        "connected".green().to_string()
    } else {
        "not connected".yellow().to_string()
    };
    match state.synced_at {
        Some(at) => writeln!(text, "  {connection}, last sync {}", format_time(at))?,
        None => writeln!(text, "  {connection}")?,
    }
    if let Some(error) = &state.error {
        writeln!(text, "  {}", printable(error))?;
    }
    let counts = [
        (state.received, "received"),
        (state.sent, "sent"),
        (state.unsent, "not sent yet"),
        (
            state.conflicts,
            "waiting in Review, because another edit came first or your role does not allow it",
        ),
        (state.invalid, "left out, because they are not valid"),
    ];
    counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .try_for_each(|(number, what)| writeln!(text, "  {} {what}", count(number, "card")))
}

fn write_member(text: &mut dyn Write, member: &TeamMember) -> io::Result<()> {
    let role = match member.role {
        TeamRole::Reader => "reader",
        TeamRole::Contributor => "contributor",
        TeamRole::Reviewer => "reviewer",
        TeamRole::Admin => "admin",
    };
    write!(text, "{}  {role}", printable(&member.name).bold())?;
    if !member.groups.is_empty() {
        write!(text, "  {}", printable(&member.groups.join(", ")).dimmed())?;
    }
    if member.is_self {
        write!(text, "  {}", "you".dimmed())?;
    }
    if !member.active {
        write!(text, "  {}", "removed".yellow())?;
    }
    writeln!(text)
}
