//! `autokit cards`.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use autokit_api::Client;
use autokit_api::commands::{
    CreateCard, DeleteCards, EditCards, GetCard, GetHistory, GetStarter, ListCards, ListImports, RestoreCard,
    Undo, UpdateCard,
};
use autokit_api::{
    CardCreate, CardDetail, CardList, CardRef, CardRestore, CardUpdate, CardsDelete, CardsEdit, CardsPage,
    CardsQuery, HealthFilter, ImportView, Nothing, RevisionView, UndoOutcome, UndoRequest,
};
use autokit_error::{ApiError, ErrorCode};
use autokit_text::did_you_mean;
use autokit_toolcard::{ChangeKind, FieldDiff, Kind, SpanOp, fields};
use clap::{Args, Subcommand};
use comfy_table::{ContentArrangement, Table, presets};
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use crate::filter::Filter;
use crate::outcome::{Outcome, Result};
use crate::output::{self, Output, count, format_time, printable, printable_line};
use crate::starter_code::write_starter;

#[derive(Debug, Subcommand)]
pub enum CardsCommand {
    /// List cards.
    List {
        #[command(flatten)]
        filter: Filter,
        /// Maximum number of rows; defaults to all.
        #[arg(short, long)]
        limit: Option<u32>,
    },
    /// Show a card.
    Show {
        /// Card ID or name.
        card: String,
    },
    /// Show code to start with: what to install, variables to set, one call.
    Starter {
        /// Card ID or name.
        card: String,
    },
    /// Add a card from `--set` options, a file or standard input (`-`).
    Add {
        /// JSON file with one card; `-` reads standard input.
        file: Option<PathBuf>,
        #[command(flatten)]
        change: FieldChanges,
    },
    /// Edit a card; without `--set` or `--unset`, opens `$EDITOR`.
    Edit {
        /// Card ID or name.
        card: String,
        #[command(flatten)]
        change: FieldChanges,
    },
    /// Add tags to cards, or remove tags from them, in one change.
    Tag {
        /// Card IDs or names.
        #[arg(required = true)]
        cards: Vec<String>,
        /// Tag to add; can be repeated.
        #[arg(long, value_name = "TAG", required_unless_present = "remove")]
        add: Vec<String>,
        /// Tag to remove; can be repeated.
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
        /// Reason, saved in the history.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Remove cards, keeping their history.
    Rm {
        /// Card IDs or names.
        #[arg(required = true)]
        cards: Vec<String>,
        /// Reason, saved in the history.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Merge a card into another one, filling in its missing fields. See `autokit duplicates`.
    Merge {
        /// ID or name of the card to keep.
        keep: String,
        /// ID or name of the card to remove.
        remove: String,
        /// Reason, saved in the history.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Show a card's revisions and their changes.
    History {
        /// Card ID or name.
        card: String,
    },
    /// Restore a revision of a card.
    Restore {
        /// Card ID or name.
        card: String,
        /// Revision number.
        revision: u32,
    },
}

/// Fields to set and to remove.
#[derive(Clone, Debug, Default, Args)]
pub struct FieldChanges {
    /// Set a field: `name=Value`. JSON values are parsed as JSON.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,
    /// Remove a field.
    #[arg(long, value_name = "FIELD")]
    pub(crate) unset: Vec<String>,
    /// Save even if the card contains flagged text: hidden text, instructions to a model, code in place of a name.
    #[arg(long)]
    pub(crate) flagged: bool,
    /// Reason, saved in the history.
    #[arg(long, default_value = "")]
    pub(crate) reason: String,
}

/// Rows per request.
const PAGE_SIZE: u32 = 1000;

pub(crate) async fn run(library: &dyn Client, out: &Output, command: CardsCommand) -> Result<Outcome> {
    match command {
        CardsCommand::List { filter, limit } => list(library, out, filter, limit).await,
        CardsCommand::Show { card } => {
            let detail = library.call::<GetCard>(CardRef { card }).await?;
            out.show(&detail, |text| write_card(text, &detail))?;
            Ok(Outcome::Done)
        }
        CardsCommand::Starter { card } => {
            let starter = library.call::<GetStarter>(CardRef { card: card.clone() }).await?;
            let Some(starter) = starter else {
                return Err(ApiError::new(
                    ErrorCode::NotFound,
                    format!("the card {card:?} doesn't have enough detail for starter code"),
                    "Add `usage`, or `module` and `class`.",
                )
                .into());
            };
            out.show(&starter, |text| write_starter(text, &starter))?;
            Ok(Outcome::Done)
        }
        CardsCommand::Add { file, change } => {
            let mut fields = match &file {
                Some(path) => read_object(path)?,
                None => Map::new(),
            };
            apply(&mut fields, &change)?;
            if fields.is_empty() {
                return Err(usage_error("no fields given", "Use --set name=… or pass a file.").into());
            }
            let detail = library
                .call::<CreateCard>(CardCreate { fields, reason: change.reason, flagged_too: change.flagged })
                .await?;
            out.show(&detail, |text| {
                writeln!(text, "Added {} ({})", printable(&detail.summary.name).bold(), detail.summary.id)?;
                write_warnings(text, &detail)
            })?;
            Ok(Outcome::Done)
        }
        CardsCommand::Edit { card, change } => edit(library, out, card, change).await,
        CardsCommand::Tag { cards, add, remove, reason } => {
            let edit = CardsEdit {
                cards,
                fields: Map::new(),
                add_tags: add,
                remove_tags: remove,
                reason,
                flagged_too: false,
            };
            let change = library.call::<EditCards>(edit).await?;
            out.show(&change, |text| match change.cards.len() {
                0 => writeln!(text, "No changes"),
                some => writeln!(text, "Changed {}. Undo with `autokit undo`", count(some as u64, "card")),
            })?;
            Ok(Outcome::Done)
        }
        CardsCommand::Rm { cards, reason } => {
            let change = library.call::<DeleteCards>(CardsDelete { cards, reason }).await?;
            out.show(&change, |text| {
                writeln!(
                    text,
                    "Removed {}. Undo with `autokit undo`",
                    count(change.cards.len() as u64, "card")
                )
            })?;
            Ok(Outcome::Done)
        }
        CardsCommand::Merge { keep, remove, reason } => {
            crate::duplicates::merge(library, out, keep, remove, reason).await
        }
        CardsCommand::History { card } => {
            let history = library.call::<GetHistory>(CardRef { card }).await?;
            out.show(&history, |text| {
                history.iter().try_for_each(|revision| write_revision(text, revision))
            })?;
            Ok(Outcome::Done)
        }
        CardsCommand::Restore { card, revision } => {
            let detail = library.call::<RestoreCard>(CardRestore { card, number: revision }).await?;
            out.show(&detail, |text| {
                writeln!(
                    text,
                    "Restored {} to revision {revision} (now revision {})",
                    printable(&detail.summary.name).bold(),
                    detail.summary.number
                )
            })?;
            Ok(Outcome::Done)
        }
    }
}

/// Converts a filter to a query.
pub(crate) fn query_of(filter: Filter) -> Result<CardsQuery> {
    let kind = match filter.kind {
        None => None,
        Some(text) => Some(Kind::parse(&text).ok_or_else(|| {
            usage_error(
                &format!("unknown kind {text:?}"),
                "Use one of: class, rest_operation, mcp_tool, cli, other.",
            )
        })?),
    };
    let verified = match (filter.verified, filter.unverified) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    Ok(CardsQuery {
        text: filter.text,
        kind,
        language: filter.language,
        provider: filter.provider,
        tag: filter.tag,
        collection: filter.collection,
        verified,
        health: filter.health.map(Into::into),
        ..CardsQuery::default()
    })
}

async fn list(library: &dyn Client, out: &Output, filter: Filter, limit: Option<u32>) -> Result<Outcome> {
    let query = query_of(filter)?;
    let max_rows = limit.unwrap_or(u32::MAX);
    let mut page = CardsPage { total: 0, offset: 0, rows: Vec::new() };
    loop {
        let offset = page.rows.len() as u32;
        let next = CardList { query: query.clone(), offset, limit: PAGE_SIZE.min(max_rows - offset) };
        let window = library.call::<ListCards>(next).await?;
        page.total = window.total;
        let exhausted = window.rows.is_empty();
        page.rows.extend(window.rows);
        if exhausted || page.rows.len() as u32 >= max_rows.min(page.total) {
            break;
        }
    }
    out.show(&page, |text| {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        // Columns that do not fit are left out, from the last one.
        let columns = match output::width() {
            0..70 => 4,
            70..100 => 5,
            _ => 6,
        };
        table.set_header(
            ["NAME", "PROVIDER", "KIND", "HEALTH", "LANGUAGE", "DESCRIPTION"].into_iter().take(columns),
        );
        for row in &page.rows {
            let cells = [
                printable_line(&row.name),
                printable_line(&row.provider),
                row.kind.as_str().to_owned(),
                health_label(HealthFilter::of(row.health, row.changed)).to_owned(),
                row.language.clone().unwrap_or_default(),
                one_line(&row.description, 60),
            ];
            table.add_row(cells.into_iter().take(columns));
        }
        writeln!(text, "{table}")?;
        writeln!(text, "{}", format!("{} of {}", page.rows.len(), count(page.total, "card")).dimmed())
    })?;
    Ok(Outcome::Done)
}

/// Returns the label of a check result.
fn health_label(result: HealthFilter) -> &'static str {
    match result {
        HealthFilter::Unreachable => "unreachable",
        HealthFilter::Changed => "changed since check",
        HealthFilter::Never => "never checked",
        other => other.as_str(),
    }
}

/// Returns a text as one line, truncated with an ellipsis.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let line = printable_line(text);
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &line[..end].trim_end()),
        None => line,
    }
}

async fn edit(library: &dyn Client, out: &Output, card: String, change: FieldChanges) -> Result<Outcome> {
    let before = library.call::<GetCard>(CardRef { card }).await?;
    let mut fields = before.fields.clone();
    if change.set.is_empty() && change.unset.is_empty() {
        fields = edit_json(&fields)?;
    } else {
        apply(&mut fields, &change)?;
    }
    if fields == before.fields {
        out.show(&before, |text| writeln!(text, "No changes"))?;
        return Ok(Outcome::Done);
    }
    let request = CardUpdate {
        card: before.summary.id.to_string(),
        expected: Some(before.summary.number),
        fields,
        reason: change.reason,
        flagged_too: change.flagged,
    };
    let after = library.call::<UpdateCard>(request).await?;
    out.show(&after, |text| {
        writeln!(text, "{} is at revision {}", printable(&after.summary.name).bold(), after.summary.number)
    })?;
    Ok(Outcome::Done)
}

fn usage_error(message: &str, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message, remedy)
}

fn apply(card: &mut Map<String, Value>, change: &FieldChanges) -> Result<()> {
    for assignment in &change.set {
        let Some((field, text)) = assignment.split_once('=') else {
            return Err(
                usage_error(&format!("{assignment:?} is not FIELD=VALUE"), "Use --set name=Value.").into()
            );
        };
        // Anything that is not valid JSON is text.
        let value = match serde_json::from_str::<Value>(text) {
            Ok(value) => value,
            Err(_) => Value::String(text.to_owned()),
        };
        let field = field.trim();
        if field == fields::KIND && value.as_str().is_none_or(|kind| Kind::parse(kind).is_none()) {
            let kinds = Kind::ALL.map(Kind::as_str).join(", ");
            return Err(usage_error(
                &format!("{text:?} is not a kind of tool"),
                &format!("Use one of: {kinds}."),
            )
            .into());
        }
        if !card.contains_key(field) && !known_fields().any(|known| known == field) {
            let remedy = did_you_mean(field, known_fields())
                .map_or("It is saved as a custom field.".to_owned(), |meant| {
                    format!("{meant} Remove it with `--unset {field}`.")
                });
            // A closed stderr does not fail the command.
            let _ = output::warn(&format!("unknown field `{field}`"), &remedy);
        }
        card.insert(field.to_owned(), value);
    }
    for field in &change.unset {
        if card.shift_remove(field).is_none() {
            return Err(usage_error(
                &format!("the card has no field {field:?}"),
                "See `autokit cards show`.",
            )
            .into());
        }
    }
    Ok(())
}

fn known_fields() -> impl Iterator<Item = &'static str> {
    fields::ALL.into_iter().chain(fields::CALLS)
}

fn read_object(path: &Path) -> Result<Map<String, Value>> {
    let unreadable = |reason: String| {
        ApiError::new(
            ErrorCode::UnreadableFile,
            format!("{}: {reason}", path.display()),
            "Pass a file with one card as a JSON object.",
        )
    };
    let mut text = String::new();
    if path == Path::new("-") {
        io::stdin().read_to_string(&mut text).map_err(|error| unreadable(error.to_string()))?;
    } else {
        text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    }
    Ok(serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?)
}

/// Opens fields as JSON in the user's editor and returns the edited ones.
pub(crate) fn edit_json(fields: &Map<String, Value>) -> Result<Map<String, Value>> {
    let editor = std::env::var("VISUAL")
        .or_else(|_| std::env::var("EDITOR"))
        .ok()
        .filter(|_| io::stdin().is_terminal());
    let Some(editor) = editor else {
        return Err(usage_error("no terminal or $EDITOR available", "Use --set FIELD=VALUE.").into());
    };
    let failed = |error: io::Error| ApiError::internal(format!("couldn't run the editor: {error}"));
    let path: PathBuf = std::env::temp_dir().join(format!("autokit-{}.json", std::process::id()));
    let text = serde_json::to_string_pretty(fields).map_err(io::Error::from).map_err(failed)?;
    std::fs::write(&path, text).map_err(failed)?;
    // $EDITOR may include options, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let status = std::process::Command::new(words.next().unwrap_or("vi")).args(words).arg(&path).status();
    let edited = status.and_then(|_| std::fs::read_to_string(&path)).map_err(failed);
    // The text has been read; a leftover temporary file is harmless.
    let _ = std::fs::remove_file(&path);
    let text = edited?;
    Ok(serde_json::from_str(&text).map_err(|error| {
        ApiError::new(
            ErrorCode::Invalid,
            format!("the edited card isn't valid JSON: {error}"),
            "Edit it again.",
        )
    })?)
}

fn write_card(out: &mut dyn Write, detail: &CardDetail) -> io::Result<()> {
    let card = &detail.summary;
    writeln!(out, "{}", printable(&card.name).bold())?;
    writeln!(
        out,
        "{}",
        format!("{} · revision {} · changed {}", card.id, card.number, format_time(card.updated_at)).dimmed()
    )?;
    for (field, value) in &detail.fields {
        if field == "name" {
            continue;
        }
        let shown = match value {
            Value::String(text) => printable(text),
            other => printable(&serde_json::to_string_pretty(other).map_err(io::Error::from)?),
        };
        let indented = shown.replace('\n', "\n    ");
        writeln!(out, "  {} {indented}", format!("{field}:").cyan())?;
    }
    if let Some(stub) = &detail.stub {
        writeln!(out, "\n{}", printable(&stub.code))?;
    }
    write_warnings(out, detail)
}

/// Undoes a change. Without its id, an import is left out, which is said if one is the newest change.
pub(crate) async fn undo(library: &dyn Client, out: &Output, change: Option<String>) -> Result<Outcome> {
    let newest = change.is_none();
    let undone = library.call::<Undo>(UndoRequest { change }).await?;
    if newest && !out.json() {
        // Ids of changes are in the order of the changes.
        let imports = library.call::<ListImports>(Nothing {}).await?;
        let later = imports.iter().find(|one| !one.undone && one.import > undone.change);
        if let Some(ImportView { import, note, .. }) = later {
            let name = if note.name.is_empty() { &note.source } else { &note.name };
            // A closed stderr does not fail the command.
            let _ = output::warn(
                &format!("The import of {} after this change is kept", printable(name)),
                &format!("Undo it with `autokit undo {import}`."),
            );
        }
    }
    show_undo(out, "Undone", &undone)
}

/// Shows what an undo or a redo did.
pub(crate) fn show_undo(out: &Output, what: &str, done: &UndoOutcome) -> Result<Outcome> {
    out.show(done, |text| {
        let cards = count(done.cards.len() as u64, "card");
        writeln!(text, "{what}: {} ({cards})", printable(&done.reason))?;
        for kept in &done.kept {
            writeln!(text, "  kept, because it changed since: {}", printable(kept.as_str()))?;
        }
        if done.undo.is_some() { writeln!(text, "Redo with `autokit redo`") } else { Ok(()) }
    })?;
    Ok(Outcome::Done)
}

fn write_warnings(out: &mut dyn Write, detail: &CardDetail) -> io::Result<()> {
    detail.warnings.iter().try_for_each(|warning| {
        writeln!(out, "{} `{}` {}", "!".yellow(), printable(&warning.field), printable(&warning.reason))
    })
}

fn write_revision(out: &mut dyn Write, revision: &RevisionView) -> io::Result<()> {
    writeln!(
        out,
        "{} {} {}",
        format!("revision {}", revision.number).bold(),
        printable(&revision.reason),
        format!("· {} · {}", printable(&revision.author), format_time(revision.at)).dimmed()
    )?;
    revision.diff.iter().try_for_each(|diff| write_diff(out, diff))
}

/// Writes a changed field. Changes are marked by sign and by color, for readers who cannot see one of them.
pub(crate) fn write_diff(out: &mut dyn Write, diff: &FieldDiff) -> io::Result<()> {
    let sign = match diff.kind {
        ChangeKind::Added => "+".green().to_string(),
        ChangeKind::Removed => "-".red().to_string(),
        ChangeKind::Changed => "~".yellow().to_string(),
    };
    write!(out, "  {sign} {} ", format!("{}:", printable(&diff.field)).cyan())?;
    if diff.kind == ChangeKind::Changed && !diff.spans.is_empty() {
        for span in &diff.spans {
            let text = printable(&span.text);
            match span.op {
                SpanOp::Equal => write!(out, "{}", text.dimmed())?,
                SpanOp::Delete => write!(out, "{}", format!("[-{text}-]").red())?,
                SpanOp::Insert => write!(out, "{}", format!("{{+{text}+}}").green())?,
            }
        }
        return writeln!(out);
    }
    let show = |value: &Option<Value>| {
        value.as_ref().map_or_else(String::new, |value| one_line(&value.to_string(), 160))
    };
    if !diff.inside.is_empty() {
        writeln!(out)?;
        for change in &diff.inside {
            write!(out, "      {} ", printable(&change.path).dimmed())?;
            match change.kind {
                ChangeKind::Added => writeln!(out, "{}", format!("+ {}", show(&change.after)).green())?,
                ChangeKind::Removed => writeln!(out, "{}", format!("- {}", show(&change.before)).red())?,
                ChangeKind::Changed => {
                    writeln!(out, "{} → {}", show(&change.before).red(), show(&change.after).green())?;
                }
            }
        }
        return Ok(());
    }
    match diff.kind {
        ChangeKind::Added => writeln!(out, "{}", show(&diff.after)),
        ChangeKind::Removed => writeln!(out, "{}", show(&diff.before)),
        ChangeKind::Changed => writeln!(out, "{} → {}", show(&diff.before), show(&diff.after)),
    }
}
