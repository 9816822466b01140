//! Tests of well-behaved programs.

use super::{patient, run, sandbox};
use crate::{Code, Exit, Job, Language, SandboxError};

#[tokio::test]
async fn a_python_program_has_its_arguments_input_and_files() {
    let mut job = Job::new(
        Language::Python,
        "import sys, os, helper, json\n\
         data = open('data/in.txt').read()\n\
         print(json.dumps([sys.argv[1:], sys.stdin.read(), data, helper.twice(21), os.getcwd()]))\n\
         print('to the side', file=sys.stderr)\n\
         open('out.txt', 'w').write('kept nowhere')\n\
         sys.exit(3)\n",
    );
    job.arguments = vec!["a b".to_owned(), "--flag".to_owned()];
    job.stdin = "grüße".into();
    job.files = vec![
        ("data/in.txt".to_owned(), b"content".to_vec()),
        ("helper.py".to_owned(), b"def twice(x): return 2 * x".to_vec()),
    ];
    let outcome = run(job).await;
    assert_eq!(outcome.stderr.text(), "to the side\n");
    let expected = r#"[["a b", "--flag"], "gr\u00fc\u00dfe", "content", 42, "/job"]"#;
    assert_eq!(outcome.stdout.text().trim(), expected);
    assert_eq!(outcome.exit, Exit::Code(3));
    assert_eq!((outcome.stdout.cut, outcome.stderr.cut), (0, 0));
}

#[tokio::test]
async fn python_with_threads_processes_and_locks_works() {
    let code = "\
import asyncio, subprocess, tempfile, threading
from multiprocessing import Pool
async def sub():
    p = await asyncio.create_subprocess_exec('echo', 'from asyncio', stdout=subprocess.PIPE)
    return (await p.communicate())[0]
def square(x): return x * x
if __name__ == '__main__':
    print(asyncio.run(sub()))
    print(subprocess.run(['sh', '-c', 'echo piped | cat'], capture_output=True).stdout)
    with Pool(2) as pool: print(pool.map(square, [1, 2, 3]))
    with tempfile.TemporaryFile() as f: f.write(b'x'); f.seek(0); print(f.read())
    t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()
";
    let outcome = run(Job::new(Language::Python, code)).await;
    assert_eq!(outcome.exit, Exit::Code(0), "{}", outcome.stderr.text());
    assert_eq!(outcome.stdout.text(), "b'from asyncio\\n'\nb'piped\\n'\n[1, 4, 9]\nb'x'\nthread\n");
}

#[tokio::test]
async fn javascript_and_shell_run() {
    let code = "const fs = require('fs'); const { execFileSync } = require('child_process');\n\
                console.log(fs.readFileSync(0, 'utf8').toUpperCase(), process.argv[2]);\n\
                console.log(execFileSync('echo', ['child']).toString());\n\
                Promise.all([1, 2].map(n => new Promise(r => setTimeout(() => r(n), 1)))).then(console.log);";
    let mut job = Job::new(Language::JavaScript, code);
    job.stdin = b"input".to_vec();
    job.arguments = vec!["argument".to_owned()];
    let outcome = run(job).await;
    assert_eq!(outcome.exit, Exit::Code(0), "{}", outcome.stderr.text());
    assert_eq!(outcome.stdout.text(), "INPUT argument\nchild\n\n[ 1, 2 ]\n");

    let outcome =
        run(Job::new(Language::Shell, "read x <<E\nhere\nE\necho $x | tr a-z A-Z; kill -TERM $$")).await;
    assert_eq!(outcome.stdout.text(), "HERE\n");
    assert_eq!(outcome.exit, Exit::Signal(15));
}

#[tokio::test]
async fn jobs_run_side_by_side() {
    let sandbox = sandbox();
    let jobs = (0..6).map(|number| {
        let sandbox = sandbox.clone();
        tokio::spawn(async move {
            let job = Job::new(Language::Shell, format!("echo {number} > file; cat file; ls"));
            sandbox.run(patient(job), std::future::pending()).await.expect("runs").stdout.text().into_owned()
        })
    });
    for (number, job) in jobs.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(job.await.expect("ends"), format!("{number}\nfile\nmain.sh\n"));
    }
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_refused() {
    let sandbox = sandbox();
    for name in ["../x", "/etc/x", "a/../../x", "", ".", "a//b", "main.sh", "a\0b"] {
        let mut job = Job::new(Language::Shell, "true");
        job.files = vec![(name.to_owned(), Vec::new())];
        let error = sandbox.run(job, std::future::pending()).await.expect_err(name);
        assert!(matches!(error, SandboxError::BadName { .. }), "{name:?}: {error}");
        assert_eq!(error.code(), Code::BadJob);
    }
    let mut job = Job::new(Language::Shell, "true");
    job.files = vec![("large".to_owned(), vec![0; 17 << 20])];
    let error = sandbox.run(job, std::future::pending()).await.expect_err("too large");
    assert!(error.to_string().contains("16777216"), "{error}");
    let mut job = Job::new(Language::Shell, "true");
    job.files = vec![("main.sh/below".to_owned(), Vec::new())];
    let error = sandbox.run(job, std::future::pending()).await.expect_err("below a file");
    assert!(matches!(error, SandboxError::SetUp { .. }), "{error}");
}
