//! Background jobs with progress, an outcome and cancellation.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autokit_api::commands::{CancelJob, Context, Handle, ListJobs, PauseJob, WaitJob};
use autokit_api::{Event, Job, JobId, JobKind, JobPause, JobRef, JobState, JobTally, JobWait, Nothing};
use autokit_error::{ApiError, ErrorCode, Result};
use futures_util::FutureExt;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// Most finished jobs that are remembered.
const MAX_FINISHED: usize = 50;

/// The jobs of this process.
#[derive(Clone, Debug)]
pub struct Jobs {
    all: Arc<Mutex<VecDeque<JobEntry>>>,
    events: broadcast::Sender<Event>,
    /// Set on shutdown, so that jobs cancelled by it can be distinguished from those cancelled by a person.
    shutting_down: Arc<AtomicBool>,
}

#[derive(Debug)]
struct JobEntry {
    state: watch::Sender<Job>,
    started: Instant,
    cancel: CancellationToken,
    pause: watch::Sender<bool>,
}

/// A running job's handle, used to report progress and to notice cancellation.
#[derive(Clone, Debug)]
pub struct Progress {
    state: watch::Sender<Job>,
    started: Instant,
    cancel: CancellationToken,
    pause: watch::Sender<bool>,
    events: broadcast::Sender<Event>,
    shutting_down: Arc<AtomicBool>,
}

/// The outcome of a job.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What the job did, in words.
    pub summary: String,
    /// Counts, if the job changed cards.
    pub tally: Option<JobTally>,
}

impl Jobs {
    /// Creates an empty list of jobs that sends its events to `events`.
    pub fn new(events: broadcast::Sender<Event>) -> Jobs {
        Jobs { all: Arc::default(), events, shutting_down: Arc::default() }
    }

    /// Starts a job on the current tokio runtime.
    pub fn start<F>(&self, kind: JobKind, title: &str, unit: &str, work: impl FnOnce(Progress) -> F) -> JobRef
    where
        F: Future<Output = Result<Outcome>> + Send + 'static,
    {
        let id = JobId::new(crate::token(8));
        let job = Job {
            id: id.clone(),
            kind,
            title: title.to_owned(),
            state: JobState::Running,
            note: None,
            paused: None,
            version: 1,
            done: 0,
            total: 0,
            unit: unit.to_owned(),
            eta_ms: None,
            elapsed_ms: 0,
            summary: None,
            tally: None,
            error: None,
        };
        let (state, _) = watch::channel(job);
        let cancel = CancellationToken::new();
        if self.shutting_down.load(Ordering::Relaxed) {
            cancel.cancel();
        }
        let pause = watch::Sender::new(false);
        let progress = Progress {
            state: state.clone(),
            started: Instant::now(),
            cancel: cancel.clone(),
            pause: pause.clone(),
            events: self.events.clone(),
            shutting_down: Arc::clone(&self.shutting_down),
        };
        {
            let mut all = self.all.lock().expect("no holder panics");
            all.push_front(JobEntry { state, started: progress.started, cancel, pause });
            while all.len() > MAX_FINISHED
                && all.back().is_some_and(|entry| entry.state.borrow().state != JobState::Running)
            {
                all.pop_back();
            }
        }
        progress.change(|_| {});
        let work = work(progress.clone());
        tokio::spawn(async move {
            let outcome = tokio::spawn(work).await;
            progress.change(|job| match outcome {
                Ok(Ok(outcome)) => {
                    job.state = JobState::Done;
                    job.summary = Some(outcome.summary);
                    job.tally = outcome.tally;
                    job.done = job.total.max(job.done);
                }
                Ok(Err(error)) => {
                    let cancelled = error.code == ErrorCode::Cancelled;
                    job.state = if cancelled { JobState::Cancelled } else { JobState::Failed };
                    // A client that waits in another process has to know that no person cancelled the job.
                    job.error = Some(if cancelled && progress.is_shutting_down() {
                        ApiError::owner_ended()
                    } else {
                        error
                    });
                }
                Err(panic) => {
                    job.state = JobState::Failed;
                    job.error = Some(ApiError::internal(format!("the job failed: {panic}")));
                }
            });
        });
        JobRef { job: id }
    }

    /// Returns all jobs, newest first.
    pub fn list(&self) -> Vec<Job> {
        self.all.lock().expect("no holder panics").iter().map(JobEntry::snapshot).collect()
    }

    /// Returns whether any job is running.
    pub fn any_running(&self) -> bool {
        self.list().iter().any(|job| job.state == JobState::Running)
    }

    /// Waits until the job's version is above `after` and returns its state, or the current state after
    /// `timeout`.
    ///
    /// # Errors
    /// `not_found` for an unknown job.
    pub async fn wait(&self, id: &JobId, after: u64, timeout: Duration) -> Result<Job> {
        let (mut watch, started) = {
            let all = self.all.lock().expect("no holder panics");
            let entry = find(&all, id)?;
            (entry.state.subscribe(), entry.started)
        };
        // A timeout is not an error: the job is returned as it is.
        let _ = tokio::time::timeout(timeout, watch.wait_for(|job| job.version > after)).await;
        let job = watch.borrow().clone();
        Ok(with_time(job, started))
    }

    /// Cancels a job. It stops at its next safe point.
    ///
    /// # Errors
    /// `not_found` for an unknown job.
    pub fn cancel(&self, id: &JobId) -> Result<Job> {
        let all = self.all.lock().expect("no holder panics");
        let entry = find(&all, id)?;
        entry.cancel.cancel();
        Ok(entry.snapshot())
    }

    /// Pauses or resumes a job.
    ///
    /// # Errors
    /// `not_found` for an unknown job; `bad_request` for a job that cannot be paused.
    pub fn pause(&self, id: &JobId, paused: bool) -> Result<Job> {
        let all = self.all.lock().expect("no holder panics");
        let entry = find(&all, id)?;
        if entry.state.borrow().paused.is_none() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "this job cannot be paused",
                "Stop it and start it again later.",
            ));
        }
        entry.pause.send_replace(paused);
        // The job reports its new state itself.
        Ok(entry.snapshot())
    }

    /// Cancels all jobs for shutdown and waits until they have stopped.
    pub async fn stop_all(&self) {
        self.shutting_down.store(true, Ordering::Relaxed);
        let watches: Vec<_> = {
            let all = self.all.lock().expect("no holder panics");
            all.iter().for_each(|entry| entry.cancel.cancel());
            all.iter().map(|entry| entry.state.subscribe()).collect()
        };
        for mut watch in watches {
            // An error means that the entry is gone, and so is the job.
            let _ = watch.wait_for(|job| job.state != JobState::Running).await;
        }
    }
}

fn find<'a>(all: &'a VecDeque<JobEntry>, id: &JobId) -> Result<&'a JobEntry> {
    all.iter().find(|entry| entry.state.borrow().id == *id).ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("job {:?} not found", id.as_str()),
            "It may have finished already.",
        )
    })
}

impl JobEntry {
    fn snapshot(&self) -> Job {
        with_time(self.state.borrow().clone(), self.started)
    }
}

fn with_time(mut job: Job, started: Instant) -> Job {
    if job.state == JobState::Running {
        job.elapsed_ms = started.elapsed().as_millis() as u64;
    }
    job
}

impl Progress {
    fn change(&self, edit: impl FnOnce(&mut Job)) {
        self.state.send_modify(|job| {
            edit(job);
            job.version += 1;
            job.elapsed_ms = self.started.elapsed().as_millis() as u64;
            job.eta_ms = (job.state == JobState::Running && job.done > 0 && job.total > job.done)
                .then(|| job.elapsed_ms * (job.total - job.done) / job.done);
        });
        // Fails only if nobody listens.
        let _ = self.events.send(Event::Job { job: Box::new(self.state.borrow().clone()) });
    }

    /// Returns the job's id.
    pub fn id(&self) -> JobId {
        self.state.borrow().id.clone()
    }

    /// Reports how many of how many units are done.
    pub fn set_done(&self, done: u64, total: u64) {
        self.change(|job| {
            job.done = done;
            job.total = total;
        });
    }

    /// Sets the job's note: what it waits for or continues with.
    pub fn set_note(&self, note: &str) {
        self.change(|job| job.note = Some(note.to_owned()));
    }

    /// Waits for `turn`, showing `note` meanwhile. A paused job gives its turn up, so that it does not
    /// block others.
    ///
    /// # Errors
    /// `cancelled` if the job is cancelled.
    pub async fn wait_for_turn<T, F: Future<Output = T>>(
        &self,
        note: &str,
        turn: impl Fn() -> F,
    ) -> Result<T> {
        loop {
            self.wait_while_paused().await?;
            let mut pause = self.pause.subscribe();
            let mut next = pin!(turn());
            let value = if let Some(value) = next.as_mut().now_or_never() {
                value
            } else {
                self.set_note(note);
                tokio::select! {
                    value = next => value,
                    () = self.cancel.cancelled() => return Err(ApiError::cancelled()),
                    // The sender lives in `self`.
                    _ = pause.wait_for(|paused| *paused) => continue,
                }
            };
            self.change(|job| job.note = None);
            if !*self.pause.borrow() {
                return Ok(value);
            }
        }
    }

    /// Marks the job as one that can be paused; see [`Progress::wait_while_paused`].
    pub fn allow_pausing(&self) {
        self.change(|job| job.paused = Some(false));
    }

    /// Waits while the job is paused.
    ///
    /// # Errors
    /// `cancelled` if the job is cancelled.
    pub async fn wait_while_paused(&self) -> Result<()> {
        let mut pause = self.pause.subscribe();
        if *pause.borrow() {
            self.change(|job| job.paused = Some(true));
            tokio::select! {
                // The sender lives in `self`.
                _ = pause.wait_for(|paused| !paused) => {}
                () = self.cancel.cancelled() => {}
            }
            self.change(|job| job.paused = Some(false));
        }
        self.check_cancelled()
    }

    /// Returns whether the process is shutting down, in which case no person cancelled the job.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Relaxed)
    }

    /// Returns whether the job is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Waits until the job is cancelled.
    pub async fn wait_until_cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Returns an error if the job is cancelled.
    ///
    /// # Errors
    /// `cancelled` if the job is cancelled.
    pub fn check_cancelled(&self) -> Result<()> {
        if self.is_cancelled() { Err(ApiError::cancelled()) } else { Ok(()) }
    }
}

/// How long `jobs_wait` waits for a change before it returns the job as it is.
const MAX_WAIT: Duration = Duration::from_secs(10);

#[async_trait]
impl Handle<ListJobs> for Jobs {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Job>> {
        Ok(self.list())
    }
}

#[async_trait]
impl Handle<WaitJob> for Jobs {
    async fn handle(&self, _: &Context, request: JobWait) -> Result<Job> {
        self.wait(&request.job, request.after, MAX_WAIT).await
    }
}

#[async_trait]
impl Handle<PauseJob> for Jobs {
    async fn handle(&self, _: &Context, request: JobPause) -> Result<Job> {
        self.pause(&request.job, request.paused)
    }
}

#[async_trait]
impl Handle<CancelJob> for Jobs {
    async fn handle(&self, _: &Context, request: JobRef) -> Result<Job> {
        self.cancel(&request.job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a test waits for a job, so that a failing one does not hang.
    const TEST_TIMEOUT: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_job_reports_progress_and_its_end() {
        let (events, mut receiver) = broadcast::channel(16);
        let jobs = Jobs::new(events);
        let (go, gate) = tokio::sync::oneshot::channel::<()>();
        let started = jobs.start(JobKind::Import, "Import", "cards", |progress| async move {
            gate.await.expect("opened");
            progress.set_done(3, 6);
            Ok(Outcome { summary: "Imported 6 cards".into(), tally: None })
        });
        let first = jobs.wait(&started.job, 0, TEST_TIMEOUT).await.expect("known");
        assert_eq!(first.state, JobState::Running);
        go.send(()).expect("waiting");
        let mut seen = first.version;
        let end = loop {
            let job = jobs.wait(&started.job, seen, TEST_TIMEOUT).await.expect("known");
            if job.state != JobState::Running {
                break job;
            }
            seen = job.version;
        };
        assert_eq!((end.state, end.done, end.total), (JobState::Done, 6, 6));
        assert!(matches!(receiver.recv().await, Ok(Event::Job { .. })));
        assert!(jobs.wait(&JobId::new("nothing"), 0, Duration::ZERO).await.is_err());
    }

    #[tokio::test]
    async fn a_job_waits_while_it_is_paused() {
        let (events, _) = broadcast::channel(16);
        let jobs = Jobs::new(events);
        let (go, mut gate) = tokio::sync::mpsc::channel::<()>(1);
        let started = jobs.start(JobKind::Verify, "Check", "cards", |progress| async move {
            progress.allow_pausing();
            gate.recv().await;
            progress.wait_while_paused().await?;
            Ok(Outcome::default())
        });
        let ready = jobs.wait(&started.job, 2, TEST_TIMEOUT).await.expect("known");
        assert_eq!(ready.paused, Some(false));
        jobs.pause(&started.job, true).expect("can be paused");
        go.send(()).await.expect("waiting");
        let waiting = jobs.wait(&started.job, ready.version, TEST_TIMEOUT).await.expect("known");
        assert_eq!((waiting.state, waiting.paused), (JobState::Running, Some(true)));
        jobs.pause(&started.job, false).expect("can be paused");
        let mut job = waiting;
        while job.state == JobState::Running {
            job = jobs.wait(&started.job, job.version, TEST_TIMEOUT).await.expect("known");
        }
        assert_eq!(job.state, JobState::Done);
        let (events, _) = broadcast::channel(16);
        let other = Jobs::new(events);
        let plain = other.start(JobKind::Embed, "Embed", "cards", |progress| async move {
            progress.wait_until_cancelled().await;
            Ok(Outcome::default())
        });
        assert!(other.pause(&plain.job, true).is_err());
        other.stop_all().await;
    }

    #[tokio::test]
    async fn cancelled_and_panicked_jobs_end() {
        let (events, _) = broadcast::channel(16);
        let jobs = Jobs::new(events);
        let stopped = jobs.start(JobKind::Embed, "Embed", "cards", |progress| async move {
            progress.cancel.cancelled().await;
            progress.check_cancelled().map(|()| Outcome::default())
        });
        jobs.cancel(&stopped.job).expect("known");
        let broken = jobs.start(JobKind::Embed, "Embed", "cards", |_| async { panic!("a bug") });
        jobs.stop_all().await;
        let ends: Vec<_> = jobs.list().into_iter().map(|job| (job.id, job.state)).collect();
        assert_eq!(ends, [(broken.job, JobState::Failed), (stopped.job, JobState::Cancelled)]);
    }
}
