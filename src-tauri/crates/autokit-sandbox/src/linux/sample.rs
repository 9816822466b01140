//! Samples what all processes of a job use together, from the job's own `/proc`.

use std::io;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, Mode, OFlags, fstat, fstatvfs, open, openat};
use rustix::io::Errno;
use rustix::process::Pid;

/// Kernel memory of one file in a tmpfs, in bytes: its inode and its name. The size of a tmpfs does not
/// limit its number of empty files.
const INODE_BYTES: u64 = 1 << 10;

/// The totals of a job at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// Processes and threads, without bubblewrap's process 1.
    pub(super) tasks: u64,
    /// Memory in bytes: the sum of resident set sizes (which count shared pages more than once) or, if that
    /// is over the limit, of proportional set sizes; plus the kernel memory of files.
    pub(super) memory: u64,
    /// Processor time of all living processes and of those that were waited for, in clock ticks.
    pub(super) ticks: u64,
}

/// The job's own `/proc` and its two in-memory folders.
#[derive(Debug)]
pub(super) struct Sampler {
    proc: OwnedFd,
    folders: Vec<OwnedFd>,
}

impl Sampler {
    /// Opens the job's `/proc` through its process 1. `None` until bubblewrap has changed the root, because
    /// it is still ours before.
    pub(super) fn open(init: Pid) -> io::Result<Option<Sampler>> {
        let root = format!("/proc/{}/root", init.as_raw_nonzero());
        let folder = |path: &str| {
            open(format!("{root}{path}"), OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        };
        let ours = open("/proc", OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let opened = || Ok((folder("/proc")?, vec![folder("/job")?, folder("/tmp")?]));
        let (proc, folders) = match opened() {
            Ok(opened) => opened,
            // The new root is being built, or the job ended in between.
            Err(errno) if is_gone(errno) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        if fstat(&proc)?.st_dev == fstat(&ours)?.st_dev {
            return Ok(None);
        }
        Ok(Some(Sampler { proc, folders }))
    }

    /// Takes a sample. Proportional set sizes are read only if they can matter for `limit` (in bytes),
    /// because the kernel walks over every page for them.
    pub(super) fn take(&self, limit: u64) -> io::Result<Sample> {
        let mut sample = Sample::default();
        let mut processes = Vec::new();
        for entry in Dir::read_from(&self.proc)? {
            let name = match entry {
                Ok(entry) => entry.file_name().to_owned(),
                Err(errno) if is_gone(errno) => break,
                Err(errno) => return Err(errno.into()),
            };
            let Some(number) = name.to_str().ok().filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
            else {
                continue;
            };
            let Some(stat) = self.read(&format!("{number}/stat"))? else { continue };
            let Some(stat) = Stat::parse(&stat) else {
                return Err(io::Error::other("/proc/PID/stat is not as documented"));
            };
            sample.ticks += stat.ticks;
            sample.memory += stat.resident;
            if number != "1" {
                sample.tasks += stat.threads;
            }
            processes.push((number.to_owned(), stat.resident));
        }
        if sample.memory > limit {
            sample.memory = 0;
            for (number, resident) in processes {
                sample.memory += self.proportional(&number, resident)?;
            }
        }
        for folder in &self.folders {
            let files = fstatvfs(folder)?;
            sample.memory += files.f_files.saturating_sub(files.f_ffree) * INODE_BYTES;
        }
        Ok(sample)
    }

    /// Returns a process's proportional set size in bytes: 0 if it is gone, `resident` if its pages cannot
    /// be read.
    fn proportional(&self, process: &str, resident: u64) -> io::Result<u64> {
        let text = match self.read(&format!("{process}/smaps_rollup")) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(0),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(resident),
            Err(error) => return Err(error),
        };
        let share = text.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB"));
        let kilobytes = share.and_then(|share| share.parse::<u64>().ok());
        Ok(kilobytes.map_or(resident, |kilobytes| kilobytes << 10))
    }

    /// Reads a file of the job's `/proc`; `None` if its process is gone.
    fn read(&self, path: &str) -> io::Result<Option<String>> {
        let file = match openat(self.proc.as_fd(), path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => file,
            Err(errno) if is_gone(errno) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        match io::read_to_string(std::fs::File::from(file)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
            // A process can set its name, in parentheses, to bytes that are not UTF-8.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => self.read_bytes(path),
            Err(error) => Err(error),
        }
    }

    fn read_bytes(&self, path: &str) -> io::Result<Option<String>> {
        let file = openat(self.proc.as_fd(), path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let Ok(file) = file else { return Ok(None) };
        let mut bytes = Vec::new();
        match io::Read::read_to_end(&mut std::fs::File::from(file), &mut bytes) {
            Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns whether an error says that a process is gone.
fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::SRCH)
}

/// The fields used of a line of `/proc/PID/stat`.
struct Stat {
    ticks: u64,
    threads: u64,
    /// In bytes.
    resident: u64,
}

impl Stat {
    fn parse(line: &str) -> Option<Stat> {
        // The second field is the name in parentheses, which may contain any characters, including
        // parentheses.
        let (_, rest) = line.rsplit_once(')')?;
        // Field 3, the state, is at index 0.
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<i64>().ok();
        let ticks = number(14)? + number(15)? + number(16)? + number(17)?;
        Some(Stat {
            ticks: ticks.max(0).unsigned_abs(),
            threads: number(20)?.max(0).unsigned_abs(),
            resident: number(24)?.max(0).unsigned_abs() * rustix::param::page_size() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Stat;

    #[test]
    fn a_name_cannot_pose_as_the_fields_after_it() {
        let line = "7 (a) R 1 1 1) S 1 7 7 0 -1 4194304 9 0 0 0 11 22 33 44 20 0 5 0 100 4096 3 18 1 1";
        let stat = Stat::parse(line).expect("as the kernel writes it");
        assert_eq!((stat.ticks, stat.threads), (110, 5));
        assert_eq!(stat.resident, 3 * rustix::param::page_size() as u64);
    }
}
