//! `autokit team`: a library that several people share.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use autokit_api::commands::{
    ChangeMember, CreateTeam, GetCardSharing, GetTeam, GetTeamCards, GetTeamDirectory, GetTeamPolicy,
    InviteMember, JoinTeam, LeaveTeam, ListMembers, ListTeamActivity, ListTeamAudit, ListTeams, SetNewCards,
    SetTeamCards, SetTeamPolicy, ShareCardsWith, SyncTeam,
};
use autokit_api::{
    CardRef, CardVisibility, Client, NewCards, Nothing, ShareCards, TeamActivityEntry, TeamActivityRequest,
    TeamAuditEntry, TeamAuditRequest, TeamCards, TeamCreate, TeamEntry, TeamInvite, TeamJoin, TeamKept,
    TeamMember, TeamMemberChange, TeamNotice, TeamNoticeKind, TeamPolicy, TeamRef, TeamRole, TeamState,
};
use autokit_error::{ApiError, ErrorCode};
use autokit_toolcard::Kind;
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;

use crate::cards::one_line;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};
use crate::secret;
use crate::team_server::{self, ServerCommand, read_authorities};

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
        /// PEM file of CA certificates to trust for this server instead of the system's.
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
        /// PEM file of CA certificates to trust for this server instead of the system's.
        #[arg(long, value_name = "FILE")]
        authorities: Option<PathBuf>,
    },
    /// Leave a team: delete its library and your password from this machine.
    Leave {
        /// Team ID.
        id: String,
        /// Keep its cards as a bundle in this file.
        #[arg(long, value_name = "FILE")]
        keep: Option<PathBuf>,
        /// Leave even with unsent changes, which are lost.
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
    /// Show or change who sees cards. Use with `--team`.
    Share {
        /// Card name or ID; can be repeated.
        #[arg(value_name = "CARD", required_unless_present = "new_cards")]
        cards: Vec<String>,
        /// Who sees them from now on: everyone, team, reader, contributor, reviewer, admin, group:NAME or person:NAME.
        #[arg(long = "with", value_name = "WHO", value_parser = parse_visibility)]
        visible_to: Option<CardVisibility>,
        /// Show or change who sees cards that are added on this machine.
        #[arg(long, conflicts_with = "cards")]
        new_cards: bool,
    },
    /// Show or choose which of the team's cards are kept on this machine: those of any of these providers, kinds or tags.
    /// Use with `--team`.
    Cards {
        /// Provider; can be repeated.
        #[arg(long = "provider", value_name = "NAME")]
        providers: Vec<String>,
        /// Kind: class, rest_operation, mcp_tool, cli or other; can be repeated.
        #[arg(long = "kind", value_name = "KIND", value_parser = parse_kind)]
        kinds: Vec<Kind>,
        /// Tag; can be repeated.
        #[arg(long = "tag", value_name = "TAG")]
        tags: Vec<String>,
        /// Keep all cards.
        #[arg(long, conflicts_with_all = ["providers", "kinds", "tags"])]
        all: bool,
    },
    /// Show what happened to cards and proposals, newest first. Use with `--team`.
    Activity {
        /// Most entries.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        limit: u32,
    },
    /// Show what was done in the team, newest first. For administrators. Use with `--team`.
    Audit {
        /// Most entries.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// What whoever runs the server does.
    #[command(flatten)]
    Server(ServerCommand),
    /// Set a password: yours, or as an administrator that of another member. Asks for it. Use with `--team`.
    Password {
        /// Member name.
        name: String,
    },
}

/// A team that is about to be left.
#[derive(Clone, Copy, Debug)]
pub struct LeaveOptions<'a> {
    /// Its ID.
    pub id: &'a str,
    /// The bundle in which its cards are kept.
    pub keep: Option<&'a Path>,
    /// Whether what was not sent may be lost.
    pub discard: bool,
}

impl TeamCommand {
    /// Returns the team to leave.
    pub fn leaving(&self) -> Option<LeaveOptions<'_>> {
        match self {
            TeamCommand::Leave { id, keep, discard } => {
                Some(LeaveOptions { id, keep: keep.as_deref(), discard: *discard })
            }
            _ => None,
        }
    }
}

fn parse_kind(text: &str) -> std::result::Result<Kind, String> {
    Kind::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        format!("expected one of: {}", known.join(", "))
    })
}

/// Reads who sees a card: `everyone`, `team`, a role, `group:NAME` or `person:NAME`.
fn parse_visibility(text: &str) -> std::result::Result<CardVisibility, String> {
    if let Some((kind, name)) = text.split_once(':') {
        return match kind {
            "group" => Ok(CardVisibility::Group(name.to_owned())),
            "person" => Ok(CardVisibility::Person(name.to_owned())),
            _ => Err("expected `group:NAME` or `person:NAME`".to_owned()),
        };
    }
    match text {
        "everyone" => Ok(CardVisibility::Everyone),
        "team" => Ok(CardVisibility::Team),
        role => {
            RoleArgument::from_str(role, true).map(|role| CardVisibility::Role(role.into())).map_err(|_| {
                "expected everyone, team, reader, contributor, reviewer, admin, group:NAME or person:NAME"
                    .to_owned()
            })
        }
    }
}

fn visibility_text(visible_to: &CardVisibility) -> String {
    match visible_to {
        CardVisibility::Everyone => "everyone".to_owned(),
        CardVisibility::Team => "the team".to_owned(),
        CardVisibility::Role(role) => format!("{}s and higher roles", role_name(*role)),
        CardVisibility::Group(name) => format!("the group {}", printable(name)),
        CardVisibility::Person(name) => format!("only {}", printable(name)),
    }
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
        TeamCommand::Cards { providers, kinds, tags, all } => {
            let chosen = TeamCards { providers, kinds, tags };
            let kept = if all || chosen != TeamCards::default() {
                library.call::<SetTeamCards>(chosen).await?
            } else {
                library.call::<GetTeamCards>(Nothing {}).await?
            };
            out.show(&kept, |text| write_kept(text, &kept))?;
            Ok(Outcome::Done)
        }
        TeamCommand::Share { cards, visible_to, new_cards } => {
            share(library, out, cards, visible_to, new_cards).await
        }
        TeamCommand::Audit { limit } => {
            let entries = library.call::<ListTeamAudit>(TeamAuditRequest { limit }).await?;
            out.show(&entries, |text| entries.iter().try_for_each(|entry| write_audit(text, entry)))?;
            Ok(Outcome::Done)
        }
        TeamCommand::Activity { limit } => {
            let entries = library.call::<ListTeamActivity>(TeamActivityRequest { limit }).await?;
            out.show(&entries, |text| entries.iter().try_for_each(|entry| write_activity(text, entry)))?;
            Ok(if entries.is_empty() { Outcome::NothingFound } else { Outcome::Done })
        }
        TeamCommand::Server(command) => team_server::run(library, out, command).await,
        TeamCommand::Status => {
            show_state(out, &library.call::<GetTeam>(Nothing {}).await?.ok_or_else(no_team)?)
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

async fn share(
    library: &dyn Client,
    out: &Output,
    cards: Vec<String>,
    visible_to: Option<CardVisibility>,
    new_cards: bool,
) -> Result<Outcome> {
    if new_cards {
        let directory = match visible_to {
            Some(visible_to) => library.call::<SetNewCards>(NewCards { visible_to }).await?,
            None => library.call::<GetTeamDirectory>(Nothing {}).await?.ok_or_else(no_team)?,
        };
        out.show(&directory.new_cards, |text| {
            writeln!(text, "New cards are visible to {}", visibility_text(&directory.new_cards))
        })?;
        return Ok(Outcome::Done);
    }
    if let Some(visible_to) = visible_to {
        let request = ShareCards { cards: cards.clone(), visible_to };
        library.call::<ShareCardsWith>(request).await?;
    }
    let mut shown = Vec::with_capacity(cards.len());
    for card in cards {
        let sharing = library.call::<GetCardSharing>(CardRef { card: card.clone() }).await?;
        shown.push((card, sharing));
    }
    out.show(&shown, |text| {
        shown.iter().try_for_each(|(card, sharing)| {
            write!(text, "{}  ", printable(card).bold())?;
            match (&sharing.visible_to, &sharing.wanted) {
                (_, Some(wanted)) => {
                    writeln!(text, "visible to {} once synchronized", visibility_text(wanted))
                }
                (Some(visible_to), None) => writeln!(text, "visible to {}", visibility_text(visible_to)),
                (None, None) => writeln!(text, "not sent to the team yet"),
            }
        })
    })?;
    Ok(Outcome::Done)
}

fn no_team() -> ApiError {
    let remedy = "Name a team with `--team ID`; see `autokit team list`.";
    ApiError::new(ErrorCode::NotFound, "this library is not a team's", remedy)
}

fn write_activity(text: &mut dyn Write, entry: &TeamActivityEntry) -> io::Result<()> {
    let time = format_time(entry.at);
    write!(text, "{}  {}  {}", time.dimmed(), printable(&entry.by).bold(), entry.what)?;
    write!(text, "  {}", printable(&entry.card))?;
    if let Some(proposal) = entry.proposal {
        write!(text, "  {}", format!("#{}", proposal.number()).dimmed())?;
    }
    let reason = entry.text.lines().next().unwrap_or_default();
    if reason.is_empty() { writeln!(text) } else { writeln!(text, "  {}", printable(reason).dimmed()) }
}

fn write_notice(text: &mut dyn Write, notice: &TeamNotice) -> io::Result<()> {
    let by = notice.by.as_deref().map_or_else(|| "Someone".to_owned(), printable);
    let what = match notice.kind {
        TeamNoticeKind::Assigned => "requested your review of",
        TeamNoticeKind::Mentioned => "mentioned you in",
    };
    write!(text, "  {} {what} #{} ({})", by.bold(), notice.proposal.number(), printable(&notice.card))?;
    let said = notice.text.lines().next().unwrap_or_default();
    if said.is_empty() { writeln!(text) } else { writeln!(text, ": {}", printable(said)) }
}

fn write_audit(text: &mut dyn Write, entry: &TeamAuditEntry) -> io::Result<()> {
    let by = entry.by.as_deref().map_or_else(|| "the server's owner".to_owned(), printable);
    write!(text, "{}  {}  {}", format_time(entry.at).dimmed(), by.bold(), entry.what.replace('_', " "))?;
    if !entry.about.is_empty() && entry.by.as_deref() != Some(entry.about.as_str()) {
        write!(text, "  {}", printable(&entry.about))?;
    }
    writeln!(text)
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
        (state.left_out, "not kept on this machine"),
        (state.invalid, "left out, because they are not valid"),
    ];
    counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .try_for_each(|(number, what)| writeln!(text, "  {} {what}", count(number, "card")))?;
    if state.kept.is_incomplete || !state.kept.is_applied || state.kept.cards != TeamCards::default() {
        write_kept(text, &state.kept)?;
    }
    state.notices.iter().try_for_each(|notice| write_notice(text, notice))
}

/// Says which of the team's cards are kept here.
fn write_kept(text: &mut dyn Write, kept: &TeamKept) -> io::Result<()> {
    let TeamCards { providers, kinds, tags } = &kept.cards;
    let kinds: Vec<String> = kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
    let named = [("provider", providers), ("kind", &kinds), ("tag", tags)];
    let chosen: Vec<String> = named
        .into_iter()
        .flat_map(|(what, names)| names.iter().map(move |name| format!("{what} {}", one_line(name, 60))))
        .collect();
    let when = if kept.is_applied { "" } else { "After the next sync: " };
    if chosen.is_empty() {
        writeln!(text, "  {when}all cards on this machine, up to {}", count(kept.limit, "card"))?;
    } else {
        writeln!(text, "  {when}only cards with {} on this machine", chosen.join(" or "))?;
    }
    let hint = if !kept.is_applied {
        "Run `team sync` to apply it."
    } else if kept.is_incomplete {
        "Other cards of the team are not on this machine."
    } else {
        return Ok(());
    };
    writeln!(text, "  {}", hint.yellow())
}

fn role_name(role: TeamRole) -> &'static str {
    match role {
        TeamRole::Reader => "reader",
        TeamRole::Contributor => "contributor",
        TeamRole::Reviewer => "reviewer",
        TeamRole::Admin => "admin",
    }
}

fn write_member(text: &mut dyn Write, member: &TeamMember) -> io::Result<()> {
    write!(text, "{}  {}", printable(&member.name).bold(), role_name(member.role))?;
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
