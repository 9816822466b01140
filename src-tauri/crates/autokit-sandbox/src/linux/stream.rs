//! What comes out of a job, read as it comes and kept up to a limit.

use std::io::{self, Read};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::Output;

/// One pipe out of the job.
pub(super) struct Stream {
    /// `None` after its end.
    pipe: Option<std::fs::File>,
    output: Output,
    limit: usize,
}

impl Stream {
    /// `limit`: bytes to keep.
    pub(super) fn new(pipe: OwnedFd, limit: usize) -> io::Result<Stream> {
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Stream { pipe: Some(pipe.into()), output: Output::default(), limit })
    }

    /// What to wait for, until the end.
    pub(super) fn waits(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, at most a few hundred kilobytes at once so that one stream cannot keep
    /// the supervisor from the rest.
    pub(super) fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        for _ in 0..32 {
            let Some(pipe) = &mut self.pipe else { return Ok(()) };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = self.limit.saturating_sub(self.output.bytes.len()).min(count);
                    self.output.bytes.extend_from_slice(&buffer[..room]);
                    self.output.cut += (count - room) as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Bytes so far, kept and cut.
    pub(super) fn total(&self) -> u64 {
        self.output.bytes.len() as u64 + self.output.cut
    }

    /// What was kept.
    pub(super) fn output(&self) -> &Output {
        &self.output
    }

    /// Reads what is left when nobody can write any more.
    pub(super) fn finish(&mut self) -> io::Result<Output> {
        // A pipe holds at most a megabyte, so this ends even if somebody still had the other end.
        while self.pipe.is_some() {
            let before = self.total();
            self.read()?;
            if self.total() == before {
                break;
            }
        }
        Ok(std::mem::take(&mut self.output))
    }
}
