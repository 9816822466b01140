//! Jobs, their limits and their outcomes.

use std::time::Duration;

/// The language of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// `python3`; the code is `/job/main.py`.
    Python,
    /// `node`; the code is `/job/main.js`.
    JavaScript,
    /// The system's `sh`; the code is `/job/main.sh`.
    Shell,
}

impl Language {
    /// Returns the interpreter's file name.
    pub fn interpreter(self) -> &'static str {
        match self {
            Language::Python => "python3",
            Language::JavaScript => "node",
            Language::Shell => "sh",
        }
    }

    /// Returns the name of the file in `/job` that holds the code.
    pub fn main_file(self) -> &'static str {
        match self {
            Language::Python => "main.py",
            Language::JavaScript => "main.js",
            Language::Shell => "main.sh",
        }
    }
}

/// A program to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The language of the code.
    pub language: Language,
    /// The code.
    pub code: String,
    /// The program's command-line arguments.
    pub arguments: Vec<String>,
    /// The whole content of its standard input.
    pub stdin: Vec<u8>,
    /// Files in its working directory, by relative name (`data/in.csv`); at most
    /// [`Job::MAX_FILES`].
    pub files: Vec<(String, Vec<u8>)>,
    /// Its limits.
    pub limits: Limits,
}

impl Job {
    /// Most files of a job: each is an open descriptor while the job is set up.
    pub const MAX_FILES: usize = 100;

    /// Creates a job with code only and the default limits.
    pub fn new(language: Language, code: impl Into<String>) -> Job {
        Job {
            language,
            code: code.into(),
            arguments: Vec::new(),
            stdin: Vec::new(),
            files: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// Limits of one job, which apply to the job as a whole unless stated otherwise. The defaults suffice for a
/// small computation, and are low enough that a person at the same machine would not notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from the start of the set-up to the end. Default 10 s: as long as somebody waits for a tool.
    pub wall: Duration,
    /// Processor time of each process (rounded up to whole seconds), and of all together. Default 10 s.
    pub cpu: Duration,
    /// Memory of all processes together, in bytes, without the files in `/job` and `/tmp`. Default 256 MiB:
    /// an interpreter needs 10 to 50, the rest is for data.
    pub memory_bytes: u64,
    /// Number of processes and threads. Default 32: `node` starts about a dozen threads.
    pub processes: u32,
    /// Bytes kept of standard output, and the same of standard error: the first ones. Default 256 KiB, more
    /// than a model can read. Bytes beyond that are counted and dropped, up to
    /// [`Limits::MAX_OUTPUT_FACTOR`] times this, where the job is killed.
    pub output_bytes: usize,
    /// Size of the largest file the program can write, or be given, in bytes. Default 16 MiB.
    pub file_bytes: u64,
    /// Size of `/job`, and the same of `/tmp`, in bytes. Default 64 MiB; both are in memory.
    pub scratch_bytes: u64,
}

impl Limits {
    /// How many times [`Limits::output_bytes`] a program may write to one stream before it is killed:
    /// enough for a chatty program, but not for an endless one.
    pub const MAX_OUTPUT_FACTOR: u64 = 64;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(10),
            cpu: Duration::from_secs(10),
            memory_bytes: 256 << 20,
            processes: 32,
            output_bytes: 256 << 10,
            file_bytes: 16 << 20,
            scratch_bytes: 64 << 20,
        }
    }
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program exited with this code, 0 for success.
    Code(i32),
    /// The program was killed by this signal. The number is derived from exit code 128 + signal, as shells
    /// report it, so a program that *exits* with such a code cannot be told from a killed one.
    Signal(i32),
    /// It exceeded [`Limits::wall`] or [`Limits::cpu`].
    TimedOut,
    /// It exceeded [`Limits::memory_bytes`] and was killed by the kernel or the sampler. A program that
    /// exits because an allocation was refused is [`Exit::Code`] or [`Exit::Signal`].
    OutOfMemory,
    /// It exceeded [`Limits::processes`] in a way the kernel did not prevent.
    TooManyProcesses,
    /// It wrote more than [`Limits::MAX_OUTPUT_FACTOR`] times [`Limits::output_bytes`] to one stream.
    TooMuchOutput,
    /// The caller cancelled it.
    Cancelled,
}

/// What a program wrote to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The first [`Limits::output_bytes`] bytes.
    pub bytes: Vec<u8>,
    /// Number of bytes after those, which were dropped.
    pub cut: u64,
}

impl Output {
    /// Returns the kept bytes as text; bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// Time from the start of the set-up until no process was left.
    pub wall: Duration,
}
