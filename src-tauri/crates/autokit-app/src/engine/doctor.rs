//! Diagnostics: checks the installation and says what to do about each problem.

use std::fs;
use std::path::Path;

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, RunDoctor};
use autokit_api::{Check, CheckState, Doctor, DoctorRequest, ModelState};
use autokit_error::{ApiError, Result};
use autokit_library::{Library, Verified};
use autokit_workspace::indexing::without_vector;
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;
use autokit_workspace::workspace::problem_summary;

use crate::backups::{backups_check, remedy};

fn check(name: &str, state: CheckState, detail: impl Into<String>, remedy: Option<&str>) -> Check {
    Check { name: name.to_owned(), state, detail: detail.into(), remedy: remedy.map(str::to_owned) }
}

/// Returns the check of a chosen provider that is unavailable.
fn unavailable(name: &str, why: Option<&ApiError>) -> Check {
    let reason = why.map_or("it cannot be used", |error| &error.message);
    check(name, CheckState::Bad, format!("unavailable: {reason}"), why.map(|error| &*error.remedy))
}

/// Checks whether every acknowledged change is still there, as far as that was verified.
async fn integrity(library: &Library, root: &Path, search_backups: bool) -> Check {
    let problems = library.known_problems();
    if problems.is_empty() {
        let detail = match library.last_verified() {
            Some((at, verified)) => {
                let Verified { commits, cards, .. } = verified;
                format!("{commits} changes and {cards} cards verified {at}")
            }
            None => "the newest changes are verified; the rest follow in a few minutes".to_owned(),
        };
        return check("Integrity", CheckState::Good, detail, None);
    }
    let count = library.last_verified().map_or(0, |(_, verified)| verified.problem_count);
    let detail = problem_summary(&problems, count.max(problems.len() as u64));
    // Searching for a complete backup loads one after the other.
    let mut remedy = if search_backups { remedy(root).await } else { "Restore a backup.".to_owned() };
    if library.has_losses() {
        remedy.push_str(" Or continue without the missing changes in Settings, Diagnostics.");
    }
    check("Integrity", CheckState::Bad, detail, Some(&remedy))
}

/// Checks the library, the model and the providers.
#[derive(Debug)]
pub(super) struct Diagnostics {
    workspace: Workspace,
    models: Models,
    providers: Providers,
}

impl Diagnostics {
    pub(super) fn new(workspace: Workspace, models: Models, providers: Providers) -> Diagnostics {
        Diagnostics { workspace, models, providers }
    }
}

#[async_trait]
impl Handle<RunDoctor> for Diagnostics {
    async fn handle(&self, _: &Context, request: DoctorRequest) -> Result<Doctor> {
        let mut checks = vec![check("AutoKit", CheckState::Good, crate::VERSION, None)];
        if let Some(dir) = self.workspace.library.dir() {
            let store = dir.store();
            let detail = format!(
                "{}, {} on disk",
                dir.root().display(),
                autokit_text::format_bytes(size_of_tree(&store))
            );
            checks.push(check("Data directory", CheckState::Good, detail, None));
            if let Some(detail) = self.workspace.read_only_reason() {
                let remedy = "Free some space or make the directory writable. The next change tries again.";
                checks.push(check("Writing", CheckState::Warning, detail, Some(remedy)));
            }
            if request.verify {
                self.workspace.library.verify().await?;
            }
            checks.push(Box::pin(integrity(&self.workspace.library, dir.root(), request.verify)).await);
            checks.push(backups_check(dir.root()));
        }
        let (cards, undocumented) = self
            .workspace
            .library
            .read(|replica| (replica.len(), replica.iter().filter(|record| !record.documented).count()));
        let detail = format!("{cards} cards, schema {}", autokit_library::SCHEMA_VERSION);
        checks.push(if cards == 0 {
            let remedy = "Import a file in the Library, or find tools in Discover.";
            check("Library", CheckState::Warning, "empty", Some(remedy))
        } else {
            check("Library", CheckState::Good, detail, None)
        });
        if undocumented > 0 {
            let detail = format!("{undocumented} cards without a documentation link");
            let remedy = "Add documentation links in the Library.";
            checks.push(check("Documentation", CheckState::Warning, detail, Some(remedy)));
        }
        let model = self.models.wait_until_ready().await;
        checks.push(match (model.state, &model.error) {
            (ModelState::Ready | ModelState::Loading, _) => {
                check("Model", CheckState::Good, model.name, None)
            }
            (ModelState::Missing, _) => check(
                "Model",
                CheckState::Warning,
                match model.name.as_str() {
                    "none" => "none selected: keyword search only".to_owned(),
                    name => format!("{name} is not installed: keyword search only"),
                },
                Some("Download it in Settings, Embedding model, or choose a folder with its files."),
            ),
            (ModelState::Failed, error) => check(
                "Model",
                CheckState::Bad,
                error.as_ref().map_or_else(|| model.name.clone(), |error| error.message.clone()),
                Some(
                    error
                        .as_ref()
                        .map_or("Download it again in Settings, Embedding model.", |error| &error.remedy),
                ),
            ),
        });
        let index = self.models.searcher().index();
        if index.embedder().is_some() {
            let missing = without_vector(&index, &self.workspace.library).len();
            checks.push(if missing == 0 {
                check("Semantic search", CheckState::Good, format!("{cards} of {cards} cards"), None)
            } else {
                let detail = format!("{missing} of {cards} cards still to be prepared");
                check("Semantic search", CheckState::Warning, detail, Some("Wait for the job to finish."))
            });
        }
        let services = self.providers.services();
        checks.push(match services.llm_name() {
            Some(name) => check("Language model", CheckState::Good, name, None),
            None if services.settings.llm.kind.is_chosen() => {
                unavailable("Language model", services.missing.first())
            }
            None => check("Language model", CheckState::Good, "none: local rules only", None),
        });
        checks.push(match services.search_name() {
            Some(name) => check("Web search", CheckState::Good, name, None),
            None if services.settings.search.kind.is_chosen() => {
                unavailable("Web search", services.missing.last())
            }
            None => check("Web search", CheckState::Good, "none: library only", None),
        });
        let providers = self.providers.view().await;
        checks.push(match &providers.keys_error {
            Some(error) => check(
                "API keys",
                CheckState::Warning,
                format!("could not be read: {}", error.message),
                Some(&error.remedy),
            ),
            None => check("API keys", CheckState::Good, format!("in {}", providers.keys_in), None),
        });
        for error in &services.missing {
            // Reported above, with the provider it makes unavailable.
            if checks.iter().any(|check| check.detail.contains(&error.message)) {
                continue;
            }
            checks.push(check("Services", CheckState::Bad, error.message.as_str(), Some(&error.remedy)));
        }
        Ok(Doctor { checks, can_accept_losses: self.workspace.library.has_losses() })
    }
}

fn size_of_tree(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of_tree(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
