//! A control group per job, if this process may create one: the only way to limit the memory and the
//! processes of a whole job exactly.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Pid;

use crate::Limits;

/// Prefix of the names of AutoKit's groups, followed by the process id of their creator.
const PREFIX: &str = "autokit-sandbox-";

/// Where groups can be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CgroupRoot {
    /// In the single hierarchy of cgroup v2.
    V2(PathBuf),
    /// In the hierarchies of cgroup v1.
    V1 {
        /// Our group in the hierarchy of the memory controller.
        memory: PathBuf,
        /// Our group in the hierarchy of the pids controller.
        pids: PathBuf,
    },
}

/// A group of one job. Its folders are removed by [`Group::remove`].
#[derive(Debug)]
pub(super) struct Group {
    root: CgroupRoot,
}

impl CgroupRoot {
    /// Finds a place beside or below our own group, if there is one: reads `/proc` for candidates, and
    /// tries to create and remove a group there.
    pub(super) fn find() -> Option<CgroupRoot> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let candidates = v2_roots(&own, &mounts).into_iter().chain(v1_root(&own, &mounts));
        candidates.into_iter().find(|root| {
            root.remove_stale();
            match Group::create(root, &Limits::default()) {
                Ok(group) => match group.remove() {
                    Ok(()) => true,
                    Err(error) => {
                        tracing::warn!("failed to remove a control group: {error}");
                        false
                    }
                },
                Err(error) => {
                    tracing::debug!("failed to create a control group at {root:?}: {error}");
                    false
                }
            }
        })
    }

    fn roots(&self) -> Vec<&Path> {
        match self {
            CgroupRoot::V2(root) => vec![root],
            CgroupRoot::V1 { memory, pids } => vec![memory, pids],
        }
    }

    /// Removes empty groups left behind by processes that were killed.
    fn remove_stale(&self) {
        for root in self.roots() {
            let Ok(entries) = fs::read_dir(root) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
                let owner = owner.and_then(|rest| rest.split('-').next());
                let Some(owner) = owner else { continue };
                if !Path::new("/proc").join(owner).exists()
                    && let Err(error) = fs::remove_dir(entry.path())
                {
                    tracing::debug!(
                        "failed to remove the leftover control group {}: {error}",
                        entry.path().display()
                    );
                }
            }
        }
    }
}

/// Returns candidate folders of cgroup v2, nearest first: ancestors of our group that delegate the memory
/// and pids controllers to their children. Our own group cannot, because it holds a process.
fn v2_roots(own: &str, mounts: &str) -> Vec<CgroupRoot> {
    let Some(group) = own.lines().find_map(|line| line.strip_prefix("0::")) else { return Vec::new() };
    let Some(root) = mount_of(mounts, |kind, _| kind == "cgroup2") else { return Vec::new() };
    let own = root.join(group.trim_start_matches('/'));
    own.ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(&root))
        .filter(|folder| {
            fs::read_to_string(folder.join("cgroup.subtree_control")).is_ok_and(|on| {
                let mut on = on.split_whitespace();
                on.clone().any(|name| name == "memory") && on.any(|name| name == "pids")
            })
        })
        .map(|folder| CgroupRoot::V2(folder.to_owned()))
        .collect()
}

/// Returns our folders of cgroup v1, below which groups are created.
fn v1_root(own: &str, mounts: &str) -> Option<CgroupRoot> {
    let tree = |controller: &str| {
        let root = mount_of(mounts, |kind, options| {
            kind == "cgroup" && options.split(',').any(|o| o == controller)
        })?;
        let group = own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            controllers.split(',').any(|name| name == controller).then_some(path)
        })?;
        Some(root.join(group.trim_start_matches('/')))
    };
    Some(CgroupRoot::V1 { memory: tree("memory")?, pids: tree("pids")? })
}

/// Returns the first mount of `mountinfo` with suitable type and options.
fn mount_of(mounts: &str, matches_mount: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let kind = after.next()?;
        let options = after.nth(1)?;
        matches_mount(kind, options).then(|| before.split(' ').nth(4).map(PathBuf::from))?
    })
}

impl Group {
    /// Creates a group with the job's limits. The kernel counts the files in the job's two in-memory
    /// folders too, so their size is added to the limit.
    pub(super) fn create(root: &CgroupRoot, limits: &Limits) -> io::Result<Group> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        let group = Group {
            root: match root {
                CgroupRoot::V2(root) => CgroupRoot::V2(root.join(&name)),
                CgroupRoot::V1 { memory, pids } => {
                    CgroupRoot::V1 { memory: memory.join(&name), pids: pids.join(&name) }
                }
            },
        };
        match group.set_limits(limits) {
            Ok(()) => Ok(group),
            Err(error) => {
                // Partly created: removes the folders that exist.
                for folder in group.root.roots().into_iter().filter(|folder| folder.exists()) {
                    fs::remove_dir(folder)?;
                }
                Err(error)
            }
        }
    }

    fn set_limits(&self, limits: &Limits) -> io::Result<()> {
        let memory_limit = limits.memory_bytes.saturating_add(limits.scratch_bytes.saturating_mul(2));
        for folder in self.root.roots() {
            fs::create_dir(folder)?;
        }
        match &self.root {
            CgroupRoot::V2(group) => {
                fs::write(group.join("memory.max"), memory_limit.to_string())?;
                // Both files are missing if the kernel has no swap or is older.
                write_if_exists(&group.join("memory.swap.max"), "0")?;
                write_if_exists(&group.join("memory.oom.group"), "1")?;
                fs::write(group.join("pids.max"), processes(limits))
            }
            CgroupRoot::V1 { memory, pids } => {
                fs::write(memory.join("memory.limit_in_bytes"), memory_limit.to_string())?;
                write_if_exists(&memory.join("memory.memsw.limit_in_bytes"), &memory_limit.to_string())?;
                fs::write(pids.join("pids.max"), processes(limits))
            }
        }
    }

    /// Moves a process, and the processes it will start, into the group.
    pub(super) fn add_process(&self, process: Pid) -> io::Result<()> {
        for folder in self.root.roots() {
            fs::write(folder.join("cgroup.procs"), process.as_raw_nonzero().to_string())?;
        }
        Ok(())
    }

    /// Returns how many processes the kernel has killed because the group was out of memory.
    pub(super) fn killed_for_memory(&self) -> io::Result<u64> {
        let file = match &self.root {
            CgroupRoot::V2(group) => group.join("memory.events"),
            CgroupRoot::V1 { memory, .. } => memory.join("memory.oom_control"),
        };
        let text = fs::read_to_string(file)?;
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count
            .and_then(|count| count.trim().parse().ok())
            .ok_or_else(|| io::Error::other("the control group does not count what was killed for memory"))
    }

    /// Removes the group, which must be empty.
    pub(super) fn remove(self) -> io::Result<()> {
        self.root.roots().into_iter().try_for_each(fs::remove_dir)
    }
}

/// One more, for bubblewrap's own process 1, which is in the group but not part of the job.
fn processes(limits: &Limits) -> String {
    (u64::from(limits.processes) + 1).to_string()
}

fn write_if_exists(file: &Path, text: &str) -> io::Result<()> {
    match fs::write(file, text) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A v1 kernel without swap accounting has the file but rejects writes.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CgroupRoot, mount_of, v1_root};

    const MOUNTS: &str = "\
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/memory rw,relatime shared:1 - cgroup cgroup rw,memory
32 30 0:28 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn our_groups_are_found_from_what_the_kernel_says() {
        let found = v1_root("8:pids:/\n4:memory:/user/one\n0::/\n", MOUNTS);
        let expected = CgroupRoot::V1 {
            memory: "/sys/fs/cgroup/memory/user/one".into(),
            pids: "/sys/fs/cgroup/pids/".into(),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(v1_root("8:pids:/\n0::/\n", MOUNTS), None, "no memory controller");
        let root = mount_of(MOUNTS, |kind, _| kind == "cgroup2");
        assert_eq!(root.as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
    }
}
