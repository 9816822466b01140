use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::OFlags;

use super::{Entry, EntryKind, FileError, Lines, ProjectRoot};

/// A project folder beside a folder that must not be read.
fn project() -> (tempfile::TempDir, ProjectRoot) {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("project");
    fs::create_dir_all(inside.join("src/deep")).expect("made");
    fs::create_dir(folder.path().join("outside")).expect("made");
    fs::write(folder.path().join("outside/file.txt"), "SECRET").expect("written");
    fs::write(inside.join("src/deep/file.txt"), "one\ntwo\nthree\n").expect("written");
    let root = ProjectRoot::open(&inside).expect("opens");
    (folder, root)
}

#[test]
fn files_are_read_by_name_and_lines() {
    let (_folder, root) = project();
    let all = root.read("src/./deep//file.txt", 1_000).expect("reads");
    assert_eq!((all.text.as_str(), all.lines, all.total_bytes), ("one\ntwo\nthree\n", 3, 14));
    assert!(!all.more && !all.line_cut);
    let some = root.read_lines("src/deep/file.txt", Lines { from: 2, lines: 1 }, 1_000).expect("reads");
    assert_eq!((some.text.as_str(), some.from, some.lines, some.more), ("two\n", 2, 1, true));
    let cut = root.read("src/deep/file.txt", 6).expect("reads");
    assert_eq!((cut.text.as_str(), cut.lines, cut.more, cut.line_cut), ("one\ntw", 2, true, true));
    let whole = root.read("src/deep/file.txt", 8).expect("reads");
    assert_eq!(
        (whole.text.as_str(), whole.lines, whole.more, whole.line_cut),
        ("one\ntwo\n", 2, true, false)
    );
    let none = root.read_lines("src/deep/file.txt", Lines { from: 9, lines: 1 }, 100).expect("reads");
    assert_eq!((none.text.as_str(), none.lines, none.more), ("", 0, false));
    fs::write(root.path().join("umlaut"), "aß").expect("written");
    let cut = root.read("umlaut", 2).expect("reads");
    assert_eq!((cut.text.as_str(), cut.line_cut), ("a", true));
}

#[test]
fn names_and_links_do_not_lead_out() {
    let (folder, root) = project();
    let inside = root.path().to_owned();
    let outside = folder.path().join("outside");
    symlink(&outside, inside.join("absolute")).expect("linked");
    symlink("../outside", inside.join("relative")).expect("linked");
    symlink("../../project/../outside/file.txt", inside.join("src/file")).expect("linked");
    symlink("/proc/self/root", inside.join("magic")).expect("linked");
    symlink("loop", inside.join("loop")).expect("linked");
    let away = format!("{}/file.txt", outside.display());
    for name in
        ["../outside/file.txt", "src/../../outside/file.txt", "src/../src/deep/file.txt", &away, "a\0b"]
    {
        assert!(matches!(root.read(name, 100), Err(FileError::Outside { .. })), "{name}");
        assert!(matches!(root.list(name, 100), Err(FileError::Outside { .. })), "{name}");
    }
    let magic = format!("magic{away}");
    for name in ["absolute/file.txt", "relative/file.txt", "src/file", &magic, "magic/etc/passwd", "loop"] {
        let error = root.read(name, 100).expect_err(name);
        assert!(matches!(error, FileError::Outside { .. } | FileError::Symlink { .. }), "{name}: {error}");
    }
    assert!(root.list("absolute", 10).is_err() && root.list("magic", 10).is_err());
    // Links that stay inside are followed if the kernel resolves names, and rejected otherwise.
    symlink("deep", inside.join("src/near")).expect("linked");
    symlink("../src/deep/file.txt", inside.join("src/up.txt")).expect("linked");
    #[cfg(target_os = "linux")]
    for name in ["src/near/file.txt", "src/up.txt"] {
        assert!(root.read(name, 100).expect(name).text.starts_with("one"));
    }
    for parts in [&["src", "near", "file.txt"][..], &["src", "up.txt"], &["absolute", "file.txt"], &["loop"]]
    {
        let walked = root.root.walk("name", parts, OFlags::RDONLY);
        assert!(matches!(walked, Err(FileError::Symlink { .. })), "{parts:?}: {walked:?}");
    }
    assert!(root.root.walk("name", &["src", "deep", "file.txt"], OFlags::RDONLY).is_ok());
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let (_folder, root) = project();
    let fifo = root.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("made");
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).expect("bound");
    for (name, what) in [("fifo", "FIFO"), ("socket", "socket"), ("src", "folder"), ("", "folder")] {
        let error = root.read(name, 100).expect_err(name);
        assert!(error.to_string().contains(what), "{name}: {error}");
    }
    assert!(matches!(root.list("src/deep/file.txt", 1), Err(FileError::NotAFolder { .. })));
    assert!(matches!(root.read("missing", 1), Err(FileError::NotFound { .. })));
    let devices = ProjectRoot::open("/dev").expect("opens");
    for name in ["zero", "null", "tty"] {
        assert!(matches!(devices.read(name, 100), Err(FileError::NotAFile { .. })), "{name}");
    }
}

#[test]
fn other_encodings_and_huge_files_are_reported() {
    let (_folder, root) = project();
    let write = |name: &str, bytes: &[u8]| fs::write(root.path().join(name), bytes).expect("written");
    write("latin", b"gr\xfc\xdfe");
    write("utf16", b"\xff\xfea\0");
    write("binary", b"\x7fELF\0\0");
    for (name, what) in [("latin", "byte 3"), ("utf16", "UTF-16"), ("binary", "binary")] {
        let error = root.read(name, 100).expect_err(name);
        assert!(error.to_string().contains(what), "{error}");
    }
    let huge = fs::File::create(root.path().join("huge")).expect("made");
    huge.set_len(1 << 40).expect("a hole");
    let far = Lines { from: 2, lines: 1 };
    assert!(matches!(root.read_lines("huge", far, 10), Err(FileError::TooLarge { .. })));
}

#[test]
fn secrets_are_refused_unless_asked_for() {
    let (_folder, root) = project();
    let inside = root.path().to_owned();
    // In two parts, so that nothing takes this source file for a key file.
    let key = format!("# mine\n-----BEGIN RSA {}-----\nMII\n", "PRIVATE KEY");
    for (name, content) in [
        (".env", "A=1"),
        (".ENV.local", "A=1"),
        ("src/prod.env", "A=1"),
        ("id_rsa", "x"),
        ("server.pem", key.as_str()),
        ("innocent.txt", key.as_str()),
        (".netrc", "x"),
    ] {
        fs::write(inside.join(name), content).expect("written");
        assert!(matches!(root.read(name, 100), Err(FileError::Private { .. })), "{name}");
    }
    symlink(".env", inside.join("notes.txt")).expect("linked");
    symlink(".", inside.join("src/here")).expect("linked");
    #[cfg(target_os = "linux")]
    for name in ["notes.txt", "src/here/prod.env"] {
        assert!(matches!(root.read(name, 100), Err(FileError::Private { .. })), "{name}");
    }
    for name in [".env.example", "id_rsa.pub", "certificate.pem", "environment.py"] {
        fs::write(inside.join(name), "-----BEGIN CERTIFICATE-----").expect("written");
        assert!(root.read(name, 100).is_ok(), "{name}");
    }
    let open = ProjectRoot::open(&inside).expect("opens").allow_private();
    assert_eq!(open.read(".env", 100).expect("allowed").text, "A=1");
    assert!(open.read("server.pem", 100).is_ok());
}

#[test]
fn folders_are_listed_in_order_with_a_count_of_omitted_entries() {
    let (_folder, root) = project();
    fs::write(root.path().join("b"), "").expect("written");
    symlink("b", root.path().join("a")).expect("linked");
    let entry = |name: &str, kind| Entry { name: name.to_owned(), kind };
    let all = root.list("", 10).expect("lists");
    let expected =
        [entry("a", EntryKind::Symlink), entry("b", EntryKind::File), entry("src", EntryKind::Directory)];
    assert_eq!((all.entries.as_slice(), all.omitted, all.more), (&expected[..], 0, false));
    let two = root.list(".", 2).expect("lists");
    assert_eq!((two.entries.as_slice(), two.omitted), (&expected[..2], 1));
}

/// Swaps a folder with a link to the outside as fast as possible, while it is read.
#[test]
fn a_folder_swapped_for_a_link_never_leads_out() {
    let (folder, root) = project();
    let inside = root.path().to_owned();
    symlink(folder.path().join("outside"), inside.join("link")).expect("linked");
    let over = AtomicBool::new(false);
    let swaps = AtomicUsize::new(0);
    let (mut read, mut refused) = (0, 0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let (real, link) = (inside.join("src/deep"), inside.join("link"));
            while !over.load(Ordering::Relaxed) {
                // Exchanged atomically, so that one of the two is always there.
                #[cfg(target_os = "linux")]
                rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    &real,
                    rustix::fs::CWD,
                    &link,
                    rustix::fs::RenameFlags::EXCHANGE,
                )
                .expect("exchanged");
                #[cfg(not(target_os = "linux"))]
                for (from, to) in
                    [(&real, inside.join("x")), (&link, real.clone()), (&inside.join("x"), link.clone())]
                {
                    fs::rename(from, to).expect("renamed");
                }
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut tries = 0;
        // Until both outcomes have been seen, or the race would not have been tested.
        while tries < 2_000 || ((read == 0 || refused == 0) && tries < 2_000_000) {
            tries += 1;
            let kept = match root.read("src/deep/file.txt", 100) {
                Ok(text) => Some(text.text),
                Err(FileError::Private { .. } | FileError::NotText { .. }) => panic!("not what is there"),
                Err(_) => None,
            };
            let walked = root.root.walk("name", &["src", "deep", "file.txt"], OFlags::RDONLY);
            let walked = walked.map(|file| std::io::read_to_string(fs::File::from(file)).expect("reads"));
            for text in [kept.clone(), walked.ok()].into_iter().flatten() {
                assert_eq!(text, "one\ntwo\nthree\n");
            }
            if kept.is_some() { read += 1 } else { refused += 1 }
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused, {swaps:?} swaps");
}
