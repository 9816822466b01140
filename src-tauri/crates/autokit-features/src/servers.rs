//! MCP servers behind AutoKit: which are configured, and which of their tools are in the library.
//!
//! A tool of a server is a card. What the server says about it goes through Review: a tool that is new, or
//! that says something else than when it was accepted, waits there as a proposal and cannot be called until
//! then. So a server cannot change what an agent reads without a person's approval.

mod offered;
mod rescan;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{
    AddServer, Context, Handle, ListServers, ReadServers, RefreshServer, RemoveServer,
};
use autokit_api::{
    ExistingCards, JobKind, JobRef, Landing, Nothing, Server, ServerAdd, ServerRef, ServerTransport,
    ServersRead, ServersText,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::configured::{ConfiguredTransport, parse_servers};
use autokit_mcp_client::ServerTools;
use autokit_toolcard::{Author, Toolcard};
use autokit_upstream::servers::KnownServers;
use autokit_upstream::tools::{SavedServer, Upstream, choice, proposer, read_tools};
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::workspace::Workspace;

use crate::import::Imports;
use crate::import::options::ImportOptions;
use crate::incoming::SourceContents;

/// Most characters in a server's name.
const MAX_NAME_CHARS: usize = 40;
/// Adds servers and imports their tools as cards. Clones share state.
#[derive(Clone, Debug)]
pub struct Servers {
    workspace: Workspace,
    pub(crate) known: KnownServers,
    imports: Imports,
}

impl Servers {
    /// Manages the servers of this library.
    pub fn new(workspace: Workspace, known: KnownServers, imports: Imports) -> Servers {
        Servers { workspace, known, imports }
    }

    /// Stops the processes of all servers.
    pub async fn stop_all(&self) {
        self.known.pool().stop_all().await;
    }

    /// Starts a background scan of a server's tools that imports what is new or changed.
    pub(crate) fn start_scan(&self, name: String) -> JobRef {
        let servers = self.clone();
        let title = format!("Reading the tools of {name}");
        self.workspace.jobs.start(JobKind::Import, &title, "tools", |progress| async move {
            let imported = servers.import_tools(&name, &progress).await;
            let (scan, skipped) = match imported {
                Ok((outcome, skipped)) => (Ok(outcome), skipped),
                Err(error) => (Err(error), Vec::new()),
            };
            if servers.known.get(&name).await.is_err() {
                return Ok(Outcome { summary: format!("{name} was removed in the meantime"), tally: None });
            }
            let failed = scan.as_ref().err().map(ApiError::sentence);
            let at = servers.workspace.clock.stamp();
            servers
                .known
                .change(|list| {
                    if let Some(saved) = list.iter_mut().find(|saved| saved.name == name) {
                        (saved.failed, saved.checked_at, saved.skipped) = (failed, Some(at), skipped);
                    }
                    Ok(())
                })
                .await?;
            scan
        })
    }

    /// Imports what a server lists. Also returns the tools that were left out, each with the reason.
    async fn import_tools(&self, name: &str, progress: &Progress) -> Result<(Outcome, Vec<String>)> {
        let server = self.known.get(name).await?;
        let ServerTools { tools, skipped } = self.known.list_tools(&server).await?;
        progress.check_cancelled()?;
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
            let is_bound = match Upstream::of(&ours.card()) {
                Some(upstream) => self.known.is_bound(&ours.id, &upstream).await?,
                None => false,
            };
            choices.insert(position, choice(position, &ours, &item.card, is_bound));
        }
        let listed: Vec<Toolcard> = read.cards.iter().map(|item| item.card.clone()).collect();
        let (by, at) = (Author(proposer(name)), self.workspace.clock.stamp());
        let incoming = Arc::new(SourceContents::from_server(read, name, &by, at));
        let options = ImportOptions {
            existing: ExistingCards::Merge,
            landing: if server.trusted { Landing::Library } else { Landing::Review },
            flagged_too: false,
            choices,
            reason: format!("From the MCP server {name}"),
            by,
            at,
        };
        let outcome = self.imports.run_import(incoming, options, None, progress).await?;
        self.known.bind_identical(&listed).await?;
        Ok((outcome, left_out))
    }
}

fn is_web(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

impl Servers {
    async fn view(&self) -> Result<Vec<Server>> {
        let running = self.known.pool().running().await;
        let list = self.known.all().await?;
        let mut counts: HashMap<String, u32> = HashMap::new();
        for record in self.known.cards() {
            if let Some(upstream) = Upstream::of(&record.card()) {
                *counts.entry(upstream.server).or_default() += 1;
            }
        }
        let proposals = self.workspace.library.pending().await?;
        let waiting = |name: &str| {
            let by = proposer(name);
            proposals.iter().filter(|proposal| proposal.proposed_by == by).count() as u32
        };
        let view = |saved: &SavedServer| Server {
            name: saved.name.clone(),
            reach: saved.reach.clone(),
            secrets: saved.secrets.clone(),
            trusted: saved.trusted,
            running: running.contains(&saved.name),
            tools: counts.get(&saved.name).copied().unwrap_or_default(),
            waiting: waiting(&saved.name),
            checked_at: saved.checked_at,
            failed: saved.failed.clone(),
            skipped: saved.skipped.clone(),
        };
        Ok(list.iter().map(view).collect())
    }
}

#[async_trait]
impl Handle<ListServers> for Servers {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Server>> {
        self.view().await
    }
}

#[async_trait]
impl Handle<AddServer> for Servers {
    async fn handle(&self, _: &Context, request: ServerAdd) -> Result<JobRef> {
        let name = request.name.trim().to_owned();
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
        if name.is_empty() || name.len() > MAX_NAME_CHARS || !name.chars().all(is_allowed) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{name:?} is not a valid server name"),
                "Use up to 40 letters, digits, spaces, dots, `-` and `_`.",
            ));
        }
        // Permissions and reviews refer to the name, so it must be unique even when case is ignored.
        let same = |other: &str| other != name && other.eq_ignore_ascii_case(&name);
        let taken =
            self.known.all().await?.iter().find(|saved| same(&saved.name)).map(|saved| saved.name.clone());
        if let Some(taken) =
            taken.or_else(|| name.eq_ignore_ascii_case("AutoKit").then(|| "AutoKit".to_owned()))
        {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{name:?} is too similar to {taken:?}"),
                "Choose another name.",
            ));
        }
        let problem = match &request.reach {
            ServerTransport::Stdio { command, .. } if command.trim().is_empty() => {
                Some(("the server has no command".to_owned(), "Enter the command that starts it."))
            }
            ServerTransport::Http { url } if !is_web(url) => Some((
                format!("{url:?} is not a valid server URL"),
                "Enter a URL that starts with http:// or https://.",
            )),
            _ => None,
        };
        if let Some((message, remedy)) = problem {
            return Err(ApiError::new(ErrorCode::BadRequest, message, remedy));
        }
        let secrets: Vec<String> = request.secrets.keys().cloned().collect();
        let before = self.known.all().await?.iter().find(|saved| saved.name == name).cloned();
        if secrets.is_empty() {
            // A machine without a secret store can still have servers that need no secrets.
            if before.is_some_and(|before| !before.secrets.is_empty()) {
                self.known.remove_secrets(&name).await?;
            }
        } else {
            self.known.set_secrets(&name, &request.secrets).await?;
        }
        let (reach, trusted) = (request.reach, request.trusted);
        let (checked_at, failed, skipped) = (None, None, Vec::new());
        let new = SavedServer { name: name.clone(), reach, secrets, trusted, checked_at, failed, skipped };
        self.known
            .change(|list| {
                match list.iter_mut().find(|saved| saved.name == new.name) {
                    Some(saved) => *saved = new,
                    None => list.push(new),
                }
                Ok(())
            })
            .await?;
        self.known.clear_live_digests(&name);
        self.known.pool().stop(&name).await;
        Ok(self.start_scan(name))
    }
}

/// Converts any name to one that is allowed for servers here.
fn to_server_name(name: &str) -> String {
    let replaced =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ') { c } else { '-' };
    name.trim().chars().take(MAX_NAME_CHARS).map(replaced).collect()
}

#[async_trait]
impl Handle<ReadServers> for Servers {
    async fn handle(&self, _: &Context, request: ServersText) -> Result<ServersRead> {
        let read = parse_servers(&request.text).map_err(|why| {
            ApiError::new(ErrorCode::BadRequest, why, "Paste the settings file of an MCP client.")
        })?;
        let saved_servers = self.known.all().await?;
        let servers: Vec<ServerAdd> = read
            .servers
            .into_iter()
            .map(|server| ServerAdd {
                name: to_server_name(&server.name),
                reach: match server.reach {
                    ConfiguredTransport::Stdio { command, args, folder } => {
                        ServerTransport::Stdio { command, args, folder }
                    }
                    ConfiguredTransport::Http { url } => ServerTransport::Http { url },
                },
                secrets: server.secrets,
                trusted: false,
            })
            .collect();
        let taken = servers.iter().map(|server| server.name.clone());
        let taken = taken.filter(|name| saved_servers.iter().any(|saved| saved.name == *name)).collect();
        Ok(ServersRead { servers, taken, problems: read.problems })
    }
}

#[async_trait]
impl Handle<RemoveServer> for Servers {
    async fn handle(&self, _: &Context, request: ServerRef) -> Result<Vec<Server>> {
        let name = request.name;
        let before = self.known.get(&name).await?;
        self.known
            .change(|list| {
                list.retain(|saved| saved.name != name);
                Ok(())
            })
            .await?;
        if !before.secrets.is_empty() {
            self.known.remove_secrets(&name).await?;
        }
        self.known.clear_live_digests(&name);
        self.known.pool().stop(&name).await;
        // Pending proposals of a removed server are withdrawn; if it is added again, it proposes them anew.
        let by = Author(proposer(&name));
        if self.workspace.library.withdraw_all(&by, "the server was removed").await? > 0 {
            self.workspace.notify_proposals_changed().await?;
        }
        self.view().await
    }
}

#[async_trait]
impl Handle<RefreshServer> for Servers {
    async fn handle(&self, _: &Context, request: ServerRef) -> Result<JobRef> {
        let server = self.known.get(&request.name).await?;
        Ok(self.start_scan(server.name))
    }
}
