//! Links broken in every way there is: repaired where the page still is, called gone where it is not.

use anyhow::{Context, Result};
use autokit_api::VerifyScope;
use autokit_app::CardState;
use autokit_app::fuel::{LinkState, PageSearchOutcome};
use autokit_tests::Workplace;
use autokit_tests::agent::set_providers;
use autokit_tests::site::{Page, Site};
use serde_json::{Value, json};

use crate::place::{Ahead, add, check, checked, open, proposed, verify, waiting};

/// Tools of one vendor and others, each with what its page says.
const TOOLS: [(&str, &str, &str, &str); 8] = [
    (
        "Tide Tables",
        "tide_kit.tools",
        "TideTablesTool",
        "Predicts high and low water for a harbour and a day.",
    ),
    ("Star Chart", "astro_kit.tools", "StarChartTool", "Draws the sky above a place at a time of night."),
    ("Bird Calls", "avian_kit", "BirdCallTool", "Names a bird by a recording of its song."),
    ("Road Works", "traffic_kit.tools", "RoadWorksTool", "Lists building sites along a route of streets."),
    ("Seed Catalogue", "garden_kit", "SeedCatalogueTool", "Finds seeds of vegetables by season and soil."),
    (
        "Ferry Times",
        "harbour_kit.tools",
        "FerryTimesTool",
        "Gives the timetable of ferries between two ports.",
    ),
    ("Cloud Atlas", "sky_kit.tools", "CloudAtlasTool", "Tells the kind of a cloud from a photograph."),
    ("Coin Finder", "numis_kit", "CoinFinderTool", "Identifies old coins by both of their faces."),
];

fn slug(name: &str) -> String {
    name.to_lowercase().replace(' ', "_")
}

fn page((name, module, class, says): (&str, &str, &str, &str)) -> Page {
    Page::new(name).paragraph(says).paragraph(&format!("{name} is used by agents.")).heading("Usage").code(
        "python",
        &format!("from {module} import {class}\n\ntool = {class}(limit=3)\ntool.run(\"harbour\")"),
    )
}

fn card((name, module, class, says): (&str, &str, &str, &str), documentation: Option<&str>) -> Value {
    json!({
        "name": name, "description": says, "programming_language": "python", "module": module,
        "class": class, "init_args": {}, "documentation": documentation, "verified": false,
    })
}

async fn site() -> Result<Site> {
    let paths: Vec<String> = TOOLS.iter().map(|tool| format!("/docs/tools/{}", slug(tool.0))).collect();
    let site = Site::serve(paths.iter().map(String::as_str).zip(TOOLS.map(page))).await?;
    // Look-alikes: the vendor's overview, and another product of the same vendor.
    let overview = Page::new("Harbour Kit")
        .paragraph("Harbour Kit is a platform with tide tables, ferry times and more.");
    site.put("/docs/providers/harbour_kit", overview);
    let loader = Page::new("Tide Tables loader").paragraph("Loads tide tables as documents.");
    let code = "from tide_kit.loaders import TideTablesLoader\n\nloader = TideTablesLoader()";
    site.put("/docs/loaders/tide_tables", loader.code("python", code));
    Ok(site)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_a_link_breaks_is_repaired() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (site, ahead) = (site().await?, Ahead::default());
    let node = open(&place, &ahead, false).await?;
    set_providers(&node, None, Some(&site)).await?;
    // Three of these stay down however often they are asked.
    site.fail("/old/broken", 500);
    site.redirect("/old/home", "/");
    site.put("/", Page::new("Welcome").paragraph("Documentation of tide tables, star charts and much more."));
    site.redirect("/old/circle", "/old/circle2");
    site.redirect("/old/circle2", "/old/circle");
    site.download("/old/file", "application/zip", 1 << 16);
    site.html("/old/gone", "<html><title>Cloud Atlas</title><body><main><h1>Cloud Atlas</h1><p>Nothing to see: Cloud Atlas has left this handbook.</p></main></body></html>");
    site.html("/old/parked", "<html><title>Coin Finder</title><body><h1>Coin Finder</h1><p>Coin Finder, Coin Finder API, Coin Finder pricing. This domain may be for sale. Sponsored listings.</p></body></html>");
    let broken = [
        site.url("/old/none"),
        site.url("/old/broken"),
        site.url("/old/home"),
        site.url("/old/circle"),
        site.url("/old/file"),
        // Another tool's page, which loads well.
        site.url("/docs/tools/star_chart"),
        site.url("/old/gone"),
        site.url("/old/parked"),
    ];
    let mut ids = Vec::new();
    for (tool, url) in TOOLS.into_iter().zip(&broken) {
        ids.push(add(&node, &card(tool, Some(url))).await?);
    }
    verify(&node, VerifyScope::All, false).await?;
    for hours in [6, 24] {
        ahead.hours(hours);
        verify(&node, VerifyScope::Due, false).await?;
    }
    for (id, tool) in ids.iter().zip(TOOLS) {
        let found = checked(&node, id).await?;
        let proposals = waiting(&node, id).await?;
        let proposal = proposals.first().with_context(|| format!("{}: {found:#?}", tool.0))?;
        let right = site.url(&format!("/docs/tools/{}", slug(tool.0)));
        assert_eq!(proposed(proposal, "documentation"), Some(&json!(right)), "{}", tool.0);
        assert_eq!((proposed(proposal, "module"), proposed(proposal, "class")), (None, None), "{}", tool.0);
        assert_eq!(found.state, CardState::Broken, "{}", tool.0);
        // Every field says what it rests on, and the words stand on the page.
        for field in &proposal.proposal.draft.fields {
            assert!(!field.evidence.is_empty(), "{}: {field:?}", tool.0);
            assert!(
                field.evidence.iter().all(|evidence| evidence.url == right && !evidence.chain.is_empty())
            );
        }
    }
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn healthy_cards_are_unchanged_and_wrong_fields_repaired() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (site, ahead) = (site().await?, Ahead::default());
    let node = open(&place, &ahead, false).await?;
    set_providers(&node, None, Some(&site)).await?;
    let healthy = add(&node, &card(TOOLS[0], Some(&site.url("/docs/tools/tide_tables#usage")))).await?;
    let found = check(&node, &healthy).await?;
    assert_eq!(found.state, CardState::Verified, "{found:#?}");
    // It says that it is not verified, which it is by now; nothing else changes.
    let proposals = waiting(&node, &healthy).await?;
    assert_eq!(proposals.len(), 1);
    assert_eq!(proposed(&proposals[0], "verified"), Some(&json!(true)));
    assert_eq!(proposals[0].proposal.draft.fields.len(), 1);

    let mut stale = card(TOOLS[1], Some(&site.url("/docs/tools/star_chart")));
    stale["module"] = json!("astro.legacy");
    stale["class"] = json!("StarChart");
    let stale = add(&node, &stale).await?;
    let found = check(&node, &stale).await?;
    assert_eq!(found.state, CardState::Stale, "{found:#?}");
    let proposals = waiting(&node, &stale).await?;
    let proposal = proposals.first().context("a proposal")?;
    assert_eq!(proposed(proposal, "module"), Some(&json!("astro_kit.tools")));
    assert_eq!(proposed(proposal, "class"), Some(&json!("StarChartTool")));
    assert_eq!(proposed(proposal, "documentation"), None);
    assert_eq!(proposed(proposal, "verified"), Some(&json!(true)));
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_a_successor_is_reported_gone() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (site, ahead) = (site().await?, Ahead::default());
    let node = open(&place, &ahead, false).await?;
    set_providers(&node, None, Some(&site)).await?;
    // The loader of the same name and the vendor's overview stay.
    site.remove("/docs/tools/tide_tables");
    let mut tide = card(TOOLS[0], Some(&site.url("/docs/tools/tide_tables")));
    tide["verified"] = json!(true);
    let id = add(&node, &tide).await?;
    let found = check(&node, &id).await?;
    assert_eq!((found.state, found.report.link.state), (CardState::Broken, LinkState::NoPage));
    assert!(
        matches!(found.report.search, Some(PageSearchOutcome::Gone | PageSearchOutcome::Unsure)),
        "{:?}",
        found.report.search
    );
    let proposals = waiting(&node, &id).await?;
    let proposal = proposals.first().context("it can no longer be called verified")?;
    assert_eq!(proposed(proposal, "verified"), Some(&json!(false)));
    assert_eq!(proposal.proposal.draft.fields.len(), 1, "nothing is guessed");
    assert!(!proposal.proposal.draft.candidates.is_empty(), "what was looked at is shown");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_fails_is_asked_again_before_another_page_is_sought() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (site, ahead) = (site().await?, Ahead::default());
    let node = open(&place, &ahead, false).await?;
    set_providers(&node, None, Some(&site)).await?;
    site.fail("/old/broken", 503);
    let id = add(&node, &card(TOOLS[0], Some(&site.url("/old/broken")))).await?;
    let found = check(&node, &id).await?;
    assert_eq!((found.state, found.report.attempts), (CardState::Unreachable, 1));
    assert!(found.next_at.is_some() && waiting(&node, &id).await?.is_empty());
    assert_eq!(site.searches(), 0, "nothing is sought yet");
    // Before its time nothing happens.
    verify(&node, VerifyScope::Due, false).await?;
    assert_eq!(site.statuses("/old/broken").len(), 1);
    ahead.hours(6);
    verify(&node, VerifyScope::Due, false).await?;
    assert_eq!(checked(&node, &id).await?.report.attempts, 2);
    // It comes back: all is forgotten.
    site.put("/old/broken", page(TOOLS[0]));
    ahead.hours(24);
    verify(&node, VerifyScope::Due, false).await?;
    let found = checked(&node, &id).await?;
    assert_eq!((found.state, found.report.attempts, found.next_at), (CardState::Verified, 0, None));
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_network_cards_keep_their_state() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = open(&place, &Ahead::default(), false).await?;
    // Nobody listens on this port, and nothing else answers either.
    let settings = autokit_api::ProviderSettings {
        network: autokit_api::NetworkSettings { allowed_hosts: vec!["127.0.0.1".into()], proxy: None },
        ..autokit_tests::agent::provider_settings(None, None)
    };
    node.call::<autokit_api::commands::SetProviders>(settings).await?;
    let id = add(&node, &card(TOOLS[0], Some("http://127.0.0.1:9/docs"))).await?;
    let failed = verify(&node, VerifyScope::All, false).await.err().context("it fails")?;
    assert!(format!("{failed:?}").contains("no network connection; 1 card left to check"), "{failed:?}");
    assert!(checked(&node, &id).await.is_err(), "it counts as never checked");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_repairs_are_proposed_again_only_for_another_page() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (site, ahead) = (site().await?, Ahead::default());
    let node = open(&place, &ahead, false).await?;
    set_providers(&node, None, Some(&site)).await?;
    let mut stale = card(TOOLS[1], Some(&site.url("/docs/tools/star_chart")));
    stale["module"] = json!("astro.legacy");
    let id = add(&node, &stale).await?;
    check(&node, &id).await?;
    let proposals = waiting(&node, &id).await?;
    let number = proposals.first().context("a proposal")?.proposal.id;
    let reject =
        autokit_api::ProposalReject { id: number, reason: "we pin the old one".into(), by: String::new() };
    node.call::<autokit_api::commands::RejectProposal>(reject).await?;
    check(&node, &id).await?;
    assert!(waiting(&node, &id).await?.is_empty(), "it was turned down");
    site.put(
        "/docs/tools/star_chart",
        page(TOOLS[1]).paragraph("The old module was removed in this version."),
    );
    check(&node, &id).await?;
    assert!(!waiting(&node, &id).await?.is_empty(), "the page says something new");
    node.close().await?;
    Ok(())
}
