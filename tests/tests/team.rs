//! Teams in the terminal: created, joined and left, with a library in step that works without the server as well.

use anyhow::{Context as _, Result, ensure};
use autokit_test_server::{PASSWORD, Server, USER};
use autokit_tests::{Workplace, on_deep_stack};

/// A machine of somebody's own, without a keychain.
fn machine() -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    Ok(place)
}

#[test]
fn a_team_is_created_joined_used_and_left() -> Result<()> {
    on_deep_stack(|| async {
        let folder = tempfile::tempdir()?;
        let mut server = Server::start(&folder.path().join("server"), None).await?;
        let (ann, bob) = (machine()?, machine()?);
        let url = server.url();
        let create =
            ["team", "create", &url, "kitchen", "--name", "The kitchen", "--as", "ann", "--owner", USER];
        let made = ann.json_with_secrets(&create, &[PASSWORD, "secret of ann"])?;
        ensure!(made["id"] == "kitchen" && made["name"] == "The kitchen", "{made}");
        let fields = ["--set", "name=kettle", "--set", "description=Boils water for tea"];
        ann.json(&[&["--team", "kitchen", "cards", "add"][..], &fields].concat())?;
        let state = ann.json(&["--team", "kitchen", "team", "sync"])?;
        ensure!(state["sent"] == 1 && state["unsent"] == 0 && state["is_connected"] == true, "{state}");
        // Her own library has nothing of it.
        let own = ann.json(&["cards", "list"])?;
        ensure!(own["total"] == 0, "{own}");

        let invitation = ann.json(&["--team", "kitchen", "team", "invite", "--group", "cooks"])?;
        let link = invitation["link"].as_str().context("a link")?;
        let join = ["team", "join", link, "--as", "bob"];
        let short = bob.json_with_secrets(&join, &["short"]);
        ensure!(short.is_err_and(|error| error.to_string().contains("fewer than 8 characters")));
        bob.json_with_secrets(&join, &["secret of bob"])?;
        let state = bob.json(&["--team", "kitchen", "team", "sync"])?;
        ensure!(state["received"] == 1, "{state}");
        let found = bob.json(&["--team", "kitchen", "search", "boil", "water"])?;
        ensure!(found.to_string().contains("kettle"), "{found}");
        let members = bob.json(&["--team", "kitchen", "team", "members"])?;
        ensure!(members["members"].as_array().is_some_and(|all| all.len() == 2), "{members}");
        ensure!(members["groups"] == serde_json::json!(["cooks"]), "{members}");

        // Without the server both go on; what a contributor changes becomes a proposal.
        server.kill().await?;
        ann.json(&["--team", "kitchen", "cards", "edit", "kettle", "--set", "pricing=free"])?;
        bob.json(&["--team", "kitchen", "cards", "edit", "kettle", "--set", "pricing=paid"])?;
        let (code, error) = ann.failure(&["--team", "kitchen", "team", "sync"])?;
        ensure!(code == 6 && error["code"] == "no_connection", "{error}");
        let state = ann.json(&["--team", "kitchen", "team", "status"])?;
        ensure!(state["unsent"] == 1 && state["is_connected"] == false, "{state}");
        let (_, error) = ann.failure(&["team", "leave", "kitchen"])?;
        ensure!(error["code"] == "conflict", "{error}");
        server.start_again().await?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let state = bob.json(&["--team", "kitchen", "team", "sync"])?;
        ensure!(state["conflicts"] == 1 && state["unsent"] == 0, "{state}");
        let shown = bob.json(&["--team", "kitchen", "cards", "show", "kettle"])?;
        ensure!(shown.to_string().contains("\"free\""), "{shown}");
        let review = bob.json(&["--team", "kitchen", "review", "list"])?;
        ensure!(review.to_string().contains("conflict"), "{review}");

        // What he edited is before everybody, and a reviewer decides.
        let id = review["rows"][0]["id"].to_string();
        let (_, error) = bob.failure(&["--team", "kitchen", "review", "accept", &id])?;
        ensure!(error["code"] == "refused", "{error}");
        bob.json(&["--team", "kitchen", "review", "comment", &id, "It costs something"])?;
        bob.json(&["--team", "kitchen", "review", "assign", &id, "ann"])?;
        bob.json(&["--team", "kitchen", "team", "sync"])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let review = ann.json(&["--team", "kitchen", "review", "list"])?;
        ensure!(review["rows"][0]["assigned_to"] == "ann", "{review}");
        let id = review["rows"][0]["id"].to_string();
        let shown = ann.json(&["--team", "kitchen", "review", "show", &id])?;
        ensure!(shown.to_string().contains("It costs something"), "{shown}");
        let policy = ann.json(&["--team", "kitchen", "team", "policy", "--high", "2"])?;
        ensure!(policy["high"] == 2 && policy["low"] == 1, "{policy}");
        // A team that requires several for some changes has nobody edit cards alone.
        ann.json(&["--team", "kitchen", "cards", "edit", "kettle", "--set", "auth=none"])?;
        let state = ann.json(&["--team", "kitchen", "team", "sync"])?;
        ensure!(state["conflicts"] == 1 && state["unsent"] == 0, "{state}");
        ann.json(&["--team", "kitchen", "team", "policy", "--high", "1"])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        // Ann set another price meanwhile, so the decision is between the two.
        let (_, error) = ann.failure(&["--team", "kitchen", "review", "accept", &id])?;
        ensure!(error["code"] == "conflict", "{error}");
        ann.json(&["--team", "kitchen", "review", "accept", &id, "--set", "pricing=paid"])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        bob.json(&["--team", "kitchen", "team", "sync"])?;
        let shown = bob.json(&["--team", "kitchen", "cards", "show", "kettle"])?;
        ensure!(shown.to_string().contains("\"paid\""), "{shown}");
        let status = bob.json(&["--team", "kitchen", "team", "status"])?;
        ensure!(status["is_connected"] == true && status["synced_at"].is_string(), "{status}");

        // A process that stays follows by itself.
        let serving = bob.serve_with(&[("AUTOKIT_TEAM", "kitchen")])?;
        let state = bob.json(&["--team", "kitchen", "team", "sync"])?;
        ensure!(state["is_connected"] == true, "{state}");
        drop(serving);

        // Whoever is removed forgets it.
        ann.json(&["--team", "kitchen", "team", "remove", "bob"])?;
        let (code, error) = bob.failure(&["--team", "kitchen", "team", "sync"])?;
        ensure!(code == 5 && error["code"] == "unauthorized", "{error}");
        let left = bob.json(&["--team", "kitchen", "cards", "list"])?;
        ensure!(left["total"] == 0, "{left}");
        bob.json(&["team", "leave", "kitchen"])?;
        let (code, _) = bob.failure(&["--team", "kitchen", "team", "status"])?;
        ensure!(code == 3);
        ensure!(!bob.data_dir().join("teams/kitchen").exists());
        Ok(())
    })
}

#[test]
fn cards_are_shared_with_some_and_the_team_moves() -> Result<()> {
    on_deep_stack(|| async {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let (ann, bob, cora) = (machine()?, machine()?, machine()?);
        let url = server.url();
        let create = ["team", "create", &url, "kitchen", "--as", "ann", "--owner", USER];
        ann.json_with_secrets(&create, &[PASSWORD, "secret of ann"])?;
        let add = |place: &Workplace, name: &str| {
            let (name, about) = (format!("name={name}"), format!("description=A {name} for the kitchen"));
            place.json(&["--team", "kitchen", "cards", "add", "--set", &name, "--set", &about])
        };
        add(&ann, "kettle")?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        for (place, name, group) in [(&bob, "bob", &["--group", "cooks"][..]), (&cora, "cora", &[])] {
            let invite = [&["--team", "kitchen", "team", "invite"], group].concat();
            let invitation = ann.json(&invite)?;
            let link = invitation["link"].as_str().context("a link")?;
            place.json_with_secrets(&["team", "join", link, "--as", name], &["a long secret"])?;
            let state = place.json(&["--team", "kitchen", "team", "sync"])?;
            ensure!(state["received"] == 1, "{state}");
        }

        // Only the cooks see it from now on, once that was sent.
        ann.json(&["--team", "kitchen", "team", "change", "ann", "--group", "cooks"])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let of_cooks = ["--team", "kitchen", "team", "share", "kettle", "--with", "group:cooks"];
        let shared = ann.json(&of_cooks)?;
        ensure!(
            shared[0][1]["visible_to"]["kind"] == "team" && shared[0][1]["wanted"]["of"] == "cooks",
            "{shared}"
        );
        let (_, error) =
            ann.failure(&["--team", "kitchen", "team", "share", "kettle", "--with", "group:none"])?;
        ensure!(error["code"] == "not_found" && error.to_string().contains("cooks"), "{error}");
        let (_, error) = bob.failure(&of_cooks)?;
        ensure!(error["code"] == "refused", "{error}");
        ann.json(&["--team", "kitchen", "team", "share", "--new-cards", "--with", "person:ann"])?;
        add(&ann, "diary")?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let shared = ann.json(&["--team", "kitchen", "team", "share", "kettle", "diary"])?;
        ensure!(shared[0][1]["visible_to"]["of"] == "cooks" && shared[0][1]["wanted"].is_null(), "{shared}");
        ensure!(shared[1][1]["visible_to"]["kind"] == "person", "{shared}");
        for (place, names) in [(&bob, &["kettle"][..]), (&cora, &[])] {
            place.json(&["--team", "kitchen", "team", "sync"])?;
            let listed = place.json(&["--team", "kitchen", "cards", "list"])?;
            ensure!(listed["total"] == names.len(), "{listed}");
        }
        let happened = bob.json(&["--team", "kitchen", "team", "activity"])?;
        ensure!(happened[0]["by"] == "ann" && happened[0]["card"] == "kettle", "{happened}");
        let audit = ann.json(&["--team", "kitchen", "team", "audit"])?;
        for what in ["signed_in", "shared", "groups", "joined", "invited"] {
            let entries = audit.as_array().context("entries")?;
            ensure!(entries.iter().any(|entry| entry["what"] == what), "{what}: {audit}");
        }
        let (_, error) = bob.failure(&["--team", "kitchen", "team", "audit"])?;
        ensure!(error["code"] == "refused", "{error}");

        // The team moves to another server, and its members go on with what they have.
        let file = folder.path().join("kitchen.jsonl").display().to_string();
        let export = ["team", "export", &url, "kitchen", &file, "--owner", USER];
        let exported = ann.json_with_secrets(&export, &[PASSWORD])?;
        let again = ann.json_with_secrets(&export, &[PASSWORD]);
        ensure!(again.is_err_and(|error| error.to_string().contains("exists already")));
        let other = Server::start(&folder.path().join("other"), None).await?;
        let other_url = other.url();
        let import = ["team", "import", &other_url, "kitchen", &file, "--owner", USER];
        let imported = ann.json_with_secrets(&import, &[PASSWORD])?;
        ensure!(imported["rows"] == exported["rows"] && imported["rows"].as_u64() > Some(10), "{imported}");
        let upgrade = ["team", "upgrade", &other_url, "kitchen", "--owner", USER, "--session-hours", "24"];
        ann.json_with_secrets(&upgrade, &[PASSWORD])?;
        let wrong = ann.json_with_secrets(&upgrade, &["guessed"]);
        ensure!(wrong.is_err_and(|error| error.to_string().contains("password of the server is wrong")));
        drop(server);
        bob.json(&["--team", "kitchen", "cards", "edit", "kettle", "--set", "pricing=free"])?;
        for place in [&ann, &bob] {
            let moved = place.json(&["team", "move", "kitchen", &other_url])?;
            ensure!(moved["server"] == other_url, "{moved}");
            let state = place.json(&["--team", "kitchen", "team", "sync"])?;
            ensure!(state["is_connected"] == true && state["received"] == 0, "{state}");
        }
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let review = ann.json(&["--team", "kitchen", "review", "list"])?;
        ensure!(review["waiting"] == 1 && review["rows"][0]["origin"] == "conflict", "{review}");

        // Whoever leaves may keep the cards.
        let kept = folder.path().join("kept.toolcards");
        bob.json(&["team", "leave", "kitchen", "--keep", &kept.display().to_string()])?;
        let imported = bob.json(&["import", &kept.display().to_string()])?;
        ensure!(bob.json(&["cards", "list"])?["total"] == 1, "{imported}");
        Ok(())
    })
}

#[test]
fn a_part_of_the_teams_cards_is_kept() -> Result<()> {
    on_deep_stack(|| async {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let (ann, bob) = (machine()?, machine()?);
        let url = server.url();
        let create = ["team", "create", &url, "kitchen", "--as", "ann", "--owner", USER];
        ann.json_with_secrets(&create, &[PASSWORD, "secret of ann"])?;
        let kitchen = |arguments: &[&'static str]| [&["--team", "kitchen"], arguments].concat();
        for (name, tag) in [("kettle", "tea"), ("pot", "soup")] {
            let (name, tags) = (format!("name={name}"), format!("tags=[\"{tag}\"]"));
            let fields = ["--set", "description=For the kitchen", "--set", &name, "--set", &tags];
            ann.json(&[&["--team", "kitchen", "cards", "add"][..], &fields].concat())?;
        }
        ann.json(&kitchen(&["team", "sync"]))?;
        let invitation = ann.json(&kitchen(&["team", "invite"]))?;
        let link = invitation["link"].as_str().context("a link")?;
        bob.json_with_secrets(&["team", "join", link, "--as", "bob"], &["secret of bob"])?;
        let kept = bob.json(&kitchen(&["team", "cards", "--tag", "Tea", "--kind", "cli"]))?;
        ensure!(kept["is_applied"] == false, "{kept}");
        let (_, error) = bob.failure(&kitchen(&["team", "cards", "--tag", ""]))?;
        ensure!(error["code"] == "bad_request", "{error}");
        let state = bob.json(&kitchen(&["team", "sync"]))?;
        ensure!(state["received"] == 1 && state["kept"]["is_incomplete"] == true, "{state}");
        let names = |place: &Workplace| -> Result<String> {
            Ok(place.json(&kitchen(&["cards", "list"]))?.to_string())
        };
        ensure!(names(&bob)?.contains("kettle") && !names(&bob)?.contains("pot"), "{}", names(&bob)?);
        let shown = bob.run(&kitchen(&["team", "cards"]))?;
        let shown = String::from_utf8(shown.stdout)?;
        ensure!(shown.contains("only cards with kind cli or tag Tea"), "{shown}");
        let (_, error) = bob.failure(&["team", "cards", "--all"])?;
        ensure!(error["code"] == "not_found", "{error}");
        bob.json(&kitchen(&["team", "cards", "--all"]))?;
        let state = bob.json(&kitchen(&["team", "sync"]))?;
        ensure!(state["kept"]["is_incomplete"] == false && names(&bob)?.contains("pot"), "{state}");
        Ok(())
    })
}
