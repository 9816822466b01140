//! What the command line takes.

use std::path::PathBuf;

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

/// Find, keep and repair knowledge about tools.
///
/// Everything works offline and without a key. Exit codes: 0 done; 1 failed; 2 wrong usage;
/// 3 nothing found; 4 refused (invalid, conflicting or unreadable input); 5 the library cannot be
/// used (read-only, full, damaged, newer or unreachable); 6 a service failed or is not chosen;
/// 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "autokit", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask for a tool in words; the best one comes with its import lines.
    Ask {
        /// The question.
        #[arg(required = true, num_args = 1..)]
        question: Vec<String>,
        /// How many candidates, the recommended one included.
        #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
        limit: u32,
        /// Go on with this session.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Say whether the answer of a session helps: yes gives starter code, no asks again without that tool.
    Feedback {
        /// Yes or no.
        #[arg(value_enum)]
        verdict: YesNo,
        /// The use case after yes, the reason after no.
        said: Vec<String>,
        /// The session; the newest one when not given.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Past sessions, or one of them as it was.
    Sessions {
        /// The session.
        id: Option<String>,
    },
    /// Look for a tool on the web; what is found can be proposed as a card.
    Discover {
        /// What is needed, in words.
        #[arg(required_unless_present = "add")]
        need: Vec<String>,
        /// Propose the candidate with this number (1 is the first); without a need, of the newest session.
        #[arg(long, value_name = "N")]
        add: Option<usize>,
    },
    /// Propose a card made from words: a file, or standard input when none is given.
    Describe {
        /// A README or the like.
        file: Option<PathBuf>,
    },
    /// Decide on proposed cards and changes.
    #[command(subcommand)]
    Review(crate::review::ReviewCommand),
    /// Language models, search services and their keys.
    #[command(subcommand)]
    Providers(ProvidersCommand),
    /// Check cards against their documentation; what should change waits in `autokit review`.
    Verify {
        /// Cards, by id or name.
        #[arg(required_unless_present_any = ["all", "stale", "due"], conflicts_with_all = ["all", "stale", "due"])]
        cards: Vec<String>,
        /// All cards.
        #[arg(long, conflicts_with_all = ["stale", "due"])]
        all: bool,
        /// Cards not checked for this long, and those never checked, e.g. 30d.
        #[arg(long, value_name = "DAYS", value_parser = days, conflicts_with = "due")]
        stale: Option<u32>,
        /// Cards whose page is to be tried again by now.
        #[arg(long)]
        due: bool,
        /// Propose better descriptions and what cards leave out as well.
        #[arg(long)]
        improve: bool,
        /// Begin from the beginning; otherwise the same run goes on where it was broken off less than a
        /// day ago.
        #[arg(long)]
        anew: bool,
    },
    /// When cards are checked against their documentation without being asked to.
    #[command(subcommand)]
    Checks(crate::checks::ChecksCommand),
    /// Documentation pages of cards.
    #[command(subcommand)]
    Pages(PagesCommand),
    /// Rank cards for a query and show what the scores are made of.
    Search {
        /// The query.
        #[arg(required = true, num_args = 1..)]
        query: Vec<String>,
        /// How many results.
        #[arg(short, long, default_value_t = 10)]
        limit: u32,
        /// Which ranking.
        #[arg(short, long, value_enum, default_value_t = Ranking::Hybrid)]
        mode: Ranking,
    },
    /// Look at cards and change them.
    #[command(subcommand)]
    Cards(CardsCommand),
    /// Take the newest change back.
    Undo,
    /// Exchange cards with others: bundles, with review, signatures and undo.
    #[command(subcommand)]
    Bundle(crate::bundle::BundleCommand),
    /// Import cards: files, folders or web addresses (`-` reads standard input).
    Import {
        /// Files, folders or addresses.
        #[arg(required = true, value_name = "SOURCE")]
        files: Vec<PathBuf>,
        /// Show what would happen and change nothing.
        #[arg(long)]
        preview: bool,
        /// Keep the library's version of cards it has already.
        #[arg(long)]
        keep_existing: bool,
    },
    /// Write cards to a file or to standard output: as AutoKit JSON, a table, or a catalogue to read.
    /// `autokit bundle export` writes bundles.
    Export {
        /// File to write; its ending says the format.
        file: Option<PathBuf>,
        /// The format, whatever the file is called.
        #[arg(long, value_enum)]
        format: Option<OutFormat>,
        #[command(flatten)]
        filter: Filter,
    },
    /// Measure ranking on data sets.
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Embedding models.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Check the installation, and everything in the library against its log of changes.
    Doctor {
        /// Report changes that are missing no more, and go on without them.
        #[arg(long)]
        accept_missing: bool,
    },
    /// Make, verify and restore backups of the library.
    #[command(subcommand)]
    Backup(crate::backup::BackupCommand),
    /// Hold the library open and serve it to other processes until interrupted.
    Serve,
    /// Be the MCP server of an agent, over standard input and output.
    Mcp {
        /// Profile of the agent.
        #[arg(long)]
        profile: Option<String>,
    },
    /// The address for agents that cannot start a program: MCP as Streamable HTTP on this machine.
    #[command(subcommand)]
    McpHttp(crate::mcp_http::McpHttpCommand),
    /// What agents did with AutoKit, and what tools cost them.
    #[command(subcommand)]
    Report(crate::report::ReportCommand),
    /// What agents find first, may find, may do.
    #[command(subcommand)]
    Profiles(crate::profiles::ProfilesCommand),
    /// Calls of agents that need a person's approval.
    #[command(subcommand)]
    Asks(crate::asks::AsksCommand),
    /// Keys for web APIs whose operations agents call.
    #[command(subcommand)]
    ApiKeys(crate::api_keys::ApiKeysCommand),
    /// The tools that can be called from here, and calling them.
    #[command(subcommand)]
    Tools(crate::tools::ToolsCommand),
    /// AutoKit in the settings of Claude, Codex, Cursor, VS Code and others.
    #[command(subcommand)]
    Clients(crate::clients::ClientsCommand),
    /// MCP servers whose tools agents can call through AutoKit.
    #[command(subcommand)]
    Servers(crate::mcp::ServersCommand),
    /// Tools that are not here yet, from registries and published bundles.
    #[command(subcommand)]
    Market(crate::market::MarketCommand),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// `30d`, `30 days` or `30`.
fn days(text: &str) -> Result<u32, String> {
    let number = text.trim().trim_end_matches("days").trim_end_matches('d').trim_end();
    let number: u32 = number.parse().map_err(|_| "give a number of days, e.g. 30d".to_owned())?;
    if number > 3_650 { Err("give at most 3650 days".to_owned()) } else { Ok(number) }
}
