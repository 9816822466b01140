//! `autokit refine`: documentation of tools, refined by trial calls.

use std::io::{self, Write};

use autokit_api::Client;
use autokit_api::commands::StartRefine;
use autokit_api::{RefinePlan, RefineRequest, RefineScope, RefineStart};
use clap::Args;
use owo_colors::OwoColorize as _;

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, approve, count, printable};

/// Calls of one tool that a dry run shows.
const CALLS_SHOWN: usize = 12;

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub struct RefineArgs {
    /// Tool IDs or names.
    #[arg(required_unless_present_any = ["all", "resume"], conflicts_with_all = ["all", "resume"])]
    tools: Vec<String>,
    /// All callable tools of MCP servers and web APIs.
    #[arg(long, conflicts_with = "resume")]
    all: bool,
    /// Continue the run that was interrupted.
    #[arg(long)]
    resume: bool,
    /// Show the calls without making them.
    #[arg(long)]
    dry_run: bool,
    /// Include calls that may modify data.
    #[arg(long)]
    allow_changes: bool,
    /// Maximum number of calls per tool.
    #[arg(long, value_name = "N")]
    calls: Option<u32>,
    /// Maximum cost of language models, in US dollars.
    #[arg(long, value_name = "USD", value_parser = crate::providers::amount)]
    budget: Option<f64>,
    /// Profile whose rules apply.
    #[arg(long, default_value = "")]
    profile: String,
    /// Approve what the calls need without a prompt.
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn run(library: &dyn Client, out: &Output, args: RefineArgs) -> Result<Outcome> {
    let scope = match (args.all, args.resume) {
        (true, _) => RefineScope::All,
        (_, true) => RefineScope::Resume,
        _ => RefineScope::Tools { tools: args.tools },
    };
    let mut request = RefineRequest {
        scope,
        profile: args.profile,
        allow_changes: args.allow_changes,
        calls: args.calls,
        budget: args.budget,
        granted: Vec::new(),
        dry_run: args.dry_run,
    };
    loop {
        match library.call::<StartRefine>(request.clone()).await? {
            RefineStart::Planned { tools } => {
                out.show(&tools, |out| write_plan(out, &tools))?;
                return Ok(if tools.is_empty() { Outcome::NothingFound } else { Outcome::Done });
            }
            RefineStart::Started { job, skipped } => {
                let job = jobs::watch(library, out, &job).await?;
                out.show(&job, |out| {
                    write_skipped(out, &skipped)?;
                    writeln!(out, "{}", printable(job.summary.as_deref().unwrap_or("Done")))
                })?;
                return Ok(Outcome::Done);
            }
            RefineStart::Asks { needs, words } => {
                approve("Trial calls need", &words, args.yes, "nothing was called: trial calls need")?;
                request.granted.extend(needs);
            }
        }
    }
}

fn write_plan(out: &mut dyn Write, tools: &[RefinePlan]) -> io::Result<()> {
    let (left_out, called): (Vec<&RefinePlan>, Vec<&RefinePlan>) =
        tools.iter().partition(|plan| plan.skipped.is_some());
    for plan in called {
        writeln!(out, "{}  {}", printable(&plan.title).bold(), printable(&plan.place).dimmed())?;
        for call in plan.calls.iter().take(CALLS_SHOWN) {
            writeln!(out, "  {}", printable(call))?;
        }
        let more = plan.calls.len().saturating_sub(CALLS_SHOWN);
        if more > 0 {
            writeln!(out, "  {}", format!("and {more} more").dimmed())?;
        }
    }
    let left_out: Vec<RefinePlan> = left_out.into_iter().cloned().collect();
    write_skipped(out, &left_out)?;
    writeln!(out, "{}", "Nothing was called. Later calls can depend on earlier responses.".dimmed())
}

fn write_skipped(out: &mut dyn Write, skipped: &[RefinePlan]) -> io::Result<()> {
    let Some(first) = skipped.first().and_then(|plan| plan.skipped.as_deref()) else { return Ok(()) };
    let same = skipped.iter().all(|plan| plan.skipped.as_deref() == Some(first));
    if same && skipped.len() > 1 {
        let count = count(skipped.len() as u64, "tool");
        return writeln!(out, "{}", format!("{count} skipped: {}", printable(first)).yellow());
    }
    for plan in skipped {
        let why = plan.skipped.as_deref().unwrap_or_default();
        writeln!(out, "{}", format!("{} skipped: {}", printable(&plan.title), printable(why)).yellow())?;
    }
    Ok(())
}
