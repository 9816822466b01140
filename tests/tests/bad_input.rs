//! Whatever goes wrong outside, people get a clear sentence and a remedy, and nothing is lost.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use autokit_tests::{Workplace, made_up_cards, open_to_all, program};
use serde_json::{Value, json};

/// A library with one card, which every mishap below has to leave alone.
fn with_one_card() -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    place.json(&["cards", "add", "--set", "name=Survivor"])?;
    Ok(place)
}

fn survived(place: &Workplace) -> Result<()> {
    let listed = place.json(&["cards", "list"])?;
    ensure!(listed["total"] == 1 && listed["rows"][0]["name"] == "Survivor", "{listed}");
    Ok(())
}

/// The import fails with this code, a sentence that contains `says`, and a remedy.
fn refused(place: &Workplace, file: &Path, code: &str, says: &str) -> Result<()> {
    let (exit, error) = place.failure(&["import", &file.display().to_string()])?;
    let message = error["message"].as_str().unwrap_or_default();
    ensure!(error["code"] == code && message.contains(says), "{error}");
    ensure!(error["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{error}");
    ensure!(exit == 4, "exit code {exit}");
    survived(place)
}

#[test]
fn a_file_of_a_gigabyte_is_refused_at_once() -> Result<()> {
    let place = with_one_card()?;
    let path = place.path("huge.json");
    // Sparse: takes no room on the disk.
    fs::File::create(&path)?.set_len(1 << 30)?;
    refused(&place, &path, "unreadable_file", "larger than 256 MiB")
}

#[test]
fn text_that_is_not_utf8_is_located() -> Result<()> {
    let place = with_one_card()?;
    let path = place.path("latin1.json");
    fs::write(&path, b"[\n {\"name\": \"caf\xe9\"}]")?;
    refused(&place, &path, "unreadable_file", "line 2")
}

#[test]
fn broken_json_a_folder_and_a_missing_file_are_distinguished() -> Result<()> {
    let place = with_one_card()?;
    let path = place.path("broken.json");
    fs::write(&path, "[{\"name\": \"a\"},")?;
    refused(&place, &path, "unreadable_file", "not valid JSON")?;
    refused(&place, &place.data_dir(), "unreadable_file", "does not contain `bundle.json`")?;
    refused(&place, &place.path("absent.json"), "unreadable_file", "no such file")
}

/// The import ends with this cause and what to do about it, and with nothing else on the terminal.
fn told(place: &Workplace, source: &str, cause: &str, remedy: &str) -> Result<()> {
    let output = place.run(&["import", source])?;
    let output_text = String::from_utf8(output.stderr)?;
    let lines: Vec<&str> = output_text.lines().collect();
    ensure!(!output.status.success() && lines.len() == 2, "{output_text}");
    ensure!(lines[0].starts_with("error: ") && lines[0].contains(cause), "{output_text}");
    ensure!(lines[1].starts_with("  → ") && lines[1].contains(remedy), "{output_text}");
    survived(place)
}

#[test]
fn documents_of_apis_that_are_not_read_say_why() -> Result<()> {
    let place = with_one_card()?;
    let write = |name: &str, text: &str| -> Result<String> {
        let path = place.path(name);
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    };
    for text in [r#"{"swagger": "2.0", "paths": {}}"#, "swagger: '2.0'\ninfo: {title: x}\npaths: {}\n"] {
        let file = write("swagger", text)?;
        told(&place, &file, "the document is Swagger 2.0.", "Convert it to OpenAPI 3 first")?;
    }
    let deep = write("deep.yaml", &format!("openapi: 3.0.0\na: {}1{}", "[".repeat(1000), "]".repeat(1000)))?;
    told(&place, &deep, "is nested more than 128 levels deep.", "split it, and import it again.")?;
    let mut bomb = b"openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_vec();
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        writeln!(bomb, "a{level}: &a{level} [{before}]")?;
    }
    let bomb = write("bomb.yaml", std::str::from_utf8(&bomb)?)?;
    told(&place, &bomb, "grows beyond 64 MiB or 4 million values", "Expand its aliases (*name)")
}

#[test]
fn a_named_pipe_is_named_in_the_error() -> Result<()> {
    let place = with_one_card()?;
    let pipe = place.path("pipe");
    ensure!(Command::new("mkfifo").arg(&pipe).status()?.success());
    // Nobody writes to it: whoever opened it would wait for good.
    told(&place, &pipe.display().to_string(), "but a named pipe.", "pipe it into `autokit import -`.")
}

#[test]
fn addresses_are_read_however_they_are_written() -> Result<()> {
    let place = with_one_card()?;
    // Private addresses are refused, by name: it was taken for an address, not for a file.
    for address in ["http://127.0.0.1:1/cards.json", "HTTP://127.0.0.1:1/cards.json", "Https://LOCALHOST:1/x"]
    {
        told(&place, address, "is on this machine or a private network", "autokit providers allow HOST")?;
    }
    told(&place, "ftp://example.org/x", "Ftp URLs aren't supported.", "Use an https URL")
}

#[test]
fn an_export_of_nothing_says_why() -> Result<()> {
    let place = with_one_card()?;
    let file = place.path("out.json").display().to_string();
    let (exit, error) = place.failure(&["export", &file, "--tag", "nobody-has-this"])?;
    ensure!(exit == 3 && error["message"] == "no card matches; nothing was written", "{error}");
    ensure!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("autokit cards list")), "{error}");
    let empty = Workplace::with_stand_in()?;
    let file = empty.path("out.json").display().to_string();
    let (exit, error) = empty.failure(&["export", &file])?;
    ensure!(exit == 3 && error["message"] == "the library is empty; nothing was written", "{error}");
    ensure!(!Path::new(&file).exists());
    Ok(())
}

#[test]
fn bad_cards_are_named_and_good_ones_imported() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let path = place.path("mixed.json");
    let mut file = fs::File::create(&path)?;
    write!(
        file,
        "[{}, {}, {{\"name\": \"deep\", \"x\": {deep}}}, {}, {}]",
        json!({"name": "good"}),
        json!({"name": "long", "description": "x".repeat(10 << 20)}),
        json!({"name": "good", "description": "twice"}),
        json!({"name": "also good"}),
    )?;
    drop(file);
    let done = place.json(&["import", &path.display().to_string()])?;
    let tally = &done[0]["job"]["tally"];
    ensure!(tally["added"] == 2 && tally["rejected"] == 3, "{tally}");
    let reasons: Vec<(u64, String)> = done[0]["rejected"]
        .as_array()
        .context("a list")?
        .iter()
        .map(|item| {
            let problem = &item["problems"][0];
            (
                item["position"].as_u64().unwrap_or(0),
                format!(
                    "{} {}",
                    problem["field"].as_str().unwrap_or(""),
                    problem["reason"].as_str().unwrap_or("")
                ),
            )
        })
        .collect();
    ensure!(
        reasons[0].0 == 2 && reasons[0].1.starts_with("description has a text of 10485760 bytes"),
        "{reasons:?}"
    );
    ensure!(reasons[1].0 == 3 && reasons[1].1.contains("recursion limit"), "{reasons:?}");
    ensure!(reasons[2].0 == 4 && reasons[2].1.contains("repeats item 1"), "{reasons:?}");
    Ok(())
}

#[test]
fn without_a_usable_model_search_falls_back_to_keywords() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["cards", "add", "--set", "name=Survivor"])?;
    let folder = place.path("model");
    let library = place.data_dir().display().to_string();
    let ask = || -> Result<Value> {
        let output = Command::new(program("autokit")?)
            .args(["--data-dir", &library, "--json", "--model-folder"])
            .arg(&folder)
            .args(["ask", "survivor"])
            .output()?;
        serde_json::from_slice(&output.stdout).context(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    fs::create_dir(&folder)?;
    let missing = ask()?;
    ensure!(missing["candidates"][0]["card"]["name"] == "Survivor", "{missing}");
    ensure!(missing["notes"][0].as_str().is_some_and(|note| note.contains("Keyword search")), "{missing}");

    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::write(folder.join(name), b"{\"this is\": \"not it\"}")?;
    }
    let corrupt = ask()?;
    ensure!(corrupt["candidates"][0]["card"]["name"] == "Survivor", "{corrupt}");
    let doctor = Command::new(program("autokit")?)
        .args(["--data-dir", &library, "--json", "--model-folder"])
        .arg(&folder)
        .arg("doctor")
        .output()?;
    let doctor: Value = serde_json::from_slice(&doctor.stdout)?;
    let model =
        doctor["checks"].as_array().and_then(|checks| checks.iter().find(|check| check["name"] == "Model"));
    let model = model.context("the model is looked at")?;
    ensure!(model["state"] != "good" && model["remedy"].is_string(), "{model}");
    Ok(())
}

/// The command on this library, run by somebody without rights.
#[cfg(unix)]
fn as_nobody(place: &Workplace, arguments: &[&str]) -> Result<std::process::Output> {
    use std::os::unix::process::CommandExt;
    // SAFETY: geteuid has no preconditions and cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    // Where the program was built may be closed to others.
    let copy = place.path("autokit-copy");
    if !copy.exists() && fs::hard_link(program("autokit")?, &copy).is_err() {
        fs::copy(program("autokit")?, &copy)?;
    }
    let mut command = Command::new(copy);
    command.arg("--data-dir").arg(place.data_dir()).args(["--stand-in", "64", "--json"]).args(arguments);
    if root {
        command.uid(65534).gid(65534);
    }
    Ok(command.output()?)
}

#[test]
#[cfg(unix)]
fn a_library_of_another_user_is_read_and_its_directory_named() -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let place = with_one_card()?;
    // Killed, so that everything an owner leaves behind is there.
    place.serve()?.kill()?;
    open_to_all(place.data_dir().parent().context("a parent")?)?;
    let walk = |mode_of_folders: u32, mode_of_files: u32| -> Result<()> {
        let mut folders = vec![place.data_dir()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode_of_files))?;
                }
            }
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode_of_folders))?;
        }
        Ok(())
    };
    walk(0o555, 0o444)?;
    let output = as_nobody(&place, &["cards", "list"])?;
    let listed: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    ensure!(listed["rows"][0]["name"] == "Survivor", "{listed}");
    let output = as_nobody(&place, &["cards", "add", "--set", "name=Other"])?;
    let error: Value = serde_json::from_slice(&output.stderr)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    ensure!(output.status.code() == Some(5) && error["code"] == "read_only", "{error}");
    ensure!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("--data-dir")), "{error}");
    walk(0o755, 0o644)?;
    survived(&place)
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing_that_was_acknowledged() -> Result<()> {
    let place = with_one_card()?;
    let file = place.cards_file("many.json", &made_up_cards(4000))?;
    // A small file system of its own, in a mount namespace that ends with the command. Without
    // root this needs user namespaces, which CI has.
    let script = r#"
        set -e
        disk="$1"; autokit="$2"; file="$3"
        mount -t tmpfs -o size=6m tmpfs "$disk"
        "$autokit" --data-dir "$disk/library" --stand-in 64 --json cards add --set name=Survivor >/dev/null
        set +e
        "$autokit" --data-dir "$disk/library" --stand-in 64 --json import "$file" >/dev/null 2>"$disk.error"
        echo "exit $?"
        # Room again: the library opens and holds whole batches.
        mount -o remount,size=64m "$disk"
        "$autokit" --data-dir "$disk/library" --stand-in 64 --json cards list --limit 1
    "#;
    let disk = place.path("disk");
    fs::create_dir(&disk)?;
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(&disk)
        .arg(program("autokit")?)
        .arg(&file)
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let complaint = fs::read_to_string(place.path("disk.error")).unwrap_or_default();
    ensure!(
        output.status.success() && stdout.starts_with("exit 5\n"),
        "{stdout}\n{complaint}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let error: Value = serde_json::from_str(complaint.trim()).with_context(|| complaint.clone())?;
    ensure!(error["code"] == "disk_full" && error["remedy"].is_string(), "{error}");
    let listed: Value = serde_json::from_str(stdout.trim_start_matches("exit 5\n"))?;
    let total = listed["total"].as_u64().context("a total")?;
    ensure!(total >= 1 && (total - 1) % 100 == 0, "{total} cards are no whole batches and the survivor");
    Ok(())
}

#[test]
fn a_second_instance_works_alongside_the_first() -> Result<()> {
    let place = with_one_card()?;
    let first = place.serve()?;
    survived(&place)?;
    place.json(&["cards", "add", "--set", "name=Second"])?;
    first.stop()?;
    ensure!(place.json(&["cards", "list"])?["total"] == 2);
    Ok(())
}

#[test]
fn a_library_of_a_newer_version_is_left_alone() -> Result<()> {
    let place = with_one_card()?;
    let note = place.data_dir().join("schema.json");
    let before = fs::read_to_string(&note)?;
    fs::write(&note, r#"{"schema":99}"#)?;
    let (exit, error) = place.failure(&["cards", "list"])?;
    ensure!(exit == 5 && error["code"] == "newer_schema", "{error}");
    ensure!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("Update AutoKit")), "{error}");
    fs::write(&note, before)?;
    survived(&place)
}
