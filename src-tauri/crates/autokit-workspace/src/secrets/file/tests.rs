use super::*;

const PLANTED: &str = "sk-planted-0123456789abcdef";

fn filled() -> (tempfile::TempDir, SealedFile) {
    let folder = tempfile::tempdir().unwrap();
    let file = SealedFile::new(folder.path());
    file.set("llm.anthropic".to_owned(), Secret::new(PLANTED)).unwrap();
    (folder, file)
}

fn text(file: &SealedFile, name: &str) -> Option<String> {
    file.get(name).unwrap().map(|secret| secret.expose().to_owned())
}

#[test]
fn keys_are_restored_under_their_names() {
    let (folder, file) = filled();
    file.set("search.tavily".to_owned(), Secret::new("tvly \"ä\"\n")).unwrap();
    file.set("llm.openai".to_owned(), Secret::new("old")).unwrap();
    file.set("llm.openai".to_owned(), Secret::new("new")).unwrap();
    let again = SealedFile::new(folder.path());
    assert_eq!(text(&again, "llm.anthropic").as_deref(), Some(PLANTED));
    assert_eq!(text(&again, "search.tavily").as_deref(), Some("tvly \"ä\"\n"));
    assert_eq!(text(&again, "llm.openai").as_deref(), Some("new"));
    assert_eq!(text(&again, "llm"), None);
    assert!(again.remove("llm.anthropic").unwrap());
    assert!(!again.remove("llm.anthropic").unwrap());
    assert_eq!(text(&file, "llm.anthropic"), None);
    assert_eq!(text(&file, "llm.openai").as_deref(), Some("new"));
}

#[test]
fn reading_creates_no_files() {
    let parent = tempfile::tempdir().unwrap();
    let file = SealedFile::new(&parent.path().join("config").join("autokit"));
    assert_eq!(text(&file, "github"), None);
    assert!(!file.remove("github").unwrap());
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn no_file_shows_a_key_or_a_name() {
    let (folder, file) = filled();
    file.set("github".to_owned(), Secret::new("ghp_other")).unwrap();
    let mut files = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for part in [PLANTED, "0123456789", "anthropic", "ghp_"] {
            let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!found, "{part} is in {}", path.display());
        }
        files += 1;
    }
    assert_eq!(files, 3, "sealed, key and lock; nothing half written");
}

#[test]
fn the_same_keys_are_sealed_differently_each_time() {
    let (folder, file) = filled();
    let sealed = || fs::read(folder.path().join("keys.sealed")).unwrap();
    let before = sealed();
    file.set("llm.anthropic".to_owned(), Secret::new(PLANTED)).unwrap();
    let after = sealed();
    assert_eq!((before[0], before.len()), (after[0], after.len()));
    assert_ne!(before[1..=NONCE], after[1..=NONCE]);
    assert_ne!(before[1 + NONCE..], after[1 + NONCE..]);
}

/// Asserts that every use of the file fails with this code and names that file, and that nothing is
/// written.
fn assert_rejected(folder: &Path, code: ErrorCode, file_name: &str) {
    let snapshot = || {
        let mut files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = snapshot();
    let file = SealedFile::new(folder);
    for error in [
        file.get("llm.anthropic").unwrap_err(),
        file.set("github".to_owned(), Secret::new("ghp_other")).unwrap_err(),
        file.remove("llm.anthropic").unwrap_err(),
    ] {
        assert_eq!(error.code, code, "{error:?}");
        let path = folder.join(file_name);
        assert!(error.message.contains(&path.display().to_string()), "{error:?}");
        assert!(!format!("{error:?}").contains(PLANTED));
    }
    assert!(before == snapshot(), "files were changed");
}

#[test]
fn a_tampered_file_is_rejected_and_not_changed() {
    let (folder, file) = filled();
    let path = folder.path().join("keys.sealed");
    let sealed = fs::read(&path).unwrap();
    for length in 0..sealed.len() {
        fs::write(&path, &sealed[..length]).unwrap();
        assert_rejected(folder.path(), ErrorCode::Damaged, "keys.sealed");
    }
    for index in 1..sealed.len() {
        let mut bytes = sealed.clone();
        bytes[index] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_rejected(folder.path(), ErrorCode::Damaged, "keys.sealed");
    }
    fs::write(&path, [sealed.as_slice(), b"more"].concat()).unwrap();
    assert_rejected(folder.path(), ErrorCode::Damaged, "keys.sealed");
    fs::write(&path, [&[VERSION + 1], &sealed[1..]].concat()).unwrap();
    assert_rejected(folder.path(), ErrorCode::NewerSchema, "keys.sealed");
    fs::write(&path, sealed).unwrap();
    assert_eq!(text(&file, "llm.anthropic").as_deref(), Some(PLANTED));
}

#[test]
fn the_version_is_authenticated() {
    let key = Key::from([7; KEY]);
    let nonce = [9; NONCE];
    let mut text = b"{}".to_vec();
    XChaCha20Poly1305::new(&key).encrypt_in_place(&XNonce::from(nonce), &[VERSION + 1], &mut text).unwrap();
    let forged = [&[VERSION], nonce.as_slice(), &text].concat();
    let error = open(&key, &forged, Path::new("keys.sealed"), Path::new("keys.key")).unwrap_err();
    assert_eq!(error.code, ErrorCode::Damaged);
}

#[test]
fn a_wrong_key_opens_nothing() {
    let (folder, _) = filled();
    fs::write(folder.path().join("keys.key"), [7; KEY]).unwrap();
    assert_rejected(folder.path(), ErrorCode::Damaged, "keys.sealed");
    fs::write(folder.path().join("keys.key"), [7; KEY - 1]).unwrap();
    assert_rejected(folder.path(), ErrorCode::Damaged, "keys.key");
}

#[test]
fn a_sealed_file_without_its_key_is_not_replaced() {
    let (folder, _) = filled();
    fs::remove_file(folder.path().join("keys.key")).unwrap();
    assert_rejected(folder.path(), ErrorCode::Damaged, "keys.key");
    assert!(!folder.path().join("keys.key").exists());
}

#[test]
fn a_folder_in_place_of_the_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("keys.sealed")).unwrap();
    let file = SealedFile::new(folder.path());
    assert_eq!(file.get("github").unwrap_err().code, ErrorCode::Damaged);
    assert_eq!(file.set("github".to_owned(), Secret::new("x")).unwrap_err().code, ErrorCode::Damaged);

    let taken = folder.path().join("taken");
    fs::write(&taken, "a file").unwrap();
    let error = SealedFile::new(&taken).set("github".to_owned(), Secret::new("x")).unwrap_err();
    assert_eq!(error.code, ErrorCode::ReadOnly, "{error:?}");
    assert!(error.message.contains("taken"), "{error:?}");
}

#[test]
fn a_partial_file_left_by_a_crash_is_replaced() {
    let (folder, file) = filled();
    let partial = folder.path().join("keys.sealed.partial");
    fs::write(&partial, "half").unwrap();
    file.set("github".to_owned(), Secret::new("ghp_other")).unwrap();
    assert!(!partial.exists());
    assert_eq!(text(&file, "github").as_deref(), Some("ghp_other"));
    assert_eq!(text(&file, "llm.anthropic").as_deref(), Some(PLANTED));
}

#[cfg(unix)]
#[test]
fn folder_and_files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let parent = tempfile::tempdir().unwrap();
    let open_to_all = parent.path().join("open");
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o755)).unwrap();
    for folder in [parent.path().join("new"), open_to_all] {
        let file = SealedFile::new(&folder);
        file.set("github".to_owned(), Secret::new("ghp_1")).unwrap();
        fs::write(folder.join("keys.sealed.partial"), "half, and open to all").unwrap();
        file.set("github".to_owned(), Secret::new("ghp_2")).unwrap();
        assert_eq!(mode(&folder), 0o700);
        for name in ["keys.sealed", "keys.key", "keys.lock"] {
            assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
        }
    }
}

#[test]
fn concurrent_writers_lose_nothing() {
    const EACH: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        for writer in ["a", "b"] {
            let (path, start) = (folder.path(), &start);
            scope.spawn(move || {
                // Like two processes: each with its own `SealedFile`, the first write creating the key.
                let file = SealedFile::new(path);
                start.wait();
                for number in 0..EACH {
                    let name = format!("{writer}.{number}");
                    file.set(name.clone(), Secret::new(name.as_str())).unwrap();
                    assert!(file.get(&name).unwrap().is_some());
                }
            });
        }
    });
    let names = SealedFile::new(folder.path()).load().unwrap();
    assert_eq!(names.len(), 2 * EACH);
    assert!(names.iter().all(|(name, secret)| name == secret.expose()));
}
