//! Disks of a size of their own, to be filled.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// A kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystem {
    /// In memory: no block is kept for anybody.
    Tmpfs,
    /// In a file, over a loop device.
    Ext4,
}

/// A mounted disk; unmounted when dropped.
#[derive(Debug)]
pub struct Disk {
    // Before the folder that holds it: fields are dropped in order, the mount by hand.
    mount: PathBuf,
    _folder: tempfile::TempDir,
}

impl Disk {
    /// Mounts a disk of so many MiB; none where mounting is not allowed, which is an error in CI.
    ///
    /// # Errors
    /// In CI, when it cannot be mounted.
    pub fn mount(kind: FileSystem, mib: u64) -> Result<Option<Disk>> {
        match Disk::try_mount(kind, mib) {
            Ok(disk) => Ok(Some(disk)),
            Err(error) if std::env::var_os("CI").is_some() => Err(error),
            Err(error) => {
                writeln!(std::io::stderr(), "skipped: {kind:?} cannot be mounted here: {error:#}")?;
                Ok(None)
            }
        }
    }

    fn try_mount(kind: FileSystem, mib: u64) -> Result<Disk> {
        let folder = tempfile::tempdir()?;
        let mount = folder.path().join("disk");
        fs::create_dir(&mount)?;
        let mut command = Command::new("mount");
        match kind {
            FileSystem::Tmpfs => {
                command.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]);
            }
            FileSystem::Ext4 => {
                let image = folder.path().join("image");
                File::create(&image)?.set_len(mib << 20)?;
                run(Command::new("mkfs.ext4").args(["-q", "-m", "0"]).arg(&image))?;
                command.args(["-o", "loop"]).arg(image);
            }
        }
        run(command.arg(&mount))?;
        Ok(Disk { mount, _folder: folder })
    }

    /// Its root.
    pub fn path(&self) -> &Path {
        &self.mount
    }

    /// Fills it up but for so many bytes.
    ///
    /// # Errors
    /// When less is free already, or it cannot be written.
    pub fn fill_leaving(&self, remaining: u64) -> Result<()> {
        let mut file = File::options().create(true).append(true).open(self.filler())?;
        let chunk = vec![b'x'; 64 << 10];
        loop {
            let free = free(&self.mount)?;
            if free <= remaining {
                return Ok(());
            }
            let count = usize::try_from(free - remaining)?.min(chunk.len());
            match file.write_all(&chunk[..count]).and_then(|()| file.sync_data()) {
                Err(error) if error.kind() == std::io::ErrorKind::StorageFull => return Ok(()),
                written => written?,
            }
        }
    }

    /// Takes away what filled it.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn clear(&self) -> Result<()> {
        // A process another test is just starting may hold the file open for a moment more: only cutting it
        // short gives its room back at once.
        let file = File::options().write(true).open(self.filler()).context("the disk was not filled")?;
        file.set_len(0)?;
        fs::remove_file(self.filler())?;
        // Blocks of a journalling file system are free for others once its journal is written.
        // SAFETY: the descriptor is open as long as `file` lives.
        if unsafe { libc::syncfs(std::os::fd::AsRawFd::as_raw_fd(&file)) } != 0 {
            bail!("{}", std::io::Error::last_os_error());
        }
        Ok(())
    }

    /// Mounts it so that nothing can be written.
    ///
    /// # Errors
    /// When it cannot be mounted so.
    pub fn read_only(&self) -> Result<()> {
        run(Command::new("mount").args(["-o", "remount,ro"]).arg(&self.mount))
    }

    fn filler(&self) -> PathBuf {
        self.mount.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A disk that stays mounted fails the removal of its folder, and is seen.
        let _ = run(Command::new("umount").arg(&self.mount));
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(())
}

/// Bytes that can be written.
fn free(path: &Path) -> Result<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: zeroes are a valid value of this plain structure.
    let mut stats: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero, and the structure outlives the call.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut stats) } != 0 {
        bail!("{}", std::io::Error::last_os_error());
    }
    Ok(stats.f_bavail * stats.f_frsize)
}
