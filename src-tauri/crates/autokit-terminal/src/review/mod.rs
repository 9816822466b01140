//! `autokit review`: deciding on proposals.

mod show;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use autokit_api::Client;
use autokit_api::commands::{
    AcceptProposal, AcceptProposals, AssignProposal, CommentProposal, DescribeCard, GetProposal,
    GetReviewPolicy, ListProposals, PreviewAccept, RejectProposal, ReopenProposal, SetReviewPolicy,
};
use autokit_api::{
    AcceptRule, CardDescribe, FieldSide, FlaggedText, Nothing, ProposalAccept, ProposalAssign,
    ProposalComment, ProposalDetail, ProposalGet, ProposalRef, ProposalReject, ProposalsAccept,
    ProposalsQuery, ProposalsRef, ReviewPolicy,
};
use autokit_error::{ApiError, ErrorCode, file_problem};
use autokit_toolcard::{ProposalId, ProposalState, Risk};
use clap::{Args, Subcommand, ValueEnum};
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use crate::cards::edit_json;
use crate::jobs::watch;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, confirmed, printable};

pub(crate) use show::write_detail;

/// What `autokit review` can do.
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// List pending proposals, or all.
    List {
        /// Include decided proposals.
        #[arg(long)]
        all: bool,
        /// Only proposals with this risk.
        #[arg(long, value_enum)]
        risk: Option<RiskChoice>,
        /// Sort by risk, highest first.
        #[arg(long)]
        by_risk: bool,
    },
    /// Show a proposal: fields before and after, with evidence.
    Show {
        /// Proposal number.
        #[arg(value_parser = proposal)]
        id: ProposalId,
    },
    /// Accept proposals, or some fields of one.
    Accept {
        /// Proposal numbers.
        #[arg(required = true, value_parser = proposal)]
        ids: Vec<ProposalId>,
        #[command(flatten)]
        choice: FieldChoice,
        /// Override a field: `name=value`, as JSON or text.
        #[arg(long = "set", value_name = "FIELD=VALUE")]
        edits: Vec<String>,
        /// Reason, saved in the history.
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        reviewer: Reviewer,
    },
    /// Accept all pending proposals with low risk and no conflict.
    AcceptSafe {
        /// Preview the changes without applying them.
        #[arg(long)]
        preview: bool,
        /// Instead accept repaired addresses: at least 95% confidence, and the page names the tool.
        #[arg(long)]
        links: bool,
        #[command(flatten)]
        reviewer: Reviewer,
    },
    /// Accept a proposal with edited values; without `--set`, opens `$EDITOR`,
    /// where deleted fields are not accepted.
    Edit {
        /// Proposal number.
        #[arg(value_parser = proposal)]
        id: ProposalId,
        #[command(flatten)]
        choice: FieldChoice,
        /// Override a field: `name=value`, as JSON or text.
        #[arg(long = "set", value_name = "FIELD=VALUE")]
        edits: Vec<String>,
        /// Preview the changes without applying them.
        #[arg(long)]
        preview: bool,
        /// Reason, saved in the history.
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        reviewer: Reviewer,
    },
    /// Reject proposals. They aren't proposed again unless their pages change.
    Reject {
        /// Proposal numbers.
        #[arg(required = true, value_parser = proposal)]
        ids: Vec<ProposalId>,
        /// Reason, saved in the history.
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        reviewer: Reviewer,
    },
    /// Comment on a proposal without deciding.
    Comment {
        /// Proposal number.
        #[arg(value_parser = proposal)]
        id: ProposalId,
        /// Comment text.
        #[arg(required = true, num_args = 1..)]
        words: Vec<String>,
        #[command(flatten)]
        reviewer: Reviewer,
    },
    /// Say which member of the team reviews a proposal.
    Assign {
        /// Proposal number.
        #[arg(value_parser = proposal)]
        id: ProposalId,
        /// Name of the member; nobody if it is left out.
        member: Option<String>,
    },
    /// Undo the decision on a proposal.
    Undo {
        /// Proposal number.
        #[arg(value_parser = proposal)]
        id: ProposalId,
    },
    /// Show or change the review policy.
    Policy {
        /// Number of different reviewers who must accept a proposal.
        #[arg(long)]
        approvals: Option<u32>,
        /// Your reviewer name; empty for your user name.
        #[arg(long, value_name = "NAME")]
        reviewer: Option<String>,
    },
}

/// Which fields.
#[derive(Clone, Debug, Args)]
pub struct FieldChoice {
    /// Only these fields.
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<String>,
    /// Reject these fields; the decision is remembered.
    #[arg(long = "reject", value_name = "FIELD")]
    rejected: Vec<String>,
}

impl FieldChoice {
    fn is_everything(&self) -> bool {
        self.fields.is_empty() && self.rejected.is_empty()
    }
}

/// Who decides.
#[derive(Debug, Args)]
pub struct Reviewer {
    /// Reviewer name.
    #[arg(long, value_name = "NAME", env = "AUTOKIT_AUTHOR", default_value = "", hide_env = true)]
    by: String,
}

/// A risk, as an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RiskChoice {
    /// Needs no closer look.
    Low,
    /// Worth a look.
    Medium,
    /// Loses something or is likely wrong.
    High,
}

impl From<RiskChoice> for Risk {
    fn from(choice: RiskChoice) -> Risk {
        match choice {
            RiskChoice::Low => Risk::Low,
            RiskChoice::Medium => Risk::Medium,
            RiskChoice::High => Risk::High,
        }
    }
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ReviewCommand) -> Result<Outcome> {
    let detail = match command {
        ReviewCommand::List { all, risk, by_risk } => return list(library, out, all, risk, by_risk).await,
        ReviewCommand::AcceptSafe { preview, links, reviewer } => {
            let rule = if links { AcceptRule::LinkRepairs } else { AcceptRule::Safe };
            return accept_safe(library, out, preview, rule, reviewer.by).await;
        }
        ReviewCommand::Policy { approvals, reviewer } => {
            return policy(library, out, approvals, reviewer).await;
        }
        ReviewCommand::Show { id } => library.call::<GetProposal>(ProposalGet::from(id)).await?,
        ReviewCommand::Accept { ids, choice, edits, reason, reviewer } => {
            let edits = edits_of(&edits)?;
            if ids.len() > 1 && !(choice.is_everything() && edits.is_empty()) {
                return Err(ApiError::new(
                    ErrorCode::BadRequest,
                    "--field, --reject and --set apply to a single proposal",
                    "Accept several proposals unchanged, or one with these options.",
                )
                .into());
            }
            let accept = async |id| {
                accept(library, id, choice.clone(), edits.clone(), reason.clone(), reviewer.by.clone()).await
            };
            return decide_each(out, &ids, accept).await;
        }
        ReviewCommand::Edit { id, mut choice, edits, preview, reason, reviewer } => {
            let edits = if edits.is_empty() {
                edit_in_editor(library, id, &mut choice).await?
            } else {
                edits_of(&edits)?
            };
            if preview {
                library.call::<GetProposal>(ProposalGet { id, edits }).await?
            } else {
                accept(library, id, choice, edits, reason, reviewer.by).await?
            }
        }
        ReviewCommand::Reject { ids, reason, reviewer } => {
            let reject = async |id| {
                let (reason, by) = (reason.clone(), reviewer.by.clone());
                Ok(library.call::<RejectProposal>(ProposalReject { id, reason, by }).await?)
            };
            return decide_each(out, &ids, reject).await;
        }
        ReviewCommand::Comment { id, words, reviewer } => {
            let words = words.join(" ");
            library.call::<CommentProposal>(ProposalComment { id, words, by: reviewer.by }).await?
        }
        ReviewCommand::Assign { id, member } => {
            library.call::<AssignProposal>(ProposalAssign { id, to: member }).await?
        }
        ReviewCommand::Undo { id } => library.call::<ReopenProposal>(ProposalRef { id }).await?,
    };
    out.show(&detail, |text| write_detail(text, &detail))?;
    Ok(Outcome::Done)
}

/// Decides on proposals one after the other. If one fails, earlier decisions are kept and shown.
async fn decide_each(
    out: &Output,
    ids: &[ProposalId],
    decide: impl AsyncFn(ProposalId) -> Result<ProposalDetail>,
) -> Result<Outcome> {
    if let [id] = ids {
        let detail = decide(*id).await?;
        out.show(&detail, |text| write_detail(text, &detail))?;
        return Ok(Outcome::Done);
    }
    let mut decided = Vec::with_capacity(ids.len());
    let mut result = Ok(Outcome::Done);
    for &id in ids {
        match decide(id).await {
            Ok(detail) => decided.push(detail),
            Err(error) => {
                result = Err(error);
                break;
            }
        }
    }
    out.show(&decided, |text| decided.iter().try_for_each(|detail| show::write_headline(text, detail)))?;
    result
}

async fn list(
    library: &dyn Client,
    out: &Output,
    all: bool,
    risk: Option<RiskChoice>,
    by_risk: bool,
) -> Result<Outcome> {
    let state = (!all).then_some(ProposalState::Pending);
    let mut proposals = library.call::<ListProposals>(ProposalsQuery { state }).await?;
    proposals.rows.retain(|row| risk.is_none_or(|risk| row.risk == Risk::from(risk)));
    if by_risk {
        // The sort is stable, so the newest stay first within a risk.
        proposals.rows.sort_by_key(|row| std::cmp::Reverse(row.risk));
    }
    let rows: Vec<_> = proposals.rows.iter().collect();
    out.show(&proposals, |text| show::write_list(text, &proposals, &rows))?;
    Ok(if proposals.rows.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

async fn accept(
    library: &dyn Client,
    id: ProposalId,
    choice: FieldChoice,
    edits: Map<String, Value>,
    reason: String,
    by: String,
) -> Result<ProposalDetail> {
    let fields = Some(choice.fields).filter(|fields| !fields.is_empty());
    // The current revision counts as the one that the reviewer has seen.
    let detail = library.call::<GetProposal>(ProposalGet { id, edits: edits.clone() }).await?;
    let is_accepted = |field: &str| {
        fields.as_ref().is_none_or(|fields| fields.iter().any(|name| name == field))
            && !choice.rejected.iter().any(|name| name == field)
    };
    if !confirm_flagged(&detail, is_accepted)? {
        return Err(ApiError::new(
            ErrorCode::Refused,
            format!("proposal {id} wasn't accepted"),
            "Exclude the field with --field or --reject, or fix it with `autokit review edit`.",
        )
        .into());
    }
    let seen = detail.revision;
    let request = ProposalAccept { id, fields, edits, rejected: choice.rejected, seen, reason, by };
    Ok(library.call::<AcceptProposal>(request).await?)
}

/// Shows flagged text that would be accepted and asks for confirmation. Without a terminal it is accepted,
/// because scripts name what they accept.
fn confirm_flagged(detail: &ProposalDetail, is_accepted: impl Fn(&str) -> bool) -> Result<bool> {
    let texts =
        detail.suspect.iter().filter(|text| text.side == FieldSide::After && is_accepted(&text.field));
    let texts: Vec<&FlaggedText> = texts.collect();
    if texts.is_empty() || !io::stdin().is_terminal() {
        return Ok(true);
    }
    let mut err = anstream::stderr();
    for text in texts {
        let proposed = detail.proposal.draft.fields.iter().find(|field| field.field == text.field);
        show::write_flagged(&mut err, text, proposed.and_then(|field| field.value.as_ref()))?;
    }
    confirmed("This text would be added to the library, where agents read it. Accept?")
}

/// Opens the proposed values in the user's editor; fields removed there are not accepted.
async fn edit_in_editor(
    library: &dyn Client,
    id: ProposalId,
    choice: &mut FieldChoice,
) -> Result<Map<String, Value>> {
    let detail = library.call::<GetProposal>(ProposalGet::from(id)).await?;
    let is_selected = |field: &str| {
        (choice.fields.is_empty() || choice.fields.iter().any(|name| name == field))
            && !choice.rejected.iter().any(|name| name == field)
    };
    let proposed = &detail.proposal.draft.fields;
    let values: Map<String, Value> = proposed
        .iter()
        .filter(|field| is_selected(&field.field))
        .filter_map(|field| Some((field.field.clone(), field.value.clone()?)))
        .collect();
    let edited = edit_json(&values)?;
    let removals = proposed.iter().filter(|field| field.value.is_none() && is_selected(&field.field));
    let fields: Vec<String> =
        edited.keys().cloned().chain(removals.map(|field| field.field.clone())).collect();
    choice.fields = fields;
    Ok(edited.into_iter().filter(|(field, value)| values.get(field) != Some(value)).collect())
}

async fn accept_safe(
    library: &dyn Client,
    out: &Output,
    preview: bool,
    rule: AcceptRule,
    by: String,
) -> Result<Outcome> {
    let pending =
        library.call::<ListProposals>(ProposalsQuery { state: Some(ProposalState::Pending) }).await?;
    let ids: Vec<ProposalId> = pending.rows.iter().map(|row| row.id).collect();
    let accept_preview = library.call::<PreviewAccept>(ProposalsRef { ids: ids.clone(), rule }).await?;
    if preview || accept_preview.safe.is_empty() {
        out.show(&accept_preview, |text| show::write_preview(text, &accept_preview))?;
        return Ok(if accept_preview.safe.is_empty() { Outcome::NothingFound } else { Outcome::Done });
    }
    let job =
        library.call::<AcceptProposals>(ProposalsAccept { ids, rule, seen: accept_preview.seen, by }).await?;
    let done = watch(library, out, &job.job).await?;
    out.show(&done, |text| writeln!(text, "{}", printable(done.summary.as_deref().unwrap_or_default())))?;
    Ok(Outcome::Done)
}

async fn policy(
    library: &dyn Client,
    out: &Output,
    approvals: Option<u32>,
    reviewer: Option<String>,
) -> Result<Outcome> {
    let now = library.call::<GetReviewPolicy>(Nothing {}).await?;
    let requested = ReviewPolicy {
        approvals: approvals.unwrap_or(now.approvals),
        reviewer: reviewer.unwrap_or_else(|| now.reviewer.clone()),
    };
    let policy = if requested == now { now } else { library.call::<SetReviewPolicy>(requested).await? };
    out.show(&policy, |text| {
        writeln!(text, "approvals  {}", policy.approvals)?;
        let name = if policy.reviewer.is_empty() { "your user name" } else { &policy.reviewer };
        writeln!(text, "reviewer   {}", printable(name))
    })?;
    Ok(Outcome::Done)
}

/// Parses the number of a proposal.
fn proposal(text: &str) -> Result<ProposalId, String> {
    text.parse().map_err(|_| "enter a proposal number from `autokit review list`".to_owned())
}

pub(crate) async fn describe(library: &dyn Client, out: &Output, file: Option<PathBuf>) -> Result<Outcome> {
    let text = match &file {
        Some(file) => std::fs::read_to_string(file),
        None => io::read_to_string(io::stdin()),
    };
    let text = text.map_err(|error| {
        let what =
            file.as_ref().map_or_else(|| "standard input".to_owned(), |file| file.display().to_string());
        ApiError::new(
            ErrorCode::UnreadableFile,
            format!("{what}: {}", file_problem(&error)),
            "Pass a UTF-8 text file.",
        )
    })?;
    let detail = library.call::<DescribeCard>(CardDescribe { text }).await?;
    out.show(&detail, |text| {
        write_detail(text, &detail)?;
        writeln!(
            text,
            "\n{}",
            format!("Accept it with `autokit review accept {}`.", detail.proposal.id).dimmed()
        )
    })?;
    Ok(Outcome::Done)
}

/// Parses `field=value` pairs; a value that is not valid JSON is text.
fn edits_of(edits: &[String]) -> Result<Map<String, Value>> {
    let one = |edit: &String| -> Result<(String, Value)> {
        let (field, value) = edit.split_once('=').ok_or_else(|| {
            ApiError::new(
                ErrorCode::BadRequest,
                format!("{edit:?} is not FIELD=VALUE"),
                "Use --set name=value.",
            )
        })?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok((field.trim().to_owned(), value))
    };
    edits.iter().map(one).collect()
}
