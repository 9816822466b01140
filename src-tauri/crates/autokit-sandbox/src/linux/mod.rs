//! The sandbox on Linux.

mod calls;
mod cgroup;
mod command;
mod limits;
mod sample;
mod seccomp;
mod stream;
mod supervise;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Exit, Job, Language, LimitEnforcement, Outcome, SandboxError};

/// What this system offers for running jobs.
#[derive(Clone, Debug)]
pub(super) struct Sandbox {
    bwrap: PathBuf,
    /// Where control groups can be created, if at all.
    groups: Option<cgroup::CgroupRoot>,
    /// Whether the caller is the machine's root, to whom some limits do not apply.
    as_nobody: bool,
}

/// Folders searched for `bwrap`. Not `PATH`: what isolates code must not be chosen by the environment.
const DIRECTORIES: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/bin"];

/// Program of the trial run, which prints what restricts it. It uses shell builtins only, so that it shows
/// what the system allows and not what is installed.
const SELF_TEST: &str = r#"
for file in status limits uid_map net/dev mounts; do
    while read -r line; do echo "$file: $line"; done < "/proc/self/$file"
done
"#;

/// Program of the other trial run. The kernel exempts some users from the limit on processes, whatever
/// limit it reports.
const FORK_TEST: &str = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5 & echo $n; done";

impl Sandbox {
    pub(super) fn available() -> Result<Sandbox, SandboxError> {
        let bwrap = DIRECTORIES.iter().map(|dir| Path::new(dir).join("bwrap")).find(|path| path.is_file());
        let bwrap = bwrap.ok_or(SandboxError::NoBubblewrap)?;
        check_version(&bwrap)?;
        if !Path::new(limits::PRLIMIT).is_file() {
            let reason = format!("`{}` (util-linux) is not installed", limits::PRLIMIT);
            return Err(SandboxError::NoIsolation { reason });
        }
        let as_nobody = rustix::process::geteuid().is_root() && is_real_root()?;
        let plain = Sandbox { bwrap, groups: None, as_nobody };
        let mut candidates = vec![];
        if let Some(groups) = cgroup::CgroupRoot::find() {
            candidates.push(Sandbox { groups: Some(groups), ..plain.clone() });
        }
        candidates.push(plain);
        let mut reason = String::new();
        for candidate in candidates {
            match candidate.self_test() {
                Ok(()) => return Ok(candidate),
                Err(error @ SandboxError::OtherProcessor { .. }) => return Err(error),
                Err(error) => {
                    tracing::debug!("sandbox trial failed with {candidate:?}: {error}");
                    reason = error.to_string();
                }
            }
        }
        Err(SandboxError::NoIsolation { reason })
    }

    /// The same sandbox without control groups, to test the sampler.
    #[cfg(test)]
    pub(super) fn without_groups(&self) -> Sandbox {
        Sandbox { groups: None, ..self.clone() }
    }

    pub(super) fn limit_enforcement(&self) -> LimitEnforcement {
        if self.groups.is_some() { LimitEnforcement::ControlGroup } else { LimitEnforcement::Sampler }
    }

    pub(super) async fn run(
        &self,
        job: Job,
        cancel: impl Future<Output = ()>,
    ) -> Result<Outcome, SandboxError> {
        // Closing the other end tells the supervisor to stop, whether by cancellation or by drop.
        let (stopped, stop) = supervise::pipe()?;
        let (done, mut outcome) = tokio::sync::oneshot::channel();
        let sandbox = self.clone();
        // On a thread of its own for the whole run: bubblewrap dies with the thread that started it, and a
        // runtime's threads come and go.
        let thread = std::thread::Builder::new().name("sandbox".to_owned());
        let supervisor = move || {
            if done.send(supervise::run(&sandbox, &job, &stopped)).is_err() {
                tracing::debug!("job outcome dropped; its caller is gone");
            }
        };
        thread.spawn(supervisor).map_err(SandboxError::io("starting the supervisor"))?;
        tokio::pin!(cancel);
        let ended = tokio::select! {
            ended = &mut outcome => ended,
            () = &mut cancel => {
                drop(stop);
                outcome.await
            }
        };
        ended.unwrap_or_else(|_| Err(SandboxError::Internal("the supervisor ended early".to_owned())))
    }

    /// Tests the isolation with a program that starts too many processes and one that prints its
    /// restrictions.
    fn self_test(&self) -> Result<(), SandboxError> {
        let (stopped, stop) = supervise::pipe()?;
        let mut fork_job = Job::new(Language::Shell, FORK_TEST);
        fork_job.limits.processes = 6;
        // Some shells retry for seconds.
        fork_job.limits.wall = Duration::from_millis(500);
        let outcome = supervise::run(self, &fork_job, &stopped)?;
        if outcome.exit == Exit::TooManyProcesses || outcome.stdout.text().contains("12") {
            let reason = "the number of processes is not bounded".to_owned();
            return Err(SandboxError::NoIsolation { reason });
        }
        let mut job = Job::new(Language::Shell, SELF_TEST);
        // It takes a moment, but jobs have low priority, so it may take long on a busy machine.
        job.limits.wall = Duration::from_mins(1);
        let outcome = supervise::run(self, &job, &stopped)?;
        drop(stop);
        let fails = |reason: String| Err(SandboxError::NoIsolation { reason });
        if outcome.exit != Exit::Code(0) {
            return fails(format!("a trial ended with {:?}: {}", outcome.exit, outcome.stderr.text().trim()));
        }
        let report = outcome.stdout.text();
        let fields = |name: &str| {
            let line = report.lines().find_map(|line| line.strip_prefix(name));
            line.map(|line| line.split_whitespace().collect::<Vec<_>>()).unwrap_or_default()
        };
        let limits = &job.limits;
        let expected = [
            ("status: Seccomp:", "2".to_owned()),
            ("status: Seccomp_filters:", "2".to_owned()),
            ("status: NoNewPrivs:", "1".to_owned()),
            ("status: CapEff:", "0000000000000000".to_owned()),
            ("status: CapBnd:", "0000000000000000".to_owned()),
            ("limits: Max data size", limits.memory_bytes.to_string()),
            ("limits: Max processes", limits::tasks(limits).to_string()),
            ("limits: Max file size", limits.file_bytes.to_string()),
            ("limits: Max cpu time", limits::cpu_seconds(limits).to_string()),
            ("uid_map:", "1000".to_owned()),
        ];
        for (name, value) in expected {
            if fields(name).first() != Some(&value.as_str()) {
                return fails(format!("`{name}` is {:?} in a trial, not {value}", fields(name)));
            }
        }
        // The machine's settings could be changed there by its root.
        if fields("mounts: proc /proc proc").first().is_none_or(|options| !options.starts_with("ro,")) {
            return fails("a trial can write to /proc".to_owned());
        }
        let networks = report.lines().filter_map(|line| line.strip_prefix("net/dev: ")?.split_once(':'));
        if let Some((name, _)) = networks.into_iter().find(|(name, _)| *name != "lo") {
            return fails(format!("a trial sees the network `{name}`"));
        }
        Ok(())
    }
}

/// Returns whether user 0 here is user 0 of the machine. In a container with its own user namespace it is
/// not: the kernel treats it like any user then, and there may be no `nobody` to switch to.
fn is_real_root() -> Result<bool, SandboxError> {
    let map =
        std::fs::read_to_string("/proc/self/uid_map").map_err(SandboxError::io("reading the user map"))?;
    Ok(map.lines().any(|line| line.split_whitespace().take(2).eq(["0", "0"])))
}

/// Rejects a bubblewrap that is too old, naming its version rather than showing the usage message it would
/// print.
fn check_version(bwrap: &Path) -> Result<(), SandboxError> {
    let output = std::process::Command::new(bwrap).arg("--version").env_clear().output();
    let output = output.map_err(SandboxError::io("asking bwrap for its version"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.trim().trim_start_matches("bubblewrap ").to_owned();
    if numbers(&found) < numbers(SandboxError::BUBBLEWRAP) {
        return Err(SandboxError::OldBubblewrap { found });
    }
    Ok(())
}

/// Parses the numbers of a version, up to the first part that is not a number.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}
