//! The team's proposals in Review: as they are there, and before what was done here about them is sent.

use autokit_library::{ProposalLink, ReceivedComment, ReceivedProposal, TeamNote};
use autokit_team::{CardKey, MemberKey, ProposalKey, SharedProposal};
use autokit_toolcard::{CardId, Draft, ProposalId, ProposalState};

use super::{Outcome, SharedDraft, approved_by, is_unsent, values_digest};
use crate::error::Result;
use crate::notices::{Notice, NoticeKind, mentions};
use crate::position::Position;
use crate::sync::{Report, SyncScope, TeamSync};

/// Cards whose proposals are read at once.
const LATE: usize = 100;

/// Why a proposal of the team cannot be shown.
enum Unreadable {
    /// It is not as this program writes them.
    Draft,
    /// Its card is not here: it was deleted, or left out.
    Card,
}

fn parse_state(state: &str) -> ProposalState {
    ProposalState::parse(state).unwrap_or(ProposalState::Withdrawn)
}

impl TeamSync {
    /// Whether there are proposals that are to be read though nobody changed them.
    pub(crate) fn has_proposals_to_read(&self) -> bool {
        !self.refused.is_empty() || !self.early.is_empty() || !self.position.late.is_empty()
    }

    /// Takes the team's proposals as they are since the last time.
    pub(crate) async fn receive_proposals(&mut self, look: SyncScope, report: &mut Report) -> Result<()> {
        let mut stored = self.position.clone();
        let refused: Vec<ProposalKey> = self.refused.drain().collect();
        let early: Vec<ProposalKey> = self.early.iter().cloned().collect();
        for (keys, is_refused) in [(refused, true), (early, false)] {
            if !keys.is_empty() {
                let theirs = self.session.proposals(&keys).await?;
                self.take(theirs, self.position.clone(), &mut stored, is_refused, report).await?;
            }
        }
        while !self.position.late.is_empty() {
            let mut late = self.position.late.clone();
            let next = late.split_off(late.len().saturating_sub(LATE));
            let cards: Vec<CardKey> = next.into_iter().map(CardKey::new).collect();
            let theirs = self.session.proposals(&self.session.proposals_about(&cards).await?).await?;
            let position = Position { late, ..self.position.clone() };
            self.take(theirs, position, &mut stored, false, report).await?;
        }
        let from = if look == SyncScope::Whole { &self.position.proposals } else { &self.recent.proposals };
        let mut feed = self.session.proposal_feed(from);
        loop {
            let changes = feed.next().await?;
            report.invalid += changes.unreadable;
            self.recent.proposals = changes.recent;
            let mut position = self.position.clone();
            if look == SyncScope::Whole {
                position.proposals = changes.cursor;
            }
            self.take(changes.proposals, position, &mut stored, false, report).await?;
            if !changes.more {
                break;
            }
        }
        // What was written lately is read again each time: where it stops in between is nothing to write down.
        if self.position != stored {
            self.library.set_team_note(TeamNote::Position, &self.position.to_text()).await?;
        }
        Ok(())
    }

    /// Writes what is new of these proposals, and with it the position, which is `stored` then.
    async fn take(
        &mut self,
        theirs: Vec<SharedProposal>,
        position: Position,
        stored: &mut Position,
        is_refused: bool,
        report: &mut Report,
    ) -> Result<()> {
        let mut received = Vec::new();
        for proposal in theirs {
            let key = proposal.key.clone();
            match self.received(proposal, is_refused).await? {
                Ok(one) => {
                    self.early.remove(&key);
                    self.unreadable.remove(&key);
                    received.extend(one);
                }
                // Its card may have been added since the cards were read. What was written lately is read again.
                Err(Unreadable::Card)
                    if !self.unreadable.contains(&key) && self.early.insert(key.clone()) => {}
                Err(why) => {
                    self.early.remove(&key);
                    let is_new = self.unreadable.insert(key);
                    report.invalid += usize::from(is_new && matches!(why, Unreadable::Draft));
                }
            }
        }
        if !received.is_empty() {
            let told: Vec<_> = received.iter().map(|one| self.notices_of(one)).collect();
            let ids = self.library.receive_proposals(&received, &position.to_text()).await?;
            for ((proposal, one), told) in ids.into_iter().zip(&received).zip(told) {
                self.keep_link(proposal, one.link.clone());
                let notice = |(kind, by, text)| Notice { kind, proposal, by, text };
                report.notices.extend(told.into_iter().map(notice));
            }
            report.proposals += received.len();
            *stored = position.clone();
        }
        self.position = position;
        Ok(())
    }

    /// Returns what of a proposal is new here; nothing if it is as it was, or if what was done here is still to be sent.
    async fn received(
        &mut self,
        theirs: SharedProposal,
        is_refused: bool,
    ) -> Result<std::result::Result<Option<ReceivedProposal>, Unreadable>> {
        let is_same = |(_, link): &(&ProposalId, &ProposalLink)| {
            link.key.is_none() && link.fingerprint == theirs.fingerprint
        };
        let unlinked = self.links.iter().find(is_same).map(|(id, _)| *id);
        let linked = self.by_proposal.get(theirs.key.as_str()).copied();
        // What was withdrawn because its card was added here, and the card became this proposal, is the same.
        if let (Some(old), Some(_), true) = (linked, unlinked, is_refused) {
            self.detach(old).await?;
        }
        let mut id = if is_refused { unlinked.or(linked) } else { linked.or(unlinked) };
        let state = parse_state(&theirs.state);
        if state != ProposalState::Pending
            && let Some(one) = id
            && self.has_newer_values(one).await?
        {
            // What was decided is not what is proposed here since: that becomes a proposal of its own.
            self.detach(one).await?;
            id = None;
        }
        if id.is_none() && state == ProposalState::Withdrawn {
            return Ok(Ok(None));
        }
        let mut approvals = Vec::with_capacity(theirs.approvals.len());
        for given in &theirs.approvals {
            let parsed = |value: &String| serde_json::from_str::<(String, String)>(value).ok();
            approvals.push(autokit_toolcard::Approval {
                by: self.author(&given.by).await?.0,
                at: given.at,
                values: given.values.iter().filter_map(parsed).collect(),
            });
        }
        let link = ProposalLink {
            key: Some(theirs.key.as_str().to_owned()),
            fingerprint: theirs.fingerprint.clone(),
            state,
            assigned_to: self.name_of(theirs.assigned_to.as_ref()).await?,
            approved: approved_by(&approvals, &self.rules.member),
            comments: theirs.comments,
        };
        let known = id.and_then(|id| self.links.get(&id)).cloned();
        if let (Some(id), Some(known)) = (id, &known) {
            let here = self.library.proposal(id).await?;
            if !is_refused && known.key.is_some() && *known == link && here.approvals == approvals {
                return Ok(Ok(None));
            }
            // What was done here goes first: if the team refuses it, this is read again.
            if !is_refused && is_unsent(&here, known, &self.rules.member) {
                if known.key.is_none() {
                    let known = ProposalLink { key: link.key.clone(), ..known.clone() };
                    self.set_link(id, known).await?;
                }
                return Ok(Ok(None));
            }
        }
        let comments = if known.is_none_or(|known| known.comments < theirs.comments) && theirs.comments > 0 {
            self.comments(&theirs.key).await?
        } else {
            Vec::new()
        };
        let draft = match id {
            // What is here stays as it is.
            Some(_) => None,
            None => match self.draft(&theirs) {
                Ok(draft) => Some(draft),
                Err(error) => return Ok(Err(error)),
            },
        };
        let outcome: Outcome =
            theirs.outcome.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        Ok(Ok(Some(ReceivedProposal {
            id,
            draft,
            proposed_by: self.author(&theirs.proposed_by).await?,
            created_at: theirs.created_at,
            approvals,
            decided_at: theirs.decided_at,
            decided_by: self.name_of(theirs.decided_by.as_ref()).await?,
            decision: theirs.decision,
            accepted: outcome.accepted,
            decisions: outcome.decisions,
            comments,
            link,
        })))
    }

    /// Whether newer values replaced those of a proposal here, which the team does not have.
    async fn has_newer_values(&self, id: ProposalId) -> Result<bool> {
        let Some(link) = self.links.get(&id).filter(|link| link.key.is_some()) else { return Ok(false) };
        let here = self.library.proposal(id).await?;
        let is_same = link.fingerprint.ends_with(&values_digest(&here.draft));
        Ok(here.state == ProposalState::Pending && link.state == ProposalState::Pending && !is_same)
    }

    /// Returns what of a proposal this member is told of once it was received, with who did it and the text.
    fn notices_of(&self, one: &ReceivedProposal) -> Vec<(NoticeKind, Option<String>, String)> {
        // To a replica that was never in step, everything is new.
        if self.position.synced_at.is_none() || one.link.state != ProposalState::Pending {
            return Vec::new();
        }
        let me = &self.rules.member;
        let known = one.id.and_then(|id| self.links.get(&id));
        let mut told = Vec::new();
        let was_assigned = known.is_some_and(|known| known.assigned_to.as_ref() == Some(me));
        if !was_assigned && one.link.assigned_to.as_ref() == Some(me) {
            let reason = one.draft.as_ref().map(|draft| draft.reason.clone()).unwrap_or_default();
            told.push((NoticeKind::Assigned, None, reason));
        }
        let read = known.map_or(0, |known| known.comments as usize);
        let new = one.comments.iter().skip(read).filter(|comment| comment.by.0 != *me);
        let mentioning = new.filter(|comment| mentions(&comment.text, me));
        told.extend(
            mentioning
                .map(|comment| (NoticeKind::Mentioned, Some(comment.by.0.clone()), comment.text.clone())),
        );
        told
    }

    async fn comments(&mut self, proposal: &ProposalKey) -> Result<Vec<ReceivedComment>> {
        let comments = self.session.comments(std::slice::from_ref(proposal)).await?;
        let mut received = Vec::with_capacity(comments.len());
        for comment in comments {
            let by = self.author(&comment.author).await?;
            received.push(ReceivedComment { by, at: comment.at, text: comment.text });
        }
        Ok(received)
    }

    /// Reads what is proposed, about the card as it is named here.
    fn draft(&self, theirs: &SharedProposal) -> std::result::Result<Draft, Unreadable> {
        let shared: SharedDraft = serde_json::from_str(&theirs.draft).map_err(|error| {
            tracing::warn!(proposal = %theirs.key, %error, "a proposal of the team is not valid");
            Unreadable::Draft
        })?;
        let card: Option<CardId> = match &theirs.card {
            Some(key) => match self.by_key.get(key.as_str()) {
                Some(card) => Some(card.clone()),
                None => return Err(Unreadable::Card),
            },
            None => None,
        };
        let draft = Draft {
            before: card.is_some().then_some(shared.before),
            card,
            basis: shared.basis,
            candidates: shared.candidates,
            ..Draft::new(shared.origin, shared.reason, shared.fields)
        };
        Ok(draft)
    }

    /// Returns the name of a member, if there is one.
    async fn name_of(&mut self, member: Option<&MemberKey>) -> Result<Option<String>> {
        match member {
            Some(member) => Ok(Some(self.author(member).await?.0)),
            None => Ok(None),
        }
    }
}
