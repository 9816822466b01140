//! `autokit tools`: lists and calls tools.

use std::io::{self, Read as _, Write};

use autokit_api::Client;
use autokit_api::commands::{GetTool, GetToolOutcome, ListTools, RunTool};
use autokit_api::{
    JobRef, ToolBlock, ToolList, ToolOutcome, ToolRef, ToolRun, ToolRunStart, ToolSource, ToolView,
    ToolsQuery,
};
use autokit_error::{ApiError, ErrorCode};
use autokit_policy::Permission;
use clap::Subcommand;
use owo_colors::OwoColorize as _;
use serde_json::{Map, Value};

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, approve, printable};

/// Tools per request.
const PAGE_SIZE: u32 = 1_000;

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List callable tools: built-in, from MCP servers and web APIs.
    List {
        /// Filter by words in the name, provider or description.
        text: Vec<String>,
        /// As seen with this profile.
        #[arg(long, default_value = "")]
        profile: String,
    },
    /// Show a tool and its arguments.
    Show {
        /// Tool ID or name.
        tool: String,
        /// As seen with this profile.
        #[arg(long, default_value = "")]
        profile: String,
    },
    /// Call a tool and print its response. The same rules apply as for agents, and approvals are
    /// prompted for here.
    Call {
        /// Tool ID or name.
        tool: String,
        /// Arguments as a JSON object; `-` reads standard input.
        #[arg(default_value = "{}")]
        arguments: String,
        /// Profile whose rules apply.
        #[arg(long, default_value = "")]
        profile: String,
        /// Approve what the call needs without a prompt.
        #[arg(long, short)]
        yes: bool,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ToolsCommand) -> Result<Outcome> {
    match command {
        ToolsCommand::List { text, profile } => {
            let all = list(library, &text.join(" "), &profile).await?;
            out.show(&all, |out| write_list(out, &all))?;
            Ok(Outcome::Done)
        }
        ToolsCommand::Show { tool, profile } => {
            let view = library.call::<GetTool>(ToolRef { tool, profile }).await?;
            out.show(&view, |out| write_view(out, &view))?;
            Ok(Outcome::Done)
        }
        ToolsCommand::Call { tool, arguments, profile, yes } => {
            let run = ToolRun { tool, profile, arguments: parse_arguments(&arguments)?, granted: Vec::new() };
            call(library, out, run, yes).await
        }
    }
}

async fn list(library: &dyn Client, text: &str, profile: &str) -> Result<ToolList> {
    let mut all: Option<ToolList> = None;
    loop {
        let offset = all.as_ref().map_or(0, |list| list.tools.len() as u32);
        let (text, profile) = (text.to_owned(), profile.to_owned());
        let next = library
            .call::<ListTools>(ToolsQuery { text, profile, sources: Vec::new(), offset, limit: PAGE_SIZE })
            .await?;
        let done = next.tools.is_empty() || offset + next.tools.len() as u32 >= next.total;
        let list = match &mut all {
            None => all.insert(next),
            Some(list) => {
                list.tools.extend(next.tools);
                list
            }
        };
        if done {
            return Ok(list.clone());
        }
    }
}

fn source(source: ToolSource) -> &'static str {
    match source {
        ToolSource::Session => "always loaded",
        ToolSource::Builtin => "built-in",
        ToolSource::Server => "MCP server",
        ToolSource::Api => "web API",
        ToolSource::Macro => "macro",
        ToolSource::Function => "function",
    }
}

fn write_list(out: &mut dyn Write, list: &ToolList) -> io::Result<()> {
    for tool in &list.tools {
        write!(out, "{}", printable(&tool.name).bold())?;
        write!(out, "  {}", format!("{} · {}", printable(&tool.provider), source(tool.source)).dimmed())?;
        match tool.permission {
            Permission::Allow => writeln!(out)?,
            Permission::Ask => writeln!(out, "  {}", "needs your approval".yellow())?,
            Permission::Deny => writeln!(out, "  {}", "denied".red())?,
        }
        writeln!(out, "  {}", printable(&tool.line))?;
    }
    match list.total {
        0 => writeln!(out, "No tools match."),
        1 => writeln!(out, "1 tool"),
        all => writeln!(out, "{all} tools"),
    }
}

fn write_view(out: &mut dyn Write, view: &ToolView) -> io::Result<()> {
    let entry = &view.entry;
    writeln!(
        out,
        "{}  {}",
        printable(&entry.name).bold(),
        format!("{} · {}", printable(&entry.provider), source(entry.source)).dimmed()
    )?;
    writeln!(out, "{}", printable(&view.description))?;
    writeln!(out, "\n{}\n{}", "Arguments (JSON Schema)".bold(), json(&Value::Object(view.schema.clone())))?;
    if entry.source == ToolSource::Session {
        return Ok(());
    }
    // By id, because a card may have the name of a built-in tool.
    let example = Value::Object(view.example.clone()).to_string();
    writeln!(
        out,
        "\n{}\nautokit tools call {} {}",
        "Call it".bold(),
        shell_quote(&entry.id),
        shell_quote(&example)
    )
}

/// Quotes a text as one word for a shell, so that text written by others cannot become a command.
pub(crate) fn shell_quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        return text.to_owned();
    }
    format!("'{}'", printable(text).replace('\'', r"'\''"))
}

fn json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

fn parse_arguments(given: &str) -> Result<Map<String, Value>> {
    let mut text = given.to_owned();
    if given == "-" {
        text.clear();
        io::stdin().lock().read_to_string(&mut text)?;
    }
    serde_json::from_str(&text).map_err(|error| {
        ApiError::new(
            ErrorCode::BadRequest,
            format!("the arguments aren't a JSON object: {error}"),
            "Use '{\"name\": \"value\"}'; see `autokit tools show` for a tool's arguments.",
        )
        .into()
    })
}

async fn call(library: &dyn Client, out: &Output, mut run: ToolRun, yes: bool) -> Result<Outcome> {
    let job = loop {
        match library.call::<RunTool>(run.clone()).await? {
            ToolRunStart::Started { job } => break job,
            ToolRunStart::Asks { needs, words } => {
                let what = format!("{} needs", printable(&run.tool).bold());
                approve(&what, &words, yes, &format!("`{}` wasn't called: it needs", run.tool))?;
                run.granted = needs;
            }
        }
    };
    jobs::watch(library, out, &job).await?;
    let outcome = library.call::<GetToolOutcome>(JobRef { job }).await?;
    out.show(&outcome, |out| write_outcome(out, &outcome))?;
    Ok(if outcome.failed { Outcome::Rejected } else { Outcome::Done })
}

fn write_outcome(out: &mut dyn Write, outcome: &ToolOutcome) -> io::Result<()> {
    for block in &outcome.blocks {
        match block {
            ToolBlock::Text { text } => {
                // JSON is pretty-printed.
                match serde_json::from_str::<Value>(text) {
                    Ok(value @ (Value::Object(_) | Value::Array(_))) => writeln!(out, "{}", json(&value))?,
                    _ => text.lines().try_for_each(|line| writeln!(out, "{}", printable(line)))?,
                }
            }
            ToolBlock::Image { mime, data } => {
                writeln!(
                    out,
                    "{}",
                    format!(
                        "Image ({}, {} bytes); use --json to get it.",
                        printable(mime),
                        data.len() / 4 * 3
                    )
                    .dimmed()
                )?;
            }
            ToolBlock::Other { value } => writeln!(out, "{}", json(value))?,
        }
    }
    if let (true, Some(value)) = (outcome.blocks.is_empty(), &outcome.structured) {
        writeln!(out, "{}", json(value))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_arguments_are_quoted_for_the_shell() {
        assert_eq!(shell_quote("autokit:get_time"), "autokit:get_time");
        assert_eq!(shell_quote("x;reboot"), "'x;reboot'");
        assert_eq!(shell_quote("--yes"), "'--yes'");
        assert_eq!(shell_quote("$(id) 'a"), r"'$(id) '\''a'");
    }
}
