//! `autokit generated`: tools written for a need, and how those made here fare.

use std::io::{self, Write};

use autokit_api::commands::{GenerateTool, GetGeneration, ListGeneratedTools, RetireTool};
use autokit_api::{
    CardRef, Client, CodeCheckState, FunctionLanguage, GenerateRequest, GeneratedToolList, Generation,
    GenerationRef, Nothing, ToolAdvice,
};
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};
use crate::tools::shell_quote;

#[derive(Debug, Subcommand)]
pub enum GeneratedCommand {
    /// List generated tools and macros with their success rates, and unmet needs.
    List,
    /// Generate a tool with a language model, test it in the sandbox and propose it in `autokit review`.
    Create {
        /// What the tool is needed for.
        need: String,
        /// Language of the code.
        #[arg(long, value_enum, default_value_t = LanguageArg::Python)]
        language: LanguageArg,
        /// Maximum cost of language models, in US dollars.
        #[arg(long, value_name = "USD", value_parser = crate::providers::amount)]
        budget: Option<f64>,
    },
    /// Improve a generated tool; its failed calls are sent to the language model.
    Improve {
        /// Tool ID or name.
        tool: String,
        /// What should change; by default what failed.
        #[arg(long, default_value = "")]
        need: String,
        /// Maximum cost of language models, in US dollars.
        #[arg(long, value_name = "USD", value_parser = crate::providers::amount)]
        budget: Option<f64>,
    },
    /// Propose retiring a tool, so that it can no longer be called.
    Retire {
        /// Tool ID or name.
        tool: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LanguageArg {
    Python,
    #[value(name = "javascript")]
    JavaScript,
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: GeneratedCommand) -> Result<Outcome> {
    match command {
        GeneratedCommand::List => {
            let listed = library.call::<ListGeneratedTools>(Nothing {}).await?;
            out.show(&listed, |text| write_list(text, &listed))?;
            let nothing = listed.tools.is_empty() && listed.unanswered.is_empty() && listed.edits.is_empty();
            Ok(if nothing { Outcome::NothingFound } else { Outcome::Done })
        }
        GeneratedCommand::Create { need, language, budget } => {
            let language = match language {
                LanguageArg::Python => FunctionLanguage::Python,
                LanguageArg::JavaScript => FunctionLanguage::JavaScript,
            };
            write(library, out, GenerateRequest { need, language, card: None, budget }).await
        }
        GeneratedCommand::Improve { tool, need, budget } => {
            let request =
                GenerateRequest { need, language: FunctionLanguage::default(), card: Some(tool), budget };
            write(library, out, request).await
        }
        GeneratedCommand::Retire { tool } => {
            let proposed = library.call::<RetireTool>(CardRef { card: tool }).await?;
            out.show(&proposed, |text| {
                writeln!(text, "The retirement is pending review as proposal {}.", proposed.proposal)
            })?;
            Ok(Outcome::Done)
        }
    }
}

async fn write(library: &dyn Client, out: &Output, request: GenerateRequest) -> Result<Outcome> {
    let job = library.call::<GenerateTool>(request).await?.job;
    let ended = jobs::watch(library, out, &job).await;
    let generation = library.call::<GetGeneration>(GenerationRef { job: Some(job) }).await;
    // What was tried is shown also where it led to nothing.
    if let Ok(generation) = &generation
        && (ended.is_ok() || !generation.attempts.is_empty())
    {
        out.show(generation, |text| write_generation(text, generation))?;
    }
    ended?;
    generation?;
    Ok(Outcome::Done)
}

fn write_generation(out: &mut dyn Write, generation: &Generation) -> io::Result<()> {
    if let Some(specification) = &generation.specification {
        writeln!(
            out,
            "{}  {}",
            printable(&specification.name).bold(),
            printable(&specification.purpose).dimmed()
        )?;
    }
    for (at, attempt) in generation.attempts.iter().enumerate() {
        writeln!(out, "Attempt {}", at + 1)?;
        for check in &attempt.checks {
            let kind = format!("{:?}", check.kind).to_lowercase();
            let mut lines = check.output.lines();
            let first = printable(lines.next().unwrap_or_default());
            match check.state {
                CodeCheckState::Passed => writeln!(out, "  {} {kind}  {}", "✓".green(), first.dimmed())?,
                CodeCheckState::Failed => writeln!(out, "  {} {kind}  {first}", "✗".red())?,
                CodeCheckState::NotRun => writeln!(out, "  {} {kind}  {}", "-".dimmed(), first.dimmed())?,
            }
            for line in lines {
                writeln!(out, "      {}", printable(line))?;
            }
        }
    }
    if let Some(proposal) = generation.proposal {
        writeln!(out, "It is pending review as proposal {proposal}.")?;
    }
    Ok(())
}

fn write_list(out: &mut dyn Write, listed: &GeneratedToolList) -> io::Result<()> {
    for tool in &listed.tools {
        let calls = count(tool.successes + tool.failures, "call");
        let failed = if tool.failures > 0 { format!(", {} failed", tool.failures) } else { String::new() };
        let time = tool.p50_ms.map(|ms| format!(", {ms:.0} ms")).unwrap_or_default();
        let kind = if tool.is_code { "code" } else { "macro" };
        writeln!(
            out,
            "{}  {}",
            printable(&tool.name).bold(),
            format!("{kind}, {calls}{failed}{time}").dimmed()
        )?;
        let command = match tool.advice {
            Some(ToolAdvice::Improve) => "improve",
            Some(ToolAdvice::Retire) => "retire",
            None => continue,
        };
        // By id, because a name may be that of another tool or of a command.
        let id = shell_quote(tool.card.as_str());
        writeln!(out, "  {}  {}", tool.why.yellow(), format!("autokit generated {command} {id}").cyan())?;
    }
    for need in &listed.unanswered {
        let times = format!("asked {} and never answered", count(need.times, "time"));
        writeln!(out, "“{}”  {}", printable(&need.question), times.dimmed())?;
    }
    for edit in &listed.edits {
        let what = match (edit.from.as_str(), edit.to.as_str()) {
            ("", to) => format!("“{}” was added", printable(to)),
            (from, "") => format!("“{}” was removed", printable(from)),
            (from, to) => format!("“{}” became “{}”", printable(from), printable(to)),
        };
        let cards = format!("by hand on {}", count(edit.cards, "card"));
        writeln!(out, "{}: {what}  {}", printable(&edit.field), cards.dimmed())?;
    }
    if listed.tools.is_empty() && listed.unanswered.is_empty() && listed.edits.is_empty() {
        writeln!(out, "No generated tools and no unmet needs yet.")?;
    }
    Ok(())
}
