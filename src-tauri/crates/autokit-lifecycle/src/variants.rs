//! Descriptions of one tool that compete, as people see and change them (Elyra, bootstrapping: monitor, promote, demote).

use async_trait::async_trait;
use autokit_api::commands::{AddVariant, Context, EndVariants, Handle, ListVariants, SetVariant};
use autokit_api::{
    Nothing, Variant, VariantAdd, VariantContest, VariantContests, VariantSet, VariantWithdrawal,
    VariantsEnd, VariantsEnded,
};
use autokit_bootstrap::Withdrawal;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::review::Proposals;
use autokit_serving::tools::CallableTools;
use autokit_serving::variants::{CURRENT, DescriptionContest, Variants};
use autokit_toolcard::{Author, CardId};
use autokit_workspace::workspace::Workspace;

/// The contests, for people. Clones share state.
#[derive(Clone, Debug)]
pub struct DescriptionVariants {
    workspace: Workspace,
    proposals: Proposals,
    variants: Variants,
    tools: CallableTools,
}

impl DescriptionVariants {
    /// Shows and changes these contests, of tools that can be called.
    pub fn new(
        workspace: Workspace,
        proposals: Proposals,
        variants: Variants,
        tools: CallableTools,
    ) -> DescriptionVariants {
        DescriptionVariants { workspace, proposals, variants, tools }
    }

    fn view(&self, card: &CardId, contest: &DescriptionContest) -> Option<VariantContest> {
        // The contest of a card that was deleted is shown again when the deletion is undone.
        let record = self.workspace.library.card(card).ok()?;
        let card_of_record = record.card();
        let variants = contest.contest.variants().iter().filter_map(|one| {
            let posterior = contest.contest.posterior(&one.id)?;
            let own = || card_of_record.description().to_owned();
            Some(Variant {
                id: one.id.clone(),
                description: contest.descriptions.get(&one.id).cloned().unwrap_or_else(own),
                successes: one.successes,
                failures: one.failures,
                mean: posterior.mean,
                low: posterior.low,
                high: posterior.high,
                withdrawn: one.withdrawn.map(|why| match why {
                    Withdrawal::Fails => VariantWithdrawal::Fails,
                    Withdrawal::Worse => VariantWithdrawal::Worse,
                    Withdrawal::Person => VariantWithdrawal::Person,
                }),
            })
        });
        Some(VariantContest {
            card: card.clone(),
            name: record.key.name.clone(),
            began: contest.began,
            variants: variants.collect(),
        })
    }
}

#[async_trait]
impl Handle<ListVariants> for DescriptionVariants {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<VariantContests> {
        let all = self.variants.all().await?;
        let contests = all.iter().filter_map(|(card, contest)| self.view(card, contest)).collect();
        Ok(VariantContests { contests })
    }
}

#[async_trait]
impl Handle<AddVariant> for DescriptionVariants {
    async fn handle(&self, _: &Context, request: VariantAdd) -> Result<Nothing> {
        self.workspace.library.ensure_writable()?;
        let record = self.workspace.find_card(&request.card)?;
        if !self.tools.is_callable(&record).await {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!(
                    "{} cannot be called, so no call can show which description serves best",
                    record.key.name
                ),
                "Choose a tool of an MCP server or a web API.",
            ));
        }
        self.variants.add(&record.id, record.card().description(), &request.description).await?;
        Ok(Nothing {})
    }
}

#[async_trait]
impl Handle<SetVariant> for DescriptionVariants {
    async fn handle(&self, _: &Context, request: VariantSet) -> Result<Nothing> {
        self.workspace.library.ensure_writable()?;
        let record = self.workspace.find_card(&request.card)?;
        self.variants.set_withdrawn(&record.id, &request.variant, request.withdrawn).await?;
        Ok(Nothing {})
    }
}

#[async_trait]
impl Handle<EndVariants> for DescriptionVariants {
    async fn handle(&self, context: &Context, request: VariantsEnd) -> Result<VariantsEnded> {
        self.workspace.library.ensure_writable()?;
        let record = self.workspace.find_card(&request.card)?;
        let all = self.variants.all().await?;
        let known = |id: &String| {
            id == CURRENT || all.get(&record.id).is_some_and(|contest| contest.descriptions.contains_key(id))
        };
        if let Some(id) = request.propose.as_ref().filter(|id| !known(id)) {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("no variant {id:?}"),
                "List the variants.",
            ));
        }
        let contest = self.variants.end(&record.id).await?;
        let Some(id) = request.propose.filter(|id| id != CURRENT) else {
            return Ok(VariantsEnded::default());
        };
        let draft = contest.proposal(&id, &record, self.workspace.clock.stamp());
        let proposed = self.proposals.propose(draft, &Author::autokit(), context.request.as_deref()).await?;
        Ok(VariantsEnded { proposal: Some(proposed.proposal.id) })
    }
}
