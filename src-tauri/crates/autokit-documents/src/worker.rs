//! Reading a document in a process of its own.
//!
//! The process gets the file's bytes on standard input and answers on standard output. Before it looks at
//! them it limits its own memory and processor time, so that a file made to exhaust either ends only the
//! process that reads it.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::document::Document;
use crate::error::ReadError;
use crate::format::{Format, MAX_BYTES};

/// Separates what libraries print from the answer. They never print this character: what they print of a
/// file is escaped.
const ANSWER: &str = "\u{1e}\n";

/// Most bytes of an answer; text is smaller than the file it is in, but for compression.
const MAX_ANSWER: u64 = MAX_BYTES;

/// What a process that reads a document may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Seconds by the clock, and of processor time.
    pub seconds: u64,
    /// Memory in MB, where the system can limit it.
    pub megabytes: u64,
}

impl Default for Limits {
    /// A PDF of 500 pages takes a few seconds and 200 MB.
    fn default() -> Limits {
        Limits { seconds: 120, megabytes: 2048 }
    }
}

/// Reads documents, PDF in a process of its own.
#[derive(Clone, Debug)]
pub struct Reader {
    program: PathBuf,
    arguments: Vec<OsString>,
    limits: Limits,
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Read(Document),
    Failed(ReadError),
}

impl Reader {
    /// Starts `program` with `arguments` and two numbers, the limits, to read a document; it must call [`run`].
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Reader {
        let arguments = arguments.iter().map(OsString::from).collect();
        Reader { program: program.into(), arguments, limits: Limits::default() }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Reader {
        Reader { limits, ..self }
    }

    /// Reads a document; `name` as for [`crate::read`].
    ///
    /// # Errors
    /// Returns an error if the document cannot be read within the limits.
    pub async fn read(&self, name: &str, bytes: Vec<u8>) -> Result<Document, ReadError> {
        if Format::detect(name, &bytes)? == Format::Pdf {
            return self.read_apart(name, bytes).await;
        }
        let name = name.to_owned();
        let reading = tokio::task::spawn_blocking(move || crate::read(&name, &bytes));
        reading.await.map_err(|error| ReadError::Process(error.to_string()))?
    }

    async fn read_apart(&self, name: &str, bytes: Vec<u8>) -> Result<Document, ReadError> {
        let failed = |error: io::Error| ReadError::Process(error.to_string());
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .arg(self.limits.seconds.to_string())
            .arg(self.limits.megabytes.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (Some(mut to), Some(from), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ReadError::Process("it has no standard input or output".to_owned()));
        };
        let send = async move {
            // A process that ends early has its reasons; its answer says them.
            let _ = to.write_all(&bytes).await;
            let _ = to.shutdown().await;
        };
        let receive = async move {
            let mut output = Vec::new();
            from.take(MAX_ANSWER).read_to_end(&mut output).await.map(|_| output)
        };
        let complain = async move {
            let mut output = Vec::new();
            // The first words suffice, and the rest must be read for the process not to wait.
            let mut errors = errors;
            let _ = (&mut errors).take(4096).read_to_end(&mut output).await;
            let _ = tokio::io::copy(&mut errors, &mut tokio::io::sink()).await;
            output
        };
        let whole = async { tokio::join!(send, receive, complain, child.wait()) };
        let ((), output, errors, status) =
            tokio::time::timeout(Duration::from_secs(self.limits.seconds), whole)
                .await
                .map_err(|_| ReadError::TooSlow(self.limits.seconds))?;
        let (output, status) = (output.map_err(failed)?, status.map_err(failed)?);
        let mut document = match answer_in(&output) {
            Some(Answer::Read(document)) => document,
            Some(Answer::Failed(error)) => return Err(error),
            None => return Err(self.why(status, &String::from_utf8_lossy(&errors))),
        };
        if document.title.is_empty() {
            name.clone_into(&mut document.title);
        }
        Ok(document)
    }

    /// Why a process ended without an answer.
    fn why(&self, status: std::process::ExitStatus, errors: &str) -> ReadError {
        if errors.contains("memory allocation") {
            return ReadError::TooMuchMemory(self.limits.megabytes);
        }
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt as _;
            let signal = status.signal().and_then(rustix::process::Signal::from_named_raw);
            match signal {
                Some(rustix::process::Signal::XCPU) => return ReadError::TooSlow(self.limits.seconds),
                Some(rustix::process::Signal::SEGV | rustix::process::Signal::BUS) => {
                    return ReadError::Damaged("its objects refer to each other without end".to_owned());
                }
                _ => {}
            }
        }
        let first = errors.lines().next().unwrap_or_default();
        ReadError::Process(if first.is_empty() { status.to_string() } else { first.to_owned() })
    }
}

fn answer_in(output: &[u8]) -> Option<Answer> {
    let at = output.windows(ANSWER.len()).rposition(|window| window == ANSWER.as_bytes())?;
    serde_json::from_slice(&output[at + ANSWER.len()..]).ok()
}

/// Runs the process that a [`Reader`] starts: reads a PDF from standard input and writes what is in it to
/// standard output. `arguments` are those after the reader's own.
pub fn run(arguments: &[OsString]) -> ExitCode {
    let number = |at: usize| arguments.get(at).and_then(|text| text.to_str()?.parse::<u64>().ok());
    let limits = Limits::default();
    let limits = Limits {
        seconds: number(0).unwrap_or(limits.seconds),
        megabytes: number(1).unwrap_or(limits.megabytes),
    };
    // What a library says when it gives up on a page is told by the answer.
    std::panic::set_hook(Box::new(|_| {}));
    let answer = match limit(limits).and_then(|()| read_input()) {
        Ok(document) => Answer::Read(document),
        Err(error) => Answer::Failed(error),
    };
    let mut out = io::stdout().lock();
    let written = out
        .write_all(ANSWER.as_bytes())
        .and_then(|()| serde_json::to_writer(&mut out, &answer).map_err(io::Error::from))
        .and_then(|()| out.flush());
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read_input() -> Result<Document, ReadError> {
    let mut bytes = Vec::new();
    let input = io::stdin().lock();
    input
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ReadError::Process(error.to_string()))?;
    crate::read("document.pdf", &bytes).map(|document| {
        let title = if document.title == "document.pdf" { String::new() } else { document.title };
        Document { title, ..document }
    })
}

#[cfg(unix)]
fn limit(limits: Limits) -> Result<(), ReadError> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource: Resource, limit: u64| {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })
            .map_err(|error| ReadError::Process(error.to_string()))
    };
    set(Resource::As, limits.megabytes << 20)?;
    set(Resource::Cpu, limits.seconds)?;
    // It has nothing to write but its answer.
    set(Resource::Fsize, 0)?;
    set(Resource::Core, 0)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as where memory can be limited")]
fn limit(_: Limits) -> Result<(), ReadError> {
    Ok(())
}
