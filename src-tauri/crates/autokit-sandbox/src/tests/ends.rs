//! Tests of programs that do not end by themselves, or not completely.

use std::time::{Duration, Instant};

use super::{TIMEOUT, WALL, patient, processes_with, run, run_in, sandbox};
use crate::{Exit, Job, Language, Limits};

fn short(language: Language, code: &str) -> Job {
    let mut job = Job::new(language, code);
    job.limits.wall = Duration::from_secs(1);
    // Of the two time limits, only the wall time can end it.
    job.limits.cpu = WALL;
    job
}

#[tokio::test]
async fn an_endless_loop_is_timed_out() {
    let outcome = run(short(Language::Python, "while True: pass")).await;
    assert_eq!(outcome.exit, Exit::TimedOut);
    let outcome = run(short(Language::Shell, "trap '' TERM INT HUP; while :; do :; done")).await;
    assert_eq!(outcome.exit, Exit::TimedOut);
}

#[tokio::test]
async fn processor_time_ends_one_process_and_many() {
    let mut job = Job::new(Language::Python, "print('begun', flush=True)\nwhile True: pass");
    job.limits.cpu = Duration::from_secs(1);
    let outcome = run(job).await;
    assert_eq!((outcome.exit, outcome.stdout.text().as_ref()), (Exit::TimedOut, "begun\n"));
    assert!(outcome.wall < WALL, "by the processor's time, not by the clock");
    // Each child alone stays below a second; together they do not.
    let code = "for i in 1 2 3 4 5 6 7 8; do timeout 20 sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; done; \
                while :; do sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; done";
    let mut job = Job::new(Language::Shell, code);
    job.limits.cpu = Duration::from_secs(1);
    let outcome = run(job).await;
    assert_eq!(outcome.exit, Exit::TimedOut);
    assert!(outcome.wall < WALL, "by the processor's time, not by the clock");
}

#[tokio::test]
async fn endless_output_is_kept_to_the_limit_and_ended() {
    let mut job = Job::new(Language::Shell, "yes");
    job.limits.output_bytes = 10_000;
    let outcome = run(job).await;
    assert_eq!(outcome.exit, Exit::TooMuchOutput);
    assert_eq!(outcome.stdout.bytes, b"y\n".repeat(5_000));
    assert!(outcome.stdout.cut > 10_000 * (Limits::MAX_OUTPUT_FACTOR - 1), "{}", outcome.stdout.cut);
    // Output that is merely long is read to its end.
    let mut job = Job::new(Language::Python, "import sys; sys.stderr.write('x' * 300_000); print('end')");
    job.limits.output_bytes = 10_000;
    let outcome = run(job).await;
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!((outcome.stderr.bytes.len(), outcome.stderr.cut), (10_000, 290_000));
    assert_eq!(outcome.stdout.text(), "end\n");
}

#[tokio::test]
async fn a_program_that_closes_its_streams_is_waited_for() {
    let code = "import os, time\nprint('first', flush=True)\nfor n in range(3): os.close(n)\n\
                time.sleep(0.3)\nos._exit(7)";
    let outcome = run(Job::new(Language::Python, code)).await;
    assert_eq!((outcome.exit, outcome.stdout.text().as_ref()), (Exit::Code(7), "first\n"));
    assert!(outcome.wall > Duration::from_millis(300));
}

#[tokio::test]
async fn a_daemon_does_not_outlive_its_program() {
    let mark = "daemon-of-a-test-3471";
    let code = format!(
        "import os, sys, signal\n\
         r, w = os.pipe()\n\
         if os.fork() == 0:\n\
         \x20   os.setsid()\n\
         \x20   if os.fork() == 0:\n\
         \x20       for s in [1, 2, 3, 13, 15]: signal.signal(s, signal.SIG_IGN)\n\
         \x20       for n in range(3): os.close(n)\n\
         \x20       os.write(w, b'x')\n\
         \x20       os.execvp('sleep', ['{mark}', '1000'])\n\
         \x20   os._exit(0)\n\
         os.read(r, 1); print('started')\n"
    );
    let outcome = run(Job::new(Language::Python, code)).await;
    // If the job had waited for it, it would have timed out.
    assert_eq!((outcome.exit, outcome.stdout.text().as_ref()), (Exit::Code(0), "started\n"));
    assert_eq!(processes_with(mark), [""; 0]);
}

#[tokio::test]
async fn cancelling_ends_it_at_once_with_nothing_left() {
    let sandbox = sandbox();
    let mark = "cancelled-in-a-test-8852";
    let code = format!(
        "import subprocess, sys\nprint('up', flush=True)\nsubprocess.run(['sh', '-c', 'while :; do sleep 1; done', '{mark}'])"
    );
    let began = Instant::now();
    // Ready once the job's processes are visible.
    let seen = async {
        while processes_with(mark).is_empty() {
            assert!(began.elapsed() < TIMEOUT, "the job never started");
            tokio::task::yield_now().await;
        }
    };
    let outcome = sandbox.run(patient(Job::new(Language::Python, code)), seen).await.expect("runs");
    // Nothing else ends it before its wall time is up, which would be reported as a timeout.
    assert_eq!((outcome.exit, outcome.stdout.text().as_ref()), (Exit::Cancelled, "up\n"));
    assert_eq!(processes_with(mark), [""; 0]);
}

#[tokio::test]
async fn dropping_the_future_ends_the_job_too() {
    let sandbox = sandbox();
    let mark = "dropped-in-a-test-1290";
    let job = Job::new(Language::Shell, format!("sh -c 'while :; do sleep 1; done' {mark}; true"));
    let began = Instant::now();
    {
        let mut running = Box::pin(run_in(&sandbox, job));
        while processes_with(mark).is_empty() {
            assert!(began.elapsed() < TIMEOUT, "the job never started");
            let turn = tokio::time::timeout(Duration::from_millis(10), &mut running).await;
            assert!(turn.is_err(), "it does not end by itself");
        }
    }
    // Far from the end of its wall time: it would continue if nothing killed it.
    let dropped = Instant::now();
    while !processes_with(mark).is_empty() {
        assert!(dropped.elapsed() < TIMEOUT, "{:?}", processes_with(mark));
        tokio::task::yield_now().await;
    }
}
