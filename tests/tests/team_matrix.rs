//! Every role, every visibility, every command: what a member's machine tells is what they may see.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use autokit_api::Nothing;
use autokit_api::commands::SyncTeam;
use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_app::secrets::KeyStorage;
use autokit_team::{
    Address, CardWrite, Connection, Credentials, GroupKey, INVITATION_LIFETIME, NewProposal, Owner, Request,
    Role, Session, Step, Visibility,
};
use autokit_test_server::{PASSWORD, Server, USER};
use autokit_tests::agent::{ask, wait_for_jobs};
use autokit_tests::commands::every_command;
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::{Workplace, on_deep_stack, program};
use serde_json::json;

/// The tables of a team's database.
const TABLES: [&str; 15] = [
    "revocation",
    "team",
    "group",
    "member",
    "invitation",
    "card",
    "revision",
    "vector",
    "proposal",
    "policy",
    "comment",
    "request",
    "audit",
    "wrong_password",
    "unknown",
];

/// A card with a word that occurs nowhere else, and who sees it.
struct Shown {
    word: String,
    to: Visibility,
}

fn request(key: &str, steps: Vec<Step>) -> Request {
    let at = "2026-01-02T03:04:05.000Z".parse().expect("a time");
    Request { key: key.to_owned(), reason: format!("because of {key}"), at, steps }
}

/// Adds a card, and a proposal about it.
async fn add(session: &Session, card: &Shown) -> Result<()> {
    let word = &card.word;
    let body = json!({
        "name": format!("Tool {word}"), "provider": format!("Provider {word}"), "tags": [word],
        "description": format!("Finds news about {word}."), "import_path": format!("{word}.Tool"),
    });
    let write = CardWrite {
        card: None,
        base: 0,
        operation: "create".to_owned(),
        body: Some(body.to_string()),
        visible_to: Some(card.to.clone()),
    };
    let made = session.send(&request(word, vec![Step::Write(write)])).await?.remove(0).card;
    let draft = json!({
        "origin": "description", "reason": format!("{word} says so"),
        "fields": [{ "field": "pricing", "value": format!("free {word}"), "evidence": [], "confidence": 1.0 }],
        "before": {}, "basis": null, "candidates": [],
    });
    let propose = Step::Propose(NewProposal {
        card: Some(made),
        visible_to: None,
        draft: draft.to_string(),
        fingerprint: format!("proposal {word}"),
        risk: "low".to_owned(),
    });
    session.send(&request(&format!("propose {word}"), vec![propose])).await?;
    Ok(())
}

/// Joins on a machine of one's own, and opens the replica.
async fn join(place: &Workplace, link: &str, name: &str) -> Result<Node> {
    place.json(&["providers", "keys", "--keep", "file"])?;
    place.json_with_secrets(&["team", "join", link, "--as", name], &["a long password"])?;
    let engine = EngineOptions {
        vectors: Vectors::StandIn(64),
        key_storage: Some(KeyStorage::File),
        config_dir: place.config_dir(),
        ..EngineOptions::new()
    };
    let data_dir = place.data_dir().join("teams/kitchen");
    Ok(Node::open(NodeOptions { data_dir, engine, purpose: Purpose::Command, author: name.to_owned() })
        .await?)
}

/// Calls every command, and every tool that agents have; returns what was answered and told.
async fn everything(node: &Node, shown: &[Shown]) -> Result<String> {
    // What was exported before is the person's own, and is not to be imported again.
    let folder = tempfile::tempdir()?;
    let mut events = node.events();
    let mut heard = String::new();
    let session = ask(node, "find news").await?;
    let mut requests = every_command(&session.id, folder.path(), &program("tools-server")?);
    // Whoever is told a name may try it.
    for card in shown {
        let name = format!("Tool {}", card.word);
        let named = json!({ "card": name });
        for command in ["cards_get", "cards_history", "cards_starter", "pages_get", "team_sharing_get"] {
            requests.push((command, named.clone()));
        }
        requests.push(("cards_search", json!({ "query": card.word })));
        requests.push(("answers_get", json!({ "question": name })));
        requests.push(("cards_list", json!({ "query": { "text": card.word }, "offset": 0, "limit": 100 })));
    }
    requests.push(("cards_list", json!({ "query": {}, "offset": 0, "limit": 100 })));
    requests.push(("exports_write", json!({})));
    for (command, request) in requests {
        // What is asked is not what is answered.
        let asked: Vec<&str> = shown
            .iter()
            .map(|card| card.word.as_str())
            .filter(|word| request.to_string().contains(word))
            .collect();
        let mut answer = match node.call_json(command, request).await {
            Ok(answer) => answer.to_string(),
            Err(error) => format!("{error:?}"),
        };
        for word in asked {
            answer = without_echo(answer, word);
        }
        writeln!(heard, "{command}: {answer}")?;
    }
    heard.push_str(&tools_of_agents(node).await?);
    wait_for_jobs(node).await?;
    while let Ok(event) = events.try_recv() {
        heard.push_str(&serde_json::to_string(&event)?);
    }
    Ok(heard)
}

/// An answer without the word that was asked for, unless it says more of the card than that.
fn without_echo(answer: String, word: &str) -> String {
    let is_told =
        [format!("Provider {word}"), format!("about {word}")].iter().any(|said| answer.contains(said));
    if is_told { answer } else { answer.replace(word, "ECHO") }
}

/// Calls every tool that an agent has, with words that all cards have.
async fn tools_of_agents(node: &Node) -> Result<String> {
    let endpoint = node.endpoint().await?;
    let url = format!("{}/mcp", endpoint.base());
    let mut heard = String::new();
    for generation in Generation::BOTH {
        let agent = Agent::at(&url, &endpoint.token, generation).await?;
        for tool in agent.tools().await? {
            for text in ["news", "Tool", "finds news about"] {
                let arguments = if tool == "search_tools" {
                    json!({ "query": text, "limit": 20 })
                } else {
                    json!({ "query": text, "question": text, "need": text, "text": text, "name": text })
                };
                // A tool that takes other arguments says so.
                let answer = match agent.call(&tool, arguments).await {
                    Ok((answer, _)) => answer,
                    Err(error) => format!("{error:?}"),
                };
                let finds = answer.contains("Provider ");
                ensure!(finds || tool != "search_tools", "{tool} with {text:?}: {answer}");
                writeln!(heard, "{tool}: {answer}")?;
            }
        }
        agent.disconnect().await?;
    }
    Ok(heard)
}

/// What the database tells a member who writes statements of their own.
async fn statements(session: &Session) -> Result<String> {
    let mut heard = String::new();
    for table in TABLES {
        for statement in [
            format!("SELECT *, card.*, card.visible_to, proposal.* FROM `{table}`"),
            format!("SELECT count() FROM `{table}` GROUP ALL"),
            format!("DELETE `{table}` RETURN BEFORE"),
            format!("INFO FOR TABLE `{table}`"),
        ] {
            // What has an audience is shown to whoever names it.
            let own =
                format!("LET $audiences = (SELECT VALUE audiences FROM ONLY member:{})", session.member());
            let answer = session.db().query(own).query(statement).await?;
            write!(heard, "{answer:?}")?;
        }
    }
    Ok(heard)
}

fn check(heard: &str, shown: &[Shown], sees: impl Fn(&Visibility) -> bool, what: &str) -> Result<()> {
    for card in shown {
        let (is_told, is_shown) = (heard.contains(&card.word), sees(&card.to));
        if is_told != is_shown {
            let line = heard.lines().find(|line| line.contains(&card.word)).unwrap_or_default();
            anyhow::bail!(
                "{what}: {:?} is told: {is_told}: {}",
                card.to,
                line.chars().take(2_000).collect::<String>()
            );
        }
    }
    Ok(())
}

#[test]
fn every_command_tells_what_a_member_may_see_and_nothing_else() -> Result<()> {
    on_deep_stack(|| async {
        let folder = tempfile::tempdir()?;
        let server = Server::start(&folder.path().join("server"), None).await?;
        let address = Address::Server { url: server.url(), authorities: None };
        let connection = Connection::open(&address, None).await?;
        let credentials = Credentials { user: USER.to_owned(), password: PASSWORD.to_owned() };
        let owner = Owner::sign_in(&connection, &credentials, "kitchen").await?;
        owner.create("The kitchen").await?;
        let member = async |name: &str, role| {
            let invitation = owner.invite(role, &[], INVITATION_LIFETIME).await?;
            anyhow::Ok(Session::join(&connection, &invitation, name, "a long password").await?)
        };
        let (chief, cook) = (member("chief", Role::Admin).await?, member("cook", Role::Reviewer).await?);
        let cooks: GroupKey = chief.create_group("cooks").await?.key;
        chief.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
        let roles = Role::ALL.map(Visibility::Role);
        let others = [
            Visibility::Everyone,
            Visibility::Team,
            Visibility::Group(cooks.clone()),
            Visibility::Person(cook.member().clone()),
        ];
        let words = ["zirbel", "yttrium", "xylem", "wombat", "vellum", "umlaut", "tundra", "sorrel"];
        let shown: Vec<Shown> = others
            .into_iter()
            .chain(roles)
            .zip(words)
            .map(|(to, word)| Shown { word: word.to_owned(), to })
            .collect();
        for card in &shown {
            let by = if card.to == Visibility::Role(Role::Admin) { &chief } else { &cook };
            add(by, card).await?;
        }

        for (role, name) in Role::ALL.into_iter().zip(["rea", "con", "rev", "adm"]) {
            let invitation = owner.invite(role, &[], INVITATION_LIFETIME).await?;
            let mut link = url::form_urlencoded::Serializer::new(String::new());
            link.append_pair("server", &server.url()).append_pair("invitation", &invitation.to_string());
            let link = format!("autokit://join?{}", link.finish());
            let place = Workplace::with_stand_in()?;
            let node = join(&place, &link, name).await?;
            node.call::<SyncTeam>(Nothing {}).await?;
            let sees = |to: &Visibility| match to {
                Visibility::Everyone | Visibility::Team => true,
                Visibility::Role(needed) => role >= *needed,
                Visibility::Group(_) | Visibility::Person(_) => false,
            };
            let heard = everything(&node, &shown).await?;
            check(&heard, &shown, sees, &format!("commands of a {role}"))?;
            let session = Session::sign_in(&connection, "kitchen", name, "a long password").await?;
            check(&statements(&session).await?, &shown, sees, &format!("statements of a {role}"))?;

            // In a group for a while, and out of it again.
            chief.set_groups(session.member(), std::slice::from_ref(&cooks)).await?;
            node.call::<SyncTeam>(Nothing {}).await?;
            let sees_more = |to: &Visibility| sees(to) || matches!(to, Visibility::Group(_));
            let heard = everything(&node, &shown).await?;
            check(&heard, &shown, sees_more, &format!("commands of a {role} who is a cook"))?;
            chief.set_groups(session.member(), &[]).await?;
            node.call::<SyncTeam>(Nothing {}).await?;
            let heard = everything(&node, &shown).await?;
            check(&heard, &shown, sees, &format!("commands of a {role} who was a cook"))?;
            node.close().await?;
        }
        Ok(())
    })
}
