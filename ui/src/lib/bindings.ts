// Written by `cargo xtask bindings` from the list of commands in autokit-app. Do not edit.

/**
 * What the library says to a question.
 */
export type Answer = { 
/**
 * The question as asked.
 */
question: string, 
/**
 * How sure the answer is.
 */
verdict: Verdict, 
/**
 * Candidates, best first; the first is the recommendation unless the verdict is `nothing`.
 */
candidates: Array<Candidate>, 
/**
 * What ran and what did not, in words for the person.
 */
notes: Array<string>, 
/**
 * Cards searched.
 */
searched: number, 
/**
 * Time taken, in milliseconds.
 */
took_ms: number, };

/**
 * An error a person can act on.
 */
export type ApiError = { 
/**
 * What to branch on.
 */
code: ErrorCode, 
/**
 * What happened, as a sentence.
 */
message: string, 
/**
 * What to do about it.
 */
remedy: string, };

/**
 * A request in words.
 */
export type AskRequest = { 
/**
 * The question, e.g. "I want a tool that can integrate with my calendar".
 */
question: string, 
/**
 * How many candidates to return; 5 when not given.
 */
limit?: number, };

/**
 * A card with why it was chosen.
 */
export type Candidate = { 
/**
 * The card.
 */
card: CardSummary, 
/**
 * Score between 0 and 1.
 */
score: number, 
/**
 * What the score is made of.
 */
parts: ScoreParts, 
/**
 * One sentence on what the tool is.
 */
sentence: string, 
/**
 * Import-and-call lines, when the card holds enough for true ones.
 */
stub: Stub | null, };

/**
 * Cards touched by a change.
 */
export type CardChange = { 
/**
 * The change, to be undone; `null` when nothing differed.
 */
change: string | null, 
/**
 * Ids of the cards.
 */
cards: Array<string>, };

/**
 * Fields to be checked as a card.
 */
export type CardCheck = { 
/**
 * The fields.
 */
fields: { [key in string]: JsonValue }, };

/**
 * Adds a card.
 */
export type CardCreate = { 
/**
 * The fields.
 */
fields: { [key in string]: JsonValue }, 
/**
 * Why, in the person's words.
 */
reason: string, };

/**
 * Everything about one card.
 */
export type CardDetail = { 
/**
 * The row.
 */
summary: CardSummary, 
/**
 * Every field as stored.
 */
fields: { [key in string]: JsonValue }, 
/**
 * What a person should look at.
 */
warnings: Array<Problem>, 
/**
 * Import-and-call lines.
 */
stub: Stub | null, 
/**
 * When it was added, RFC 3339.
 */
created_at: string, };

/**
 * A window into a list.
 */
export type CardList = { 
/**
 * Which cards.
 */
query: CardsQuery, 
/**
 * Rows to skip.
 */
offset: number, 
/**
 * Rows to return; at most 1,000 in one answer.
 */
limit: number, };

/**
 * Names a card, by id or by its exact name when only one card has it.
 */
export type CardRef = { 
/**
 * Id or name.
 */
card: string, };

/**
 * Brings a revision back.
 */
export type CardRestore = { 
/**
 * Id or name.
 */
card: string, 
/**
 * Number of the revision.
 */
number: number, };

/**
 * A row of a list.
 */
export type CardSummary = { 
/**
 * Id.
 */
id: string, 
/**
 * Tool name.
 */
name: string, 
/**
 * Provider, or an empty string.
 */
provider: string, 
/**
 * What sort of tool.
 */
kind: Kind, 
/**
 * Programming language, if any.
 */
language: string | null, 
/**
 * Start of the description.
 */
description: string, 
/**
 * Documentation address as written on the card.
 */
documentation: string | null, 
/**
 * Whether FUEL has proved the card against its page.
 */
verified: boolean, 
/**
 * Labels.
 */
tags: Array<string>, 
/**
 * Newest revision.
 */
number: number, 
/**
 * When it last changed, RFC 3339.
 */
updated_at: string, };

/**
 * Replaces the fields of a card.
 */
export type CardUpdate = { 
/**
 * Id or name.
 */
card: string, 
/**
 * Revision the edit was made on; `null` overwrites whatever is there.
 */
expected: number | null, 
/**
 * All fields after the edit.
 */
fields: { [key in string]: JsonValue }, 
/**
 * Why, in the person's words.
 */
reason: string, };

/**
 * Removes cards in one undoable change.
 */
export type CardsDelete = { 
/**
 * Ids or names.
 */
cards: Array<string>, 
/**
 * Why, in the person's words.
 */
reason: string, };

/**
 * Rows of a list.
 */
export type CardsPage = { 
/**
 * Cards that match in all.
 */
total: number, 
/**
 * Rows skipped before these.
 */
offset: number, 
/**
 * The rows.
 */
rows: Array<CardSummary>, };

/**
 * Which cards to list. Every filter given has to match.
 */
export type CardsQuery = { 
/**
 * Text that name, provider or description contains, whatever the case.
 */
text: string | null, 
/**
 * Kind.
 */
kind: Kind | null, 
/**
 * Programming language.
 */
language: string | null, 
/**
 * Provider.
 */
provider: string | null, 
/**
 * Label.
 */
tag: string | null, 
/**
 * Verified or not.
 */
verified: boolean | null, 
/**
 * With or without a documentation address.
 */
documented: boolean | null, 
/**
 * Order.
 */
sort: Sort, 
/**
 * Turn the order round.
 */
descending: boolean, };

/**
 * How a field changed.
 */
export type ChangeKind = "added" | "removed" | "changed";

/**
 * One thing looked at.
 */
export type Check = { 
/**
 * What was looked at.
 */
name: string, 
/**
 * How it came out.
 */
state: CheckState, 
/**
 * What was seen.
 */
detail: string, 
/**
 * What to do, when not good.
 */
remedy: string | null, };

/**
 * How one check came out.
 */
export type CheckState = "good" | "warning" | "bad";

/**
 * The state of the installation.
 */
export type Doctor = { 
/**
 * What was looked at, in order.
 */
checks: Array<Check>, };

/**
 * What the window and the terminal branch on.
 */
export type ErrorCode = "bad_request" | "not_found" | "conflict" | "duplicate" | "invalid" | "unreadable_file" | "read_only" | "disk_full" | "newer_schema" | "damaged" | "owner_unreachable" | "version_mismatch" | "unauthorized" | "no_model" | "bad_model" | "no_keychain" | "cancelled" | "internal";

/**
 * News a host passes on.
 */
export type Event = { "event": "job", 
/**
 * Its state now.
 */
job: Job, } | { "event": "library", 
/**
 * Position in the journal.
 */
cursor: number, } | { "event": "model", 
/**
 * Its state now.
 */
state: ModelState, } | { "event": "owner", 
/**
 * What this process is now.
 */
role: Role, };

/**
 * What happens to cards the library has already.
 */
export type ExistingCards = "replace" | "keep";

/**
 * What was exported.
 */
export type ExportOutcome = { 
/**
 * Cards written.
 */
cards: number, 
/**
 * The file, if one was written.
 */
path: string | null, 
/**
 * The text, if not.
 */
text: string | null, };

/**
 * Writes cards as AutoKit JSON.
 */
export type ExportRequest = { 
/**
 * Which cards.
 */
query: CardsQuery, 
/**
 * Only these ids, when given.
 */
cards: Array<string> | null, 
/**
 * The file to write; the text is returned when not given.
 */
path: string | null, };

/**
 * A value of a filter with how many cards have it.
 */
export type Facet = { 
/**
 * The value.
 */
value: string, 
/**
 * Cards.
 */
count: number, };

/**
 * What can be filtered by, most frequent first.
 */
export type Facets = { 
/**
 * Kinds.
 */
kinds: Array<Facet>, 
/**
 * Languages.
 */
languages: Array<Facet>, 
/**
 * Providers.
 */
providers: Array<Facet>, 
/**
 * Labels.
 */
tags: Array<Facet>, 
/**
 * Cards verified.
 */
verified: number, 
/**
 * Cards with a documentation address.
 */
documented: number, 
/**
 * All cards.
 */
total: number, };

/**
 * Part of a card that a word was found in.
 */
export type Field = "provider" | "name" | "description" | "parameters" | "keywords";

/**
 * One changed field.
 */
export type FieldDiff = { 
/**
 * Field name.
 */
field: string, 
/**
 * How it changed.
 */
kind: ChangeKind, 
/**
 * Value before; missing when added.
 */
before: JsonValue | null, 
/**
 * Value after; missing when removed.
 */
after: JsonValue | null, 
/**
 * Word-level spans when both sides are text (missing counts as empty).
 */
spans: Array<Span>, 
/**
 * Changes inside when both sides are objects or lists.
 */
inside: Array<JsonChange>, };

/**
 * One card of a source.
 */
export type ImportItem = { 
/**
 * Position in the source, from 1.
 */
position: number, 
/**
 * Name, as far as it has one.
 */
name: string, 
/**
 * Provider, or an empty string.
 */
provider: string, 
/**
 * What would happen.
 */
status: ItemStatus, 
/**
 * Why it cannot be taken, or what to look at.
 */
problems: Array<Problem>, 
/**
 * What would change.
 */
diff: Array<FieldDiff>, };

/**
 * What an import would do.
 */
export type ImportPreview = { 
/**
 * Cards the library does not have.
 */
new: number, 
/**
 * Cards that differ.
 */
changed: number, 
/**
 * Cards that are the same.
 */
identical: number, 
/**
 * Cards that cannot be taken.
 */
invalid: number, 
/**
 * Items of the status asked for, in all.
 */
total: number, 
/**
 * The items asked for.
 */
items: Array<ImportItem>, };

/**
 * Asks what an import would do.
 */
export type ImportPreviewRequest = { 
/**
 * The source.
 */
source: ImportSource, 
/**
 * Only items of this status.
 */
status: ItemStatus | null, 
/**
 * Items to skip.
 */
offset: number, 
/**
 * Items to return; at most 1,000 in one answer.
 */
limit: number, };

/**
 * Imports cards in one undoable change.
 */
export type ImportRequest = { 
/**
 * The source.
 */
source: ImportSource, 
/**
 * What to do with cards the library has.
 */
existing: ExistingCards, 
/**
 * Why, in the person's words.
 */
reason: string, };

/**
 * Where cards come from.
 */
export type ImportSource = { "path": string } | { "text": string };

/**
 * What an import would do to one card.
 */
export type ItemStatus = "new" | "changed" | "identical" | "invalid";

/**
 * A job.
 */
export type Job = { 
/**
 * Id.
 */
id: string, 
/**
 * What it does.
 */
kind: JobKind, 
/**
 * In words.
 */
title: string, 
/**
 * Where it stands.
 */
state: JobState, 
/**
 * Grows with every change of this job.
 */
version: number, 
/**
 * Units done.
 */
done: number, 
/**
 * Units in all; 0 while unknown.
 */
total: number, 
/**
 * What a unit is: `cards`, `bytes`.
 */
unit: string, 
/**
 * Milliseconds left at the present pace, once there is one.
 */
eta_ms: number | null, 
/**
 * Milliseconds since it began (until it ended).
 */
elapsed_ms: number, 
/**
 * What it did, when it is over.
 */
summary: string | null, 
/**
 * Counts, when it changed cards.
 */
tally: JobTally | null, 
/**
 * Why it failed.
 */
error: ApiError | null, };

/**
 * What a job does.
 */
export type JobKind = "import" | "starter" | "embed" | "download";

/**
 * Names a job.
 */
export type JobRef = { 
/**
 * Id.
 */
job: string, };

/**
 * Where a job stands.
 */
export type JobState = "running" | "done" | "failed" | "cancelled";

/**
 * What a finished job did to the library.
 */
export type JobTally = { 
/**
 * Cards added.
 */
added: number, 
/**
 * Cards changed.
 */
changed: number, 
/**
 * Cards that were as in the file.
 */
unchanged: number, 
/**
 * Cards refused.
 */
rejected: number, 
/**
 * The change to undo, if there was one.
 */
change: string | null, };

/**
 * Waits for news of a job.
 */
export type JobWait = { 
/**
 * Id.
 */
job: string, 
/**
 * Answer once the job's version is above this, or after ten seconds.
 */
after: number, };

/**
 * A change inside a JSON value.
 */
export type JsonChange = { 
/**
 * JSON Pointer (RFC 6901) to the place.
 */
path: string, 
/**
 * How it changed.
 */
kind: ChangeKind, 
/**
 * Value before, if any.
 */
before: JsonValue | null, 
/**
 * Value after, if any.
 */
after: JsonValue | null, };

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * What sort of tool a card describes.
 */
export type Kind = "class" | "rest_operation" | "mcp_tool" | "cli" | "other";

/**
 * A word of the request found in a card.
 */
export type MatchedTerm = { 
/**
 * The word as typed.
 */
word: string, 
/**
 * Where it was found.
 */
field: Field, 
/**
 * The index term it was found as, for [`highlights`](crate::highlights).
 */
term: string, };

/**
 * Which ranking to use.
 */
export type Mode = "keyword" | "vector" | "hybrid";

/**
 * Picks a model.
 */
export type ModelChoice = { 
/**
 * Its name in the manifest.
 */
name: string, 
/**
 * A folder that holds its files, to be used instead of downloading.
 */
folder: string | null, };

/**
 * A model with its part in this library.
 */
export type ModelEntry = { 
/**
 * The model.
 */
model: ModelInfo, 
/**
 * Whether this library uses it.
 */
current: boolean, };

/**
 * A model as shown to people.
 */
export type ModelInfo = { 
/**
 * Name, as in commands.
 */
name: string, 
/**
 * One line about it.
 */
title: string, 
/**
 * All its files are in the store.
 */
installed: boolean, 
/**
 * It is the one in use.
 */
current: boolean, 
/**
 * Length of its vectors.
 */
dim: number, 
/**
 * Size of its files; 0 when not known.
 */
size_bytes: number, 
/**
 * SPDX identifier of the weights' licence.
 */
licence: string, 
/**
 * Page that describes it.
 */
source: string, 
/**
 * It is never downloaded: it loads only from a folder the user names.
 */
folder_only: boolean, };

/**
 * Whether meaning can be searched.
 */
export type ModelState = "missing" | "loading" | "ready" | "failed";

/**
 * The models on offer.
 */
export type Models = { 
/**
 * In the manifest's order.
 */
models: Array<ModelEntry>, 
/**
 * The folder of downloaded models.
 */
store: string, };

/**
 * How a query names a card.
 */
export type NameMatch = "typo" | "near" | "exact";

/**
 * For commands that take or give nothing.
 */
export type Nothing = Record<symbol, never>;

/**
 * What a revision did.
 */
export type Operation = "create" | "edit" | "delete" | "restore" | "import" | "undo" | "accept";

/**
 * One thing wrong with one field.
 */
export type Problem = { 
/**
 * Field name; empty when the whole card is meant.
 */
field: string, 
/**
 * What is wrong, as the end of a sentence that starts with the field's name.
 */
reason: string, 
/**
 * Whether the card is refused for it.
 */
severity: Severity, };

/**
 * An entry of a card's history.
 */
export type RevisionView = { 
/**
 * Number, from 1.
 */
number: number, 
/**
 * What was done.
 */
operation: Operation, 
/**
 * By whom.
 */
author: string, 
/**
 * Why.
 */
reason: string, 
/**
 * When, RFC 3339.
 */
at: string, 
/**
 * The fields after it; `null` when it deleted the card.
 */
fields: { [key in string]: JsonValue } | null, 
/**
 * What differs from the revision before.
 */
diff: Array<FieldDiff>, };

/**
 * Whether this process has the store or talks to the one that has.
 */
export type Role = "owner" | "client";

/**
 * Why a card was found. `keyword + vector + name` is the score, to within rounding.
 */
export type ScoreParts = { 
/**
 * What keywords contribute to the score.
 */
keyword: number, 
/**
 * What the vector contributes to the score; negative when the card is less like the request
 * than the average card.
 */
vector: number, 
/**
 * What a match of the name contributes to the score.
 */
name: number, 
/**
 * How the request names the card, if it does.
 */
name_match?: NameMatch, 
/**
 * Cosine of the whole request with the card; absent when one of them has no vector.
 */
cosine?: number, 
/**
 * The piece of the card's page that is closest to the request, counted from 0; absent when the
 * card has no page in the index.
 */
chunk?: number, 
/**
 * BM25F score of the whole request.
 */
bm25: number, 
/**
 * Share of the information in the request's words that the card has, 0 to 1.
 */
coverage: number, 
/**
 * The clause of a long request that the card answers best.
 */
clause?: string, 
/**
 * Words of the request found in the card, and where.
 */
matched_terms: Array<MatchedTerm>, };

/**
 * One result.
 */
export type SearchHit = { 
/**
 * Card id.
 */
id: string, 
/**
 * Tool name.
 */
name: string, 
/**
 * Provider, or an empty string.
 */
provider: string, 
/**
 * Score between 0 and 1.
 */
score: number, 
/**
 * What the score is made of.
 */
parts: ScoreParts, 
/**
 * Start of the description.
 */
description: string, };

/**
 * A plain search.
 */
export type SearchRequest = { 
/**
 * Words to search for.
 */
query: string, 
/**
 * Which ranking; hybrid when not given.
 */
mode?: Mode, 
/**
 * How many results; 10 when not given.
 */
limit?: number, };

/**
 * Ranked results.
 */
export type SearchResponse = { 
/**
 * The query as given.
 */
query: string, 
/**
 * The ranking that ran: keyword when no embedding model is there.
 */
mode: Mode, 
/**
 * Results, best first.
 */
results: Array<SearchHit>, 
/**
 * Time taken, in milliseconds.
 */
took_ms: number, };

/**
 * Whether a problem keeps the card out.
 */
export type Severity = "error" | "warning";

/**
 * Order of a list.
 */
export type Sort = "name" | "provider" | "kind" | "updated";

/**
 * A run of words with its side. The `Equal` and `Delete` spans joined are the text before, the
 * `Equal` and `Insert` spans joined the text after.
 */
export type Span = { 
/**
 * The side.
 */
op: SpanOp, 
/**
 * The words, white space included.
 */
text: string, };

/**
 * Which side a piece of text belongs to.
 */
export type SpanOp = "equal" | "delete" | "insert";

/**
 * What the shell shows.
 */
export type Status = { 
/**
 * Version of AutoKit.
 */
version: string, 
/**
 * The data directory.
 */
data_dir: string, 
/**
 * Process id of the store's owner.
 */
owner_pid: number, 
/**
 * Cards in the library.
 */
cards: number, 
/**
 * Cards that can be found by meaning.
 */
embedded: number, 
/**
 * The model in use.
 */
model: string, 
/**
 * Whether it works.
 */
model_state: ModelState, 
/**
 * Why it does not.
 */
model_error: string | null, 
/**
 * Whether the library was created by this start, so that the first-run tour fits.
 */
first_run: boolean, 
/**
 * What `undo` would take back.
 */
undoable: string | null, 
/**
 * Position in the journal; changes with every change to a card.
 */
cursor: number, 
/**
 * Folder of the backup made because this start moved the schema forward.
 */
migrated_from: string | null, };

/**
 * Code to copy.
 */
export type Stub = { 
/**
 * Language for highlighting: `python`, `typescript`, `shell`, `json` …
 */
language: string, 
/**
 * The lines.
 */
code: string, };

/**
 * What an undo did.
 */
export type UndoOutcome = { 
/**
 * What was undone, in words.
 */
reason: string, 
/**
 * Cards put back.
 */
cards: Array<string>, 
/**
 * Cards left alone because they changed again afterwards.
 */
kept: Array<string>, };

/**
 * How sure the answer is.
 */
export type Verdict = "answered" | "unsure" | "nothing";

/** Every command by name, with what it takes and gives. */
export interface Commands {
  /** What the shell shows. */
  status: { request: Nothing; response: Status };
  /** The best tools for a request in words, with why. */
  ask: { request: AskRequest; response: Answer };
  /** Ranked cards with the parts of their scores. */
  search: { request: SearchRequest; response: SearchResponse };
  /** A window into the list of cards. */
  cards_list: { request: CardList; response: CardsPage };
  /** What can be filtered by. */
  cards_facets: { request: CardsQuery; response: Facets };
  /** Everything about one card. */
  card_get: { request: CardRef; response: CardDetail };
  /** What is wrong with fields as a card, before they are saved. */
  card_check: { request: CardCheck; response: Array<Problem> };
  /** Adds a card. */
  card_create: { request: CardCreate; response: CardDetail };
  /** Replaces the fields of a card. */
  card_update: { request: CardUpdate; response: CardDetail };
  /** Removes cards in one undoable change. */
  cards_delete: { request: CardsDelete; response: CardChange };
  /** The revisions of a card, newest first, each with what it changed. */
  card_history: { request: CardRef; response: Array<RevisionView> };
  /** Brings a revision back; also revives a deleted card. */
  card_restore: { request: CardRestore; response: CardDetail };
  /** Takes the newest change back. */
  undo: { request: Nothing; response: UndoOutcome };
  /** What an import would do. */
  import_preview: { request: ImportPreviewRequest; response: ImportPreview };
  /** Imports cards in the background, as one undoable change. */
  import_start: { request: ImportRequest; response: JobRef };
  /** Loads the cards AutoKit comes with. */
  starter_load: { request: Nothing; response: JobRef };
  /** Writes cards as AutoKit JSON. */
  export: { request: ExportRequest; response: ExportOutcome };
  /** Jobs at work and lately finished, newest first. */
  jobs_list: { request: Nothing; response: Array<Job> };
  /** Waits for news of a job. */
  job_wait: { request: JobWait; response: Job };
  /** Stops a job. */
  job_cancel: { request: JobRef; response: Job };
  /** The embedding models on offer. */
  models_list: { request: Nothing; response: Models };
  /** Fetches a model's files in the background. */
  model_pull: { request: ModelChoice; response: JobRef };
  /** Switches to a model: vectors are made in the background, the old ones serve until then. */
  model_use: { request: ModelChoice; response: JobRef };
  /** Looks the installation over. */
  doctor: { request: Nothing; response: Doctor };
}
