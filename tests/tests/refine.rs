//! Documentation refined by trial calls, end to end: consent, permissions, proposals with calls as evidence, and runs
//! that are resumed.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{
    CancelJob, GetCard, GetProposal, GetRefineState, ListProposals, SetProfile, SetProviders, StartRefine,
};
use autokit_api::{
    CardRef, JobId, JobRef, JobState, Nothing, Profile, ProposalDetail, ProposalGet, ProposalsQuery,
    RefineRequest, RefineScope, RefineStart,
};
use autokit_app::node::Node;
use autokit_app::{ErrorCode, Permission};
use autokit_tests::Workplace;
use autokit_tests::agent::{job_end, provider_settings};
use autokit_tests::model::{Reply, ScriptedModel};
use autokit_tests::tools::node_with_api;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// A web API whose document leaves out most of what matters.
#[derive(Clone)]
struct Shop {
    /// Every request, as method and query.
    requests: Arc<Mutex<Vec<String>>>,
    /// Whether requests are held before they are answered.
    held: Arc<watch::Sender<bool>>,
    /// Number of requests.
    arrived: Arc<watch::Sender<usize>>,
}

impl Default for Shop {
    fn default() -> Shop {
        Shop {
            requests: Arc::default(),
            held: Arc::new(watch::Sender::new(false)),
            arrived: Arc::new(watch::Sender::new(0)),
        }
    }
}

impl Shop {
    async fn serve(&self) -> Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let at = listener.local_addr()?;
        let app = Router::new()
            .route("/items", get(items).post(add_item))
            .route("/hours", get(hours))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(at)
    }

    async fn note(&self, request: String) {
        self.requests.lock().unwrap().push(request);
        self.arrived.send_modify(|count| *count += 1);
        // The sender lives in `self`.
        self.held.subscribe().wait_for(|held| !held).await.map(|_| ()).ok();
    }

    fn count(&self, of: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|request| request.starts_with(of)).count()
    }
}

fn refused(message: &str) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"error": {"message": message}}))).into_response()
}

async fn items(State(shop): State<Shop>, Query(query): Query<BTreeMap<String, String>>) -> Response {
    shop.note(format!("GET /items {query:?}")).await;
    if !query.get("region").is_some_and(|region| ["north", "south"].contains(&region.as_str())) {
        return refused("the parameter region is required: north or south");
    }
    let limit = query.get("limit").map_or(Ok(10), |limit| limit.parse::<usize>());
    match limit {
        Ok(limit) if (1..=20).contains(&limit) => {
            let items: Vec<Value> =
                (0..limit).map(|n| json!({"id": n, "label": format!("thing {n}")})).collect();
            Json(json!({"items": items})).into_response()
        }
        _ => refused("limit must be between 1 and 20"),
    }
}

async fn hours(State(shop): State<Shop>) -> Response {
    shop.note("GET /hours".to_owned()).await;
    Json(json!({"open": "08:00", "close": "18:00"})).into_response()
}

async fn add_item(State(shop): State<Shop>, Json(body): Json<Value>) -> Response {
    shop.note(format!("POST /items {body}")).await;
    match body.get("label").and_then(Value::as_str) {
        Some(label) if !label.is_empty() && label.len() <= 30 => {
            (StatusCode::CREATED, Json(json!({"id": 7}))).into_response()
        }
        _ => refused("label must have 1 to 30 characters"),
    }
}

fn document(at: SocketAddr) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": format!("http://{at}")}],
        "paths": {
            "/items": {
                "get": {
                    "operationId": "listItems",
                    "summary": "Lists the things that are for sale.",
                    "parameters": [
                        {"name": "region", "in": "query", "schema": {"type": "string", "enum": ["north", "south"]}},
                        {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1}}
                    ],
                    "responses": {"200": {"description": "Things", "content": {"application/json": {"schema": {
                        "type": "object",
                        "properties": {"items": {"type": "array", "items": {
                            "type": "object",
                            "properties": {"id": {"type": "integer"}, "item_label": {"type": "string"}}
                        }}}
                    }}}}}
                },
                "post": {
                    "operationId": "addItem",
                    "summary": "Offers a thing for sale.",
                    "requestBody": {"required": true, "content": {"application/json": {"schema": {
                        "type": "object",
                        "required": ["label"],
                        "properties": {"label": {"type": "string"}}
                    }}}},
                    "responses": {"201": {"description": "Offered"}}
                }
            },
            "/hours": {"get": {
                "operationId": "openingHours",
                "summary": "Tells when the shop is open.",
                "responses": {"200": {"description": "Hours", "content": {"application/json": {"schema": {
                    "type": "object",
                    "properties": {"open": {"type": "string"}, "close": {"type": "string"}}
                }}}}}
            }}
        }
    })
}

/// The process that owns the library, with the shop's operations as cards.
async fn owner(place: &Workplace, at: SocketAddr) -> Result<Node> {
    node_with_api(place, &document(at).to_string(), vec![at.to_string()]).await
}

fn request(scope: RefineScope) -> RefineRequest {
    RefineRequest {
        scope,
        profile: String::new(),
        allow_changes: false,
        calls: None,
        budget: None,
        granted: Vec::new(),
        dry_run: false,
    }
}

fn named(tools: &[&str]) -> RefineScope {
    RefineScope::Tools { tools: tools.iter().map(ToString::to_string).collect() }
}

/// Starts a run and grants what it needs.
async fn start(node: &Node, mut request: RefineRequest) -> Result<JobId> {
    loop {
        match node.call::<StartRefine>(request.clone()).await? {
            RefineStart::Started { job, .. } => return Ok(job),
            RefineStart::Asks { needs, words } => {
                ensure!(request.granted.is_empty() && !words.is_empty(), "asked twice: {words:?}");
                request.granted = needs;
            }
            RefineStart::Planned { .. } => anyhow::bail!("nothing was to be planned"),
        }
    }
}

async fn proposals(node: &Node) -> Result<Vec<ProposalDetail>> {
    let rows = node.call::<ListProposals>(ProposalsQuery::default()).await?.rows;
    let mut all = Vec::new();
    for row in rows {
        all.push(node.call::<GetProposal>(ProposalGet::from(row.id)).await?);
    }
    Ok(all)
}

fn proposed<'a>(detail: &'a ProposalDetail, field: &str) -> Result<&'a autokit_toolcard::ProposedField> {
    detail.proposal.draft.fields.iter().find(|one| one.field == field).context("the field is proposed")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_calls_show_becomes_a_proposal_with_the_calls_as_evidence() -> Result<()> {
    let (place, shop) = (Workplace::with_stand_in()?, Shop::default());
    let at = shop.serve().await?;
    let node = owner(&place, at).await?;
    let job = start(&node, request(named(&["listItems"]))).await?;
    let job = job_end(&node, &job).await?;
    ensure!(job.state == JobState::Done, "{job:?}");
    ensure!(job.summary.as_deref() == Some("1 proposal in Review"), "{job:?}");
    let all = proposals(&node).await?;
    let detail = all.first().context("a proposal")?;

    let parameters = proposed(detail, "parameters")?;
    let schema = parameters.value.as_ref().context("a schema")?;
    ensure!(schema["required"] == json!(["region"]), "{schema}");
    ensure!(schema["properties"]["limit"]["maximum"] == json!(20), "{schema}");
    let description = proposed(detail, "description")?;
    let text = description.value.as_ref().and_then(Value::as_str).unwrap_or_default();
    ensure!(text.contains("`items[].label` instead of `items[].item_label`"), "{text}");
    ensure!(text.contains("`error.message`"), "{text}");
    for evidence in parameters.evidence.iter().chain(&description.evidence) {
        ensure!(evidence.url == format!("http://{at}/items"), "{evidence:?}");
        ensure!(!evidence.chain.is_empty() && evidence.quote.contains(" → "), "{evidence:?}");
    }
    let statuses: Vec<u16> =
        parameters.evidence.iter().flat_map(|one| one.chain.iter().map(|visit| visit.status)).collect();
    ensure!(statuses.contains(&422) && statuses.contains(&200), "{statuses:?}");

    // The same calls show the same again, which is one proposal and no second one.
    let job = start(&node, request(named(&["listItems"]))).await?;
    job_end(&node, &job).await?;
    ensure!(proposals(&node).await?.len() == 1);
    // Documentation that is right stays as it is.
    let job = start(&node, request(named(&["openingHours"]))).await?;
    let job = job_end(&node, &job).await?;
    ensure!(proposals(&node).await?.len() == 1, "{:?}", proposals(&node).await?.last());
    ensure!(job.summary.as_deref() == Some("Nothing to change"), "{job:?}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_rewrites_the_description_from_real_calls() -> Result<()> {
    let (place, shop) = (Workplace::with_stand_in()?, Shop::default());
    let at = shop.serve().await?;
    let node = owner(&place, at).await?;
    let model = ScriptedModel::with_script(|request| match request.schema_name().unwrap_or_default() {
        "refine_explore" if request.prompt().contains("\"region\":\"south\"") => Reply::Json(
            json!({"query": "Two things in the north", "arguments": {"region": "north", "limit": 2}}),
        ),
        "refine_explore" => {
            Reply::Json(json!({"query": "What is sold in the south?", "arguments": {"region": "south"}}))
        }
        "refine_analyze" => Reply::Json(
            json!({"suggestion": "Say that the result is a list of things.", "shows_something_new": true}),
        ),
        "refine_rewrite" => Reply::Json(json!({
            "description": "Lists what is for sale in a region, up to 20 things at a time.",
            "direction": "Try another region."
        })),
        other => Reply::status(500, other),
    })
    .await?;
    let mut settings = provider_settings(Some(&model), None);
    settings.network.allowed_hosts.push(at.to_string());
    node.call::<SetProviders>(settings).await?;
    let job = start(&node, request(named(&["listItems"]))).await?;
    ensure!(job_end(&node, &job).await?.state == JobState::Done);
    let all = proposals(&node).await?;
    let detail = all.first().context("a proposal")?;
    let description = proposed(detail, "description")?;
    let text = description.value.as_ref().and_then(Value::as_str).unwrap_or_default();
    ensure!(text.starts_with("Lists what is for sale in a region"), "{text}");
    ensure!(
        description.evidence.iter().any(|one| one.quote.contains("\"region\":\"south\"")),
        "{description:?}"
    );
    // What the rules found of the parameters stays theirs.
    let parameters = proposed(detail, "parameters")?.value.clone().context("a schema")?;
    ensure!(parameters["required"] == json!(["region"]), "{parameters}");
    // The rules do not ask for two things.
    ensure!(shop.count("GET /items {\"limit\": \"2\", \"region\": \"north\"}") == 1, "{:?}", shop.requests);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_budget_no_model_is_asked() -> Result<()> {
    let (place, shop) = (Workplace::with_stand_in()?, Shop::default());
    let at = shop.serve().await?;
    let node = owner(&place, at).await?;
    let model =
        ScriptedModel::with_script(|request| Reply::status(500, request.schema_name().unwrap_or_default()))
            .await?;
    let mut settings = provider_settings(Some(&model), None);
    settings.network.allowed_hosts.push(at.to_string());
    node.call::<SetProviders>(settings).await?;
    let job = start(&node, RefineRequest { budget: Some(0.0), ..request(named(&["listItems"])) }).await?;
    ensure!(job_end(&node, &job).await?.state == JobState::Done);
    ensure!(model.requests().is_empty(), "{:?}", model.kinds());
    // What the rules found is proposed all the same.
    ensure!(proposals(&node).await?.len() == 1);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_called_without_consent() -> Result<()> {
    let (place, shop) = (Workplace::with_stand_in()?, Shop::default());
    let at = shop.serve().await?;
    let node = owner(&place, at).await?;

    let dry = RefineRequest { dry_run: true, ..request(RefineScope::All) };
    let RefineStart::Planned { tools } = node.call::<StartRefine>(dry).await? else {
        anyhow::bail!("a dry run plans");
    };
    ensure!(tools.len() == 3, "{tools:?}");
    let post = tools.iter().find(|plan| plan.title.contains("addItem")).context("a plan")?;
    ensure!(post.may_change && post.skipped.is_some() && post.calls.is_empty(), "{post:?}");
    let list = tools.iter().find(|plan| plan.title.contains("listItems")).context("a plan")?;
    ensure!(list.calls.len() > 3 && list.place == format!("GET http://{at}/items"), "{list:?}");

    // What may change something is called by nobody who was not asked.
    let error = node.call::<StartRefine>(request(named(&["addItem"]))).await.err().context("refused")?;
    ensure!(error.code == ErrorCode::Refused, "{error:?}");
    // Where the rules ask, approval is asked for before the first call.
    let mut profile = Profile::default();
    profile.permissions.tools.otherwise = Some(Permission::Ask);
    node.call::<SetProfile>(profile).await?;
    let asked = node.call::<StartRefine>(request(RefineScope::All)).await?;
    ensure!(matches!(&asked, RefineStart::Asks { words, .. } if !words.is_empty()), "{asked:?}");
    // The rules hold.
    let mut profile = Profile::default();
    profile.permissions.tools.otherwise = Some(Permission::Deny);
    node.call::<SetProfile>(profile).await?;
    let error = node.call::<StartRefine>(request(named(&["listItems"]))).await.err().context("refused")?;
    ensure!(error.code == ErrorCode::Refused, "{error:?}");
    ensure!(shop.count("") == 0, "{:?}", shop.requests);

    let mut profile = Profile::default();
    profile.permissions.tools.otherwise = Some(Permission::Ask);
    node.call::<SetProfile>(profile).await?;
    let job = start(&node, RefineRequest { allow_changes: true, ..request(named(&["addItem"])) }).await?;
    job_end(&node, &job).await?;
    ensure!(shop.count("POST") > 3 && shop.count("GET") == 0, "{:?}", shop.requests);
    let all = proposals(&node).await?;
    let schema =
        proposed(all.first().context("a proposal")?, "parameters")?.value.clone().context("a schema")?;
    let label = &schema["properties"]["body"]["properties"]["label"];
    ensure!(label["maxLength"] == json!(30), "{schema}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_goes_on_where_it_was() -> Result<()> {
    let (place, shop) = (Workplace::with_stand_in()?, Shop::default());
    let at = shop.serve().await?;
    let node = owner(&place, at).await?;
    let job = start(&node, request(named(&["openingHours"]))).await?;
    job_end(&node, &job).await?;
    let calls_of_hours = shop.count("GET /hours");

    shop.held.send_replace(true);
    let before = shop.count("");
    let job = start(&node, request(named(&["listItems"]))).await?;
    shop.arrived.subscribe().wait_for(|count| *count > before).await?;
    node.call::<CancelJob>(JobRef { job: job.clone() }).await?;
    ensure!(job_end(&node, &job).await?.state == JobState::Cancelled);
    let state = node.call::<GetRefineState>(Nothing {}).await?;
    ensure!((state.left, state.total) == (1, 1), "{state:?}");
    ensure!(proposals(&node).await?.is_empty());

    shop.held.send_replace(false);
    let job = start(&node, request(RefineScope::Resume)).await?;
    ensure!(job_end(&node, &job).await?.state == JobState::Done);
    let state = node.call::<GetRefineState>(Nothing {}).await?;
    ensure!(state.left == 0 && proposals(&node).await?.len() == 1, "{state:?}");
    ensure!(shop.count("GET /hours") == calls_of_hours, "what was done is not done again");
    let error = node.call::<StartRefine>(request(RefineScope::Resume)).await.err().context("refused")?;
    ensure!(error.code == ErrorCode::NotFound, "{error:?}");
    // The card itself changes only in Review.
    let card = node.call::<GetCard>(CardRef { card: "listItems".to_owned() }).await?;
    ensure!(card.summary.description == "Lists the things that are for sale.", "{:?}", card.summary);
    node.close().await?;
    Ok(())
}
