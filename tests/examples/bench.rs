//! Figures for this machine: `cargo xtask bench [--quick] [PART…]`.
//!
//! Embedding, vector scan and whole search at several sizes, import, opening clean and after a
//! kill, taking over from an owner that was killed, stopping a question, start-up to the first
//! answer, memory over many searches. Medians; one JSON object last.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what this does")]

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use autokit_api::commands::{
    AcceptProposal, Ask, CancelSession, GetStatus, ListProposals, Search, StartImport, WaitJob,
};
use autokit_api::{
    AskRequest, ImportRequest, ImportSource, JobState, JobWait, Nothing, ProposalAccept, ProposalsQuery,
    SearchRequest, SessionRef,
};
use autokit_app::engine::EngineOptions;
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_embed::{Embedder, EmbedderOptions, ModelStore};
use autokit_library::{Clock, DataDir, Library, Storage};
use autokit_search::{Document, Mode, Query, QueryPlan, SearchIndex, VectorIndex, Vectors};
use autokit_tests::agent::{set_providers, start};
use autokit_tests::bundle::exchange;
use autokit_tests::calendar::{QUESTION, cards, stock};
use autokit_tests::crash::{Change, crash_changes, crash_imports};
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::model::{Reply, ScriptedModel};
use autokit_tests::review::{put_cards, refresh};
use autokit_tests::{SeededRng, Workplace, made_up_cards, program};
use autokit_toolcard::{Author, ProposalState};
use serde_json::{Value, json};

fn quantile(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let at = ((times.len() as f64 * share) as usize).min(times.len() - 1);
    times[at].as_secs_f64() * 1e3
}

/// Runs `work` and gives p50 and p95 in milliseconds.
fn timed(runs: usize, mut work: impl FnMut(usize)) -> (f64, f64) {
    let mut times: Vec<Duration> = (0..runs)
        .map(|run| {
            let began = Instant::now();
            work(run);
            began.elapsed()
        })
        .collect();
    (quantile(&mut times, 0.5), quantile(&mut times, 0.95))
}

fn unit_vector(chance: &mut SeededRng, dim: usize) -> Vec<f32> {
    let mut vector: Vec<f32> = (0..dim).map(|_| chance.below(20_001) as f32 / 1e4 - 1.0).collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    for x in &mut vector {
        *x /= length;
    }
    vector
}

fn embedding() -> Result<Value> {
    let store = ModelStore::new(autokit_app::paths::models_dir());
    let files = store.resolve(autokit_app::default_model(), None)?;
    let embedder = Embedder::load(&files, &EmbedderOptions::default())?;
    let texts: Vec<String> = made_up_cards(1500)
        .iter()
        .map(|card| {
            format!("{}: {}", card["name"].as_str().unwrap_or(""), card["description"].as_str().unwrap_or(""))
        })
        .collect();
    embedder.embed_passages(&texts[..100])?;
    let mut rates: Vec<f64> = Vec::new();
    for _ in 0..3 {
        let began = Instant::now();
        embedder.embed_passages(&texts)?;
        rates.push(texts.len() as f64 / began.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    let (p50, p95) = timed(200, |run| {
        embedder.embed_query(&texts[run][..texts[run].len().min(60)]).expect("embeds");
    });
    Ok(json!({ "texts_per_s": rates[1], "query_ms_p50": p50, "query_ms_p95": p95 }))
}

fn index(size: usize) -> Result<Value> {
    const DIM: usize = 384;
    let mut chance = SeededRng::new(7);
    let cards = made_up_cards(size);
    let mut vectors = VectorIndex::new();
    let mut search = SearchIndex::new();
    let began = Instant::now();
    for chunk in cards.chunks(1000) {
        let made: Vec<Vec<f32>> = chunk.iter().map(|_| unit_vector(&mut chance, DIM)).collect();
        let ids: Vec<String> =
            chunk.iter().map(|card| card["name"].as_str().unwrap_or("").to_owned()).collect();
        let documents: Vec<Document<'_>> = chunk
            .iter()
            .zip(&made)
            .zip(&ids)
            .map(|((card, vector), id)| Document {
                id,
                name: id,
                provider: card["provider"].as_str().unwrap_or(""),
                description: card["description"].as_str().unwrap_or(""),
                vectors: Some(Vectors { tool: vector, asks_for: &[] }),
                ..Document::default()
            })
            .collect();
        search.upsert_all(&documents)?;
        for vector in &made {
            vectors.upsert(vectors.len() as u32, vector)?;
        }
    }
    let built = began.elapsed().as_secs_f64();
    let queries: Vec<Vec<f32>> = (0..100).map(|_| unit_vector(&mut chance, DIM)).collect();
    let (scan50, scan95) = timed(200, |run| {
        vectors.top_k(&queries[run % 100], 10, None).expect("scans");
    });
    let hybrid = |text: &str| {
        let plan = QueryPlan::new(text);
        let expected = plan.texts_to_embed().len();
        let (p50, p95) = timed(200, |run| {
            let vectors: Vec<Vec<f32>> = (0..expected).map(|at| queries[(run + at) % 100].clone()).collect();
            let query = Query { plan: &plan, vectors: &vectors, mode: Mode::Hybrid, limit: 10, filter: None };
            search.search(&query).expect("searches");
        });
        json!({ "clauses": expected - 1, "ms_p50": p50, "ms_p95": p95 })
    };
    Ok(json!({ "cards": size, "build_s": built, "scan_ms_p50": scan50, "scan_ms_p95": scan95,
               "hybrid_short": hybrid("schedule photos with paging"),
               "hybrid_long": hybrid("Archive the photos of last year, then translate the recipes into Korean. \
                   Schedule the backups weekly and export all invoices with paging and filters.") }))
}

/// Import with the stand-in (the database's share), then opening clean and after a kill.
async fn library(size: usize) -> Result<Value> {
    let place = Workplace::with_stand_in()?;
    let file = place.cards_file("cards.json", &made_up_cards(size))?;
    let node = place.node(384).await?;
    let began = Instant::now();
    let source = ImportSource::Path(file.display().to_string());
    let request = ImportRequest::new(source);
    let job = node.call::<StartImport>(request).await?.job;
    let mut seen = 0;
    loop {
        let state = node.call::<WaitJob>(JobWait { job: job.clone(), after: seen }).await?;
        seen = state.version;
        if state.state != JobState::Running {
            anyhow::ensure!(state.state == JobState::Done, "{:?}", state.error);
            break;
        }
    }
    let imported = began.elapsed().as_secs_f64();
    node.close().await?;
    drop(node);
    let open = async || -> Result<(f64, f64)> {
        let began = Instant::now();
        let owned = DataDir::new(place.data_dir()).try_own()?;
        let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
        let took = began.elapsed().as_secs_f64();
        let checked = library.check_duration().as_secs_f64() * 1e3;
        library.close().await?;
        Ok((took, checked))
    };
    let (clean, checked_clean) = open().await?;
    let owner = place.serve()?;
    owner.kill()?;
    // Killed at rest; killed in the middle of an import is measured with the crashes.
    let (killed, checked_killed) = open().await?;

    let ask = |number: usize| SearchRequest {
        query: format!("{} photos of account {number}", ["export", "list", "archive"][number % 3]),
        ..SearchRequest::default()
    };
    // A process of its own, that has neither imported nor measured anything before.
    let owner = place.serve()?;
    let node = place.node(384).await?;
    for number in 0..2000 {
        node.call::<Search>(ask(number)).await?;
    }
    let before = owner.resident_kib()?;
    for number in 0..10_000 {
        node.call::<Search>(ask(number)).await?;
    }
    let after = owner.resident_kib()?;
    node.close().await?;
    owner.stop()?;

    let node = place.node(384).await?;
    let mut times = Vec::new();
    for number in 0..2000 {
        let began = Instant::now();
        node.call::<Search>(ask(number)).await?;
        times.push(began.elapsed());
    }
    node.close().await?;
    Ok(json!({ "cards": size, "import_cards_per_s": size as f64 / imported, "open_clean_s": clean,
               "open_after_kill_s": killed,
               "checks_ms": checked_clean, "checks_after_kill_ms": checked_killed, "search_ms_p50": quantile(&mut times, 0.5),
               "search_ms_p95": quantile(&mut times, 0.95), "memory_mib": after as f64 / 1024.0,
               "memory_growth_percent_over_10000_searches": (after as f64 / before as f64 - 1.0) * 100.0 }))
}

/// The library of a place, searched by the model.
async fn with_model(place: &Workplace) -> Result<Node> {
    let (data_dir, author) = (place.data_dir(), "bench".to_owned());
    Ok(Node::open(NodeOptions { data_dir, engine: EngineOptions::new(), purpose: Purpose::Command, author })
        .await?)
}

/// A place with a library of made-up cards.
fn stocked(cards: usize) -> Result<Workplace> {
    let place = Workplace::with_model()?;
    let file = place.cards_file("cards.json", &made_up_cards(cards))?;
    place.json(&["import", &file.display().to_string()])?;
    Ok(place)
}

/// From starting the command to its answer, with the starter cards in place.
async fn first_answer() -> Result<Value> {
    let place = Workplace::with_model()?;
    place.json(&["--starter", "cards", "list"])?;
    let mut times = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        let status = Command::new(program("autokit")?)
            .arg("--data-dir")
            .arg(place.data_dir())
            .args(["--json", "ask", "a calendar"])
            .stdout(std::process::Stdio::null())
            .status()?;
        anyhow::ensure!(status.success(), "{status}");
        times.push(began.elapsed());
    }
    let node = with_model(&place).await?;
    let ask = || AskRequest { question: "turn speech into text".into(), ..AskRequest::default() };
    node.call::<Ask>(ask()).await?;
    let mut warm = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        node.call::<Ask>(ask()).await?;
        warm.push(began.elapsed());
    }
    node.close().await?;
    Ok(json!({ "start_to_answer_ms": quantile(&mut times, 0.5), "warm_ask_ms_p50": quantile(&mut warm, 0.5),
               "warm_ask_ms_p95": quantile(&mut warm, 0.95) }))
}

/// What is left when a process ends at the points of a large import, and of every change a person makes.
/// All points are gone through again until there were `kills`.
async fn crashes(cards: usize, points: usize, kills: usize) -> Result<Value> {
    let remaining = Box::pin(crash_imports(cards, points)).await?;
    eprintln!("crashes: {} kills during an import of {cards} cards", remaining.len());
    let mut changes = 0;
    while changes == 0 || remaining.len() + changes < kills {
        changes += Box::pin(crash_changes(&Change::ALL, usize::MAX)).await?;
        eprintln!("crashes: {} of {kills} kills", remaining.len() + changes);
    }
    let most = remaining.iter().max_by_key(|remaining| remaining.cards).context("a crash")?;
    let slowest = remaining.iter().map(|remaining| remaining.opening).max().unwrap_or_default();
    Ok(
        json!({ "cards": cards, "kills": remaining.len() + changes, "lost": 0, "half": 0, "doubled": 0, "most_cards_left": most.cards,
               "opening_them_s": most.opening.as_secs_f64(), "slowest_opening_s": slowest.as_secs_f64() }),
    )
}

async fn bundle(cards: usize) -> Result<Value> {
    let exchanged = Box::pin(exchange(cards)).await?;
    Ok(json!({ "cards": cards, "bytes": exchanged.bytes, "export_s": exchanged.export.as_secs_f64(),
               "import_s": exchanged.import.as_secs_f64(), "bare_s": exchanged.bare.as_secs_f64(),
               "times_bare": exchanged.import.as_secs_f64() / exchanged.bare.as_secs_f64(),
               "peak_mib": exchanged.peak_kib / 1024, "identical": true }))
}

/// Proposals that wait: adding one when there are few and when there are all, listing a window of them, accepting
/// one. None of it may grow with their number as reading them all does.
async fn review(waiting: usize) -> Result<Value> {
    let place = Workplace::with_stand_in()?;
    let owned = DataDir::new(place.data_dir()).try_own()?;
    let library = Library::open(Storage::Disk(owned), Clock::system()).await?;
    let name = |n: usize| format!("tool {n}");
    put_cards(&library, (0..waiting).map(|n| json!({ "name": name(n), "class": "Old" }))).await?;
    let author = Author("bench".to_owned());
    let mut proposing = Vec::with_capacity(waiting);
    for n in 0..waiting {
        let draft = refresh(&name(n), &[("class", json!("New")), ("pricing", json!("free"))]);
        let began = Instant::now();
        library.propose(draft, &author, None).await?;
        proposing.push(began.elapsed());
    }
    let began = Instant::now();
    let all = library.proposals(None).await?.len();
    let reading = began.elapsed();
    anyhow::ensure!(all == waiting, "{all} of {waiting}");
    library.close().await?;
    drop(library);
    let node = place.node(64).await?;
    let mut listing = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        node.call::<ListProposals>(ProposalsQuery { state: Some(ProposalState::Pending) }).await?;
        listing.push(began.elapsed());
    }
    let mut accepting = Vec::new();
    for id in 1..=20 {
        let request: ProposalAccept = serde_json::from_value(json!({ "id": id }))?;
        let began = Instant::now();
        node.call::<AcceptProposal>(request).await?;
        accepting.push(began.elapsed());
    }
    node.close().await?;
    let few = waiting.min(200);
    Ok(json!({ "waiting": waiting, "propose_first_ms": quantile(&mut proposing[..few], 0.5),
               "propose_last_ms": quantile(&mut proposing[waiting - few..], 0.5), "list_ms": quantile(&mut listing, 0.5),
               "accept_ms": quantile(&mut accepting, 0.5), "read_all_ms": reading.as_secs_f64() * 1e3 }))
}

/// `search_tools` over standard input and output against the same search within one process, the query
/// embedded each time on both sides; the time between a search and its answer as an agent sees it.
async fn agents(cards: usize) -> Result<Value> {
    const RUNS: usize = 300;
    let place = stocked(cards)?;
    let query = |side: &str, number: usize| {
        format!("{} the {side} photos of account {number}", ["export", "list", "archive"][number % 3])
    };
    let node = with_model(&place).await?;
    let mut within = Vec::new();
    for number in 0..RUNS {
        let request = SearchRequest { query: query("old", number), limit: Some(5), mode: None };
        let began = Instant::now();
        node.call::<Search>(request).await?;
        within.push(began.elapsed());
    }
    node.close().await?;
    let mut sides = serde_json::Map::new();
    let (p50, p95) = (quantile(&mut within, 0.5), quantile(&mut within, 0.95));
    sides.insert("in_process".to_owned(), json!({ "ms_p50": p50, "ms_p95": p95 }));
    for generation in Generation::BOTH {
        let mut agent = Agent::over_stdio(&place, generation).await?;
        let mut times = Vec::new();
        for number in 0..RUNS {
            let query = query("new", number);
            let began = Instant::now();
            agent.search(&query).await?;
            times.push(began.elapsed());
        }
        agent.disconnect().await?;
        let over = quantile(&mut times, 0.5);
        let figures =
            json!({ "ms_p50": over, "ms_p95": quantile(&mut times, 0.95), "times_in_process": over / p50 });
        sides.insert(format!("{generation:?}").to_lowercase(), figures);
    }
    Ok(json!({ "cards": cards, "searches": RUNS, "sides": sides }))
}

/// A question that grows with every key.
async fn typing(cards: usize) -> Result<Value> {
    const QUESTIONS: [&str; 6] = [
        "archive the old photos of an account",
        "send a message to a channel when a build fails",
        "list open invoices of a customer",
        "convert a spreadsheet to a chart",
        "find flights between two cities",
        "translate a document into another language",
    ];
    let place = stocked(cards)?;
    let node = with_model(&place).await?;
    let mut times = Vec::new();
    for (number, question) in QUESTIONS.into_iter().enumerate() {
        for end in 3..=question.len() {
            // With a number, so that no query vector is in the cache.
            let query = format!("{} {number}", &question[..end]);
            let began = Instant::now();
            node.call::<Search>(SearchRequest { query, limit: Some(5), mode: None }).await?;
            times.push(began.elapsed());
        }
    }
    node.close().await?;
    Ok(json!({ "cards": cards, "keys": times.len(), "ms_p50": quantile(&mut times, 0.5),
               "ms_p95": quantile(&mut times, 0.95) }))
}

/// What somebody waits for: the first answer after the owner was killed, and the end of a question that is
/// stopped while a model is silent.
async fn waits() -> Result<Value> {
    const RUNS: usize = 5;
    let (mut taking_over, mut stopping) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let place = Workplace::with_stand_in()?;
        let owner = place.serve()?;
        let node = place.node(64).await?;
        stock(&node, &cards()).await?;
        owner.kill()?;
        let began = Instant::now();
        node.call::<GetStatus>(Nothing {}).await?;
        taking_over.push(began.elapsed());
        let model = ScriptedModel::with_script(|_| Reply::Never).await?;
        set_providers(&node, Some(&model), None).await?;
        let session = start(&node, QUESTION).await?;
        model.in_flight.wait_until(|count| count > 0).await?;
        let began = Instant::now();
        node.call::<CancelSession>(SessionRef { session }).await?;
        stopping.push(began.elapsed());
        node.close().await?;
    }
    Ok(json!({
        "take_over_ms_p50": quantile(&mut taking_over, 0.5), "stop_ms_p50": quantile(&mut stopping, 0.5),
        "runs": RUNS,
    }))
}

/// What is measured, in order.
const PARTS: [&str; 10] =
    ["embedding", "ranking", "library", "crashes", "bundle", "review", "agents", "typing", "waits", "answer"];

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let parts: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let size = if quick { 2000 } else { 16_000 };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZeroUsize::get);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let machine = format!("{} cores,{}", cores, model.trim_start_matches([' ', '\t', ':']).trim());
    println!("machine: {machine}");
    let mut all = serde_json::Map::new();
    all.insert("machine".to_owned(), json!(machine));
    for part in PARTS {
        if !parts.is_empty() && !parts.iter().any(|expected| *expected == part) {
            continue;
        }
        let figures = match part {
            "embedding" => embedding(),
            "ranking" => {
                let sizes: &[usize] = if quick { &[1000, 16_000] } else { &[1000, 16_000, 100_000] };
                sizes.iter().map(|size| index(*size)).collect::<Result<Vec<_>>>().map(Value::Array)
            }
            "library" => Box::pin(library(size)).await,
            "crashes" => {
                Box::pin(crashes(size, if quick { 5 } else { 20 }, if quick { 1 } else { 1000 })).await
            }
            "bundle" => Box::pin(bundle(size)).await,
            "review" => Box::pin(review(if quick { 500 } else { 5000 })).await,
            "agents" => Box::pin(agents(size)).await,
            "typing" => Box::pin(typing(size)).await,
            "waits" => Box::pin(waits()).await,
            _ => first_answer().await,
        };
        let figures = figures.context(part)?;
        println!("{part}: {figures}");
        all.insert(part.to_owned(), figures);
    }
    println!("{}", Value::Object(all));
    Ok(())
}
