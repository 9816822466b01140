//! Proposals of a team: read, and how many reviewers have to accept them.

use autokit_toolcard::Timestamp;
use surrealdb::types::{Datetime, SurrealValue, Value};

use crate::access::{CardKey, MemberKey, ProposalKey, Visibility};
use crate::cursor::Cursor;
use crate::error::{Code, Result, TeamError};
use crate::listing::{Listed, Listing, Page, listed};
use crate::schema::ROW_NAME;
use crate::session::{Session, ids, timestamp};

/// Proposals in one answer: fewer than of cards, since each has the approvals and the outcome as well.
const PAGE: usize = 20;

/// A proposed change, as a member sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedProposal {
    /// The proposal.
    pub key: ProposalKey,
    /// The card; `None` for a new one.
    pub card: Option<CardKey>,
    /// Who will see a new card.
    pub visible_to: Option<Visibility>,
    /// What is proposed, as JSON.
    pub draft: String,
    /// The same for equal proposals.
    pub fingerprint: String,
    /// `low`, `medium` or `high`.
    pub risk: String,
    /// Who proposed it.
    pub proposed_by: MemberKey,
    /// When.
    pub created_at: Timestamp,
    /// `pending`, `accepted`, `rejected` or `withdrawn`.
    pub state: String,
    /// Who accepted it so far.
    pub approvals: Vec<Given>,
    /// Who reviews it now.
    pub assigned_to: Option<MemberKey>,
    /// Who decided.
    pub decided_by: Option<MemberKey>,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// The reason of the decision.
    pub decision: Option<String>,
    /// What was decided on each field, as JSON.
    pub outcome: Option<String>,
    /// Number of comments.
    pub comments: u32,
}

/// An approval that was given while more are required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Who gave it.
    pub by: MemberKey,
    /// When.
    pub at: Timestamp,
    /// The accepted values, each as text with its field.
    pub values: Vec<String>,
}

/// A page of the proposals written since a cursor.
#[derive(Clone, Debug)]
pub struct ProposalChanges {
    /// The proposals, in the order in which they were written; some may have been there before.
    pub proposals: Vec<SharedProposal>,
    /// How many more there are that this program cannot read.
    pub unreadable: usize,
    /// Where an answer begins to whoever has this page, as in [`crate::Changes`].
    pub cursor: Cursor,
    /// Where the next answer may begin instead, as in [`crate::Changes`].
    pub recent: Cursor,
    /// Whether there are more.
    pub more: bool,
}

/// Proposals written since a cursor, page by page.
#[derive(Debug)]
pub struct ProposalFeed {
    session: Session,
    listing: Listing<ListedRow>,
}

/// A comment on a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The proposal.
    pub proposal: ProposalKey,
    /// Who wrote it.
    pub author: MemberKey,
    /// When.
    pub at: Timestamp,
    /// The comment.
    pub text: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct ProposalRow {
    id: Value,
    key: String,
    card: Option<String>,
    visible_to: Option<Value>,
    draft: String,
    fingerprint: String,
    risk: String,
    proposed_by: Value,
    created_at: Datetime,
    state: String,
    approvals: Vec<GivenRow>,
    assigned_to: Option<Value>,
    decided_by: Option<Value>,
    decided_at: Option<Datetime>,
    decision: Option<String>,
    outcome: Option<String>,
    comments: i64,
    written_at: Datetime,
}

/// A proposal that was written, without what it says.
#[derive(Debug, SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct ListedRow {
    id: Value,
    written_at: Datetime,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct KeyRow {
    id: Value,
    key: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct GivenRow {
    by: Value,
    at: Datetime,
    values: Vec<String>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct CommentRow {
    proposal: String,
    author: Value,
    at: Datetime,
    text: String,
}

impl TryFrom<ProposalRow> for SharedProposal {
    type Error = TeamError;

    fn try_from(row: ProposalRow) -> Result<SharedProposal> {
        let given = |row: GivenRow| {
            Ok(Given { by: MemberKey::of(&row.by)?, at: timestamp(row.at)?, values: row.values })
        };
        Ok(SharedProposal {
            key: ProposalKey::new(row.key),
            card: row.card.map(CardKey::new),
            visible_to: row.visible_to.as_ref().map(Visibility::of).transpose()?,
            draft: row.draft,
            fingerprint: row.fingerprint,
            risk: row.risk,
            proposed_by: MemberKey::of(&row.proposed_by)?,
            created_at: timestamp(row.created_at)?,
            state: row.state,
            approvals: row.approvals.into_iter().map(given).collect::<Result<_>>()?,
            assigned_to: row.assigned_to.as_ref().map(MemberKey::of).transpose()?,
            decided_by: row.decided_by.as_ref().map(MemberKey::of).transpose()?,
            decided_at: row.decided_at.map(timestamp).transpose()?,
            decision: row.decision,
            outcome: row.outcome,
            comments: row.comments as u32,
        })
    }
}

impl Listed for ListedRow {
    fn position(&self) -> (Datetime, &Value) {
        (self.written_at, &self.id)
    }
}

impl ProposalFeed {
    /// Reads the next page.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn next(&mut self) -> Result<ProposalChanges> {
        let ProposalFeed { session, listing } = self;
        let list = async |cursor: &Cursor| {
            session.list(session.reading(listed("id, written_at", "proposal")), cursor, "proposal").await
        };
        let Page { rows, cursor, recent, more } = listing.next(PAGE, list).await?;
        let ids: Vec<Value> = rows.into_iter().map(|row| row.id).collect();
        let rows = session.proposal_rows(ids).await?;
        let count = rows.len();
        // Nobody keeps others from reading everything else.
        let proposals: Vec<_> =
            rows.into_iter().filter_map(|row| SharedProposal::try_from(row).ok()).collect();
        Ok(ProposalChanges { unreadable: count - proposals.len(), proposals, cursor, recent, more })
    }
}

fn values(proposals: &[ProposalKey]) -> Vec<Value> {
    proposals.iter().map(ProposalKey::value).collect()
}

impl Session {
    async fn proposal_rows(&self, ids: Vec<Value>) -> Result<Vec<ProposalRow>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let query = self.reading("SELECT * FROM $proposals").bind(("proposals", ids));
        Ok(self.client.answer(query).await?.check()?.take(1)?)
    }

    /// Begins to read the proposals written since a cursor that this member sees: made, discussed or decided.
    pub fn proposal_feed(&self, since: &Cursor) -> ProposalFeed {
        ProposalFeed { session: self.clone(), listing: Listing::since(since.clone()) }
    }

    /// Returns the first page of the proposals written since a cursor.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn proposal_changes(&self, since: &Cursor) -> Result<ProposalChanges> {
        self.proposal_feed(since).next().await
    }

    /// Returns these proposals, as far as this member sees them.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn proposals(&self, keys: &[ProposalKey]) -> Result<Vec<SharedProposal>> {
        let mut proposals = Vec::with_capacity(keys.len());
        for keys in keys.chunks(PAGE) {
            let query = self
                .reading(format!("LET $ids = {}; SELECT * FROM $ids", ids("proposal", "$proposals")))
                .bind(("proposals", values(keys)));
            let rows: Vec<ProposalRow> = self.client.answer(query).await?.take(2)?;
            for row in rows {
                proposals.push(SharedProposal::try_from(row)?);
            }
        }
        Ok(proposals)
    }

    /// Returns the keys of the proposals about these cards, as far as this member sees them.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn proposals_about(&self, cards: &[CardKey]) -> Result<Vec<ProposalKey>> {
        let cards: Vec<Value> = cards.iter().map(CardKey::value).collect();
        // A closure has the audiences only because it names them.
        let query = self
            .reading(format!(
                "RETURN array::flatten(array::flatten($cards.map(|$key| $audiences.map(|$audience|
                    (SELECT VALUE key FROM proposal WHERE card_name = {ROW_NAME} AND $audiences != NONE)))))"
            ))
            .bind(("cards", cards));
        let keys: Vec<String> = self.client.answer(query).await?.take(1)?;
        Ok(keys.into_iter().map(ProposalKey::new).collect())
    }

    /// Returns the keys of the proposals that this member sees: what else a replica has is to be forgotten.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn visible_proposals(&self) -> Result<Vec<ProposalKey>> {
        let rows: Vec<KeyRow> = self.rows("id, key", "proposal", |row: &KeyRow| &row.id).await?;
        Ok(rows.into_iter().map(|row| ProposalKey::new(row.key)).collect())
    }

    /// Returns the comments on proposals, those on each oldest first; none on one that this member does not see.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn comments(&self, proposals: &[ProposalKey]) -> Result<Vec<Comment>> {
        // Their ids are in the order of their times. A closure has the audiences only because it names them.
        let query = self
            .reading(format!(
                "RETURN array::flatten(array::flatten($proposals.map(|$key| $audiences.map(|$audience| {{
                    LET $name = {ROW_NAME};
                    RETURN (SELECT * FROM comment:[$name, NONE]..[$name, []] WHERE $audiences != NONE);
                }}))))"
            ))
            .bind(("proposals", values(proposals)));
        let rows: Vec<CommentRow> = self.client.answer(query).await?.take(1)?;
        let comment = |row: CommentRow| {
            Ok(Comment {
                proposal: ProposalKey::new(row.proposal),
                author: MemberKey::of(&row.author)?,
                at: timestamp(row.at)?,
                text: row.text,
            })
        };
        rows.into_iter().map(comment).collect()
    }

    /// Sets how many reviewers have to accept changes of a risk: `low`, `medium` or `high`.
    ///
    /// # Errors
    /// `NotAllowed` for others than administrators; `Invalid` for a number that is not 1 to 9.
    pub async fn set_policy(&self, risk: &str, approvals: u32) -> Result<()> {
        if !(1..=9).contains(&approvals) {
            return Err(TeamError::new(Code::Invalid, "1 to 9 reviewers can be required"));
        }
        let upsert =
            "UPSERT type::record('policy', $risk) SET risk = $risk, approvals = $approvals RETURN VALUE id";
        let query = self.db().query(upsert).bind(("risk", risk.to_owned()));
        let changed: Vec<Value> =
            self.client.answer(query.bind(("approvals", i64::from(approvals)))).await?.take(0)?;
        if changed.is_empty() {
            return Err(TeamError::new(Code::NotAllowed, "only administrators change the policy"));
        }
        Ok(())
    }
}
