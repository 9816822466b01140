//! Several libraries searched at once: the person's own, a team's, and a registry that never answers.

use anyhow::{Context as _, Result, ensure};
use autokit_test_server::{PASSWORD, Server, USER};
use autokit_tests::{Workplace, on_deep_stack};
use serde_json::Value;
use tokio::net::TcpListener;

/// A machine of somebody's own, without a keychain, whose library has one card.
fn machine(card: &str, description: &str) -> Result<Workplace> {
    let place = Workplace::with_stand_in()?;
    place.json(&["providers", "keys", "--keep", "file"])?;
    add(&place, &[], card, description)?;
    Ok(place)
}

fn add(place: &Workplace, library: &[&str], name: &str, description: &str) -> Result<()> {
    let (name, description) = (format!("name={name}"), format!("description={description}"));
    place.json(&[library, &["cards", "add", "--set", &name, "--set", &description]].concat())?;
    Ok(())
}

/// Searches all libraries; gives the names of results, each with its library.
fn search(place: &Workplace, library: &[&str], query: &str) -> Result<Vec<(String, String)>> {
    let arguments = [library, &["search", "--all-libraries", "--wait", "30000", query]].concat();
    let found = place.json(&arguments)?;
    for outcome in found["libraries"].as_array().context("libraries")? {
        ensure!(outcome["state"] == "answered", "{outcome}");
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = found["results"].as_array().context("results")?;
    Ok(results.iter().map(|hit| (text(&hit["name"]), text(&hit["library"]))).collect())
}

fn pair(name: &str, library: &str) -> (String, String) {
    (name.to_owned(), library.to_owned())
}

#[test]
fn a_team_is_searched_with_ones_own_library_as_far_as_it_may_be_seen() -> Result<()> {
    on_deep_stack(|| async {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let ann = machine("stove", "Heats soup in a pot")?;
        let bob = machine("pot", "Holds soup")?;
        let url = server.url();
        ann.json_with_secrets(
            &["team", "create", &url, "kitchen", "--as", "ann", "--owner", USER],
            &[PASSWORD, "secret of ann"],
        )?;
        let kitchen = ["--team", "kitchen"];
        add(&ann, &kitchen, "kettle", "Boils water for tea")?;
        add(&ann, &kitchen, "safe", "Keeps the boiling recipes of the house")?;
        let invitation = ann.json(&["--team", "kitchen", "team", "invite"])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        let link = invitation["link"].as_str().context("a link")?;
        bob.json_with_secrets(&["team", "join", link, "--as", "bob"], &["secret of bob"])?;
        bob.json(&["--team", "kitchen", "team", "sync"])?;

        let listed = bob.json(&["libraries", "list"])?;
        let ids: Vec<&str> =
            listed.as_array().context("a list")?.iter().filter_map(|one| one["id"].as_str()).collect();
        ensure!(ids == ["personal", "team:kitchen"], "{listed}");

        // One ranking, each result with its library, from whichever library is open.
        let found = search(&bob, &[], "boil water for tea")?;
        ensure!(found.first() == Some(&pair("kettle", "team:kitchen")), "{found:?}");
        let found = search(&bob, &[], "holds soup")?;
        ensure!(found.first() == Some(&pair("pot", "personal")), "{found:?}");
        let found = search(&bob, &kitchen, "holds soup")?;
        ensure!(found.first() == Some(&pair("pot", "personal")), "{found:?}");

        // A library that is left out is not asked.
        bob.json(&["libraries", "exclude", "team:kitchen"])?;
        let found = search(&bob, &[], "boil water for tea")?;
        ensure!(found.iter().all(|(_, library)| library == "personal"), "{found:?}");
        bob.json(&["libraries", "include", "team:kitchen"])?;
        let (_, error) = bob.failure(&["libraries", "exclude", "personal"])?;
        ensure!(error["code"] == "bad_request", "{error}");

        // A process that has the team's library open beside its own keeps it in step, and loses what is hidden.
        let serving = bob.serve()?;
        let found = search(&bob, &[], "boiling recipes")?;
        ensure!(found.iter().any(|(name, _)| name == "safe"), "{found:?}");
        ann.json(&["--team", "kitchen", "team", "share", "safe", "--with", "person:ann"])?;
        ann.json(&["--team", "kitchen", "team", "sync"])?;
        bob.json(&["--team", "kitchen", "team", "sync"])?;
        let found = search(&bob, &[], "boiling recipes")?;
        ensure!(found.iter().all(|(name, _)| name != "safe"), "{found:?}");

        // It gives the library up when the team is left.
        bob.json(&["team", "leave", "kitchen"])?;
        let found = search(&bob, &[], "boil water for tea")?;
        ensure!(found.iter().all(|(_, library)| library == "personal"), "{found:?}");
        drop(serving);
        Ok(())
    })
}

#[test]
fn a_registry_that_never_answers_is_late_and_holds_up_nothing() -> Result<()> {
    on_deep_stack(|| async {
        // Accepts connections and never reads from them.
        let dead = TcpListener::bind("127.0.0.1:0").await?;
        let place = machine("pot", "Holds soup")?;
        place.json(&["providers", "allow", "127.0.0.1"])?;
        let url = format!("http://{}", dead.local_addr()?);
        let sources = place.json(&["registries", "add", &url])?;
        let id = format!("market:{}", sources[0]["id"].as_str().context("an id")?);

        // What would be sent the query is not asked before a person says so.
        let found = place.json(&["search", "--all-libraries", "holds soup"])?;
        ensure!(found["libraries"].as_array().is_some_and(|all| all.len() == 1), "{found}");
        place.json(&["libraries", "include", &id])?;
        let found = place.json(&["search", "--all-libraries", "holds soup"])?;
        ensure!(found["results"][0]["name"] == "pot", "{found}");
        let states: Vec<&Value> =
            found["libraries"].as_array().context("libraries")?.iter().map(|one| &one["state"]).collect();
        ensure!(states == ["answered", "late"], "{found}");
        Ok(())
    })
}

#[test]
fn a_damaged_folder_of_a_team_fails_alone() -> Result<()> {
    let place = machine("pot", "Holds soup")?;
    let teams = place.data_dir().join("teams");
    std::fs::create_dir_all(teams.join("kitchen"))?;
    std::fs::write(teams.join("kitchen/team.json"), "{")?;
    std::fs::write(teams.join(".DS_Store"), "what a file manager leaves")?;
    let found = place.json(&["search", "--all-libraries", "holds soup"])?;
    ensure!(found["results"][0]["name"] == "pot", "{found}");
    let damaged = &found["libraries"][1];
    ensure!(damaged["library"]["id"] == "team:kitchen" && damaged["state"] == "failed", "{found}");
    ensure!(damaged["error"].as_str().is_some_and(|error| error.contains("is damaged")), "{found}");
    // It can be left out, by the name of its folder as well.
    place.json(&["libraries", "exclude", "kitchen"])?;
    let found = place.json(&["search", "--all-libraries", "holds soup"])?;
    ensure!(found["libraries"].as_array().is_some_and(|all| all.len() == 1), "{found}");
    let teams = place.run(&["team", "list", "--json"])?;
    ensure!(teams.status.code() == Some(3), "{teams:?}");
    Ok(())
}
