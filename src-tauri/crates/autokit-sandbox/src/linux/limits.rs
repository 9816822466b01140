//! Limits that the kernel enforces for each process of a job.
//!
//! They are set inside, by util-linux's `prlimit`, between bubblewrap and the interpreter: the number of
//! processes must be limited within the job's user namespace, or the user's other programs would count, and
//! a caller that is root without all capabilities could not set it from outside.

use rustix::process::{Pid, setpriority_process};

use crate::{Language, Limits};

/// Path of `prlimit`, which is part of util-linux, as installed by every distribution.
pub(super) const PRLIMIT: &str = "/usr/bin/prlimit";
/// Open descriptors per process. They also limit what pipes and sockets can hold.
const DESCRIPTORS: u64 = 64;
/// Stack size of the first thread and, by the C library's default, of every other, in bytes.
const STACK: u64 = 8 << 20;
/// Address space an interpreter needs before it has any data: its libraries and its stack, in bytes.
const ADDRESS_SPACE: u64 = 128 << 20;
/// Private memory that an idle `node` reserves without touching it, in bytes: stacks and tables of its
/// threads.
const NODE_DATA: u64 = 256 << 20;
/// Niceness of the job.
const NICE: i32 = 10;

/// Returns `prlimit` with its options; the program to limit has to follow.
pub(super) fn command(language: Language, limits: &Limits) -> Vec<String> {
    let script = language == Language::JavaScript;
    let data = limits.memory_bytes.saturating_add(if script { NODE_DATA } else { 0 });
    let mut all = vec![
        ("data", data),
        ("nproc", tasks(limits)),
        ("fsize", limits.file_bytes),
        ("nofile", DESCRIPTORS),
        ("stack", STACK),
        ("core", 0),
        ("msgqueue", 0),
        ("memlock", 1 << 20),
    ];
    if !script {
        all.push(("as", limits.memory_bytes.saturating_add(ADDRESS_SPACE)));
    }
    let all = all.into_iter().map(|(name, most)| format!("--{name}={most}:{most}"));
    // The soft limit sends a signal that a program can handle; the hard limit kills it a second later.
    let cpu = cpu_seconds(limits);
    let cpu = format!("--cpu={cpu}:{}", cpu.saturating_add(1));
    std::iter::once(PRLIMIT.to_owned()).chain(all).chain([cpu, "--".to_owned()]).collect()
}

/// Returns the processor time of one process in whole seconds, rounded up.
pub(super) fn cpu_seconds(limits: &Limits) -> u64 {
    (limits.cpu.as_secs() + u64::from(limits.cpu.subsec_nanos() > 0)).max(1)
}

/// Returns the number of processes and threads the job's user can have in its namespace, including
/// bubblewrap's process 1, which is not part of the job.
pub(super) fn tasks(limits: &Limits) -> u64 {
    u64::from(limits.processes) + 1
}

/// Lowers the job's priority for the processor, and makes the kernel kill it first when memory runs out.
/// These are not limits, so it does not matter if the system refuses them.
pub(super) fn lower_priority(init: Pid) {
    if let Err(error) = setpriority_process(Some(init), NICE) {
        tracing::debug!("failed to lower the job's priority: {error}");
    }
    let order = format!("/proc/{}/oom_score_adj", init.as_raw_nonzero());
    if let Err(error) = std::fs::write(order, "1000") {
        tracing::debug!("failed to raise the job's OOM score: {error}");
    }
}
