//! `autokit bundle`: sharing cards between libraries.

use std::io::Write;
use std::path::{Path, PathBuf};

use autokit_api::Client;
use autokit_api::commands::{
    AddSubscription, CheckSubscriptions, Export, ForgetKey, ListImports, ListJobs, ListKeys,
    ListSubscriptions, MakeKey, PreviewExport, RemoveSubscription, SetKeyTrust, SignBundle, StartImport,
    UndoImport,
};
use autokit_api::{
    BundlePath, ExistingCards, ExportRequest, Format, ImportItem, ImportPreview, ImportRef, ImportRequest,
    ImportSource, ItemStatus, Job, JobKind, JobState, KeyRef, KeyTrust, Landing, Nothing, SigningKeys,
    SourceInfo, Subscription, SubscriptionAdd, SubscriptionRef, Trust,
};
use autokit_error::{ApiError, ErrorCode};
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::cards::query_of;
use crate::filter::Filter;
use crate::jobs;
use crate::outcome::{Failure, Outcome, Result};
use crate::output::{Output, count, printable};
use crate::transfer::{preview_all, source_of, write_item};

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, and it is read once")]
pub enum BundleCommand {
    /// Export cards as a bundle: a single file, or a folder for version control.
    Export {
        /// Output path: `cards.toolcards` or a folder.
        to: PathBuf,
        #[command(flatten)]
        what: ExportedData,
        #[command(flatten)]
        filter: Filter,
    },
    /// Show a bundle and preview its import.
    Inspect {
        /// File, folder or URL.
        from: String,
        /// List every card, not only counts.
        #[arg(long)]
        all: bool,
    },
    /// Verify a bundle's integrity and signature; exits with 4 if it is damaged.
    Verify {
        /// File, folder or URL.
        from: String,
    },
    /// Import a bundle as proposals, or directly with --trust.
    Import {
        /// File, folder or URL.
        from: String,
        /// Apply non-conflicting changes directly; conflicts still go to review.
        #[arg(long)]
        trust: bool,
        /// Also add the bundle's names and synonyms to what search knows.
        #[arg(long)]
        vocabulary: bool,
        /// Preview without importing.
        #[arg(long, conflicts_with = "trust")]
        preview: bool,
    },
    /// Compare a bundle with the library, field by field.
    Diff {
        /// File, folder or URL.
        from: String,
    },
    /// Sign a bundle with your key, rewriting it.
    Sign {
        /// Output path: `cards.toolcards` or a folder.
        bundle: PathBuf,
    },
    /// List past imports; --undo reverts one and later decisions about it.
    Imports {
        /// Import to revert.
        #[arg(long, value_name = "ID")]
        undo: Option<String>,
    },
    /// Subscribe to a bundle's new versions while AutoKit runs; without a bundle, list
    /// subscriptions.
    Subscribe {
        /// File, folder or URL.
        from: Option<String>,
        /// Hours between checks.
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8_760))]
        every: u32,
        /// Apply non-conflicting changes directly; conflicts still go to review.
        #[arg(long)]
        trust: bool,
        /// Check all subscriptions now.
        #[arg(long, conflicts_with = "from")]
        now: bool,
    },
    /// Unsubscribe from a bundle, keeping its cards.
    Unsubscribe {
        /// Subscription ID from `autokit bundle subscribe`.
        id: String,
    },
    /// Manage signing keys: yours and other people's.
    #[command(subcommand)]
    Keys(KeysCommand),
}

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List keys.
    List,
    /// Create your signing key if you have none.
    #[command(name = "create", alias = "make")]
    Make,
    /// Trust someone's key. Verify its fingerprint with them first.
    Trust {
        /// Public key.
        key: String,
        /// Owner's name.
        #[arg(long, default_value = "")]
        name: String,
    },
    /// Stop trusting a key; it stays known.
    Distrust {
        /// Public key.
        key: String,
    },
    /// Forget a key.
    Forget {
        /// Public key.
        key: String,
    },
}

/// What leaves with a bundle.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct ExportedData {
    /// Bundle name; defaults to the file name.
    #[arg(long)]
    name: Option<String>,
    /// License for cards that don't specify one.
    #[arg(long)]
    licence: Option<String>,
    /// Note for readers.
    #[arg(long, default_value = "")]
    note: String,
    /// Include card history.
    #[arg(long)]
    history: bool,
    /// Include embeddings of the current model.
    #[arg(long)]
    vectors: bool,
    /// Include the names and synonyms added to this library.
    #[arg(long)]
    vocabulary: bool,
    /// Sign with your key.
    #[arg(long)]
    sign: bool,
    /// Exclude this card; can be repeated.
    #[arg(long, value_name = "ID")]
    without: Vec<String>,
    /// Write a folder for version control, whatever the output path.
    #[arg(long)]
    folder: bool,
    /// Preview without writing.
    #[arg(long)]
    preview: bool,
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: BundleCommand) -> Result<Outcome> {
    match command {
        BundleCommand::Export { to, what, filter } => export(library, out, &to, what, filter).await,
        BundleCommand::Inspect { from, all } => inspect(library, out, &from, all).await,
        BundleCommand::Verify { from } => verify(library, out, &from).await,
        BundleCommand::Import { from, preview: true, .. } => inspect(library, out, &from, true).await,
        BundleCommand::Import { from, trust, vocabulary, .. } => {
            import(library, out, &from, trust, vocabulary).await
        }
        BundleCommand::Diff { from } => diff(library, out, &from).await,
        BundleCommand::Sign { bundle } => sign(library, out, &bundle).await,
        BundleCommand::Imports { undo } => imports(library, out, undo).await,
        BundleCommand::Subscribe { from, every, trust, now } => {
            subscribe(library, out, from, (every, trust), now).await
        }
        BundleCommand::Unsubscribe { id } => {
            let subscriptions = library.call::<RemoveSubscription>(SubscriptionRef { id }).await?;
            out.show(&subscriptions, |text| write_subscriptions(text, &subscriptions))?;
            Ok(Outcome::Done)
        }
        BundleCommand::Keys(command) => keys(library, out, command).await,
    }
}

fn absolute(path: &Path) -> String {
    // The process that owns the library may have another working directory.
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Returns the format for a path: a file if it has the extension of a bundle, or else a folder.
fn format_of(path: &Path, folder: bool) -> Format {
    let file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toolcards"));
    if folder || !file { Format::Folder } else { Format::Bundle }
}

async fn export(
    library: &dyn Client,
    out: &Output,
    to: &Path,
    what: ExportedData,
    filter: Filter,
) -> Result<Outcome> {
    let request = ExportRequest {
        query: query_of(filter)?,
        without: what.without,
        path: Some(absolute(to)),
        format: format_of(to, what.folder),
        history: what.history,
        vectors: what.vectors,
        vocabulary: what.vocabulary,
        sign: what.sign,
        name: what.name.unwrap_or_default(),
        licence: what.licence,
        note: what.note,
        ..ExportRequest::default()
    };
    if what.preview {
        let preview = library.call::<PreviewExport>(request).await?;
        out.show(&preview, |text| {
            let counts = [
                (preview.cards, "card"),
                (preview.revisions, "earlier revision"),
                (preview.vectors, "card with embeddings"),
                (preview.vocabulary, "added term"),
            ];
            for (number, what) in counts.into_iter().filter(|(number, _)| *number > 0) {
                writeln!(text, "{}", count(number, what))?;
            }
            for secret in &preview.secrets {
                let history = if secret.in_history { ", in an earlier revision" } else { "" };
                let finding = format!("`{}` looks like {}{history}", printable(&secret.field), secret.kind);
                writeln!(text, "{} {}: {finding}", "blocked  ".red(), printable(&secret.name))?;
                if !secret.card.as_str().is_empty() {
                    writeln!(text, "          {} --without {}", "→".cyan(), secret.card)?;
                }
            }
            Ok(())
        })?;
        return Ok(if preview.secrets.is_empty() { Outcome::Done } else { Outcome::Rejected });
    }
    let outcome = library.call::<Export>(request).await?;
    out.show(&outcome, |text| {
        let path = outcome.path.as_deref().unwrap_or("-");
        writeln!(text, "Exported {} to {}", count(outcome.cards, "card"), printable(path))?;
        if !outcome.fingerprint.is_empty() {
            writeln!(text, "Signed with your key {}", outcome.fingerprint.bold())?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

async fn inspect(library: &dyn Client, out: &Output, from: &str, all: bool) -> Result<Outcome> {
    let preview = preview_all(library, &source_of(Path::new(from))?, None).await?;
    out.show(&preview, |text| {
        write_about(text, &preview.about)?;
        for item in preview.items.iter().filter(|item| all || item.status == ItemStatus::Invalid) {
            write_item(text, item)?;
        }
        writeln!(text, "{}", counts(&preview))
    })?;
    Ok(Outcome::Done)
}

/// Describes the counts of a preview.
pub(crate) fn counts(preview: &ImportPreview) -> String {
    let all = [
        (preview.new, "new"),
        (preview.changed, "changed"),
        (preview.conflicting, "conflicting"),
        (preview.similar, "possible duplicate"),
        (preview.identical, "identical"),
        (preview.invalid, "invalid"),
    ];
    let parts: Vec<String> =
        all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let text = if parts.is_empty() { "No cards".to_owned() } else { parts.join(", ") };
    let noted =
        [(preview.suspect, "with flagged text"), (preview.reverting, "with edits of yours that it undoes")];
    let noted = noted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} {what}"));
    noted.fold(text, |text, noted| text + &noted)
}

fn write_about(out: &mut dyn Write, about: &SourceInfo) -> std::io::Result<()> {
    let name = if about.name.is_empty() { "Card file" } else { &about.name };
    write!(out, "{}", printable(name).bold())?;
    if !about.author.is_empty() {
        write!(out, " by {}", printable(&about.author))?;
    }
    if let Some(created_at) = about.created_at {
        write!(out, ", {}", created_at.date())?;
    }
    writeln!(out)?;
    let mut parts: Vec<String> = Vec::new();
    if let Some(licence) = &about.licence {
        parts.push(format!("licence {}", printable(licence)));
    }
    if about.history {
        parts.push("with history".to_owned());
    }
    if let Some(vectors) = &about.vectors {
        parts.push(format!("with {} embeddings", printable(&vectors.model)));
    }
    if !parts.is_empty() {
        writeln!(out, "{}", parts.join(", ").dimmed())?;
    }
    if !about.vocabulary.is_empty() {
        let terms = count(about.vocabulary.len() as u32, "added term");
        writeln!(out, "{terms}, left out unless imported with --vocabulary:")?;
        for text in &about.vocabulary {
            writeln!(out, "  {}", printable(text))?;
        }
    }
    if about.invalid_vocabulary > 0 {
        writeln!(out, "{} cannot be read", count(about.invalid_vocabulary, "added term"))?;
    }
    if !about.note.is_empty() {
        writeln!(out, "{}", printable(&about.note))?;
    }
    let (signature, good) = signature_status(about);
    if good { writeln!(out, "{}", signature.green()) } else { writeln!(out, "{}", signature.yellow()) }
}

/// Describes a signature, and returns whether it is good.
fn signature_status(about: &SourceInfo) -> (String, bool) {
    let view = &about.signature;
    let by = format!("{} ({})", printable(&view.signer), view.fingerprint);
    match view.trust {
        Trust::Unsigned => ("Not signed".to_owned(), false),
        Trust::Stripped => (
            "Not signed, although earlier bundles from this author were. Check with the author".to_owned(),
            false,
        ),
        Trust::Trusted => (format!("Signed by {by} (trusted)"), true),
        Trust::Known => (format!("Signed by {by} (seen before)"), true),
        Trust::New => (format!("Signed by {by} (new key)"), false),
        Trust::OtherKey => (
            format!(
                "Signed by {by}, a different key than earlier bundles from this author. Check with the author"
            ),
            false,
        ),
    }
}

async fn verify(library: &dyn Client, out: &Output, from: &str) -> Result<Outcome> {
    // Reading fails if a checksum or the signature is wrong.
    let preview = preview_all(library, &source_of(Path::new(from))?, Some(ItemStatus::Invalid)).await?;
    let suspicious = preview.about.signature.trust.is_suspicious();
    out.show(&preview, |text| {
        write_about(text, &preview.about)?;
        preview.items.iter().try_for_each(|item| write_item(text, item))?;
        let cards = preview.new + preview.changed + preview.conflicting + preview.similar + preview.identical;
        let noun = if cards == 1 { "card" } else { "cards" };
        writeln!(text, "{cards} {noun} valid, {} invalid", preview.invalid)
    })?;
    Ok(if suspicious || preview.invalid > 0 { Outcome::Rejected } else { Outcome::Done })
}

#[derive(Serialize)]
struct Imported {
    from: String,
    job: Job,
    rejected: Vec<ImportItem>,
}

async fn import(
    library: &dyn Client,
    out: &Output,
    from: &str,
    trust: bool,
    vocabulary: bool,
) -> Result<Outcome> {
    let source = source_of(Path::new(from))?;
    let preview = preview_all(library, &source, Some(ItemStatus::Invalid)).await?;
    if trust && preview.about.signature.trust.is_suspicious() {
        let (message, _) = signature_status(&preview.about);
        let remedy = "Check with the author. Without --trust it goes to review.";
        return Err(ApiError::new(ErrorCode::Invalid, message, remedy).into());
    }
    let request = ImportRequest {
        existing: ExistingCards::Merge,
        landing: if trust { Landing::Library } else { Landing::Review },
        vocabulary,
        digest: Some(preview.about.digest.clone()),
        ..ImportRequest::new(source)
    };
    let started = library.call::<StartImport>(request).await?;
    let job = jobs::watch(library, out, &started.job).await?;
    let done = Imported { from: from.to_owned(), job, rejected: preview.items };
    out.show(&done, |text| {
        writeln!(text, "{}: {}", printable(&done.from), done.job.summary.as_deref().unwrap_or("done"))?;
        done.rejected.iter().try_for_each(|item| write_item(text, item))?;
        if done.job.tally.as_ref().is_some_and(|tally| tally.proposed + tally.conflicting > 0) {
            writeln!(text, "{} autokit review list", "→".cyan())?;
        }
        Ok(())
    })?;
    let tally = done.job.tally.as_ref();
    let all_rejected = tally.is_some_and(|t| t.rejected > 0 && t.added + t.changed + t.unchanged == 0);
    Ok(if all_rejected && trust { Outcome::Rejected } else { Outcome::Done })
}

async fn diff(library: &dyn Client, out: &Output, from: &str) -> Result<Outcome> {
    let preview = preview_all(library, &source_of(Path::new(from))?, None).await?;
    let differs = |item: &&ImportItem| !matches!(item.status, ItemStatus::Identical);
    let items: Vec<&ImportItem> = preview.items.iter().filter(differs).collect();
    out.show(&items, |text| {
        items.iter().try_for_each(|item| write_item(text, item))?;
        writeln!(text, "{}", counts(&preview))
    })?;
    Ok(if items.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

async fn sign(library: &dyn Client, out: &Output, bundle: &Path) -> Result<Outcome> {
    let signed = library.call::<SignBundle>(BundlePath { path: absolute(bundle) }).await?;
    out.show(&signed, |text| {
        let bundle = printable(&bundle.display().to_string());
        writeln!(text, "Signed {bundle} with your key {}", signed.fingerprint.bold())
    })?;
    Ok(Outcome::Done)
}

async fn imports(library: &dyn Client, out: &Output, undo: Option<String>) -> Result<Outcome> {
    if let Some(import) = undo {
        let undone = library.call::<UndoImport>(ImportRef { import }).await?;
        return crate::cards::show_undo(out, "Undone", &undone);
    }
    let imports = library.call::<ListImports>(Nothing {}).await?;
    out.show(&imports, |text| {
        for one in &imports {
            let name = if one.note.name.is_empty() { &one.note.source } else { &one.note.name };
            let state = if one.undone { " (undone)".dimmed().to_string() } else { String::new() };
            let day = one.note.at.date();
            writeln!(
                text,
                "{}  {day}  {}  {}{state}",
                one.import,
                count(one.note.cards, "card"),
                printable(name)
            )?;
        }
        if imports.is_empty() { writeln!(text, "No imports yet") } else { Ok(()) }
    })?;
    Ok(if imports.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

async fn subscribe(
    library: &dyn Client,
    out: &Output,
    from: Option<String>,
    (every_hours, trust): (u32, bool),
    now: bool,
) -> Result<Outcome> {
    let added = from.is_some();
    let all = match from {
        Some(from) => {
            let landing = if trust { Landing::Library } else { Landing::Review };
            let request = SubscriptionAdd { source: source_of(Path::new(&from))?, every_hours, landing };
            library.call::<AddSubscription>(request).await?;
            // The first check has started. If the source cannot be read, the list says so.
            let running = library.call::<ListJobs>(Nothing {}).await?.into_iter();
            for job in running.filter(|job| job.kind == JobKind::Import && job.state == JobState::Running) {
                match jobs::watch(library, out, &job.id).await {
                    Ok(_) | Err(Failure::Api(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            library.call::<ListSubscriptions>(Nothing {}).await?
        }
        None => library.call::<ListSubscriptions>(Nothing {}).await?,
    };
    if now {
        let started = library.call::<CheckSubscriptions>(Nothing {}).await?;
        let job = jobs::watch(library, out, &started.job).await?;
        out.show(&job, |text| writeln!(text, "{}", printable(job.summary.as_deref().unwrap_or("done"))))?;
        return Ok(Outcome::Done);
    }
    out.show(&all, |text| write_subscriptions(text, &all))?;
    if added && all.last().is_some_and(|one| one.failed.is_some()) {
        return Ok(Outcome::Unhealthy);
    }
    Ok(if all.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

fn write_subscriptions(out: &mut dyn Write, all: &[Subscription]) -> std::io::Result<()> {
    for one in all {
        let location = match &one.source {
            ImportSource::Path(location) | ImportSource::Url(location) => printable(location),
            ImportSource::Text(_) => "a text".to_owned(),
        };
        let name = if one.name.is_empty() { location.clone() } else { printable(&one.name) };
        let landing = match one.landing {
            Landing::Review => "proposed in Review",
            Landing::Library => "imported directly",
        };
        let checked = match one.checked_at {
            Some(at) => format!("checked {}", at.date()),
            None => "not checked yet".to_owned(),
        };
        writeln!(out, "{}  {}  every {} h, {landing}, {checked}", one.id, name.bold(), one.every_hours)?;
        if name != location {
            writeln!(out, "          {}", location.dimmed())?;
        }
        if let Some(failed) = &one.failed {
            writeln!(out, "          {} {}", "→".yellow(), printable(failed))?;
        }
    }
    if all.is_empty() { writeln!(out, "No subscriptions") } else { Ok(()) }
}

async fn keys(library: &dyn Client, out: &Output, command: KeysCommand) -> Result<Outcome> {
    let trust = |key, trusted, signer| KeyTrust { key, trusted, signer };
    let keys = match command {
        KeysCommand::List => library.call::<ListKeys>(Nothing {}).await?,
        KeysCommand::Make => library.call::<MakeKey>(Nothing {}).await?,
        KeysCommand::Trust { key, name } => library.call::<SetKeyTrust>(trust(key, true, name)).await?,
        KeysCommand::Distrust { key } => {
            library.call::<SetKeyTrust>(trust(key, false, String::new())).await?
        }
        KeysCommand::Forget { key } => library.call::<ForgetKey>(KeyRef { key }).await?,
    };
    out.show(&keys, |text| write_keys(text, &keys))?;
    Ok(Outcome::Done)
}

fn write_keys(out: &mut dyn Write, keys: &SigningKeys) -> std::io::Result<()> {
    match (&keys.own, &keys.own_fingerprint) {
        (Some(key), Some(fingerprint)) => writeln!(out, "Yours     {}\n          {key}", fingerprint.bold())?,
        _ => writeln!(out, "You have no key yet. Create one with `autokit bundle keys create`")?,
    }
    for known in &keys.known {
        let trust =
            if known.trusted { "trusted  ".green().to_string() } else { "known    ".dimmed().to_string() };
        let day = known.first_seen.date();
        writeln!(out, "{trust} {}  {}, since {day}", known.fingerprint, printable(&known.signer))?;
        writeln!(out, "          {}", known.key)?;
    }
    Ok(())
}
