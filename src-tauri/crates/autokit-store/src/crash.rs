//! Named crash points, so that tests can end the process at a chosen place in the code rather than a chosen
//! time.
//!
//! Debug builds read two environment variables: `AUTOKIT_CRASH_POINT=NAME@N` ends the process, as `kill -9`
//! would, when the point `NAME` is passed for the `N`th time, and `AUTOKIT_CRASH_LOG=FILE` appends the name
//! of every point that is passed. Release builds contain neither.

/// Passes a crash point.
#[cfg(debug_assertions)]
pub fn point(name: &str) {
    use std::io::Write;
    use std::sync::Mutex;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Chosen {
        name: String,
        nth: u64,
        passed: AtomicU64,
    }

    static CHOSEN: OnceLock<Option<Chosen>> = OnceLock::new();
    static LOG: OnceLock<Option<Mutex<std::fs::File>>> = OnceLock::new();

    let chosen = CHOSEN.get_or_init(|| {
        let text = std::env::var("AUTOKIT_CRASH_POINT").ok()?;
        let (name, nth) = text.rsplit_once('@')?;
        Some(Chosen { name: name.to_owned(), nth: nth.parse().ok()?, passed: AtomicU64::new(0) })
    });
    let log = LOG.get_or_init(|| {
        let path = std::env::var_os("AUTOKIT_CRASH_LOG")?;
        std::fs::OpenOptions::new().create(true).append(true).open(path).ok().map(Mutex::new)
    });
    if let Some(log) = log {
        // If the log cannot be written, the test that reads it fails.
        let _ = writeln!(log.lock().expect("no holder panics"), "{name}");
    }
    if let Some(chosen) = chosen.as_ref().filter(|chosen| chosen.name == name)
        && chosen.passed.fetch_add(1, Ordering::Relaxed) + 1 == chosen.nth
    {
        kill();
    }
}

#[cfg(all(debug_assertions, unix))]
fn kill() {
    // The only way to end the process without running any more of its code.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

#[cfg(all(debug_assertions, not(unix)))]
fn kill() {
    std::process::abort();
}

/// Does nothing in release builds.
#[cfg(not(debug_assertions))]
pub fn point(_: &str) {}
