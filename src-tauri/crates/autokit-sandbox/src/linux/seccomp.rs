//! The system call filter, as two BPF programs.
//!
//! The first is a list of the calls interpreters need. All others, including those that later kernels add
//! and the separate numbers of x32, fail with `ENOSYS` ("no such call"), on which a C library falls back to
//! an older call (from `clone3` to `clone`, whose flags a filter can read). The second returns `EPERM`
//! where a program should learn that a call is forbidden rather than missing. A call through another
//! architecture's entry (32-bit on a 64-bit kernel) kills the process.
//!
//! Compiled with Firecracker's `seccompiler` rather than `libseccomp`, because it is plain Rust.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::calls::{ALLOWED, ALLOWED_HERE, DENIED, DENIED_HERE};
use crate::SandboxError;

/// All flags of `clone` that create a namespace.
const NEW_NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    // CLONE_NEWTIME; it shares its bit with the field for the exit signal, but no signal number uses it.
    0x80,
];

/// `ioctl`s that inject characters into a terminal's input: `TIOCSTI` types, `TIOCLINUX` pastes.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541C];

/// Allowed arguments of `personality`: the default one, and the query for the current one.
const PERSONALITIES: [u64; 2] = [0, 0xffff_ffff];

/// Returns the two filters in the order in which they must be installed, as `struct sock_filter`s in
/// memory.
pub(super) fn programs() -> Result<[Vec<u8>; 2], SandboxError> {
    let processor = std::env::consts::ARCH;
    let arch = match processor {
        "x86_64" => TargetArch::x86_64,
        "aarch64" => TargetArch::aarch64,
        _ => return Err(SandboxError::OtherProcessor { architecture: processor }),
    };
    let fault = |fault: seccompiler::BackendError| SandboxError::Internal(fault.to_string());
    let errno = |number: i32| SeccompAction::Errno(number as u32);

    let allowed = ALLOWED.iter().chain(ALLOWED_HERE).map(|call| (*call, Vec::new())).collect();
    let allow = SeccompFilter::new(allowed, errno(libc::ENOSYS), SeccompAction::Allow, arch);

    let denied = denied().map_err(fault)?;
    let deny = SeccompFilter::new(denied, SeccompAction::Allow, errno(libc::EPERM), arch);

    // Of two filters with equally strict results, the one installed last decides: `EPERM` wins.
    Ok([bytes(allow.map_err(fault)?).map_err(fault)?, bytes(deny.map_err(fault)?).map_err(fault)?])
}

fn denied() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut denied: BTreeMap<c_long, Vec<SeccompRule>> =
        DENIED.iter().chain(DENIED_HERE).map(|call| (*call, Vec::new())).collect();
    // A call is denied if one rule matches; all conditions of a rule must hold. The kernel reads these
    // arguments as 32-bit numbers, so the upper half must not matter.
    let rule = |conditions: Vec<(u8, Op, u64)>| {
        let conditions = conditions
            .into_iter()
            .map(|(argument, op, value)| SeccompCondition::new(argument, Len::Dword, op, value))
            .collect::<Result<Vec<_>, _>>()?;
        SeccompRule::new(conditions)
    };
    let bit = |argument: u8, bits: u64| vec![(argument, Op::MaskedEq(bits), bits)];

    let namespaces =
        NEW_NAMESPACES.iter().map(|flag| rule(bit(0, *flag as u64))).collect::<Result<_, _>>()?;
    denied.insert(libc::SYS_clone, namespaces);
    let terminal =
        TERMINAL_INPUT.iter().map(|number| rule(vec![(1, Op::Eq, *number)])).collect::<Result<_, _>>()?;
    denied.insert(libc::SYS_ioctl, terminal);
    let [plain, question] = PERSONALITIES;
    denied.insert(libc::SYS_personality, vec![rule(vec![(0, Op::Ne, plain), (0, Op::Ne, question)])?]);
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        denied.insert(call, vec![rule(vec![(0, Op::Ne, libc::AF_UNIX as u64)])?]);
    }
    // Shared memory without a file outlives its mapping and is not charged to any process.
    let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;
    denied.insert(libc::SYS_mmap, vec![rule(bit(3, shared))?]);
    Ok(denied)
}

fn bytes(filter: SeccompFilter) -> Result<Vec<u8>, seccompiler::BackendError> {
    let program = BpfProgram::try_from(filter)?;
    Ok(program
        .iter()
        .flat_map(|step| {
            let [c0, c1] = step.code.to_ne_bytes();
            let [k0, k1, k2, k3] = step.k.to_ne_bytes();
            [c0, c1, step.jt, step.jf, k0, k1, k2, k3]
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::programs;
    use crate::linux::calls::{ALLOWED, ALLOWED_HERE, DENIED, DENIED_HERE};

    #[test]
    fn nothing_is_on_both_lists_and_the_kernel_takes_the_size() {
        for call in DENIED.iter().chain(DENIED_HERE) {
            assert!(!ALLOWED.contains(call) && !ALLOWED_HERE.contains(call), "call {call} is on both");
        }
        for program in programs().expect("compiles") {
            assert_eq!(program.len() % 8, 0);
            assert!(program.len() / 8 < 4_096, "{} steps", program.len() / 8);
        }
    }
}
