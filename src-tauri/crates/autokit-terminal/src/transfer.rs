//! `autokit import` and `autokit export`.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use autokit_api::Client;
use autokit_api::commands::{Export, PreviewImport, StartImport};
use autokit_api::{
    ExistingCards, ExportRequest, Format, ImportItem, ImportPreview, ImportPreviewRequest, ImportRequest,
    ImportSource, ItemStatus, Job,
};
use autokit_error::{ApiError, ErrorCode, file_problem};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::bundle::counts;
use crate::cards::{query_of, write_diff};
use crate::filter::Filter;
use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable, printable_line};

/// Items per request.
const PAGE_SIZE: u32 = 1000;

#[derive(Serialize)]
struct Imported {
    file: String,
    job: Job,
    rejected: Vec<ImportItem>,
    /// Cards that may already be in the library under another name.
    similar: Vec<ImportItem>,
}

pub(crate) async fn import(
    library: &dyn Client,
    out: &Output,
    files: &[PathBuf],
    preview: bool,
    existing: ExistingCards,
) -> Result<Outcome> {
    let (mut previews, mut imports) = (Vec::new(), Vec::new());
    for file in files {
        let source = source_of(file)?;
        if preview {
            previews.push(preview_all(library, &source, None).await?);
            continue;
        }
        // Read before the import, because afterwards the cards are in the library.
        let rejected = preview_all(library, &source, Some(ItemStatus::Invalid)).await?.items;
        let similar = preview_all(library, &source, Some(ItemStatus::Similar)).await?.items;
        let started =
            library.call::<StartImport>(ImportRequest { existing, ..ImportRequest::new(source) }).await?;
        let job = jobs::watch(library, out, &started.job).await?;
        imports.push(Imported { file: file.display().to_string(), job, rejected, similar });
    }
    if preview {
        out.show(&previews, |text| previews.iter().try_for_each(|preview| write_preview(text, preview)))?;
        return Ok(Outcome::Done);
    }
    out.show(&imports, |text| {
        for done in &imports {
            writeln!(text, "{}: {}", printable(&done.file), done.job.summary.as_deref().unwrap_or("done"))?;
            done.rejected.iter().chain(&done.similar).try_for_each(|item| write_item(text, item))?;
            if let Some(change) = done.job.tally.as_ref().and_then(|tally| tally.change.as_deref()) {
                writeln!(text, "Undo with `autokit undo {change}`")?;
            }
        }
        Ok(())
    })?;
    // Invalid cards do not block the others; the command fails only if all are invalid.
    let all_rejected = imports.iter().any(|done| {
        let tally = done.job.tally.as_ref();
        tally.is_some_and(|t| t.rejected > 0 && t.added + t.changed + t.unchanged == 0)
    });
    Ok(if all_rejected { Outcome::Rejected } else { Outcome::Done })
}

/// Parses a source of cards: a file, a folder, a URL, or `-` for standard input.
pub(crate) fn source_of(file: &Path) -> Result<ImportSource> {
    let text = file.to_string_lossy();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("https" | "http") => return Ok(ImportSource::Url(text.into_owned())),
        Some(scheme) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) && !file.exists() => {
            let message = format!("{scheme} URLs aren't supported");
            let remedy = "Use an https URL, or the path of a file or folder.";
            return Err(ApiError::new(ErrorCode::BadRequest, message, remedy).into());
        }
        _ => {}
    }
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| {
            ApiError::new(
                ErrorCode::UnreadableFile,
                format!("standard input: {}", file_problem(&error)),
                "Pipe UTF-8 text.",
            )
        })?;
        return Ok(ImportSource::Text(text));
    }
    // The process that owns the library may have another working directory.
    let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    Ok(ImportSource::Path(path.display().to_string()))
}

pub(crate) async fn preview_all(
    library: &dyn Client,
    source: &ImportSource,
    status: Option<ItemStatus>,
) -> Result<ImportPreview> {
    let mut all: Option<ImportPreview> = None;
    loop {
        let offset = all.as_ref().map_or(0, |preview| preview.items.len() as u32);
        let request = ImportPreviewRequest { source: source.clone(), status, offset, limit: PAGE_SIZE };
        let window = library.call::<PreviewImport>(request).await?;
        let done = offset + window.items.len() as u32 >= window.total || window.items.is_empty();
        match &mut all {
            None => all = Some(window),
            Some(preview) => preview.items.extend(window.items),
        }
        if let (true, Some(preview)) = (done, all.take_if(|_| done)) {
            return Ok(preview);
        }
    }
}

fn write_preview(out: &mut dyn Write, preview: &ImportPreview) -> std::io::Result<()> {
    for item in preview.items.iter().filter(|item| item.status != ItemStatus::Identical) {
        write_item(out, item)?;
    }
    writeln!(out, "{}", counts(preview))
}

pub(crate) fn write_item(out: &mut dyn Write, item: &ImportItem) -> std::io::Result<()> {
    let status = match item.status {
        ItemStatus::Conflicting => "conflict ".red().to_string(),
        ItemStatus::Similar => "similar  ".yellow().to_string(),
        ItemStatus::New => "new      ".green().to_string(),
        ItemStatus::Changed => "changed  ".yellow().to_string(),
        ItemStatus::Identical => "identical".dimmed().to_string(),
        ItemStatus::Invalid => "invalid  ".red().to_string(),
    };
    let name =
        if item.name.is_empty() { format!("item {}", item.position) } else { printable_line(&item.name) };
    writeln!(out, "{status} {name}")?;
    for problem in &item.problems {
        let field =
            if problem.field.is_empty() { "the card".to_owned() } else { format!("`{}`", problem.field) };
        writeln!(out, "          {} {field} {}", "→".cyan(), printable_line(&problem.reason))?;
    }
    for (id, name) in &item.similar {
        writeln!(out, "          {} possible duplicate of {} ({id})", "→".cyan(), printable_line(name))?;
    }
    if item.behind {
        writeln!(out, "          {} the library's version is newer", "→".cyan())?;
    }
    if item.suspect {
        writeln!(
            out,
            "          {} contains hidden text or instructions to a model: goes to review",
            "→".cyan()
        )?;
    }
    for conflict in &item.conflicts {
        writeln!(
            out,
            "          {} conflict: both changed `{}`",
            "→".cyan(),
            printable_line(&conflict.field)
        )?;
    }
    // For a card that the library does not have, the diff would list every field.
    let diffs = if item.card.is_some() { item.diff.as_slice() } else { &[] };
    diffs.iter().try_for_each(|diff| write_diff(out, diff))
}

/// Formats cards are written in, beside bundles.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum OutFormat {
    /// JSON array of cards with all fields.
    Json,
    /// Table, one row per card.
    Csv,
    /// Readable catalogue.
    Markdown,
    /// Searchable page in a single file.
    Html,
}

impl OutFormat {
    /// Returns the format for a file name.
    fn of(path: &Path) -> Result<OutFormat> {
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        Ok(match extension.as_deref() {
            None | Some("json") => OutFormat::Json,
            Some("csv") => OutFormat::Csv,
            Some("md" | "markdown") => OutFormat::Markdown,
            Some("html" | "htm") => OutFormat::Html,
            Some("toolcards") => {
                let message = format!("{} is a bundle file name", path.display());
                let remedy = "Use `autokit bundle export`, or set --format.";
                return Err(ApiError::new(ErrorCode::BadRequest, message, remedy).into());
            }
            Some(other) => {
                let remedy = "Set --format, or use the extension json, csv, md or html.";
                let message = format!("unknown output format `.{other}`");
                return Err(ApiError::new(ErrorCode::BadRequest, message, remedy).into());
            }
        })
    }
}

impl From<OutFormat> for Format {
    fn from(format: OutFormat) -> Format {
        match format {
            OutFormat::Json => Format::Json,
            OutFormat::Csv => Format::Csv,
            OutFormat::Markdown => Format::Markdown,
            OutFormat::Html => Format::Html,
        }
    }
}

pub(crate) async fn export(
    library: &dyn Client,
    out: &Output,
    file: Option<PathBuf>,
    format: Option<OutFormat>,
    filter: Filter,
) -> Result<Outcome> {
    // As with `import`, `-` is the standard stream.
    let file = file.filter(|file| file != Path::new("-"));
    let format = match (format, &file) {
        (Some(format), _) => format,
        (None, Some(file)) => OutFormat::of(file)?,
        (None, None) => OutFormat::Json,
    };
    let path = file.map(|file| std::path::absolute(&file).unwrap_or(file).display().to_string());
    let request =
        ExportRequest { query: query_of(filter)?, path, format: format.into(), ..ExportRequest::default() };
    let outcome = library.call::<Export>(request).await?;
    match &outcome.text {
        // The text is the exported file, so it is printed as is, with or without --json.
        Some(text) => Output::raw(text.as_bytes())?,
        None => out.show(&outcome, |text| {
            let path = printable(outcome.path.as_deref().unwrap_or("-"));
            writeln!(text, "Exported {} to {path}", count(outcome.cards, "card"))
        })?,
    }
    Ok(Outcome::Done)
}
