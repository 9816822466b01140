//! Imports tools as if servers had listed them, without the servers: for benchmarks of search.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use autokit_api::{ExistingCards, JobKind, JobRef, Landing, ServerTransport};
use autokit_error::Result;
use autokit_toolcard::{Author, ReadCards, Toolcard};
use autokit_upstream::tools::{SavedServer, read_tools};
use autokit_workspace::jobs::{Outcome, Progress};
use rmcp::model::Tool;

use super::Servers;
use crate::import::options::ImportOptions;
use crate::incoming::SourceContents;

impl Servers {
    async fn import_offered_tools(
        &self,
        servers: BTreeMap<String, Vec<Tool>>,
        progress: &Progress,
    ) -> Result<Outcome> {
        let mut all = ReadCards::default();
        for (name, tools) in &servers {
            let reach =
                ServerTransport::Stdio { command: String::new(), args: Vec::new(), folder: String::new() };
            let saved = SavedServer {
                name: name.clone(),
                reach,
                secrets: Vec::new(),
                trusted: true,
                checked_at: None,
                failed: None,
                skipped: Vec::new(),
            };
            let read = read_tools(&saved, tools);
            all.cards.extend(read.cards);
            all.rejected.extend(read.rejected);
            self.known
                .change(|list| {
                    if !list.iter().any(|other| other.name == saved.name) {
                        list.push(saved);
                    }
                    Ok(())
                })
                .await?;
        }
        for (index, item) in all.cards.iter_mut().enumerate() {
            item.position = index + 1;
        }
        let listed: Vec<Toolcard> = all.cards.iter().map(|item| item.card.clone()).collect();
        let (by, at) = (Author::autokit(), self.workspace.clock.stamp());
        let incoming = Arc::new(SourceContents::from_server(all, "to measure", &by, at));
        let options = ImportOptions {
            existing: ExistingCards::Keep,
            landing: Landing::Library,
            flagged_too: true,
            choices: HashMap::new(),
            reason: "Tools to measure".to_owned(),
            by,
            at,
        };
        let outcome = self.imports.run_import(incoming, options, None, progress).await?;
        self.known.bind_identical(&listed).await?;
        Ok(outcome)
    }

    /// Starts importing the tools of servers as if the servers were trusted. The servers are configured
    /// from then on, but never started.
    pub fn start_tool_import(&self, offered: BTreeMap<String, Vec<Tool>>) -> JobRef {
        let servers = self.clone();
        self.workspace.jobs.start(JobKind::Import, "Reading tools", "tools", |progress| async move {
            servers.import_offered_tools(offered, &progress).await
        })
    }
}
