//! `autokit report tokens`: the token cost of listing tools against searching them.

use autokit_eval::{TokensReport, TokensRow};
use autokit_terminal::output::{Output, printable};
use autokit_terminal::{Global, Outcome, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::eval::table;
use crate::global::vectors;

/// Runs the token benchmark, which needs no library.
pub(crate) async fn measure(global: &Global, out: &Output, sizes: &[usize]) -> Result<Outcome> {
    let bar = ProgressBar::with_draw_target(
        None,
        // Indicatif draws nothing if stderr is not a terminal.
        if out.json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
    );
    if let Ok(style) = ProgressStyle::with_template("Reading tools {bar:24.cyan/dim} {pos}/{len} eta {eta}") {
        bar.set_style(style);
    }
    let vectors = vectors(global);
    let on_progress = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let report = autokit_eval::tokens(sizes, &vectors, on_progress).await?;
    bar.finish_and_clear();
    out.show(&report, |text| write_tokens(text, &report))?;
    Ok(Outcome::Done)
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn write_tokens(text: &mut dyn std::io::Write, report: &TokensReport) -> std::io::Result<()> {
    let header = ["tools", "static", "dynamic", "own", "answer", "p95", "listed", "saved", "found"];
    let paper = ["paper static", "paper dynamic", "paper saved"];
    let mut shown = table(&[header.as_slice(), paper.as_slice()].concat());
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let or_nothing = |figure: Option<u64>| figure.map_or_else(|| "–".to_owned(), grouped);
    for row in &report.rows {
        let paper_saved = row
            .paper_static
            .zip(row.paper_dynamic)
            .map(|(fixed, dynamic)| 1.0 - dynamic as f64 / fixed as f64);
        shown.add_row([
            grouped(row.tools.into()),
            grouped(row.static_tokens),
            grouped(row.dynamic_tokens),
            grouped(row.own_tokens),
            grouped(row.reply_tokens),
            grouped(row.reply_p95),
            grouped(row.listed_tokens),
            percent(row.saved),
            format!("{:.0}%", row.found * 100.0),
            or_nothing(row.paper_static),
            or_nothing(row.paper_dynamic),
            paper_saved.map_or_else(|| "–".to_owned(), |saved| format!("{:.0}%", saved * 100.0)),
        ]);
    }
    writeln!(text, "{shown}")?;
    let method = report.keyword_only_reason.as_ref().map_or_else(
        || "with hybrid search".to_owned(),
        |why| format!("with keyword search: {}", printable(why)),
    );
    writeln!(text, "\nTokens are characters / 4, as medians of {} searches.", report.searches)?;
    writeln!(
        text,
        "static: the definitions of all tools. dynamic: all that is read for one search, which is"
    )?;
    writeln!(
        text,
        "the tools every session has (own), the answer with its schemas, and what it puts into the"
    )?;
    writeln!(text, "session's list of tools (listed); a program that does not list them anew reads less.")?;
    writeln!(text, "found: searches that found the tool they were made from. Searched {method}.")?;
    if report.rows.iter().any(exceeds_paper) {
        writeln!(text, "More than the paper's figure at: {}", exceeding_sizes(report))?;
    }
    Ok(())
}

fn exceeds_paper(row: &TokensRow) -> bool {
    row.paper_dynamic.is_some_and(|paper| row.dynamic_tokens > paper)
}

fn exceeding_sizes(report: &TokensReport) -> String {
    let over: Vec<String> =
        report.rows.iter().filter(|row| exceeds_paper(row)).map(|row| row.tools.to_string()).collect();
    over.join(", ")
}
