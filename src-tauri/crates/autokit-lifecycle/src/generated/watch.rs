//! How composed and written tools fare, and what that suggests (Elyra, bootstrapping: monitor, improve or retire).

use std::sync::Arc;

use autokit_api::{GeneratedTool, ToolAdvice};
use autokit_bootstrap::mostly_fails;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::CardRecord;
use autokit_sandbox::function::Function;
use autokit_serving::function_card::function_of;
use autokit_serving::macro_card::macro_of;
use autokit_serving::uses::{Experience, ToolUses};
use autokit_toolcard::{Draft, fields};
use jiff::SignedDuration;

use super::GeneratedTools;
use super::proposal::retirement;

/// Days after which a tool that nobody calls is not needed.
const UNUSED_DAYS: i64 = 60;

/// The field with which a tool was generated here, if it was.
fn generated_as(record: &CardRecord) -> Option<&'static str> {
    let card = record.card();
    if function_of(&card).is_some() {
        return Some(fields::FUNCTION);
    }
    macro_of(&card).is_some().then_some(fields::MACRO)
}

impl GeneratedTools {
    /// Returns the composed and written tools, those with advice first.
    pub(super) fn watched(&self, experience: &Experience) -> Vec<GeneratedTool> {
        let mut tools: Vec<GeneratedTool> = self
            .workspace
            .cards_containing(&["\"macro\"", "\"function\""])
            .iter()
            .filter_map(|record| {
                let is_code = generated_as(record)? == fields::FUNCTION;
                let uses = experience.uses.get(record.id.as_str()).cloned().unwrap_or_default();
                let (advice, why) = self.advice(record, is_code, &uses);
                Some(GeneratedTool {
                    card: record.id.clone(),
                    name: record.key.name.clone(),
                    is_code,
                    successes: uses.successes,
                    failures: uses.failures,
                    p50_ms: uses.p50_ms(),
                    last_called: uses.last,
                    advice,
                    why,
                })
            })
            .collect();
        tools.sort_by(|a, b| a.advice.is_none().cmp(&b.advice.is_none()).then_with(|| a.name.cmp(&b.name)));
        tools
    }

    fn advice(&self, record: &CardRecord, is_code: bool, uses: &ToolUses) -> (Option<ToolAdvice>, String) {
        let calls = uses.successes + uses.failures;
        if mostly_fails(uses.successes, uses.failures) {
            let can_write = is_code && self.providers.services().large.is_some();
            let advice = if can_write { ToolAdvice::Improve } else { ToolAdvice::Retire };
            return (Some(advice), format!("{} of {calls} calls failed.", uses.failures));
        }
        let since = uses.last.unwrap_or(record.created_at).max(record.updated_at);
        let unused = self.workspace.clock.now().duration_since(since.instant());
        if unused > SignedDuration::from_hours(UNUSED_DAYS * 24) {
            return (Some(ToolAdvice::Retire), format!("Not called for {} days.", unused.as_hours() / 24));
        }
        (None, String::new())
    }

    /// Finds a tool that was written, with its code.
    pub(super) fn written_tool(&self, card: &str) -> Result<(Arc<CardRecord>, Function)> {
        let record = self.workspace.find_card(card)?;
        let function = function_of(&record.card()).ok_or_else(|| {
            ApiError::new(
                ErrorCode::BadRequest,
                format!("{} has no code of its own", record.key.name),
                "Choose a tool that was written here.",
            )
        })?;
        Ok((record, function))
    }

    /// Returns the calls of a tool so far.
    pub(super) async fn uses_of(&self, record: &CardRecord) -> Result<ToolUses> {
        Ok(self.activity.experience().await?.uses.remove(record.id.as_str()).unwrap_or_default())
    }

    /// Drafts that a tool can no longer be called; its card stays.
    pub(super) async fn retirement(&self, card: &str) -> Result<Draft> {
        let record = self.workspace.find_card(card)?;
        let field = generated_as(&record).ok_or_else(|| {
            ApiError::new(
                ErrorCode::BadRequest,
                format!("{} was neither composed nor written here", record.key.name),
                "Delete its card instead.",
            )
        })?;
        let uses = self.uses_of(&record).await?;
        let (_, why) = self.advice(&record, field == fields::FUNCTION, &uses);
        Ok(retirement(&record, field, &uses, &why, self.workspace.clock.stamp()))
    }
}
