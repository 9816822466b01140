//! `autokit eval`: results as tables or as JSON.

use std::io::{self, Write};
use std::path::Path;

use autokit_app::{ApiError, ErrorCode, Thresholds};
use autokit_eval::{
    AskEvaluation, Calibrations, DiscoverReport, ImproveEvaluation, LibrariesEvaluation, PAPER, RefinedSet,
    RetrievalReport,
};
use autokit_terminal::output::{Output, printable};
use autokit_terminal::{EvalCommand, Global, Outcome, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use owo_colors::OwoColorize;

use crate::global::vectors;

pub(crate) async fn run(global: &Global, out: &Output, command: EvalCommand) -> Result<Outcome> {
    let vectors = vectors(global);
    // Embedding blocks all cores for a while, and nothing else runs on the runtime.
    match command {
        EvalCommand::Retrieval { dirs, precision } => {
            let reports = tokio::task::block_in_place(|| {
                autokit_eval::retrieval(&dirs, &vectors, precision.map(Into::into))
            })?;
            out.show(&reports, |text| reports.iter().try_for_each(|report| write_retrieval(text, report)))?;
        }
        EvalCommand::Ask { cards, questions, site, precision, misses } => {
            let precision = precision.map(Into::into);
            let evaluation =
                autokit_eval::ask(cards.as_deref(), &questions, &vectors, precision, site.as_deref()).await?;
            out.show(&evaluation, |text| write_ask(text, &evaluation, misses))?;
        }
        EvalCommand::Calibrate { cards, questions, out: file, vectors_out } => {
            let (measured, unservable) = autokit_eval::calibrate(cards.as_deref(), &questions, &vectors)?;
            if let Some(file) = file {
                let text = serde_json::to_string_pretty(&measured)
                    .map_err(|error| ApiError::internal(error.to_string()))?;
                write_file(&file, (text + "\n").as_bytes())?;
            }
            if let Some(file) = vectors_out {
                write_file(&file, &unservable)?;
            }
            out.show(&measured, |text| write_calibrations(text, &measured))?;
        }
        EvalCommand::Discover { cards, needs, search_url, explain } => {
            let progress = |_, _| {};
            let report =
                autokit_eval::discover(&cards, &needs, &search_url, &vectors, explain, progress).await?;
            if out.json() {
                Output::lines(&report.lines)?;
            } else {
                out.show(&report, |text| write_discover(text, &report))?;
            }
        }
        EvalCommand::Improve { cards, questions, site, thin, explain } => {
            let evaluation =
                autokit_eval::improve(&cards, &questions, &site, &vectors, thin, explain).await?;
            out.show(&evaluation, |text| write_improve(text, &evaluation))?;
        }
        EvalCommand::Refine { dir } => {
            let sets = tokio::task::block_in_place(|| autokit_eval::refine(&dir, &vectors))?;
            out.show(&sets, |text| write_refine(text, &sets))?;
        }
        EvalCommand::Libraries { cards, questions, parts } => {
            let evaluation = autokit_eval::libraries(&cards, &questions, usize::from(parts), &vectors)?;
            out.show(&evaluation, |text| write_libraries(text, &evaluation))?;
        }
        EvalCommand::Sessions { .. } => unreachable!("carried out on an open library"),
        EvalCommand::Linkrot { cases, site, explain } => {
            let lines = autokit_eval::linkrot(&cases, &site, &vectors, explain).await?;
            Output::lines(&lines)?;
        }
    }
    Ok(Outcome::Done)
}

fn write_file(file: &Path, content: &[u8]) -> Result<()> {
    std::fs::write(file, content).map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        ApiError::new(ErrorCode::BadRequest, message, "Pass a file in an existing folder.").into()
    })
}

pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn write_libraries(out: &mut dyn Write, evaluation: &LibrariesEvaluation) -> io::Result<()> {
    let LibrariesEvaluation { cards, questions, rows, difference } = evaluation;
    let sizes = cards.iter().map(u32::to_string).collect::<Vec<_>>().join(" + ");
    writeln!(out, "{} libraries of {sizes} cards, {questions} questions", cards.len())?;
    let mut table = table(&["", "hit@1", "hit@3", "hit@5"]);
    for row in rows {
        let mut cells = vec![row.name.clone()];
        cells.extend([row.hit1, row.hit3, row.hit5].map(percent));
        table.add_row(cells);
    }
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "{}",
        format!(
            "difference of hit@1 {:+.1} [{:+.1}, {:+.1}] (95%, paired bootstrap)",
            difference.mean * 100.0,
            difference.low * 100.0,
            difference.high * 100.0
        )
        .dimmed()
    )
}

/// Writes scores as percentages, as papers do.
fn write_retrieval(out: &mut dyn Write, report: &RetrievalReport) -> io::Result<()> {
    writeln!(out, "{}  {} tools, {} queries", printable(&report.name).bold(), report.tools, report.queries)?;
    let mut table = table(&["", "NDCG@1", "NDCG@5", "NDCG@10", "R@1", "R@5", "R@10", "MRR"]);
    for (mode, m) in [("keyword", &report.keyword), ("vector", &report.vector), ("hybrid", &report.hybrid)] {
        let mut row = vec![mode.to_owned()];
        row.extend([m.ndcg1, m.ndcg5, m.ndcg10, m.recall1, m.recall5, m.recall10, m.mrr].map(percent));
        table.add_row(row);
    }
    writeln!(out, "{table}")?;
    let gain = &report.hybrid_minus_best;
    writeln!(
        out,
        "{}\n",
        format!(
            "hybrid NDCG@10 {} [{}, {}]; hybrid − {:?} {:+.1} [{:+.1}, {:+.1}] (95%, paired bootstrap)",
            percent(report.hybrid_ndcg10.mean),
            percent(report.hybrid_ndcg10.low),
            percent(report.hybrid_ndcg10.high),
            report.best_single,
            gain.mean * 100.0,
            gain.low * 100.0,
            gain.high * 100.0
        )
        .dimmed()
    )
}

fn write_refine(out: &mut dyn Write, sets: &[RefinedSet]) -> io::Result<()> {
    for set in sets {
        writeln!(
            out,
            "{}  {} tools, {} queries",
            printable(&set.name).bold(),
            set.raw.tools,
            set.raw.queries
        )?;
        let mut table = table(&["", "NDCG@1 raw", "refined", "NDCG@10 raw", "refined"]);
        let modes = [
            ("keyword", &set.raw.keyword, &set.refined.keyword),
            ("vector", &set.raw.vector, &set.refined.vector),
            ("hybrid", &set.raw.hybrid, &set.refined.hybrid),
        ];
        for (mode, raw, refined) in modes {
            let mut row = vec![mode.to_owned()];
            row.extend([raw.ndcg1, refined.ndcg1, raw.ndcg10, refined.ndcg10].map(percent));
            table.add_row(row);
        }
        for paper in PAPER.iter().filter(|paper| set.name.contains(paper.set)) {
            let mut row = vec![format!("paper, {}", paper.retriever)];
            let figures = [paper.raw[0], paper.refined[0], paper.raw[1], paper.refined[1]];
            row.extend(figures.map(|figure| format!("{figure:.1}")));
            table.add_row(row);
        }
        writeln!(out, "{table}")?;
        let rates = [set.raw.path_rate, set.refined.path_rate].map(percent);
        writeln!(out, "correct path rate of a scripted agent: raw {}, refined {}\n", rates[0], rates[1])?;
    }
    let why =
        "needs the APIs' addresses, keys and a language model; `autokit refine` works on APIs that are added";
    writeln!(out, "{}", format!("Refined here by calling these APIs: not run ({why}).").dimmed())
}

fn write_ask(out: &mut dyn Write, evaluation: &AskEvaluation, misses: bool) -> io::Result<()> {
    let report = &evaluation.report;
    writeln!(out, "{} cards, {} questions", report.cards, report.questions)?;
    let mut table = table(&["", "hit@1", "hit@3", "hit@5", "MRR"]);
    for (mode, m) in [("keyword", &report.keyword), ("vector", &report.vector), ("hybrid", &report.hybrid)] {
        let mut row = vec![mode.to_owned()];
        row.extend([m.hit1, m.hit3, m.hit5, m.mrr].map(percent));
        table.add_row(row);
    }
    for stage in &evaluation.stages {
        let mut row = vec![stage.name.clone()];
        row.extend([stage.hit1, stage.hit3, stage.hit5].map(percent));
        table.add_row(row);
    }
    writeln!(out, "{table}")?;
    if evaluation.stages.iter().any(|stage| stage.unanswerable > 0) {
        let mut table = self::table(&[
            "",
            "refused",
            "answered",
            "right ones refused",
            "AUROC (95%)",
            "calibration error",
        ]);
        for stage in &evaluation.stages {
            let mut row = vec![stage.name.clone()];
            row.extend([stage.refused, stage.wrongly_answered, stage.wrongly_refused].map(percent));
            row.push(stage.auroc.map_or_else(String::new, |area| {
                format!("{:.3} [{:.3}, {:.3}]", area.mean, area.low, area.high)
            }));
            row.push(format!("{:.3}", stage.calibration_error));
            table.add_row(row);
        }
        let unanswerable = evaluation.stages.first().map_or(0, |stage| stage.unanswerable);
        writeln!(out, "{unanswerable} questions that no card answers\n{table}")?;
    }
    if evaluation.pages > 0 {
        writeln!(out, "{}", format!("pages of {} cards were read", evaluation.pages).dimmed())?;
    }
    if misses {
        for outcome in report.outcomes.iter().filter(|outcome| outcome.hybrid != Some(1)) {
            let rank = outcome.hybrid.map_or_else(|| "not found".to_owned(), |rank| format!("rank {rank}"));
            writeln!(out, "{} {}", printable(&outcome.question).bold(), rank.yellow())?;
            writeln!(out, "  wanted {}", printable(&outcome.gold.join(" | ")))?;
            writeln!(out, "  got    {}", printable(&outcome.first.join(" | ")).dimmed())?;
        }
    }
    Ok(())
}

fn write_calibrations(out: &mut dyn Write, measured: &Calibrations) -> io::Result<()> {
    for calibration in &measured.calibrations {
        let Thresholds { sure, doubtful, nothing } = calibration.thresholds;
        writeln!(
            out,
            "{}  sure from {sure:.3}, doubtful below {doubtful:.3}, nothing below {nothing:.3}; {} questions a card \
             answers, {} none does; calibration error {:.3} (cross-validated)",
            if calibration.asks_for { "cards with asks_for" } else { "cards without asks_for" }.bold(),
            calibration.answerable,
            calibration.unanswerable,
            calibration.calibration_error
        )?;
        let mut table = table(&["score", "first hits", "right", "confidence", "no card answers"]);
        for bin in &calibration.reliability {
            let share = |count: u32| percent(f64::from(count) / f64::from(bin.hits));
            let range = format!("{:.1} to {:.1}", bin.from, bin.to);
            let confidence = percent(f64::from(calibration.confidence.of(f32::midpoint(bin.from, bin.to))));
            table.add_row([
                range,
                bin.hits.to_string(),
                share(bin.right),
                confidence,
                share(bin.unanswerable),
            ]);
        }
        writeln!(out, "{table}")?;
    }
    Ok(())
}

fn write_improve(out: &mut dyn Write, evaluation: &ImproveEvaluation) -> io::Result<()> {
    for (name, old, new) in &evaluation.changes {
        writeln!(out, "{}\n  {}\n  {}", printable(name).bold(), printable(old).dimmed(), printable(new))?;
    }
    let (before, after) = (&evaluation.before, &evaluation.after);
    writeln!(
        out,
        "{} cards, {} with a better description, {} questions",
        before.cards, evaluation.improved, before.questions
    )?;
    let mut table = table(&["", "hit@1", "hit@3", "hit@5", "MRR"]);
    let modes = [
        ("keyword", &before.keyword, &after.keyword),
        ("vector", &before.vector, &after.vector),
        ("hybrid", &before.hybrid, &after.hybrid),
    ];
    for (mode, before, after) in modes {
        for (when, m) in [("before", before), ("after", after)] {
            let mut row = vec![format!("{mode}, {when}")];
            row.extend([m.hit1, m.hit3, m.hit5, m.mrr].map(percent));
            table.add_row(row);
        }
    }
    writeln!(out, "{table}")
}

fn write_discover(out: &mut dyn Write, report: &DiscoverReport) -> io::Result<()> {
    let mut table = table(&[
        "",
        "named: first",
        "in three",
        "unnamed: first",
        "in three",
        "no page, named: nothing",
        "unnamed: nothing",
    ]);
    for (method, m) in [("discovery", &report.discovery), ("first search hit", &report.baseline)] {
        let cell =
            |share: autokit_eval::Ratio| format!("{} ({}/{})", percent(share.share()), share.good, share.of);
        let mut row = vec![method.to_owned()];
        row.extend(
            [
                m.named_first,
                m.named_three,
                m.unnamed_first,
                m.unnamed_three,
                m.named_nothing,
                m.unnamed_nothing,
            ]
            .map(cell),
        );
        table.add_row(row);
    }
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "{}",
        format!("{} needs, {} ms each at the median", report.lines.len(), report.median_ms).dimmed()
    )
}
