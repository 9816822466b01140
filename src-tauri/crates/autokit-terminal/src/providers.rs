//! `autokit providers`: language models, search services, keys.

use std::io::{self, Write};

use autokit_api::Client;
use autokit_api::KeyStorage;
use autokit_api::commands::{GetProviders, ResetSpending, SetProviders, SetSecret, TestConnection};
use autokit_api::{
    Connection, KeyName, LlmKind, Nothing, ProviderSettings, Providers, SearchKind, SecretSet, TestRequest,
};
use autokit_error::{ApiError, ErrorCode};
use autokit_toolcard::is_web_address;
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, printable, write_error};
use crate::places::with_commands;
use crate::secret;

#[derive(Debug, Subcommand)]
pub enum ProvidersCommand {
    /// Show the configuration and which API keys are saved.
    Show,
    /// Configure the language model.
    Llm {
        /// Protocol.
        #[arg(value_enum)]
        kind: LlmChoice,
        /// Service URL; defaults to the provider's own.
        #[arg(long)]
        url: Option<String>,
        /// Model for writing answers.
        #[arg(long)]
        model: Option<String>,
        /// Model for grading, reranking and rewriting.
        #[arg(long)]
        small: Option<String>,
        /// Input price in US dollars per 1M tokens; defaults to the list price of known models, which
        /// `list` restores.
        #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
        price_in: Option<Dollars>,
        /// Output price in US dollars per 1M tokens, likewise.
        #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
        price_out: Option<Dollars>,
        /// Spending limit in US dollars; `none` removes it.
        #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
        cap: Option<Dollars>,
        /// The model doesn't support tool calls.
        #[arg(long)]
        no_tools: bool,
    },
    /// Reset recorded spending to zero.
    ResetSpending,
    /// Configure the web search service.
    Search {
        /// Service.
        #[arg(value_enum)]
        kind: SearchChoice,
        /// Service URL; required for SearXNG.
        #[arg(long)]
        url: Option<String>,
        /// Sources searched first, in order, separated by commas, e.g. "LangChain, npm".
        #[arg(long)]
        preferred: Option<String>,
        /// Look up repository details on GitHub.
        #[arg(long)]
        github: bool,
        /// Look them up at this address instead, e.g. of GitHub Enterprise.
        #[arg(long, value_name = "URL")]
        github_url: Option<String>,
    },
    /// Allow reading pages from hosts on this machine or a private network.
    Allow {
        /// `host` or `host:port`; none clears the list.
        hosts: Vec<String>,
    },
    /// Save an API key, read from standard input to keep it out of shell history; empty removes it.
    Key {
        /// Service.
        #[arg(value_enum)]
        name: KeyChoice,
    },
    /// Choose where keys are stored.
    Keys {
        /// System keychain or encrypted file.
        #[arg(long, value_enum)]
        keep: KeyStorageChoice,
    },
    /// Test a connection with one real request.
    Test {
        /// Service.
        #[arg(value_enum)]
        what: TestChoice,
    },
}

/// Protocols of language models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LlmChoice {
    /// No language model.
    None,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI-compatible: OpenAI, Ollama, LM Studio, llama.cpp, vLLM, OpenRouter.
    Openai,
}

/// Search services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchChoice {
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
pub enum KeyChoice {
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

/// Choose where keys are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeyStorageChoice {
    /// The system's keychain.
    Keychain,
    /// An encrypted file in the configuration folder.
    File,
}

/// Which connection to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestChoice {
    /// Model for writing answers.
    Llm,
    /// The model that grades.
    Small,
    /// The search service.
    Search,
    /// GitHub.
    Github,
}

/// An amount in US dollars; none for `none` and `list`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dollars(pub(crate) Option<f64>);

/// An amount of US dollars: `2.50` or `$2.50`.
pub(crate) fn amount(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if (0.0..=1e6).contains(&amount) => Ok(amount),
        _ => Err("enter an amount such as 2.50".to_owned()),
    }
}

fn dollars(text: &str) -> Result<Dollars, String> {
    if matches!(text, "none" | "list") {
        return Ok(Dollars(None));
    }
    amount(text).map(|amount| Dollars(Some(amount)))
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ProvidersCommand) -> Result<Outcome> {
    let mut settings = library.call::<GetProviders>(Nothing {}).await?.settings;
    let needs_check = matches!(command, ProvidersCommand::Llm { .. } | ProvidersCommand::Search { .. });
    match command {
        ProvidersCommand::Show => {
            let providers = library.call::<GetProviders>(Nothing {}).await?;
            out.show(&providers, |text| write_providers(text, &providers))?;
            return Ok(Outcome::Done);
        }
        ProvidersCommand::Test { what } => {
            let connection = match what {
                TestChoice::Llm => Connection::Llm,
                TestChoice::Small => Connection::SmallLlm,
                TestChoice::Search => Connection::Search,
                TestChoice::Github => Connection::Github,
            };
            let outcome = library.call::<TestConnection>(TestRequest { connection }).await?;
            out.show(&outcome, |text| {
                writeln!(
                    text,
                    "{} {} {}",
                    "✓".green(),
                    printable(&outcome.text),
                    format!("{} ms", outcome.ms).dimmed()
                )
            })?;
            return Ok(Outcome::Done);
        }
        ProvidersCommand::Key { name } => {
            let name = match name {
                KeyChoice::Anthropic => KeyName::Anthropic,
                KeyChoice::Openai => KeyName::Openai,
                KeyChoice::Tavily => KeyName::Tavily,
                KeyChoice::Brave => KeyName::Brave,
                KeyChoice::Github => KeyName::Github,
            };
            let value = secret::read("Key (empty removes it)")?;
            let providers = library.call::<SetSecret>(SecretSet { name, value }).await?;
            out.show(&providers, |text| write_providers(text, &providers))?;
            return Ok(Outcome::Done);
        }
        ProvidersCommand::ResetSpending => {
            let providers = library.call::<ResetSpending>(Nothing {}).await?;
            out.show(&providers, |text| write_providers(text, &providers))?;
            return Ok(Outcome::Done);
        }
        ProvidersCommand::Llm { kind, url, model, small, price_in, price_out, cap, no_tools } => {
            let llm = &mut settings.llm;
            let kind = match kind {
                LlmChoice::None => LlmKind::None,
                LlmChoice::Anthropic => LlmKind::Anthropic,
                LlmChoice::Openai => LlmKind::Openai,
            };
            // Another service has another URL and other models.
            if kind != llm.kind {
                *llm = autokit_api::LlmSettings { kind, cap: llm.cap, ..Default::default() };
            }
            if let Some(url) = url {
                llm.base = url;
            }
            if let Some(model) = model {
                if model != llm.large {
                    // The price was that of the previous model.
                    (llm.price_in, llm.price_out) = (None, None);
                }
                llm.large = model;
            }
            if let Some(Dollars(price)) = price_in {
                llm.price_in = price;
            }
            if let Some(Dollars(price)) = price_out {
                llm.price_out = price;
            }
            if let Some(small) = small {
                llm.small = small;
            }
            if let Some(Dollars(cap)) = cap {
                llm.cap = cap;
            }
            llm.tools = !no_tools;
        }
        ProvidersCommand::Search { kind, url, preferred, github, github_url } => {
            let search = &mut settings.search;
            let kind = match kind {
                SearchChoice::None => SearchKind::None,
                SearchChoice::Tavily => SearchKind::Tavily,
                SearchChoice::Brave => SearchKind::Brave,
                SearchChoice::Searxng => SearchKind::Searxng,
                SearchChoice::Duckduckgo => SearchKind::Duckduckgo,
            };
            if kind != search.kind {
                search.base.clear();
            }
            search.kind = kind;
            if let Some(url) = url {
                search.base = url;
            }
            if let Some(preferred) = preferred {
                search.preferred = preferred;
            }
            search.github = github || github_url.is_some();
            if let Some(base) = github_url {
                search.github_base = base;
            }
        }
        ProvidersCommand::Allow { hosts } => settings.network.allowed_hosts = hosts,
        ProvidersCommand::Keys { keep } => {
            settings.keep = match keep {
                KeyStorageChoice::Keychain => KeyStorage::Keychain,
                KeyStorageChoice::File => KeyStorage::File,
            };
        }
    }
    if needs_check {
        validate(&settings)?;
    }
    let providers = library.call::<SetProviders>(settings).await?;
    out.show(&providers, |text| write_providers(text, &providers))?;
    Ok(Outcome::Done)
}

/// Rejects settings that could be saved but could never work.
fn validate(settings: &ProviderSettings) -> Result<()> {
    let invalid =
        |message: String, remedy: &str| Err(ApiError::new(ErrorCode::BadRequest, message, remedy).into());
    let (llm, search) = (&settings.llm, &settings.search);
    for base in [&llm.base, &search.base] {
        if !base.is_empty() && !is_web_address(base) {
            return invalid(
                format!("{base:?} isn't a service URL"),
                "Use a full URL: --url http://HOST:PORT/PATH",
            );
        }
    }
    if llm.kind != LlmKind::None && llm.large.trim().is_empty() {
        return invalid("no model specified".to_owned(), "Use --model NAME");
    }
    if search.kind == SearchKind::Searxng && search.base.is_empty() {
        return invalid("SearXNG needs a URL".to_owned(), "Use --url https://HOST");
    }
    Ok(())
}

fn url_or_default(text: &str) -> String {
    if text.is_empty() { "default URL".to_owned() } else { printable(text) }
}

fn write_providers(out: &mut dyn Write, providers: &Providers) -> io::Result<()> {
    let settings = &providers.settings;
    let llm = &settings.llm;
    let model = match llm.kind {
        LlmKind::None => "none (local rules only)".to_owned(),
        kind => {
            let small = if llm.small.is_empty() { &llm.large } else { &llm.small };
            let protocol = if kind == LlmKind::Anthropic { "Anthropic" } else { "OpenAI-compatible" };
            format!(
                "{} (grades with {}), {protocol}, {}",
                printable(&llm.large),
                printable(small),
                url_or_default(&llm.base)
            )
        }
    };
    writeln!(out, "{}  {model}", "Language model".bold())?;
    if llm.kind != LlmKind::None {
        let price = match providers.price {
            Some((0.0, 0.0)) => "free".to_owned(),
            Some((input, output)) => format!("${input} input, ${output} output per 1M tokens"),
            None => "price unknown: set --price-in and --price-out".to_owned(),
        };
        writeln!(out, "  {}", price.dimmed())?;
    }
    if llm.kind != LlmKind::None || providers.tokens != (0, 0) {
        let (read, written) = providers.tokens;
        let spent = format!("{read} input tokens, {written} output tokens, ${:.4} spent", providers.spent);
        match llm.cap {
            None => writeln!(out, "  {}", format!("{spent}, no spending limit").dimmed())?,
            Some(cap) if providers.spent >= cap => {
                let why = "raise it with --cap, or `autokit providers reset-spending`";
                writeln!(out, "  {}", format!("{spent}; spending limit of ${cap} reached: {why}").yellow())?;
            }
            Some(cap) => writeln!(out, "  {}", format!("{spent} of ${cap}").dimmed())?,
        }
    }
    let search = match settings.search.kind.service() {
        None => "none (library only)".to_owned(),
        Some(service) => format!("{}, {}", service.title(), url_or_default(&settings.search.base)),
    };
    writeln!(out, "{}  {search}", "Web search".bold())?;
    if !settings.search.preferred.is_empty() {
        writeln!(out, "  {}", format!("prefers {}", printable(&settings.search.preferred)).dimmed())?;
    }
    if !settings.network.allowed_hosts.is_empty() {
        writeln!(
            out,
            "{}  {}",
            "Allowed hosts".bold(),
            printable(&settings.network.allowed_hosts.join(", "))
        )?;
    }
    let saved_keys: Vec<String> = providers
        .keys
        .iter()
        .filter(|key| key.set)
        .map(|key| format!("{:?}", key.name).to_lowercase())
        .collect();
    let saved_keys = if saved_keys.is_empty() { "none".to_owned() } else { saved_keys.join(", ") };
    writeln!(out, "{}  {saved_keys}, in {}", "Keys".bold(), printable(&providers.keys_in))?;
    // Errors of missing services are listed below, with their remedies.
    let keys_error = providers.keys_error.as_ref().filter(|error| !providers.missing.contains(error));
    if let Some(error) = keys_error {
        writeln!(out, "  {}", printable(&error.sentence()).yellow())?;
        writeln!(out, "  {}", printable(&with_commands(&error.remedy)).dimmed())?;
    }
    providers.missing.iter().try_for_each(|error| write_error(out, error))
}
