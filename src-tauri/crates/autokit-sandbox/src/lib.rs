//! Runs code nobody has vouched for.
//!
//! On Linux a job runs under [bubblewrap](https://github.com/containers/bubblewrap) in namespaces
//! of its own (user, process, network, IPC, host name, control group, mounts), behind a seccomp
//! filter and inside limits that hold for the whole job and not only for each process. Elsewhere,
//! or where the system offers no such thing, [`Sandbox::available`] says so with a remedy: code is
//! never run unprotected instead.
//!
//! # What the code sees
//!
//! `/usr` (and what of `/bin`, `/lib`, `/lib64`, `/sbin` belongs to it), the library cache and
//! `/etc/alternatives`, all read-only; its own `/proc`; `/dev` with `null`, `full`, `random` and
//! `urandom`; `/job` (where it starts, with the job's files) and `/tmp`, both in memory and gone
//! afterwards. No network but a loopback of its own, which it cannot open a socket for. The
//! environment is `PATH`, `HOME`, `LANG` and `PWD`. `/dev/zero` is missing on purpose: its shared
//! mapping is memory no process is charged for.
//!
//! # What holds the limits
//!
//! | limit | held by |
//! |---|---|
//! | wall time | the supervising thread, to a few milliseconds |
//! | processor time | `RLIMIT_CPU` for each process, and the sampler for their sum |
//! | memory | a control group where one can be made ([`Total::ControlGroup`]): exact. Always: `RLIMIT_DATA` and (not for JavaScript, which reserves address space it never uses) `RLIMIT_AS` for each process, and a sampler that adds up the processes' memory every 20 ms and ends the job over the limit; between two samples a job can pass the limit by what it can touch in 20 ms (about 100 MB on two processors) |
//! | processes | a control group where one can be made; `RLIMIT_NPROC`, which the kernel counts for each user *and namespace*, so that other programs of the user do not count and other jobs neither. The kernel exempts the machine's root from it, also inside a user namespace: a caller that is root has its jobs run as `nobody`. The sampler counts too, but alone it is too slow for a fork bomb, so a system where neither of the others holds has no sandbox |
//! | file size | `RLIMIT_FSIZE` |
//! | all files together | the size of `/job` and that of `/tmp` |
//! | output | the supervising thread, which reads all and keeps the limit |
//!
//! Without a control group, pipes and Unix sockets can hold some hundred megabytes no process is
//! charged for (64 descriptors a process bound them); shared anonymous memory, System V and POSIX
//! memory and memory files are refused because they could hold more.
//!
//! # How a job ends
//!
//! By killing process 1 of its process namespace, upon which the kernel kills every other one in it
//! and only then lets process 1 go; a [`Sandbox::run`] returns when that has happened, so nothing
//! survives it. The same follows if the caller drops the future or dies.

mod error;
pub mod files;
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

/// What bounds the memory and the number of processes of a whole job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// A control group of the kernel: exact.
    ControlGroup,
    /// Limits for each process, and a sampler over all of them every 20 ms.
    Sampler,
}

/// A proven way to run code in isolation; cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    inner: std::sync::Arc<platform::Sandbox>,
}

impl Sandbox {
    /// Looks for what isolation needs on this system and proves by one real run that it works:
    /// namespaces, the system call filter and the limits. Takes some tens of milliseconds and
    /// blocks; the result can be kept as long as the program runs.
    pub fn available() -> Result<Sandbox, SandboxError> {
        Ok(Sandbox { inner: std::sync::Arc::new(platform::Sandbox::available()?) })
    }

    /// What bounds a job as a whole on this system.
    pub fn total(&self) -> Total {
        self.inner.total()
    }

    /// Runs a job to its end, its limits' end, or until `cancel` is ready, and returns when no
    /// process of it is left. Dropping the future ends the job as well, but does not wait.
    ///
    /// A program that fails is an [`Outcome`]; an error means that it could not be run as asked.
    pub async fn run(&self, job: Job, cancel: impl Future<Output = ()>) -> Result<Outcome, SandboxError> {
        self.inner.run(job, cancel).await
    }
}
