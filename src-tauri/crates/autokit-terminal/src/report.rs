//! `autokit report`: activity of agents and token costs.

use autokit_api::Client;
use autokit_api::commands::{GetActivity, GetAudit};
use autokit_api::{
    ActivityQuery, ActivityReport, AuditQuery, CallOutcome, DecidedBy, PreloadingReplay, ReplayedMeasure,
};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};

#[allow(missing_docs, reason = "a doc comment would replace the help of the command")]
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Report agent sessions, searches and calls with latency and token cost.
    Activity {
        /// Days to include.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=92))]
        days: u32,
    },
    /// Show the call log, newest first.
    Audit {
        /// Days to include.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=92))]
        days: u32,
        /// Maximum number of calls.
        #[arg(long, default_value_t = 50)]
        limit: u32,
    },
    /// Benchmark the token cost of listing all tools against search, on published APIs.
    Tokens {
        /// Number of tools; embedding 10,000 takes a few minutes.
        #[arg(long, value_delimiter = ',', default_values_t = [10, 25, 50, 100, 200])]
        sizes: Vec<usize>,
    },
}

pub(crate) async fn activity(library: &dyn Client, out: &Output, days: u32) -> Result<Outcome> {
    let report = library.call::<GetActivity>(ActivityQuery { days }).await?;
    out.show(&report, |text| write(text, &report))?;
    Ok(if report.sessions == 0 { Outcome::NothingFound } else { Outcome::Done })
}

pub(crate) async fn audit(library: &dyn Client, out: &Output, days: u32, limit: u32) -> Result<Outcome> {
    let log = library.call::<GetAudit>(AuditQuery { days, limit }).await?;
    out.show(&log, |text| {
        for entry in &log.entries {
            let outcome = match entry.outcome {
                CallOutcome::Done => "done".green().to_string(),
                CallOutcome::Refused => "refused".red().to_string(),
                CallOutcome::Failed => "failed".red().to_string(),
                CallOutcome::Cancelled => "cancelled".to_owned(),
            };
            let decided = match entry.decided {
                DecidedBy::Rules => "rules",
                DecidedBy::Person => "person",
                DecidedBy::Nobody => "nobody",
            };
            let preposition = if entry.outcome == CallOutcome::Refused { "by" } else { "allowed by" };
            writeln!(
                text,
                "{}  {}  {outcome}, {preposition} {}  {}",
                format_time(entry.at),
                printable(&entry.name).bold(),
                decided,
                printable(&entry.client)
            )?;
            if !entry.profile.is_empty() {
                writeln!(text, "  profile {}", printable(&entry.profile))?;
            }
            writeln!(text, "  {}", printable(&entry.arguments.to_string()))?;
            for need in &entry.needed {
                writeln!(text, "  {}", printable(need))?;
            }
            if !entry.why.is_empty() {
                writeln!(text, "  {}", printable(&entry.why))?;
            }
        }
        let shown = log.entries.len() as u32;
        if log.total > shown {
            writeln!(text, "{shown} of {} calls; --limit shows more", log.total)?;
        }
        if log.total == 0 {
            writeln!(text, "No calls.")?;
        }
        Ok(())
    })?;
    Ok(if log.total == 0 { Outcome::NothingFound } else { Outcome::Done })
}

pub(crate) async fn preloading(library: &dyn Client, out: &Output, days: u32) -> Result<Outcome> {
    let report = library.call::<GetActivity>(ActivityQuery { days }).await?;
    out.show(&report.preloading, |text| match &report.preloading {
        None => writeln!(text, "Too few agent sessions in the last {days} days to replay."),
        Some(replay) => write_preloading(text, replay),
    })?;
    Ok(if report.preloading.is_some() { Outcome::Done } else { Outcome::NothingFound })
}

fn write_preloading(text: &mut dyn std::io::Write, replay: &PreloadingReplay) -> std::io::Result<()> {
    let sessions = count(u64::from(replay.sessions), "session");
    writeln!(text, "{sessions} replayed with up to {} tools preloaded", replay.tools)?;
    writeln!(text, "  {:<22} {:>8} {:>10}   difference, 95% interval", "", "actual", "preloaded")?;
    let mut row = |name: &str, measure: &ReplayedMeasure, scale: f64, digits: usize| {
        let ReplayedMeasure { actual, preloaded, low, high } = *measure;
        writeln!(
            text,
            "  {name:<22} {:>8.digits$} {:>10.digits$}   {:+.digits$} [{:+.digits$}, {:+.digits$}]",
            actual * scale,
            preloaded * scale,
            (preloaded - actual) * scale,
            low * scale,
            high * scale,
        )
    };
    row("searches per session", &replay.searches, 1.0, 2)?;
    row("loaded tools called (%)", &replay.used, 100.0, 1)?;
    row("tokens per session", &replay.tokens, 1.0, 0)?;
    writeln!(
        text,
        "{}",
        if replay.helps {
            "Preloading would have saved searches. Turn it on in Settings, Sessions."
        } else {
            "Preloading would not have helped."
        }
    )
}

fn write(text: &mut dyn std::io::Write, report: &ActivityReport) -> std::io::Result<()> {
    let days = if report.days == 1 { "day".to_owned() } else { format!("{} days", report.days) };
    if report.sessions == 0 {
        writeln!(text, "No agent activity in the last {days}.")?;
        return writeln!(text, "Connect a client with `autokit clients connect CLIENT`");
    }
    writeln!(text, "Last {days}")?;
    let mut row = |name: &str, value: String| writeln!(text, "  {name:<18} {value}");
    row("sessions", report.sessions.to_string())?;
    row(
        "searches",
        format!(
            "{} ({} found nothing, {} repeated an earlier one)",
            report.searches, report.empty_searches, report.repeated_searches
        ),
    )?;
    row("search", format!("median {:.1} ms, p95 {:.1} ms", report.search.p50_ms, report.search.p95_ms))?;
    for tier in &report.tiers {
        let latency = format!("{:.1} / {:.1} ms", tier.latency.p50_ms, tier.latency.p95_ms);
        row(&format!("  {}", tier.tier), latency)?;
    }
    row(
        "tools loaded",
        format!("{}, {} evicted, {} loops stopped", report.bound, report.evicted, report.loops),
    )?;
    row("calls", format!("{} ({} failed)", report.calls, report.failed_calls))?;
    if let Some(accuracy) = report.accuracy {
        row("loaded tools called", format!("{:.0}%", accuracy * 100.0))?;
    }
    let dynamic = report.own_tokens + report.search_tokens;
    row(
        "tokens",
        format!(
            "{dynamic} per session: {} built-in tools, {} loaded tools",
            report.own_tokens, report.search_tokens
        ),
    )?;
    if report.static_tokens > dynamic {
        let saved = 100.0 * (1.0 - dynamic as f64 / report.static_tokens as f64);
        row(
            "without AutoKit",
            format!("{} for all tools up front: {saved:.0}% saved", report.static_tokens),
        )?;
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
