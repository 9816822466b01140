//! Runs untrusted code.
//!
//! On Linux, a job runs under [bubblewrap](https://github.com/containers/bubblewrap) in its own namespaces
//! (user, process, network, IPC, host name, control group, mounts), behind a seccomp filter and with limits
//! that apply to the whole job, not only to each process. Elsewhere, or if the system does not support
//! this, [`Sandbox::available`] returns an error with a remedy: code is never run without isolation.
//!
//! # What the code sees
//!
//! `/usr` (and those of `/bin`, `/lib`, `/lib64` and `/sbin` that belong to it), the library cache and
//! `/etc/alternatives`, all read-only; its own `/proc`; `/dev` with `null`, `full`, `random` and `urandom`;
//! `/job` (its working directory, with the job's files) and `/tmp`, both in memory and deleted afterwards.
//! No network except a loopback of its own, for which it cannot open a socket. The environment is `PATH`,
//! `HOME`, `LANG` and `PWD`. `/dev/zero` is missing on purpose: memory of its shared mapping is not charged
//! to any process.
//!
//! # What enforces the limits
//!
//! | limit | enforced by |
//! |---|---|
//! | wall time | the supervising thread, to a few milliseconds |
//! | processor time | `RLIMIT_CPU` for each process, and the sampler for their sum |
//! | memory | a control group where one can be made ([`LimitEnforcement::ControlGroup`]): exact. Always: `RLIMIT_DATA` and (not for JavaScript, which reserves address space it never uses) `RLIMIT_AS` for each process, and a sampler that adds up the processes' memory every 20 ms and ends the job over the limit; between two samples a job can pass the limit by what it can touch in 20 ms (about 100 MB on two processors) |
//! | processes | a control group where one can be made; `RLIMIT_NPROC`, which the kernel counts for each user *and namespace*, so that other programs of the user do not count and other jobs neither. The kernel exempts the machine's root from it, also inside a user namespace: a caller that is root has its jobs run as `nobody`. The sampler counts too, but alone it is too slow for a fork bomb, so a system where neither of the others holds has no sandbox |
//! | file size | `RLIMIT_FSIZE` |
//! | all files together | the size of `/job` and that of `/tmp` |
//! | output | the supervising thread, which reads all and keeps the limit |
//!
//! Without a control group, pipes and Unix sockets can hold some hundred megabytes that are not charged to
//! any process (64 descriptors per process limit them). Shared anonymous memory, System V and POSIX shared
//! memory and memory files are forbidden because they could hold more.
//!
//! # How a job ends
//!
//! By killing process 1 of its process namespace. The kernel then kills all others in it, and only then
//! lets process 1 end. [`Sandbox::run`] returns after that, so nothing survives it. The same happens if the
//! caller drops the future or dies.

mod error;
pub mod files;
pub mod function;
mod job;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(not(target_os = "linux"))]
mod unsupported;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

pub use error::{Code, SandboxError};
pub use job::{Exit, Job, Language, Limits, Outcome, Output};

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use unsupported as platform;

/// What limits the memory and the number of processes of a whole job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitEnforcement {
    /// A kernel control group: exact.
    ControlGroup,
    /// Limits for each process, and a sampler that adds up all of them every 20 ms.
    Sampler,
}

/// A tested way to run code in isolation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    inner: std::sync::Arc<platform::Sandbox>,
}

impl Sandbox {
    /// Looks for what isolation needs on this system, and tests with a real run that it works: namespaces,
    /// the system call filter and the limits. Takes some tens of milliseconds and blocks; the result can be
    /// reused as long as the program runs.
    pub fn available() -> Result<Sandbox, SandboxError> {
        Ok(Sandbox { inner: std::sync::Arc::new(platform::Sandbox::available()?) })
    }

    /// Returns what limits a job as a whole on this system.
    pub fn limit_enforcement(&self) -> LimitEnforcement {
        self.inner.limit_enforcement()
    }

    /// Runs a job until it ends, exceeds a limit, or `cancel` is ready, and returns when no process of it
    /// is left. Dropping the future kills the job as well, but does not wait for that.
    ///
    /// A failing program is an [`Outcome`]; an error means that the job could not be run.
    pub async fn run(&self, job: Job, cancel: impl Future<Output = ()>) -> Result<Outcome, SandboxError> {
        self.inner.run(job, cancel).await
    }
}
