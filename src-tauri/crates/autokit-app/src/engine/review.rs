//! The review queue.

use std::sync::Arc;

use autokit_library::{Acceptance, CardRecord, Meta, Proposed};
use autokit_retrieve::{Hit, Mode, Query, QueryPlan};
use autokit_toolcard::{
    Author, CardId, Draft, Operation, Proposal, ProposalState, Toolcard, diff_cards, fields,
};
use serde_json::{Map, Value};

use crate::api::{
    CardDescribe, Event, ProposalAccept, ProposalDetail, ProposalRef, ProposalReject, ProposalRow, Proposals,
    ProposalsQuery,
};
use crate::commands::{
    AcceptProposal, Context, DescribeCard, GetProposal, Handle, ListProposals, RejectProposal, ReopenProposal,
};
use crate::error::{ApiError, ErrorCode, Result};

use super::{Core, Engine};

/// Cosine from which two descriptions are of one tool, most likely: above what different tools of one
/// maker reach, below what two wordings of one tool do.
const ALIKE: f32 = 0.85;

impl Core {
    /// The card a proposal is about, or would make.
    fn title(&self, proposal: &Proposal) -> String {
        match (&proposal.draft.card, proposal.draft.key()) {
            (Some(id), _) => {
                self.library.card(id).map_or_else(|_| id.to_string(), |record| record.key.to_string())
            }
            (None, Some(key)) => key.to_string(),
            (None, None) => "a card without a name".to_owned(),
        }
    }

    pub(crate) async fn proposal_detail(&self, id: u32) -> Result<ProposalDetail> {
        let proposal = self.library.proposal(id).await?;
        let record = proposal.draft.card.as_ref().and_then(|card| self.library.card(card).ok());
        let now: Map<String, Value> =
            record.as_ref().map(|record| record.card().into_object()).unwrap_or_default();
        let mut conflicts = Vec::new();
        if let (Some(record), Some(base), ProposalState::Pending) =
            (&record, proposal.draft.base, proposal.state)
            && record.number != base
        {
            let then = self.library.revision(&record.id, base).await?.body.unwrap_or_default();
            let then: Map<String, Value> =
                serde_json::from_str(&then).map_err(|error| ApiError::internal(error.to_string()))?;
            conflicts.extend(
                proposal
                    .draft
                    .fields
                    .iter()
                    .map(|field| field.field.clone())
                    .filter(|field| now.get(field) != then.get(field)),
            );
        }
        let similar = self.library.read(|replica| {
            let named = |id: &CardId| Some((id.to_string(), replica.get(id)?.key.to_string()));
            proposal.draft.similar.iter().filter_map(named).collect()
        });
        // A new card is found by its name as accepted, which the reviewer may have edited.
        let made = || {
            let key = proposal.draft.key().filter(|_| proposal.state == ProposalState::Accepted)?;
            self.library.read(|replica| replica.by_key(&key).map(|record| record.id.to_string()))
        };
        Ok(ProposalDetail {
            card: proposal.draft.card.as_ref().map(ToString::to_string).or_else(made),
            title: self.title(&proposal),
            diff: diff_cards(&now, &proposal.draft.applied(&now, |_| true)),
            conflicts,
            similar,
            events: self.library.proposal_events(id).await?,
            proposal,
        })
    }

    /// Keeps a proposal, with the cards of the library that may be the same tool: of the same name or
    /// page, or described almost alike.
    pub(crate) async fn propose(&self, mut draft: Draft, by: &Author) -> Result<Proposed> {
        let card = Toolcard::new(draft.applied(&Map::new(), |_| true));
        if let (None, Ok(card)) = (&draft.card, card) {
            let url = card.text(fields::DOCUMENTATION).map(|url| url.trim_end_matches('/').to_owned());
            let mut similar: Vec<CardId> = self.library.read(|replica| {
                let same = |record: &&Arc<CardRecord>| {
                    record.key.name.eq_ignore_ascii_case(card.name())
                        || (url.is_some()
                            && record
                                .card()
                                .text(fields::DOCUMENTATION)
                                .map(|other| other.trim_end_matches('/'))
                                == url.as_deref())
                };
                replica.iter().filter(same).map(|record| record.id.clone()).collect()
            });
            if let Some(vectors) = self.embed_card(&card).await? {
                similar.extend(self.described_alike(vectors.values)?);
            }
            similar.extend(std::mem::take(&mut draft.similar));
            similar.sort();
            similar.dedup();
            draft.similar = similar;
        }
        let proposed = self.library.propose(draft, by).await?;
        self.tell_proposals().await?;
        Ok(proposed)
    }

    /// Cards whose description is almost that of a vector.
    fn described_alike(&self, vector: Vec<f32>) -> Result<Vec<CardId>> {
        let plan = QueryPlan::new("");
        let vectors = [vector];
        let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Vector, limit: 3, filter: None };
        let hits = self.finder.load().read(|index| index.search(&query));
        let hits = hits.map_err(|error| ApiError::internal(error.to_string()))?;
        let alike = |hit: &Hit| hit.parts.cosine.is_some_and(|cosine| cosine >= ALIKE);
        Ok(hits.iter().filter(|hit| alike(hit)).map(|hit| CardId::new(&hit.id)).collect())
    }

    /// How many proposals wait, told to whoever listens.
    pub(crate) async fn tell_proposals(&self) -> Result<()> {
        let waiting = self.library.proposals(Some(ProposalState::Pending)).await?.len() as u32;
        self.waiting.store(waiting, std::sync::atomic::Ordering::Relaxed);
        self.tell(Event::Proposals { waiting });
        Ok(())
    }

    /// Writes an acceptance; gives the cards it touched.
    async fn take_over(&self, context: &Context, request: &ProposalAccept) -> Result<Vec<CardId>> {
        let proposal = self.library.proposal(request.id).await?;
        let acceptance: Acceptance =
            self.library.acceptance(&proposal, request.fields.as_deref(), &request.edits).await?;
        let vectors = self.embed_card(&acceptance.card).await?;
        let title = self.title(&proposal);
        let reason = match request.reason.trim() {
            "" => format!("Accepted proposal {} for {title}", proposal.id),
            reason => reason.to_owned(),
        };
        let meta = Meta {
            operation: Operation::Accept,
            author: Author(context.author.clone()),
            reason,
            change: None,
            request: context.request.clone(),
        };
        let touched = {
            let _turn = self.writing.lock().await;
            let committed = self.library.accept(&proposal, acceptance, vectors, &meta).await?;
            let touched = [committed.added, committed.changed].concat();
            // Searchable at once: the index is brought up before the answer goes out.
            self.index_cards(&touched).await?;
            touched
        };
        self.tell_library();
        self.tell_proposals().await?;
        Ok(touched)
    }
}

impl Handle<DescribeCard> for Engine {
    async fn handle(&self, context: &Context, request: CardDescribe) -> Result<ProposalDetail> {
        let core = &self.core;
        let now = core.options.clock.stamp();
        let services = core.services.load_full();
        let embedder = core.embedder();
        let is_word = |word: &str| embedder.as_ref().is_none_or(|embedder| embedder.knows_word(word));
        let draft = match &services.small {
            Some(small) => {
                match autokit_agent::describe_with(small, &services.prompts, &request.text, &now, &is_word)
                    .await
                {
                    Ok((draft, _)) => draft,
                    Err(error) => {
                        tracing::info!(%error, "the card is made by rules");
                        autokit_agent::describe(&request.text, &now)
                    }
                }
            }
            None => autokit_agent::describe(&request.text, &now),
        };
        if draft.key().is_none_or(|key| key.name.is_empty()) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the text names no tool",
                "Begin with its name, e.g. \u{201c}Weather Kit is a library that \u{2026}\u{201d}.",
            ));
        }
        let proposal = core.propose(draft, &Author(context.author.clone())).await?.proposal;
        core.proposal_detail(proposal.id).await
    }
}

impl Handle<ListProposals> for Engine {
    async fn handle(&self, _: &Context, request: ProposalsQuery) -> Result<Proposals> {
        let all = self.core.library.proposals(request.state).await?;
        let waiting = match request.state {
            Some(ProposalState::Pending) => all.len(),
            _ => self.core.library.proposals(Some(ProposalState::Pending)).await?.len(),
        };
        let rows = all
            .iter()
            .rev()
            .map(|proposal| ProposalRow {
                id: proposal.id,
                title: self.core.title(proposal),
                origin: proposal.draft.origin,
                state: proposal.state,
                card: proposal.draft.card.as_ref().map(ToString::to_string),
                fields: proposal.draft.fields.iter().map(|field| field.field.clone()).collect(),
                confidence: proposal.draft.confidence(),
                created_at: proposal.created_at.clone(),
                reason: proposal.draft.reason.clone(),
            })
            .collect();
        Ok(Proposals { rows, waiting: waiting as u32 })
    }
}

impl Handle<GetProposal> for Engine {
    async fn handle(&self, _: &Context, request: ProposalRef) -> Result<ProposalDetail> {
        self.core.proposal_detail(request.id).await
    }
}

impl Handle<AcceptProposal> for Engine {
    async fn handle(&self, context: &Context, request: ProposalAccept) -> Result<ProposalDetail> {
        // Asked again after a lost answer: what was done stays done.
        if self.core.library.outcome_of(context.request.as_deref()).await?.is_none() {
            let touched = self.core.take_over(context, &request).await?;
            // Its page is read in the background, for answers to cite.
            let documented = |id: &CardId| self.core.library.card(id).is_ok_and(|record| record.documented);
            if touched.iter().any(documented) {
                self.core.start_pages(touched, false);
            }
        }
        self.core.proposal_detail(request.id).await
    }
}

impl Handle<RejectProposal> for Engine {
    async fn handle(&self, context: &Context, request: ProposalReject) -> Result<ProposalDetail> {
        let by = Author(context.author.clone());
        self.core.library.reject(request.id, &by, request.reason.trim()).await?;
        self.core.tell_proposals().await?;
        self.core.proposal_detail(request.id).await
    }
}

impl Handle<ReopenProposal> for Engine {
    async fn handle(&self, context: &Context, request: ProposalRef) -> Result<ProposalDetail> {
        let by = Author(context.author.clone());
        match self.core.library.change_of_proposal(request.id).await? {
            Some(change) => {
                let undone = {
                    let _turn = self.core.writing.lock().await;
                    let undone = self.core.library.undo(&change, by, context.request.clone()).await?;
                    self.core.index_cards(&undone.cards).await?;
                    undone
                };
                self.core.refresh(&undone.cards).await?;
                self.core.tell_library();
            }
            None => {
                self.core.library.reopen(request.id, &by).await?;
            }
        }
        self.core.tell_proposals().await?;
        self.core.proposal_detail(request.id).await
    }
}
