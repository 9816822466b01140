//! Supervises one job, from its start until nothing of it is left, on one thread that waits for everything
//! that can happen: output, the end, cancellation, and the next sample of what the job uses.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::cgroup::Group;
use super::command::{self, Pipes, Prepared};
use super::sample::Sampler;
use super::stream::Stream;
use super::{Sandbox, limits};
use crate::{Exit, Job, Limits, Outcome, SandboxError};

/// Time between two samples of what a job uses.
const SAMPLE: Duration = Duration::from_millis(20);
/// How long the kernel may take to end what was killed, before that is an error.
const KILL: Duration = Duration::from_secs(10);

/// Creates a pipe that no child inherits: the read end and the write end.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(SandboxError::system("making a pipe"))
}

/// Runs a job. The other end of `stopped` is closed to cancel it.
pub(super) fn run(sandbox: &Sandbox, job: &Job, stopped: &OwnedFd) -> Result<Outcome, SandboxError> {
    let started = Instant::now();
    command::check(job)?;
    let group = sandbox.groups.as_ref().map(|root| Group::create(root, &job.limits)).transpose();
    let group = group.map_err(SandboxError::io("making a control group"))?;
    let ended = Running::start(sandbox, job, started, group.as_ref())
        .and_then(|running| running.supervise(stopped, group.as_ref()));
    if let Some(group) = group
        && let Err(error) = group.remove()
    {
        // The next start of AutoKit removes the group; the job itself is over.
        tracing::warn!("failed to remove a job's control group: {error}");
    }
    ended
}

/// Process 1 of a job's namespace.
struct Init {
    pid: Pid,
    /// A pidfd, which keeps referring to this process even if its number is reused.
    handle: OwnedFd,
}

struct Running<'j> {
    job: &'j Job,
    started: Instant,
    bwrap: Child,
    bwrap_handle: OwnedFd,
    init: Option<Init>,
    sampler: Option<Sampler>,
    status: Stream,
    stdout: Stream,
    stderr: Stream,
    /// Process 1 waits for a byte from this pipe before it starts the program.
    go: Option<OwnedFd>,
    /// Why and when the job was killed.
    killed: Option<(Exit, Instant)>,
}

impl<'j> Running<'j> {
    fn start(
        sandbox: &Sandbox,
        job: &'j Job,
        started: Instant,
        group: Option<&Group>,
    ) -> Result<Running<'j>, SandboxError> {
        let (status, status_end) = pipe()?;
        let (go_end, go) = pipe()?;
        let keep = go.try_clone().map_err(SandboxError::io("copying a pipe"))?;
        let pipes = Pipes { status: status_end, go: go_end, keep };
        let Prepared { mut command, descriptors } =
            command::prepare(&sandbox.bwrap, job, pipes, sandbox.as_nobody)?;
        let mut bwrap = command.spawn().map_err(SandboxError::io("starting bwrap"))?;
        // Our copies would keep the pipes open.
        drop((command, descriptors));
        let parts = Self::parts(&mut bwrap, status, &job.limits);
        let (bwrap_handle, status, stdout, stderr) = match parts {
            Ok(parts) => parts,
            Err(error) => {
                kill_child(&mut bwrap);
                return Err(error);
            }
        };
        let mut running = Running {
            job,
            started,
            bwrap,
            bwrap_handle,
            init: None,
            sampler: None,
            status,
            stdout,
            stderr,
            go: Some(go),
            killed: None,
        };
        running.release(group)?;
        Ok(running)
    }

    fn parts(
        bwrap: &mut Child,
        status: OwnedFd,
        limits: &Limits,
    ) -> Result<(OwnedFd, Stream, Stream, Stream), SandboxError> {
        let pid = Pid::from_child(bwrap);
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(SandboxError::system("watching bwrap"))?;
        let missing = || SandboxError::Internal("bwrap has no output".to_owned());
        let stdout = bwrap.stdout.take().ok_or_else(missing)?;
        let stderr = bwrap.stderr.take().ok_or_else(missing)?;
        let stream = |pipe: OwnedFd, limit| Stream::new(pipe, limit).map_err(SandboxError::io("reading"));
        Ok((
            handle,
            // The status is a few hundred bytes of JSON.
            stream(status, 64 << 10)?,
            stream(stdout.into(), limits.output_bytes)?,
            stream(stderr.into(), limits.output_bytes)?,
        ))
    }

    /// Waits until bubblewrap reports process 1, applies all limits to it and lets it start the program.
    /// Bubblewrap is not killed before that, because its process 1 would not die with it yet.
    fn release(&mut self, group: Option<&Group>) -> Result<(), SandboxError> {
        let pid = loop {
            if let Some(pid) = self.status_value("child-pid") {
                break Pid::from_raw(pid as i32);
            }
            if self.status.pollable_fd().is_none() {
                return Err(self.startup_error());
            }
            self.wait(None, Instant::now() + KILL)?;
            if self.started.elapsed() > KILL && self.status_value("child-pid").is_none() {
                kill_child(&mut self.bwrap);
                return Err(SandboxError::SetUp { reason: "bwrap does not answer".to_owned() });
            }
        };
        let pid = pid.ok_or_else(|| SandboxError::Internal("bwrap names no process".to_owned()))?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => self.init = Some(Init { pid, handle }),
            // Bubblewrap failed to set up the sandbox and is gone.
            Err(rustix::io::Errno::SRCH) => return Err(self.startup_error()),
            Err(errno) => return Err(SandboxError::system("watching the job")(errno)),
        }
        limits::lower_priority(pid);
        let ready = group.map_or(Ok(()), |group| {
            group.add_process(pid).map_err(SandboxError::io("putting the job into its control group"))
        });
        let go = self.go.take();
        match (ready, go) {
            (Ok(()), Some(go)) => match rustix::io::write(&go, &[1]) {
                // A broken pipe means that bubblewrap failed to set up the sandbox, which its status will
                // say.
                Ok(_) | Err(rustix::io::Errno::PIPE) => Ok(()),
                Err(errno) => Err(SandboxError::system("letting the job start")(errno)),
            },
            (Err(error), _) => {
                // The job must not run with only some of its limits.
                self.kill(Exit::Cancelled)?;
                self.wait_for_end()?;
                // If bubblewrap had already failed, its own error is the cause.
                self.stderr.read().map_err(SandboxError::io("reading"))?;
                Err(if self.stderr.total() > 0 { self.startup_error() } else { error })
            }
            (Ok(()), None) => Err(SandboxError::Internal("a job was started twice".to_owned())),
        }
    }

    fn supervise(mut self, stopped: &OwnedFd, group: Option<&Group>) -> Result<Outcome, SandboxError> {
        let end = self.started + self.job.limits.wall;
        let mut next = Instant::now();
        while !self.is_over()? {
            let now = Instant::now();
            if self.killed.is_some() {
                self.wait_for_end()?;
                break;
            }
            if now >= end {
                self.kill(Exit::TimedOut)?;
                continue;
            }
            if now >= next {
                next = now + SAMPLE;
                if let Some(reason) = self.exceeded_limit(group)? {
                    self.kill(reason)?;
                    continue;
                }
            }
            if self.wait(Some(stopped.as_fd()), end.min(next))? {
                self.kill(Exit::Cancelled)?;
            }
            let max_output = Limits::MAX_OUTPUT_FACTOR.saturating_mul(self.job.limits.output_bytes as u64);
            if self.stdout.total().max(self.stderr.total()) > max_output {
                self.kill(Exit::TooMuchOutput)?;
            }
        }
        self.outcome(group)
    }

    /// Returns the outcome after everything has ended.
    fn outcome(mut self, group: Option<&Group>) -> Result<Outcome, SandboxError> {
        let ended = self.bwrap.wait().map_err(SandboxError::io("waiting for bwrap"))?;
        self.status.read().map_err(SandboxError::io("reading"))?;
        let out_of_memory = killed_for_memory(group)?;
        let exit = match (self.killed, self.status_value("exit-code")) {
            (Some((reason, _)), _) => reason,
            (None, Some(code)) => exit(code as i32),
            // Bubblewrap itself was killed, which only the kernel or the machine's owner does.
            (None, None) if out_of_memory => Exit::OutOfMemory,
            (None, None) => {
                let error = self.startup_error();
                tracing::debug!("bwrap exited with {ended} before the job: {error}");
                return Err(error);
            }
        };
        let exit =
            if out_of_memory && exit == Exit::Signal(libc::SIGKILL) { Exit::OutOfMemory } else { exit };
        Ok(Outcome {
            exit,
            stdout: self.stdout.finish().map_err(SandboxError::io("reading"))?,
            stderr: self.stderr.finish().map_err(SandboxError::io("reading"))?,
            wall: self.started.elapsed(),
        })
    }

    /// Returns which limit the job as a whole has exceeded, if any.
    fn exceeded_limit(&mut self, group: Option<&Group>) -> Result<Option<Exit>, SandboxError> {
        if killed_for_memory(group)? {
            return Ok(Some(Exit::OutOfMemory));
        }
        let Some(init) = &self.init else { return Ok(None) };
        if self.sampler.is_none() {
            self.sampler = Sampler::open(init.pid).map_err(SandboxError::io("looking at the job"))?;
        }
        let Some(sampler) = &self.sampler else { return Ok(None) };
        let limits = &self.job.limits;
        let sample = sampler.take(limits.memory_bytes).map_err(SandboxError::io("looking at the job"))?;
        let cpu =
            Duration::from_secs_f64(sample.ticks as f64 / rustix::param::clock_ticks_per_second() as f64);
        Ok(if sample.memory > limits.memory_bytes {
            Some(Exit::OutOfMemory)
        } else if sample.tasks > u64::from(limits.processes) {
            Some(Exit::TooManyProcesses)
        } else if cpu > limits.cpu {
            Some(Exit::TimedOut)
        } else {
            None
        })
    }

    /// Kills the job: the kernel kills a whole process namespace with its process 1.
    fn kill(&mut self, reason: Exit) -> Result<(), SandboxError> {
        if self.killed.is_none() {
            self.killed = Some((reason, Instant::now()));
        }
        let Some(init) = &self.init else { return Ok(()) };
        match pidfd_send_signal(&init.handle, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(errno) => Err(SandboxError::system("ending the job")(errno)),
        }
    }

    fn wait_for_end(&mut self) -> Result<(), SandboxError> {
        let until = Instant::now() + KILL;
        while !self.is_over()? {
            if Instant::now() >= until {
                return Err(SandboxError::Internal("the job does not end when it is killed".to_owned()));
            }
            self.wait(None, until)?;
        }
        Ok(())
    }

    /// Returns whether process 1 is gone, and with it everything in its namespace, and bubblewrap as well.
    fn is_over(&self) -> Result<bool, SandboxError> {
        let init = self.init.as_ref().map_or(Ok(true), |init| has_ended(init.handle.as_fd()));
        Ok(init? && has_ended(self.bwrap_handle.as_fd())?)
    }

    /// Waits for output, an end or `stopped`, at most until `until`; returns whether `stopped` was closed.
    fn wait(&mut self, stopped: Option<BorrowedFd<'_>>, until: Instant) -> Result<bool, SandboxError> {
        let mut watched = Vec::with_capacity(6);
        let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        // The handle of an ended process would always be ready.
        let mut ends = vec![self.bwrap_handle.as_fd()];
        ends.extend(self.init.as_ref().map(|init| init.handle.as_fd()));
        for end in ends {
            if !has_ended(end)? {
                watched.push(readable(end));
            }
        }
        // The last process may have just ended, and nothing else would wake us.
        let ended = watched.is_empty();
        let streams = [self.status.pollable_fd(), self.stdout.pollable_fd(), self.stderr.pollable_fd()];
        watched.extend(streams.into_iter().flatten().map(readable));
        watched.extend(stopped.map(readable));
        let until = if ended { Instant::now() } else { until };
        let remaining = until.saturating_duration_since(Instant::now());
        let timeout =
            Timespec { tv_sec: remaining.as_secs() as i64, tv_nsec: i64::from(remaining.subsec_nanos()) };
        match poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(SandboxError::system("waiting")(errno)),
        }
        let stopped = stopped.is_some() && watched.last().is_some_and(|last| !last.revents().is_empty());
        for stream in [&mut self.status, &mut self.stdout, &mut self.stderr] {
            stream.read().map_err(SandboxError::io("reading"))?;
        }
        Ok(stopped)
    }

    /// Returns a number from bubblewrap's status, which is a sequence of JSON objects, the last of which
    /// may be incomplete.
    fn status_value(&self, name: &str) -> Option<i64> {
        let objects = serde_json::Deserializer::from_slice(&self.status.output().bytes);
        let objects = objects.into_iter::<serde_json::Value>().map_while(Result::ok);
        objects.into_iter().find_map(|object| object.get(name)?.as_i64())
    }

    /// Returns the error of bubblewrap, which failed before it started the program.
    fn startup_error(&mut self) -> SandboxError {
        let ended = self.bwrap.wait();
        if let Err(error) = self.stderr.read() {
            return SandboxError::System { what: "reading", source: error };
        }
        let message = self.stderr.output().text().trim().to_owned();
        let reason = match (message.is_empty(), ended) {
            (false, _) => message,
            (true, Ok(status)) => format!("bwrap ended with {status}"),
            (true, Err(error)) => error.to_string(),
        };
        SandboxError::SetUp { reason }
    }
}

impl Drop for Running<'_> {
    /// Whatever failed, nothing may keep running.
    fn drop(&mut self) {
        if let Err(error) = self.kill(Exit::Cancelled) {
            tracing::error!("failed to stop a job: {error}");
        }
        kill_child(&mut self.bwrap);
    }
}

/// Kills bubblewrap and reaps it.
fn kill_child(bwrap: &mut Child) {
    if let Err(error) = bwrap.kill().and_then(|()| bwrap.wait()) {
        tracing::error!("failed to kill bwrap: {error}");
    }
}

fn killed_for_memory(group: Option<&Group>) -> Result<bool, SandboxError> {
    let killed = group.map_or(Ok(0), Group::killed_for_memory);
    Ok(killed.map_err(SandboxError::io("reading the control group"))? > 0)
}

/// Returns whether the process of a pidfd has ended.
fn has_ended(handle: BorrowedFd<'_>) -> Result<bool, SandboxError> {
    let mut watched = [PollFd::from_borrowed_fd(handle, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    loop {
        match poll(&mut watched, Some(&now)) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(SandboxError::system("watching the job")(errno)),
        }
    }
}

/// Converts an exit code; bubblewrap reports signals as shells do.
fn exit(code: i32) -> Exit {
    match code - 128 {
        libc::SIGXCPU => Exit::TimedOut,
        signal @ 1..=64 => Exit::Signal(signal),
        _ => Exit::Code(code),
    }
}
