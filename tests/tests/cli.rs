//! The command as people and programs use it.

use anyhow::{Context, Result, bail};
use autokit_library::{Clock, Library, PackedVectors, Storage};
use autokit_search::text_recipe;
use autokit_tests::{Workplace, made_up_cards};
use serde_json::{Value, json};

#[test]
fn the_starter_cards_answer_the_first_question() -> Result<()> {
    let place = Workplace::with_model()?;
    let question = "I want a tool that can integrate with my google calendar";
    let answer = place.json(&["--starter", "ask", question])?;
    assert_eq!(answer["candidates"][0]["card"]["name"], "Google Calendar Toolkit", "{answer}");
    assert_eq!(answer["verdict"], "answered");
    assert_eq!(answer["candidates"][0]["stub"]["language"], "python");
    // A new folder someone names stays empty without being asked to load them.
    let bare = Workplace::with_model()?;
    assert_eq!(bare.json(&["cards", "list"])?["total"], 0);
    let (code, error) = bare.failure(&["cards", "show", "x"])?;
    assert_eq!((code, error["code"].as_str()), (3, Some("not_found")));
    Ok(())
}

#[test]
fn search_prints_ranked_results_with_their_score_parts() -> Result<()> {
    let place = Workplace::with_model()?;
    let file = place.cards_file("cards.json", &made_up_cards(120))?;
    place.json(&["import", &file.display().to_string()])?;
    let found = place.json(&["search", "translate playlists"])?;
    let results = found["results"].as_array().context("results")?;
    assert!(!results.is_empty());
    for hit in results {
        let parts = &hit["parts"];
        let sum: f64 = ["keyword", "vector", "constraints", "lookup", "name", "feedback"]
            .iter()
            .filter_map(|part| parts[part].as_f64())
            .sum();
        let score = hit["score"].as_f64().context("a score")?;
        assert!((sum - score).abs() < 1e-4, "the parts of {hit} add up to {sum}");
        assert!(hit["id"].is_string() && hit["name"].is_string());
    }
    let scores: Vec<f64> = results.iter().filter_map(|hit| hit["score"].as_f64()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // An exact name comes first, whatever else matches.
    let exact = place.json(&["search", "archive videos 111"])?;
    let first = &exact["results"][0];
    assert_eq!(first["name"], "archive videos 111", "{first}");
    // Each ranking, in a process that has only just begun to load the model.
    for mode in ["keyword", "vector", "hybrid"] {
        let found = place.json(&["search", "translate playlists", "--mode", mode])?;
        assert_eq!(found["mode"], mode);
        assert!(found["results"].as_array().is_some_and(|results| !results.is_empty()), "{mode}: {found}");
    }
    Ok(())
}

#[test]
fn a_card_is_added_edited_inspected_restored_and_undone() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&[
        "cards",
        "add",
        "--set",
        "name=Alpha",
        "--set",
        "description=First words",
        "--set",
        "verified=true",
    ])?;
    let edited = place.json(&[
        "cards",
        "edit",
        "Alpha",
        "--set",
        "description=Better words",
        "--reason",
        "clearer",
    ])?;
    assert_eq!(edited["fields"]["description"], "Better words");
    assert_eq!(edited["fields"]["verified"], true);
    let history = place.json(&["cards", "history", "Alpha"])?;
    assert_eq!(history[0]["reason"], "clearer");
    assert_eq!(history[0]["author"], "tester");
    assert_eq!(history[0]["diff"][0]["field"], "description");
    let restored = place.json(&["cards", "restore", "Alpha", "1"])?;
    assert_eq!(restored["fields"]["description"], "First words");
    place.json(&["undo"])?;
    assert_eq!(place.json(&["cards", "show", "Alpha"])?["fields"]["description"], "Better words");
    place.json(&["cards", "rm", "Alpha"])?;
    assert_eq!(place.json(&["cards", "list"])?["total"], 0);
    let undone = place.json(&["undo"])?;
    assert_eq!(place.json(&["cards", "list"])?["total"], 1);
    let redone = place.json(&["redo"])?;
    assert_eq!((&redone["change"], &redone["reason"]), (&undone["change"], &undone["reason"]));
    assert_eq!(place.json(&["cards", "list"])?["total"], 0);
    // What was redone can be undone again, and what came before it.
    place.json(&["undo"])?;
    place.json(&["undo"])?;
    assert_eq!(place.json(&["cards", "show", "Alpha"])?["fields"]["description"], "First words");
    // A new change ends what can be redone.
    place.json(&["cards", "edit", "Alpha", "--set", "class=New"])?;
    let (code, error) = place.failure(&["redo"])?;
    assert_eq!((code, error["message"].as_str()), (3, Some("nothing to redo")));
    Ok(())
}

#[test]
fn cards_are_tagged_and_kept_in_collections() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    for name in ["Alpha", "Beta"] {
        place.json(&["cards", "add", "--set", &format!("name={name}"), "--set", "description=Words."])?;
    }
    place.json(&["cards", "tag", "Alpha", "Beta", "--add", "new", "--add", "red"])?;
    place.json(&["cards", "tag", "Alpha", "--remove", "red"])?;
    assert_eq!(place.json(&["cards", "show", "Alpha"])?["fields"]["tags"], json!(["new"]));
    assert_eq!(place.json(&["cards", "list", "--tag", "red"])?["rows"][0]["name"], "Beta");
    let none = place.json(&["cards", "tag", "Alpha", "--remove", "red"])?;
    assert_eq!(none["change"], Value::Null);

    place.json(&["collections", "add", "Letters", "Alpha", "Beta"])?;
    place.json(&["collections", "add", "favorites", "Beta"])?;
    place.json(&["collections", "remove", "letters", "Beta"])?;
    let listed = place.json(&["cards", "list", "--collection", "Letters"])?;
    assert_eq!((&listed["total"], &listed["rows"][0]["name"]), (&json!(1), &json!("Alpha")));
    place.json(&["collections", "rename", "Letters", "Greek"])?;
    let all = place.json(&["collections", "list"])?;
    assert_eq!((&all[0]["name"], &all[1]["name"]), (&json!("Favorites"), &json!("Greek")));
    place.json(&["collections", "delete", "Greek"])?;
    let (code, error) = place.failure(&["cards", "list", "--collection", "Greek"])?;
    assert_eq!((code, &error["code"]), (3, &json!("not_found")));
    // Another process finds what this one has kept.
    assert_eq!(place.json(&["cards", "list", "--collection", "Favorites"])?["rows"][0]["name"], "Beta");
    Ok(())
}

/// The first click on Undo must not empty a new library.
#[test]
fn an_import_is_undone_by_its_id_only() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &[json!({ "name": "Alpha" }), json!({ "name": "Beta" })])?;
    place.json(&["import", &file.display().to_string()])?;
    let (code, error) = place.failure(&["undo"])?;
    assert_eq!((code, error["message"].as_str()), (3, Some("nothing to undo")));
    assert!(error["remedy"].as_str().is_some_and(|remedy| remedy.contains("autokit undo ID")), "{error}");
    assert_eq!(place.json(&["cards", "list"])?["total"], 2);
    let import = place.json(&["bundle", "imports"])?[0]["import"].as_str().context("an id")?.to_owned();
    let undone = place.json(&["undo", &import])?;
    assert_eq!((place.json(&["cards", "list"])?["total"].as_u64(), undone["undo"].as_str()), (Some(0), None));
    assert_eq!(place.failure(&["redo"])?.0, 3, "what an import brought can be imported again");
    Ok(())
}

#[test]
fn files_survive_import_and_export_unchanged() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let cards = vec![
        json!({"zz": 1, "name": "b tool", "init_args": {"z": 1, "a": null}, "openapi": null, "x-note": [1.5, "é"]}),
        json!({"name": "a tool", "description": "d"}),
    ];
    let file = place.cards_file("in.json", &cards)?;
    place.json(&["import", &file.display().to_string()])?;
    let out = place.path("out.json");
    place.json(&["export", &out.display().to_string()])?;
    let back: Vec<Value> = serde_json::from_slice(&std::fs::read(&out)?)?;
    let text = |value: &Value| value.to_string();
    assert_eq!(back.iter().map(text).collect::<Vec<_>>(), [text(&cards[1]), text(&cards[0])]);
    // Standard output is the file itself, nothing around it.
    let printed = place.run(&["export"])?;
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&printed.stdout)?, back);
    // Importing what is there changes nothing.
    let again = place.json(&["import", &out.display().to_string()])?;
    assert_eq!(again[0]["job"]["tally"]["unchanged"], 2, "{again}");
    assert_eq!(again[0]["job"]["tally"]["change"], Value::Null);
    Ok(())
}

#[test]
fn a_preview_shows_what_an_import_would_do_and_changes_nothing() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let mut cards = made_up_cards(3);
    let file = place.cards_file("first.json", &cards)?;
    place.json(&["import", &file.display().to_string()])?;
    cards[1]["description"] = json!("Something else");
    cards.push(json!({"name": "new one"}));
    cards.push(json!({"name": 7}));
    let file = place.cards_file("second.json", &cards)?;
    let preview = place.json(&["import", "--preview", &file.display().to_string()])?;
    let counts: Vec<_> =
        ["new", "changed", "identical", "invalid"].iter().map(|key| preview[0][key].clone()).collect();
    assert_eq!(counts, [1, 1, 2, 1], "{preview}");
    assert_eq!(place.json(&["cards", "list"])?["total"], 3);
    let saved = place.json(&["import", "--keep-existing", &file.display().to_string()])?;
    assert_eq!(saved[0]["job"]["tally"]["added"], 1, "{saved}");
    assert_eq!(saved[0]["rejected"][0]["problems"][0]["field"], "name");
    assert_ne!(
        place.json(&["cards", "show", cards[1]["name"].as_str().context("a name")?])?["fields"],
        cards[1]
    );
    Ok(())
}

#[test]
fn an_import_does_what_its_preview_counted() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let mut cards = made_up_cards(4);
    let file = place.cards_file("first.json", &cards)?.display().to_string();
    place.json(&["import", &file])?;
    cards[1]["description"] = json!("Something else");
    // Edited on both sides.
    let edited = cards[2]["name"].as_str().context("a name")?.to_owned();
    place.json(&["cards", "edit", &edited, "--set", "pricing=ask finance"])?;
    cards[2]["pricing"] = json!("paid");
    cards.extend([json!({"name": "new one"}), json!({"name": 7})]);
    let file = place.cards_file("second.json", &cards)?.display().to_string();
    let preview = place.json(&["import", "--preview", &file])?[0].clone();
    let imported = place.json(&["import", &file])?[0].clone();
    let tally = &imported["job"]["tally"];
    let count =
        |counts: &Value, keys: &[&str]| -> u64 { keys.iter().filter_map(|key| counts[key].as_u64()).sum() };
    let pairs: [(&[&str], &[&str]); 4] = [
        (&["new"], &["added"]),
        (&["changed", "conflicting"], &["changed", "proposed"]),
        (&["identical"], &["unchanged"]),
        (&["invalid"], &["rejected"]),
    ];
    for (announced, done) in pairs {
        assert_eq!(count(&preview, announced), count(tally, done), "{announced:?}: {preview} {imported}");
    }
    assert_eq!(count(tally, &["added", "changed", "proposed", "unchanged", "rejected"]), 6, "{imported}");
    assert_eq!(place.json(&["cards", "show", &edited])?["fields"]["pricing"], "ask finance");
    Ok(())
}

#[test]
fn a_plain_file_changes_what_nobody_edited_here() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let kettle =
        json!({"name": "kettle", "description": "Boils water.", "pricing": "free", "module": "kitchen"});
    let first = place.cards_file("first.json", &[kettle])?.display().to_string();
    place.json(&["import", &first])?;
    let newer = place.cards_file(
        "newer.json",
        &[json!({"name": "kettle", "description": "Boils it.", "pricing": "paid"})],
    )?;
    let newer = newer.display().to_string();

    // As a proposal, it is a change like any other.
    place.json(&["bundle", "import", &newer])?;
    let rows = place.json(&["review", "list"])?["rows"].clone();
    let proposal = rows[0]["id"].to_string();
    assert!(rows[0]["conflicts"].as_array().is_none_or(Vec::is_empty), "{rows}");
    place.json(&["review", "accept", &proposal])?;
    let card = || anyhow::Ok(place.json(&["cards", "show", "kettle"])?["fields"].clone());
    assert_eq!(card()?["description"], "Boils it.");
    // What the file does not name stays.
    assert_eq!(card()?["module"], "kitchen");

    // What somebody decided here is not overwritten by a file, but proposed.
    place.json(&["cards", "edit", "kettle", "--set", "pricing=ask finance"])?;
    let imported = place.json(&["import", &first])?;
    assert_eq!(imported[0]["job"]["tally"]["proposed"], 1, "{imported}");
    assert_eq!(card()?["pricing"], "ask finance");
    let imported = place.json(&["import", "--replace-existing", &newer])?;
    assert_eq!(imported[0]["job"]["tally"]["changed"], 1, "{imported}");
    assert_eq!((card()?["pricing"].clone(), card()?.get("module").cloned()), (json!("paid"), None));

    // An undo leaves imports alone, and says which.
    let undone = place.run(&["undo"])?;
    let said = String::from_utf8_lossy(&undone.stderr).into_owned();
    let import = imported[0]["job"]["tally"]["change"].as_str().context("a change")?;
    assert!(undone.status.code() == Some(4) || said.contains(import), "{said}");
    Ok(())
}

#[test]
fn what_the_library_cannot_do_is_said_before_what_comes_closest() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["cards", "add", "--set", "name=kettle", "--set", "description=Boils water."])?;
    let output = place.run(&["--no-model", "ask", "translate poems into Finnish"])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("Nothing in your library clearly does this."), "{said}");
    assert!(said.contains("autokit discover"), "{said}");
    let output = place.run(&["--no-model", "ask", "boils water"])?;
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("kettle"), "{output:?}");
    Ok(())
}

#[test]
fn a_kind_that_does_not_exist_and_a_source_that_does_not_are_refused() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["cards", "add", "--set", "name=kettle"])?;
    let (code, error) = place.failure(&["cards", "edit", "kettle", "--set", "kind=banana"])?;
    assert_eq!((code, error["code"].as_str()), (2, Some("bad_request")), "{error}");
    let output = place.run(&["cards", "edit", "kettle", "--set", "descripton=Boils water."])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("Did you mean \"description\"?"), "{said}");
    let (code, error) = place.failure(&["cards", "show", "ketle"])?;
    assert_eq!((code, error["remedy"].as_str()), (3, Some("Did you mean \"kettle\"?")), "{error}");
    let (_, error) = place.failure(&["clients", "show", "Curser"])?;
    assert_eq!(error["remedy"], "Did you mean \"Cursor\"?", "{error}");

    let missing = place.path("missing.toolcards").display().to_string();
    let (code, error) = place.failure(&["bundle", "subscribe", &missing])?;
    assert_eq!((code, error["code"].as_str()), (4, Some("unreadable_file")), "{error}");
    let unreachable = place.run(&["bundle", "subscribe", "http://127.0.0.1:9/cards.toolcards"])?;
    let said = String::from_utf8_lossy(&unreachable.stdout).into_owned();
    assert!(unreachable.status.code() == Some(1) && said.contains("127.0.0.1"), "{said}");
    Ok(())
}

#[test]
fn a_file_of_bad_cards_alone_is_refused_and_a_mixed_one_is_not() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let bad = place.cards_file("bad.json", &[json!({"name": 7}), json!({"nme": "y"})])?;
    let refused = place.run(&["import", &bad.display().to_string()])?;
    assert_eq!(refused.status.code(), Some(4));
    let mixed = place.cards_file("mixed.json", &[json!({"name": 7}), json!({"name": "fine"})])?;
    let taken = place.run(&["import", &mixed.display().to_string()])?;
    assert_eq!(taken.status.code(), Some(0));
    Ok(())
}

#[test]
fn text_is_for_people_and_json_for_programs() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let add = ["cards", "add", "--flagged", "--set", "name=Steer\u{202e}"];
    place.json(&[add.as_slice(), &["--set", "description=\u{1b}[31mred"]].concat())?;
    let shown = place.run(&["cards", "show", "Steer\u{202e}"])?;
    let text = String::from_utf8(shown.stdout)?;
    assert!(!text.contains('\u{1b}'), "no colours into a pipe, no escapes from a card: {text:?}");
    assert!(text.contains("‹U+001B›[31mred"), "{text}");
    let usage = place.run(&["cards", "frobnicate"])?;
    assert_eq!(usage.status.code(), Some(2));
    let completions = place.run(&["completions", "bash"])?;
    assert!(String::from_utf8(completions.stdout)?.contains("_autokit"));
    let doctor = place.json(&["doctor"])?;
    assert!(doctor["checks"].as_array().is_some_and(|checks| checks.len() >= 4), "{doctor}");
    Ok(())
}

#[test]
fn invalid_commands_are_refused_with_a_remedy_for_the_terminal() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    let remedy = |words: &[&str], expected: i32| -> Result<String> {
        let (code, error) = place.failure(words)?;
        anyhow::ensure!(code == expected, "{words:?} ended with {code}: {error}");
        Ok(error["remedy"].as_str().context("a remedy")?.to_owned())
    };
    // Refused while the person is still at the command, instead of at the next question.
    assert!(remedy(&["providers", "search", "searxng"], 2)?.contains("--url"));
    assert!(remedy(&["providers", "search", "searxng", "--url", "javascript:1"], 2)?.contains("--url"));
    assert!(remedy(&["providers", "llm", "openai"], 2)?.contains("--model"));
    assert_eq!(place.json(&["providers", "show"])?["settings"]["search"]["kind"], "none");

    let endless = "kettle ".repeat(2_000);
    assert!(remedy(&["search", &endless], 2)?.contains("fewer words"));
    assert!(remedy(&["ask", &endless], 2)?.contains("fewer words"));

    place.json(&["cards", "add", "--set", "name=One to export"])?;
    // Places of the window have their commands here.
    let remedies = [
        (vec!["sessions", "nope"], 3, "`autokit sessions`"),
        (vec!["cards", "show", "nope"], 3, "`autokit cards list`"),
        (vec!["review", "show", "7"], 3, "`autokit review list`"),
        (vec!["discover", "a tool"], 6, "`autokit providers search`"),
        (vec!["providers", "test", "llm"], 2, "`autokit providers llm`"),
        (vec!["providers", "test", "github"], 2, "--github"),
        (vec!["export", "/nowhere/at/all.json"], 2, "another location"),
    ];
    for (words, code, expected) in remedies {
        let message = remedy(&words, code)?;
        assert!(message.contains(expected) && !message.contains("Settings"), "{words:?}: {message}");
    }

    // A service that is chosen and cannot be used is bad news, for scripts too.
    place.json(&["providers", "llm", "anthropic", "--model", "large-1"])?;
    let checked = place.run(&["--json", "doctor"])?;
    assert_eq!(checked.status.code(), Some(1), "{}", String::from_utf8_lossy(&checked.stdout));
    let doctor: Value = serde_json::from_slice(&checked.stdout)?;
    let bad = doctor["checks"].as_array().context("checks")?.iter().find(|check| check["state"] == "bad");
    assert!(
        bad.context("a bad one")?["remedy"].as_str().unwrap_or_default().contains("`autokit providers key")
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_earlier_versions_texts_are_recomputed() -> Result<()> {
    const EARLIER: &str = "stand-in-64+2";
    let now = format!("stand-in-64+{}", text_recipe());
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(3))?;
    place.json(&["import", &file.display().to_string()])?;
    let open = async || {
        let owned = place.own().await?;
        anyhow::Ok(Library::open(Storage::Disk(owned), Clock::system()).await?)
    };

    let library = open().await?;
    let rows = library.vectors(&now).await?.into_iter().map(|made| {
        let vectors =
            PackedVectors { model: EARLIER.to_owned(), names: None, dim: made.dim, values: made.values };
        (made.card, made.number, vectors)
    });
    library.put_vectors(&rows.collect::<Vec<_>>()).await?;
    library.drop_other_vectors(EARLIER, EARLIER).await?;
    assert_eq!((library.vectors(EARLIER).await?.len(), library.vectors(&now).await?.len()), (3, 0));
    library.close().await?;

    // A command ends when it has answered; the next one goes on with what is left.
    for _ in 0..20 {
        let found = place.json(&["search", "filters and paging"])?;
        assert!(found["results"][0]["parts"]["cosine"].is_number(), "some serve at any time: {found}");
        let library = open().await?;
        let remaining = (library.vectors(EARLIER).await?.len(), library.vectors(&now).await?.len());
        library.close().await?;
        if remaining == (0, 3) {
            return Ok(());
        }
    }
    bail!("they are not made anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_default_model_serves_until_the_cards_are_embedded_with_the_new_one() -> Result<()> {
    let place = Workplace::with_model()?;
    let file = place.cards_file("cards.json", &made_up_cards(250))?;
    place.json(&["import", &file.display().to_string()])?;
    let open = async || {
        let owned = place.own().await?;
        anyhow::Ok(Library::open(Storage::Disk(owned), Clock::system()).await?)
    };

    let library = open().await?;
    let now = library.another_vector_model("none").await?.context("there are vectors")?;
    let earlier = format!("all-MiniLM-L6-v2@53aa51172d142c89+{}", text_recipe());
    assert_ne!(now, earlier);
    let rows = library.vectors(&now).await?.into_iter().map(|made| {
        let vectors =
            PackedVectors { model: earlier.clone(), names: None, dim: made.dim, values: made.values };
        (made.card, made.number, vectors)
    });
    library.put_vectors(&rows.collect::<Vec<_>>()).await?;
    library.drop_other_vectors(&earlier, "none").await?;
    assert_eq!((library.vectors(&earlier).await?.len(), library.vectors(&now).await?.len()), (250, 0));
    library.close().await?;

    // A command ends when it has answered; the next one goes on with what is left.
    for _ in 0..20 {
        let found = place.json(&["search", "filters and paging"])?;
        assert!(
            found["results"][0]["parts"]["cosine"].is_number(),
            "one of them serves at any time: {found}"
        );
        let library = open().await?;
        let done = library.vectors(&now).await?.len();
        library.close().await?;
        if done == 250 {
            return Ok(());
        }
    }
    bail!("they are not embedded with the new model")
}

/// A card with what tells which tool it is.
fn tool(name: &str, description: &str, page: &str) -> Value {
    json!({ "name": name, "description": description, "documentation": page })
}

const FORECASTS: &str = "Gives hourly forecasts and weather warnings for any place on earth.";
const PAGE: &str = "https://docs.example.org/weather";

/// The library of these tests: a tool that others are held against, and one about something else.
fn with_a_weather_tool() -> Result<Workplace> {
    let place = Workplace::with_wide_stand_in()?;
    let invoices =
        tool("Invoicer", "Writes invoices for customers of a shop.", "https://docs.example.org/bills");
    let file = place.cards_file("library.json", &[tool("Weather Kit", FORECASTS, PAGE), invoices])?;
    place.json(&["import", &file.display().to_string()])?;
    Ok(place)
}

#[test]
fn a_possible_duplicate_under_another_name_is_pointed_out() -> Result<()> {
    let place = with_a_weather_tool()?;
    let add = |name: &str, description: &str, page: &str| -> Result<Vec<String>> {
        let file = place.path("one.json");
        std::fs::write(&file, tool(name, description, page).to_string())?;
        let added = place.json(&["cards", "add", &file.display().to_string()])?;
        let warnings = added["warnings"].as_array().context("warnings")?;
        let text = |warning: &Value| format!("{}: {}", warning["field"], warning["reason"]);
        let warnings: Vec<String> =
            warnings.iter().map(text).filter(|text| text.contains("same tool")).collect();
        place.json(&["undo"])?;
        Ok(warnings)
    };
    let pointed = |warnings: Vec<String>, field: &str| {
        let found = warnings.len() == 1 && warnings[0].contains(field) && warnings[0].contains("Weather Kit");
        if found { Ok(()) } else { bail!("{field}: {warnings:?}") }
    };
    pointed(add("Sky Watch", FORECASTS, "https://sky.example.org")?, "description")?;
    let own_name = format!("Sky Watch: {}", FORECASTS.trim_end_matches('.'));
    pointed(add("Sky Watch", &own_name, "https://sky.example.org")?, "description")?;
    pointed(
        add(
            "Cloud Teller",
            "Tells clouds apart by their looks.",
            "HTTP://WWW.Docs.example.org/weather/#use",
        )?,
        "documentation",
    )?;
    pointed(add("weather-kit", "Something that is said otherwise.", "https://sky.example.org")?, "name")?;
    // The same words in another order: by meaning alone.
    let turned = "For any place on earth gives weather warnings and hourly forecasts.";
    pointed(add("Sky Watch", turned, "https://sky.example.org")?, "description")?;
    let other = add("Chess Clock", "Counts down the time of two players.", "https://chess.example.org")?;
    assert_eq!(other, Vec::<String>::new());
    Ok(())
}

#[test]
fn an_import_lists_possible_duplicates() -> Result<()> {
    let place = with_a_weather_tool()?;
    let turned = "For any place on earth gives weather warnings and hourly forecasts.";
    let cards = [
        tool("Sky Watch", FORECASTS, "https://sky.example.org"),
        tool("Cloud Teller", "Tells clouds apart by their looks.", "http://docs.example.org/weather/"),
        tool("Chess Clock", "Counts down the time of two players.", "https://chess.example.org"),
        // Two operations of one API share its page, which says nothing.
        tool("List bills", "Lists the bills of a month.", "https://docs.example.org/bills"),
        tool("Pay a bill", "Pays one of them.", "https://docs.example.org/bills"),
    ];
    let file = place.cards_file("in.json", &cards)?.display().to_string();
    let preview = place.json(&["import", &file, "--preview"])?;
    let statuses: Vec<&str> = preview[0]["items"]
        .as_array()
        .context("items")?
        .iter()
        .filter_map(|item| item["status"].as_str())
        .collect();
    assert_eq!(statuses, ["similar", "similar", "new", "new", "new"], "{preview}");
    let done = place.json(&["import", &file])?;
    assert_eq!(done[0]["job"]["tally"]["added"], 5, "{done}");
    assert_eq!(done[0]["job"]["tally"]["similar"], 2, "{done}");
    assert_eq!(done[0]["similar"].as_array().map(Vec::len), Some(2));
    let summary = done[0]["job"]["summary"].as_str().context("a summary")?;
    assert!(summary.contains("possible duplicates: Sky Watch (as Weather Kit)"), "{summary}");
    // Operations of one API are described alike and differ.
    let operation = |name: &str| {
        json!({
            "name": name, "provider": "Shop", "kind": "rest_operation",
            "description": "Deletes the thing with this number for good.",
        })
    };
    let file = place.cards_file("api.json", &[operation("dropBill"), operation("dropUser")])?;
    let done = place.json(&["import", &file.display().to_string()])?;
    assert_eq!(done[0]["job"]["tally"]["similar"], 0, "{done}");
    let more = place.cards_file("more-api.json", &[operation("dropShop")])?;
    let done = place.json(&["import", &more.display().to_string()])?;
    assert_eq!(done[0]["job"]["tally"]["similar"], 0, "{done}");
    // Two of one source that say the same.
    let kites = "Flies a kite over the dunes of a coast.";
    let twins = [tool("Kite", kites, ""), tool("Dragon", kites, "")];
    let file = place.cards_file("twins.json", &twins)?.display().to_string();
    let done = place.json(&["import", &file])?;
    let summary = done[0]["job"]["summary"].as_str().context("a summary")?;
    assert!(summary.contains("possible duplicates: Dragon (as Kite)"), "{summary}");
    // By meaning alone, which takes a vector and is told when it is made.
    let file = place.cards_file("more.json", &[tool("Weather Kiosk", turned, "")])?.display().to_string();
    let done = place.json(&["import", &file])?;
    assert_eq!(done[0]["job"]["tally"]["similar"], 1, "{done}");
    Ok(())
}

#[test]
fn a_proposal_lists_possible_duplicates_and_no_sentence_as_a_name() -> Result<()> {
    let place = with_a_weather_tool()?;
    let describe = |text: &str| -> Result<std::process::Output> {
        let file = place.path("words.md");
        std::fs::write(&file, text)?;
        place.run(&["describe", &file.display().to_string(), "--json"])
    };
    let similar = |detail: &Value| -> Vec<String> {
        let similar = detail["similar"].as_array().into_iter().flatten();
        similar.filter_map(|pair| pair[1].as_str().map(str::to_owned)).collect()
    };
    let detail: Value = serde_json::from_slice(&describe(&format!("Sky Watch — {FORECASTS}"))?.stdout)?;
    assert_eq!(detail["title"], "Sky Watch", "{detail}");
    assert_eq!(similar(&detail), ["Weather Kit"]);
    // One that came into the library while the proposal waited is named as well.
    let detail: Value =
        serde_json::from_slice(&describe("Chess Clock — Counts down the time of two players.")?.stdout)?;
    assert_eq!(similar(&detail), Vec::<String>::new());
    let file = place.cards_file("late.json", &[tool("Tick", "Counts down the time of two players.", "")])?;
    place.json(&["import", &file.display().to_string()])?;
    let detail = place.json(&["review", "show", &detail["proposal"]["id"].to_string()])?;
    assert_eq!(similar(&detail), ["Tick"]);

    for text in
        ["Send an email to my boss every Friday", "I need something that reads PDF files. Free if possible."]
    {
        let refused = describe(text)?;
        let error: Value = serde_json::from_slice(&refused.stderr)?;
        assert_eq!((refused.status.code(), error["code"].as_str()), (Some(4), Some("invalid")), "{error}");
    }
    Ok(())
}

#[test]
fn a_reworded_description_is_a_duplicate_and_a_similar_tool_is_not() -> Result<()> {
    let place = Workplace::with_model()?;
    let file = place.cards_file("library.json", &[tool("Weather Kit", FORECASTS, PAGE)])?;
    place.json(&["import", &file.display().to_string()])?;
    let add = |name: &str, description: &str| -> Result<bool> {
        let (name, description) = (format!("name={name}"), format!("description={description}"));
        let added = place.json(&["cards", "add", "--set", &name, "--set", &description])?;
        Ok(added["warnings"].to_string().contains("may be the same tool"))
    };
    assert!(add("Sky Watch", "Provides hourly weather forecasts and warnings for every place on earth.")?);
    assert!(!add("Slack Sender", "Posts a message into a channel of Slack.")?);
    assert!(!add("Discord Sender", "Posts a message into a channel of Discord.")?);
    Ok(())
}
