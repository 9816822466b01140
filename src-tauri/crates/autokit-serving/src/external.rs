//! Built-in tools that access the outside world: the web, files of an opened folder, and a sandbox (Elyra's
//! built-ins). Whether a call may do so is decided before it runs.

use std::path::{Component, Path, PathBuf};

use autokit_error::ApiError;
use autokit_gateway::Refusal;
use autokit_policy::{Need, Permission, Policy};
use autokit_sandbox::files::{EntryKind, FileError, Lines, ProjectRoot};
use autokit_web::extract;
use autokit_workspace::providers::Providers;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::code_runs::CodeRunner;
use crate::refusal::refused;

/// Default number of characters of a page.
pub(crate) const PAGE_CHARS: u64 = 20_000;
/// Most bytes of a file in one answer.
const FILE_BYTES: usize = 48 << 10;
/// Most entries of a folder that are listed.
const MAX_ENTRIES: usize = 500;
/// Results of a web search.
const DEFAULT_RESULTS: u64 = 8;

pub(crate) type ToolOutput = Result<String, Refusal>;

pub(crate) fn text<'a>(arguments: &'a Map<String, Value>, key: &str) -> &'a str {
    arguments.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn number(arguments: &Map<String, Value>, key: &str) -> Option<u64> {
    arguments.get(key).and_then(Value::as_u64)
}

/// Returns the permission needed to reach an address, with its host as rules name it.
pub(crate) fn host_need(address: &str) -> Option<Need> {
    Need::for_url(&Url::parse(address.trim()).ok()?)
}

/// Executes these tools. Clones share the runner of code.
#[derive(Clone, Debug)]
pub struct ExternalTools {
    providers: Providers,
    code: CodeRunner,
}

impl ExternalTools {
    /// Creates the executor; code is run by `code`.
    pub fn new(providers: Providers, code: CodeRunner) -> ExternalTools {
        ExternalTools { providers, code }
    }

    /// Returns what runs code.
    pub(crate) fn code(&self) -> &CodeRunner {
        &self.code
    }

    /// Returns the permission needed to reach the configured web search.
    fn search_need(&self) -> Option<Need> {
        let services = self.providers.services();
        let search = services.search.as_ref()?;
        let address = services.settings.search.base.trim();
        if address.is_empty() { host_need(search.service().default_base_url()?) } else { host_need(address) }
    }

    /// Returns the permissions needed by one of the tools that every session has.
    pub(crate) fn own_needs(&self, tool: &str) -> Vec<Need> {
        if tool == "discover" { self.web_needs() } else { Vec::new() }
    }

    /// Returns the permissions needed to search the web and to read what is found.
    fn web_needs(&self) -> Vec<Need> {
        let pages = Need::Host { host: "any page a search finds".to_owned() };
        self.search_need().into_iter().chain([pages]).collect()
    }

    /// Returns the permissions needed to research on the web; none where only what is on this machine may be searched. Any
    /// page may turn out to be worth reading, so no host may have a stricter rule than is asked about.
    pub(crate) fn research_needs(&self, policy: &Policy) -> Vec<Need> {
        let needs = self.web_needs();
        let asked = needs.iter().map(|need| policy.permission_for(need)).max();
        let is_covered =
            asked.is_some_and(|asked| asked != Permission::Deny && policy.strictest_host() <= asked);
        if is_covered { needs } else { Vec::new() }
    }

    /// Returns the permissions a call of one of these tools needs.
    pub(crate) fn needs(&self, policy: &Policy, tool: &str, arguments: &Map<String, Value>) -> Vec<Need> {
        match tool {
            "web_search" => self.search_need().into_iter().collect(),
            "research" => self.research_needs(policy),
            "browse_page" => host_need(text(arguments, "url")).into_iter().collect(),
            "add_document" => {
                let location = text(arguments, "location");
                if let Some(need) = host_need(location) {
                    return vec![need];
                }
                match resolve_path(policy, "", location) {
                    Ok(path) => vec![Need::Files { folder: path.resolved().display().to_string() }],
                    // The call itself will be refused with an explanation.
                    Err(_) => Vec::new(),
                }
            }
            "code_exec" => vec![Need::Code { language: text(arguments, "language").to_owned() }],
            "read_project_file" => {
                match resolve_path(policy, text(arguments, "folder"), text(arguments, "path")) {
                    Ok(path) => vec![Need::Files { folder: path.resolved().display().to_string() }],
                    // The call itself will be refused with an explanation.
                    Err(_) => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Calls one of these tools. The call must be permitted.
    pub(crate) async fn call(
        &self,
        policy: &Policy,
        tool: &str,
        arguments: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> ToolOutput {
        let work = async {
            match tool {
                "web_search" => {
                    self.search(
                        text(arguments, "query"),
                        number(arguments, "limit").unwrap_or(DEFAULT_RESULTS),
                    )
                    .await
                }
                "browse_page" => {
                    self.browse(
                        policy,
                        text(arguments, "url"),
                        number(arguments, "max_chars").unwrap_or(PAGE_CHARS),
                    )
                    .await
                }
                "read_project_file" => read(policy.clone(), arguments.clone()).await,
                _ => self.code.run(arguments, cancel).await,
            }
        };
        tokio::select! {
            output = work => output,
            () = cancel.cancelled() => Err(Refusal::Cancelled),
        }
    }

    async fn search(&self, query: &str, limit: u64) -> ToolOutput {
        let Some(search) = self.providers.services().search.clone() else {
            return Err(Refusal::Rejected(
            "No search service is configured. The user can choose one in Settings, Web search; DuckDuckGo needs no API key."
                .to_owned(),
        ));
        };
        let found = search.search(query, limit as usize).await.map_err(web)?;
        let rows: Vec<Value> = found
            .iter()
            .map(|hit| json!({"title": hit.title, "url": hit.url, "snippet": hit.snippet}))
            .collect();
        Ok(json!({"by": search.service().title(), "results": rows}).to_string())
    }

    async fn browse(&self, policy: &Policy, url: &str, most: u64) -> ToolOutput {
        // Only the first host was approved. A redirect to another host is followed only if the rules allow
        // that host without asking.
        let first = host_need(url);
        let open = |url: &Url| {
            let need = Need::for_url(url);
            need == first || need.is_some_and(|need| policy.permission_for(&need) == Permission::Allow)
        };
        let fetched = self.providers.services().fetcher.get_if(url, &open).await.map_err(web)?;
        let page = extract(&fetched.text, fetched.content_type.as_deref(), &fetched.url);
        let text = page.text();
        let all = text.chars().count() as u64;
        let shown: String = text.chars().take(most as usize).collect();
        let mut answer =
            json!({"url": fetched.url, "status": fetched.status, "title": page.title, "text": shown});
        if all > most {
            answer["note"] = format!("Truncated: showing {most} of {all} characters.").into();
        }
        let text = answer.to_string();
        if fetched.is_success() {
            Ok(text)
        } else {
            Err(Refusal::Rejected(format!("the page returned status {}", fetched.status)))
        }
    }
}

fn web(error: autokit_web::Error) -> Refusal {
    if error.is_temporary() { Refusal::Failed(error.to_string()) } else { refused(&ApiError::from(error)) }
}

/// A path below a folder that is opened to agents.
#[derive(Debug, PartialEq, Eq)]
struct Project {
    root: PathBuf,
    /// Relative to `root`; empty for the folder itself.
    path: String,
}

impl Project {
    /// Returns the named location for the rules, resolving `..` but not symlinks: those are resolved by the
    /// file access itself and cannot lead out of the root.
    fn resolved(&self) -> PathBuf {
        let mut resolved = self.root.clone();
        for part in Path::new(&self.path).components() {
            match part {
                Component::Normal(part) => resolved.push(part),
                Component::ParentDir if resolved != self.root => {
                    resolved.pop();
                }
                _ => {}
            }
        }
        resolved
    }
}

/// Resolves a path to the opened folder that contains it.
fn resolve_path(policy: &Policy, folder: &str, path: &str) -> Result<Project, String> {
    let roots = policy.folders();
    let named = if folder.is_empty() { path } else { folder };
    if Path::new(named).is_absolute() {
        let below = roots.iter().filter(|root| Path::new(named).starts_with(root));
        let root = below.max_by_key(|root| Path::new(root).components().count());
        let Some(root) = root else { return Err(format!("{named} is not in a folder you can read")) };
        let start = Path::new(named).strip_prefix(root).unwrap_or(Path::new(""));
        let path = if folder.is_empty() { start.to_owned() } else { start.join(path) };
        let path = path.to_str().ok_or("the path is not valid UTF-8")?.to_owned();
        return Ok(Project { root: PathBuf::from(root), path });
    }
    match (roots.as_slice(), folder.is_empty()) {
        ([], _) => Err("no folder is open to you; the user can allow it in Settings, Permissions".to_owned()),
        ([root], true) => Ok(Project { root: PathBuf::from(root), path: path.to_owned() }),
        (all, _) => Err(format!("set `folder` to the full path of one of these: {}", all.join(", "))),
    }
}

/// Returns the address or the whole path of a document that an agent may add, without symlinks.
///
/// # Errors
/// When it is in no folder that the agent may read as a whole, or is not there.
pub(crate) fn document_location(policy: &Policy, location: &str) -> Result<String, String> {
    if host_need(location).is_some() {
        return Ok(location.trim().to_owned());
    }
    let project = resolve_path(policy, "", location)?;
    let real = |path: &Path| path.canonicalize().map_err(|error| format!("{location}: {error}"));
    let (root, path) = (real(&project.root)?, real(&project.resolved())?);
    if !path.starts_with(&root) {
        return Err(format!("{location} leads out of the folder you can read"));
    }
    if path.is_dir() && policy.divides(&path) {
        return Err(format!("not all of {location} is open to you; add its files one by one"));
    }
    Ok(path.to_string_lossy().into_owned())
}

async fn read(policy: Policy, arguments: Map<String, Value>) -> ToolOutput {
    let project = resolve_path(&policy, text(&arguments, "folder"), text(&arguments, "path"))
        .map_err(Refusal::Rejected)?;
    let lines = Lines {
        from: number(&arguments, "from_line").unwrap_or(1),
        lines: number(&arguments, "lines").unwrap_or(u64::MAX),
    };
    // If so, a symlink could lead into a part of the folder with stricter rules.
    let mixed = policy.divides(&project.root);
    let reading = tokio::task::spawn_blocking(move || read_at(&project, lines, mixed));
    let read = reading.await.map_err(|error| Refusal::Failed(error.to_string()))?;
    read.map_err(|error| Refusal::Rejected(format!("{error}. {}", error.remedy())))
}

fn read_at(project: &Project, lines: Lines, mixed: bool) -> Result<String, FileError> {
    let root = ProjectRoot::open(&project.root)?;
    let root = if mixed { root.without_links() } else { root };
    if project.path.is_empty() {
        return listing(&root, "");
    }
    match root.read_lines(&project.path, lines, FILE_BYTES) {
        Ok(read) => {
            let mut answer = json!({
                "path": project.path, "from_line": read.from, "lines": read.lines, "bytes": read.total_bytes,
                "text": read.text,
            });
            if read.more {
                let next = read.from + read.lines;
                answer["note"] = format!("The file continues at line {next}.").into();
            }
            Ok(answer.to_string())
        }
        Err(FileError::NotAFile { .. }) => listing(&root, &project.path),
        Err(error) => Err(error),
    }
}

fn listing(root: &ProjectRoot, path: &str) -> Result<String, FileError> {
    let listing = root.list(path, MAX_ENTRIES)?;
    let sort = |kind| match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "folder",
        EntryKind::Symlink => "link",
        EntryKind::Other => "other",
    };
    let entries: Vec<Value> =
        listing.entries.iter().map(|entry| json!({"name": entry.name, "is": sort(entry.kind)})).collect();
    let mut answer = json!({"folder": path, "entries": entries});
    if listing.omitted > 0 || listing.more {
        answer["note"] = format!("Entries not shown: {}.", listing.omitted).into();
    }
    Ok(answer.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autokit_policy::Permissions;

    use super::*;

    fn opened(folders: &[(&str, Permission)]) -> Policy {
        let mut permissions = Permissions::default();
        for (folder, permission) in folders {
            permissions.files.set(folder, *permission);
        }
        Policy::everybody(Arc::new(permissions))
    }

    #[test]
    fn a_path_belongs_to_the_innermost_open_folder() {
        let open = opened(&[
            ("/srv", Permission::Allow),
            ("/srv/app", Permission::Ask),
            ("/srv/keys", Permission::Deny),
        ]);
        let at = |folder: &str, path: &str| {
            resolve_path(&open, folder, path).map(|project| (project.root, project.path))
        };
        let found = |root: &str, path: &str| Ok((PathBuf::from(root), path.to_owned()));
        assert_eq!(at("", "/srv/app/a.rs"), found("/srv/app", "a.rs"));
        assert_eq!(at("/srv", "app/a.rs"), found("/srv", "app/a.rs"));
        assert_eq!(at("", "/srv/keys/k"), found("/srv", "keys/k"));
        assert!(at("", "a.rs").is_err_and(|message| message.contains("/srv, /srv/app")));
        assert!(at("", "/etc/passwd").is_err_and(|message| message.contains("is not in a folder")));
        assert!(
            resolve_path(&opened(&[]), "", "a")
                .is_err_and(|message| message.contains("the user can allow it"))
        );
    }

    #[test]
    fn rules_apply_to_the_resolved_path() {
        let open = opened(&[("/srv", Permission::Allow), ("/srv/keys", Permission::Deny)]);
        let permission = |path: &str| {
            let folder = resolve_path(&open, "/srv", path).expect("a path").resolved().display().to_string();
            open.permission_for(&Need::Files { folder })
        };
        for path in ["keys/k", "./keys/k", "app/../keys/k", "keys"] {
            assert_eq!(permission(path), Permission::Deny, "{path}");
        }
        for path in ["app/a.rs", "keys.txt", "", "app/keys/k"] {
            assert_eq!(permission(path), Permission::Allow, "{path}");
        }
    }
}
