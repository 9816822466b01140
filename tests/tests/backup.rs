//! Backups are whole, can be verified without a library, and bring back one that cannot be opened; a library
//! that cannot be written can be read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{CreateCard, DeleteCards, GetCard, InspectBackup, RestoreBackup};
use autokit_api::{BackupRef, CardCreate, CardRef, CardsDelete, Event, Role};
use autokit_app::ErrorCode;
use autokit_library::{Clock, Library, Storage};
use autokit_tests::disk::{Disk, FileSystem};
use autokit_tests::review::{put_cards, refresh};
use autokit_tests::{Workplace, copy_tree, on_deep_stack};
use autokit_toolcard::{Author, ProposalId};
use serde_json::json;

/// A library with cards, a proposal that waits and one that was turned down.
async fn prepare(place: &Workplace) -> Result<()> {
    let owned = place.own().await?;
    let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
    let names = ["weather", "mail", "maps"];
    put_cards(&library, names.iter().map(|name| json!({ "name": name, "description": "as it was" }))).await?;
    let by = Author("checker".to_owned());
    for name in ["weather", "mail"] {
        library.propose(refresh(name, &[("class", json!("New"))]), &by, None).await?;
    }
    library.reject(ProposalId::new(1), &Author("ann".to_owned()), "no", None).await?;
    library.close().await?;
    Ok(())
}

#[test]
fn a_backup_restores_a_library_that_cannot_be_opened() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let made = place.json(&["backup", "create"])?;
        let name = made["name"].as_str().context("a name")?.to_owned();
        ensure!(made["cards"] == 3, "{made}");
        let verified = place.json(&["backup", "verify", &name])?;
        ensure!(verified["problem_count"] == 0 && verified["cards"] == 3, "{verified}");

        // Damaged beyond opening.
        for folder in ["manifest", "sstables", "wal"] {
            for entry in fs::read_dir(place.data_dir().join("store").join(folder))? {
                fs::write(entry?.path(), b"no more")?;
            }
        }
        let (code, error) = place.failure(&["search", "weather"])?;
        ensure!(code == 5 && error["code"] == "damaged", "{error}");
        let remedy = error["remedy"].as_str().context("a remedy")?;
        ensure!(remedy.contains(&format!("autokit backup restore {name}")), "{remedy}");
        let doctor = place.run(&["doctor"])?;
        let message = String::from_utf8_lossy(&doctor.stdout).into_owned();
        ensure!(!doctor.status.success() && message.contains(&name), "{message}");

        let restored = place.json(&["backup", "restore", &name])?;
        ensure!(restored["backup"]["cards"] == 3, "{restored}");
        let owned = place.own().await?;
        let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
        ensure!(library.verify().await?.is_ok());
        let states: Vec<_> =
            library.proposals(None).await?.iter().map(|proposal| proposal.state.as_str()).collect();
        ensure!(states == ["rejected", "pending"], "{states:?}");
        library.close().await?;
        place.json(&["cards", "add", "--set", "name=new", "--set", "description=made after restoring"])?;
        Ok(())
    })
}

#[test]
fn a_backup_replaces_a_library_that_is_open_in_two_processes() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let name = place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned();
        let backup = BackupRef { name: name.clone() };
        let (owner, client) = (place.node(64).await?, place.node(64).await?);
        ensure!((owner.role().await, client.role().await) == (Role::Owner, Role::Client));
        let card = |name: &str| CardCreate {
            fields: json!({ "name": name, "description": "made after the backup" })
                .as_object()
                .cloned()
                .expect("an object"),
            reason: String::new(),
            flagged_too: false,
        };
        owner.call::<CreateCard>(card("later")).await?;
        owner.call::<DeleteCards>(CardsDelete { cards: vec!["mail".into()], reason: String::new() }).await?;
        let contents = client.call::<InspectBackup>(backup.clone()).await?;
        ensure!(contents.added.first == ["mail"] && contents.removed.first == ["later"], "{contents:?}");
        ensure!(contents.changed.count == 0 && contents.problems.is_empty(), "{contents:?}");
        ensure!(contents.later_changes >= 2 && contents.proposals == 1, "{contents:?}");

        let missing = client.call::<RestoreBackup>(BackupRef { name: "none".into() }).await;
        ensure!(missing.is_err_and(|error| error.code == ErrorCode::NotFound));
        let mut events = owner.events();
        // Asked by the process that does not own it.
        let asked = client.call::<RestoreBackup>(backup.clone()).await?;
        ensure!(asked.name == name);
        let replaced = loop {
            if let Event::Restored { replaced, error, .. } = events.recv().await? {
                ensure!(error.is_none(), "{error:?}");
                break replaced.context("a folder")?;
            }
        };
        ensure!(fs::exists(Path::new(&replaced).join("store"))?, "the replaced library is kept");
        for node in [&owner, &client] {
            let gone = node.call::<GetCard>(CardRef { card: "later".into() }).await;
            ensure!(gone.is_err_and(|error| error.code == ErrorCode::NotFound));
            node.call::<GetCard>(CardRef { card: "mail".into() }).await?;
        }
        ensure!(owner.role().await == Role::Owner);
        // By a terminal, while both have it open; `events` still says so to them.
        client.call::<CreateCard>(card("once more")).await?;
        let restored = tokio::task::block_in_place(|| place.json(&["backup", "restore", &name]))?;
        ensure!(
            restored["backup"]["name"] == name.as_str() && restored["replaced"] != replaced,
            "{restored}"
        );
        let gone = client.call::<GetCard>(CardRef { card: "once more".into() }).await;
        ensure!(gone.is_err_and(|error| error.code == ErrorCode::NotFound));
        // It is changed and restored like any other.
        client.call::<CreateCard>(card("again")).await?;
        let contents = owner.call::<InspectBackup>(backup).await?;
        ensure!(contents.removed.first == ["again"] && contents.added.count == 0, "{contents:?}");
        client.close().await?;
        owner.close().await?;
        let owned = place.own().await?;
        let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
        ensure!(library.verify().await?.is_ok());
        library.close().await?;
        Ok(())
    })
}

#[test]
fn a_backup_that_was_altered_is_refused() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let name = place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned();
        let file = place.data_dir().join("backups").join(format!("{name}.autokit-backup"));
        let original = fs::read(&file)?;
        // The file's type, the code table of the compression, the first line, and rows.
        for position in [0, 12, 64, original.len() * 2 / 3] {
            let mut bytes = original.clone();
            bytes[position] ^= 0x10;
            fs::write(&file, bytes)?;
            for command in ["verify", "restore"] {
                let (code, error) = place.failure(&["backup", command, &name])?;
                ensure!(code == 5 && error["code"] == "damaged", "{command}, byte {position}: {error}");
            }
        }
        // A name does not lead to a backup elsewhere.
        let elsewhere = place.path("elsewhere");
        fs::write(elsewhere.with_extension("autokit-backup"), &original)?;
        for outside in [elsewhere.display().to_string(), format!("../backups/{name}"), String::new()] {
            let (_, error) = place.failure(&["backup", "verify", &outside])?;
            ensure!(error["code"] == "not_found", "{outside:?}: {error}");
        }
        let found = place.json(&["search", "weather"])?;
        ensure!(found.to_string().contains("weather"), "the library was touched: {found}");
        Ok(())
    })
}

#[test]
fn seven_backups_are_kept() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let mut names = Vec::new();
        for _ in 0..9 {
            names.push(place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned());
        }
        let listed = place.json(&["backup", "list"])?;
        let listed: Vec<&str> = listed
            .as_array()
            .context("a list")?
            .iter()
            .filter_map(|backup| backup["name"].as_str())
            .collect();
        let newest: Vec<&str> = names.iter().rev().take(7).map(String::as_str).collect();
        ensure!(listed == newest, "{listed:?}");
        Ok(())
    })
}

#[test]
fn a_library_on_a_full_disk_is_read_and_refuses_changes() -> Result<()> {
    on_deep_stack(|| async {
        let Some(disk) = Disk::mount(FileSystem::Tmpfs, 24)? else { return Ok(()) };
        let made = Workplace::with_stand_in()?;
        prepare(&made).await?;
        let place = Workplace::on_disk(disk.path())?;
        copy_tree(&made.data_dir(), &place.data_dir())?;
        // A disk as small as this one holds nothing in reserve.
        fs::remove_file(place.data_dir().join("reserve"))?;
        disk.fill_leaving(0)?;
        let found = place.json(&["search", "weather"])?;
        ensure!(found.to_string().contains("weather"), "{found}");
        let doctor = place.json(&["doctor"])?;
        let integrity =
            doctor["checks"].as_array().context("checks")?.iter().find(|c| c["name"] == "Integrity");
        ensure!(integrity.is_some_and(|check| check["state"] == "good"), "{doctor}");
        let (code, error) =
            place.failure(&["cards", "add", "--set", "name=new", "--set", "description=no room"])?;
        ensure!(code == 5 && error["code"] == "disk_full", "{error}");
        let (code, error) = place.failure(&["serve"])?;
        ensure!(code == 5 && error["code"] == "disk_full", "{error}");
        let asked = place.run(&["ask", "what is the weather"])?;
        let answer = String::from_utf8_lossy(&asked.stdout);
        ensure!(
            answer.contains("wasn't saved: the disk is full") && !answer.contains("feedback"),
            "{answer}"
        );
        disk.clear()?;
        place.json(&["cards", "add", "--set", "name=new", "--set", "description=there is room"])?;
        Ok(())
    })
}

#[test]
fn an_open_library_reports_a_full_disk() -> Result<()> {
    on_deep_stack(|| async {
        let Some(disk) = Disk::mount(FileSystem::Tmpfs, 24)? else { return Ok(()) };
        let place = Workplace::on_disk(disk.path())?;
        prepare(&place).await?;
        let owner = place.serve()?;
        let writing = || -> Result<bool> {
            let doctor = place.json(&["doctor"])?;
            let mut checks = doctor["checks"].as_array().context("checks")?.iter();
            Ok(checks.any(|check| check["name"] == "Writing" && check["state"] == "warning"))
        };
        ensure!(!writing()?, "there is room");
        disk.fill_leaving(0)?;
        ensure!(writing()?, "nothing is said of the full disk");
        disk.clear()?;
        ensure!(!writing()?, "there is room again");
        owner.stop()?;
        Ok(())
    })
}

#[test]
fn a_library_in_a_read_only_folder_is_read_and_refuses_changes() -> Result<()> {
    on_deep_stack(|| async {
        let Some(disk) = Disk::mount(FileSystem::Tmpfs, 48)? else { return Ok(()) };
        let made = Workplace::with_stand_in()?;
        prepare(&made).await?;
        let place = Workplace::on_disk(disk.path())?;
        copy_tree(&made.data_dir(), &place.data_dir())?;
        disk.read_only()?;
        let found = place.json(&["search", "weather"])?;
        ensure!(found.to_string().contains("weather"), "{found}");
        let doctor = place.json(&["doctor"])?;
        ensure!(doctor.to_string().contains("the library is read-only"), "{doctor}");
        let (code, error) = place.failure(&["cards", "rm", "weather"])?;
        ensure!(code == 5 && error["code"] == "read_only", "{error}");
        Ok(())
    })
}

#[test]
fn missing_changes_are_reported_until_accepted() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let store = place.data_dir().join("store");
        let before = place.path("before");
        copy_tree(&store, &before)?;
        let library = Library::open(Storage::Disk(place.own().await?), Clock::system()).await?;
        put_cards(&library, std::iter::once(json!({ "name": "lost" }))).await?;
        library.close().await?;
        fs::remove_dir_all(&store)?;
        copy_tree(&before, &store)?;

        let integrity = || -> Result<serde_json::Value> {
            let output = place.command(&["doctor", "--json"])?.output()?;
            let doctor: serde_json::Value = serde_json::from_slice(&output.stdout)?;
            let checks = doctor["checks"].as_array().context("checks")?;
            let check = checks.iter().find(|check| check["name"] == "Integrity").context("no check")?;
            Ok(json!({ "check": check, "missing": doctor["can_accept_losses"] }))
        };
        let searched = place.run(&["search", "weather"])?;
        let warned = String::from_utf8_lossy(&searched.stderr).into_owned();
        ensure!(searched.status.success(), "{searched:?}");
        ensure!(warned.contains("This library is damaged") && warned.contains("autokit doctor"), "{warned}");
        for _ in 0..2 {
            let message = integrity()?;
            ensure!(message["missing"] == true && message["check"]["state"] == "bad", "{message}");
            let remedy = message["check"]["remedy"].as_str().context("a remedy")?;
            ensure!(remedy.contains("`autokit doctor --accept-missing`"), "{remedy}");
        }
        let accepted = place.run(&["doctor", "--accept-missing"])?;
        ensure!(accepted.status.success(), "{accepted:?}");
        let message = integrity()?;
        ensure!(message["missing"] == false && message["check"]["state"] == "good", "{message}");
        place.json(&["cards", "add", "--set", "name=next", "--set", "description=Comes after the gap."])?;
        let message = integrity()?;
        ensure!(message["check"]["state"] == "good", "{message}");
        Ok(())
    })
}

/// Wherever restoring is cut off, the library is the old one or the new one.
#[cfg(unix)]
#[test]
fn a_restore_that_is_killed_leaves_the_old_library_or_the_new_one() -> Result<()> {
    on_deep_stack(|| async {
        // `moved` is passed once for each file that belongs to the store.
        for point in
            ["restore.noted@1", "restore.moved@1", "restore.moved@2", "restore.moved@3", "restore.placed@1"]
        {
            let place = Workplace::with_stand_in()?;
            prepare(&place).await?;
            let name = place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned();
            place.json(&[
                "cards",
                "add",
                "--set",
                "name=later",
                "--set",
                "description=Not in the backup.",
            ])?;
            let mut restoring = place.command(&["backup", "restore", &name])?;
            let ended = restoring.env("AUTOKIT_CRASH_POINT", point).output()?.status;
            ensure!(ended.code().is_none(), "{point}: {ended}");
            // Once the journal is there the next process completes what it says.
            let doctor = place.json(&["doctor"])?;
            let cards = place.json(&["cards", "list"])?;
            ensure!(cards["total"] == 3, "{point}: {cards}");
            let well = |check: &serde_json::Value| check["name"] != "Integrity" || check["state"] == "good";
            ensure!(doctor["checks"].as_array().context("checks")?.iter().all(well), "{point}: {doctor}");
            ensure!(
                !place.data_dir().join("restoring").exists()
                    && !place.data_dir().join("restore.json").exists()
            );
        }
        Ok(())
    })
}

#[test]
fn the_newest_backup_is_kept_whatever_other_files_exist() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let folder = place.data_dir().join("backups");
        let first = place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned();
        let saved = |name: &str| folder.join(format!("{name}.autokit-backup"));
        // As of a clock that was wrong, and one a person put there.
        for number in 0..8 {
            fs::write(saved(&format!("9999-01-01T00-00-0{number}.000Z")), future(&saved(&first), number)?)?;
        }
        fs::copy(saved(&first), saved("mine"))?;
        fs::write(folder.join("cut-off.partial"), "half")?;
        let mut made = Vec::new();
        for _ in 0..8 {
            made.push(place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned());
        }
        ensure!(
            made.iter().rev().take(7).all(|name| saved(name).exists()),
            "one of the newest seven is gone"
        );
        ensure!(!saved(&made[0]).exists() && !saved(&first).exists(), "more than seven are kept");
        ensure!(saved("mine").exists() && saved("9999-01-01T00-00-00.000Z").exists());
        ensure!(!folder.join("cut-off.partial").exists());
        // Nor does a date in the future put off the next one.
        let owned = place.own().await?;
        let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
        let newest = library.newest_backup().context("a backup")?;
        ensure!(Some(&newest.name) == made.last(), "{newest:?}");
        library.close().await?;
        Ok(())
    })
}

/// A backup whose first line says that it was made in the future.
fn future(of: &std::path::Path, second: usize) -> Result<Vec<u8>> {
    use std::io::{Read, Write};
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(fs::File::open(of)?).read_to_string(&mut text)?;
    let (first, rest) = text.split_once('\n').context("a first line")?;
    let mut header: serde_json::Value = serde_json::from_str(first)?;
    header["created_at"] = json!(format!("9999-01-01T00:00:0{second}.000Z"));
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    write!(out, "{header}\n{rest}")?;
    Ok(out.finish()?)
}

#[cfg(unix)]
#[test]
fn files_that_are_not_backups_are_neither_opened_nor_restored() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        let name = place.json(&["backup", "create"])?["name"].as_str().context("a name")?.to_owned();
        let folder = place.data_dir().join("backups");
        let pipe = std::ffi::CString::new(folder.join("pipe.autokit-backup").display().to_string())?;
        // SAFETY: the path ends with a zero.
        ensure!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) } == 0);
        let file = folder.join(format!("{name}.autokit-backup"));
        let original = fs::read(&file)?;
        fs::write(folder.join("half.autokit-backup"), &original[..original.len() / 2])?;
        let listed = place.json(&["backup", "list"])?;
        ensure!(listed.as_array().is_some_and(|all| all.iter().all(|one| one["name"] != "pipe")), "{listed}");
        let (_, error) = place.failure(&["backup", "restore", "half"])?;
        ensure!(
            error["message"].as_str().is_some_and(|message| message.contains("cannot be used")),
            "{error}"
        );
        let cards = place.json(&["cards", "list"])?;
        ensure!(cards["total"] == 3, "{cards}");
        Ok(())
    })
}

/// Without the head nobody knows whether changes are missing, also at the next opening; and a library of which
/// something is missing is not backed up as if it were whole.
#[test]
fn a_missing_head_is_reported_until_accepted() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in()?;
        prepare(&place).await?;
        fs::remove_file(place.data_dir().join("head"))?;
        for _ in 0..2 {
            place.json(&["cards", "list"])?;
            let output = place.command(&["doctor", "--json"])?.output()?;
            let message = String::from_utf8(output.stdout)?;
            ensure!(!output.status.success() && message.contains("`head` is missing"), "{message}");
            let (_, error) = place.failure(&["backup", "create"])?;
            ensure!(
                error["message"].as_str().is_some_and(|message| message.contains("incomplete")),
                "{error}"
            );
        }
        let accepted = place.run(&["doctor", "--accept-missing"])?;
        ensure!(accepted.status.success(), "{accepted:?}");
        place.json(&["backup", "create"])?;
        Ok(())
    })
}
