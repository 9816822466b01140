//! The command line.

use std::path::PathBuf;

use autokit_toolcard::SessionId;
use clap::{Parser, Subcommand};

use crate::agent::{PagesCommand, YesNo};
use crate::ask::Ranking;
use crate::cards::CardsCommand;
use crate::eval::EvalCommand;
use crate::filter::Filter;
use crate::global::Global;
use crate::models::ModelsCommand;
use crate::providers::ProvidersCommand;
use crate::transfer::OutFormat;

/// Find, verify and repair knowledge about tools.
///
/// Works offline and without API keys. Exit codes: 0 success; 1 failure; 2 usage error;
/// 3 nothing found; 4 rejected (invalid, conflicting or unreadable input); 5 the library can't be
/// used (read-only, full, damaged, newer or unreachable); 6 a service failed or isn't configured;
/// 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "autokit", version, max_term_width = 100)]
#[allow(missing_docs, reason = "a doc comment would replace the help of the command")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs, reason = "a doc comment would replace the help of the command")]
pub enum Command {
    /// Ask which tool fits a task; shows the best match with import code.
    Ask {
        /// The question.
        #[arg(required = true, num_args = 1..)]
        question: Vec<String>,
        /// Maximum number of candidates, including the recommended one.
        #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
        limit: u32,
        /// Continue this session.
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
    },
    /// Rate an answer: `yes` generates starter code, `no` searches again without that tool.
    Feedback {
        /// Whether the answer helped.
        #[arg(value_enum)]
        verdict: YesNo,
        /// The use case (after yes) or the reason (after no).
        said: Vec<String>,
        /// Session ID; defaults to the newest session.
        #[arg(long, value_name = "ID")]
        session: Option<SessionId>,
    },
    /// List past sessions, show one, or delete them.
    Sessions {
        /// Session ID.
        id: Option<SessionId>,
        /// Delete the session.
        #[arg(long, requires = "id")]
        delete: bool,
        /// Delete all sessions that are not running.
        #[arg(long, conflicts_with = "id")]
        delete_all: bool,
    },
    /// Search the web for a tool; results can be proposed as cards.
    Discover {
        /// What the tool should do.
        #[arg(required_unless_present = "add")]
        need: Vec<String>,
        /// Propose candidate N (1 is the first); without a query, from the newest session.
        #[arg(long, value_name = "N")]
        add: Option<usize>,
    },
    /// Research a question over the library, documents, code and the web; answers are quotes with sources.
    Research(crate::research::ResearchArgs),
    /// Propose a card from a text description, read from a file or standard input.
    Describe {
        /// A text file such as a README.
        file: Option<PathBuf>,
    },
    /// Review proposed cards and changes.
    #[command(subcommand)]
    Review(crate::review::ReviewCommand),
    /// Configure language models, search services and API keys.
    #[command(subcommand)]
    Providers(ProvidersCommand),
    /// Check cards against their documentation; suggested changes go to `autokit review`.
    Verify {
        /// Card IDs or names.
        #[arg(required_unless_present_any = ["all", "stale", "due"], conflicts_with_all = ["all", "stale", "due"])]
        cards: Vec<String>,
        /// All cards.
        #[arg(long, conflicts_with_all = ["stale", "due"])]
        all: bool,
        /// Cards last checked longer ago than this, e.g. 30d, and cards never checked.
        #[arg(long, value_name = "DAYS", value_parser = days, conflicts_with = "due")]
        stale: Option<u32>,
        /// Cards whose page is due for another attempt.
        #[arg(long)]
        due: bool,
        /// Also propose better descriptions and missing fields.
        #[arg(long)]
        improve: bool,
        /// Start over instead of resuming a run that was interrupted less than a
        /// day ago.
        #[arg(long = "restart", alias = "anew")]
        anew: bool,
    },
    /// Call tools to find out what their documentation does not say; changes go to `autokit review`.
    Refine(crate::refine::RefineArgs),
    /// Configure scheduled checks.
    #[command(subcommand)]
    Checks(crate::checks::ChecksCommand),
    /// Read and show documentation pages of cards.
    #[command(subcommand)]
    Pages(PagesCommand),
    /// Add documents, and search them with citations.
    #[command(subcommand)]
    Docs(crate::memory::DocsCommand),
    /// Add code, and find functions by what they do.
    #[command(subcommand)]
    Code(crate::memory::CodeCommand),
    /// Search cards and show how each score is composed.
    Search {
        /// The query.
        #[arg(required = true, num_args = 1..)]
        query: Vec<String>,
        /// Maximum number of results.
        #[arg(short, long, default_value_t = 10)]
        limit: u32,
        /// Ranking mode.
        #[arg(short, long, value_enum, default_value_t = Ranking::Hybrid, conflicts_with = "all_libraries")]
        mode: Ranking,
        /// Search all included libraries in one ranking; see `autokit libraries`. Without --mode.
        #[arg(short, long)]
        all_libraries: bool,
        /// With --all-libraries: how long to wait for the other libraries, 1 to 30000. Default: 300.
        #[arg(long, value_name = "MS", requires = "all_libraries", value_parser = clap::value_parser!(u32).range(1..=30_000))]
        wait: Option<u32>,
    },
    /// Choose the libraries that `search --all-libraries` searches: your own, your teams', and what `autokit registries add` added
    /// to the open one.
    #[command(subcommand)]
    Libraries(crate::libraries::LibrariesCommand),
    /// List, show and edit cards.
    #[command(subcommand)]
    Cards(CardsCommand),
    /// Keep cards in named collections, or as favorites.
    #[command(subcommand)]
    Collections(crate::collections::CollectionsCommand),
    /// Find cards that may describe the same tool.
    #[command(subcommand)]
    Duplicates(crate::duplicates::DuplicatesCommand),
    /// Undo a change to the library.
    Undo {
        /// Id of the change. Default: the last one that is not an import (`autokit bundle imports` lists those).
        change: Option<String>,
    },
    /// Redo a change that was undone.
    Redo {
        /// Id of the undo. Default: the last one, if nothing has changed since.
        undo: Option<String>,
    },
    /// Share cards as signed bundles, with review and undo.
    #[command(subcommand)]
    Bundle(crate::bundle::BundleCommand),
    /// Import cards from files, folders or URLs (`-` reads standard input).
    Import {
        /// Files, folders or URLs.
        #[arg(required = true, value_name = "SOURCE")]
        files: Vec<PathBuf>,
        /// Preview the changes without applying them.
        #[arg(long)]
        preview: bool,
        /// Keep the library's version of existing cards.
        #[arg(long)]
        keep_existing: bool,
        /// Replace existing cards entirely, including local edits and fields missing from the source.
        #[arg(long, conflicts_with = "keep_existing")]
        replace_existing: bool,
    },
    /// Export cards to a file or standard output as AutoKit JSON, CSV, Markdown or HTML.
    /// Use `autokit bundle export` for bundles.
    Export {
        /// Output file; its extension selects the format.
        file: Option<PathBuf>,
        /// Output format, overriding the file extension.
        #[arg(long, value_enum)]
        format: Option<OutFormat>,
        #[command(flatten)]
        filter: Filter,
    },
    /// Evaluate retrieval quality on data sets.
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Manage embedding models.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Check the installation and verify the library against its change log.
    #[command(alias = "status")]
    Doctor {
        /// Accept missing changes and stop reporting them.
        #[arg(long)]
        accept_missing: bool,
    },
    /// Create, verify and restore backups of the library.
    #[command(subcommand)]
    Backup(crate::backup::BackupCommand),
    /// Share a library with others through a server.
    #[command(subcommand)]
    Team(crate::team::TeamCommand),
    /// Keep the library open and serve it to other processes until interrupted.
    Serve,
    /// Run the engine of the window, which starts it: commands on standard input, results on standard output.
    #[command(hide = true)]
    Engine,
    /// Run the MCP server on standard input and output.
    Mcp {
        /// Profile whose rules apply to the agent.
        #[arg(long)]
        profile: Option<String>,
    },
    /// Serve MCP over Streamable HTTP on this machine.
    #[command(subcommand)]
    McpHttp(crate::mcp_http::McpHttpCommand),
    /// Report agent activity and token usage.
    #[command(subcommand)]
    Report(crate::report::ReportCommand),
    /// Manage profiles: what agents can find and do.
    #[command(subcommand)]
    Profiles(crate::profiles::ProfilesCommand),
    /// List and answer agent calls that need approval.
    #[command(subcommand, name = "approvals", alias = "asks")]
    Asks(crate::asks::AsksCommand),
    /// Manage keys for web APIs.
    #[command(subcommand)]
    ApiKeys(crate::api_keys::ApiKeysCommand),
    /// List and edit names of products that search knows.
    #[command(subcommand)]
    Names(crate::vocabulary::VocabularyCommand),
    /// List and edit synonyms that search knows.
    #[command(subcommand)]
    Synonyms(crate::vocabulary::VocabularyCommand),
    /// Show and control what search learned from use.
    #[command(subcommand)]
    Personalization(crate::personalization::PersonalizationCommand),
    /// List and call tools.
    #[command(subcommand)]
    Tools(crate::tools::ToolsCommand),
    /// Create a tool from recorded calls.
    #[command(subcommand)]
    Macros(crate::macros::MacrosCommand),
    /// Generate tools with a language model, and see how they perform.
    #[command(subcommand)]
    Generated(crate::generated::GeneratedCommand),
    /// Compare alternative descriptions of a tool by the success rate of its calls.
    #[command(subcommand)]
    Variants(crate::variants::VariantsCommand),
    /// Connect AutoKit to Claude, Codex, Cursor, VS Code and other MCP clients.
    #[command(subcommand)]
    Clients(crate::clients::ClientsCommand),
    /// Manage MCP servers whose tools agents call through AutoKit.
    #[command(subcommand)]
    Servers(crate::servers::ServersCommand),
    /// Find and install tools from registries and published bundles.
    #[command(subcommand, name = "registries", alias = "market")]
    Market(crate::market::MarketCommand),
    /// Print shell completions.
    Completions {
        /// Target shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder.
    #[command(hide = true)]
    Man {
        /// The folder, which exists.
        folder: std::path::PathBuf,
    },
}

/// `30d`, `30 days` or `30`.
fn days(text: &str) -> Result<u32, String> {
    let number = text.trim().trim_end_matches("days").trim_end_matches('d').trim_end();
    let number: u32 = number.parse().map_err(|_| "enter a number of days, e.g. 30d".to_owned())?;
    if number > 3_650 { Err("enter at most 3650 days".to_owned()) } else { Ok(number) }
}
