//! Both forms of a bundle hold the same content, and errors in either are reported.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;

use autokit_bundle::{
    Bundle, BundleCard, BundleContents, BundleInfo, Error, PastRevision, Provenance, RevisionMeta,
    SigningKey, VectorModel, read_file, read_folder, write_file, write_folder,
};
use autokit_toolcard::{Author, CardId, Operation, RevisionId, Toolcard};
use proptest as _;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;
use {
    base64 as _, csv as _, ed25519_dalek as _, getrandom as _, regex as _, serde as _, thiserror as _,
    ts_rs as _,
};

fn step(id: RevisionId, author: &str) -> RevisionMeta {
    RevisionMeta {
        id,
        operation: Operation::Edit,
        author: Author(author.to_owned()),
        at: "2026-01-02T03:04:05.678Z".parse().expect("a time"),
        reason: "because".to_owned(),
        merged: Vec::new(),
    }
}

fn entry(position: usize, card: &Value) -> BundleCard {
    let card = Toolcard::from_json(&card.to_string()).expect("a card");
    let id = card.key().id();
    let first = RevisionId::first(&id, Some("{}"));
    let newest = RevisionId::first(&id, Some(&card.to_json()));
    let was = json!({"name": card.name(), "description": "before"}).to_string();
    BundleCard {
        position,
        revision: step(newest, "Alice"),
        ancestors: Vec::new(),
        history: vec![
            PastRevision { revision: step(first.clone(), "Bob"), body: was },
            PastRevision {
                revision: step(RevisionId::first(&id, None), "Bob"),
                body: json!({"name": "x"}).to_string(),
            },
        ],
        provenance: Provenance {
            author: Author("Bob".to_owned()),
            at: "2026-01-01T00:00:00.000Z".parse().expect("a time"),
            operation: Operation::Create,
            licence: Some("MIT".to_owned()),
        },
        vectors: Some(vec![0.5, -0.25, 1.0e-7, 3.0]),
        warnings: Vec::new(),
        id,
        card,
    }
}

fn contents() -> BundleContents {
    let mut cards = vec![
        entry(
            1,
            &json!({"name": "Google Calendar", "description": "d", "init_args": {"b": 1, "a": null}, "x-n": 1.5}),
        ),
        entry(2, &json!({"name": "../../etc/passwd", "description": "<script>alert(1)</script>"})),
        entry(3, &json!({"name": "日本語ツール", "provider": "P", "description": "\u{202e}evil"})),
        entry(4, &json!({"name": "CON", "description": "a name some systems keep for themselves"})),
    ];
    cards.sort_by(|a, b| a.id.cmp(&b.id));
    BundleContents {
        about: BundleInfo {
            name: "Team cards".to_owned(),
            author: "Alice".to_owned(),
            created_at: "2026-01-02T03:04:05.678Z".parse().ok(),
            licence: Some("CC-BY-4.0".to_owned()),
            note: String::new(),
        },
        cards,
        history: true,
        vectors: Some(VectorModel { model: "m".to_owned(), dim: 2 }),
        names: vec!["borealis = deployment service of ours".to_owned()],
        synonyms: vec!["time off -> vacation".to_owned()],
    }
}

fn written(contents: &BundleContents, key: Option<&SigningKey>) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    write_file(&mut out, contents, key).expect("written");
    out.into_inner()
}

fn read(bytes: &[u8]) -> Result<Bundle, Error> {
    read_file(Cursor::new(bytes))
}

/// The files of a bundle, by name.
fn unpacked(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a ZIP");
    (0..zip.len())
        .map(|at| {
            let mut file = zip.by_index(at).expect("a file");
            let mut content = Vec::new();
            file.read_to_end(&mut content).expect("read");
            (file.name().expect("a name").into_owned(), content)
        })
        .collect()
}

fn packed(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("begun");
        zip.write_all(content).expect("written");
    }
    zip.finish().expect("finished").into_inner()
}

/// The bundle with one of its files changed; if `sealed`, with its checksums updated to match.
fn changed(name: &str, sealed: bool, change: impl Fn(&str) -> String) -> Vec<u8> {
    let mut files = unpacked(&written(&contents(), None));
    for (file, content) in &mut files {
        if file == name {
            *content = change(std::str::from_utf8(content).expect("text")).into_bytes();
        }
    }
    if sealed {
        seal(&mut files);
    }
    packed(&files)
}

fn seal(files: &mut [(String, Vec<u8>)]) {
    use sha2::Digest;
    let sums: Vec<Value> = files
        .iter()
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|ending| ending == "jsonl"))
        .map(|(name, content)| {
            json!({"name": name, "bytes": content.len(), "sha256": hex::encode(sha2::Sha256::digest(content))})
        })
        .collect();
    let manifest = &mut files.iter_mut().find(|(name, _)| name == "bundle.json").expect("there").1;
    let mut value: Value = serde_json::from_slice(manifest).expect("JSON");
    value["files"] = Value::Array(sums);
    *manifest = value.to_string().into_bytes();
}

#[test]
fn what_is_written_is_read_and_written_again_the_same() {
    let key = SigningKey::generate();
    let one = written(&contents(), Some(&key));
    assert_eq!(one, written(&contents(), Some(&key)), "the same content makes the same bytes");
    let bundle = read(&one).expect("read");
    assert!(bundle.rejected.is_empty());
    assert_eq!(bundle.signature.as_ref().expect("signed").key, key.public());
    assert_eq!(written(&bundle.contents, Some(&key)), one);
    let id = CardId::new("google-calendar");
    let card =
        bundle.contents.cards.iter().find(|card| card.id.as_str().starts_with(id.as_str())).expect("there");
    assert_eq!(card.vectors.as_deref(), Some(&[0.5, -0.25, 1.0e-7, 3.0][..]));
    assert_eq!(card.history[1].body, r#"{"name":"x"}"#);
}

#[test]
fn the_published_schema_describes_every_line() {
    let schema: Value = serde_json::from_str(autokit_bundle::SCHEMA).expect("JSON");
    let of = |what: &str| {
        let mut schema = schema.clone();
        schema.as_object_mut().expect("an object").remove("anyOf");
        schema["$ref"] = json!(format!("#/$defs/{what}"));
        jsonschema::validator_for(&schema).expect("a schema")
    };
    let mut seen = 0;
    for (name, content) in unpacked(&written(&contents(), Some(&SigningKey::generate()))) {
        let text = String::from_utf8(content).expect("text");
        let (what, documents): (&str, Vec<&str>) = match name.as_str() {
            "bundle.json" => ("bundle", vec![&text]),
            "signature.json" => ("signature", vec![&text]),
            "cards.jsonl" => ("card_line", text.lines().collect()),
            "history.jsonl" => ("history_line", text.lines().collect()),
            "vectors.jsonl" => ("vectors_line", text.lines().collect()),
            other => panic!("{other}"),
        };
        for document in documents {
            let value: Value = serde_json::from_str(document).expect("JSON");
            let errors: Vec<String> = of(what).iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 2 + 4 + 8 + 4);
    assert!(!of("card_line").is_valid(&json!({"id": "a", "card": {"name": "a"}})));
}

#[test]
fn a_folder_holds_the_same_and_keeps_what_did_not_change() {
    let key = SigningKey::generate();
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("cards of the team");
    fs::create_dir_all(dir.join(".git")).expect("made");
    fs::write(dir.join("README.md"), "hello").expect("written");
    let file = written(&contents(), Some(&key));
    let digest = write_folder(&dir, &contents(), Some(&key)).expect("written");
    let bundle = read_folder(&dir).expect("read");
    assert_eq!(bundle.digest, digest);
    assert_eq!(bundle.digest, read(&file).expect("read").digest, "both forms have one name");
    assert_eq!(bundle.signature.as_ref().expect("signed").key, key.public());
    assert_eq!(written(&bundle.contents, Some(&key)), file);

    // The file of a removed card is deleted; nothing else is touched.
    let names = |part: &str| {
        let mut names: Vec<String> = fs::read_dir(dir.join(part))
            .expect("there")
            .map(|entry| entry.expect("read").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("cards").len(), 4);
    assert!(
        names("cards").iter().all(|name| name.is_ascii() && !name.starts_with("con.")),
        "{:?}",
        names("cards")
    );
    let mut fewer = contents();
    fewer.cards.retain(|card| card.card.name() != "CON");
    let before: Vec<_> = names("cards")
        .iter()
        .map(|name| {
            (name.clone(), fs::metadata(dir.join("cards").join(name)).and_then(|m| m.modified()).ok())
        })
        .collect();
    write_folder(&dir, &fewer, None).expect("written");
    assert_eq!((names("cards").len(), names("history").len()), (3, 3));
    for name in names("cards") {
        let now = fs::metadata(dir.join("cards").join(&name)).and_then(|m| m.modified()).ok();
        assert!(before.contains(&(name, now)));
    }
    assert!(!dir.join("signature.json").exists());
    assert_eq!(fs::read_to_string(dir.join("README.md")).expect("kept"), "hello");
}

#[test]
fn a_folder_of_something_else_is_not_written_into() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("thesis.tex"), "x").expect("written");
    let refused = write_folder(folder.path(), &contents(), None).expect_err("refused").to_string();
    assert_eq!(
        refused,
        "nothing was written: the folder contains \"thesis.tex\" but no `bundle.json`, so it is not a bundle; choose an empty folder"
    );
    assert!(!folder.path().join("cards").exists());
}

/// All files of a folder with their content, to check that nothing was touched.
fn all_in(dir: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).expect("there") {
        let path = entry.expect("read").path();
        if fs::symlink_metadata(&path).expect("there").is_dir() {
            all.extend(all_in(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
    all.sort();
    all
}

#[test]
fn files_of_others_make_an_export_refuse_before_it_touches_anything() {
    let ours = tempfile::tempdir().expect("a folder");
    write_folder(ours.path(), &contents(), None).expect("written");
    let manifest = fs::read_to_string(ours.path().join("bundle.json")).expect("there");
    // Other files called `bundle.json`, and files next to a bundle.
    for (file, content) in [
        ("bundle.json", r#"{"name": "my-web-app", "version": "1.0.0"}"#.to_owned()),
        ("bundle.json", "not JSON".to_owned()),
        ("bundle.json", manifest.replace("autokit.toolcards", "other")),
        ("bundle.json", manifest.replace("\"version\": 1", "\"version\": 2")),
        ("cards/mine.json", r#"{"name": "Ace of spades"}"#.to_owned()),
        ("history/diary.jsonl", "{\"day\": 1}\n".to_owned()),
        ("signature.json", "{}".to_owned()),
        ("vectors.jsonl", "[1, 2]\n".to_owned()),
        (".autokit-unfinished", "something".to_owned()),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        write_folder(dir, &contents(), None).expect("written");
        fs::write(dir.join("cards/notes.txt"), "x").expect("written");
        fs::write(dir.join(file), content).expect("written");
        let before = all_in(dir);
        let refused = write_folder(dir, &BundleContents::default(), None).expect_err(file);
        assert!(matches!(refused, Error::Place(_) | Error::Newer { found: 2 }), "{refused}");
        if matches!(refused, Error::Place(_)) {
            assert!(refused.to_string().contains(&format!("{file:?}")), "{refused}");
        }
        assert_eq!(all_in(dir), before, "{file}");
    }
    // Files that no export writes are kept.
    fs::write(ours.path().join("cards/notes.txt"), "x").expect("written");
    write_folder(ours.path(), &BundleContents::default(), None).expect("written");
    let left = |part: &str| all_in(&ours.path().join(part)).len();
    assert_eq!((left("cards"), left("history")), (1, 0));
}

#[cfg(unix)]
#[test]
fn links_are_not_written_through() {
    use std::os::unix::fs::symlink;
    let target = tempfile::tempdir().expect("a folder");
    write_folder(target.path(), &contents(), None).expect("written");
    let before = all_in(target.path());
    for name in [
        "bundle.json",
        "cards",
        "history",
        "vectors.jsonl",
        "signature.json",
        ".autokit-unfinished",
        "cards/zz.json",
        "history/zz.jsonl",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        write_folder(dir, &contents(), Some(&SigningKey::generate())).expect("written");
        let path = dir.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).expect("removed");
        } else if path.exists() {
            fs::remove_file(&path).expect("removed");
        }
        symlink(target.path().join(name), &path).expect("linked");
        let refused = write_folder(dir, &BundleContents::default(), None).expect_err(name);
        assert!(matches!(&refused, Error::Place(why) if why.contains(&format!("{name:?}"))), "{refused}");
    }
    assert_eq!(all_in(target.path()), before);
}

#[test]
fn an_interrupted_export_is_known_and_gone_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    // The state after the first export into a folder was interrupted.
    fs::create_dir_all(dir.join("cards")).expect("made");
    fs::create_dir_all(dir.join("history")).expect("made");
    fs::write(dir.join(".autokit-unfinished"), "autokit.toolcards\n").expect("written");
    fs::write(dir.join("cards/.autokit-a1b2.tmp"), "{\"id\"").expect("written");
    let refused = read_folder(dir).expect_err("refused");
    assert_eq!(refused.to_string(), "the last export into this folder did not finish");
    write_folder(dir, &contents(), None).expect("written");
    assert_eq!(read_folder(dir).expect("read").contents.cards.len(), 4);
    assert!(!dir.join("cards/.autokit-a1b2.tmp").exists() && !dir.join(".autokit-unfinished").exists());

    // The state after a later export was interrupted: new cards beside the old manifest.
    fs::write(dir.join(".autokit-unfinished"), "autokit.toolcards\n").expect("written");
    assert!(matches!(read_folder(dir), Err(Error::Unfinished)));
    write_folder(dir, &contents(), None).expect("written");
    read_folder(dir).expect("read");
}

#[test]
fn texts_of_one_line_hold_no_line_ends() {
    // When reading, they are refused.
    let spoofed = |name: &str| {
        changed("bundle.json", false, |text| {
            let mut value: Value = serde_json::from_str(text).expect("JSON");
            value[name] = json!("Team\nsigned by Alice");
            value.to_string()
        })
    };
    for name in ["name", "author", "licence"] {
        assert!(matches!(read(&spoofed(name)), Err(Error::Damaged { .. })), "{name}");
    }
    assert_eq!(read(&spoofed("note")).expect("read").contents.about.note, "Team\nsigned by Alice");

    // When writing, they are repaired, and the result can be read.
    let mut odd = contents();
    odd.about.name = "Team\ncards".to_owned();
    odd.about.author = "Al\u{1b}ice".to_owned();
    odd.about.licence = Some("MIT\u{2028}".to_owned());
    odd.about.note = "one\r\n\ttwo\u{7}".to_owned();
    odd.cards[0].revision.author.0 = "Al\nice".to_owned();
    odd.cards[0].revision.reason = "be\ncause".to_owned();
    odd.cards[0].provenance.licence = Some("M\nIT".to_owned());
    odd.cards[0].history[0].revision.reason = "so\0".to_owned();
    let key = SigningKey::generate();
    let bundle = read(&written(&odd, Some(&key))).expect("read");
    assert!(bundle.rejected.is_empty(), "{:?}", bundle.rejected);
    let about = &bundle.contents.about;
    assert_eq!((about.name.as_str(), about.note.as_str()), ("Team cards", "one\n\ttwo "));
    assert_eq!(bundle.signature.expect("signed").signer, "Al ice");
    let card = &bundle.contents.cards[0];
    assert_eq!(
        (card.revision.reason.as_str(), card.history[0].revision.reason.as_str()),
        ("be cause", "so ")
    );
    let folder = tempfile::tempdir().expect("a folder");
    write_folder(folder.path(), &odd, Some(&key)).expect("written");
    assert_eq!(read_folder(folder.path()).expect("read").digest, bundle.digest);
}

#[test]
fn empty_lines_are_damage() {
    for (part, change) in [
        ("cards.jsonl", (|text: &str| format!("\n{text}")) as fn(&str) -> String),
        ("cards.jsonl", |text| format!("{text}\n")),
        ("history.jsonl", |text| text.replacen('\n', "\n \r\n", 1)),
        ("vectors.jsonl", |text| text.to_owned() + &"\n".repeat(64 << 20)),
    ] {
        let refused = read(&changed(part, true, change)).expect_err(part).to_string();
        assert!(refused.contains(part) && refused.contains("is empty"), "{refused}");
    }
    // The last line may lack its newline.
    assert!(read(&changed("cards.jsonl", true, |text| text.trim_end().to_owned())).is_ok());
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    write_folder(dir, &contents(), None).expect("written");
    std::os::unix::fs::symlink("/etc/passwd", dir.join("cards/zz.json")).expect("linked");
    assert!(matches!(read_folder(dir), Err(Error::Foreign { .. })));
    fs::remove_file(dir.join("cards/zz.json")).expect("removed");
    fs::rename(dir.join("history"), folder.path().join(".h")).expect("moved");
    std::os::unix::fs::symlink("/etc", dir.join("history")).expect("linked");
    assert!(matches!(read_folder(dir), Err(Error::Foreign { .. })));
}

#[test]
fn a_wrong_or_moved_signature_is_refused() {
    let key = SigningKey::generate();
    let signed = unpacked(&written(&contents(), Some(&key)));
    let signature = signed.iter().find(|(name, _)| name == "signature.json").expect("signed").clone();
    let mut other = contents();
    other.about.name = "Other cards".to_owned();
    let mut files = unpacked(&written(&other, None));
    files.push(signature);
    assert!(matches!(read(&packed(&files)), Err(Error::Signature(_))));

    // Without its signature it is an unsigned bundle.
    let stripped: Vec<_> = signed.into_iter().filter(|(name, _)| name != "signature.json").collect();
    assert!(read(&packed(&stripped)).expect("read").signature.is_none());

    // The checksums reveal a change of the content.
    let edited = changed("cards.jsonl", false, |text| text.replace("alert(1)", "alert(2)"));
    assert!(matches!(read(&edited), Err(Error::Damaged { file, .. }) if file == "cards.jsonl"));
}

#[test]
fn keys_do_not_leave() {
    let mut contents = contents();
    let key = format!("ghp_{}", "a8Bq2ZxK7mP4wR9tYc3L".repeat(2));
    contents.cards[0].history[0].body = json!({"name": "a", "usage": key}).to_string();
    let refused = write_file(Cursor::new(Vec::new()), &contents, None).expect_err("refused");
    let Error::Secrets(secrets) = &refused else { panic!("{refused}") };
    assert_eq!((secrets[0].field.as_str(), secrets[0].in_history), ("usage", true));
    assert!(!refused.to_string().contains("a8Bq2"), "{refused}");
}

#[test]
fn hostile_files_are_refused() {
    let foreign = |name: &str| {
        let mut files = unpacked(&written(&contents(), None));
        files.push((name.to_owned(), b"x".to_vec()));
        packed(&files)
    };
    for name in ["../evil", "/etc/passwd", "cards/a.json", "CARDS.JSONL", "c:\\x"] {
        assert!(matches!(read(&foreign(name)), Err(Error::Foreign { .. })), "{name}");
    }
    let newer =
        changed("bundle.json", false, |text| text.replace("\"version\": 1", "\"version\": 2, \"cards\": {}"));
    assert!(matches!(read(&newer), Err(Error::Newer { found: 2 })));
    let other = changed("bundle.json", false, |text| text.replace("autokit.toolcards", "other"));
    assert!(matches!(read(&other), Err(Error::NotABundle(_))));
    for bytes in [&b""[..], b"PK\x03\x04", b"not a zip at all", &[0; 4096]] {
        assert!(matches!(read(bytes), Err(Error::NotABundle(_))));
    }
    let whole = written(&contents(), None);
    assert!(read(&whole[..whole.len() - 30]).is_err(), "cut off");
    // The same file twice: a reader may see one that a checker did not.
    let twice = twice(&whole);
    assert!(
        matches!(read(&twice), Err(Error::Foreign { .. } | Error::NotABundle(_))),
        "{:?}",
        read(&twice).err()
    );
}

/// A ZIP with an additional directory entry of the same name.
fn twice(whole: &[u8]) -> Vec<u8> {
    let find = |mark: &[u8]| whole.windows(4).position(|four| four == mark).expect("there");
    let (directory, end) = (find(b"PK\x01\x02"), find(b"PK\x05\x06"));
    let next = directory
        + 4
        + whole[directory + 4..].windows(4).position(|four| four == b"PK\x01\x02").expect("there");
    let mut out = whole[..end].to_vec();
    out.extend_from_slice(&whole[directory..next]);
    let mut tail = whole[end..].to_vec();
    let count = u16::from_le_bytes([tail[10], tail[11]]) + 1;
    tail[8..10].copy_from_slice(&count.to_le_bytes());
    tail[10..12].copy_from_slice(&count.to_le_bytes());
    let size = u32::try_from(end - directory + next - directory).expect("small");
    tail[12..16].copy_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&tail);
    out
}

#[test]
fn what_is_too_much_is_refused_before_it_is_unpacked() {
    let bomb = |bytes: usize| {
        let mut files = unpacked(&written(&contents(), None));
        for (name, content) in &mut files {
            if name == "cards.jsonl" {
                content.extend(std::iter::repeat_n(b' ', bytes));
            }
        }
        files
    };
    // Longer than the manifest lists: not read beyond that length.
    let longer = packed(&bomb(64 << 20));
    assert!(longer.len() < 1 << 20);
    assert!(matches!(read(&longer), Err(Error::Damaged { .. } | Error::TooLarge { .. })));
    // Listed with its real size: the line is too long.
    let mut files = bomb(100 << 20);
    seal(&mut files);
    assert!(matches!(read(&packed(&files)), Err(Error::TooLarge { .. })));
    // More than is ever unpacked.
    let huge = changed("bundle.json", false, |text| {
        let mut value: Value = serde_json::from_str(text).expect("JSON");
        value["files"][0]["bytes"] = json!(u64::MAX - 5);
        value.to_string()
    });
    assert!(matches!(read(&huge), Err(Error::TooLarge { .. })));
    let many = changed("bundle.json", false, |text| text.replace("\"cards\": 4", "\"cards\": 1000000"));
    assert!(matches!(read(&many), Err(Error::TooLarge { .. })));
}

#[test]
fn a_card_that_is_wrong_is_refused_alone() {
    type Change<'a> = &'a dyn Fn(&mut Value);
    let first = |text: &str, change: Change<'_>| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut value: Value = serde_json::from_str(&lines[0]).expect("JSON");
        change(&mut value);
        lines[0] = value.to_string();
        lines.join("\n") + "\n"
    };
    let wrong: [(&str, Change<'_>); 7] = [
        ("an id that is a path", &|line| line["id"] = json!("../../x")),
        ("an id that is not seen", &|line| line["id"] = json!("a\u{200b}b")),
        ("no time", &|line| line["revision"]["at"] = json!("yesterday")),
        ("a licence of a megabyte", &|line| line["provenance"]["licence"] = json!("x".repeat(1 << 20))),
        ("a field of 600 KB", &|line| line["card"]["description"] = json!("x".repeat(600 << 10))),
        ("no name", &|line| line["card"]["name"] = json!("")),
        ("a name as a number", &|line| line["card"]["name"] = json!(7)),
    ];
    for (what, change) in wrong {
        let mut files = unpacked(&changed("cards.jsonl", false, |text| first(text, change)));
        // Rejecting an id also skips its history and vectors.
        let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["id"].clone();
        let text = |files: &[(String, Vec<u8>)], name: &str| {
            let (_, content) = files.iter().find(|(file, _)| file == name).expect("there");
            String::from_utf8(content.clone()).expect("text")
        };
        let kept: Vec<Value> = text(&files, "cards.jsonl").lines().map(id).collect();
        for name in ["history.jsonl", "vectors.jsonl"] {
            let lines = text(&files, name);
            let lines: Vec<&str> =
                lines.split_inclusive('\n').filter(|line| kept.contains(&id(line))).collect();
            files.iter_mut().find(|(file, _)| file == name).expect("there").1 = lines.concat().into_bytes();
        }
        seal(&mut files);
        let bundle = read(&packed(&files)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((bundle.contents.cards.len(), bundle.rejected.len()), (3, 1), "{what}");
    }
    let repeated = changed("cards.jsonl", true, |text| {
        let lines: Vec<&str> = text.lines().collect();
        [lines[0], lines[0], lines[2], lines[3]].join("\n") + "\n"
    });
    // History of a card that is missing.
    assert!(matches!(read(&repeated), Err(Error::Damaged { .. })));
    let key = changed("cards.jsonl", true, |text| {
        text.replacen("\"description\":", "\"name\":\"again\",\"description\":", 1)
    });
    let bundle = read(&key).expect("read");
    assert_eq!(bundle.rejected.len(), 1, "a key twice");
}
