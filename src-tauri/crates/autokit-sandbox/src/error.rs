//! Why code is not run.

use std::io;

/// What programs branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// This system has no such isolation.
    Unavailable,
    /// The interpreter is not installed.
    NoInterpreter,
    /// The job itself cannot be run as described.
    BadJob,
    /// The system failed on the way.
    Failed,
}

/// Why a job was not run, or no sandbox is to be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// Not Linux.
    #[error("code runs in isolation on Linux only, not on {system}")]
    OtherSystem {
        /// The system's name.
        system: &'static str,
    },
    /// A processor the system call filter is not written for.
    #[error("code cannot run in isolation on a {architecture} processor")]
    OtherProcessor {
        /// The processor's name.
        architecture: &'static str,
    },
    /// `bwrap` is not installed.
    #[error("code cannot run in isolation: `bwrap` (bubblewrap) is not installed")]
    NoBubblewrap,
    /// `bwrap` lacks what is needed.
    #[error(
        "code cannot run in isolation: `bwrap` is version {found}, and {} or later is needed",
        SandboxError::BUBBLEWRAP
    )]
    OldBubblewrap {
        /// What `bwrap --version` says.
        found: String,
    },
    /// The trial run did not hold what it must.
    #[error("code cannot run in isolation here: {reason}")]
    NoIsolation {
        /// What failed.
        reason: String,
    },
    /// The interpreter was not found in the system's places.
    #[error("`{interpreter}` was not found in {}", places.join(", "))]
    NoInterpreter {
        /// Its file name.
        interpreter: &'static str,
        /// The folders that were looked at.
        places: Vec<String>,
    },
    /// A file's name leads elsewhere, is taken, or is none.
    #[error("a file of the job cannot be named `{name}`: {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More or larger files than a job can bring.
    #[error("the job's files cannot be placed: {why}")]
    TooLarge {
        /// What is too large, with the limit.
        why: String,
    },
    /// Bubblewrap did not get as far as starting the program.
    #[error("the sandbox could not be set up: {reason}")]
    SetUp {
        /// What it said.
        reason: String,
    },
    /// A call of the system failed.
    #[error("the sandbox failed: {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A fault of this program.
    #[error("the sandbox failed: {0}")]
    Internal(String),
}

impl SandboxError {
    /// The oldest bubblewrap that can refuse nested user namespaces and bound a tmpfs.
    pub const BUBBLEWRAP: &'static str = "0.8";

    /// What to branch on.
    pub fn code(&self) -> Code {
        match self {
            SandboxError::OtherSystem { .. }
            | SandboxError::OtherProcessor { .. }
            | SandboxError::NoBubblewrap
            | SandboxError::OldBubblewrap { .. }
            | SandboxError::NoIsolation { .. } => Code::Unavailable,
            SandboxError::NoInterpreter { .. } => Code::NoInterpreter,
            SandboxError::BadName { .. } | SandboxError::TooLarge { .. } => Code::BadJob,
            SandboxError::SetUp { .. } | SandboxError::System { .. } | SandboxError::Internal(_) => {
                Code::Failed
            }
        }
    }

    /// What a person can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            SandboxError::OtherSystem { .. } | SandboxError::OtherProcessor { .. } => {
                "Run AutoKit on Linux (x86-64 or 64-bit ARM) for tools that are code; the others work here."
            }
            SandboxError::NoBubblewrap => {
                "Install the package `bubblewrap` (apt, dnf, pacman and zypper all have it)."
            }
            SandboxError::OldBubblewrap { .. } => {
                "Update the package `bubblewrap`, or the system it comes with."
            }
            SandboxError::NoIsolation { .. } => {
                "Allow user namespaces to programs (on Debian `sysctl kernel.unprivileged_userns_clone=1`; \
                 on Ubuntu give `bwrap` an AppArmor profile with `userns,`; in a container start it with \
                 a seccomp profile that allows them)."
            }
            SandboxError::NoInterpreter { interpreter, .. } => match *interpreter {
                "python3" => "Install the package `python3`.",
                "node" => "Install the package `nodejs`, for the whole system.",
                _ => "Install a system shell.",
            },
            SandboxError::BadName { .. } => "Give a relative name without `..`, each only once.",
            SandboxError::TooLarge { .. } => "Give fewer or smaller files, or raise the job's limits.",
            SandboxError::SetUp { .. } | SandboxError::System { .. } => "Try again.",
            SandboxError::Internal(_) => "Report this: it is a fault of AutoKit.",
        }
    }

    /// Names what was tried when a system call failed.
    #[cfg(target_os = "linux")]
    pub(super) fn system(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> SandboxError {
        move |errno| SandboxError::System { what, source: errno.into() }
    }

    /// Names what was tried when the standard library reports that it failed.
    #[cfg(target_os = "linux")]
    pub(super) fn io(what: &'static str) -> impl FnOnce(io::Error) -> SandboxError {
        move |source| SandboxError::System { what, source }
    }
}
