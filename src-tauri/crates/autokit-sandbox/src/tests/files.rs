//! Tests of what a job can read and write of the machine.

use super::{python, run};
use crate::{Exit, Job, Language};

#[tokio::test]
async fn nothing_outside_can_be_read() {
    let secret = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(secret.path(), "the machine's secret").expect("written");
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let code = format!(
        "import os\n\
         for path in ['/etc/shadow', '/etc/hostname', '/root', '/home', '/var', '/run', '/sys', '/mnt', \
         '/boot', '/dev/mem', '/dev/kmem', '/dev/tty', '/dev/zero', '/dev/sda', '/proc/kcore', \
         {:?}, {own:?}]:\n\
         \x20   try:\n\
         \x20       print('READ', path, os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(20))\n\
         \x20   except OSError: pass\n\
         print(sorted(os.listdir('/')), sorted(os.listdir('/etc')))\n",
        secret.path()
    );
    let said = python(&code).await;
    assert!(!said.contains("READ"), "{said}");
    assert!(said.contains("'/etc'") || said.contains("'etc'"), "{said}");
    assert!(!said.contains("'shadow'") && !said.contains("'home'"), "{said}");
}

#[tokio::test]
async fn the_callers_environment_and_descriptors_do_not_come_along() {
    // Cargo sets this for every test.
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| std::env::var("PATH").expect("set"));
    let open = std::fs::File::open("/proc/self/status").expect("opens");
    // Like a library that forgets `O_CLOEXEC`.
    let leaked = rustix::io::dup(&open).expect("copied");
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).expect("unmarked");
    let said = python(
        "import os, glob\n\
         print(sorted(os.environ))\n\
         for path in glob.glob('/proc/[0-9]*/environ'): print(path, open(path).read())\n\
         print(sorted(int(n) for n in os.listdir('/proc/self/fd')))\n\
         print(os.listdir('/proc/1/fd') if os.access('/proc/1/fd', os.R_OK) else 'closed')\n\
         print(sorted(int(n) for n in os.listdir('/proc') if n.isdigit()))\n",
    )
    .await;
    drop(leaked);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("['HOME', 'LANG', 'PATH', 'PWD']"));
    assert!(!said.contains(&own), "{said}");
    // The standard streams, and the descriptor that lists the folder.
    assert!(said.contains("\n[0, 1, 2, 3]\n"), "{said}");
    assert!(said.ends_with("\n[1, 2]\n"), "other processes are in sight: {said}");
}

#[tokio::test]
async fn nothing_outside_can_be_written() {
    let code = "\
import os, ctypes
def refused(what, f):
    try: f(); print('DONE', what)
    except OSError as e: pass
for path in ['/x', '/usr/x', '/usr/bin/x', '/etc/x', '/etc/passwd', '/dev/x', '/bin/x', 
             '/proc/self/uid_map', '/proc/1/oom_score_adj_x']:
    refused(path, lambda: open(path, 'w').write('x'))
refused('unlink', lambda: os.unlink('/usr/bin/env'))
refused('mem of init', lambda: open('/proc/1/mem', 'r+b'))
refused('own mem', lambda: open('/proc/self/mem', 'r+b'))
for name, mode, device in [('null', 0o20666, (1, 3)), ('mem', 0o20666, (1, 1)), ('disk', 0o60666, (8, 0))]:
    refused(name, lambda: os.mknod('/job/' + name, mode, os.makedev(*device)))
refused('link', lambda: os.link('/usr/bin/env', '/job/env'))
refused('chown', lambda: os.chown('/job/main.py', 0, 0))
refused('setuid', lambda: os.setuid(0))
os.symlink('/etc/shadow', '/job/link'); refused('symlink', lambda: open('/job/link').read())
refused('symlink', lambda: open('/proc/1/root/etc/shadow').read())
refused('up', lambda: open('/job/../../../../etc/shadow').read())
os.mkfifo('/job/fifo')
for path in ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname']:
    if os.access(path, os.W_OK): print('WRITABLE', path)
print('end')
";
    let said = python(code).await;
    assert_eq!(said, "end\n");
    assert!(!std::path::Path::new("/usr/x").exists() && !std::path::Path::new("/etc/x").exists());
}

#[tokio::test]
async fn files_have_a_largest_size_and_so_have_all_together() {
    let said = python(
        "import os, signal\n\
         signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
         def fill(path, most):\n\
         \x20   done = 0\n\
         \x20   try:\n\
         \x20       with open(path, 'wb', 0) as f:\n\
         \x20           while done < most: done += f.write(b'x' * min(1 << 20, most - done))\n\
         \x20   except OSError as e: return done, e.errno\n\
         \x20   return done, 0\n\
         print(fill('/job/one', 1 << 30))\n\
         os.unlink('/job/one')\n\
         for folder in ['/job', '/tmp', '/dev/shm']:\n\
         \x20   print(folder, sum(fill(f'{folder}/{n}', 15 << 20)[0] for n in range(8)) >> 20)\n",
    )
    .await;
    // 27 is EFBIG. The code itself takes a page of /job; /dev/shm is /tmp, overwritten.
    assert_eq!(said, format!("({}, 27)\n/job 63\n/tmp 64\n/dev/shm 64\n", 16 << 20));
}

#[tokio::test]
async fn empty_files_without_end_are_ended() {
    let mut job =
        Job::new(Language::Python, "n = 0\nwhile True:\n    open(f'/tmp/{n}', 'w').close(); n += 1\n");
    job.limits.memory_bytes = 32 << 20;
    assert_eq!(run(job).await.exit, Exit::OutOfMemory);
}
