//! The example of the paper's appendix A: a terse, outdated card of a search tool, and its page.

use anyhow::Result;
use serde_json::{Value, json};

use crate::site::{Page, Site};

/// Where the page is.
const PATH: &str = "/docs/integrations/tools/ddg";

/// What the page shows: two classes, and the arguments their output takes.
fn page() -> Page {
    Page::new("DuckDuckGo Search")
        .paragraph("This guide shows how the DuckDuckGo search component is used.")
        .paragraph("DuckDuckGo Search offers privacy-focused web search without an account. It provides titles, snippets and links of results.")
        .heading("Usage")
        .code("python", "%pip install -qU duckduckgo-search langchain-community")
        .code("python", "from langchain_community.tools import DuckDuckGoSearchRun\n\nsearch = DuckDuckGoSearchRun()\nsearch.invoke(\"first name\")")
        .paragraph("DuckDuckGoSearchResults returns more about each result, such as its source.")
        .code("python", "from langchain_community.tools import DuckDuckGoSearchResults\n\nsearch = DuckDuckGoSearchResults(output_format=\"list\")")
        .code("python", "search = DuckDuckGoSearchResults(backend=\"news\")")
}

/// The site with the page.
///
/// # Errors
/// When there is no free port.
pub async fn site() -> Result<Site> {
    Site::serve([(PATH, page())]).await
}

/// The card as the paper has it before.
pub fn card(site: &Site) -> Value {
    json!({
        "name": "DuckDuckGo Search",
        "description": "Privacy-focused search via DuckDuckGo API",
        "programming_language": "python",
        "module": "langchain.tools.duckduckgo",
        "class": "DuckDuckGoSearch",
        "init_args": {},
        "openapi": null,
        "pricing": "Free",
        "documentation": site.url(PATH),
    })
}
