//! Tests with a real keychain: a Secret Service on a session bus.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;

use autokit_error::ErrorCode;
use autokit_workspace::secrets::{self, KeyStorage, Secret, Secrets};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Returns the contents of all files below a folder.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is read") {
        let path = entry.expect("the folder is read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(fs::read(path).expect("the file is read"));
        }
    }
    found
}

async fn text(secrets: &Secrets, name: &str) -> Option<String> {
    secrets.get(name).await.expect("the keychain is read").map(|secret| secret.expose().to_owned())
}

#[tokio::test]
#[ignore = "needs a session bus with a Secret Service: run by cargo xtask test"]
async fn a_real_keychain_keeps_keys() {
    let data = tempfile::tempdir().expect("a folder");
    // Names and keys unique to this run, in case it uses a person's own keychain.
    let run = autokit_workspace::token(8);
    let (name, other) = (format!("test.{run}"), format!("test.{run}.other"));
    let planted = format!("sk-planted-{}", autokit_workspace::token(16));

    assert!(secrets::available().await, "no Secret Service answers on this bus");
    let secrets = Secrets::open(KeyStorage::Keychain, data.path());
    assert_eq!(text(&secrets, &name).await, None);
    secrets.set(&name, Secret::new(planted.as_str())).await.expect("a new key is taken");
    secrets.set(&other, Secret::new("another, with ä and \"")).await.expect("a second key is taken");
    assert_eq!(text(&secrets, &name).await.as_deref(), Some(planted.as_str()));
    assert_eq!(text(&secrets, &other).await.as_deref(), Some("another, with ä and \""));

    let longer = format!("{planted}-{}", "x".repeat(5000));
    secrets.set(&name, Secret::new(longer.as_str())).await.expect("a key is replaced");
    drop(secrets);
    let secrets = Secrets::open(KeyStorage::Keychain, data.path());
    assert_eq!(text(&secrets, &name).await.as_deref(), Some(longer.as_str()));

    let shown = format!("{secrets:?} {:?}", secrets.get(&name).await);
    assert!(!shown.contains(&planted), "{shown}");
    for bytes in files(data.path()) {
        assert!(!bytes.windows(planted.len()).any(|window| window == planted.as_bytes()));
    }

    assert!(secrets.remove(&name).await.expect("a key is removed"));
    assert!(!secrets.remove(&name).await.expect("there is none any more"));
    assert_eq!(text(&secrets, &name).await, None);
    assert_eq!(text(&secrets, &other).await.as_deref(), Some("another, with ä and \""));

    connections_are_closed(&secrets, &other).await;
    a_locked_one_says_so(&secrets, &other).await;
}

/// Asserts that each request closes the connection it opened.
async fn connections_are_closed(secrets: &Secrets, name: &str) {
    let open = || fs::read_dir("/proc/self/fd").expect("Linux has /proc").count();
    let before = open();
    for _ in 0..50 {
        assert!(secrets.get(name).await.expect("the keychain is read").is_some());
    }
    // The last one may still be closing; a minute is far more than that takes.
    for _ in 0..1200 {
        if open() <= before + 2 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{before} files were open before, {} are now", open());
}

/// Nobody is there to type the password: that must be an error with a remedy, not an endless wait.
async fn a_locked_one_says_so(secrets: &Secrets, name: &str) {
    let locked = Command::new("dbus-send")
        .args(["--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets"])
        .args([
            "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/aliases/default",
        ])
        .output()
        .expect("dbus-send is installed");
    assert!(locked.status.success(), "{}", String::from_utf8_lossy(&locked.stderr));
    assert!(secrets::available().await, "a locked keychain is there all the same");
    for error in [
        secrets.get(name).await.map(|_| ()).expect_err("the keychain is locked"),
        secrets.set(name, Secret::new("late")).await.expect_err("the keychain is locked"),
    ] {
        assert_eq!(error.code, ErrorCode::NoKeychain, "{error:?}");
        assert!(error.remedy.contains("the encrypted file in Settings, Keys"), "{error:?}");
    }
}

/// Runs in a process of its own, because the address of the bus is read from the environment.
#[test]
fn a_machine_without_a_bus_has_no_keychain() {
    const INSIDE: &str = "AUTOKIT_TEST_WITHOUT_BUS";
    if std::env::var_os(INSIDE).is_none() {
        let inside = Command::new(std::env::current_exe().expect("this test is a program"))
            .args(["--exact", "a_machine_without_a_bus_has_no_keychain"])
            .env(INSIDE, "1")
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
            .output()
            .expect("this test can be run again");
        assert!(inside.status.success(), "{}", String::from_utf8_lossy(&inside.stdout));
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        assert!(!secrets::available().await);
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = Secrets::open(KeyStorage::Keychain, folder.path());
        let error = secrets.get("github").await.expect_err("there is no keychain");
        assert_eq!(error.code, ErrorCode::NoKeychain, "{error:?}");
        assert_eq!(error.message, "no keychain service is running");
        assert!(error.remedy.contains("the encrypted file in Settings, Keys"), "{error:?}");
    });
}
