//! MCP servers behind AutoKit: which there are, and what of their tools is in the library.
//!
//! A tool of a server is a card. What the server says of it is taken over by review: a tool that is new,
//! and one that says something else than when it was accepted, waits there as a proposal, and until then
//! cannot be called. So a server cannot change what an agent reads behind a person's back.

mod looks;
mod offered;
mod vouched;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use autokit_api::commands::{
    AddServer, Context, Handle, ListServers, ReadServers, RefreshServer, RemoveServer,
};
use autokit_api::{
    ExistingCards, ItemChoice, JobKind, JobRef, Landing, Nothing, Server, ServerAdd, ServerReach, ServerRef,
    ServersRead, ServersText, Setting,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::configured::{ConfiguredReach, configured};
use autokit_library::CardRecord;
use autokit_mcp_client::{Limits, Pool, Reach, ServerTools};
use autokit_toolcard::{Author, Kind, ReadCards, ReadItem, Rejected, Toolcard, fields};
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::jobs::{Outcome, Progress};
use crate::secrets::{Secret, name_for};

use super::import::Wishes;
use super::incoming::Incoming;
use super::workspace::Cached;
use super::{Core, Engine};

/// Characters of a name.
const NAME_CHARS: usize = 40;
/// Field of a card: which tool of which server it is, and what that said when it was accepted.
pub(super) const UPSTREAM: &str = "upstream";

/// Fields of a card in which a server speaks.
const SAID: [&str; 5] = [fields::KIND, fields::DESCRIPTION, fields::PARAMETERS, "annotations", UPSTREAM];

/// Who proposes what a server says.
fn proposer(server: &str) -> String {
    format!("MCP server {server}")
}

/// A server as it is kept; what is secret is kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedServer {
    pub(super) name: String,
    pub(super) reach: ServerReach,
    pub(super) secrets: Vec<String>,
    trusted: bool,
    checked_at: Option<String>,
    failed: Option<String>,
    /// The tools that the last look left out, each with the reason.
    #[serde(default)]
    skipped: Vec<String>,
}

impl SavedServer {
    /// How it is reached, without what is secret.
    pub(super) fn reach(&self) -> &ServerReach {
        &self.reach
    }
}

/// What is known of the servers in this process.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) pool: Pool,
    changes: Mutex<Option<mpsc::UnboundedReceiver<String>>>,
    list: Cached<Vec<SavedServer>>,
    /// One writer at a time.
    writing: tokio::sync::Mutex<()>,
    /// Of each server that was looked at in this process, what its tools say.
    live: Mutex<HashMap<String, Arc<HashMap<String, String>>>>,
    vouched: Cached<vouched::ToolBindings>,
}

impl Servers {
    pub(super) fn new(limits: Limits) -> Servers {
        let (pool, changes) = Pool::new(limits);
        Servers {
            pool,
            changes: Mutex::new(Some(changes)),
            list: Cached::new(Setting::McpServers),
            writing: tokio::sync::Mutex::default(),
            live: Mutex::default(),
            vouched: Cached::new(Setting::VouchedTools),
        }
    }
}

/// What is kept secret for a server.
type Secrets = BTreeMap<String, String>;

fn secret_name(server: &str) -> String {
    name_for("mcp-server", server)
}

/// What a tool says of itself, in short: changes with every word of it.
fn digest_of(tool: &Tool) -> String {
    let said = json!({
        "title": tool.title, "description": tool.description, "schema": &*tool.input_schema,
        "annotations": tool.annotations,
    });
    hex::encode(Sha256::digest(said.to_string()))
}

/// The card of a tool.
fn card_of(server: &SavedServer, tool: &Tool) -> Map<String, Value> {
    let mut card = Map::new();
    let mut put = |field: &str, value: Value| card.insert(field.to_owned(), value);
    put(fields::NAME, tool.name.as_ref().into());
    put(fields::PROVIDER, server.name.as_str().into());
    put(fields::KIND, Kind::McpTool.as_str().into());
    let words = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    put(fields::DESCRIPTION, words.into());
    put(fields::PARAMETERS, Value::Object((*tool.input_schema).clone()));
    if let Some(hints) = tool.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()) {
        put("annotations", hints);
    }
    put(UPSTREAM, json!({"server": server.name, "tool": tool.name, "digest": digest_of(tool)}));
    card
}

/// Which tool of which server a card is, and what that said when the card was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Upstream {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) digest: String,
}

impl Upstream {
    pub(super) fn of(card: &Toolcard) -> Option<Upstream> {
        let upstream = card.object().get(UPSTREAM)?;
        let text = |key: &str| Some(upstream.get(key)?.as_str()?.to_owned());
        Some(Upstream { server: text("server")?, tool: text("tool")?, digest: text("digest")? })
    }
}

impl Core {
    /// The servers.
    pub(super) async fn servers(&self) -> Result<Arc<Vec<SavedServer>>> {
        self.servers.list.read(&self.workspace).await
    }

    async fn change_servers(&self, change: impl FnOnce(&mut Vec<SavedServer>) -> Result<()>) -> Result<()> {
        let _turn = self.servers.writing.lock().await;
        let mut list = self.servers().await?.to_vec();
        change(&mut list)?;
        self.servers.list.write(&self.workspace, list).await?;
        self.workspace.tools_changed();
        Ok(())
    }

    pub(super) async fn server(&self, name: &str) -> Result<SavedServer> {
        let list = self.servers().await?;
        list.iter().find(|server| server.name == name).cloned().ok_or_else(|| no_server(name))
    }

    /// How a server is reached, with what is secret filled in.
    pub(super) async fn reach(&self, server: &SavedServer) -> Result<Reach> {
        let secrets: Secrets = if server.secrets.is_empty() {
            Secrets::new()
        } else {
            let kept = self.providers.secrets();
            let secret = kept.get(&secret_name(&server.name)).await?;
            let secrets = secret.and_then(|secret| serde_json::from_str(secret.expose()).ok());
            secrets.ok_or_else(|| {
                ApiError::new(
                    ErrorCode::WrongKey,
                    format!("the keys of the MCP server {:?} are not kept on this machine", server.name),
                    "Add the server again with its keys.",
                )
            })?
        };
        Ok(match &server.reach {
            ServerReach::Stdio { command, args, folder } => Reach::Stdio {
                command: command.clone(),
                args: args.clone(),
                env: secrets,
                folder: Some(folder).filter(|folder| !folder.is_empty()).map(Into::into),
            },
            ServerReach::Http { url } => Reach::Http { url: url.clone(), headers: secrets },
        })
    }

    /// Looks at the tools of a server in the background and brings in what is new or changed.
    fn start_looking_at(self: &Arc<Self>, name: String) -> JobRef {
        let core = Arc::clone(self);
        let title = format!("Looking at the tools of {name}");
        self.workspace.jobs.start(JobKind::Import, &title, "tools", |progress| async move {
            let looked = core.take_up(&name, &progress).await;
            let (looked, skipped) = match looked {
                Ok((outcome, skipped)) => (Ok(outcome), skipped),
                Err(error) => (Err(error), Vec::new()),
            };
            if core.server(&name).await.is_err() {
                return Ok(Outcome { summary: format!("{name} was removed meanwhile"), tally: None });
            }
            let failed = looked.as_ref().err().map(ApiError::sentence);
            let at = core.workspace.clock.stamp();
            core.change_servers(|list| {
                if let Some(kept) = list.iter_mut().find(|kept| kept.name == name) {
                    (kept.failed, kept.checked_at, kept.skipped) = (failed, Some(at), skipped);
                }
                Ok(())
            })
            .await?;
            looked
        })
    }

    /// Brings in what a server says; gives the tools that were left out, each with the reason, as well.
    async fn take_up(self: &Arc<Self>, name: &str, progress: &Progress) -> Result<(Outcome, Vec<String>)> {
        let server = self.server(name).await?;
        let ServerTools { tools, skipped } = self.list_tools(&server).await?;
        progress.check()?;
        let read = read_tools(&server, &tools);
        let mut left_out: Vec<String> =
            skipped.iter().map(|skipped| format!("{:?} {}", skipped.name, skipped.why)).collect();
        left_out.extend(read.rejected.iter().map(|rejected| {
            let problems: Vec<String> = rejected.problems.iter().map(ToString::to_string).collect();
            format!("{:?}: {}", rejected.name.as_deref().unwrap_or_default(), problems.join(", "))
        }));
        let mut choices = HashMap::new();
        for item in &read.cards {
            let Some(ours) = self.workspace.library.read(|replica| replica.by_key(&item.card.key()).cloned())
            else {
                continue;
            };
            let position = item.position as u32;
            let stands = match Upstream::of(&ours.card()) {
                Some(upstream) => self.is_bound(&ours.id, &upstream).await?,
                None => false,
            };
            choices.insert(position, choice(position, &ours, &item.card, stands));
        }
        let said: Vec<Toolcard> = read.cards.iter().map(|item| item.card.clone()).collect();
        let (by, at) = (Author(proposer(name)), self.workspace.clock.stamp());
        let incoming = Arc::new(Incoming::of_server(read, name, &by, &at));
        let wishes = Wishes {
            existing: ExistingCards::Merge,
            landing: if server.trusted { Landing::Library } else { Landing::Review },
            suspect_too: false,
            choices,
            reason: format!("What the MCP server {name} says"),
            by,
            at,
        };
        let outcome = self.bring_in(incoming, wishes, None, progress).await?;
        self.vouch_for_same(&said).await?;
        Ok((outcome, left_out))
    }

    /// The cards that are tools of servers.
    pub(super) fn upstream_cards(&self) -> Vec<Arc<CardRecord>> {
        self.cards_with(&["\"upstream\""])
    }

    /// Cards in whose JSON one of these stands.
    pub(super) fn cards_with(&self, quoted: &[&str]) -> Vec<Arc<CardRecord>> {
        self.workspace.library.read(|replica| replica.containing(quoted).cloned().collect())
    }

    async fn list_tools(&self, server: &SavedServer) -> Result<ServerTools> {
        let reach = self.reach(server).await?;
        let tools = self.servers.pool.tools(&server.name, &reach).await.map_err(|error| {
            ApiError::new(
                ErrorCode::NoConnection,
                error.to_string(),
                "Start it by hand to see what is wrong, then look again.",
            )
        })?;
        let live = tools.tools.iter().map(|tool| (tool.name.to_string(), digest_of(tool))).collect();
        self.servers.live.lock().expect("no holder panics").insert(server.name.clone(), Arc::new(live));
        Ok(tools)
    }

    /// What a server's tool says now; none if the server has it no more.
    pub(super) async fn live_digest(&self, server: &SavedServer, tool: &str) -> Result<Option<String>> {
        let known = self.servers.live.lock().expect("no holder panics").get(&server.name).cloned();
        if let Some(known) = known {
            return Ok(known.get(tool).cloned());
        }
        self.list_tools(server).await?;
        let known = self.servers.live.lock().expect("no holder panics").get(&server.name).cloned();
        Ok(known.and_then(|known| known.get(tool).cloned()))
    }
}

fn is_web(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn no_server(name: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is no MCP server {name:?}"),
        "See which there are in the list of servers.",
    )
}

/// The cards of a server's tools; what cannot be one is told.
fn read_tools(server: &SavedServer, tools: &[Tool]) -> ReadCards {
    let mut read = ReadCards::default();
    for (index, tool) in tools.iter().enumerate() {
        let position = index + 1;
        match Toolcard::new(card_of(server, tool)) {
            Ok(card) => read.cards.push(ReadItem { position, card, warnings: Vec::new() }),
            Err(problems) => {
                let name = Some(tool.name.chars().take(80).collect());
                read.rejected.push(Rejected { position, name, problems });
            }
        }
    }
    read
}

/// Of a card that is there, what the server says otherwise than when it was accepted. What people made
/// better since stays, if the card stands for the tool: only a new word of the server is one.
fn choice(position: u32, ours: &CardRecord, theirs: &Toolcard, stands: bool) -> ItemChoice {
    let card = ours.card();
    let same = stands && Upstream::of(theirs) == Upstream::of(&card);
    let differs = |field: &&&str| card.object().get(**field) != theirs.object().get(**field);
    let fields: Vec<String> = SAID.iter().filter(differs).map(|field| (*field).to_owned()).collect();
    ItemChoice {
        position,
        take: !same && !fields.is_empty(),
        fields: Some(fields),
        later: Vec::new(),
        same_as: None,
    }
}

impl Engine {
    async fn server_list(&self) -> Result<Vec<Server>> {
        let core = &self.core;
        let running = core.servers.pool.running().await;
        let list = core.servers().await?;
        let mut counts: HashMap<String, u32> = HashMap::new();
        for record in core.upstream_cards() {
            if let Some(upstream) = Upstream::of(&record.card()) {
                *counts.entry(upstream.server).or_default() += 1;
            }
        }
        let proposals = core.workspace.library.waiting().await?;
        let waiting = |name: &str| {
            let by = proposer(name);
            proposals.iter().filter(|proposal| proposal.proposed_by == by).count() as u32
        };
        let view = |kept: &SavedServer| Server {
            name: kept.name.clone(),
            reach: kept.reach.clone(),
            secrets: kept.secrets.clone(),
            trusted: kept.trusted,
            running: running.contains(&kept.name),
            tools: counts.get(&kept.name).copied().unwrap_or_default(),
            waiting: waiting(&kept.name),
            checked_at: kept.checked_at.clone(),
            failed: kept.failed.clone(),
            skipped: kept.skipped.clone(),
        };
        Ok(list.iter().map(view).collect())
    }
}

impl Handle<ListServers> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Server>> {
        self.server_list().await
    }
}

impl Handle<AddServer> for Engine {
    async fn handle(&self, _: &Context, request: ServerAdd) -> Result<JobRef> {
        let name = request.name.trim().to_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
        if name.is_empty() || name.len() > NAME_CHARS || !name.chars().all(plain) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{name:?} cannot be the name of a server"),
                "Use up to 40 letters, digits, spaces, dots, `-` and `_`.",
            ));
        }
        // Rules and reviews go by the name: it must be nobody else's, also at a glance.
        let same = |other: &str| other != name && other.eq_ignore_ascii_case(&name);
        let taken =
            self.core.servers().await?.iter().find(|kept| same(&kept.name)).map(|kept| kept.name.clone());
        if let Some(taken) =
            taken.or_else(|| name.eq_ignore_ascii_case("AutoKit").then(|| "AutoKit".to_owned()))
        {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{name:?} is too much like {taken:?}, which is another"),
                "Give it another name.",
            ));
        }
        let wrong = match &request.reach {
            ServerReach::Stdio { command, .. } if command.trim().is_empty() => {
                Some(("the server has no program".to_owned(), "Give the program that starts it."))
            }
            ServerReach::Http { url } if !is_web(url) => Some((
                format!("{url:?} is no address of a server"),
                "Give an address that begins with http:// or https://.",
            )),
            _ => None,
        };
        if let Some((message, remedy)) = wrong {
            return Err(ApiError::new(ErrorCode::BadRequest, message, remedy));
        }
        let core = &self.core;
        let kept = core.providers.secrets();
        let secrets: Vec<String> = request.secrets.keys().cloned().collect();
        let before = core.servers().await?.iter().find(|kept| kept.name == name).cloned();
        if secrets.is_empty() {
            // A machine without a place for keys can have servers that need none.
            if before.is_some_and(|before| !before.secrets.is_empty()) {
                kept.remove(&secret_name(&name)).await?;
            }
        } else {
            let text = serde_json::to_string(&request.secrets)
                .map_err(|error| ApiError::internal(error.to_string()))?;
            kept.set(&secret_name(&name), Secret::new(text)).await?;
        }
        let (reach, trusted) = (request.reach, request.trusted);
        let (checked_at, failed, skipped) = (None, None, Vec::new());
        let new = SavedServer { name: name.clone(), reach, secrets, trusted, checked_at, failed, skipped };
        core.change_servers(|list| {
            match list.iter_mut().find(|kept| kept.name == new.name) {
                Some(kept) => *kept = new,
                None => list.push(new),
            }
            Ok(())
        })
        .await?;
        core.servers.live.lock().expect("no holder panics").remove(&name);
        core.servers.pool.stop(&name).await;
        Ok(core.start_looking_at(name))
    }
}

/// A name as servers have them here, from whatever it is elsewhere.
fn plain_name(name: &str) -> String {
    let plain =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ') { c } else { '-' };
    name.trim().chars().take(NAME_CHARS).map(plain).collect()
}

impl Handle<ReadServers> for Engine {
    async fn handle(&self, _: &Context, request: ServersText) -> Result<ServersRead> {
        let read = configured(&request.text).map_err(|why| {
            ApiError::new(
                ErrorCode::BadRequest,
                why,
                "Give the file in which the program keeps its MCP servers.",
            )
        })?;
        let here = self.core.servers().await?;
        let servers: Vec<ServerAdd> = read
            .servers
            .into_iter()
            .map(|server| ServerAdd {
                name: plain_name(&server.name),
                reach: match server.reach {
                    ConfiguredReach::Stdio { command, args, folder } => {
                        ServerReach::Stdio { command, args, folder }
                    }
                    ConfiguredReach::Http { url } => ServerReach::Http { url },
                },
                secrets: server.secrets,
                trusted: false,
            })
            .collect();
        let taken = servers.iter().map(|server| server.name.clone());
        let taken = taken.filter(|name| here.iter().any(|kept| kept.name == *name)).collect();
        Ok(ServersRead { servers, taken, problems: read.problems })
    }
}

impl Handle<RemoveServer> for Engine {
    async fn handle(&self, _: &Context, request: ServerRef) -> Result<Vec<Server>> {
        let core = &self.core;
        let name = request.name;
        let before = core.server(&name).await?;
        core.change_servers(|list| {
            list.retain(|kept| kept.name != name);
            Ok(())
        })
        .await?;
        if !before.secrets.is_empty() {
            core.providers.secrets().remove(&secret_name(&name)).await?;
        }
        core.servers.live.lock().expect("no holder panics").remove(&name);
        core.servers.pool.stop(&name).await;
        // Nobody says any more what they say; a server of this name that is added again says it anew.
        let by = Author(proposer(&name));
        if core.workspace.library.withdraw_all(&by, "the server was removed").await? > 0 {
            core.workspace.tell_proposals().await?;
        }
        self.server_list().await
    }
}

impl Handle<RefreshServer> for Engine {
    async fn handle(&self, _: &Context, request: ServerRef) -> Result<JobRef> {
        let server = self.core.server(&request.name).await?;
        Ok(self.core.start_looking_at(server.name))
    }
}
