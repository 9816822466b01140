//! Proposals: those made here become the team's, and those of the team appear in Review (`receive`). The server decides:
//! what was decided here and it refuses is taken back.

mod receive;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use autokit_library::{ProposalLink, Selection, TeamNote};
use autokit_team::{Approval, CardKey, Code, MemberKey, NewProposal, ProposalKey, Request, Step};
use autokit_toolcard::{
    CardId, Draft, FieldDecision, Origin, PageCandidate, Proposal, ProposalId, ProposalState, ProposedField,
    Revision, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::error::Result;
use crate::send::is_too_large;
use crate::sync::TeamSync;

/// Most new proposals that are noted at once.
const BATCH: usize = 100;
/// Most characters in a comment that a team stores.
const COMMENT: usize = 4_000;

/// What is proposed, without what only the library here knows.
#[derive(Serialize, Deserialize)]
struct SharedDraft {
    origin: Origin,
    reason: String,
    fields: Vec<ProposedField>,
    /// The values of the fields in the card when they were proposed.
    before: Map<String, Value>,
    basis: Option<String>,
    candidates: Vec<PageCandidate>,
}

/// What was decided on each field.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Outcome {
    accepted: Vec<String>,
    decisions: Vec<FieldDecision>,
}

/// A proposal that was accepted here, and the revision that this wrote.
#[derive(Clone, Debug)]
pub(crate) struct AcceptedHere {
    pub(crate) proposal: Proposal,
    pub(crate) key: ProposalKey,
}

/// The values of a proposal as one text, the same however they are ordered.
fn values_digest(draft: &Draft) -> String {
    let mut values: Vec<String> = draft.fields.iter().chain(&draft.agreed).map(value_text).collect();
    values.sort_unstable();
    digest(values.iter().map(String::as_str))
}

fn value_text(field: &ProposedField) -> String {
    let value = field.value.as_ref().map(Value::to_string).unwrap_or_default();
    pair(&field.field, &value)
}

/// A field with a value as one text.
fn pair(field: &str, value: &str) -> String {
    Value::from(vec![field, value]).to_string()
}

pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex::encode(hasher.finalize())
}

/// What is the same for equal proposals: the card, or the name of a new one, and the values.
fn fingerprint(card: Option<&str>, draft: &Draft) -> String {
    let new = || draft.key().map(|key| key.id().to_string()).unwrap_or_default();
    let about = card.map_or_else(|| format!("new {}", new()), str::to_owned);
    format!("{}-{}", digest([about.as_str()]), values_digest(draft))
}

/// The values that somebody accepted while more have to.
fn approved_by(approvals: &[autokit_toolcard::Approval], name: &str) -> Vec<String> {
    let own = approvals.iter().find(|approval| approval.by == name);
    own.map(|own| own.values.iter().map(|(field, value)| pair(field, value)).collect()).unwrap_or_default()
}

/// Whether the team does not have yet what was done about a proposal here.
fn is_unsent(proposal: &Proposal, link: &ProposalLink, name: &str) -> bool {
    let approved = approved_by(&proposal.approvals, name);
    proposal.state != link.state
        || (proposal.state == ProposalState::Pending
            && (proposal.assigned_to != link.assigned_to
                || (!approved.is_empty() && approved != link.approved)))
}

impl TeamSync {
    /// Returns the proposals that were accepted here and are pending at the team, oldest decision first.
    pub(crate) async fn accepted_here(&self) -> Result<Vec<AcceptedHere>> {
        let mut accepted = Vec::new();
        for (id, key) in self.decided_here().await? {
            let proposal = self.library.proposal(id).await?;
            if proposal.state == ProposalState::Accepted {
                accepted.push(AcceptedHere { proposal, key });
            }
        }
        accepted.sort_by_key(|one| (one.proposal.decided_at, one.proposal.id));
        Ok(accepted)
    }

    /// Returns the proposals that are pending at the team and not here.
    async fn decided_here(&self) -> Result<Vec<(ProposalId, ProposalKey)>> {
        let pending: HashSet<ProposalId> =
            self.library.pending().await?.iter().map(|proposal| proposal.id).collect();
        let is_pending = |link: &ProposalLink| link.state == ProposalState::Pending;
        let open = self.links.iter().filter(|(id, link)| is_pending(link) && !pending.contains(id));
        let keyed =
            |(id, link): (&ProposalId, &ProposalLink)| Some((*id, ProposalKey::new(link.key.clone()?)));
        let mut decided: Vec<(ProposalId, ProposalKey)> = open.filter_map(keyed).collect();
        decided.sort_unstable();
        Ok(decided)
    }

    /// The request that accepts a proposal with what this revision of a card says.
    pub(crate) fn acceptance(&self, accepted: &AcceptedHere, revision: &Revision) -> Request {
        let AcceptedHere { proposal, key } = accepted;
        let state = self.shared.get(&revision.card);
        let card: Map<String, Value> =
            revision.body.as_deref().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        let value = |field: &String| card.get(field).map(Value::to_string).unwrap_or_default();
        let outcome = Outcome { accepted: proposal.accepted.clone(), decisions: proposal.decisions.clone() };
        let step = Step::Accept(Approval {
            proposal: key.clone(),
            card: state.map(|state| CardKey::new(state.key.as_str())),
            base: state.map_or(0, |state| state.number),
            body: revision.body.clone(),
            values: proposal.accepted.iter().map(|field| pair(field, &value(field))).collect(),
            risk: proposal.risk.as_str().to_owned(),
            outcome: serde_json::to_string(&outcome).ok(),
        });
        let reason = proposal.decision.clone().unwrap_or_default();
        request(step, reason, proposal.decided_at.unwrap_or(revision.at))
    }

    /// Returns the cards that something is proposed for or decided about here that the team does not know.
    pub(crate) async fn with_unsent_proposals(&self) -> Result<Vec<CardId>> {
        let mut cards = Vec::new();
        for proposal in self.library.pending().await? {
            let link = self.links.get(&proposal.id).filter(|link| link.key.is_some());
            if link.is_none_or(|link| is_unsent(&proposal, link, &self.rules.member)) {
                cards.push(proposal.draft.subject());
            }
        }
        for (id, _) in self.decided_here().await? {
            cards.push(self.library.proposal(id).await?.draft.subject());
        }
        Ok(cards)
    }

    /// Notes that a proposal is at the team as it is here.
    pub(crate) async fn set_link(&mut self, id: ProposalId, link: ProposalLink) -> Result<()> {
        self.library.set_proposal_links(&[(id, link.clone())]).await?;
        self.keep_link(id, link);
        Ok(())
    }

    fn keep_link(&mut self, id: ProposalId, link: ProposalLink) {
        if let Some(key) = &link.key {
            self.by_proposal.insert(key.clone(), id);
        }
        self.links.insert(id, link);
    }

    pub(crate) async fn set_link_state(&mut self, id: ProposalId, state: ProposalState) -> Result<()> {
        let Some(link) = self.links.get(&id).cloned() else { return Ok(()) };
        self.set_link(id, ProposalLink { state, ..link }).await
    }

    /// Sends what was done about proposals here. Returns whether there was something.
    pub(crate) async fn send_proposals(&mut self) -> Result<bool> {
        let pending = self.library.pending().await?;
        if !self.rules.may_propose {
            // What the team would refuse is read again.
            for proposal in &pending {
                let link = self.links.get(&proposal.id);
                let unsent = link.filter(|link| is_unsent(proposal, link, &self.rules.member));
                self.refused.extend(unsent.and_then(|link| link.key.clone()).map(ProposalKey::new));
            }
            let decided = self.decided_here().await?;
            self.refused.extend(decided.into_iter().map(|(_, key)| key));
            return Ok(false);
        }
        let mut new = Vec::new();
        let mut done = false;
        self.too_large.clear();
        for proposal in &pending {
            let Some(link) = self.links.get(&proposal.id).cloned() else {
                if proposal.draft.card.as_ref().is_none_or(|card| self.shared.contains_key(card)) {
                    new.push(Arc::clone(proposal));
                }
                continue;
            };
            let Some(key) = link.key.clone().map(ProposalKey::new) else {
                // Whether it arrived is not known: asked once more, it is made once.
                if self.asked.insert(proposal.id) {
                    new.push(Arc::clone(proposal));
                }
                continue;
            };
            let has_other_values = !link.fingerprint.ends_with(&values_digest(&proposal.draft));
            if has_other_values && link.state == ProposalState::Pending {
                if is_too_large(&self.shared_draft(proposal).await?) {
                    // The team keeps what it has of it.
                    self.too_large.insert(proposal.id);
                    continue;
                }
                self.replace(&key, proposal.id).await?;
                new.push(Arc::clone(proposal));
            } else if is_unsent(proposal, &link, &self.rules.member) {
                done |= self.send_standing(proposal, &key, link).await?;
            }
        }
        for batch in new.chunks(BATCH) {
            done |= self.send_new(batch).await?;
        }
        for (id, key) in self.decided_here().await? {
            let proposal = self.library.proposal(id).await?;
            let reason = proposal.decision.clone().unwrap_or_default();
            let outcome = Outcome { accepted: Vec::new(), decisions: proposal.decisions.clone() };
            let step = match proposal.state {
                ProposalState::Rejected => {
                    Step::Reject { proposal: key, outcome: serde_json::to_string(&outcome).ok() }
                }
                ProposalState::Withdrawn => Step::Withdraw(key),
                // Sent with the card that it wrote.
                ProposalState::Pending | ProposalState::Accepted => continue,
            };
            done = true;
            if self.try_step(step, &proposal, &reason).await? {
                self.set_link_state(id, proposal.state).await?;
            } else if proposal.state == ProposalState::Withdrawn {
                // Others go on discussing what is settled here, unless they decided it.
                self.set_link_state(id, ProposalState::Withdrawn).await?;
            }
        }
        done |= self.send_comments().await?;
        Ok(done)
    }

    /// Separates what was decided here after newer values had replaced the team's: nobody decided on the team's.
    pub(crate) async fn detach_replaced(&mut self) -> Result<()> {
        for (id, key) in self.decided_here().await? {
            let values = values_digest(&self.library.proposal(id).await?.draft);
            if self.links.get(&id).is_some_and(|link| !link.fingerprint.ends_with(&values)) {
                self.detach(id).await?;
                self.refused.insert(key);
            }
        }
        Ok(())
    }

    /// Makes a proposal one that only this library has; the team's is read as another one.
    async fn detach(&mut self, id: ProposalId) -> Result<()> {
        let Some(link) = self.links.get(&id).cloned() else { return Ok(()) };
        if let Some(key) = &link.key {
            self.by_proposal.remove(key);
        }
        let state = self.library.proposal(id).await?.state;
        self.set_link(id, ProposalLink { key: None, fingerprint: String::new(), state, ..link }).await
    }

    /// Withdraws a proposal whose values were replaced here by newer ones, which are proposed anew; that of somebody else stays.
    async fn replace(&mut self, key: &ProposalKey, id: ProposalId) -> Result<()> {
        let at = self.library.clock().stamp();
        let request = request(Step::Withdraw(key.clone()), "Replaced by newer values".to_owned(), at);
        match self.session.send(&request).await {
            Err(error) if !error.code.is_answer() => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        self.links.remove(&id);
        self.by_proposal.remove(key.as_str());
        Ok(())
    }

    /// Sends how a pending proposal stands: reopened, assigned, approved.
    async fn send_standing(
        &mut self,
        proposal: &Proposal,
        key: &ProposalKey,
        mut link: ProposalLink,
    ) -> Result<bool> {
        let before = link.clone();
        if link.state != ProposalState::Pending
            && self.try_step(Step::Reopen(key.clone()), proposal, "Reopen").await?
        {
            link.state = ProposalState::Pending;
            link.approved = Vec::new();
        }
        if proposal.assigned_to != link.assigned_to {
            let to = match &proposal.assigned_to {
                Some(name) => self.member_named(name).await?,
                None => None,
            };
            let step = Step::Assign { proposal: key.clone(), to };
            if self.try_step(step, proposal, "Assign").await? {
                link.assigned_to.clone_from(&proposal.assigned_to);
            }
        }
        let approved = approved_by(&proposal.approvals, &self.rules.member);
        if !approved.is_empty() && approved != link.approved {
            match self.approval(proposal, key, &approved).await? {
                Some(step) => {
                    if self.try_step(step, proposal, "Approve").await? {
                        link.approved = approved;
                    }
                }
                // The card changed: it is to be approved anew.
                None => drop(self.refused.insert(key.clone())),
            }
        }
        // What was refused is read again and replaces what is here.
        let is_sent = link != before;
        self.set_link(proposal.id, link).await?;
        Ok(is_sent)
    }

    /// The approval of a proposal that is pending here as well; `None` if it cannot be applied to the card any more.
    async fn approval(
        &self,
        proposal: &Proposal,
        key: &ProposalKey,
        values: &[String],
    ) -> Result<Option<Step>> {
        let own = proposal.approvals.iter().find(|approval| approval.by == self.rules.member);
        let Some(own) = own else { return Ok(None) };
        let parsed =
            |(field, text): (&String, &String)| Some((field.clone(), serde_json::from_str(text).ok()?));
        let selection = Selection {
            fields: Some(own.values.keys().cloned().collect()),
            edits: own.values.iter().filter_map(parsed).collect(),
            ..Selection::default()
        };
        let Ok(acceptance) = self.library.acceptance(proposal, &selection).await else { return Ok(None) };
        let state = proposal.draft.card.as_ref().and_then(|card| self.shared.get(card));
        let outcome = Outcome { accepted: acceptance.fields.clone(), decisions: Vec::new() };
        Ok(Some(Step::Accept(Approval {
            proposal: key.clone(),
            card: state.map(|state| CardKey::new(state.key.as_str())),
            base: state.map_or(0, |state| state.number),
            body: Some(acceptance.card.to_json()),
            values: values.to_vec(),
            risk: proposal.risk.as_str().to_owned(),
            outcome: serde_json::to_string(&outcome).ok(),
        })))
    }

    /// Asks for one step about a proposal. Where the server refuses it, the proposal is read again and taken as it is there.
    async fn try_step(&mut self, step: Step, proposal: &Proposal, reason: &str) -> Result<bool> {
        let at = match (&step, proposal.decided_at) {
            (Step::Propose(_), _) => proposal.created_at,
            (_, Some(decided)) => decided,
            // Done again, it changes nothing, and is done again if it was taken back in between.
            _ => self.library.clock().stamp(),
        };
        let key = self.links.get(&proposal.id).and_then(|link| link.key.clone());
        match self.session.send(&request(step, reason.to_owned(), at)).await {
            Ok(_) => Ok(true),
            // The card is received first.
            Err(error) if error.code == Code::Changed => Ok(false),
            Err(error) if error.code.is_refusal() || error.code == Code::NotFound => {
                tracing::info!(proposal = %proposal.id, %error, "the team refused what was done here");
                self.refused.extend(key.map(ProposalKey::new));
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Proposes to the team what was proposed here. Returns whether there was something that it stores.
    async fn send_new(&mut self, proposals: &[Arc<Proposal>]) -> Result<bool> {
        let (mut new, mut links) = (Vec::new(), Vec::new());
        for proposal in proposals {
            let key = proposal.draft.card.as_ref().and_then(|card| self.shared.get(card));
            let key = key.map(|state| state.key.clone());
            let fingerprint = fingerprint(key.as_deref(), &proposal.draft);
            let draft = self.shared_draft(proposal).await?;
            if is_too_large(&draft) {
                self.too_large.insert(proposal.id);
                continue;
            }
            let step = Step::Propose(NewProposal {
                visible_to: key.is_none().then(|| self.visibility_of_new(&proposal.draft.subject())),
                card: key.map(CardKey::new),
                draft,
                fingerprint: fingerprint.clone(),
                risk: proposal.risk.as_str().to_owned(),
            });
            new.push((proposal, step));
            let link = ProposalLink {
                key: None,
                fingerprint,
                state: ProposalState::Pending,
                assigned_to: None,
                approved: Vec::new(),
                comments: 0,
            };
            links.push((proposal.id, link));
        }
        // Known before it is sent, so that what arrives is recognized whatever happens in between.
        self.library.set_proposal_links(&links).await?;
        let is_any = !new.is_empty();
        for ((proposal, step), (id, link)) in new.into_iter().zip(links) {
            self.asked.insert(id);
            self.links.insert(id, link);
            self.try_step(step, proposal, &proposal.draft.reason).await?;
        }
        Ok(is_any)
    }

    /// What a team stores of what is proposed.
    async fn shared_draft(&self, proposal: &Proposal) -> Result<String> {
        let draft = SharedDraft {
            before: self.values_before(proposal).await?,
            origin: proposal.draft.origin,
            reason: proposal.draft.reason.clone(),
            fields: proposal.draft.fields.clone(),
            basis: proposal.draft.basis.clone(),
            candidates: proposal.draft.candidates.clone(),
        };
        Ok(serde_json::to_string(&draft).unwrap_or_default())
    }

    /// Returns the values that the fields of a proposal had in the card when they were proposed.
    async fn values_before(&self, proposal: &Proposal) -> Result<Map<String, Value>> {
        let mut before = proposal.draft.before.clone().unwrap_or_default();
        let Some(card) = &proposal.draft.card else { return Ok(before) };
        let mut read: BTreeMap<u32, Map<String, Value>> = BTreeMap::new();
        for field in &proposal.draft.fields {
            let Some(base) = proposal.base_of(&field.field) else { continue };
            let object = match read.entry(base) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(entry) => {
                    let body = self.library.revision(card, base).await?.body;
                    entry.insert(body.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default())
                }
            };
            match object.get(&field.field) {
                Some(value) => before.insert(field.field.clone(), value.clone()),
                None => before.remove(&field.field),
            };
        }
        Ok(before)
    }

    async fn send_comments(&mut self) -> Result<bool> {
        let newest = self.library.commit_number();
        if newest.is_some() && self.all_commented_at == newest {
            return Ok(false);
        }
        let comments = self.library.comments_after(&self.rules.member, self.position.commented).await?;
        let mut sent = false;
        for (id, comment) in comments {
            let key = self.links.get(&id).and_then(|link| link.key.clone());
            if let Some(key) = key {
                let text: String = comment.why.chars().take(COMMENT).collect();
                let step = Step::Comment { proposal: ProposalKey::new(key), text };
                match self.session.send(&request(step, String::new(), comment.at)).await {
                    Ok(_) => sent = true,
                    Err(error) if error.code.is_refusal() || error.code == Code::NotFound => {}
                    Err(error) => return Err(error.into()),
                }
            } else if self.links.contains_key(&id) {
                // Once it is known which proposal it is about.
                return Ok(sent);
            }
            self.position.commented = Some(comment.at);
        }
        self.all_commented_at = newest;
        if sent {
            self.library.set_team_note(TeamNote::Position, &self.position.to_text()).await?;
        }
        Ok(sent)
    }

    /// Returns the member of a name; `None` if there is none.
    async fn member_named(&mut self, name: &str) -> Result<Option<MemberKey>> {
        self.read_directory().await?;
        let found = self.directory.members.iter().find(|member| member.name == name);
        Ok(found.map(|member| member.key.clone()))
    }
}

/// The key of a request of one step.
pub(crate) fn request_key(step: &Step, at: Timestamp) -> String {
    digest([format!("{step:?}").as_str(), &at.to_string()])
}

/// A request of one step. Its key follows from what it says.
fn request(step: Step, reason: String, at: Timestamp) -> Request {
    Request { key: request_key(&step, at), reason, at, steps: vec![step] }
}
