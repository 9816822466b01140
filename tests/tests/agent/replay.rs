//! The session of FUEL's appendix B, played again: nothing in the library, a JavaScript tool from the web,
//! "I want it for python not js", the Python tool, a card, a recommendation, starter code.

use anyhow::{Context, Result, ensure};
use autokit_agent::ask::graph::Step;
use autokit_agent::ask::{Phase, Verdict};
use autokit_api::commands::{AcceptProposal, ProposeFinding};
use autokit_api::{AddFinding, ProposalAccept, Turn};
use autokit_tests::Workplace;
use autokit_tests::agent::{answer_of, ask, give_feedback, last_turn, set_providers, wait_for_jobs};
use autokit_tests::model::{Reply, RequestKind, ScriptedModel};
use serde_json::{Value, json};

use autokit_tests::calendar::{
    IMPORT, PYTHON_PAGE, QUESTION, REASON, SCRIPT_PAGE, USE_CASE, cards, scripted_reply, site, stock,
};

/// The steps that ended, in order.
fn steps(turn: &Turn) -> Vec<Step> {
    let ended = turn.events.iter().filter(|event| matches!(event.phase, Phase::Result { .. }));
    ended.map(|event| event.step).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calendar_session_in_process() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (model, site) = (ScriptedModel::with_script(scripted_reply).await?, site().await?);
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    set_providers(&node, Some(&model), Some(&site)).await?;

    let session = ask(&node, QUESTION).await?;
    let answer = answer_of(&session)?;
    assert_eq!((answer.verdict, &answer.tool), (Verdict::Nothing, &None), "{answer:?}");
    assert_eq!(answer.findings[0].url, site.url(SCRIPT_PAGE), "{:?}", answer.notes);
    assert_eq!(answer.findings[0].name, "Google Calendar Tool");
    let turn = last_turn(&session)?;
    let round = [Step::Search, Step::Generate, Step::Rewrite];
    let expected = [&round[..], &round[..], &round[..], &round[..], &[Step::Web, Step::Finalize]].concat();
    assert_eq!(steps(turn), expected, "three tries in other words, then the web");
    let traces = turn.events.iter().filter(|event| matches!(event.phase, Phase::Trace { .. })).count();
    assert!(traces >= 5, "every action and observation is told: {traces}");

    let session = give_feedback(&node, &session.id, false, REASON).await?;
    let answer = answer_of(&session)?;
    let urls: Vec<&str> = answer.findings.iter().map(|finding| finding.url.as_str()).collect();
    assert_eq!(urls, [site.url(PYTHON_PAGE)], "{:?}", answer.notes);
    assert_eq!(answer.findings[0].name, "CalendarToolkit");
    let looked = model.requests().into_iter().rev().find(|request| request.kind() == RequestKind::Web);
    let prompt = looked.context("the web was looked at")?.prompt();
    assert!(prompt.contains(REASON) && prompt.contains(&site.url(SCRIPT_PAGE)), "{prompt}");

    let request = AddFinding { session: session.id.clone(), url: site.url(PYTHON_PAGE) };
    let proposed = node.call::<ProposeFinding>(request).await?;
    for field in &proposed.proposal.draft.fields {
        ensure!(
            field.evidence.iter().any(|evidence| evidence.url == site.url(PYTHON_PAGE)),
            "{} rests on nothing",
            field.field
        );
    }
    let id = proposed.proposal.id;
    let accept = ProposalAccept { id, ..ProposalAccept::default() };
    node.call::<AcceptProposal>(accept).await?;

    // At once: without waiting for its page to be read.
    let session = ask(&node, QUESTION).await?;
    let answer = answer_of(&session)?;
    assert_eq!(answer.name.as_deref(), Some("CalendarToolkit"), "{answer:?}");
    assert_eq!(answer.verdict, Verdict::Answered);
    assert!(!steps(last_turn(&session)?).contains(&Step::Web));
    assert_eq!(answer.stub.as_ref().map(|stub| stub.code.as_str()), Some(IMPORT));

    wait_for_jobs(&node).await?;
    let session = give_feedback(&node, &session.id, true, USE_CASE).await?;
    let feedback = last_turn(&session)?.said.clone().context("what was said")?;
    let starter = feedback.starter.context("starter code")?;
    assert!(feedback.helpful && starter.code.starts_with(IMPORT), "{}", starter.code);
    assert!(starter.code.contains("toolkit = CalendarToolkit()"));
    assert_eq!(starter.removed, ["import concert_magic"]);
    assert_eq!(starter.model.as_deref(), Some("large-1"));
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calendar_session_in_the_terminal() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (model, site) = (ScriptedModel::with_script(scripted_reply).await?, site().await?);
    let file = place.cards_file("cards.json", &cards())?;
    let run = |arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    run(&["import", &file.display().to_string()])?;
    run(&["providers", "keys", "--keep", "file"])?;
    run(&["providers", "llm", "openai", "--url", &model.base, "--model", "large-1", "--small", "small-1"])?;
    run(&["providers", "search", "searxng", "--url", &site.base])?;
    run(&["providers", "allow", &site.host()])?;

    let answer = run(&["ask", QUESTION])?;
    assert_eq!(answer["verdict"], "nothing", "{answer}");
    assert_eq!(answer["answer"]["findings"][0]["url"], site.url(SCRIPT_PAGE), "{answer}");

    let session = run(&["feedback", "no", REASON])?;
    let turns = session["turns"].as_array().context("turns")?;
    let findings = &turns.last().context("a turn")?["answer"]["findings"];
    assert_eq!(findings[0]["url"], site.url(PYTHON_PAGE), "{findings}");

    let proposed = run(&["discover", "--add", "1"])?;
    assert_eq!(proposed["title"], "CalendarToolkit", "{proposed}");
    let id = proposed["proposal"]["id"].to_string();
    run(&["review", "accept", &id])?;

    let answer = run(&["ask", QUESTION])?;
    assert_eq!(answer["candidates"][0]["card"]["name"], "CalendarToolkit", "{answer}");
    assert_eq!(answer["verdict"], "answered");

    let session = run(&["feedback", "yes", USE_CASE])?;
    let turns = session["turns"].as_array().context("turns")?;
    let feedback = &turns.last().context("a turn")?["said"];
    assert!(feedback["starter"]["code"].as_str().is_some_and(|code| code.starts_with(IMPORT)), "{feedback}");
    // For people the same in words, with what was left out.
    let shown = tokio::task::block_in_place(|| place.run(&["sessions", session_id(&session)?]))?;
    let text = String::from_utf8(shown.stdout)?;
    assert!(text.contains(IMPORT) && text.contains("removed, unsupported"), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_cannot_bring_back_rejected_findings() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = site().await?;
    let url = site.url(SCRIPT_PAGE);
    let model =
        ScriptedModel::with_script(move |request| match (request.kind(), request.observations().first()) {
            (RequestKind::Web, None) => Reply::call("open", json!({ "url": url })),
            (RequestKind::Web, Some(page)) => {
                let quote = page.lines().find(|line| line.contains("import "));
                Reply::call("finish", json!({ "pages": [{ "url": url, "quote": quote }] }))
            }
            _ => scripted_reply(request),
        })
        .await?;
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    set_providers(&node, Some(&model), Some(&site)).await?;
    let session = ask(&node, QUESTION).await?;
    assert_eq!(answer_of(&session)?.findings.len(), 1, "{:?}", answer_of(&session)?);
    let session = give_feedback(&node, &session.id, false, REASON).await?;
    assert!(answer_of(&session)?.findings.is_empty(), "{:?}", answer_of(&session)?.findings);
    let trace = serde_json::to_string(&last_turn(&session)?.events)?;
    assert!(trace.contains("was rejected"), "and the trace says why");
    node.close().await?;
    Ok(())
}

fn session_id(session: &Value) -> std::io::Result<&str> {
    session["id"].as_str().ok_or_else(|| std::io::Error::other("a session without an id"))
}
