//! What happened in a team's library lately, and what its member is told of.

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListTeamActivity};
use autokit_api::{TeamActivityEntry, TeamActivityRequest, TeamNotice, TeamNoticeKind};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_sync::{Notice, NoticeKind};
use autokit_toolcard::{CardId, ProposalId, Timestamp};
use surrealdb::types::{SurrealValue, object};

use crate::replica::TeamReplica;

/// Most entries in one answer.
const MOST_ENTRIES: u32 = 1_000;
/// What people do about proposals; accepting one is a revision of its card.
const EVENTS: [&str; 6] = ["proposed", "commented", "approved", "rejected", "withdrawn", "assigned"];

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct WrittenRow {
    card: String,
    operation: String,
    author: String,
    reason: String,
    at: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct EventRow {
    proposal: i64,
    by: String,
    what: String,
    why: String,
    at: String,
}

fn time(text: &str) -> Result<Timestamp> {
    text.parse().map_err(|_| ApiError::internal(format!("{text:?} is no time")))
}

impl TeamReplica {
    /// Returns the name of a card, and its id while it exists.
    fn card_named(&self, id: &CardId) -> (String, Option<CardId>) {
        match self.workspace.library.card(id) {
            Ok(record) => (record.key.name.clone(), Some(id.clone())),
            Err(_) => ("a removed card".to_owned(), None),
        }
    }

    /// Returns the name of the card of a proposal, and its id while it exists.
    async fn card_of_proposal(&self, id: ProposalId) -> (String, Option<CardId>) {
        match self.workspace.library.proposal(id).await {
            Ok(proposal) => match &proposal.draft.card {
                Some(card) => self.card_named(card),
                None => (proposal.draft.key().map(|key| key.name).unwrap_or_default(), None),
            },
            Err(_) => (String::new(), None),
        }
    }

    pub(crate) async fn notice(&self, notice: &Notice) -> TeamNotice {
        let (card, _) = self.card_of_proposal(notice.proposal).await;
        TeamNotice {
            kind: match notice.kind {
                NoticeKind::Assigned => TeamNoticeKind::Assigned,
                NoticeKind::Mentioned => TeamNoticeKind::Mentioned,
            },
            proposal: notice.proposal,
            card,
            by: notice.by.clone(),
            text: notice.text.clone(),
        }
    }
}

#[async_trait]
impl Handle<ListTeamActivity> for TeamReplica {
    async fn handle(&self, _: &Context, request: TeamActivityRequest) -> Result<Vec<TeamActivityEntry>> {
        if !(1..=MOST_ENTRIES).contains(&request.limit) {
            let message = format!("activity is read 1 to {MOST_ENTRIES} entries at a time");
            return Err(ApiError::new(ErrorCode::Invalid, message, "Choose another number of entries."));
        }
        let limit = i64::from(request.limit);
        let library = &self.workspace.library;
        // In the order in which they arrived here.
        let query = "SELECT id, card, operation, author, reason, at FROM revision WHERE card != ''
            ORDER BY id DESC LIMIT $limit";
        let written: Vec<WrittenRow> = library.select(query, object! { limit: limit }).await?;
        let query = "SELECT proposal, by, what, why, at FROM proposal_event WHERE what IN $kinds
            ORDER BY at DESC LIMIT $limit";
        let kinds = EVENTS.map(str::to_owned).to_vec();
        let events: Vec<EventRow> = library.select(query, object! { limit: limit, kinds: kinds }).await?;
        let mut entries = Vec::with_capacity(written.len() + events.len());
        for row in written {
            let (card, card_id) = self.card_named(&CardId::new(row.card));
            entries.push(TeamActivityEntry {
                at: time(&row.at)?,
                by: row.author,
                what: row.operation,
                card,
                card_id,
                proposal: None,
                text: row.reason,
            });
        }
        for row in events {
            let proposal = ProposalId::new(row.proposal as u32);
            let (card, card_id) = self.card_of_proposal(proposal).await;
            entries.push(TeamActivityEntry {
                at: time(&row.at)?,
                by: row.by,
                what: row.what,
                card,
                card_id,
                proposal: Some(proposal),
                text: row.why,
            });
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        entries.truncate(request.limit as usize);
        Ok(entries)
    }
}
