//! Decisions of reviewers on proposals, one at a time or in bulk for those that are safe.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{
    AcceptProposal, AcceptProposals, AssignProposal, CommentProposal, Context, GetReviewPolicy, Handle,
    PreviewAccept, RejectProposal, ReopenProposal, SetReviewPolicy,
};
use autokit_api::{
    AcceptPreview, AcceptRule, JobKind, JobRef, JobTally, Nothing, ProposalAccept, ProposalAssign,
    ProposalComment, ProposalDetail, ProposalRef, ProposalReject, ProposalsAccept, ProposalsRef,
    ReviewPolicy, SafeProposal, Setting, UnsafeProposal,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{Acceptance, Accepted, LibraryError, Meta, Selection, TeamRules};
use autokit_toolcard::{
    Author, CardId, Draft, Operation, Proposal, ProposalId, ProposalState, Risk, diff_cards, fields,
    is_confirmed_address,
};
use autokit_upstream::servers::KnownServers;
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::models::{BATCH, Models};
use autokit_workspace::workspace::Workspace;
use serde_json::Map;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use crate::pages::Pages;
use crate::review::Proposals;

/// Most approvals a policy can require of one proposal; more is a mistake in the setting.
const MAX_APPROVALS: u32 = 9;

/// Lowest confidence with which a repaired address is accepted together with others.
const MIN_REPAIR_CONFIDENCE: f32 = 0.95;

/// Most characters in a reviewer's name.
const MAX_NAME: usize = 100;

/// A proposal with what accepting it as a whole would write, or why it needs individual review.
type ReviewedProposal = (Proposal, std::result::Result<Acceptance, String>);

/// Decides on proposals. Clones share state.
#[derive(Clone, Debug)]
pub struct Decisions {
    workspace: Workspace,
    models: Models,
    proposals: Proposals,
    pages: Pages,
    servers: KnownServers,
    /// Serializes reopening of proposals.
    reopening: Arc<Mutex<()>>,
}

impl Decisions {
    /// Decides on the proposals of this library.
    pub fn new(
        workspace: Workspace,
        models: Models,
        proposals: Proposals,
        pages: Pages,
        servers: KnownServers,
    ) -> Decisions {
        Decisions { workspace, models, proposals, pages, servers, reopening: Arc::default() }
    }

    /// Returns the name of whoever comments or decides: the member's in a team, or else the given one, the policy's, or the
    /// caller's.
    async fn reviewer(&self, context: &Context, by: &str) -> Result<Author> {
        if let Some(rules) = self.proposals.rules().await? {
            return Ok(Author(rules.member));
        }
        let policy = self.proposals.policy().await?;
        let names = [by.trim(), policy.reviewer.trim(), context.author.trim()];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        check_reviewer_name(name)?;
        Ok(Author(name.to_owned()))
    }

    /// Returns the name of whoever decides, as far as the team lets them.
    async fn decider(&self, context: &Context, by: &str) -> Result<Author> {
        match self.proposals.rules().await? {
            Some(rules) if !rules.may_decide => Err(ApiError::new(
                ErrorCode::Refused,
                "your role in this team does not let you decide on proposals",
                "Ask a reviewer of the team, or an administrator for another role.",
            )),
            _ => self.reviewer(context, by).await,
        }
    }

    /// Refuses to let a person approve what they proposed themselves, where the team requires several reviewers.
    fn ensure_others(proposal: &Proposal, author: &Author, rules: Option<&TeamRules>) -> Result<()> {
        let needs_others = rules.is_some_and(|rules| rules.needed(proposal.risk) > 1);
        if needs_others && proposal.proposed_by == author.0 {
            let message = "somebody else has to accept what you proposed";
            return Err(ApiError::new(ErrorCode::Refused, message, "Ask another reviewer."));
        }
        Ok(())
    }

    /// Explains to a reviewer why an acceptance failed: which fields conflict, or who decided first.
    async fn acceptance_error(&self, id: ProposalId, error: LibraryError) -> ApiError {
        let Ok(now) = self.workspace.library.proposal(id).await else { return error.into() };
        match (&error, now.state) {
            (LibraryError::Conflict { .. }, _) if !now.conflicts.is_empty() => ApiError::new(
                ErrorCode::Conflict,
                format!("changed on the card after the proposal: {}", now.conflicts.join(", ")),
                "Accept only the other fields, or enter your own value.",
            ),
            (
                LibraryError::Decided { .. } | LibraryError::ProposalChanged(_),
                state @ (ProposalState::Accepted | ProposalState::Rejected | ProposalState::Withdrawn),
            ) => {
                let by = now.decided_by.as_deref().unwrap_or("someone else");
                let what = state.as_str();
                let remedy = LibraryError::Decided { proposal: id, state: what }.remedy();
                ApiError::new(
                    ErrorCode::Conflict,
                    format!("proposal {id} was already {what} by {by}"),
                    remedy,
                )
            }
            _ => error.into(),
        }
    }

    /// Accepts a proposal, or records an approval if more are required. Returns the cards that were
    /// changed.
    async fn accept_proposal(&self, context: &Context, request: &ProposalAccept) -> Result<Vec<CardId>> {
        let proposal = self.workspace.library.proposal(request.id).await?;
        let author = self.decider(context, &request.by).await?;
        Decisions::ensure_others(&proposal, &author, self.proposals.rules().await?.as_ref())?;
        let selection = Selection {
            fields: request.fields.clone(),
            edits: request.edits.clone(),
            rejected: request.rejected.clone(),
            seen: request.seen,
        };
        let acceptance = match self.workspace.library.acceptance(&proposal, &selection).await {
            Ok(acceptance) => acceptance,
            Err(error) => return Err(self.acceptance_error(request.id, error).await),
        };
        let vectors = self.models.embed_card(&acceptance.card).await?;
        let reason = match request.reason.trim() {
            "" => format!("Accepted proposal {} for {}", proposal.id, self.proposals.title(&proposal)),
            reason => reason.to_owned(),
        };
        let meta = Meta {
            operation: Operation::Accept,
            author,
            reason,
            change: None,
            request: context.request.clone(),
        };
        let needed = self.proposals.approvals().await?(proposal.risk);
        let accepted = self.workspace.library.accept(&proposal, acceptance, vectors, &meta, needed).await;
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(error) => return Err(self.acceptance_error(request.id, error).await),
        };
        let Accepted::Written(committed) = accepted else { return Ok(Vec::new()) };
        let touched = [committed.added, committed.changed].concat();
        let accepted: Vec<_> = touched.iter().map(|id| (&proposal, id.clone())).collect();
        self.servers.bind_accepted(&accepted).await?;
        self.servers.request_rescan(&touched).await?;
        self.workspace.notify_library_changed();
        Ok(touched)
    }

    /// Reviews proposals by rule: each that can be accepted as a whole without individual review comes with
    /// what that would write.
    async fn review_by_rules(&self, ids: &[ProposalId], rule: AcceptRule) -> Result<Vec<ReviewedProposal>> {
        let mut reviewed = Vec::with_capacity(ids.len());
        for id in ids {
            let proposal = self.workspace.library.proposal(*id).await?;
            let verdict = if proposal.state != ProposalState::Pending {
                Err("already decided".to_owned())
            } else if !proposal.conflicts.is_empty() {
                Err(format!("changed on the card in the meantime: {}", proposal.conflicts.join(", ")))
            } else if self.proposals.flagged.is_flagged(&proposal.draft) {
                // Checked again, because the stored risk may predate a rule that flags this text.
                Err("contains hidden text or instructions to a model".to_owned())
            } else if let Some(why) = reason_to_look_closer(&proposal.draft) {
                Err(why)
            } else if let Some(why) = self.reason_against(rule, &proposal) {
                Err(why)
            } else {
                match self.workspace.library.acceptance(&proposal, &Selection::default()).await {
                    Ok(acceptance) => Ok(acceptance),
                    Err(error @ LibraryError::Store(_)) => return Err(error.into()),
                    Err(error) => Err(error.to_string()),
                }
            };
            reviewed.push((proposal, verdict));
        }
        Ok(reviewed)
    }

    /// Returns why a rule does not let a proposal be accepted together with others.
    fn reason_against(&self, rule: AcceptRule, proposal: &Proposal) -> Option<String> {
        match rule {
            _ if proposal.risk == Risk::High => Some("high risk".to_owned()),
            AcceptRule::Selected => None,
            AcceptRule::Safe => (proposal.risk == Risk::Medium).then(|| "medium risk".to_owned()),
            AcceptRule::LinkRepairs => {
                let card =
                    proposal.draft.card.as_ref().and_then(|card| self.workspace.library.card(card).ok());
                let card = card.map_or_else(Map::new, |record| record.card().into_object());
                let had_one = card.get(fields::DOCUMENTATION).is_some_and(|value| !value.is_null());
                match proposal.draft.fields.as_slice() {
                    [field] if had_one && is_confirmed_address(field, &card, MIN_REPAIR_CONFIDENCE) => None,
                    [field] if field.field == fields::DOCUMENTATION => {
                        Some("the page doesn't name the tool with 95% confidence".to_owned())
                    }
                    _ => Some("changes more than an address".to_owned()),
                }
            }
        }
    }

    /// Accepts a proposal whose card was changed by one accepted just before it: what was previewed is what it proposes, and
    /// the card it is applied to is another by now.
    async fn accept_after_another(
        &self,
        proposal: &Proposal,
        meta: &Meta,
        approvals: u32,
    ) -> Result<std::result::Result<Accepted, LibraryError>> {
        let now = self.workspace.library.proposal(proposal.id).await?;
        if now.state != ProposalState::Pending || now.draft.fields != proposal.draft.fields {
            return Ok(Err(LibraryError::ProposalChanged(proposal.id)));
        }
        let acceptance = match self.workspace.library.acceptance(&now, &Selection::default()).await {
            Ok(acceptance) => acceptance,
            Err(error) => return Ok(Err(error)),
        };
        let vectors = self.models.embed_card(&acceptance.card).await?;
        Ok(self.workspace.library.accept(&now, acceptance, vectors, meta, approvals).await)
    }

    /// Accepts the proposals in `reviewed` that are safe, as one change.
    async fn accept_safe(
        &self,
        reviewed: Vec<ReviewedProposal>,
        author: &Author,
        progress: &Progress,
    ) -> Result<Outcome> {
        let (needed, rules) = (self.proposals.approvals().await?, self.proposals.rules().await?);
        let safe: Vec<(Proposal, Acceptance)> =
            reviewed.into_iter().filter_map(|(proposal, verdict)| Some((proposal, verdict.ok()?))).collect();
        let total = safe.len() as u64;
        let (mut tally, mut done, mut approved, mut late, mut own) = (JobTally::default(), 0, 0, 0u32, 0);
        let mut stopped = false;
        let mut touched: HashSet<CardId> = HashSet::new();
        progress.set_done(0, total);
        for batch in safe.chunks(BATCH) {
            // What was accepted before stays accepted and can be undone, so that is reported and no error.
            stopped = progress.is_cancelled();
            if stopped {
                break;
            }
            let cards: Vec<_> = batch.iter().map(|(_, acceptance)| acceptance.card.clone()).collect();
            let vectors = self.models.embed_cards(&cards).await?;
            let mut accepted = Vec::new();
            for ((proposal, acceptance), vectors) in batch.iter().zip(vectors) {
                let meta = Meta {
                    operation: Operation::Accept,
                    author: author.clone(),
                    reason: format!("Accepted {total} proposals"),
                    change: tally.change.clone(),
                    request: None,
                };
                if Decisions::ensure_others(proposal, author, rules.as_ref()).is_err() {
                    own += 1;
                    continue;
                }
                let approvals = needed(proposal.risk);
                // An earlier one of these may have changed the same card.
                let moved = proposal.draft.card.as_ref().is_some_and(|card| touched.contains(card));
                let result = if moved {
                    self.accept_after_another(proposal, &meta, approvals).await?
                } else {
                    self.workspace
                        .library
                        .accept(proposal, acceptance.clone(), vectors, &meta, approvals)
                        .await
                };
                match result {
                    Ok(Accepted::Written(committed)) => {
                        tally.change = tally.change.take().or(committed.change);
                        tally.changed += 1;
                        for id in committed.added.into_iter().chain(committed.changed) {
                            touched.insert(id.clone());
                            accepted.push((proposal, id));
                        }
                    }
                    Ok(Accepted::Approved(_)) => approved += 1,
                    // Somebody else was faster; the proposal stays as they left it.
                    Err(
                        LibraryError::ProposalChanged(_)
                        | LibraryError::Decided { .. }
                        | LibraryError::Conflict { .. }
                        | LibraryError::Duplicate { .. }
                        | LibraryError::NoCard(_),
                    ) => late += 1,
                    Err(error) => return Err(error.into()),
                }
                done += 1;
                progress.set_done(done, total);
            }
            self.servers.bind_accepted(&accepted).await?;
            self.workspace.notify_library_changed();
            self.workspace.notify_proposals_changed().await?;
        }
        let mut summary = format!("{} accepted", tally.changed);
        let left = [
            (approved, "waiting for more approvals"),
            (late, "changed in the meantime"),
            (own, "left to other reviewers"),
        ];
        for (count, what) in left {
            if count > 0 {
                let _ = write!(summary, ", {count} {what}");
            }
        }
        if stopped {
            let _ = write!(summary, ", stopped before the other {}", total - done);
        }
        tally.rejected = late;
        Ok(Outcome { summary, tally: Some(tally) })
    }
}

/// Returns why a proposal is never accepted together with others: it changes what AutoKit runs or calls, or what the card
/// is known by.
fn reason_to_look_closer(draft: &Draft) -> Option<String> {
    let has = |names: &[&str]| draft.fields.iter().any(|field| names.contains(&field.field.as_str()));
    if has(&[fields::FUNCTION]) {
        return Some("contains code that AutoKit runs".to_owned());
    }
    let is_change = draft.card.is_some();
    if is_change && has(&fields::CALLS) {
        return Some("changes what is called".to_owned());
    }
    let renames = is_change && has(&[fields::NAME, fields::PROVIDER]);
    renames.then(|| "changes the name or provider".to_owned())
}

/// Checks the length of a reviewer's name.
///
/// # Errors
/// `invalid` for more than `MAX_NAME` characters.
fn check_reviewer_name(name: &str) -> Result<()> {
    let length = name.chars().count();
    if length <= MAX_NAME {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::Invalid,
        format!("the reviewer's name is too long ({length} characters)"),
        format!("Use at most {MAX_NAME} characters."),
    ))
}

/// Returns a digest of a preview. It differs for another value, another card or another list of proposals.
fn preview_digest(reviewed: &[ReviewedProposal]) -> String {
    let mut hash = Sha256::new();
    for (proposal, verdict) in reviewed {
        hash.update(proposal.id.number().to_be_bytes());
        if let Ok(acceptance) = verdict {
            hash.update(acceptance.card.to_json());
        }
        hash.update([0]);
    }
    hex::encode(hash.finalize())
}

#[async_trait]
impl Handle<AcceptProposal> for Decisions {
    async fn handle(&self, context: &Context, request: ProposalAccept) -> Result<ProposalDetail> {
        // Skipped on a retry after a lost response: the proposal has been accepted already.
        if self.workspace.library.outcome_of(context.request.as_deref()).await?.is_none() {
            let touched = self.accept_proposal(context, &request).await?;
            self.workspace.notify_proposals_changed().await?;
            // Fetched in the background, so that answers can cite the page.
            let documented =
                |id: &CardId| self.workspace.library.card(id).is_ok_and(|record| record.documented);
            if touched.iter().any(documented) {
                self.pages.start_unrequested(touched);
            }
        }
        self.proposals.detail(request.id).await
    }
}

#[async_trait]
impl Handle<RejectProposal> for Decisions {
    async fn handle(&self, context: &Context, request: ProposalReject) -> Result<ProposalDetail> {
        let by = self.decider(context, &request.by).await?;
        let rejected = self
            .workspace
            .library
            .reject(request.id, &by, request.reason.trim(), context.request.as_deref())
            .await;
        if let Err(error) = rejected {
            return Err(self.acceptance_error(request.id, error).await);
        }
        self.workspace.notify_proposals_changed().await?;
        self.proposals.detail(request.id).await
    }
}

#[async_trait]
impl Handle<CommentProposal> for Decisions {
    async fn handle(&self, context: &Context, request: ProposalComment) -> Result<ProposalDetail> {
        let by = self.reviewer(context, &request.by).await?;
        if request.words.trim().is_empty() {
            let remedy = "Write a comment.";
            return Err(ApiError::new(ErrorCode::Invalid, "the comment is empty", remedy));
        }
        self.workspace.library.comment(request.id, &by, &request.words, context.request.as_deref()).await?;
        self.workspace.notify_proposals_changed().await?;
        self.proposals.detail(request.id).await
    }
}

#[async_trait]
impl Handle<AssignProposal> for Decisions {
    async fn handle(&self, context: &Context, request: ProposalAssign) -> Result<ProposalDetail> {
        if self.proposals.rules().await?.is_none() {
            let message = "proposals are assigned to members of a team, and this library is not a team's";
            return Err(ApiError::new(ErrorCode::Refused, message, "Open the library of a team."));
        }
        let by = self.reviewer(context, "").await?;
        let to = request.to.as_deref().map(str::trim).filter(|name| !name.is_empty());
        self.workspace.library.assign(request.id, to, &by, context.request.as_deref()).await?;
        self.workspace.notify_proposals_changed().await?;
        self.proposals.detail(request.id).await
    }
}

#[async_trait]
impl Handle<ReopenProposal> for Decisions {
    async fn handle(&self, context: &Context, request: ProposalRef) -> Result<ProposalDetail> {
        let by = self.decider(context, "").await?;
        if self.workspace.library.change_of_proposal(request.id).await?.is_some() {
            let undone = {
                let _reopening = self.reopening.lock().await;
                let request_key = context.request.clone();
                let accepted = self.workspace.library.proposal(request.id).await?.accepted;
                let undone = self.workspace.library.undo_acceptance(request.id, by, request_key).await?;
                let fields = if undone.kept.is_empty() { &[] } else { accepted.as_slice() };
                self.workspace.library.rebase_reopened(request.id, fields).await?;
                undone
            };
            self.servers.unbind(&undone.cards).await?;
            self.models.refresh(&undone.cards).await?;
            self.workspace.notify_library_changed();
        } else {
            self.workspace.library.reopen(request.id, &by, context.request.as_deref()).await?;
        }
        self.workspace.notify_proposals_changed().await?;
        self.proposals.detail(request.id).await
    }
}

#[async_trait]
impl Handle<PreviewAccept> for Decisions {
    async fn handle(&self, _: &Context, request: ProposalsRef) -> Result<AcceptPreview> {
        let reviewed = self.review_by_rules(&request.ids, request.rule).await?;
        let seen = preview_digest(&reviewed);
        let (mut safe, mut left) = (Vec::new(), Vec::new());
        for (proposal, verdict) in reviewed {
            let (id, title) = (proposal.id, self.proposals.title(&proposal));
            match verdict {
                Ok(acceptance) => {
                    let before =
                        proposal.draft.card.as_ref().and_then(|card| self.workspace.library.card(card).ok());
                    let before = before.map_or_else(Map::new, |record| record.card().into_object());
                    let diff = diff_cards(&before, acceptance.card.object());
                    safe.push(SafeProposal { id, title, reason: proposal.draft.reason.clone(), diff });
                }
                Err(why) => left.push(UnsafeProposal { id, title, why }),
            }
        }
        Ok(AcceptPreview { safe, left, seen })
    }
}

#[async_trait]
impl Handle<AcceptProposals> for Decisions {
    async fn handle(&self, context: &Context, request: ProposalsAccept) -> Result<JobRef> {
        let reviewed = self.review_by_rules(&request.ids, request.rule).await?;
        if preview_digest(&reviewed) != request.seen {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "the proposals changed after the preview",
                "Open the preview again.",
            ));
        }
        let author = self.decider(context, &request.by).await?;
        let decisions = self.clone();
        Ok(self.workspace.jobs.start(
            JobKind::Review,
            "Accepting proposals",
            "proposals",
            |progress| async move { decisions.accept_safe(reviewed, &author, &progress).await },
        ))
    }
}

#[async_trait]
impl Handle<GetReviewPolicy> for Decisions {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<ReviewPolicy> {
        self.proposals.policy().await
    }
}

#[async_trait]
impl Handle<SetReviewPolicy> for Decisions {
    async fn handle(&self, _: &Context, request: ReviewPolicy) -> Result<ReviewPolicy> {
        if self.proposals.rules().await?.is_some() {
            let message = "the team decides who reviews, and how many have to accept a change";
            let remedy = "Change the policy in Settings, Team.";
            return Err(ApiError::new(ErrorCode::Refused, message, remedy));
        }
        if !(1..=MAX_APPROVALS).contains(&request.approvals) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("cannot require {} approvals", request.approvals),
                format!("Enter a number from 1 to {MAX_APPROVALS}."),
            ));
        }
        check_reviewer_name(request.reviewer.trim())?;
        let policy = ReviewPolicy { reviewer: request.reviewer.trim().to_owned(), ..request };
        self.workspace.save_setting(Setting::Review, &policy).await?;
        Ok(policy)
    }
}
