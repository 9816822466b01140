//! Tests of system calls that lead out of the sandbox, or deep into the kernel.

use super::{python, run};
use crate::{Exit, Job, Language};

/// Makes calls by number with plausible arguments; `expect` prints those with an unexpected result.
const CALLS: &str = "\
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return errno.errorcode.get(ctypes.get_errno(), 'DONE') if result == -1 else 'DONE'
def expect(name, wanted, number, *args):
    got = call(number, *args)
    if got != wanted: print(name, got)
";

fn format_call(name: &str, wanted: &str, number: i64, arguments: &str) -> String {
    format!("expect({name:?}, {wanted:?}, {number}, {arguments})\n")
}

#[tokio::test]
async fn escaping_system_calls_are_forbidden_and_unknown_ones_are_missing() {
    let forbidden: &[(&str, i64, &str)] = &[
        ("ptrace traceme", libc::SYS_ptrace, "0, 0, 0, 0"),
        ("ptrace attach", libc::SYS_ptrace, "16, 1, 0, 0"),
        ("process_vm_readv", libc::SYS_process_vm_readv, "1, 0, 0, 0, 0, 0"),
        ("mount", libc::SYS_mount, "b'none', b'/tmp', b'tmpfs', 0, 0"),
        ("umount2", libc::SYS_umount2, "b'/proc', 2"),
        ("pivot_root", libc::SYS_pivot_root, "b'/', b'/tmp'"),
        ("chroot", libc::SYS_chroot, "b'/tmp'"),
        ("open_tree", libc::SYS_open_tree, "-100, b'/', 1"),
        ("fsopen", libc::SYS_fsopen, "b'tmpfs', 0"),
        ("unshare user", libc::SYS_unshare, "0x10000000"),
        ("unshare nothing", libc::SYS_unshare, "0"),
        ("setns", libc::SYS_setns, "0, 0"),
        ("clone user", libc::SYS_clone, "0x10000011, 0, 0, 0, 0"),
        ("clone mount", libc::SYS_clone, "0x00020011, 0, 0, 0, 0"),
        ("keyctl", libc::SYS_keyctl, "0, -3, 0"),
        ("add_key", libc::SYS_add_key, "b'user', b'a', b'b', 1, -3"),
        ("request_key", libc::SYS_request_key, "b'user', b'a', 0, 0"),
        ("bpf", libc::SYS_bpf, "0, 0, 0"),
        ("perf_event_open", libc::SYS_perf_event_open, "0, 0, -1, -1, 0"),
        ("userfaultfd", libc::SYS_userfaultfd, "1"),
        ("io_uring_setup", libc::SYS_io_uring_setup, "1, 0"),
        ("kexec_load", libc::SYS_kexec_load, "0, 0, 0, 0"),
        ("init_module", libc::SYS_init_module, "0, 0, b''"),
        ("finit_module", libc::SYS_finit_module, "0, b'', 0"),
        ("delete_module", libc::SYS_delete_module, "b'x', 0"),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, "0, 0, 0"),
        ("quotactl", libc::SYS_quotactl, "0, 0, 0, 0"),
        ("swapon", libc::SYS_swapon, "b'/x', 0"),
        ("reboot", libc::SYS_reboot, "0, 0, 0, 0"),
        ("settimeofday", libc::SYS_settimeofday, "0, 0"),
        ("clock_settime", libc::SYS_clock_settime, "0, 0"),
        ("adjtimex", libc::SYS_adjtimex, "0"),
        ("personality", libc::SYS_personality, "0x0040000"),
        ("TIOCSTI", libc::SYS_ioctl, "0, 0x5412, b'x'"),
        ("TIOCSTI with high bits", libc::SYS_ioctl, "0, 0x100005412, b'x'"),
        ("TIOCLINUX", libc::SYS_ioctl, "0, 0x541C, b'x'"),
        ("socket netlink", libc::SYS_socket, "16, 3, 0"),
        ("socketpair inet", libc::SYS_socketpair, "2, 1, 0, 0"),
        ("memfd_create", libc::SYS_memfd_create, "b'x', 0"),
        ("shmget", libc::SYS_shmget, "0, 4096, 0o1600"),
        ("shared memory", libc::SYS_mmap, "0, 4096, 3, 0x21, -1, 0"),
        ("sethostname", libc::SYS_sethostname, "b'x', 1"),
    ];
    let missing: &[(&str, i64, &str)] = &[
        ("clone3", libc::SYS_clone3, "0, 0"),
        ("seccomp", libc::SYS_seccomp, "0, 0, 0"),
        ("openat2", libc::SYS_openat2, "0, b'/', 0, 0"),
        ("a call to come", 1_000, ""),
        ("getpid of x32", 0x4000_0000 + 39, ""),
        ("ptrace of x32", 0x4000_0000 + 521, "0, 0, 0, 0"),
    ];
    let mut code = CALLS.to_owned();
    for (wanted, calls) in [("EPERM", forbidden), ("ENOSYS", missing)] {
        for (name, number, arguments) in calls {
            code.push_str(&format_call(name, wanted, *number, arguments));
        }
    }
    // Checks that these are not rejected by number alone: allowed variants still work.
    code.push_str(&format_call("personality", "DONE", libc::SYS_personality, "0xffffffff"));
    code.push_str(&format_call("getpid", "DONE", libc::SYS_getpid, ""));
    code += "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n";
    assert_eq!(python(&code).await, "b'x'\n");
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_entry_for_32_bit_programs_ends_the_process() {
    // mov eax, 20 (getpid); int 0x80; ret
    let code = "import ctypes, mmap\n\
        page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)\n\
        page.write(bytes.fromhex('b814000000cd80c3'))\n\
        f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n\
        print('before', flush=True); print('ANSWERED', f(), flush=True)\n";
    let outcome = run(Job::new(Language::Python, code)).await;
    assert_eq!(outcome.stdout.text(), "before\n", "{}", outcome.stderr.text());
    // A kernel built without that entry reports a fault.
    assert!(matches!(outcome.exit, Exit::Signal(31 | 11)), "{:?}", outcome.exit);
}

#[tokio::test]
async fn tools_for_nesting_and_tracing_fail() {
    let code = "unshare -Ur true && echo NESTED; unshare -n true && echo NESTED; mount -t tmpfs x /tmp && echo MOUNTED\n\
                bwrap --ro-bind / / true && echo NESTED; nsenter -t 1 -m true && echo ENTERED\n\
                echo 'id: '$(id -u); cat /proc/sys/user/max_user_namespaces; cat /proc/self/setgroups";
    let outcome = run(Job::new(Language::Shell, code)).await;
    assert!(outcome.stdout.text().starts_with("id: 1000\n"), "{}", outcome.stdout.text());
    for word in ["NESTED", "MOUNTED", "ENTERED"] {
        assert!(!outcome.stdout.text().contains(word), "{}", outcome.stdout.text());
    }
}
