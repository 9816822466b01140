//! A program started here, and its last output.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// Environment variables every program needs; no others of this process are passed to a server.
const VARIABLES: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TZ",
    "SystemRoot",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "TEMP",
    "PATHEXT",
];

/// Most bytes of a program's last output that are kept.
const STDERR_TAIL: usize = 4 << 10;

/// How long to wait for a program that closed its output to end, and for the rest of its error output. Both
/// are quick, unless a child process holds the pipe open.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A program started here. It is killed on drop, on Unix with its whole process group.
pub(super) struct Program {
    pub(super) child: Child,
    stderr: StderrTail,
}

impl Program {
    pub(super) fn start(
        command: &str,
        args: &[String],
        env: &BTreeMap<String, String>,
        folder: Option<&Path>,
    ) -> Result<Program, String> {
        let mut program = Command::new(command);
        program
            .args(args)
            .env_clear()
            .envs(VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .envs(env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        program.process_group(0);
        if let Some(folder) = folder {
            program.current_dir(folder);
        } else if let Some(home) = std::env::home_dir().filter(|home| home.is_dir()) {
            program.current_dir(home);
        }
        let mut child = program.spawn().map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            if missing { format!("the program {command:?} was not found") } else { error.to_string() }
        })?;
        let tail = StderrTail::default();
        match child.stderr.take() {
            Some(stderr) => drop(tokio::spawn(tail.clone().read_to_end(stderr))),
            None => tail.ended.cancel(),
        }
        Ok(Program { child, stderr: tail })
    }

    /// Kills the program, on Unix with its process group, because servers are often started by another
    /// program (`npx`, `uvx`).
    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            // Fails if the program has just ended.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
    }

    /// Returns how the program ended, if it exits by itself within [`EXIT_TIMEOUT`].
    pub(super) async fn exit_description(&mut self) -> Option<String> {
        match tokio::time::timeout(EXIT_TIMEOUT, self.child.wait()).await {
            Ok(Ok(status)) => Some(describe_exit(status)),
            Ok(Err(_)) | Err(_) => None,
        }
    }

    /// Kills the program, if it is still running, and returns its last output.
    pub(super) async fn stderr_tail(&mut self) -> String {
        self.kill();
        let _ = tokio::time::timeout(EXIT_TIMEOUT, self.child.wait()).await;
        self.stderr.last_lines().await
    }

    /// Returns a handle to its error output.
    pub(super) fn stderr(&self) -> StderrTail {
        self.stderr.clone()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Describes how a program ended.
fn describe_exit(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it exited immediately with code {code}"),
        None => "it was killed immediately".to_owned(),
    }
}

/// The last part of a program's error output.
#[derive(Clone, Default)]
pub(super) struct StderrTail {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Cancelled at the end of the output.
    ended: CancellationToken,
}

impl StderrTail {
    /// Reads until the end, because the program would block once the pipe is full.
    async fn read_to_end(self, mut stderr: impl AsyncRead + Unpin) {
        let _ended = self.ended.clone().drop_guard();
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
            let Ok(mut bytes) = self.bytes.lock() else { return };
            bytes.extend_from_slice(&buffer[..read]);
            let excess = bytes.len().saturating_sub(STDERR_TAIL);
            bytes.drain(..excess);
        }
    }

    /// Returns the last lines of a program that ended.
    pub(super) async fn last_lines(&self) -> String {
        // If something holds the pipe open, returns what was read so far.
        let _ = tokio::time::timeout(EXIT_TIMEOUT, self.ended.cancelled()).await;
        format_tail(&self.bytes)
    }
}

fn format_tail(bytes: &Mutex<Vec<u8>>) -> String {
    let bytes = bytes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown: String = lines[lines.len().saturating_sub(3)..].join(" / ");
    shown.chars().filter(|c| !c.is_control()).take(400).collect()
}
