//! The library and the site most of these tests share: tools for everything but calendars, and pages
//! about two that are for calendars.

use anyhow::Result;
use autokit_app::api::CardCreate;
use autokit_app::commands::CreateCard;
use autokit_app::node::Node;
use autokit_tests::site::{Page, Site};
use serde_json::{Value, json};

/// The question of FUEL's appendix B.
pub(crate) const QUESTION: &str = "I want a tool that can integrate with my google calendar";
/// A question in the words of the pages and of no card, not even "from": to the stand-in every word counts.
pub(crate) const NEED: &str = "create calendar events python";
/// Where the JavaScript tool is documented.
pub(crate) const SCRIPT_PAGE: &str = "/docs/js/tools/google_calendar";
/// Where the Python tool is documented.
pub(crate) const PYTHON_PAGE: &str = "/docs/python/tools/google_calendar";
/// What the Python tool is imported by.
pub(crate) const IMPORT: &str = "from langchain_google_community import CalendarToolkit";

/// A card.
pub(crate) fn card(name: &str, description: &str, module: &str, class: &str) -> Value {
    json!({
        "name": name, "provider": "", "description": description, "programming_language": "python",
        "module": module, "class": class, "init_args": {}, "openapi": null, "pricing": "Free",
        "documentation": null, "verified": true,
    })
}

/// Cards as in appendix B: news, web search, other things; no calendar.
pub(crate) fn cards() -> Vec<Value> {
    vec![
        card("NewsAPI", "Finds news articles and headlines by topic.", "news_kit", "NewsTool"),
        card("Google Search", "Searches the web with Google.", "search_kit", "GoogleSearchRun"),
        card("SearchApi", "A general search API for web results.", "search_kit.api", "SearchApiRun"),
        card("Paint Box", "Paints pictures from a description.", "paint_box", "PaintTool"),
    ]
}

/// Adds cards.
pub(crate) async fn stock(node: &Node, cards: &[Value]) -> Result<()> {
    for card in cards {
        let fields = card.as_object().cloned().unwrap_or_default();
        node.call::<CreateCard>(CardCreate { fields, reason: String::new() }).await?;
    }
    Ok(())
}

/// Documentation of the JavaScript tool.
pub(crate) fn script_page() -> Page {
    Page::new("Google Calendar Tool")
        .says("The Google Calendar Tool lets a JavaScript program view and create events in a Google calendar by words. It integrates with agents of LangChain.js.")
        .heading("Usage")
        .shows("typescript", "import { GoogleCalendarCreateTool } from \"@langchain/community/tools/google_calendar\";\n\nconst tool = new GoogleCalendarCreateTool({ model });")
}

/// Documentation of the Python tool.
pub(crate) fn python_page() -> Page {
    Page::new("CalendarToolkit")
        .says("The CalendarToolkit lets a Python program read, create and move events in a Google calendar. It integrates with your calendar through an account.")
        .heading("Usage")
        .shows("python", &format!("{IMPORT}\n\ntoolkit = CalendarToolkit()\ntools = toolkit.get_tools()\nprint(tools)"))
}

/// The site: the two tools and pages about other things.
pub(crate) async fn site() -> Result<Site> {
    Site::serving([
        (SCRIPT_PAGE, script_page()),
        (PYTHON_PAGE, python_page()),
        (
            "/docs/python/tools/slack",
            Page::new("Slack Toolkit").says("The Slack Toolkit sends messages to channels of a team.").shows(
                "python",
                "from langchain_community.agent_toolkits import SlackToolkit\n\ntoolkit = SlackToolkit()",
            ),
        ),
        ("/blog/holidays", Page::new("Holidays").says("Where our team went and what we ate there.")),
    ])
    .await
}
