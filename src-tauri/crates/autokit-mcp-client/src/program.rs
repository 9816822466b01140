//! A program that was started here, and what it said before it ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// Variables every program needs to find its way; nothing else of this process reaches a server.
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

/// Bytes of a program's last words that are kept.
const LAST_WORDS: usize = 4 << 10;

/// How long a program is waited for that closed its output, and for the end of what it says: both are there
/// within moments, unless something it left behind holds the line open.
const MOMENT: Duration = Duration::from_secs(2);

/// A program that was started here. It goes with everything it started itself.
pub(super) struct Program {
    pub(super) child: Child,
    words: Words,
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
            if missing { format!("there is no program {command:?} here") } else { error.to_string() }
        })?;
        let words = Words::default();
        match child.stderr.take() {
            Some(stderr) => drop(tokio::spawn(words.clone().listen(stderr))),
            None => words.all.cancel(),
        }
        Ok(Program { child, words })
    }

    /// Ends the whole group of processes: servers are often started by another program (`npx`, `uvx`).
    fn end(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id as i32)) {
            // It may have ended just now.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
    }

    /// How the program ended, if it does so by itself.
    pub(super) async fn has_ended(&mut self) -> Option<String> {
        match tokio::time::timeout(MOMENT, self.child.wait()).await {
            Ok(Ok(status)) => Some(how(status)),
            Ok(Err(_)) | Err(_) => None,
        }
    }

    /// What it said before it ended, which it does now at the latest.
    pub(super) async fn last_words(&mut self) -> String {
        self.end();
        let _ = tokio::time::timeout(MOMENT, self.child.wait()).await;
        self.words.last().await
    }

    /// What it says.
    pub(super) fn words(&self) -> Words {
        self.words.clone()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// How a program ended.
fn how(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it ended at once, with exit code {code}"),
        None => "it was ended from outside at once".to_owned(),
    }
}

/// The last of what a program says.
#[derive(Clone, Default)]
pub(super) struct Words {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Cancelled once nothing can follow.
    all: CancellationToken,
}

impl Words {
    /// Reads to the end, or the program would stand still once the pipe is full.
    async fn listen(self, mut stderr: impl AsyncRead + Unpin) {
        let _all = self.all.clone().drop_guard();
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
            let Ok(mut bytes) = self.bytes.lock() else { return };
            bytes.extend_from_slice(&buffer[..read]);
            let over = bytes.len().saturating_sub(LAST_WORDS);
            bytes.drain(..over);
        }
    }

    /// The last lines of a program that ended.
    pub(super) async fn last(&self) -> String {
        // What is there is told, also when something holds the line open.
        let _ = tokio::time::timeout(MOMENT, self.all.cancelled()).await;
        said(&self.bytes)
    }
}

fn said(words: &Mutex<Vec<u8>>) -> String {
    let words = words.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = String::from_utf8_lossy(&words);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let shown: String = lines[lines.len().saturating_sub(3)..].join(" / ");
    shown.chars().filter(|c| !c.is_control()).take(400).collect()
}
