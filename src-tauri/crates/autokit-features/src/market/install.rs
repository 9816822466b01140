//! What installing would do. Nothing is started or written: a person reviews it and confirms.

use std::collections::BTreeMap;

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, InstallFromMarket};
use autokit_api::{
    ExistingCards, ImportRequest, ImportSource, ItemChoice, Landing, MarketInput, MarketInstall, MarketKind,
    MarketRef, MarketSource, ServerAdd,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_mcp_client::market::{LaunchOption, Registry, Transport};
use autokit_toolcard::has_injection;
use serde_json::Value;

use super::query::reach_of;
use super::{Market, shared};

/// Most characters in the name given to a server.
const MAX_NAME_CHARS: usize = 40;

const FLAGGED_NOTE: &str =
    "Flagged: contains hidden text or instructions to a model. Check it before you continue.";

impl Market {
    async fn install_server(&self, source: &MarketSource, id: &str) -> Result<MarketInstall> {
        let registry = Registry::new(self.providers.services().fetcher.clone(), &source.url)?;
        let listing = registry.latest(id).await?;
        let Some(start) = listing.launch_options.first() else {
            let why = listing
                .notes
                .first()
                .map_or("its entry has neither a start command nor a URL", String::as_str);
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("{id} cannot be installed: {why}"),
                "See its page for instructions.",
            ));
        };
        let mut notes = listing.notes.clone();
        if let Some(why) = &listing.flagged {
            notes.insert(0, format!("{FLAGGED_NOTE} {why}"));
        }
        if listing.deprecated {
            notes.push("Deprecated by its registry.".to_owned());
        }
        let (runner, line) = match &start.transport {
            Transport::Program { command, args } => (Some(command.clone()), args.join(" ")),
            Transport::Address(url) => (None, url.clone()),
        };
        let runner_here = runner.as_deref().is_none_or(is_on_path);
        if let Some(runner) = runner.as_ref().filter(|_| !runner_here) {
            notes.push(format!("`{runner}` is not installed; the server needs it to start."));
        }
        if line.contains(['<', '{']) {
            notes.push("Fill in the values in brackets first.".to_owned());
        }
        Ok(MarketInstall::Server {
            add: ServerAdd {
                name: self.free_name(id).await?,
                reach: reach_of(&start.transport),
                secrets: defaults(start),
                trusted: false,
            },
            runner,
            runner_here,
            inputs: inputs(start),
            notes,
        })
    }

    /// Derives a server's name from the last part of its registry name, or from more of it if that is
    /// taken.
    async fn free_name(&self, id: &str) -> Result<String> {
        let (namespace, name) = id.rsplit_once('/').unwrap_or(("", id));
        let publisher = namespace.rsplit('.').next().unwrap_or_default();
        let servers = self.servers.all().await?;
        let truncated = |name: String| name.chars().take(MAX_NAME_CHARS).collect::<String>();
        let names = [
            truncated(name.to_owned()),
            truncated(format!("{publisher} {name}")),
            truncated(id.replace('/', " ")),
        ];
        let free_name = names.iter().find(|name| !servers.iter().any(|server| server.name == **name));
        Ok(free_name.unwrap_or(&names[0]).clone())
    }

    async fn install_card(&self, source: &MarketSource, id: &str) -> Result<MarketInstall> {
        let incoming = shared::read(self, &source.url).await?;
        let is_it = |entry: &&autokit_bundle::BundleCard| entry.card.key().id().as_str() == id;
        let Some(card) = incoming.entries.iter().find(is_it) else {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("{} has no card {id:?}", source.url),
                "Search for it again; it may have been withdrawn.",
            ));
        };
        let flagged = has_injection(&Value::Object(card.card.object().clone()));
        let notes = if flagged { vec![FLAGGED_NOTE.to_owned()] } else { Vec::new() };
        let others = incoming.entries.iter().filter(|entry| entry.position != card.position);
        let skipped = |entry: &autokit_bundle::BundleCard| ItemChoice {
            position: entry.position as u32,
            take: false,
            fields: None,
            later: Vec::new(),
            same_as: None,
        };
        let import = ImportRequest {
            vocabulary: false,
            source: ImportSource::Url(source.url.clone()),
            existing: ExistingCards::Merge,
            landing: Landing::Review,
            digest: Some(incoming.digest.clone()),
            choices: others.map(skipped).collect(),
            reason: String::new(),
        };
        Ok(MarketInstall::Card { import, notes })
    }
}

fn inputs(start: &LaunchOption) -> Vec<MarketInput> {
    let input = |input: &autokit_mcp_client::market::LaunchInput| MarketInput {
        name: input.name.clone(),
        description: input.description.as_deref().map(|text| autokit_toolcard::visible(text).into_owned()),
        required: input.required,
        secret: input.secret,
    };
    start.inputs.iter().map(input).collect()
}

fn defaults(start: &LaunchOption) -> BTreeMap<String, String> {
    let default =
        |input: &autokit_mcp_client::market::LaunchInput| Some((input.name.clone(), input.default.clone()?));
    start.inputs.iter().filter_map(default).collect()
}

/// Returns whether a program of this name is on the `PATH`.
fn is_on_path(program: &str) -> bool {
    let suffixes: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".bat", ""] } else { &[""] };
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path)
            .any(|folder| suffixes.iter().any(|suffix| folder.join(format!("{program}{suffix}")).is_file()))
    })
}

#[async_trait]
impl Handle<InstallFromMarket> for Market {
    async fn handle(&self, _: &Context, request: MarketRef) -> Result<MarketInstall> {
        let source = self.source(&request.source).await?;
        match source.kind {
            MarketKind::Registry => self.install_server(&source, &request.id).await,
            MarketKind::Bundle => self.install_card(&source, &request.id).await,
        }
    }
}
