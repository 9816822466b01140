//! What keeps people from losing their own by accident, and from trusting whom they did not mean.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use autokit_tests::{Workplace, program};
use serde_json::{Value, json};

fn cards(count: usize) -> Vec<Value> {
    let card =
        |n| json!({ "name": format!("tool {n}"), "description": format!("Does thing {n}."), "pricing": "?" });
    (0..count).map(card).collect()
}

/// Runs a command as somebody; gives its exit code and what it said.
fn run_as(place: &Workplace, author: &str, arguments: &[&str]) -> Result<(i32, String)> {
    let output = place.command(arguments)?.env("AUTOKIT_AUTHOR", author).output()?;
    let message =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok((output.status.code().context("an exit code")?, message))
}

/// As [`run_as`], where it has to go well.
fn done_as(place: &Workplace, author: &str, arguments: &[&str]) -> Result<String> {
    let (code, message) = run_as(place, author, arguments)?;
    ensure!(code == 0, "{arguments:?} ended with {code}: {message}");
    Ok(message)
}

fn library(author: &str, cards: &[Value]) -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    done_as(&place, author, &["providers", "keys", "--keep", "file"])?;
    if !cards.is_empty() {
        let file = place.cards_file("cards.json", cards)?.display().to_string();
        done_as(&place, author, &["import", &file])?;
    }
    Ok(place)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_shared_folder_keeps_what_others_put_there() -> Result<()> {
    let alice = library("Alice", &cards(3))?;
    let bob = library("Bob", &[])?;
    let path = alice.path("shared");
    let folder = text(&path);
    done_as(&alice, "Alice", &["bundle", "export", &folder])?;
    done_as(&bob, "Bob", &["bundle", "import", "--trust", &folder])?;
    done_as(&bob, "Bob", &["cards", "edit", "tool 1", "--set", "pricing=Bob's"])?;
    done_as(&bob, "Bob", &["bundle", "export", &folder])?;
    // Alice has not seen what Bob did: it is not written over.
    let (code, message) = run_as(&alice, "Alice", &["bundle", "export", &folder])?;
    ensure!(code == 4 && message.contains("never imported"), "{code}: {message}");
    done_as(&alice, "Alice", &["bundle", "import", "--trust", &folder])?;
    done_as(&alice, "Alice", &["bundle", "export", &folder, "--sign"])?;
    let was = fs::read(path.join("bundle.json"))?;
    // Nothing changed, so nothing differs in version control.
    done_as(&alice, "Alice", &["bundle", "export", &folder, "--sign"])?;
    ensure!(fs::read(path.join("bundle.json"))? == was, "the date moved though no card did");
    let card = alice.json(&["cards", "show", "tool 1"])?;
    ensure!(card["fields"]["pricing"] == "Bob's", "{card}");
    Ok(())
}

#[test]
fn a_signing_key_is_trusted_for_its_author_only() -> Result<()> {
    let (alice, carol) = (library("Alice", &cards(2))?, library("Carol", &cards(2))?);
    let bob = library("Bob", &[])?;
    let bundle = |name: &str| text(&bob.path(name));
    done_as(&alice, "Alice", &["bundle", "export", &bundle("alice.toolcards"), "--sign"])?;
    done_as(&carol, "Carol", &["bundle", "export", &bundle("innocent.toolcards"), "--sign"])?;
    done_as(&carol, "Carol", &["cards", "edit", "tool 0", "--set", "pricing=evil"])?;
    // The same key, and now it says it is Alice, however that is spelt.
    done_as(&carol, " alice\u{200b}", &["bundle", "export", &bundle("forged.toolcards"), "--sign"])?;
    for name in ["alice.toolcards", "innocent.toolcards"] {
        done_as(&bob, "Bob", &["bundle", "import", &bundle(name)])?;
    }
    let (code, message) = run_as(&bob, "Bob", &["bundle", "verify", &bundle("forged.toolcards")])?;
    ensure!(code == 4 && message.contains("a different key"), "{code}: {message}");
    let (code, message) = run_as(&bob, "Bob", &["bundle", "import", "--trust", &bundle("forged.toolcards")])?;
    ensure!(code == 4, "{code}: {message}");
    // Nor by way of a subscription.
    let (code, message) =
        run_as(&bob, "Bob", &["bundle", "subscribe", &bundle("forged.toolcards"), "--trust"])?;
    ensure!(code == 1 && message.contains("not signed like earlier bundles"), "{code}: {message}");
    let (code, message) = run_as(&bob, "Bob", &["bundle", "subscribe", "--now"])?;
    ensure!(code == 4 && message.contains("not signed like earlier bundles"), "{code}: {message}");
    // Having looked at it in Review makes it no more Alice's.
    done_as(&bob, "Bob", &["bundle", "import", &bundle("forged.toolcards")])?;
    let (code, message) = run_as(&bob, "Bob", &["bundle", "verify", &bundle("forged.toolcards")])?;
    ensure!(code == 4 && message.contains("a different key"), "{code}: {message}");
    Ok(())
}

#[test]
fn an_invalid_or_failing_export_changes_nothing() -> Result<()> {
    let place = library("Alice", &cards(2))?;
    let path = place.path("kept.toolcards");
    let bundle = text(&path);
    done_as(&place, "Alice", &["bundle", "export", &bundle])?;
    let was = fs::read(&path)?;
    for (arguments, expected) in [
        (vec!["bundle", "export", bundle.as_str(), "--text", "nothing like it"], 3),
        (vec!["bundle", "export", bundle.as_str(), "--without", "misspelt"], 3),
    ] {
        let mut command = place.command(&arguments)?;
        let output = command.output()?;
        ensure!(output.status.code() == Some(expected), "{arguments:?}: {output:?}");
        ensure!(fs::read(&path)? == was, "{arguments:?} wrote");
    }
    let mut without_model = Command::new(program("autokit")?);
    without_model.arg("--data-dir").arg(place.data_dir()).args(["--no-model", "bundle", "export"]);
    without_model.args([bundle.as_str(), "--vectors"]).env("AUTOKIT_CONFIG_DIR", place.config_dir());
    let output = without_model.output()?;
    ensure!(output.status.code() == Some(2) && fs::read(&path)? == was, "{output:?}");
    let folder = place.path("a folder.toolcards");
    fs::create_dir(&folder)?;
    let (code, message) = run_as(&place, "Alice", &["bundle", "export", &text(&folder)])?;
    ensure!(code == 2, "{code}: {message}");
    ensure!(fs::read_dir(&folder)?.next().is_none());
    Ok(())
}

#[cfg(unix)]
#[test]
fn an_export_writes_only_where_it_was_told_to() -> Result<()> {
    use std::os::unix::fs::symlink;
    let place = library("Alice", &cards(2))?;
    let precious = place.path("precious.txt");
    fs::write(&precious, "precious")?;
    symlink(&precious, place.path("out.toolcards.partial"))?;
    done_as(&place, "Alice", &["bundle", "export", &text(&place.path("out.toolcards"))])?;
    ensure!(fs::read_to_string(&precious)? == "precious");
    ensure!(fs::symlink_metadata(place.path("out.toolcards"))?.is_file());
    // A link to a bundle stays a link: what it leads to is replaced.
    let target = place.path("elsewhere.toolcards");
    fs::copy(place.path("out.toolcards"), &target)?;
    symlink(&target, place.path("link.toolcards"))?;
    done_as(&place, "Alice", &["cards", "edit", "tool 0", "--set", "pricing=free"])?;
    done_as(&place, "Alice", &["bundle", "export", &text(&place.path("link.toolcards"))])?;
    ensure!(fs::symlink_metadata(place.path("link.toolcards"))?.is_symlink());
    ensure!(fs::read(&target)? != fs::read(place.path("out.toolcards"))?);
    // What is no file is neither read nor replaced.
    let (code, message) = run_as(&place, "Alice", &["bundle", "export", "/dev/null.toolcards/x.toolcards"])?;
    ensure!(code == 2, "{code}: {message}");
    let (code, message) = run_as(&place, "Alice", &["import", "/dev/zero"])?;
    ensure!(code == 4 && message.contains("neither a file nor a folder"), "{code}: {message}");
    Ok(())
}

#[test]
fn an_import_with_later_changes_can_be_undone_after_them() -> Result<()> {
    let (alice, bob) = (library("Alice", &cards(1))?, library("Bob", &cards(1))?);
    let bundle = text(&bob.path("a.toolcards"));
    done_as(&alice, "Alice", &["cards", "edit", "tool 0", "--set", "pricing=hers"])?;
    done_as(&alice, "Alice", &["bundle", "export", &bundle, "--history"])?;
    done_as(&bob, "Bob", &["bundle", "import", "--trust", &bundle])?;
    let made = bob.json(&["bundle", "imports"])?;
    let id = made[0]["import"].as_str().context("an id")?.to_owned();
    done_as(&bob, "Bob", &["cards", "edit", "tool 0", "--set", "usage=his"])?;
    let (code, message) = run_as(&bob, "Bob", &["bundle", "imports", "--undo", &id])?;
    ensure!(code == 4 && message.contains("changed again later"), "{code}: {message}");
    done_as(&bob, "Bob", &["undo"])?;
    done_as(&bob, "Bob", &["bundle", "imports", "--undo", &id])?;
    let card = bob.json(&["cards", "show", "tool 0"])?;
    ensure!(card["fields"]["pricing"] != "hers", "{card}");
    let (code, _) = run_as(&bob, "Bob", &["bundle", "imports", "--undo", "nosuch"])?;
    ensure!(code == 3, "{code}");
    Ok(())
}

#[test]
fn a_pending_proposal_closes_when_its_values_arrive_another_way() -> Result<()> {
    let alice = library("Alice", &cards(2))?;
    let bob = library("Bob", &[])?;
    let bundle = text(&bob.path("a.toolcards"));
    done_as(&alice, "Alice", &["bundle", "export", &bundle])?;
    done_as(&bob, "Bob", &["bundle", "import", &bundle])?;
    ensure!(bob.json(&["review", "list"])?["rows"].as_array().is_some_and(|rows| rows.len() == 2));
    done_as(&bob, "Bob", &["bundle", "import", "--trust", &bundle])?;
    let (code, message) = run_as(&bob, "Bob", &["review", "list"])?;
    ensure!(code == 3, "{code}: {message}");
    Ok(())
}
