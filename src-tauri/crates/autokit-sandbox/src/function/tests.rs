use std::future::pending;

use serde_json::{Map, Value, json};

use super::{
    Called, CodeCheck, CodeCheckKind, CodeCheckState, Example, Function, FunctionLanguage, is_usable,
};
use crate::Sandbox;

fn function(language: FunctionLanguage, source: &str) -> Function {
    Function { language, source: source.to_owned(), tests: String::new(), examples: Vec::new() }
}

fn python(source: &str) -> Function {
    function(FunctionLanguage::Python, source)
}

fn javascript(source: &str) -> Function {
    function(FunctionLanguage::JavaScript, source)
}

async fn call(function: &Function, arguments: Value) -> Called {
    let sandbox = Sandbox::available().expect("a sandbox");
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    sandbox.call_function(function, &arguments, pending()).await.expect("a call").called
}

fn state(checks: &[CodeCheck], kind: CodeCheckKind) -> Option<CodeCheckState> {
    checks.iter().find(|check| check.kind == kind).map(|check| check.state)
}

#[tokio::test]
async fn a_function_returns_what_it_computes() {
    let python = python(
        "def run(words, upper=False):\n    print('aside')\n    return [w.upper() if upper else w for w in words]",
    );
    assert_eq!(call(&python, json!({"words": ["a"], "upper": true})).await, Called::Returned(json!(["A"])));
    let raised = call(&python, json!({})).await;
    assert!(matches!(&raised, Called::Raised(error) if error.contains("words")), "{raised:?}");
    for source in [
        "function run({ a, b = 2 }) { console.log('aside'); return { sum: a + b }; }",
        "const run = async ({ a, b = 2 }) => ({ sum: a + b });",
        "module.exports = { run: ({ a, b = 2 }) => ({ sum: a + b }) };",
    ] {
        assert_eq!(
            call(&javascript(source), json!({"a": 1})).await,
            Called::Returned(json!({"sum": 3})),
            "{source}"
        );
    }
}

#[tokio::test]
async fn what_reaches_for_more_is_stopped_and_says_so() {
    let reaching = [
        (python("def run():\n    return open('/etc/passwd').read()"), "/etc/passwd"),
        (python("def run():\n    open('out.txt', 'w').write('x')"), "out.txt"),
        (python("import os\ndef run():\n    return os.listdir('/')"), "uses files"),
        (python("import socket\ndef run():\n    socket.create_connection(('1.1.1.1', 80))"), "network"),
        // Swallowing it does not help.
        (
            python(
                "import urllib.request\ndef run():\n    try:\n        urllib.request.urlopen('http://x.example')\n    except BaseException:\n        return 1",
            ),
            "network",
        ),
        (
            python("import subprocess\ndef run():\n    return subprocess.check_output(['ls']).decode()"),
            "other programs",
        ),
        (python("import os\ndef run():\n    return os.fork()"), "other programs"),
        (python("import ctypes\ndef run():\n    return ctypes.CDLL(None).getpid()"), "native code"),
        (
            javascript(
                "const fs = require('fs');\nfunction run() { return fs.readFileSync('/etc/passwd', 'utf8'); }",
            ),
            "files",
        ),
        (
            javascript("function run() { try { return require('net').connect(80); } catch { return 1; } }"),
            "network",
        ),
        (javascript("async function run() { return (await fetch('http://x.example')).status; }"), "network"),
        (
            javascript("function run() { return require('child_process').execSync('ls').toString(); }"),
            "other programs",
        ),
        (javascript("function run() { return process.env; }"), "process"),
        (javascript("function run() { return require.constructor('return process')().pid; }"), "constructor"),
        (
            javascript("function run() { return console.log.constructor('return process')().pid; }"),
            "constructor",
        ),
        (
            javascript(
                "async function run() { return (await import('node:fs')).readFileSync('/etc/passwd'); }",
            ),
            "module",
        ),
    ];
    for (function, what) in reaching {
        let called = call(&function, json!({})).await;
        assert!(
            matches!(&called, Called::Reached(reached) if reached.contains(what)),
            "{}: {called:?}",
            function.source
        );
    }
}

#[tokio::test]
async fn what_json_cannot_carry_is_no_result() {
    for (function, what) in [
        (python("def run():\n    return float('nan')"), "not JSON"),
        (python("def run():\n    return {'n': [2 ** 80]}"), "64 bits"),
        (python("def run():\n    return {1, 2}"), "not JSON"),
        (python("def run():\n    return '\\ud800'"), "not JSON"),
        (javascript("function run() { return 0 / 0; }"), "not JSON"),
        (javascript("function run() { return { a: new Map() }; }"), "Map"),
        (javascript("function run() { return () => 1; }"), "Function"),
        (javascript("function run() { const a = {}; a.a = a; return a; }"), "not JSON"),
    ] {
        let called = call(&function, json!({})).await;
        assert!(
            matches!(&called, Called::Raised(error) if error.contains(what)),
            "{}: {called:?}",
            function.source
        );
    }
}

#[tokio::test]
async fn what_does_not_end_is_stopped() {
    for endless in [
        python("def run():\n    while True: pass"),
        javascript("function run() { for (;;); }"),
        javascript("function run() { return new Promise((r) => setTimeout(r, 1e9)); }"),
    ] {
        let called = call(&endless, json!({})).await;
        assert!(matches!(&called, Called::Stopped(why) if why.contains("did not end")), "{called:?}");
    }
    let hungry = call(&python("def run():\n    return len('x' * (1 << 30))"), json!({})).await;
    assert!(!matches!(hungry, Called::Returned(_)), "{hungry:?}");
    let silent = call(&python("import os\ndef run():\n    os._exit(0)"), json!({})).await;
    assert_eq!(silent, Called::Stopped("ended without a result".to_owned()));
}

#[tokio::test]
async fn a_function_is_proposed_only_if_it_was_seen_to_work() {
    let sandbox = Sandbox::available().expect("a sandbox");
    let example = |n: i64, result: f64| Example {
        arguments: json!({"n": n}).as_object().cloned().unwrap_or_default(),
        result: json!(result),
    };
    let good = Function {
        tests: "def test_zero():\n    assert run(0) == 0\n\ndef test_two():\n    assert run(2) == 4\n"
            .to_owned(),
        examples: vec![example(3, 6.0), example(-2, -4.0)],
        ..python("def run(n):\n    return n * 2\n")
    };
    let checks = sandbox.check_function(&good).await.expect("checks");
    assert!(is_usable(&checks), "{checks:?}");
    assert_eq!(state(&checks, CodeCheckKind::Tests), Some(CodeCheckState::Passed));

    let wrong = Function { examples: vec![example(3, 7.0), example(-2, -4.0)], ..good.clone() };
    let checks = sandbox.check_function(&wrong).await.expect("checks");
    assert!(!is_usable(&checks), "{checks:?}");
    assert!(
        checks.iter().any(|check| check.output.contains("run({\"n\":3}) returned 6; expected 7")),
        "{checks:?}"
    );

    // Numbers are the same or not, however large.
    let large = Function { examples: vec![example(1_700_000_000, 0.0)], ..good.clone() };
    let large = Function {
        examples: vec![
            Example { result: json!(3_400_000_001_u64), ..large.examples[0].clone() },
            example(-2, -4.0),
        ],
        ..large
    };
    assert!(!is_usable(&sandbox.check_function(&large).await.expect("checks")));

    // What always returns the same would pass these.
    for few in [vec![example(3, 6.0)], vec![example(3, 6.0), example(4, 6.0)]] {
        let few = Function {
            source: "def run(n):\n    return 6".to_owned(),
            tests: String::new(),
            examples: few,
            ..good.clone()
        };
        let checks = sandbox.check_function(&few).await.expect("checks");
        assert!(!is_usable(&checks), "{checks:?}");
        assert!(checks.iter().any(|check| check.output.contains("different results")), "{checks:?}");
    }

    // What the code itself reports of its tests is not enough: it can write the report.
    let forging = r#"
import os, sys
frame = sys._getframe()
while "out" not in frame.f_locals:
    frame = frame.f_back
frame.f_locals["out"].write('{"value": [{"name": "test_all", "error": null}]}')
frame.f_locals["out"].flush()
os._exit(0)
"#;
    let forged = Function { source: forging.to_owned(), examples: Vec::new(), ..good.clone() };
    let checks = sandbox.check_function(&forged).await.expect("checks");
    assert_eq!(state(&checks, CodeCheckKind::Tests), Some(CodeCheckState::Passed), "{checks:?}");
    assert!(!is_usable(&checks), "{checks:?}");

    let untested = Function { tests: String::new(), examples: Vec::new(), ..good.clone() };
    assert!(!is_usable(&sandbox.check_function(&untested).await.expect("checks")));

    let broken = Function { source: "def run(n)\n    return n".to_owned(), ..good.clone() };
    let checks = sandbox.check_function(&broken).await.expect("checks");
    assert_eq!(state(&checks, CodeCheckKind::Syntax), Some(CodeCheckState::Failed), "{checks:?}");

    let reaching =
        Function { source: "import os\nos.listdir('/')\ndef run(n):\n    return n * 2".to_owned(), ..good };
    let checks = sandbox.check_function(&reaching).await.expect("checks");
    assert_eq!(state(&checks, CodeCheckKind::Access), Some(CodeCheckState::Failed), "{checks:?}");
}
