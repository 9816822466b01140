//! What the command line takes.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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

/// Options every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Keep the library in this folder (a new folder is an empty library).
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Load the starter cards if the library is new; without --data-dir they are loaded anyway.
    #[arg(long, global = true)]
    pub(crate) starter: bool,
    /// Use the default model from this folder instead of the store of models.
    #[arg(long, global = true, value_name = "DIR", env = "AUTOKIT_MODEL_FOLDER")]
    pub(crate) model_folder: Option<PathBuf>,
    /// Search by keywords alone.
    #[arg(long, global = true)]
    pub(crate) no_model: bool,
    /// Use the deterministic stand-in of tests instead of a model, with vectors of this length.
    #[arg(long, global = true, hide = true, value_name = "N")]
    pub(crate) stand_in: Option<usize>,
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
    /// Calls of agents that need a person's word.
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

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    /// It helps.
    Yes,
    /// It does not.
    No,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    /// What is chosen, and which keys are kept.
    Show,
    /// Choose a language model.
    Llm {
        /// Which protocol.
        #[arg(value_enum)]
        kind: LlmChoice,
        /// Address of the service; the service's own when not given.
        #[arg(long)]
        url: Option<String>,
        /// The model that writes.
        #[arg(long)]
        model: Option<String>,
        /// The model that grades, reranks and rewrites.
        #[arg(long)]
        small: Option<String>,
        /// US dollars for a million tokens read; the list price of known models if never given, `list` goes
        /// back to it.
        #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
        price_in: Option<Dollars>,
        /// US dollars for a million tokens written, likewise.
        #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
        price_out: Option<Dollars>,
        /// US dollars after which nothing is asked any more; `none` for no limit.
        #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
        cap: Option<Dollars>,
        /// The model cannot call tools as such.
        #[arg(long)]
        no_tools: bool,
    },
    /// Begin the count of what language models cost anew; the spending limit starts from zero.
    ResetSpending,
    /// Choose a search service.
    Search {
        /// Which.
        #[arg(value_enum)]
        kind: SearchChoice,
        /// Its address; needed for SearXNG.
        #[arg(long)]
        url: Option<String>,
        /// The source looked at first, in words.
        #[arg(long)]
        preferred: Option<String>,
        /// Ask GitHub for facts about repositories too.
        #[arg(long)]
        github: bool,
    },
    /// Hosts on this machine or a private network whose pages may be read.
    Allow {
        /// `host` or `host:port`; none takes all back.
        hosts: Vec<String>,
    },
    /// Keep a key, read from standard input so that it stands in no history; an empty one takes it away.
    Key {
        /// What it is for.
        #[arg(value_enum)]
        name: KeyChoice,
    },
    /// Where keys are kept.
    Keys {
        /// The system's keychain, or an encrypted file.
        #[arg(long, value_enum)]
        keep: KeyStorageChoice,
    },
    /// Try a connection with one real request.
    Test {
        /// Which.
        #[arg(value_enum)]
        what: TestChoice,
    },
}

/// Protocols of language models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LlmChoice {
    /// No language model.
    None,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI-compatible: OpenAI, Ollama, LM Studio, llama.cpp, vLLM, OpenRouter.
    Openai,
}

/// Search services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchChoice {
    /// No search service.
    None,
    /// tavily.com.
    Tavily,
    /// Brave Search.
    Brave,
    /// A SearXNG instance.
    Searxng,
    /// DuckDuckGo.
    Duckduckgo,
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyChoice {
    /// Anthropic.
    Anthropic,
    /// The OpenAI-compatible service.
    Openai,
    /// Tavily.
    Tavily,
    /// Brave Search.
    Brave,
    /// GitHub.
    Github,
}

/// Where keys are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyStorageChoice {
    /// The system's keychain.
    Keychain,
    /// An encrypted file in the configuration folder.
    File,
}

/// Which connection to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestChoice {
    /// The model that writes.
    Llm,
    /// The model that grades.
    Small,
    /// The search service.
    Search,
    /// GitHub.
    Github,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PagesCommand {
    /// Read documentation pages, so that answers can cite them.
    Fetch {
        /// Cards by name or id; all when none is given.
        cards: Vec<String>,
        /// Also those read lately.
        #[arg(long)]
        again: bool,
    },
    /// The page of a card as last read.
    Show {
        /// The card, by name or id.
        card: String,
    },
}

/// Which ranking to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ranking {
    /// Words and meaning fused.
    Hybrid,
    /// Words alone.
    Keyword,
    /// Meaning alone.
    Vector,
}

/// Which cards.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Filter {
    /// Only cards whose name, provider or description contains this.
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// Only this kind: class, rest_operation, mcp_tool, cli, other.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this programming language.
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// Only this provider.
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Only cards with this label.
    #[arg(long)]
    pub(crate) tag: Option<String>,
    /// Only verified cards.
    #[arg(long, conflicts_with = "unverified")]
    pub(crate) verified: bool,
    /// Only cards not verified.
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Only cards whose newest check found this.
    #[arg(long, value_enum)]
    pub(crate) health: Option<crate::checks::Health>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CardsCommand {
    /// List cards.
    List {
        #[command(flatten)]
        filter: Filter,
        /// How many rows; all when not given.
        #[arg(short, long)]
        limit: Option<u32>,
    },
    /// Show a card.
    Show {
        /// Id or name.
        card: String,
    },
    /// Add a card from `--set`, from a file, or from standard input (`-`).
    Add {
        /// File with one card as JSON, `-` for standard input.
        file: Option<PathBuf>,
        #[command(flatten)]
        change: FieldChanges,
    },
    /// Change fields of a card; without `--set` or `--unset`, opens `$EDITOR`.
    Edit {
        /// Id or name.
        card: String,
        #[command(flatten)]
        change: FieldChanges,
    },
    /// Remove cards; their history stays.
    Rm {
        /// Ids or names.
        #[arg(required = true)]
        cards: Vec<String>,
        /// Why.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Show the revisions of a card with what each changed.
    History {
        /// Id or name.
        card: String,
    },
    /// Bring a revision of a card back.
    Restore {
        /// Id or name.
        card: String,
        /// Number of the revision.
        revision: u32,
    },
}

/// Fields to set and to remove.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FieldChanges {
    /// Set a field: `name=Value`; a value that is JSON is taken as JSON.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub(crate) set: Vec<String>,
    /// Remove a field.
    #[arg(long, value_name = "FIELD")]
    pub(crate) unset: Vec<String>,
    /// Save it although texts in it are flagged: hidden text, orders to a model, code in the place of a name.
    #[arg(long)]
    pub(crate) flagged: bool,
    /// Why.
    #[arg(long, default_value = "")]
    pub(crate) reason: String,
}

/// An amount in US dollars; none for `none` and `list`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dollars(pub(crate) Option<f64>);

fn dollars(text: &str) -> Result<Dollars, String> {
    if matches!(text, "none" | "list") {
        return Ok(Dollars(None));
    }
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if (0.0..=1e6).contains(&amount) => Ok(Dollars(Some(amount))),
        _ => Err("give an amount such as 2.50".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// NDCG, recall and MRR of keyword, vector and hybrid ranking over data sets.
    Retrieval {
        /// Folders with tools.jsonl and queries.jsonl.
        #[arg(required = true)]
        dirs: Vec<PathBuf>,
    },
    /// hit@1/3/5 of everyday questions over cards.
    Ask {
        /// Cards: AutoKit JSON, or an object with `cards[].card`.
        #[arg(long)]
        cards: PathBuf,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold`.
        #[arg(long)]
        questions: PathBuf,
        /// A site to read the cards' documentation pages from, so that they count in the ranking.
        #[arg(long, value_name = "URL")]
        site: Option<String>,
        /// List the questions whose first answer is wrong.
        #[arg(long)]
        misses: bool,
    },
    /// What the scores of first hits say: thresholds for each depth, and how reliable the scores are.
    Calibrate {
        /// Cards: AutoKit JSON, or an object with `cards[].card`.
        #[arg(long)]
        cards: PathBuf,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold` (none: no card answers it).
        #[arg(long)]
        questions: PathBuf,
        /// Write the thresholds to this file; AutoKit's own are in `autokit-search/src/thresholds.json`.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Tools found on a web site for needs the library does not answer, without a language model.
    Discover {
        /// Cards of the library: AutoKit JSON, or an object with `cards[].card`.
        #[arg(long)]
        cards: PathBuf,
        /// Needs, one JSON object a line: `id`, `need`, `named`, `expected` addresses (none: no page).
        #[arg(long)]
        needs: PathBuf,
        /// A search that answers as SearXNG does.
        #[arg(long)]
        search_url: String,
        /// With --json: everything that was weighed for each need.
        #[arg(long)]
        explain: bool,
    },
    /// Whether cards are found better with descriptions improved from their pages.
    Improve {
        /// Cards: AutoKit JSON, or an object with `cards[].card`.
        #[arg(long)]
        cards: PathBuf,
        /// Questions, one JSON object a line: `q` and the acceptable names in `gold`.
        #[arg(long)]
        questions: PathBuf,
        /// The site with the cards' pages; its search answers as SearXNG does.
        #[arg(long, value_name = "URL")]
        site: String,
        /// Cut descriptions to this many words first, as for cards written down in passing.
        #[arg(long, value_name = "WORDS")]
        thin: Option<usize>,
        /// The changed descriptions as well.
        #[arg(long)]
        explain: bool,
    },
    /// Broken cards, verified and repaired against a site: prints one JSON line a card.
    Linkrot {
        /// The cards: a JSON array of `{id, card}`.
        #[arg(long = "cards", value_name = "FILE")]
        cases: PathBuf,
        /// The site; its search answers as SearXNG does. Put in front of addresses without a host.
        #[arg(long, value_name = "URL")]
        site: String,
        /// What was found about each card as well.
        #[arg(long)]
        explain: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models on offer.
    List,
    /// Fetch a model's files.
    Pull {
        /// Name; the default model when not given.
        name: Option<String>,
    },
    /// Switch this library to a model.
    Use {
        /// Name.
        name: String,
        /// Folder with the model's files, instead of downloading.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
}

/// `30d`, `30 days` or `30`.
fn days(text: &str) -> Result<u32, String> {
    let number = text.trim().trim_end_matches("days").trim_end_matches('d').trim_end();
    let number: u32 = number.parse().map_err(|_| "give a number of days, e.g. 30d".to_owned())?;
    if number > 3_650 { Err("give at most 3650 days".to_owned()) } else { Ok(number) }
}
