//! Errors of the sandbox.

use std::io;

/// The kind of an error, to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// This system offers no isolation.
    Unavailable,
    /// The interpreter is not installed.
    NoInterpreter,
    /// The job cannot be run as described.
    BadJob,
    /// A system call or the sandbox itself failed.
    Failed,
}

/// Why a job could not be run, or no sandbox is available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The operating system is not Linux.
    #[error("code runs in isolation on Linux only, not on {system}")]
    OtherSystem {
        /// The system's name.
        system: &'static str,
    },
    /// The system call filter does not support the processor.
    #[error("code cannot run in isolation on a {architecture} processor")]
    OtherProcessor {
        /// The processor's name.
        architecture: &'static str,
    },
    /// `bwrap` is not installed.
    #[error("code cannot run in isolation: `bwrap` (bubblewrap) is not installed")]
    NoBubblewrap,
    /// `bwrap` is too old.
    #[error(
        "code cannot run in isolation: `bwrap` is version {found}, and {} or later is needed",
        SandboxError::BUBBLEWRAP
    )]
    OldBubblewrap {
        /// What `bwrap --version` prints.
        found: String,
    },
    /// The trial run was not isolated as required.
    #[error("code cannot run in isolation here: {reason}")]
    NoIsolation {
        /// What failed.
        reason: String,
    },
    /// The interpreter was not found in the system's folders.
    #[error("`{interpreter}` was not found in {}", places.join(", "))]
    NoInterpreter {
        /// Its file name.
        interpreter: &'static str,
        /// The folders that were searched.
        places: Vec<String>,
    },
    /// A file's name is invalid, is taken, or leads out of the job's folder.
    #[error("a file of the job cannot be named `{name}`: {why}")]
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The job has too many files, or too large ones.
    #[error("the job's files cannot be placed: {why}")]
    TooLarge {
        /// What is too large, with the limit.
        why: String,
    },
    /// Bubblewrap failed before it started the program.
    #[error("the sandbox could not be set up: {reason}")]
    SetUp {
        /// Bubblewrap's error message.
        reason: String,
    },
    /// A system call failed.
    #[error("the sandbox failed: {what}: {source}")]
    System {
        /// What was attempted.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// An internal error.
    #[error("the sandbox failed: {0}")]
    Internal(String),
}

impl SandboxError {
    /// The oldest version of bubblewrap that can forbid nested user namespaces and limit the size of a
    /// tmpfs.
    pub const BUBBLEWRAP: &'static str = "0.8";

    /// Returns the kind of the error, to branch on.
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

    /// Returns what a person can do about the error.
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
            SandboxError::BadName { .. } => "Use unique relative names without `..`.",
            SandboxError::TooLarge { .. } => "Use fewer or smaller files, or raise the job's limits.",
            SandboxError::SetUp { .. } | SandboxError::System { .. } => "Try again.",
            SandboxError::Internal(_) => "Report this as a bug in AutoKit.",
        }
    }

    /// Converts the error of a system call; `what` was attempted.
    #[cfg(target_os = "linux")]
    pub(super) fn system(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> SandboxError {
        move |errno| SandboxError::System { what, source: errno.into() }
    }

    /// Converts an error of the standard library; `what` was attempted.
    #[cfg(target_os = "linux")]
    pub(super) fn io(what: &'static str) -> impl FnOnce(io::Error) -> SandboxError {
        move |source| SandboxError::System { what, source }
    }
}
