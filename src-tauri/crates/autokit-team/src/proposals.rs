//! Proposals of a team: read, and how many reviewers have to accept them.

use autokit_toolcard::Timestamp;
use surrealdb::types::{Datetime, SurrealValue, Value};

use crate::access::{CardKey, MemberKey, ProposalKey, Visibility};
use crate::error::{Code, Result, TeamError};
use crate::session::{Session, timestamp};

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
    /// `low`, `medium` or `high`.
    pub risk: String,
    /// Who proposed it.
    pub proposed_by: MemberKey,
    /// When.
    pub created_at: Timestamp,
    /// `pending`, `accepted` or `rejected`.
    pub state: String,
    /// Who accepted it so far.
    pub approved_by: Vec<MemberKey>,
    /// Who reviews it now.
    pub assigned_to: Option<MemberKey>,
    /// Who decided.
    pub decided_by: Option<MemberKey>,
    /// The reason of the decision.
    pub decision: Option<String>,
}

/// A comment on a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
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
    card: Option<Value>,
    visible_to: Option<Value>,
    draft: String,
    risk: String,
    proposed_by: Value,
    created_at: Datetime,
    state: String,
    approved_by: Value,
    assigned_to: Option<Value>,
    decided_by: Option<Value>,
    decision: Option<String>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct CommentRow {
    author: Value,
    at: Datetime,
    text: String,
}

impl TryFrom<ProposalRow> for SharedProposal {
    type Error = TeamError;

    fn try_from(row: ProposalRow) -> Result<SharedProposal> {
        let approved_by = match &row.approved_by {
            Value::Set(members) => members.iter().map(MemberKey::of).collect::<Result<_>>()?,
            _ => Vec::new(),
        };
        Ok(SharedProposal {
            key: ProposalKey::of(&row.id)?,
            card: row.card.as_ref().map(CardKey::of).transpose()?,
            visible_to: row.visible_to.as_ref().map(Visibility::of).transpose()?,
            draft: row.draft,
            risk: row.risk,
            proposed_by: MemberKey::of(&row.proposed_by)?,
            created_at: timestamp(row.created_at)?,
            state: row.state,
            approved_by,
            assigned_to: row.assigned_to.as_ref().map(MemberKey::of).transpose()?,
            decided_by: row.decided_by.as_ref().map(MemberKey::of).transpose()?,
            decision: row.decision,
        })
    }
}

impl Session {
    /// Returns the proposals that this member sees, oldest first.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn proposals(&self) -> Result<Vec<SharedProposal>> {
        let rows: Vec<ProposalRow> = self
            .client
            .answer(self.db().query("SELECT * FROM proposal ORDER BY created_at, id"))
            .await?
            .take(0)?;
        rows.into_iter().map(SharedProposal::try_from).collect()
    }

    /// Returns the comments on a proposal, oldest first; none on a proposal that this member does not see.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn comments(&self, proposal: &ProposalKey) -> Result<Vec<Comment>> {
        let select = "SELECT * FROM comment WHERE proposal = $proposal ORDER BY written_at, id";
        let rows: Vec<CommentRow> = self
            .client
            .answer(self.db().query(select).bind(("proposal", proposal.record())))
            .await?
            .take(0)?;
        let comment = |row: CommentRow| {
            Ok(Comment { author: MemberKey::of(&row.author)?, at: timestamp(row.at)?, text: row.text })
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
