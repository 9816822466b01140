//! From code to cards: the documented public functions and the commands of a repository, proposed as cards (AutoAgent §3,
//! memory of code).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListCodeTools, ProposeCodeTools};
use autokit_api::{CodeTool, CodeTools, CodeToolsPropose, CodeToolsQuery, JobKind, JobRef};
use autokit_code::{Language, Package, import_of, is_offered, package_of, read_file, source_files};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::review::Proposals;
use autokit_toolcard::{
    Author, CardKey, Draft, Evidence, Kind, Origin, ProposalState, ProposedField, Timestamp, fields,
};
use autokit_workspace::background::in_background;
use autokit_workspace::cards::{first_sentence, shorten};
use autokit_workspace::jobs::Outcome;
use autokit_workspace::workspace::Workspace;
use serde_json::{Value, json};

/// Tools of one request when no number is given, and most of them.
const LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 1_000;
/// Most characters of a description.
const DESCRIPTION: usize = 800;
/// Fewest words of a comment that says what a function does.
const MIN_WORDS: usize = 3;
/// Probability that a function is imported from the module its file suggests.
const IMPORTED: f32 = 0.7;
/// Probability that a comment in the code says what the function does.
const DOCUMENTED: f32 = 0.9;

/// Proposes cards for what repositories offer. Clones share state.
#[derive(Clone, Debug)]
pub struct CodeCards {
    workspace: Workspace,
    proposals: Proposals,
}

/// A function or a command, with what its card says.
#[derive(Clone, Debug)]
struct Offered {
    key: CardKey,
    kind: Kind,
    language: Language,
    module: String,
    usage: String,
    description: String,
    /// Where that is said.
    place: String,
}

fn language_name(language: Language) -> &'static str {
    match language {
        Language::Rust => "rust",
        Language::Python => "python",
        Language::TypeScript => "typescript",
        Language::JavaScript => "javascript",
        Language::Go => "go",
        Language::Java => "java",
        Language::C => "c",
        Language::Cpp => "cpp",
    }
}

/// Reads what the repository in a folder offers: commands first, then functions in the order of files and lines.
fn offered(root: &Path) -> Result<Vec<Offered>> {
    let mut found = Vec::new();
    let mut commands: Vec<Offered> = Vec::new();
    let mut packages: BTreeMap<(Language, String), Option<Package>> = BTreeMap::new();
    let mut with_commands: BTreeSet<String> = BTreeSet::new();
    for path in source_files(root)? {
        // Why a file is passed over is told where it is indexed.
        let Ok(file) = read_file(root, &path) else { continue };
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let package = packages
            .entry((file.language, folder))
            .or_insert_with(|| package_of(root, file.language, &file.path));
        let Some(package) = package else { continue };
        if with_commands.insert(package.manifest.clone()) {
            for command in &package.commands {
                commands.push(Offered {
                    key: CardKey::new(&package.name, command),
                    kind: Kind::Cli,
                    language: file.language,
                    module: String::new(),
                    usage: command.clone(),
                    description: package.description.clone(),
                    place: package.manifest.clone(),
                });
            }
        }
        for symbol in file.symbols.iter().filter(|symbol| is_offered(file.language, &file.path, symbol)) {
            if symbol.documentation.split_whitespace().count() < MIN_WORDS {
                continue;
            }
            let import = import_of(file.language, package, &file.path, symbol);
            found.push(Offered {
                key: CardKey::new(&package.name, &symbol.path()),
                kind: Kind::Other,
                language: file.language,
                module: import.module,
                usage: format!("{}\n{}", import.code, symbol.signature),
                description: shorten(&symbol.documentation, DESCRIPTION),
                place: format!("{}:{}", file.path, symbol.lines.0),
            });
        }
    }
    // A command whose package says nothing about itself would be a name only.
    commands.retain(|command| !command.description.is_empty());
    commands.extend(found);
    Ok(with_own_names(commands))
}

/// Names functions of the same name by their modules as well, and leaves out what is then still the same: a function may be
/// defined once for each platform.
fn with_own_names(mut tools: Vec<Offered>) -> Vec<Offered> {
    let identity = |tool: &Offered| (tool.key.provider.clone(), tool.key.name.clone());
    let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
    for tool in &tools {
        *times.entry(identity(tool)).or_default() += 1;
    }
    for tool in &mut tools {
        if times[&identity(tool)] > 1 && !tool.module.is_empty() {
            let last = tool.module.rsplit([':', '.', '/']).next().unwrap_or(&tool.module);
            tool.key = CardKey::new(&tool.key.provider, &format!("{last}.{}", tool.key.name));
        }
    }
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    tools.retain(|tool| seen.insert(identity(tool)));
    tools
}

fn description_of(draft: &Draft) -> Option<Value> {
    draft.fields.iter().find(|field| field.field == fields::DESCRIPTION)?.value.clone()
}

impl Offered {
    fn draft(&self, now: Timestamp) -> Draft {
        let evidence = || vec![Evidence::new(self.place.clone(), self.description.clone(), now)];
        let field = |field: &str, value: Value| ProposedField {
            field: field.to_owned(),
            value: Some(value),
            evidence: evidence(),
            confidence: if [fields::MODULE, fields::USAGE].contains(&field) { IMPORTED } else { DOCUMENTED },
        };
        let mut proposed = vec![
            field(fields::NAME, self.key.name.clone().into()),
            field(fields::PROVIDER, self.key.provider.clone().into()),
            field(fields::KIND, self.kind.as_str().into()),
            field(fields::DESCRIPTION, self.description.clone().into()),
            field(fields::LANGUAGE, language_name(self.language).into()),
        ];
        if !self.module.is_empty() {
            proposed.push(field(fields::MODULE, self.module.clone().into()));
        }
        proposed.push(field(fields::USAGE, self.usage.clone().into()));
        proposed.push(field(fields::SOURCES, json!([self.place])));
        Draft::new(Origin::Code, format!("Offered by {}.", self.key.provider), proposed)
    }
}

impl CodeCards {
    /// Proposes cards of this library.
    pub fn new(workspace: Workspace, proposals: Proposals) -> CodeCards {
        CodeCards { workspace, proposals }
    }

    /// Returns what a folder offers that the library does not have, that does not wait in Review and that was not rejected
    /// with this description.
    async fn missing(&self, folder: &str) -> Result<Vec<Offered>> {
        let root = PathBuf::from(folder.trim());
        if !root.is_absolute() {
            let message = format!("{folder} is not an absolute path");
            return Err(ApiError::new(ErrorCode::BadRequest, message, "Give the folder of a repository."));
        }
        let all = in_background(move || offered(&root)).await?;
        let library = &self.workspace.library;
        let pending: Vec<CardKey> =
            library.pending().await?.iter().filter_map(|proposal| proposal.draft.key()).collect();
        let rejected: Vec<(CardKey, Option<Value>)> = library
            .proposals(Some(ProposalState::Rejected))
            .await?
            .into_iter()
            .filter(|proposal| proposal.draft.origin == Origin::Code)
            .filter_map(|proposal| Some((proposal.draft.key()?, description_of(&proposal.draft))))
            .collect();
        let was_rejected = |tool: &Offered| {
            let description = Some(Value::from(tool.description.as_str()));
            rejected.iter().any(|(key, rejected)| *key == tool.key && *rejected == description)
        };
        let is_new = |tool: &Offered| {
            !pending.contains(&tool.key)
                && library.read(|replica| replica.by_key(&tool.key).is_none())
                && !was_rejected(tool)
        };
        Ok(all.into_iter().filter(is_new).collect())
    }
}

#[async_trait]
impl Handle<ListCodeTools> for CodeCards {
    async fn handle(&self, _: &Context, request: CodeToolsQuery) -> Result<CodeTools> {
        let missing = self.missing(&request.folder).await?;
        let limit = request.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT) as usize;
        let shown = missing.iter().take(limit).map(|tool| CodeTool {
            id: tool.key.id(),
            name: tool.key.name.clone(),
            package: tool.key.provider.clone(),
            place: tool.place.clone(),
            line: first_sentence(&tool.description),
        });
        Ok(CodeTools { total: missing.len() as u32, tools: shown.collect() })
    }
}

#[async_trait]
impl Handle<ProposeCodeTools> for CodeCards {
    async fn handle(&self, _: &Context, request: CodeToolsPropose) -> Result<JobRef> {
        self.workspace.library.ensure_writable()?;
        let missing = self.missing(&request.folder).await?;
        let chosen: Vec<Offered> = if request.tools.is_empty() {
            let limit = request.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT) as usize;
            missing.into_iter().take(limit).collect()
        } else {
            missing.into_iter().filter(|tool| request.tools.contains(&tool.key.id())).collect()
        };
        if chosen.is_empty() {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                "this repository offers no documented public function or command that the library lacks and nobody rejected",
                "Packages are known by Cargo.toml, pyproject.toml, package.json, go.mod and pom.xml.",
            ));
        }
        let proposals = self.proposals.clone();
        let now = self.workspace.clock.stamp();
        let title = format!("Proposing tools of {}", request.folder.trim());
        Ok(self.workspace.jobs.start(JobKind::Memory, &title, "tools", |progress| async move {
            let total = chosen.len() as u64;
            let mut waiting = 0_u64;
            for (at, tool) in chosen.iter().enumerate() {
                progress.check_cancelled()?;
                progress.set_done(at as u64, total);
                let proposed = proposals.propose(tool.draft(now), &Author::autokit(), None).await?;
                waiting += u64::from(proposed.proposal.state == ProposalState::Pending);
            }
            progress.set_done(total, total);
            let tools =
                if waiting == 1 { "1 tool waits".to_owned() } else { format!("{waiting} tools wait") };
            let rejected = match total - waiting {
                0 => String::new(),
                before => format!(", {before} rejected before"),
            };
            Ok(Outcome { summary: format!("{tools} in Review{rejected}"), tally: None })
        }))
    }
}
