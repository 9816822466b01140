//! What this process logs, kept for tests that look for something in it.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Everything said so far. The database alone is left out: it says too much.
const LEVELS: &str =
    "trace,surrealdb=off,surrealdb_core=off,surrealkv=off,surrealdb_engine_local=off,surrealmx=off";

/// A log in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// The log of this process, which begins with the first call.
    ///
    /// # Panics
    /// When somebody else listens already: the log would stay empty and every search in it succeed.
    pub fn of_this_process() -> Log {
        static LOG: OnceLock<Log> = OnceLock::new();
        LOG.get_or_init(|| {
            let log = Log::default();
            tracing_subscriber::fmt()
                .with_env_filter(EnvFilter::new(LEVELS))
                .with_ansi(false)
                .with_writer(log.clone())
                .try_init()
                .expect("nobody else listens");
            log
        })
        .clone()
    }

    /// The lines with these words.
    pub fn lines_with(&self, words: &[&str]) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0.lock().expect("no holder panics")).into_owned();
        let has = |line: &&str| words.iter().all(|word| line.contains(word));
        text.lines().filter(has).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no holder panics").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}
