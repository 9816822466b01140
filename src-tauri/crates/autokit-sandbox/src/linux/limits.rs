//! The limits the kernel keeps for each process of a job.
//!
//! They are set inside, by util-linux's `prlimit`, between bubblewrap and the interpreter: the
//! number of processes must be set within the job's user namespace, or the user's other programs
//! would count, and from outside a caller that is root without every capability could not.

use rustix::process::{Pid, setpriority_process};

use crate::{Language, Limits};

/// Where `prlimit` is; part of util-linux, which no distribution is without.
pub(super) const PRLIMIT: &str = "/usr/bin/prlimit";
/// Open descriptors of one process. They also bound what pipes and sockets can hold.
const DESCRIPTORS: u64 = 64;
/// Stack of the first thread and, by the C library's default, of every other, in bytes.
const STACK: u64 = 8 << 20;
/// Address space an interpreter takes before it has any data: its libraries and its stack.
const ADDRESS_SPACE: u64 = 128 << 20;
/// Private memory an idle `node` asks for without touching it: stacks and tables of its threads.
const NODE_DATA: u64 = 256 << 20;
/// How much the job gives way to everything else.
const NICE: i32 = 10;

/// `prlimit` with its options; the program to limit follows.
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
    // The signal first, which a program can answer, and the end a second later.
    let cpu = cpu_seconds(limits);
    let cpu = format!("--cpu={cpu}:{}", cpu.saturating_add(1));
    std::iter::once(PRLIMIT.to_owned()).chain(all).chain([cpu, "--".to_owned()]).collect()
}

/// Processor time of one process in whole seconds, rounded up.
pub(super) fn cpu_seconds(limits: &Limits) -> u64 {
    (limits.cpu.as_secs() + u64::from(limits.cpu.subsec_nanos() > 0)).max(1)
}

/// Processes and threads the user of the job can have in its namespace: bubblewrap's process 1 is
/// one that is not the job's.
pub(super) fn tasks(limits: &Limits) -> u64 {
    u64::from(limits.processes) + 1
}

/// Lets everything else on the machine go first: with the processor, and when memory runs out. Both
/// are courtesies, no bounds, so a system that refuses them is no obstacle.
pub(super) fn give_way(init: Pid) {
    if let Err(error) = setpriority_process(Some(init), NICE) {
        tracing::debug!("the job keeps its priority: {error}");
    }
    let order = format!("/proc/{}/oom_score_adj", init.as_raw_nonzero());
    if let Err(error) = std::fs::write(order, "1000") {
        tracing::debug!("the job keeps its place in the order of what is killed: {error}");
    }
}
