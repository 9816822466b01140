//! The library and the site most of these tests share: tools for everything but calendars, and pages
//! about two that are for calendars.

use crate::Workplace;
use crate::agent::set_providers;
use crate::model::{ModelRequest, Reply, RequestKind};
use crate::site::{Page, Site};
use anyhow::Result;
use autokit_api::CardCreate;
use autokit_api::commands::CreateCard;
use autokit_app::node::Node;
use serde_json::{Value, json};

/// The question of FUEL's appendix B.
pub const QUESTION: &str = "I want a tool that can integrate with my google calendar";
/// A question in the words of the pages and of no card, not even "from": to the stand-in every word counts.
pub const NEED: &str = "create calendar events python";
/// Where the JavaScript tool is documented.
pub const SCRIPT_PAGE: &str = "/docs/js/tools/google_calendar";
/// Where the Python tool is documented.
pub const PYTHON_PAGE: &str = "/docs/python/tools/google_calendar";
/// What the Python tool is imported by.
pub const IMPORT: &str = "from langchain_google_community import CalendarToolkit";

/// A card.
pub fn card(name: &str, description: &str, module: &str, class: &str) -> Value {
    json!({
        "name": name, "provider": "", "description": description, "programming_language": "python",
        "module": module, "class": class, "init_args": {}, "openapi": null, "pricing": "Free",
        "documentation": null, "verified": true,
    })
}

/// Cards as in appendix B: news, web search, other things; no calendar.
pub fn cards() -> Vec<Value> {
    vec![
        card("NewsAPI", "Finds news articles and headlines by topic.", "news_kit", "NewsTool"),
        card("Google Search", "Searches the web with Google.", "search_kit", "GoogleSearchRun"),
        card("SearchApi", "A general search API for web results.", "search_kit.api", "SearchApiRun"),
        card("Paint Box", "Paints pictures from a description.", "paint_box", "PaintTool"),
    ]
}

/// Adds cards.
pub async fn stock(node: &Node, cards: &[Value]) -> Result<()> {
    for card in cards {
        let fields = card.as_object().cloned().unwrap_or_default();
        node.call::<CreateCard>(CardCreate { fields, reason: String::new(), flagged_too: false }).await?;
    }
    Ok(())
}

/// Opens a library with these cards, which finds the tools for calendars on a site of its own.
///
/// # Errors
/// When the library or the site cannot be opened.
pub async fn node_and_site(place: &Workplace) -> Result<(Node, Site)> {
    let site = site().await?;
    let node = place.node(1024).await?;
    stock(&node, &cards()).await?;
    set_providers(&node, None, Some(&site)).await?;
    Ok((node, site))
}

/// Documentation of the JavaScript tool.
pub fn script_page() -> Page {
    Page::new("Google Calendar Tool")
        .paragraph("The Google Calendar Tool lets a JavaScript program view and create events in a Google calendar by words. It integrates with agents of LangChain.js.")
        .heading("Usage")
        .code("typescript", "import { GoogleCalendarCreateTool } from \"@langchain/community/tools/google_calendar\";\n\nconst tool = new GoogleCalendarCreateTool({ model });")
}

/// Documentation of the Python tool.
pub fn python_page() -> Page {
    Page::new("CalendarToolkit")
        .paragraph("The CalendarToolkit lets a Python program read, create and move events in a Google calendar. It integrates with your calendar through an account.")
        .heading("Usage")
        .code("python", &format!("{IMPORT}\n\ntoolkit = CalendarToolkit()\ntools = toolkit.get_tools()\nprint(tools)"))
}

/// The site: the two tools and pages about other things.
pub async fn site() -> Result<Site> {
    Site::serve([
        (SCRIPT_PAGE, script_page()),
        (PYTHON_PAGE, python_page()),
        (
            "/docs/python/tools/slack",
            Page::new("Slack Toolkit")
                .paragraph("The Slack Toolkit sends messages to channels of a team.")
                .code(
                    "python",
                    "from langchain_community.agent_toolkits import SlackToolkit\n\ntoolkit = SlackToolkit()",
                ),
        ),
        ("/blog/holidays", Page::new("Holidays").paragraph("Where our team went and what we ate there.")),
    ])
    .await
}

/// Why the person of appendix B turns the first tool down.
pub const REASON: &str = "I want it for python not js";
/// What the person wants the second for.
pub const USE_CASE: &str = "add a concert to my calendar when I book one";

/// Plays the model of appendix B. Its starter code has one line more than the page supports.
pub fn scripted_reply(request: &ModelRequest) -> Reply {
    let known = request.id_of("CalendarToolkit");
    match request.kind() {
        RequestKind::Claims | RequestKind::Description => Reply::status(400, "not asked here"),
        RequestKind::Scores => Reply::scores(request, "CalendarToolkit"),
        RequestKind::Answer => Reply::answer(
            known.as_deref(),
            "The CalendarToolkit lets a Python program read, create and move events in a Google calendar.",
            "It integrates with your calendar.",
            known.as_ref().map_or("", |_| "from langchain_google_community import CalendarToolkit"),
        ),
        RequestKind::Grade => {
            Reply::grade(request.prompt().contains("CalendarToolkit"), "it is for calendars")
        }
        RequestKind::Rewrite => {
            let words = ["google calendar tool", "create calendar events", "schedule meetings"];
            let new = words.iter().find(|words| !request.prompt().contains(**words));
            Reply::query(new.unwrap_or(&words[0]))
        }
        RequestKind::Starter => Reply::Json(json!({
            "language": "python",
            "code": format!("{IMPORT}\ntoolkit = CalendarToolkit()\nimport concert_magic\nprint(toolkit.get_tools())"),
        })),
        RequestKind::Web => web_step(request),
        RequestKind::Text => Reply::Text("Here.".into()),
    }
}

/// Searches, opens the page for the language that is wanted, hands it in.
fn web_step(request: &ModelRequest) -> Reply {
    let seen = request.observations();
    let page_name = if request.prompt().contains("python") { PYTHON_PAGE } else { SCRIPT_PAGE };
    let Some(found) = seen.first() else {
        return Reply::call("search", json!({ "query": "google calendar tool events" }));
    };
    let url = found.lines().find(|line| line.ends_with(page_name)).unwrap_or("nothing");
    match seen.get(1) {
        None => Reply::call("open", json!({ "url": url })),
        Some(page) => {
            let quote = page.lines().find(|line| line.contains("import ")).unwrap_or("nothing");
            Reply::call("finish", json!({ "pages": [{ "url": url, "quote": quote }] }))
        }
    }
}
