//! Builds bubblewrap's command line: what the job sees of the machine, and which descriptors it inherits.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::seccomp;
use crate::{Job, Language, Limits, SandboxError};

/// Folders searched for interpreters: the system's own, which are bound read-only anyway. An interpreter in
/// a home directory would need that directory.
const DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
/// Folders beside `/usr` that hold the loader and the interpreters, or are links into `/usr` on systems
/// that have merged them.
const ROOTS: [&str; 5] = ["/bin", "/sbin", "/lib", "/lib64", "/lib32"];
/// Paths in `/etc`: the library cache, and the alternatives behind `python3` or `awk` on Debian.
const ETC: [&str; 2] = ["/etc/ld.so.cache", "/etc/alternatives"];
/// Devices in `/dev`. No terminals; for `/dev/zero` see the crate's documentation.
const DEVICES: [&str; 4] = ["null", "full", "random", "urandom"];
/// The job's user inside the sandbox.
const PASSWD: &str = "sandbox:x:1000:1000::/job:/bin/sh\n";
const GROUP: &str = "sandbox:x:1000:\n";
/// `nobody`, used if the caller is the machine's root, because some limits do not apply to root.
const NOBODY: u32 = 65_534;

/// A command, with the descriptors that must stay open until it has been started.
pub(super) struct Prepared {
    pub(super) command: Command,
    pub(super) descriptors: Vec<OwnedFd>,
}

/// The ends of pipes that are passed to bubblewrap.
pub(super) struct Pipes {
    /// Bubblewrap writes its status to it, as JSON.
    pub(super) status: OwnedFd,
    /// Bubblewrap waits for a byte from it before it starts the program.
    pub(super) go: OwnedFd,
    /// The write end of `go`, kept open by bubblewrap itself so that our death does not count as a byte.
    pub(super) keep: OwnedFd,
}

/// Finds an interpreter in the system's folders.
pub(super) fn interpreter(language: Language) -> Result<PathBuf, SandboxError> {
    let name = language.interpreter();
    // A link to outside the bound folders would not work in the sandbox.
    let works = |path: &PathBuf| {
        fs::canonicalize(path).is_ok_and(|real| {
            real.is_file() && ["/usr", "/bin", "/lib"].iter().any(|root| real.starts_with(root))
        })
    };
    DIRECTORIES.iter().map(|dir| Path::new(dir).join(name)).find(works).ok_or_else(|| {
        SandboxError::NoInterpreter {
            interpreter: name,
            places: DIRECTORIES.iter().map(|dir| (*dir).to_owned()).collect(),
        }
    })
}

/// Checks the names and sizes of the job's files.
pub(super) fn check(job: &Job) -> Result<(), SandboxError> {
    let limits = &job.limits;
    if job.files.len() > Job::MAX_FILES {
        let why = format!("{} files; the limit is {}", job.files.len(), Job::MAX_FILES);
        return Err(SandboxError::TooLarge { why });
    }
    let mut total = 0;
    let mut names = HashSet::from([job.language.main_file()]);
    let code = (job.language.main_file(), job.code.len());
    let files = job.files.iter().map(|(name, bytes)| (name.as_str(), bytes.len()));
    for (name, bytes) in std::iter::once(code).chain(files) {
        if bytes as u64 > limits.file_bytes {
            let why = format!("`{name}` has {bytes} bytes; the limit for a file is {}", limits.file_bytes);
            return Err(SandboxError::TooLarge { why });
        }
        total += bytes as u64;
    }
    if total > limits.scratch_bytes {
        let why = format!("{total} bytes in total; the limit is {}", limits.scratch_bytes);
        return Err(SandboxError::TooLarge { why });
    }
    for (name, _) in &job.files {
        let bad = |why| Err(SandboxError::BadName { name: name.clone(), why });
        if name.is_empty() || name.contains('\0') {
            return bad("it is empty or contains a NUL");
        }
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return bad("it is not a plain relative name");
        }
        if !names.insert(name) {
            return bad("the name is used twice");
        }
    }
    if job.arguments.iter().any(|argument| argument.contains('\0')) {
        let name = job.language.main_file().to_owned();
        return Err(SandboxError::BadName { name, why: "an argument contains a NUL" });
    }
    Ok(())
}

/// Builds the command. With `as_nobody`, the caller is root and the job must not be.
pub(super) fn prepare(
    bwrap: &Path,
    job: &Job,
    pipes: Pipes,
    as_nobody: bool,
) -> Result<Prepared, SandboxError> {
    let interpreter = interpreter(job.language)?;
    let mut args = Arguments::default();
    for flag in ["user", "pid", "net", "ipc", "uts", "cgroup"] {
        args.add([format!("--unshare-{flag}")]);
    }
    args.add(["--disable-userns", "--die-with-parent", "--new-session"]);
    args.add(["--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]);
    args.add(["--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin"]);
    args.add(["--setenv", "HOME", "/job", "--setenv", "LANG", "C.UTF-8"]);
    args.system();
    args.private(&job.limits);

    args.add(["--perms", "0444", "--ro-bind-data"]).data("passwd", PASSWD.as_bytes())?.add(["/etc/passwd"]);
    args.add(["--perms", "0444", "--ro-bind-data"]).data("group", GROUP.as_bytes())?.add(["/etc/group"]);
    let main = (job.language.main_file(), job.code.as_bytes());
    let files = job.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    for (name, bytes) in std::iter::once(main).chain(files) {
        args.add(["--file"]).data("file", bytes)?.add([format!("/job/{name}")]);
    }
    // Last, after all mounts. Nothing needs to write to /proc, and writing to parts of it (the machine's
    // settings, process 1's memory) would be dangerous.
    args.add(["--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/job"]);
    for program in seccomp::programs()? {
        args.add(["--add-seccomp-fd"]).data("seccomp", &program)?;
    }
    args.add(["--json-status-fd"]).pass(pipes.status);
    args.add(["--block-fd"]).pass(pipes.go);
    args.add(["--sync-fd"]).pass(pipes.keep);
    args.add(["--"]).add(super::limits::command(job.language, &job.limits));
    args.words.push(interpreter.into_os_string());
    args.add(options(job)).add([format!("/job/{}", job.language.main_file())]);
    args.add(job.arguments.iter().map(String::as_str));

    let stdin = memory_file("stdin", &job.stdin)?;
    let mut command = Command::new(bwrap);
    // Cleared here as well: process 1 of the job would show our environment in its /proc.
    command.args(&args.words).env_clear().current_dir("/");
    command.stdin(Stdio::from(stdin)).stdout(Stdio::piped()).stderr(Stdio::piped());
    if as_nobody {
        command.uid(NOBODY).gid(NOBODY);
    }
    pass_only(&mut command, args.descriptors.iter().map(AsRawFd::as_raw_fd).collect());
    Ok(Prepared { command, descriptors: args.descriptors })
}

/// Returns options for the interpreter itself.
fn options(job: &Job) -> Vec<String> {
    match job.language {
        // No compiled copies beside the files, no packages from a home directory.
        Language::Python => vec!["-B".to_owned(), "-s".to_owned()],
        // Node would size its heap by the machine's memory. Half of the job's is left for what is not on
        // the heap.
        Language::JavaScript => {
            vec![format!("--max-old-space-size={}", (job.limits.memory_bytes >> 21).max(16))]
        }
        Language::Shell => Vec::new(),
    }
}

/// Makes the command inherit exactly these descriptors besides its standard streams, even if other
/// libraries of this process have opened some without `O_CLOEXEC`.
fn pass_only(command: &mut Command, passed: Vec<RawFd>) {
    let mark = move || {
        // SAFETY: two system calls on plain numbers. The descriptors in `passed` were open when the
        // command was built and stay so until it has been started (`Prepared`); in the child nothing
        // else runs that could close them.
        unsafe {
            // By number, because older C libraries have no wrapper.
            let rest = (3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
            if libc::syscall(libc::SYS_close_range, rest.0, rest.1, rest.2) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            for descriptor in &passed {
                if libc::fcntl(*descriptor, libc::F_SETFD, 0) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec `mark` makes nothing but system calls: it allocates nothing and
    // takes no lock (an `io::Error` from a number does neither).
    unsafe { command.pre_exec(mark) };
}

/// Returns an in-memory file with these bytes, sealed against changes and positioned at its start.
fn memory_file(name: &str, bytes: &[u8]) -> Result<OwnedFd, SandboxError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create(name, flags).map_err(SandboxError::system("making a file in memory"))?;
    let mut file = fs::File::from(file);
    let filled = file.write_all(bytes).and_then(|()| file.rewind());
    filled.map_err(SandboxError::io("filling a file in memory"))?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals).map_err(SandboxError::system("sealing a file in memory"))?;
    Ok(file.into())
}

/// Bubblewrap's arguments, and the descriptors they refer to.
#[derive(Default)]
struct Arguments {
    words: Vec<OsString>,
    descriptors: Vec<OwnedFd>,
}

impl Arguments {
    fn add<W: Into<OsString>>(&mut self, words: impl IntoIterator<Item = W>) -> &mut Arguments {
        self.words.extend(words.into_iter().map(Into::into));
        self
    }

    fn pass(&mut self, descriptor: OwnedFd) -> &mut Arguments {
        self.words.push(descriptor.as_raw_fd().to_string().into());
        self.descriptors.push(descriptor);
        self
    }

    fn data(&mut self, name: &str, bytes: &[u8]) -> Result<&mut Arguments, SandboxError> {
        Ok(self.pass(memory_file(name, bytes)?))
    }

    /// Binds parts of the machine, read-only.
    fn system(&mut self) {
        self.add(["--ro-bind", "/usr", "/usr"]);
        for root in ROOTS {
            match fs::read_link(root) {
                Ok(target) => {
                    self.add(["--symlink"]).add([target.into_os_string()]).add([root]);
                }
                Err(_) => {
                    self.add(["--ro-bind-try", root, root]);
                }
            }
        }
        self.add(["--perms", "0755", "--dir", "/etc"]);
        for path in ETC {
            self.add(["--ro-bind-try", path, path]);
        }
        self.add(["--perms", "0755", "--dir", "/dev"]);
        for device in DEVICES {
            let path = format!("/dev/{device}");
            self.add(["--dev-bind", &path, &path]);
        }
    }

    /// Mounts what is private to the job.
    fn private(&mut self, limits: &Limits) {
        self.add(["--proc", "/proc", "--symlink", "/proc/self/fd", "/dev/fd"]);
        for (number, name) in ["stdin", "stdout", "stderr"].iter().enumerate() {
            let (target, link) = (format!("/proc/self/fd/{number}"), format!("/dev/{name}"));
            self.add(["--symlink", &target, &link]);
        }
        // The C library keeps semaphores here. A third in-memory folder would be one more to fill.
        self.add(["--symlink", "/tmp", "/dev/shm"]);
        for folder in ["/job", "/tmp"] {
            let size = limits.scratch_bytes.max(1).to_string();
            self.add(["--perms", "0700", "--size", &size, "--tmpfs", folder]);
        }
    }
}
