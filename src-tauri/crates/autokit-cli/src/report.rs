//! `autokit report`: what agents did with AutoKit, in figures.

use autokit_app::api::{ActivityQuery, ActivityReport};
use autokit_app::commands::GetActivity;
use autokit_app::node::Node;
use clap::Subcommand;

use crate::output::{Output, printable};
use crate::{End, Result};

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Sessions, searches and calls of agents, how long they took and what they cost.
    Activity {
        /// How far back.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=92))]
        days: u32,
    },
}

pub(crate) async fn run(node: &Node, out: &Output, command: ReportCommand) -> Result<End> {
    let ReportCommand::Activity { days } = command;
    let report = node.call::<GetActivity>(ActivityQuery { days }).await?;
    out.show(&report, |text| write(text, &report))?;
    Ok(if report.sessions == 0 { End::Nothing } else { End::Done })
}

fn write(text: &mut dyn std::io::Write, report: &ActivityReport) -> std::io::Result<()> {
    let days = if report.days == 1 { "day".to_owned() } else { format!("{} days", report.days) };
    if report.sessions == 0 {
        writeln!(text, "No agent reached AutoKit within the last {days}.")?;
        return writeln!(text, "Connect one with `autokit clients connect PROGRAM`");
    }
    writeln!(text, "Within the last {days}")?;
    let mut row = |name: &str, value: String| writeln!(text, "  {name:<18} {value}");
    row("sessions", report.sessions.to_string())?;
    row(
        "searches",
        format!(
            "{} ({} found nothing, {} repeated an earlier one)",
            report.searches, report.empty_searches, report.repeated_searches
        ),
    )?;
    row(
        "search",
        format!("{:.1} ms in the median, {:.1} ms at p95", report.search.p50_ms, report.search.p95_ms),
    )?;
    for tier in &report.tiers {
        let latency = format!("{:.1} / {:.1} ms", tier.latency.p50_ms, tier.latency.p95_ms);
        row(&format!("  {}", tier.tier), latency)?;
    }
    row(
        "tools bound",
        format!("{}, {} let go, {} loops broken", report.bound, report.evicted, report.loops),
    )?;
    row("calls", format!("{} ({} gave an error)", report.calls, report.failed_calls))?;
    if let Some(accuracy) = report.accuracy {
        row("used of found", format!("{:.0} %", accuracy * 100.0))?;
    }
    let dynamic = report.own_tokens + report.search_tokens;
    row(
        "tokens",
        format!(
            "{dynamic} a session: {} for its own tools, {} found",
            report.own_tokens, report.search_tokens
        ),
    )?;
    if report.static_tokens > dynamic {
        let saved = 100.0 * (1.0 - dynamic as f64 / report.static_tokens as f64);
        row("instead of", format!("{} for all tools at once: {saved:.0} % saved", report.static_tokens))?;
    }
    if !report.tools.is_empty() {
        writeln!(text, "Tools")?;
    }
    for tool in &report.tools {
        let failed = if tool.failed > 0 { format!(", {} failed", tool.failed) } else { String::new() };
        let latency = format!("{:.1} / {:.1} ms", tool.latency.p50_ms, tool.latency.p95_ms);
        writeln!(text, "  {} ({}{failed}; {latency})", printable(&tool.name), tool.calls)?;
    }
    if report.other_tools > 0 {
        writeln!(text, "  and {} more", report.other_tools)?;
    }
    Ok(())
}
