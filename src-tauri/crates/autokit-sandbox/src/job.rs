//! What is run, within what, and what came of it.

use std::time::Duration;

/// The languages a job can be in.
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
    /// The interpreter's file name.
    pub fn interpreter(self) -> &'static str {
        match self {
            Language::Python => "python3",
            Language::JavaScript => "node",
            Language::Shell => "sh",
        }
    }

    /// The name of the file in `/job` that holds the code.
    pub fn main_file(self) -> &'static str {
        match self {
            Language::Python => "main.py",
            Language::JavaScript => "main.js",
            Language::Shell => "main.sh",
        }
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the code is written in.
    pub language: Language,
    /// The program.
    pub code: String,
    /// What the program is given after its name.
    pub arguments: Vec<String>,
    /// What it reads from standard input, which then ends.
    pub stdin: Vec<u8>,
    /// Files in its working directory, by relative name (`data/in.csv`); at most
    /// [`Job::MOST_FILES`].
    pub files: Vec<(String, Vec<u8>)>,
    /// Its bounds.
    pub limits: Limits,
}

impl Job {
    /// How many files a job can bring: each is an open descriptor while the job is set up.
    pub const MOST_FILES: usize = 100;

    /// A job of nothing but code, within the default limits.
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

/// Bounds of one job as a whole, where nothing else is said. The defaults let a small computation
/// through and nothing that a person at the same machine would feel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the start of the set-up to the end. Default 10 s: as long as somebody waits for a tool.
    pub wall: Duration,
    /// Processor time of each process, and of all together, rounded up to whole seconds for the
    /// former. Default 10 s.
    pub cpu: Duration,
    /// Memory of all processes together, in bytes; what lies in `/job` and `/tmp` is not part of
    /// it. Default 256 MiB: an interpreter needs 10 to 50, the rest is for data.
    pub memory_bytes: u64,
    /// Processes and threads together. Default 32: `node` starts about a dozen threads.
    pub processes: u32,
    /// Bytes kept of standard output, and again of standard error: the first ones. Default
    /// 256 KiB, more than a model can read. What is beyond is read and counted up to
    /// [`Limits::FLOOD`] times this, where the job is ended.
    pub output_bytes: usize,
    /// The largest file the program can write, in bytes; also the largest it can be given.
    /// Default 16 MiB.
    pub file_bytes: u64,
    /// Size of `/job`, and again of `/tmp`, in bytes. Default 64 MiB; both are memory.
    pub scratch_bytes: u64,
}

impl Limits {
    /// How many times [`Limits::output_bytes`] a program may write to one stream before it is
    /// ended: enough for a chatty program, and the end of an endless one.
    pub const FLOOD: u64 = 64;
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
    /// The program ended with this code, 0 for success.
    Code(i32),
    /// The program was ended by this signal. The number comes the way shells report it, as code
    /// 128 + signal: a program that *exits* with such a code cannot be told from it.
    Signal(i32),
    /// Over [`Limits::wall`] or [`Limits::cpu`].
    TimedOut,
    /// Over [`Limits::memory_bytes`]: the kernel or the sampler ended it. A program whose own
    /// allocation was refused and that ended by itself is [`Exit::Code`] or [`Exit::Signal`].
    OutOfMemory,
    /// Over [`Limits::processes`] in a way the kernel did not prevent.
    TooManyProcesses,
    /// Over [`Limits::FLOOD`] times [`Limits::output_bytes`] on one stream.
    TooMuchOutput,
    /// The caller did not want it any more.
    Cancelled,
}

/// What a program wrote to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The first [`Limits::output_bytes`] of it.
    pub bytes: Vec<u8>,
    /// How many bytes came after those and were dropped.
    pub cut: u64,
}

impl Output {
    /// What is kept as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// From the start of the set-up until nothing was left.
    pub wall: Duration,
}
