//! Output streams of a job, read as they come and kept up to a limit.

use std::io::{self, Read};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::Output;

/// One output pipe of a job.
pub(super) struct Stream {
    /// `None` after the end of the stream.
    pipe: Option<std::fs::File>,
    output: Output,
    limit: usize,
}

impl Stream {
    /// Creates a stream that keeps at most `limit` bytes.
    pub(super) fn new(pipe: OwnedFd, limit: usize) -> io::Result<Stream> {
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Stream { pipe: Some(pipe.into()), output: Output::default(), limit })
    }

    /// Returns the descriptor to poll, until the end of the stream.
    pub(super) fn pollable_fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is available, at most a few hundred kilobytes at a time, so that one stream cannot keep
    /// the supervisor from its other work.
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

    /// Returns the number of bytes so far, kept or dropped.
    pub(super) fn total(&self) -> u64 {
        self.output.bytes.len() as u64 + self.output.cut
    }

    /// Returns what was kept.
    pub(super) fn output(&self) -> &Output {
        &self.output
    }

    /// Reads what is left after all writers have ended.
    pub(super) fn finish(&mut self) -> io::Result<Output> {
        // A pipe holds at most a megabyte, so this ends even if something still has the write end open.
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
