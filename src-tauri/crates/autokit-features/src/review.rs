//! The review queue.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autokit_agent::ask::{MODEL_IDLE_TIMEOUT, with_idle_timeout};
use autokit_api::commands::{Context, DescribeCard, GetProposal, Handle, ListProposals};
use autokit_api::{
    CardDescribe, FieldSide, FlaggedText, ProposalDetail, ProposalGet, ProposalRow,
    Proposals as ProposalList, ProposalsQuery, ReviewPolicy, Setting, TeamReviewer,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{PackedVectors, Proposed, TeamRules};
use autokit_toolcard::{
    Author, CardId, Draft, MarkedText, Origin, Proposal, ProposalId, ProposalState, Risk, Toolcard,
    diff_cards, fields, is_flagged, marks_in_field, risk_on,
};
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;
use lru::LruCache;
use serde_json::{Map, Value};

use crate::duplicates::Duplicates;

/// Drafts for which a cache remembers whether they are flagged.
const CACHED_DRAFTS: NonZeroUsize = NonZeroUsize::new(50_000).expect("not zero");

/// The review queue. Clones share state.
#[derive(Clone, Debug)]
pub struct Proposals {
    workspace: Workspace,
    models: Models,
    duplicates: Duplicates,
    providers: Providers,
    pub(crate) flagged: Arc<FlaggedDrafts>,
}

impl Proposals {
    /// Creates the review queue of this library.
    pub fn new(
        workspace: Workspace,
        models: Models,
        duplicates: Duplicates,
        providers: Providers,
    ) -> Proposals {
        Proposals { workspace, models, duplicates, providers, flagged: Arc::default() }
    }

    /// Returns the review policy.
    pub(crate) async fn policy(&self) -> Result<ReviewPolicy> {
        Ok(self.workspace.load_setting(Setting::Review).await?.unwrap_or_default())
    }

    /// Returns what the team lets this person do; `None` in a library that is no team's.
    pub(crate) async fn rules(&self) -> Result<Option<TeamRules>> {
        Ok(self.workspace.library.team_rules().await?)
    }

    /// Returns how many reviewers have to accept a proposal: as the team says, or else the policy here.
    pub(crate) async fn approvals(&self) -> Result<impl Fn(Risk) -> u32 + use<>> {
        let (rules, policy) = (self.rules().await?, self.policy().await?);
        Ok(move |risk| rules.as_ref().map_or(policy.approvals, |rules| rules.needed(risk)))
    }

    /// Returns the title of the card a proposal changes or creates.
    pub(crate) fn title(&self, proposal: &Proposal) -> String {
        match (&proposal.draft.card, proposal.draft.key()) {
            (Some(id), _) => self
                .workspace
                .library
                .card(id)
                .map_or_else(|_| id.to_string(), |record| record.key.to_string()),
            (None, Some(key)) => key.to_string(),
            (None, None) => "a card without a name".to_owned(),
        }
    }

    pub(crate) async fn detail(&self, id: ProposalId) -> Result<ProposalDetail> {
        self.detail_with_edits(ProposalGet::from(id)).await
    }

    async fn detail_with_edits(&self, request: ProposalGet) -> Result<ProposalDetail> {
        let proposal = self.workspace.library.proposal(request.id).await?;
        let record = proposal.draft.card.as_ref().and_then(|card| self.workspace.library.card(card).ok());
        let now: Map<String, Value> = match (&record, proposal.draft.base, proposal.state) {
            // A decided proposal is shown against the revision it was decided on.
            (
                Some(record),
                Some(base),
                ProposalState::Accepted | ProposalState::Rejected | ProposalState::Withdrawn,
            ) => {
                let body = self
                    .workspace
                    .library
                    .revision(&record.id, base)
                    .await?
                    .body
                    .unwrap_or_else(|| "{}".to_owned());
                serde_json::from_str(&body).map_err(|error| ApiError::internal(error.to_string()))?
            }
            (Some(record), ..) => record.card().into_object(),
            (None, ..) => Map::new(),
        };
        // A new card is found by its accepted name, which the reviewer may have edited.
        let created = || {
            let key = proposal.draft.key().filter(|_| proposal.state == ProposalState::Accepted)?;
            self.workspace.library.read(|replica| replica.by_key(&key).map(|record| record.id.clone()))
        };
        let mut draft = proposal.draft.clone();
        for field in &mut draft.fields {
            if let Some(value) = request.edits.get(&field.field) {
                field.value = Some(value.clone());
            }
        }
        let mut similar = proposal.draft.similar.clone();
        if proposal.state == ProposalState::Pending {
            // Such a card may have been added since, and imports propose thousands without searching.
            similar.extend(self.similar_to(&draft).await?);
            similar.sort();
            similar.dedup();
        }
        let similar = self.workspace.library.read(|replica| {
            let named = |id: &CardId| Some((id.clone(), replica.get(id)?.key.to_string()));
            similar.iter().filter_map(named).collect()
        });
        let proposed = |name: &str| draft.fields.iter().any(|field| field.field == name);
        Ok(ProposalDetail {
            card: proposal.draft.card.clone().or_else(created),
            title: self.title(&proposal),
            diff: diff_cards(&now, &draft.apply_to(&now, |_| true)),
            revision: record.as_ref().map(|record| record.number),
            risks: draft.fields.iter().map(|field| (field.field.clone(), risk_on(field, &now))).collect(),
            needed: self.approvals().await?(proposal.risk),
            team: self
                .rules()
                .await?
                .map(|rules| TeamReviewer { member: rules.member, may_decide: rules.may_decide }),
            suspect: flagged_texts(&draft, &now),
            unchanged: now.into_iter().filter(|(name, _)| !proposed(name)).collect(),
            similar,
            events: self.workspace.library.proposal_events(request.id).await?,
            proposal,
        })
    }

    /// Stores a proposal, with the library's cards that may be the same tool.
    pub async fn propose(&self, mut draft: Draft, by: &Author, request: Option<&str>) -> Result<Proposed> {
        let similar = self.similar_to(&draft).await?;
        draft.similar.extend(similar);
        draft.similar.sort();
        draft.similar.dedup();
        let proposed = self.workspace.library.propose(draft, by, request).await?;
        self.workspace.notify_proposals_changed().await?;
        Ok(proposed)
    }

    /// Returns the library's cards that may be the tool of a draft, or that have its name under another
    /// provider. Empty for a draft that changes an existing card.
    async fn similar_to(&self, draft: &Draft) -> Result<Vec<CardId>> {
        let card = Toolcard::new(draft.apply_to(&Map::new(), |_| true));
        let (None, Ok(card)) = (&draft.card, card) else { return Ok(Vec::new()) };
        let mut similar: Vec<CardId> = self
            .workspace
            .library
            .read(|replica| replica.named(card.name()).map(|record| record.id.clone()).collect());
        self.models.wait_until_ready().await;
        let vector = self.models.embed_card(&card).await?.as_ref().map(PackedVectors::first);
        let duplicates = self.duplicates.find(&card, vector).await?;
        similar.extend(duplicates.into_iter().map(|duplicate| duplicate.id));
        Ok(similar)
    }
}

impl Proposals {
    /// Drafts a card from a description in plain words: with the small model, or else by rules.
    pub async fn draft_from_description(&self, text: &str) -> Result<Draft> {
        let now = self.workspace.clock.stamp();
        let services = self.providers.services();
        let embedder = self.models.embedder();
        let is_word = |word: &str| embedder.as_ref().is_none_or(|embedder| embedder.knows_word(word));
        let draft = match &services.small {
            Some(small) => {
                let small = with_idle_timeout(small, MODEL_IDLE_TIMEOUT);
                match autokit_agent::describe_with(&small, &services.prompts, text, now, &is_word).await {
                    Ok((draft, _)) => draft,
                    Err(error) => {
                        tracing::info!(%error, "model failed to draft a card; falling back to rules");
                        autokit_agent::describe(text, now)
                    }
                }
            }
            None => autokit_agent::describe(text, now),
        };
        if draft.key().is_none_or(|key| key.name.is_empty()) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the text does not name a tool",
                "Start with its name, e.g. \u{201c}Weather Kit is a library that \u{2026}\u{201d}.",
            ));
        }
        Ok(draft)
    }

    fn row(&self, proposal: &Proposal, needed: u32) -> ProposalRow {
        ProposalRow {
            id: proposal.id,
            title: self.title(proposal),
            origin: proposal.draft.origin,
            group: proposal.draft.origin.group().to_owned(),
            risk: proposal.risk,
            suspect: self.flagged.is_flagged(&proposal.draft),
            conflicts: proposal.conflicts.len() as u32,
            approvals: proposal.approvals.len() as u32,
            needed,
            state: proposal.state,
            card: proposal.draft.card.clone(),
            fields: proposal.draft.fields.iter().map(|field| field.field.clone()).collect(),
            confidence: proposal.draft.confidence(),
            created_at: proposal.created_at,
            reason: proposal.draft.reason.clone(),
            page: source_page(&proposal.draft),
            assigned_to: proposal.assigned_to.clone(),
        }
    }
}

/// Returns the page a discovered card was drafted from: the source of its first field, its name.
fn source_page(draft: &Draft) -> Option<String> {
    let name = draft.fields.first().filter(|_| draft.origin == Origin::Discovery)?;
    name.evidence.first().map(|evidence| evidence.url.clone())
}

#[async_trait]
impl Handle<DescribeCard> for Proposals {
    async fn handle(&self, context: &Context, request: CardDescribe) -> Result<ProposalDetail> {
        let draft = self.draft_from_description(&request.text).await?;
        let by = Author(context.author.clone());
        let proposal = self.propose(draft, &by, context.request.as_deref()).await?.proposal;
        self.detail(proposal.id).await
    }
}

/// Returns whether a proposed text is flagged: hidden text, instructions to a model and the like.
fn is_draft_flagged(draft: &Draft) -> bool {
    let mut card = draft.apply_to(&Map::new(), |_| true);
    if draft.card.is_some() {
        // The language of the existing card is not known here.
        card.entry(fields::LANGUAGE).or_insert_with(|| "other".into());
    }
    draft.fields.iter().any(|field| is_flagged(&card, &field.field))
}

/// A cache of which drafts are flagged. The queue is read again with each new proposal, and scanning a
/// thousand drafts takes a while.
#[derive(Debug)]
pub(crate) struct FlaggedDrafts {
    /// Keyed by a hash of the proposed values. The hasher is seeded randomly, so that a draft cannot be
    /// crafted to collide with another.
    results: Mutex<LruCache<u64, bool>>,
    digest: RandomState,
}

impl Default for FlaggedDrafts {
    fn default() -> FlaggedDrafts {
        FlaggedDrafts { results: Mutex::new(LruCache::new(CACHED_DRAFTS)), digest: RandomState::new() }
    }
}

impl FlaggedDrafts {
    /// As [`is_draft_flagged`], with the cache.
    pub(crate) fn is_flagged(&self, draft: &Draft) -> bool {
        let mut digest = self.digest.build_hasher();
        draft.card.is_some().hash(&mut digest);
        draft.fields.iter().for_each(|field| (&field.field, &field.value).hash(&mut digest));
        let digest = digest.finish();
        if let Some(flagged) = self.results.lock().expect("no holder panics").get(&digest) {
            return *flagged;
        }
        let flagged = is_draft_flagged(draft);
        self.results.lock().expect("no holder panics").put(digest, flagged);
        flagged
    }
}

fn flagged_texts(draft: &Draft, now: &Map<String, Value>) -> Vec<FlaggedText> {
    let mut flagged = Vec::new();
    let after = draft.apply_to(now, |_| true);
    for field in &draft.fields {
        for (side, card) in [(FieldSide::Before, now), (FieldSide::After, &after)] {
            let texts = marks_in_field(card, &field.field);
            flagged.extend(texts.into_iter().map(|MarkedText { pointer, in_name, marks }| FlaggedText {
                field: field.field.clone(),
                side,
                pointer,
                in_name,
                marks,
            }));
        }
    }
    flagged
}

#[async_trait]
impl Handle<ListProposals> for Proposals {
    async fn handle(&self, _: &Context, request: ProposalsQuery) -> Result<ProposalList> {
        let library = &self.workspace.library;
        let needed = self.approvals().await?;
        let mut rows: Vec<ProposalRow> = match request.state {
            Some(ProposalState::Pending) => library
                .pending()
                .await?
                .iter()
                .map(|proposal| self.row(proposal, needed(proposal.risk)))
                .collect(),
            state => library
                .proposals(state)
                .await?
                .iter()
                .map(|proposal| self.row(proposal, needed(proposal.risk)))
                .collect(),
        };
        rows.reverse();
        let groups = Origin::groups().map(str::to_owned).collect();
        Ok(ProposalList { rows, waiting: library.count_pending().await?, groups })
    }
}

#[async_trait]
impl Handle<GetProposal> for Proposals {
    async fn handle(&self, _: &Context, request: ProposalGet) -> Result<ProposalDetail> {
        self.detail_with_edits(request).await
    }
}
