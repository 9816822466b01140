//! Rules bind: whatever agents are connected by, and from the moment a person changes them.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{
    DeleteCards, GetAgentsHttp, GetCard, ListProfiles, RemoveProfile, RemoveServer, RunTool, SetAgentsHttp,
    SetProfile, WaitJob,
};
use autokit_api::{
    AgentsHttpRef, AgentsHttpSet, Allowlist, CardRef, CardsDelete, JobRef, JobState, JobWait, Nothing,
    Profile, ProfileRef, ServerRef, ToolRun, ToolRunStart,
};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_app::{ErrorCode, Need, Permission, Permissions, Rule};
use autokit_tests::mcp::{Agent, Generation, add_server};
use autokit_tests::{SeededRng, Workplace};
use autokit_toolcard::CardId;
use serde_json::{Map, Value, json};

/// Longest a test waits for something that has to come: only so that a test that fails does not hang.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A library with the tools of a server, and an address for agents.
struct Setup {
    place: Workplace,
    node: Node,
    url: String,
}

impl Setup {
    async fn new() -> Result<Setup> {
        let place = Workplace::with_stand_in()?;
        add_server(&place, "fixture", &[], true)?;
        let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = node.call::<SetAgentsHttp>(AgentsHttpSet { enabled: true, port: Some(port) }).await?;
        Ok(Setup { place, node, url: address.url })
    }

    async fn profile(&self, name: &str, change: impl FnOnce(&mut Profile)) -> Result<()> {
        let mut profile = Profile { name: name.to_owned(), ..Profile::default() };
        change(&mut profile);
        self.node.call::<SetProfile>(profile).await?;
        Ok(())
    }

    /// The token that belongs to a profile.
    async fn token(&self, profile: &str) -> Result<String> {
        let request = AgentsHttpRef { profile: profile.to_owned() };
        let lines: Value = serde_json::from_str(&self.node.call::<GetAgentsHttp>(request).await?.lines)?;
        let authorization =
            lines["mcpServers"]["autokit"]["headers"]["Authorization"].as_str().context("a header")?;
        Ok(authorization.strip_prefix("Bearer ").context("a token")?.to_owned())
    }

    async fn over_http(&self, profile: &str, named: &str, generation: Generation) -> Result<Agent> {
        let url = if named.is_empty() { self.url.clone() } else { format!("{}?profile={named}", self.url) };
        Agent::at(&url, &self.token(profile).await?, generation).await
    }

    async fn id(&self, name: &str) -> Result<String> {
        if name == BUILTIN {
            return Ok(format!("autokit:{BUILTIN}"));
        }
        Ok(self.node.call::<GetCard>(CardRef { card: name.to_owned() }).await?.summary.id.to_string())
    }

    async fn tool(&self, name: &str) -> Result<Need> {
        let (id, provider) = (self.id(name).await?, provider_of(name).to_owned());
        Ok(Need::Tool { id, name: name.to_owned(), provider })
    }

    /// Calls a tool as a person does; whether it was made.
    async fn by_hand(&self, tool: &str, profile: &str, granted: Vec<Need>) -> Result<bool> {
        let (tool, profile) = (tool.to_owned(), profile.to_owned());
        let run = ToolRun { tool, profile, arguments: Map::new(), granted };
        let job = match self.node.call::<RunTool>(run).await {
            Ok(ToolRunStart::Started { job }) => job,
            Ok(ToolRunStart::Asks { .. }) => return Ok(false),
            Err(error) if matches!(error.code, ErrorCode::Refused | ErrorCode::NotFound) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let mut after = 0;
        loop {
            let now = self.node.call::<WaitJob>(JobWait { job: job.clone(), after }).await?;
            match now.state {
                JobState::Running => after = now.version,
                state => return Ok(state == JobState::Done),
            }
        }
    }

    /// How often the tools of the server were called, this call included.
    async fn calls(&self) -> Result<u64> {
        let run = ToolRun {
            tool: "count".to_owned(),
            profile: String::new(),
            arguments: Map::new(),
            granted: vec![self.tool("count").await?],
        };
        let ToolRunStart::Started { job } = self.node.call::<RunTool>(run).await? else {
            anyhow::bail!("the count is not asked for");
        };
        let mut after = 0;
        loop {
            let now = self.node.call::<WaitJob>(JobWait { job: job.clone(), after }).await?;
            if now.state != JobState::Running {
                break;
            }
            after = now.version;
        }
        let outcome = self.node.call::<autokit_api::commands::GetToolOutcome>(JobRef { job }).await?;
        let Some(autokit_api::ToolBlock::Text { text }) = outcome.blocks.first() else {
            anyhow::bail!("{outcome:?}");
        };
        Ok(text.parse()?)
    }
}

fn names(found: &Value) -> Vec<&str> {
    found["results"].as_array().into_iter().flatten().filter_map(|hit| hit["name"].as_str()).collect()
}

/// What is denied for everybody cannot be called under any profile, old or new, however it is named; nor can
/// a card be found that everybody may not find.
#[tokio::test(flavor = "multi_thread")]
async fn a_deny_for_everybody_binds_every_profile() -> Result<()> {
    let setup = Setup::new().await?;
    let echo = setup.tool("echo").await?;
    // A profile that was there first, and says that it may.
    setup.profile("zoo", |zoo| zoo.permissions.set(&echo, Permission::Allow)).await?;
    setup.profile("new", |_| {}).await?;
    for generation in Generation::BOTH {
        let mut agents = Vec::new();
        for profile in ["", "zoo", "new"] {
            agents.push(Agent::with_profile(&setup.place, generation, profile).await?);
            agents.push(setup.over_http(profile, "", generation).await?);
            agents.push(setup.over_http(profile, "zoo", generation).await?);
        }
        for agent in &mut agents {
            ensure!(names(&agent.search("echo").await?).contains(&"echo"));
            ensure!(!agent.use_tool("echo", json!({"text": "hi"})).await?.1);
        }
        setup.profile("", |all| all.permissions.set(&echo, Permission::Deny)).await?;
        let before = setup.calls().await?;
        for agent in &mut agents {
            let (text, failed) = agent.use_tool("echo", json!({"text": "hi"})).await?;
            ensure!(failed, "{generation:?}: {text}");
            ensure!(!names(&agent.search("echo").await?).contains(&"echo"));
        }
        for profile in ["", "zoo", "new"] {
            ensure!(!setup.by_hand("echo", profile, vec![echo.clone()]).await?, "{profile:?}");
        }
        ensure!(setup.calls().await? == before + 1, "a denied tool was called");
        // Of the library everybody may find nothing else than this, and so may no profile.
        let only =
            Some(Allowlist { providers: Vec::new(), cards: vec![CardId::new(setup.id("count").await?)] });
        setup.profile("", |all| all.only = only).await?;
        for agent in &mut agents {
            ensure!(!names(&agent.search("echo").await?).contains(&"echo"));
        }
        setup.profile("", |_| {}).await?;
        for agent in agents {
            agent.disconnect().await?;
        }
    }
    setup.node.close().await?;
    Ok(())
}

/// A token belongs to a profile; what its bearer names besides can only take rights away.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_belongs_to_one_profile() -> Result<()> {
    let setup = Setup::new().await?;
    let echo = setup.tool("echo").await?;
    let Need::Tool { id, .. } = echo.clone() else { anyhow::bail!("a tool") };
    let asks = Rule { of: id, permission: Permission::Ask, overridable: true };
    setup.profile("", |all| all.permissions.tools.put(asks)).await?;
    setup.profile("open", |open| open.permissions.set(&echo, Permission::Allow)).await?;
    setup.profile("shut", |shut| shut.permissions.set(&echo, Permission::Deny)).await?;
    for generation in Generation::BOTH {
        for (token, named, calls) in [
            ("open", "", true),
            ("open", "open", true),
            // Everybody is asked, and nobody is there to answer.
            ("", "", false),
            ("", "open", false),
            ("shut", "open", false),
            ("open", "shut", false),
        ] {
            let mut agent = setup.over_http(token, named, generation).await?;
            let found = names(&agent.search("echo").await?).contains(&"echo");
            let made = found && !agent.use_tool("echo", json!({"text": "hi"})).await?.1;
            ensure!(made == calls, "{generation:?}: {token:?} with ?profile={named}");
            agent.disconnect().await?;
        }
        ensure!(setup.over_http("open", "nobody", generation).await.is_err(), "nobody was served");
    }
    // The token of a profile that was removed is worth nothing, also when one of its name is added again.
    let token = setup.token("open").await?;
    setup.node.call::<RemoveProfile>(ProfileRef { name: "open".to_owned() }).await?;
    ensure!(Agent::at(&setup.url, &token, Generation::Session).await.is_err());
    setup.profile("open", |_| {}).await?;
    ensure!(Agent::at(&setup.url, &token, Generation::Session).await.is_err());
    setup.node.close().await?;
    Ok(())
}

/// How a person takes a tool away.
#[derive(Clone, Copy, Debug)]
enum Revocation {
    Deny,
    Remove,
    RemoveServer,
}

/// Three clients of each generation notice at once that a tool was taken away.
#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_is_seen_at_once() -> Result<()> {
    for revocation in [Revocation::Deny, Revocation::Remove, Revocation::RemoveServer] {
        let setup = Setup::new().await?;
        let echo = setup.tool("echo").await?;
        let mut clients = Vec::new();
        for generation in Generation::BOTH {
            clients.push((generation, Agent::over_stdio(&setup.place, generation).await?));
            clients.push((generation, setup.over_http("", "", generation).await?));
            clients.push((generation, Agent::over_http(&setup.place, generation).await?));
        }
        let mut subscriptions = Vec::new();
        let mut count_before = Vec::new();
        for (generation, agent) in &mut clients {
            agent.search("echo").await?;
            ensure!(!agent.use_tool("echo", json!({"text": "hi"})).await?.1);
            match generation {
                Generation::Session => ensure!(agent.tools().await?.contains(&"echo".to_owned())),
                Generation::Stateless => subscriptions.push(agent.subscribe().await?),
            }
            count_before.push(agent.change_count());
        }
        match revocation {
            Revocation::Deny => {
                setup.profile("", |all| all.permissions.set(&echo, Permission::Deny)).await?;
            }
            Revocation::Remove => {
                let cards = vec![setup.id("echo").await?];
                setup.node.call::<DeleteCards>(CardsDelete { cards, reason: String::new() }).await?;
            }
            Revocation::RemoveServer => {
                setup.node.call::<RemoveServer>(ServerRef { name: "fixture".to_owned() }).await?;
            }
        }
        for subscription in &mut subscriptions {
            let next = tokio::time::timeout(TIMEOUT, subscription.next()).await;
            ensure!(next.context("a subscription was not told")??.is_some(), "{revocation:?}");
        }
        for ((generation, agent), count_before) in clients.iter_mut().zip(count_before) {
            if *generation == Generation::Session {
                let waiting = tokio::time::timeout(TIMEOUT, agent.wait_for_changes(count_before + 1)).await;
                waiting.with_context(|| format!("{revocation:?}: a client was not told"))??;
            }
            ensure!(!agent.tools().await?.contains(&"echo".to_owned()), "{revocation:?} {generation:?}");
            let (text, failed) = agent.use_tool("echo", json!({"text": "hi"})).await?;
            ensure!(failed, "{revocation:?} {generation:?}: {text}");
            let found = agent.search("echo").await?;
            let callable = found["results"].as_array().into_iter().flatten();
            let callable = callable.filter(|hit| hit["name"] == "echo" && hit["callable"] == true);
            ensure!(callable.count() == 0, "{revocation:?} {generation:?}: {found}");
        }
        drop(subscriptions);
        for (_, agent) in clients {
            agent.disconnect().await?;
        }
        setup.node.close().await?;
    }
    Ok(())
}

/// Tools of the server, and one of AutoKit's own.
const TOOLS: [&str; 5] = ["echo", "count", "step", "picture", BUILTIN];
const BUILTIN: &str = "get_time";

fn provider_of(tool: &str) -> &'static str {
    if tool == BUILTIN { "AutoKit" } else { "fixture" }
}

/// What an agent asks for that looks for a tool.
fn query_of(tool: &str) -> &str {
    if tool == BUILTIN { "what time is it" } else { tool }
}

/// Random rules of a profile on the tools of the server.
fn rules(random: &mut SeededRng, ids: &BTreeMap<&str, String>, everybody: bool) -> Permissions {
    const ALL: [Permission; 3] = [Permission::Allow, Permission::Ask, Permission::Deny];
    let mut permissions = Permissions::default();
    let tools = &mut permissions.tools;
    for _ in 0..random.below(4) {
        let of = match random.below(7) {
            6 => "fixture/*".to_owned(),
            5 => "AutoKit/*".to_owned(),
            tool => ids[TOOLS[tool as usize]].clone(),
        };
        let permission = ALL[random.below(3) as usize];
        let overridable = everybody && permission == Permission::Ask && random.below(2) == 0;
        tools.put(Rule { of, permission, overridable });
    }
    if random.below(3) == 0 {
        tools.otherwise = Some(ALL[random.below(3) as usize]);
    }
    permissions
}

/// Whether a profile alone denies a tool, by its most exact rule.
fn denies(permissions: &Permissions, tool: &str, id: &str) -> bool {
    let tools = &permissions.tools;
    let named = |of: &str| tools.rules.iter().find(|rule| rule.of == of).map(|rule| rule.permission);
    let all = format!("{}/*", provider_of(tool));
    named(id).or_else(|| named(&all)).or(tools.otherwise) == Some(Permission::Deny)
}

/// Whatever the rules of everybody and of two profiles are: no call is made that one of those it is made
/// under denies, by any way in.
#[tokio::test(flavor = "multi_thread")]
async fn no_call_is_made_that_a_deny_forbids() -> Result<()> {
    const ROUNDS: usize = 60;
    let setup = Setup::new().await?;
    let mut ids = BTreeMap::new();
    for tool in TOOLS {
        ids.insert(tool, setup.id(tool).await?);
    }
    let mut random = SeededRng::new(8);
    for profile in ["one", "two"] {
        setup.profile(profile, |_| {}).await?;
    }
    // Agents that found all tools before any rule was made. What each is bound by, beside everybody's rules.
    let mut agents: Vec<(Vec<&str>, Agent)> = Vec::new();
    for generation in Generation::BOTH {
        for profile in ["", "one"] {
            let bound = if profile.is_empty() { vec![] } else { vec![profile] };
            agents.push((bound, Agent::with_profile(&setup.place, generation, profile).await?));
        }
        for (token, named) in [("", ""), ("", "two"), ("one", ""), ("one", "two"), ("two", "")] {
            let bound = [token, named].into_iter().filter(|name| !name.is_empty()).collect();
            agents.push((bound, setup.over_http(token, named, generation).await?));
        }
    }
    for (_, agent) in &mut agents {
        for tool in TOOLS {
            agent.search(query_of(tool)).await?;
        }
    }
    let (mut made, mut denied) = (0, 0);
    for round in 0..ROUNDS {
        let mut saved = BTreeMap::new();
        for name in ["", "one", "two"] {
            let permissions = rules(&mut random, &ids, name.is_empty());
            setup.profile(name, |profile| profile.permissions = permissions.clone()).await?;
            saved.insert(name, permissions);
        }
        let forbidden = |bound: &[&str], tool: &str| {
            std::iter::once(&"").chain(bound).any(|profile| denies(&saved[profile], tool, &ids[tool]))
        };
        for _ in 0..6 {
            let tool = TOOLS[random.below(5) as usize];
            let at = random.below(agents.len() as u64) as usize;
            let (bound, agent) = &mut agents[at];
            // A tool that was taken away is found again when it may be.
            if random.below(2) == 0 {
                agent.search(query_of(tool)).await?;
            }
            // Each time with other arguments, which is no loop.
            let arguments = json!({"text": format!("{round} {}", random.below(1 << 40))});
            let called = !agent.use_tool(tool, arguments).await?.1;
            ensure!(!(called && forbidden(bound, tool)), "round {round}: {bound:?} called {tool}: {saved:?}");
            made += u32::from(called);
            denied += u32::from(forbidden(bound, tool));
        }
        let (tool, profile) = (TOOLS[random.below(5) as usize], ["", "one", "two"][random.below(3) as usize]);
        let granted = vec![setup.tool(tool).await?];
        let called = setup.by_hand(tool, profile, granted).await?;
        ensure!(!(called && forbidden(&[profile], tool)), "round {round}: {tool} by hand: {saved:?}");
        made += u32::from(called);
    }
    // Both came about, so that the test could have failed.
    ensure!(made > 50 && denied > 50, "{made} made, {denied} denied");
    let saved = setup.node.call::<ListProfiles>(Nothing {}).await?;
    ensure!(saved.profiles.len() == 3);
    for (_, agent) in agents {
        agent.disconnect().await?;
    }
    setup.node.close().await?;
    Ok(())
}
