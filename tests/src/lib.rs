//! What the tests across crates share: the built command, made-up cards, places to work in.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_app::secrets::KeyStorage;
use autokit_library::{Clock, DataDir, Ownership};
use serde_json::{Value, json};

pub mod agent;
pub mod appendix;
pub mod bundle;
pub mod calendar;
pub mod commands;
pub mod crash;
pub mod disk;
pub mod growth;
pub mod log;
pub mod mcp;
pub mod model;
pub mod review;
pub mod site;
pub mod sockets;
pub mod tools;
pub mod web;
pub mod window;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// A program of this workspace, built into the folder that `AUTOKIT_PROGRAMS` names, or into the same target directory as
/// the running test.
///
/// # Errors
/// When it was not built: `cargo build --workspace` comes first, as in `cargo xtask test`.
pub fn program(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let named = std::env::var_os("AUTOKIT_PROGRAMS").map(PathBuf::from);
    // target/debug/deps/TEST or target/debug/examples/NAME
    let own = test.ancestors().nth(2).context("a test lies two folders below the target directory")?;
    let folder = named.as_deref().unwrap_or(own);
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        bail!("{} is not built; run `cargo build --workspace` first", program.display());
    }
    Ok(program)
}

/// A library in a folder of its own, used through the command.
#[derive(Debug)]
pub struct Workplace {
    folder: tempfile::TempDir,
    options: Vec<String>,
}

impl Workplace {
    /// Searches by the deterministic stand-in, so that no model is needed.
    ///
    /// # Errors
    /// When no folder can be made.
    pub fn with_stand_in() -> Result<Workplace> {
        Ok(Workplace { folder: tempfile::tempdir()?, options: vec!["--stand-in".into(), "64".into()] })
    }

    /// As [`Workplace::with_stand_in`], with vectors of as many numbers as the real model's.
    ///
    /// # Errors
    /// When no folder can be made.
    pub fn with_wide_stand_in() -> Result<Workplace> {
        Ok(Workplace { folder: tempfile::tempdir()?, options: vec!["--stand-in".into(), "384".into()] })
    }

    /// As [`Workplace::with_stand_in`], with vectors of `width` numbers.
    ///
    /// # Errors
    /// When no folder can be made.
    pub fn with_stand_in_of(width: usize) -> Result<Workplace> {
        Ok(Workplace { folder: tempfile::tempdir()?, options: vec!["--stand-in".into(), width.to_string()] })
    }

    /// As [`Workplace::with_stand_in`], on this disk.
    ///
    /// # Errors
    /// When no folder can be made there.
    pub fn on_disk(disk: &Path) -> Result<Workplace> {
        let folder = tempfile::tempdir_in(disk)?;
        Ok(Workplace { folder, options: vec!["--stand-in".into(), "64".into()] })
    }

    /// Uses the model in the person's store, as `cargo xtask test` has put it there.
    ///
    /// # Errors
    /// When no folder can be made.
    pub fn with_model() -> Result<Workplace> {
        Ok(Workplace { folder: tempfile::tempdir()?, options: Vec::new() })
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.path("library")
    }

    /// How much the store logged and has not yet written into tables, in KiB. It holds as much in memory, and a
    /// little more.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub fn log_kib(&self) -> Result<u64> {
        let mut bytes = 0;
        for file in std::fs::read_dir(self.data_dir().join("store/wal"))? {
            bytes += file?.metadata()?.len();
        }
        Ok(bytes >> 10)
    }

    /// The folder of keys.
    pub fn config_dir(&self) -> PathBuf {
        self.path("config")
    }

    /// The command with this library's options.
    ///
    /// # Errors
    /// When the command was not built.
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, arguments: &[S]) -> Result<Command> {
        let mut command = Command::new(program("autokit")?);
        command.arg("--data-dir").arg(self.data_dir()).args(&self.options).args(arguments);
        command.env("AUTOKIT_AUTHOR", "tester").env_remove("AUTOKIT_DATA_DIR").stdin(Stdio::null());
        // A test neither reads nor writes the person's keys.
        command.env("AUTOKIT_CONFIG_DIR", self.config_dir());
        Ok(command)
    }

    /// Runs the command to its end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command(arguments)?.output()?)
    }

    /// Runs the command, which has to succeed, and reads its JSON.
    ///
    /// # Errors
    /// When it fails or prints no JSON.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.command(arguments)?.arg("--json").output()?;
        if !output.status.success() {
            bail!("{arguments:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{arguments:?} printed {}", String::from_utf8_lossy(&output.stdout)))
    }

    /// As [`Workplace::json`], for a command that asks for these secrets.
    ///
    /// # Errors
    /// When it fails or prints no JSON.
    pub fn json_with_secrets(&self, arguments: &[&str], secrets: &[&str]) -> Result<Value> {
        let mut command = self.command(arguments)?;
        command.arg("--json").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut input = child.stdin.take().context("a pipe")?;
        std::io::Write::write_all(&mut input, format!("{}\n", secrets.join("\n")).as_bytes())?;
        drop(input);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("{arguments:?} said {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Runs the command, which has to fail, and gives its exit code and error.
    ///
    /// # Errors
    /// When it succeeds or prints no JSON error.
    pub fn failure(&self, arguments: &[&str]) -> Result<(i32, Value)> {
        let output = self.command(arguments)?.arg("--json").output()?;
        if output.status.success() {
            bail!("{arguments:?} succeeded: {}", String::from_utf8_lossy(&output.stdout));
        }
        let error = serde_json::from_slice(&output.stderr)
            .with_context(|| format!("{arguments:?} said {}", String::from_utf8_lossy(&output.stderr)))?;
        Ok((output.status.code().unwrap_or(-1), error))
    }

    /// Joins the processes that share the library, with the stand-in's vectors of `dim` numbers.
    ///
    /// # Errors
    /// When the library does not open.
    pub async fn node(&self, dim: usize) -> Result<Node> {
        self.node_with(Vectors::StandIn(dim), KeyStorage::Memory).await
    }

    /// Owns the library, as soon as nobody else does.
    ///
    /// # Errors
    /// As [`wait_to_own`].
    pub async fn own(&self) -> Result<Ownership> {
        wait_to_own(&self.data_dir()).await
    }

    /// As [`Workplace::node`], with other vectors and another place for keys.
    ///
    /// # Errors
    /// When the library does not open.
    pub async fn node_with(&self, vectors: Vectors, key_storage: KeyStorage) -> Result<Node> {
        let config_dir = self.config_dir();
        let engine =
            EngineOptions { vectors, key_storage: Some(key_storage), config_dir, ..EngineOptions::new() };
        let (data_dir, author) = (self.data_dir(), "tester".to_owned());
        Ok(Node::open(NodeOptions { data_dir, engine, purpose: Purpose::Command, author }).await?)
    }

    /// As [`Workplace::node`], for another person and by another clock.
    ///
    /// # Errors
    /// When the library does not open.
    pub async fn node_of(&self, dim: usize, author: &str, clock: Clock) -> Result<Node> {
        let engine = EngineOptions {
            vectors: Vectors::StandIn(dim),
            key_storage: Some(KeyStorage::Memory),
            config_dir: self.config_dir(),
            clock,
            ..EngineOptions::new()
        };
        let (data_dir, author) = (self.data_dir(), author.to_owned());
        Ok(Node::open(NodeOptions { data_dir, engine, purpose: Purpose::Command, author }).await?)
    }

    /// Writes a file of cards.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn cards_file(&self, name: &str, cards: &[Value]) -> Result<PathBuf> {
        let path = self.path(name);
        std::fs::write(&path, serde_json::to_vec(cards)?)?;
        Ok(path)
    }

    /// Starts a process that holds the library open, and waits until it serves.
    ///
    /// # Errors
    /// When it ends instead.
    pub fn serve(&self) -> Result<Serving> {
        self.serve_with(&[])
    }

    /// As [`Workplace::serve`], with variables of the environment.
    ///
    /// # Errors
    /// When it ends instead.
    pub fn serve_with(&self, variables: &[(&str, &str)]) -> Result<Serving> {
        self.spawn_server(variables, Stdio::inherit())
    }

    /// As [`Workplace::serve_with`], with what it logs in a file.
    ///
    /// # Errors
    /// When it ends instead.
    pub fn serve_logging(&self, variables: &[(&str, &str)], log: &Path) -> Result<Serving> {
        self.spawn_server(variables, std::fs::File::create(log)?.into())
    }

    fn spawn_server(&self, variables: &[(&str, &str)], errors: Stdio) -> Result<Serving> {
        let mut command = self.command(&["serve", "--json"])?;
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn()?;
        let mut out = std::io::BufReader::new(child.stdout.take().context("a pipe")?);
        let mut text = String::new();
        // One JSON object over several lines, then silence.
        while !text.trim_end().ends_with('}') {
            let mut line = String::new();
            if std::io::BufRead::read_line(&mut out, &mut line)? == 0 {
                bail!("`autokit serve` ended: {}", child.wait()?);
            }
            text.push_str(&line);
        }
        Ok(Serving { child, _out: out })
    }
}

/// A process that holds a library open; killed when dropped.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    // Closing the pipe would end the process at its next line.
    _out: std::io::BufReader<std::process::ChildStdout>,
}

impl Serving {
    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Resident memory, in KiB.
    ///
    /// # Errors
    /// When the system does not tell.
    #[cfg(target_os = "linux")]
    pub fn resident_kib(&self) -> Result<u64> {
        self.status_kib("VmRSS:")
    }

    /// The most memory it ever had resident, in KiB.
    ///
    /// # Errors
    /// When the system does not tell.
    #[cfg(target_os = "linux")]
    pub fn peak_kib(&self) -> Result<u64> {
        self.status_kib("VmHWM:")
    }

    #[cfg(target_os = "linux")]
    fn status_kib(&self, what: &str) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(what)).context("not told")?;
        Ok(line.trim().trim_end_matches("kB").trim_end().parse()?)
    }

    /// Ends it as a power cut would: no handler runs.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Whether it was killed; one that was not is asked to end.
    ///
    /// # Errors
    /// When it cannot be waited for.
    #[cfg(unix)]
    pub fn was_killed(mut self) -> Result<bool> {
        use std::os::unix::process::ExitStatusExt;
        let pid = libc::pid_t::try_from(self.pid())?;
        // SAFETY: the child has not been waited for, so the id is still its own.
        unsafe { libc::kill(pid, libc::SIGTERM) };
        Ok(self.child.wait()?.signal() == Some(libc::SIGKILL))
    }

    /// Asks it to end and waits until it has.
    ///
    /// # Errors
    /// When it ends with a failure.
    pub fn stop(mut self) -> Result<()> {
        let pid = libc::pid_t::try_from(self.pid())?;
        // SAFETY: the child has not been waited for, so the id is still its own.
        unsafe { libc::kill(pid, libc::SIGTERM) };
        let status = self.child.wait()?;
        if !status.success() {
            bail!("`autokit serve` ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a test that opens libraries in its own process, as the programs do: the database's query executor
/// nests deeper than the stacks of tests.
///
/// # Errors
/// The test's own.
pub fn on_deep_stack<F: Future<Output = Result<()>>>(
    test: impl FnOnce() -> F + Send + 'static,
) -> Result<()> {
    const STACK: usize = 32 << 20;
    let run = move || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.enable_all().thread_stack_size(STACK).build()?.block_on(test())
    };
    match std::thread::Builder::new().stack_size(STACK).spawn(run)?.join() {
        Ok(outcome) => outcome,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Owns the library in a folder, as soon as nobody else does. A library that was closed may still be locked for
/// a moment: a process that another test is starting has a copy of each open file until it runs its program.
///
/// # Errors
/// When the folder cannot be written.
pub async fn wait_to_own(folder: &Path) -> Result<Ownership> {
    let dir = DataDir::new(folder);
    Ok(tokio::task::spawn_blocking(move || dir.wait_to_own()).await??)
}

/// Copies a folder with everything in it.
///
/// # Errors
/// When something cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Words cards are made of.
const ACTIONS: [&str; 16] = [
    "search",
    "create",
    "delete",
    "list",
    "update",
    "export",
    "translate",
    "summarise",
    "schedule",
    "convert",
    "monitor",
    "upload",
    "compress",
    "validate",
    "render",
    "archive",
];
const THINGS: [&str; 20] = [
    "invoices",
    "calendars",
    "photos",
    "tickets",
    "playlists",
    "databases",
    "contracts",
    "maps",
    "forecasts",
    "articles",
    "contacts",
    "containers",
    "sensors",
    "backups",
    "emails",
    "videos",
    "recipes",
    "orders",
    "logs",
    "translations",
];

/// Made-up cards, the same for the same number, all different.
pub fn made_up_cards(count: usize) -> Vec<Value> {
    (0..count)
        .map(|index| {
            let (action, thing) = (ACTIONS[index % ACTIONS.len()], THINGS[(index / 7) % THINGS.len()]);
            json!({
                "name": format!("{action} {thing} {index}"),
                "provider": format!("vendor-{}", index % 97),
                "description": format!(
                    "Lets a program {action} {thing} of account {index} with filters, paging and dry runs."
                ),
                "programming_language": "python",
                "module": format!("vendor_{}.{thing}", index % 97),
                "class": format!("Tool{index}"),
                "init_args": { "api_key": "${KEY}", "number": index },
                "openapi": null,
                "pricing": "Free",
                "documentation": format!("https://docs.example.org/{thing}/{index}"),
                "verified": index % 3 == 0,
            })
        })
        .collect()
}

/// A deterministic generator for choosing crash points and the like (SplitMix64).
#[derive(Debug)]
pub struct SeededRng(u64);

impl SeededRng {
    /// Starts from a seed.
    pub fn new(seed: u64) -> SeededRng {
        SeededRng(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }
}

/// Whether a folder can be used by everybody, for tests that drop rights.
pub fn open_to_all(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}
