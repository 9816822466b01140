//! Who sees the cards of the team whose library is open, and what was done in the team.

use std::collections::HashMap;

use async_trait::async_trait;
use autokit_api::commands::{
    Context, GetCardSharing, GetTeamDirectory, Handle, ListTeamAudit, SetNewCards, ShareCardsWith,
};
use autokit_api::{
    CardRef, CardSharing, CardVisibility, DirectoryMember, Event, NewCards, Nothing, ShareCards,
    TeamAuditEntry, TeamAuditRequest, TeamDirectory,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{Library, TeamRules};
use autokit_sync::Directory;
use autokit_team::{AuditEntry, Visibility};
use autokit_toolcard::CardId;

use crate::replica::{TeamReplica, role_from, role_of};

/// Most entries of the audit log in one answer.
const MOST_ENTRIES: u32 = 10_000;

/// Returns a visibility with the names of members and groups; those that are not known any more are called so.
fn named(visible_to: &Visibility, directory: &Directory) -> CardVisibility {
    match visible_to {
        Visibility::Everyone => CardVisibility::Everyone,
        Visibility::Team => CardVisibility::Team,
        Visibility::Role(role) => CardVisibility::Role(role_of(*role)),
        Visibility::Group(key) => {
            let group = directory.groups.iter().find(|group| group.key == *key);
            CardVisibility::Group(group.map_or_else(|| key.to_string(), |group| group.name.clone()))
        }
        Visibility::Person(key) => {
            let name = directory.name_of(key).map_or_else(|| key.to_string(), str::to_owned);
            CardVisibility::Person(name)
        }
    }
}

/// The groups that this member may share cards with: nobody hides a card from themselves.
fn own_groups(directory: &Directory) -> impl Iterator<Item = &autokit_sync::DirectoryGroup> {
    directory.groups.iter().filter(|group| directory.own_groups.contains(&group.key))
}

/// Finds the members and groups that a visibility names.
fn keyed(visible_to: CardVisibility, directory: &Directory) -> Result<Visibility> {
    let missing = |what: &str, name: &str, known: Vec<&str>| {
        let remedy = match known.join(", ") {
            none if none.is_empty() => "Synchronize with the team and try again.".to_owned(),
            known => format!("Choose one of: {known}."),
        };
        ApiError::new(ErrorCode::NotFound, format!("there is no {what} {name:?} that you may choose"), remedy)
    };
    Ok(match visible_to {
        CardVisibility::Everyone => Visibility::Everyone,
        CardVisibility::Team => Visibility::Team,
        CardVisibility::Role(role) => Visibility::Role(role_from(role)),
        CardVisibility::Group(name) => {
            let group = own_groups(directory).find(|group| group.name == name);
            let known = || own_groups(directory).map(|group| group.name.as_str()).collect();
            Visibility::Group(group.ok_or_else(|| missing("group", &name, known()))?.key.clone())
        }
        CardVisibility::Person(name) => {
            let member = directory.members.iter().find(|member| member.name == name);
            let known = || directory.members.iter().map(|member| member.name.as_str()).collect();
            Visibility::Person(member.ok_or_else(|| missing("member", &name, known()))?.key.clone())
        }
    })
}

impl TeamReplica {
    fn library(&self) -> &Library {
        &self.workspace.library
    }

    async fn rules(&self) -> Result<TeamRules> {
        Ok(self.library().team_rules().await?.unwrap_or_default())
    }

    async fn directory(&self) -> Result<TeamDirectory> {
        let known = Directory::of(self.library()).await?;
        let rules = self.rules().await?;
        let new_cards = named(&autokit_sync::new_cards(self.library()).await?, &known);
        let member = |member: &autokit_sync::DirectoryMember| DirectoryMember {
            name: member.name.clone(),
            role: role_of(member.role),
        };
        Ok(TeamDirectory {
            self_name: rules.member,
            members: known.members.iter().filter(|member| member.active).map(member).collect(),
            groups: own_groups(&known).map(|group| group.name.clone()).collect(),
            may_share: rules.may_decide,
            new_cards,
        })
    }

    /// Returns the names of the cards with these keys at the team.
    async fn named_cards(&self, entries: &[AuditEntry]) -> Result<Vec<Option<String>>> {
        let keys: Vec<String> =
            entries.iter().filter_map(|entry| Some(entry.card.as_ref()?.as_str().to_owned())).collect();
        let states = self.library().shared_states(Some(&keys)).await?;
        let cards: HashMap<&str, &CardId> =
            states.iter().map(|(card, state)| (state.key.as_str(), card)).collect();
        let name_of = |entry: &AuditEntry| {
            let card = *cards.get(entry.card.as_ref()?.as_str())?;
            Some(self.library().card(card).ok()?.card().name().to_owned())
        };
        Ok(entries.iter().map(name_of).collect())
    }
}

#[async_trait]
impl Handle<GetTeamDirectory> for TeamReplica {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Option<TeamDirectory>> {
        if self.team().is_err() {
            return Ok(None);
        }
        self.directory().await.map(Some)
    }
}

#[async_trait]
impl Handle<GetCardSharing> for TeamReplica {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<CardSharing> {
        self.team()?;
        let card = self.workspace.find_card(&request.card)?;
        let sharing = autokit_sync::sharing(self.library(), &card.id).await?;
        let directory = Directory::of(self.library()).await?;
        Ok(CardSharing {
            visible_to: sharing.visible_to.map(|visible_to| named(&visible_to, &directory)),
            wanted: sharing.wanted.map(|wanted| named(&wanted, &directory)),
        })
    }
}

#[async_trait]
impl Handle<ShareCardsWith> for TeamReplica {
    async fn handle(&self, _: &Context, request: ShareCards) -> Result<Nothing> {
        self.team()?;
        if !self.rules().await?.may_decide {
            let message = "your role in this team does not allow you to change who sees a card";
            let remedy = "Ask a reviewer, or an administrator of the team for another role.";
            return Err(ApiError::new(ErrorCode::Refused, message, remedy));
        }
        let visible_to = keyed(request.visible_to, &Directory::of(self.library()).await?)?;
        let cards = request.cards.iter().map(|card| Ok(self.workspace.find_card(card)?.id.clone()));
        let cards = cards.collect::<Result<Vec<_>>>()?;
        autokit_sync::share(self.library(), &cards, &visible_to).await?;
        self.changed.notify_one();
        self.workspace.publish(Event::Team);
        Ok(Nothing {})
    }
}

#[async_trait]
impl Handle<SetNewCards> for TeamReplica {
    async fn handle(&self, _: &Context, request: NewCards) -> Result<TeamDirectory> {
        self.team()?;
        let visible_to = keyed(request.visible_to, &Directory::of(self.library()).await?)?;
        autokit_sync::set_new_cards(self.library(), &visible_to).await?;
        self.workspace.publish(Event::Team);
        self.directory().await
    }
}

#[async_trait]
impl Handle<ListTeamAudit> for TeamReplica {
    async fn handle(&self, _: &Context, request: TeamAuditRequest) -> Result<Vec<TeamAuditEntry>> {
        if !(1..=MOST_ENTRIES).contains(&request.limit) {
            let message = format!("the audit log is read 1 to {MOST_ENTRIES} entries at a time");
            return Err(ApiError::new(ErrorCode::Invalid, message, "Choose another number of entries."));
        }
        let session = self.session().await?;
        let members = session.members().await?;
        let is_admin = members
            .iter()
            .any(|member| member.key == *session.member() && member.role == autokit_team::Role::Admin);
        if !is_admin {
            let message = "only administrators of the team read its audit log";
            return Err(ApiError::new(ErrorCode::Refused, message, "Ask an administrator of the team."));
        }
        let entries = session.audit(request.limit).await?;
        let cards = self.named_cards(&entries).await?;
        let entry = |(entry, card): (AuditEntry, Option<String>)| {
            let by = entry.by.as_ref().and_then(|by| members.iter().find(|member| member.key == *by));
            let about = match card {
                Some(card) if entry.what == "shared" => format!("{card}: {}", entry.about),
                Some(card) => card,
                None => entry.about,
            };
            TeamAuditEntry { at: entry.at, by: by.map(|member| member.name.clone()), what: entry.what, about }
        };
        Ok(entries.into_iter().zip(cards).map(entry).collect())
    }
}
