//! Tests of what a job uses as a whole, with a control group (if this machine allows one) and without.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::{TIMEOUT, processes_with, run_in, sampled, sandbox};
use crate::{Exit, Job, Language, Outcome, Sandbox};

fn both() -> [Sandbox; 2] {
    [sandbox(), sampled()]
}

/// Runs a job while counting the processes whose command line contains `mark`, and measuring the longest
/// pause of the counting thread.
async fn counted(sandbox: &Sandbox, job: Job, mark: &'static str) -> (Outcome, usize, Duration) {
    let over = Arc::new(AtomicBool::new(false));
    let most = Arc::new(AtomicUsize::new(0));
    let (sent, pause) = mpsc::channel();
    let thread = std::thread::spawn({
        let (over, most) = (over.clone(), most.clone());
        move || {
            let mut longest = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let began = Instant::now();
                most.fetch_max(processes_with(mark).len(), Ordering::Relaxed);
                longest = longest.max(began.elapsed());
            }
            sent.send(longest).expect("somebody waits");
        }
    });
    let outcome = run_in(sandbox, job).await;
    over.store(true, Ordering::Relaxed);
    thread.join().expect("counts");
    (outcome, most.load(Ordering::Relaxed), pause.recv().expect("counted"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_bomb_stays_small_and_ends() {
    for sandbox in both() {
        let total = sandbox.limit_enforcement();
        let mark = "bomb-of-a-test-6120";
        // It continues whatever happens, but stops at 2^9 processes even if nothing limits it.
        let code = "import os\ndepth = 0\nwhile True:\n    try:\n        if depth < 9: depth += 1; os.fork()\n\
                    \x20   except OSError: depth -= 1\n";
        let mut job = Job::new(Language::Python, code);
        job.arguments = vec![mark.to_owned()];
        // Ended by processor time, not wall time: a busy machine would not let it grow before that.
        job.limits.cpu = Duration::from_secs(2);
        let (outcome, most, pause) = counted(&sandbox, job, mark).await;
        assert_eq!(outcome.exit, Exit::TimedOut, "{total:?}: {}", outcome.stderr.text());
        // Bubblewrap's two processes have the arguments in their command lines too.
        assert!((3..=32 + 2).contains(&most), "{total:?}: {most} processes at once");
        assert!(pause < TIMEOUT, "{total:?}: the machine stood still for {pause:?}");
        assert_eq!(processes_with(mark), [""; 0], "{total:?}");

        let code = "b() { [ $1 = 0 ] && sleep 2 || b $(($1 - 1)) | b $(($1 - 1)); }; b 9";
        let mut job = Job::new(Language::Shell, code);
        job.limits.wall = Duration::from_secs(3);
        let outcome = run_in(&sandbox, job).await;
        assert!(!outcome.stderr.bytes.is_empty() || outcome.exit != Exit::Code(0), "{total:?}: {outcome:?}");

        let code = "import threading, time\nfor n in range(100): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()";
        let outcome = run_in(&sandbox, Job::new(Language::Python, code)).await;
        assert_eq!(outcome.exit, Exit::Code(1), "{total:?}: {}", outcome.stderr.text());
        assert!(outcome.stderr.text().contains("can't start new thread"), "{}", outcome.stderr.text());
    }
}

#[tokio::test]
async fn one_process_cannot_have_more_memory_than_the_job() {
    for sandbox in both() {
        let outcome = run_in(&sandbox, Job::new(Language::Python, "x = bytearray(400 << 20)")).await;
        assert_eq!(outcome.exit, Exit::Code(1), "{:?}", sandbox.limit_enforcement());
        assert!(outcome.stderr.text().contains("MemoryError"), "{}", outcome.stderr.text());
        let code = "const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1));";
        let outcome = run_in(&sandbox, Job::new(Language::JavaScript, code)).await;
        let ended = matches!(outcome.exit, Exit::OutOfMemory | Exit::Signal(_) | Exit::Code(1..));
        assert!(ended, "{:?}: {outcome:?}", sandbox.limit_enforcement());
    }
}

/// Processes that each stay below the limit and keep their memory.
const MANY: &str = "\
import os, time
for n in range(20):
    if os.fork() == 0:
        kept = bytearray(os.urandom(1 << 20)) * 60
        time.sleep(1000)
        os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
print('all done')
";

#[tokio::test]
async fn many_processes_together_cannot_either() {
    for sandbox in both() {
        let outcome = run_in(&sandbox, Job::new(Language::Python, MANY)).await;
        assert_eq!(
            outcome.exit,
            Exit::OutOfMemory,
            "{:?}: {}",
            sandbox.limit_enforcement(),
            outcome.stderr.text()
        );
    }
}

#[tokio::test]
async fn memory_that_processes_share_counts_once() {
    let code = "\
import os, time
shared = bytearray(os.urandom(1 << 20)) * 100
for n in range(8):
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
for n in range(8): os.wait()
print(len(shared) >> 20)
";
    for sandbox in both() {
        let outcome = run_in(&sandbox, Job::new(Language::Python, code)).await;
        assert_eq!(
            (outcome.exit, outcome.stdout.text().as_ref()),
            (Exit::Code(0), "100\n"),
            "{:?}",
            sandbox.limit_enforcement()
        );
    }
}

#[tokio::test]
async fn memory_made_read_only_still_counts() {
    // Each mapping leaves the sum of writable memory (RLIMIT_DATA) when it is made read-only.
    let code = "\
import ctypes, mmap
libc = ctypes.CDLL(None)
kept = []
while True:
    page = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page.write(b'x' * (16 << 20))
    libc.mprotect(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page))), ctypes.c_size_t(16 << 20), 1)
    kept.append(page)
";
    for sandbox in both() {
        let outcome = run_in(&sandbox, Job::new(Language::Python, code)).await;
        let bounded = matches!(outcome.exit, Exit::OutOfMemory | Exit::Code(1));
        assert!(bounded, "{:?}: {outcome:?}", sandbox.limit_enforcement());
    }
}
