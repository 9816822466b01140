// Written by `cargo xtask bindings` from the list of commands in autokit-api. Do not edit.

/** Version of the protocol of the loopback host. */
export const PROTOCOL = 8;

/** How the sessions of agents are kept where nobody said otherwise. */
export const SESSION_DEFAULTS: AgentSessions = {
  "session": {
    "results": 5,
    "threshold": 0.2,
    "capacity": 12,
    "ttl_secs": 1800,
    "always": [],
    "context_tokens": 128000,
    "reserved_tokens": 112000,
    "reply_tokens": 800,
    "listed_tokens": 600,
    "sessions": 1000,
    "session_secs": 86400,
    "guard": {
      "repeats": 3,
      "window_secs": 60,
      "window_repeats": 3,
      "window_calls": 10,
      "remembered": 50,
      "failures": 6,
      "exempt": [
        "search_tools",
        "get_time",
        "docs_search",
        "report_outcome"
      ]
    },
    "recent_searches": 5,
    "search_secs": 600,
    "overlap": 0.7
  },
  "budgets": {}
};

/**
 * What accepting the safe ones among some proposals would do.
 */
export type AcceptPreview = { 
/**
 * Those that would be accepted, in the order asked for.
 */
safe: Array<SafeProposal>, 
/**
 * Those that would be left to wait.
 */
left: Array<UnsafeProposal>, 
/**
 * Names what was looked at: handed back when accepting, so that nothing unseen is.
 */
seen: string, };

/**
 * What agents did on one day.
 */
export type ActivityDay = { 
/**
 * The day in UTC, e.g. `2026-03-09`.
 */
day: string, 
/**
 * Searches.
 */
searches: number, 
/**
 * Calls.
 */
calls: number, 
/**
 * Of these, those that gave an error.
 */
failed_calls: number, 
/**
 * Loops that were broken.
 */
loops: number, 
/**
 * How long searches took.
 */
search: Latency, 
/**
 * Tools called among tools found; none where nothing was found.
 */
accuracy: number | null, };

/**
 * How far back what agents did is counted.
 */
export type ActivityQuery = { 
/**
 * Days.
 */
days: number, };

/**
 * What agents did.
 */
export type ActivityReport = { 
/**
 * Days that are counted.
 */
days: number, 
/**
 * Sessions that began.
 */
sessions: number, 
/**
 * Of each program, whatever its version, how many.
 */
clients: { [key in string]: number }, 
/**
 * Searches.
 */
searches: number, 
/**
 * Of these, those that found nothing.
 */
empty_searches: number, 
/**
 * Of these, those that found what an earlier one had found.
 */
repeated_searches: number, 
/**
 * How long they took.
 */
search: Latency, 
/**
 * How long they took by tier.
 */
tiers: Array<TierLatency>, 
/**
 * Tools that were bound.
 */
bound: number, 
/**
 * Tools that were let go because they were idle, in the way or too expensive.
 */
evicted: number, 
/**
 * Loops that were broken.
 */
loops: number, 
/**
 * Calls.
 */
calls: number, 
/**
 * Of these, those that gave an error.
 */
failed_calls: number, 
/**
 * Day by day, oldest first; days on which nothing happened are there as well.
 */
days_list: Array<ActivityDay>, 
/**
 * The tools that were called most.
 */
tools: Array<ToolUse>, 
/**
 * Other tools that were called.
 */
other_tools: number, 
/**
 * Tools called among tools found, over all sessions (Kaman, equation 4); none where nothing was found.
 */
accuracy: number | null, 
/**
 * Tokens of the tools every session has.
 */
own_tokens: number, 
/**
 * Tokens of the search results of a session, in the median.
 */
search_tokens: number, 
/**
 * Tokens of all results of calls.
 */
result_tokens: number, 
/**
 * Tokens it would cost to give every session every tool that can be called.
 */
static_tokens: number, 
/**
 * Events of another version, which are not counted.
 */
unknown: number, };

/**
 * Proposes a tool found on the web as a card.
 */
export type AddFinding = { 
/**
 * The session that found it.
 */
session: string, 
/**
 * Its page.
 */
url: string, };

/**
 * An answer. Name, sentence, code and citations all come from the same card.
 */
export type AgentAnswer = { 
/**
 * How certain the answer is.
 */
verdict: Verdict, 
/**
 * Id of the recommended card.
 */
tool: string | null, 
/**
 * Its name.
 */
name: string | null, 
/**
 * One sentence that describes the tool.
 */
sentence: string, 
/**
 * Why it answers the question.
 */
why: string, 
/**
 * Import-and-call code.
 */
stub: Stub | null, 
/**
 * Code lines written by a model that no source supports; they are not part of the stub.
 */
removed: Array<string>, 
/**
 * Passages that support the answer.
 */
citations: Array<Citation>, 
/**
 * The candidates: the recommended one first, then by rank.
 */
candidates: Array<Ranked>, 
/**
 * Tools found on the web.
 */
findings: Array<Finding>, 
/**
 * What ran and what did not, as messages for the person.
 */
notes: Array<string>, };

/**
 * A program agents run in, and AutoKit in its settings.
 */
export type AgentClient = { 
/**
 * Names it in requests.
 */
id: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * The file of its MCP servers.
 */
file: string, 
/**
 * Whether the program seems to be used on this machine.
 */
here: boolean, 
/**
 * Whether AutoKit is among its servers, as it should be.
 */
connected: boolean, 
/**
 * The lines to paste by hand.
 */
lines: string, 
/**
 * What connecting would change in the file, with a few lines around it; the rest may hold what is
 * nobody's business. None if it cannot be changed without losing something.
 */
change: Array<ChangedLine> | null, 
/**
 * What disconnecting would change in the file; none where AutoKit is not among its servers.
 */
leave: Array<ChangedLine> | null, 
/**
 * Names the file as it is: what is written later has to start from the same.
 */
seen: string, 
/**
 * Why it cannot be changed.
 */
problem: string | null, };

/**
 * A question for the agent.
 */
export type AgentQuestion = { 
/**
 * The question or the need.
 */
question: string, 
/**
 * The session to go on with; a new one when not given.
 */
session?: string, 
/**
 * How many candidates come with an answer, 1 to 20; 5 when not given.
 */
limit?: number, };

/**
 * How the sessions of all agents are kept.
 */
export type AgentSessions = { 
/**
 * Parameters of all sessions.
 */
session: SessionSettings, 
/**
 * Tokens that tools may cost in a program, by a part of the name it gives itself; the parameters above
 * hold for others.
 */
budgets: { [key in string]: number }, };

/**
 * The address for agents that cannot start a program.
 */
export type AgentsHttp = { 
/**
 * Whether it is switched on.
 */
enabled: boolean, 
/**
 * Port on this machine; no other machine can reach it.
 */
port: number, 
/**
 * Whether this process answers there now.
 */
open: boolean, 
/**
 * The address. A program that names a profile by `?profile=NAME` or the header `x-autokit-profile` is
 * bound by that one as well as by the one its token belongs to.
 */
url: string, 
/**
 * The profile whose token is in `lines`; empty for everybody's.
 */
profile: string, 
/**
 * Lines for the settings of a program, with what it has to present; empty where it is switched off.
 */
lines: string, 
/**
 * Why nobody answers there although it is switched on.
 */
problem: string | null, };

/**
 * The address as programs of a profile use it, with a token that belongs to that profile.
 */
export type AgentsHttpRef = { 
/**
 * The profile; empty for everybody's.
 */
profile: string, };

/**
 * Switches the address for agents on or off.
 */
export type AgentsHttpSet = { 
/**
 * Whether it is on.
 */
enabled: boolean, 
/**
 * Its port; the one it had when not given.
 */
port: number | null, };

/**
 * What may be found: cards of these providers, and these cards. What is assigned may be found as well.
 */
export type Allowlist = { 
/**
 * Providers.
 */
providers: Array<string>, 
/**
 * Ids of cards.
 */
cards: Array<string>, };

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
 * What the person said about an answer.
 */
export type AnswerFeedback = { 
/**
 * Yes or no.
 */
helpful: boolean, 
/**
 * The use case after yes, the reason after no.
 */
text: string, 
/**
 * Starter code, after yes.
 */
starter: Starter | null, };

/**
 * An error that a person can act on.
 */
export type ApiError = { 
/**
 * The code to branch on.
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
 * A key for a web API, or the want of one.
 */
export type ApiKey = { 
/**
 * Where it is sent.
 */
origin: string, 
/**
 * What the API's description calls it.
 */
scheme: string, 
/**
 * Where in a request it is sent: `header X-Key`, or which tokens are fetched with it.
 */
place: string, 
/**
 * What it is: `key`, `basic`, `token`, `client`.
 */
sort: string, 
/**
 * Whether it is kept here.
 */
here: boolean, 
/**
 * Operations in the library that take it.
 */
operations: number, 
/**
 * For a client: where tokens are fetched; of one that is wanted, where its description says.
 */
token_url: string | null, };

/**
 * Names a key for a web API.
 */
export type ApiKeyRef = { 
/**
 * Where it is sent.
 */
origin: string, 
/**
 * What the API's description calls it.
 */
scheme: string, 
/**
 * Where in a request it is sent; all of that name if left out.
 */
place: string, };

/**
 * Keeps a key for a web API.
 */
export type ApiKeySet = { 
/**
 * Where it is sent and nowhere else: `https://api.example.org`.
 */
origin: string, 
/**
 * What the API's description calls it.
 */
scheme: string, 
/**
 * Where in a request it is sent and nowhere else, as [`ApiKey::place`]; may be left out where all
 * operations agree.
 */
place: string, 
/**
 * The key.
 */
secret: ApiSecret, };

/**
 * What lets a caller into a web API. Kept with the keys and never shown again.
 */
export type ApiSecret = { "sort": "key", 
/**
 * The key.
 */
key: string, } | { "sort": "basic", 
/**
 * The user.
 */
user: string, 
/**
 * The password.
 */
password: string, } | { "sort": "token", 
/**
 * The token.
 */
token: string, } | { "sort": "client", 
/**
 * Where tokens are fetched.
 */
token_url: string, 
/**
 * The client.
 */
id: string, 
/**
 * Its secret.
 */
secret: string, };

/**
 * A reviewer's approval while more approvals are needed.
 */
export type Approval = { 
/**
 * The reviewer.
 */
by: string, 
/**
 * When it was given, RFC 3339 in UTC.
 */
at: string, 
/**
 * The fields to accept, each with its value as JSON text; an empty text removes the field.
 */
values: { [key in string]: string }, };

/**
 * Answers a call that waits.
 */
export type ApprovalAnswer = { 
/**
 * Which.
 */
id: string, 
/**
 * The person's word.
 */
reply: ApprovalDecision, };

/**
 * What a person says to a call that waits.
 */
export type ApprovalDecision = "once" | "session" | "always" | "no" | "never";

/**
 * A call that waits for a person's word.
 */
export type ApprovalRequest = { 
/**
 * Names it in answers.
 */
id: string, 
/**
 * Since when, RFC 3339 in UTC.
 */
at: string, 
/**
 * When it is refused if nobody has answered, RFC 3339 in UTC.
 */
until: string, 
/**
 * The session of the agent.
 */
session: string, 
/**
 * The program the agent runs in, as it calls itself.
 */
client: string, 
/**
 * Profile of the agent; empty for everybody's.
 */
profile: string, 
/**
 * Id of the tool's card, or of a tool of AutoKit's own.
 */
tool: string, 
/**
 * What the tool is called.
 */
name: string, 
/**
 * Who offers it.
 */
provider: string, 
/**
 * What nobody has allowed yet.
 */
needs: Array<Need>, 
/**
 * Whether it can be allowed from now on: a rule for everybody may ask each time, whatever the profile
 * says.
 */
can_always: boolean, 
/**
 * The same in words: "to run code in python".
 */
words: Array<string>, 
/**
 * The arguments, all of them as they are.
 */
arguments: unknown, };

/**
 * The calls that wait for a person.
 */
export type ApprovalRequests = { 
/**
 * Grows with each change.
 */
version: number, 
/**
 * The one that waits longest first.
 */
asks: Array<ApprovalRequest>, };

/**
 * Waits for news of the calls that wait for a person. While anybody waits so, agents are told to be
 * patient; else what has to be asked is refused at once.
 */
export type ApprovalsWait = { 
/**
 * Version that is known; 0 for none.
 */
after: number, };

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
limit?: number, 
/**
 * How far the ranking goes; reranked when not given.
 */
depth?: Depth, };

/**
 * One call, as it was written down.
 */
export type AuditEntry = { 
/**
 * When it ended, RFC 3339 in UTC.
 */
at: string, 
/**
 * The session of the agent.
 */
session: string, 
/**
 * The program the agent runs in, as it calls itself.
 */
client: string, 
/**
 * Profile of the agent; empty for everybody's.
 */
profile: string, 
/**
 * Id of the tool's card, or name of one of AutoKit's own.
 */
tool: string, 
/**
 * What the tool is called.
 */
name: string, 
/**
 * Who offers it.
 */
provider: string, 
/**
 * The arguments without what is secret or long.
 */
arguments: unknown, 
/**
 * What it needed, in words.
 */
needed: Array<string>, 
/**
 * Who let it be done or did not.
 */
decided: DecidedBy, 
/**
 * What came of it.
 */
outcome: CallOutcome, 
/**
 * Why it was refused or failed.
 */
why: string, 
/**
 * Milliseconds, a person's answer included.
 */
took_ms: number, };

/**
 * The calls of some days.
 */
export type AuditLog = { 
/**
 * Newest first.
 */
entries: Array<AuditEntry>, 
/**
 * How many there are in all.
 */
total: number, };

/**
 * Which calls are shown.
 */
export type AuditQuery = { 
/**
 * Days back.
 */
days: number, 
/**
 * Entries at most, the newest.
 */
limit: number, };

/**
 * A backup that is there.
 */
export type Backup = { 
/**
 * Its name, by which it is verified and restored.
 */
name: string, 
/**
 * When it was made, RFC 3339 in UTC.
 */
created_at: string, 
/**
 * Cards in it.
 */
cards: number, 
/**
 * The newest change in it.
 */
commit: number, 
/**
 * Bytes on the disk.
 */
bytes: number, };

/**
 * Names a bundle on this machine.
 */
export type BundlePath = { 
/**
 * The file or folder.
 */
path: string, };

/**
 * What came of a call.
 */
export type CallOutcome = "done" | "failed" | "refused" | "cancelled";

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
reason: string, 
/**
 * Whether it is saved although texts in it are flagged, as hidden text or orders to a model.
 */
flagged_too: boolean, };

/**
 * Words that describe a tool.
 */
export type CardDescribe = { 
/**
 * A README, a page that was copied, a few sentences.
 */
text: string, };

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
 * Stable identifier of a card within a library, e.g. `google-calendar-toolkit-1f0c93d2a7be`. It does not
 * change when the card is renamed.
 */
export type CardId = string;

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
 * A card's page, if it was read.
 */
export type CardPage = { 
/**
 * The page.
 */
page: PageView | null, };

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
 * State of a card.
 */
export type CardState = "verified" | "stale" | "broken" | "unreachable";

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
 * What the newest check of the card against its page found; none when it was never checked.
 */
health: CardState | null, 
/**
 * When that was, RFC 3339 in UTC.
 */
checked_at: string | null, 
/**
 * It was changed since: what that check found is about another revision.
 */
changed: boolean, 
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
reason: string, 
/**
 * Whether it is saved although texts that the edit adds are flagged, as hidden text or orders to a model.
 */
flagged_too: boolean, };

/**
 * The newest check of a card, if there was one, and what waits for a person because of it.
 */
export type CardVerification = { 
/**
 * The check.
 */
checked: LatestCheck | null, 
/**
 * Number of the newest proposal for this card that waits in Review.
 */
proposal: number | null, 
/**
 * How many wait.
 */
waiting: number, };

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
 * What the newest check found.
 */
health: HealthFilter | null, 
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
 * A line of a file that is about to change.
 */
export type ChangedLine = { 
/**
 * What becomes of it.
 */
fate: LineChange, 
/**
 * The line without its end.
 */
text: string, };

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
 * When cards are checked without being asked to.
 */
export type CheckSettings = { 
/**
 * Cards are checked again after this many days; 0 for never.
 */
every_days: number, 
/**
 * Cards that were accepted, imported or added are checked soon after.
 */
new_cards: boolean, };

/**
 * How one check came out.
 */
export type CheckState = "good" | "warning" | "bad";

/**
 * A passage that supports a statement.
 */
export type Citation = { 
/**
 * Id of the card whose page is cited.
 */
card: string, 
/**
 * Headings above the passage.
 */
title: string, 
/**
 * The page's URL, with a fragment where there is an anchor.
 */
url: string, 
/**
 * Text of the passage.
 */
text: string, };

/**
 * The verdict on one field of a card.
 */
export type Claim = { 
/**
 * Name of the field.
 */
field: string, 
/**
 * What the page says about it.
 */
standing: ClaimVerdict, 
/**
 * The supporting sentence or line of code, verbatim from the page; empty if there is none.
 */
quote: string, 
/**
 * The value on the page, where it differs.
 */
value: JsonValue | null, 
/**
 * Confidence in the verdict, 0 to 1.
 */
confidence: number, 
/**
 * Whether the rules found nothing and a language model made the claim, backed by the page.
 */
by_model: boolean, };

/**
 * What the page says about a claim.
 */
export type ClaimVerdict = "supported" | "contradicted" | "not_found" | "unsaid";

/**
 * A program whose settings were changed.
 */
export type ClientConnected = { 
/**
 * The program, as it is now.
 */
client: AgentClient, 
/**
 * Copy of its file as it was before; none if there was none.
 */
backup: string | null, };

/**
 * Condition of a page.
 */
export type Condition = "content" | "not_found" | "parked" | "empty";

/**
 * Puts AutoKit among the servers of a program, or takes it out, as previewed.
 */
export type ConnectClient = { 
/**
 * The program.
 */
id: string, 
/**
 * Names the file as it was when it was looked at.
 */
seen: string, };

/**
 * Which connection to try.
 */
export type Connection = "llm" | "small_llm" | "search" | "github";

/**
 * Who let a call be made, or did not.
 */
export type DecidedBy = "rules" | "person" | "nobody";

/**
 * How many stages a ranking has.
 */
export type Depth = "fused" | "reranked";

/**
 * Result of a discovery.
 */
export type Discovered = { 
/**
 * Findings, best first; empty if nothing is suitable.
 */
findings: Array<Finding>, 
/**
 * The best of the findings that were not good enough, for a person who wants to see them.
 */
dismissed: Array<Finding>, 
/**
 * Number of pages read.
 */
read: number, };

/**
 * The state of the installation.
 */
export type Doctor = { 
/**
 * What was looked at, in order.
 */
checks: Array<Check>, 
/**
 * Acknowledged changes are missing from the store, or may be, and nobody has gone on without them yet.
 */
can_accept_losses: boolean, };

/**
 * How closely the installation is looked at.
 */
export type DoctorRequest = { 
/**
 * Compares everything in the library with its log of changes, which takes seconds where there are
 * many cards. Else what is known since the last time is told.
 */
verify?: boolean, };

/**
 * The content of a proposal.
 */
export type Draft = { 
/**
 * The card to change; `None` for a new card.
 */
card: CardId | null, 
/**
 * The revision of that card on which the change is based.
 */
base: number | null, 
/**
 * Origin of the proposal.
 */
origin: Origin, 
/**
 * The reason, in a sentence.
 */
reason: string, 
/**
 * The proposed fields, in reading order.
 */
fields: Array<ProposedField>, 
/**
 * Cards of the library that may be the same tool.
 */
similar: Array<CardId>, 
/**
 * SHA-256, in hexadecimal, of the text of the page or pages it is based on. Values that a reviewer
 * rejected are not proposed again while this stays the same.
 */
basis: string | null, 
/**
 * Pages that were considered but not chosen, best first.
 */
candidates: Array<PageCandidate>, 
/**
 * The imported card, if the proposal is part of an import.
 */
arrived: ImportOrigin | null, };

/**
 * Error code for the window and the terminal to branch on.
 */
export type ErrorCode = "bad_request" | "not_found" | "conflict" | "duplicate" | "invalid" | "flagged" | "unreadable_file" | "read_only" | "disk_full" | "newer_schema" | "damaged" | "owner_unreachable" | "version_mismatch" | "unauthorized" | "no_model" | "bad_model" | "no_keychain" | "no_search" | "wrong_key" | "wrong_address" | "wrong_model" | "no_connection" | "rate_limited" | "timeout" | "over_budget" | "refused" | "provider" | "cancelled" | "internal";

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
state: ModelState, } | { "event": "session", 
/**
 * Id.
 */
session: string, 
/**
 * Its version now.
 */
version: number, } | { "event": "proposals", 
/**
 * How many wait.
 */
waiting: number, } | { "event": "providers" } | { "event": "setting", 
/**
 * What.
 */
setting: Setting, } | { "event": "owner", 
/**
 * What this process is now.
 */
role: Role, };

/**
 * Evidence for a claim.
 */
export type Evidence = { 
/**
 * URL of the page, or of another source that can be opened.
 */
url: string, 
/**
 * The supporting words or line of code, verbatim.
 */
quote: string, 
/**
 * When the source was read, RFC 3339 in UTC.
 */
fetched_at: string, 
/**
 * Every request made to reach the page, including the last one; empty if no request was made.
 */
chain: Array<Visit>, };

/**
 * What happens to cards the library has already.
 */
export type ExistingCards = "merge" | "replace" | "keep";

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
text: string | null, 
/**
 * Names what a bundle says; empty for other formats.
 */
digest: string, 
/**
 * The key it was signed with; empty when it was not.
 */
fingerprint: string, };

/**
 * What would leave.
 */
export type ExportPreview = { 
/**
 * Cards.
 */
cards: number, 
/**
 * Earlier revisions.
 */
revisions: number, 
/**
 * Cards with vectors.
 */
vectors: number, 
/**
 * Bytes, about, before they are packed.
 */
bytes: bigint, 
/**
 * Names of the first cards.
 */
names: Array<string>, 
/**
 * What keeps cards from leaving.
 */
secrets: Array<SecretFound>, };

/**
 * Which cards leave, in what form.
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
 * Ids to leave out.
 */
without: Array<string>, 
/**
 * The file or folder to write; text is returned when not given.
 */
path: string | null, 
/**
 * The format.
 */
format: Format, 
/**
 * Of a bundle: with the history of cards.
 */
history: boolean, 
/**
 * Of a bundle: with the vectors of the present model.
 */
vectors: boolean, 
/**
 * Of a bundle: signed with this library's key, which is made if there is none.
 */
sign: boolean, 
/**
 * What it is called; as its file when empty.
 */
name: string, 
/**
 * The licence of cards that name none.
 */
licence: string | null, 
/**
 * What else there is to say.
 */
note: string, };

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
 * What the newest checks found.
 */
health: Array<Facet>, 
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
 * What a person says about the last answer of a session.
 */
export type FeedbackRequest = { 
/**
 * Id.
 */
session: string, 
/**
 * Yes or no.
 */
helpful: boolean, 
/**
 * The use case after yes, the reason after no.
 */
said: string, };

/**
 * The part of a card in which a word was found.
 */
export type Field = "provider" | "name" | "description" | "parameters" | "keywords" | "known";

/**
 * A field both libraries changed.
 */
export type FieldConflict = { 
/**
 * Its name.
 */
field: string, 
/**
 * What it was when both had the same, if such a state is known.
 */
base: JsonValue | null, 
/**
 * What this library has.
 */
ours: JsonValue | null, 
/**
 * What the source has.
 */
theirs: JsonValue | null, };

/**
 * A decision on one field. A field that was left out has none.
 */
export type FieldDecision = { 
/**
 * The field.
 */
field: string, 
/**
 * The verdict.
 */
verdict: FieldVerdict, 
/**
 * The reviewer's value, if it was edited.
 */
value: JsonValue | null, 
/**
 * Who decided.
 */
by: string, 
/**
 * When it was decided, RFC 3339 in UTC.
 */
at: string, };

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
 * Value before; absent if the field was added.
 */
before: JsonValue | null, 
/**
 * Value after; absent if the field was removed.
 */
after: JsonValue | null, 
/**
 * Word-level spans if both sides are text (a missing value counts as empty).
 */
spans: Array<Span>, 
/**
 * Changes inside the value if both sides are objects or both are lists.
 */
inside: Array<JsonChange>, };

/**
 * Which of two values of a field.
 */
export type FieldSide = "before" | "after";

/**
 * A reviewer's verdict on a field.
 */
export type FieldVerdict = "accepted" | "edited" | "rejected";

/**
 * A tool found on the web.
 */
export type Finding = { 
/**
 * Its documentation page, after redirects.
 */
url: string, 
/**
 * Its name on the page.
 */
name: string, 
/**
 * Its description on the page.
 */
description: string, 
/**
 * Confidence that this is a tool for the need, 0 to 1.
 */
score: number, 
/**
 * The page marks behind the score.
 */
marks: PageMarks, 
/**
 * The passage of the page that matches the need best.
 */
excerpt: string, 
/**
 * Ids of library cards that may be the same tool.
 */
similar: Array<string>, 
/**
 * The draft card, with evidence.
 */
draft: Draft, };

/**
 * A text of a proposal that hides something or gives orders to a model.
 */
export type FlaggedText = { 
/**
 * The field.
 */
field: string, 
/**
 * In which of its values.
 */
side: FieldSide, 
/**
 * JSON Pointer of the text inside the value; empty for the value itself.
 */
pointer: string, 
/**
 * Whether it is the name of the member there, instead of its value.
 */
in_name: boolean, 
/**
 * The parts of it that are not meant for whoever reads it, in order.
 */
marks: Array<InjectionMatch>, };

/**
 * The format of a source or of an export.
 */
export type Format = "bundle" | "folder" | "json" | "csv" | "mcp_servers" | "server_json" | "open_api" | "rapid_api" | "markdown" | "html";

/**
 * Parameters of the iteration guard (section 7.2).
 */
export type GuardSettings = { 
/**
 * The call that makes it this many of one tool with the same arguments within the time window lets
 * the tool go. Two may be a retry, three are none.
 */
repeats: number, 
/**
 * Length of the time window in seconds.
 */
window_secs: number, 
/**
 * The same within the latest calls, however long they take: catches two tools called in turn.
 */
window_repeats: number, 
/**
 * Calls in that sliding window.
 */
window_calls: number, 
/**
 * Calls that are remembered at most: with more than so many others in between, a call is no loop.
 */
remembered: number, 
/**
 * As `repeats`, for calls that failed on their way: to try again is right then, though not forever.
 */
failures: number, 
/**
 * Tools that may be called with the same arguments as often as one likes: they tell what changes.
 */
exempt: Array<string>, };

/**
 * What the newest check of a card found, to filter by.
 */
export type HealthFilter = "verified" | "stale" | "broken" | "unreachable" | "changed" | "never";

/**
 * How many cards were in which state at the end of a day.
 */
export type HealthPoint = { 
/**
 * `YYYY-MM-DD`, in UTC.
 */
day: string, 
/**
 * Their page says what they say.
 */
verified: number, 
/**
 * Their page says something else.
 */
stale: number, 
/**
 * Their link leads nowhere.
 */
broken: number, 
/**
 * Their page could not be asked for.
 */
unreachable: number, 
/**
 * Nobody looked yet.
 */
never_checked: number, };

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
 * The card of the library it would change.
 */
card: CardId | null, 
/**
 * Why it cannot be taken, or what to look at.
 */
problems: Array<Problem>, 
/**
 * What would change, disputed fields included.
 */
diff: Array<FieldDiff>, 
/**
 * Fields both changed.
 */
conflicts: Array<FieldConflict>, 
/**
 * Cards of the library that may be the same tool: id and name.
 */
similar: Array<[string, string]>, 
/**
 * Who changed it last where it comes from, and when, where that is told.
 */
by: string, 
/**
 * When, RFC 3339 in UTC; empty where it is not told.
 */
at: string, 
/**
 * Its licence, where one is named.
 */
licence: string | null, 
/**
 * The library's card is newer than this one.
 */
behind: boolean, 
/**
 * A text that is new with it hides something or gives orders to a model: it waits in Review, wherever the
 * rest goes.
 */
suspect: boolean, };

/**
 * What is kept of an import.
 */
export type ImportNote = { 
/**
 * Where it came from: a file, a folder, an address.
 */
source: string, 
/**
 * What it calls itself.
 */
name: string, 
/**
 * Who made it.
 */
author: string, 
/**
 * Names what it said.
 */
digest: string, 
/**
 * What people compare of the key it was signed with; empty when nobody signed.
 */
fingerprint: string, 
/**
 * When it was imported, RFC 3339 in UTC.
 */
at: string, 
/**
 * By whom.
 */
by: string, 
/**
 * Cards written or proposed.
 */
cards: number, };

/**
 * A card of another library that a proposal imports.
 */
export type ImportOrigin = { 
/**
 * Id of the import.
 */
import: string, 
/**
 * The card's id in the other library.
 */
card: CardId, 
/**
 * Its revision there. Once the proposal is decided, this revision and its ancestors count as merged.
 */
revision: RevisionId, 
/**
 * Fields that both libraries changed, or that differ without a common ancestor; only a person can tell
 * which value is right.
 */
conflicts: Array<string>, };

/**
 * What an import would do.
 */
export type ImportPreview = { 
/**
 * What the source is.
 */
about: SourceInfo, 
/**
 * Cards the library does not have.
 */
new: number, 
/**
 * Cards with something new.
 */
changed: number, 
/**
 * Cards both changed in the same field.
 */
conflicting: number, 
/**
 * Cards that are probably there under another name.
 */
similar: number, 
/**
 * Cards with nothing new.
 */
identical: number, 
/**
 * Cards that cannot be taken.
 */
invalid: number, 
/**
 * Cards that bring a suspect text.
 */
suspect: number, 
/**
 * Of those, the ones the library does not have.
 */
suspect_new: number, 
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
 * Names an import.
 */
export type ImportRef = { 
/**
 * The change by which it is undone.
 */
import: string, };

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
 * Where the cards go.
 */
landing: Landing, 
/**
 * The digest of the source that was looked at; another one is refused.
 */
digest: string | null, 
/**
 * What was chosen for single cards; the others are taken.
 */
choices: Array<ItemChoice>, 
/**
 * Why, in the person's words.
 */
reason: string, };

/**
 * Where cards come from.
 */
export type ImportSource = { "path": string } | { "text": string } | { "url": string };

/**
 * An import that was made.
 */
export type ImportView = { 
/**
 * The change by which it is undone.
 */
import: string, 
/**
 * Whether it was.
 */
undone: boolean, 
/**
 * What there is to know about it.
 */
note: ImportNote, };

/**
 * Kind of problem with a part of a text.
 */
export type InjectionKind = "invisible" | "hidden" | "instruction" | "encoded" | "stuffed" | "code";

/**
 * A flagged part of a text.
 */
export type InjectionMatch = { 
/**
 * Start offset in UTF-16 code units, as the window counts them.
 */
start: number, 
/**
 * End offset, likewise.
 */
end: number, 
/**
 * Kind of problem.
 */
sort: InjectionKind, 
/**
 * Explanation in a short sentence.
 */
why: string, };

/**
 * What a person chose for one card of a source.
 */
export type ItemChoice = { 
/**
 * Its position in the source.
 */
position: number, 
/**
 * Whether it is taken at all.
 */
take: boolean, 
/**
 * The fields to take; all that are not in conflict when not given. A field in conflict that is named
 * here is decided: the source's value is taken.
 */
fields: Array<string> | null, 
/**
 * Fields in conflict that are decided in Review, where others are chosen.
 */
later: Array<string>, 
/**
 * The card of the library it is, under another name.
 */
same_as: string | null, };

/**
 * What an import would do to one card.
 */
export type ItemStatus = "new" | "changed" | "conflicting" | "identical" | "similar" | "invalid";

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
 * What it waits for, or what it goes on with, in a sentence.
 */
note: string | null, 
/**
 * It is at work and waits until the person lets it go on; none for a job that cannot wait.
 */
paused: boolean | null, 
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
export type JobKind = "import" | "starter" | "embed" | "download" | "pages" | "review" | "verify" | "call";

/**
 * Lets a job wait or go on.
 */
export type JobPause = { 
/**
 * Id.
 */
job: string, 
/**
 * It is to wait.
 */
paused: boolean, };

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
 * Proposals left to decide in Review.
 */
proposed: number, 
/**
 * Of the cards added, those that may be there already under another name.
 */
similar: number, 
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
 * JSON Pointer (RFC 6901) to the changed value.
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
 * Judgement whether a page is about a tool.
 */
export type Judgement = { 
/**
 * Whether it is.
 */
about: boolean, 
/**
 * Condition of the page.
 */
condition: Condition, 
/**
 * The reason for people, in one sentence.
 */
why: string, 
/**
 * A quote from the page that shows it.
 */
quote: string, 
/**
 * Probability that the page documents this tool, 0 to 1.
 */
score: number, 
/**
 * The page marks behind the score.
 */
marks: PageMarks, };

/**
 * A key, by what it is for.
 */
export type KeyName = "anthropic" | "openai" | "tavily" | "brave" | "github";

/**
 * Names a key.
 */
export type KeyRef = { 
/**
 * In base64.
 */
key: string, };

/**
 * Whether a key is kept. The key itself is never told.
 */
export type KeyState = { 
/**
 * What it is for.
 */
name: KeyName, 
/**
 * There is one.
 */
set: boolean, };

/**
 * Where keys are kept.
 */
export type KeyStorage = "keychain" | "file" | "memory";

/**
 * Says whether a key counts.
 */
export type KeyTrust = { 
/**
 * In base64.
 */
key: string, 
/**
 * Whether it does.
 */
trusted: boolean, 
/**
 * Whose it is, for a key that was not seen before.
 */
signer: string, };

/**
 * Kind of tool that a card describes.
 */
export type Kind = "class" | "rest_operation" | "mcp_tool" | "cli" | "other";

/**
 * Somebody's key.
 */
export type KnownKeyView = { 
/**
 * In base64.
 */
key: string, 
/**
 * What people compare of it.
 */
fingerprint: string, 
/**
 * What its owner called themselves when it was first seen.
 */
signer: string, 
/**
 * When that was, RFC 3339 in UTC.
 */
first_seen: string, 
/**
 * Whether a person said that it counts.
 */
trusted: boolean, 
/**
 * Authors of the bundles it signed.
 */
authors: Array<string>, };

/**
 * Where imported cards go.
 */
export type Landing = "review" | "library";

/**
 * How long something took.
 */
export type Latency = { 
/**
 * Median, in milliseconds.
 */
p50_ms: number, 
/**
 * 95th percentile, in milliseconds.
 */
p95_ms: number, };

/**
 * The newest check of a card.
 */
export type LatestCheck = { 
/**
 * How the card stands.
 */
state: CardState, 
/**
 * When it was checked, RFC 3339 in UTC.
 */
checked_at: string, 
/**
 * When it is checked again, if its page could not be had.
 */
next_at: string | null, 
/**
 * The card was changed since: what was found is about an earlier revision.
 */
changed: boolean, 
/**
 * What was found, field by field.
 */
report: Report, };

/**
 * How many cards are in which state, now and over time.
 */
export type LibraryHealth = { 
/**
 * All cards.
 */
total: number, 
/**
 * Their page says what they say.
 */
verified: number, 
/**
 * Their page says something else.
 */
stale: number, 
/**
 * Their link leads nowhere.
 */
broken: number, 
/**
 * Their page could not be asked for.
 */
unreachable: number, 
/**
 * Changed since somebody looked.
 */
changed: number, 
/**
 * Nobody looked yet.
 */
never_checked: number, 
/**
 * The days that were recorded, oldest first.
 */
trend: Array<HealthPoint>, };

/**
 * What becomes of a line.
 */
export type LineChange = "stays" | "comes" | "goes";

/**
 * State of a link, with details of the response.
 */
export type LinkHealth = { 
/**
 * The URL on the card.
 */
url: string | null, 
/**
 * The link's state.
 */
state: LinkState, 
/**
 * An explanation for people, in one sentence.
 */
said: string, 
/**
 * What a person can do about it, if anything.
 */
remedy: string | null, 
/**
 * HTTP status of the last response.
 */
status: number | null, 
/**
 * The URL after redirects.
 */
found: string | null, 
/**
 * Every request made, with redirects: URL and status.
 */
hops: Array<{ url: string, status: number }>, 
/**
 * Whether every request used HTTPS with a valid certificate.
 */
encrypted: boolean, 
/**
 * Media type of the response.
 */
content_type: string | null, 
/**
 * Milliseconds until the last byte was received.
 */
ms: number | null, };

/**
 * State of a link.
 */
export type LinkState = "delivered" | "missing" | "no_page" | "circle" | "not_a_page" | "bad_address" | "insecure" | "closed" | "failing";

/**
 * How a language model is spoken to.
 */
export type LlmKind = "none" | "anthropic" | "openai";

/**
 * The language model.
 */
export type LlmSettings = { 
/**
 * How it is spoken to.
 */
kind: LlmKind, 
/**
 * Its address; empty for the service's own.
 */
base: string, 
/**
 * Writes answers and looks on the web.
 */
large: string, 
/**
 * Grades, reranks and rewrites; empty for the same model.
 */
small: string, 
/**
 * It takes tools as such.
 */
tools: boolean, 
/**
 * US dollars for a million tokens read by the large model; the list price if not given.
 */
price_in: number | null, 
/**
 * US dollars for a million tokens written by the large model; the list price if not given.
 */
price_out: number | null, 
/**
 * US dollars after which nothing is asked any more until the limit is raised or the count begun anew.
 */
cap: number | null, };

/**
 * What the sources have.
 */
export type MarketFound = { 
/**
 * Best first.
 */
offers: Array<MarketOffer>, 
/**
 * Sources that did not answer, entries that cannot be used.
 */
notes: Array<string>, };

/**
 * Something a server has to be given.
 */
export type MarketInput = { 
/**
 * Name of the variable or header; goes into the server's secrets.
 */
name: string, 
/**
 * What it is, in the words of who published it.
 */
description: string | null, 
/**
 * Whether nothing works without it.
 */
required: boolean, 
/**
 * Whether it is a key or a password.
 */
secret: boolean, };

/**
 * What installing would do. Nothing is done yet: a person looks at it and confirms.
 */
export type MarketInstall = { "kind": "server", 
/**
 * The request, filled in as far as it is known.
 */
add: ServerAdd, 
/**
 * The program that is started, if one is.
 */
runner: string | null, 
/**
 * Whether that program was found on this machine.
 */
runner_here: boolean, 
/**
 * What it has to be given.
 */
inputs: Array<MarketInput>, 
/**
 * What the person should know first.
 */
notes: Array<string>, } | { "kind": "card", 
/**
 * The request.
 */
import: ImportRequest, 
/**
 * What the person should know first.
 */
notes: Array<string>, };

/**
 * What a source is.
 */
export type MarketKind = "registry" | "bundle";

/**
 * A tool, or a server of tools, that can be installed.
 */
export type MarketOffer = { 
/**
 * The source it is from.
 */
source: string, 
/**
 * Names it there.
 */
id: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * Who offers it.
 */
provider: string, 
/**
 * What it does.
 */
description: string, 
/**
 * Its newest version.
 */
version: string | null, 
/**
 * A page about it.
 */
page: string | null, 
/**
 * What it is for, in a word.
 */
category: string | null, 
/**
 * What it costs.
 */
price: string | null, 
/**
 * What others think of it, as its source counts.
 */
rating: number | null, 
/**
 * Names of its tools, where they are known.
 */
functions: Array<string>, 
/**
 * Whether its source advises against it.
 */
deprecated: boolean, 
/**
 * Whether it is here already.
 */
installed: boolean, 
/**
 * Why its texts are not to be trusted, if they hide something or give orders to a model.
 */
suspect: string | null, 
/**
 * How well it fits, 0 to 1.
 */
score: number, };

/**
 * Looks for tools in all sources.
 */
export type MarketQuery = { 
/**
 * What the tool should do, or a part of its name.
 */
query: string, 
/**
 * Results at most; 20 when not given.
 */
limit?: number, };

/**
 * Names something that can be installed.
 */
export type MarketRef = { 
/**
 * The source.
 */
source: string, 
/**
 * What names it there.
 */
id: string, };

/**
 * Where tools are looked for that are not here yet.
 */
export type MarketSource = { 
/**
 * Names it in requests.
 */
id: string, 
/**
 * What it is.
 */
kind: MarketKind, 
/**
 * Its address.
 */
url: string, };

/**
 * Adds a source.
 */
export type MarketSourceAdd = { 
/**
 * What it is; told from the address when not given: a name with the ending of a bundle is one.
 */
kind?: MarketKind, 
/**
 * Its address.
 */
url: string, };

/**
 * Names a source.
 */
export type MarketSourceRef = { 
/**
 * Its id.
 */
id: string, };

/**
 * A word of the request found in a card.
 */
export type MatchedTerm = { 
/**
 * The word as typed.
 */
word: string, 
/**
 * The field in which it was found.
 */
field: Field, 
/**
 * The index term it matched.
 */
term: string, 
/**
 * The concept it stands for, if the card uses another name for it: "speech to text" for "dictate".
 */
meaning?: string, };

/**
 * Ranking mode.
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
 * Name, as used in commands.
 */
name: string, 
/**
 * A one-line description.
 */
title: string, 
/**
 * Whether all its files are in the store.
 */
installed: boolean, 
/**
 * Whether it is the model in use.
 */
current: boolean, 
/**
 * Length of its vectors.
 */
dim: number, 
/**
 * Size of its files in bytes; 0 if unknown.
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
 * Whether it is never downloaded, and can only be loaded from a folder the user names.
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
 * Something a call needs.
 */
export type Need = { "scope": "tool", 
/**
 * Id of its card, or of a tool of AutoKit's own.
 */
id: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * Who offers it.
 */
provider: string, } | { "scope": "host", 
/**
 * Its name, with the port where that is not the scheme's own.
 */
host: string, } | { "scope": "files", 
/**
 * The folder they are below, in full.
 */
folder: string, } | { "scope": "secret", 
/**
 * The origin (`https://api.example.org`) or MCP server (`mcp:name`) it was given for.
 */
of: string, } | { "scope": "code", 
/**
 * The language.
 */
language: string, };

/**
 * What may be reached.
 */
export type NetworkSettings = { 
/**
 * Hosts on this machine or a private network whose pages may be read.
 */
allowed_hosts: Array<string>, 
/**
 * A proxy for pages and searches.
 */
proxy: string | null, };

/**
 * For commands that take or give nothing.
 */
export type Nothing = Record<symbol, never>;

/**
 * The operation that made a revision.
 */
export type Operation = "create" | "edit" | "delete" | "restore" | "import" | "undo" | "accept";

/**
 * Origin of a proposal.
 */
export type Origin = "discovery" | "description" | "repair" | "refresh" | "improvement" | "import";

/**
 * Outcome of a step.
 */
export type Outcome = "found" | "nothing" | "written" | "grounded" | "ungrounded" | "answers" | "misses" | "rewritten" | "exhausted" | "delivered" | "helpful" | "unhelpful" | "wanted" | "proposed";

/**
 * A page that was considered but not chosen.
 */
export type PageCandidate = { 
/**
 * Its URL.
 */
url: string, 
/**
 * Its title.
 */
title: string, 
/**
 * How well it matches, 0 to 1.
 */
score: number, 
/**
 * The reason for the score, in a sentence.
 */
why: string, };

/**
 * A feature that speaks for a page or against it. From 0 to 1 unless stated otherwise; yes-or-no features
 * are 1 or 0.
 */
export type PageMark = "pair" | "class" | "code" | "prose" | "like" | "main" | "focus" | "title" | "exact" | "address" | "sort" | "meaning" | "wording" | "bare" | "rank" | "bm25" | "found" | "tool_address" | "tool_code" | "tool_words" | "named" | "the_named" | "another" | "known";

/**
 * The marks of a page. A mark that is not set counts as 0.
 */
export type PageMarks = { [key in PageMark]?: number };

/**
 * A piece of a page.
 */
export type PagePiece = { 
/**
 * Headings above it, from the title down.
 */
path: Array<string>, 
/**
 * The page with the place in it.
 */
url: string, 
/**
 * The text; code between fences.
 */
text: string, };

/**
 * Result of searching for another page.
 */
export type PageSearchOutcome = { "kind": "found", 
/**
 * The page.
 */
page: ScoredPage, } | { "kind": "gone" } | { "kind": "unsure" } | { "kind": "nothing_found" } | { "kind": "no_search" } | { "kind": "search_failed", 
/**
 * The error of one service.
 */
why: string, };

/**
 * A card's page as last read.
 */
export type PageView = { 
/**
 * Where it was found.
 */
url: string, 
/**
 * Its title.
 */
title: string, 
/**
 * When it was last asked for.
 */
fetched_at: string, 
/**
 * Why the last attempt failed.
 */
failed: string | null, 
/**
 * Its pieces, in reading order.
 */
pieces: Array<PagePiece>, };

/**
 * Which pages to read.
 */
export type PagesFetch = { 
/**
 * Ids or names of cards; all when empty.
 */
cards: Array<string>, 
/**
 * Also those read lately.
 */
again: boolean, };

/**
 * What a person says to something. The order is that of strictness.
 */
export type Permission = "allow" | "ask" | "deny";

/**
 * What agents may do: by the rules for everybody, or by those that a profile adds.
 */
export type Permissions = { 
/**
 * Which tools they may call. By default all: a person took each into the library.
 */
tools: Rules, 
/**
 * Which hosts tools may reach for them. By default all; this machine and private networks are closed
 * besides, but for hosts that the network settings name.
 */
hosts: Rules, 
/**
 * Which folders they may read. By default none, until a person names one.
 */
files: Rules, 
/**
 * Which secrets are sent for them. By default all: a key goes only where the person who gave it said.
 */
secrets: Rules, 
/**
 * Which languages they may run code in. By default a person is asked, although it runs in a sandbox.
 */
code: Rules, };

/**
 * What an event reports.
 */
export type Phase = { "kind": "start" } | { "kind": "result", 
/**
 * How it ended.
 */
outcome: Outcome, } | { "kind": "trace", 
/**
 * The progress.
 */
trace: Trace, };

/**
 * A problem with a field.
 */
export type Problem = { 
/**
 * Field name; empty if the problem concerns the whole card.
 */
field: string, 
/**
 * The problem, as the end of a sentence that starts with the field's name.
 */
reason: string, 
/**
 * Whether the card is refused because of it.
 */
severity: Severity, };

/**
 * What agents of one kind are for. The rules of the one without a name hold for everybody.
 */
export type Profile = { 
/**
 * What an agent calls it; empty for everybody's.
 */
name: string, 
/**
 * What it is for, in a person's words.
 */
about: string, 
/**
 * Ids of the cards assigned to it: they are found before all others (the expert tier).
 */
cards: Array<string>, 
/**
 * What it may find in the library; everything if not given. What everybody may not find, no profile
 * finds.
 */
only: Allowlist | null, 
/**
 * Ids of cards, or names of AutoKit's own tools, that are there from the start and stay.
 */
always: Array<string>, 
/**
 * What it may do. Of a profile with a name: what it adds to the rules for everybody, all of which it
 * inherits. A deny for everybody is final.
 */
permissions: Permissions, };

/**
 * A profile in the place of what it was when somebody looked at it.
 */
export type ProfileChange = { 
/**
 * As it was looked at.
 */
before: Profile, 
/**
 * As it is to be; of the same name.
 */
after: Profile, };

/**
 * Names a profile.
 */
export type ProfileRef = { 
/**
 * What an agent calls it.
 */
name: string, };

/**
 * The profiles and what holds for all of them.
 */
export type Profiles = { 
/**
 * Everybody's first, then by name.
 */
profiles: Array<Profile>, 
/**
 * Sessions.
 */
sessions: AgentSessions, };

/**
 * A proposal in the library.
 */
export type Proposal = { 
/**
 * Its number, which people use to refer to it.
 */
id: number, 
/**
 * The proposed changes.
 */
draft: Draft, 
/**
 * The person or program that proposed it.
 */
proposed_by: string, 
/**
 * When it was created.
 */
created_at: string, 
/**
 * Its state.
 */
state: ProposalState, 
/**
 * When it was decided.
 */
decided_at: string | null, 
/**
 * Who decided it.
 */
decided_by: string | null, 
/**
 * The reason, in the reviewer's words.
 */
decision: string | null, 
/**
 * The accepted fields.
 */
accepted: Array<string>, 
/**
 * Reviewers' decisions on each field.
 */
decisions: Array<FieldDecision>, 
/**
 * Approvals given so far, if the library requires several.
 */
approvals: Array<Approval>, 
/**
 * For fields that were checked against a later revision of the card than the draft's: that revision.
 */
rebased: { [key in string]: number }, 
/**
 * Fields that somebody has changed in the card since; these are never overwritten unseen.
 */
conflicts: Array<string>, 
/**
 * Risk of accepting all of it.
 */
risk: Risk, };

/**
 * Accepts a proposal.
 */
export type ProposalAccept = { 
/**
 * Its number.
 */
id: number, 
/**
 * The fields to take over; all when not given.
 */
fields?: Array<string>, 
/**
 * Values the reviewer put in place of proposed ones.
 */
edits: { [key in string]: JsonValue }, 
/**
 * Fields that are turned down; what is in neither list is left out.
 */
rejected: Array<string>, 
/**
 * The revision of the card the reviewer looked at: fields in conflict are taken over with the
 * reviewer's own value if it still is that one.
 */
seen?: number, 
/**
 * Why, in the reviewer's words.
 */
reason: string, 
/**
 * The reviewer's name; the one in the review policy, or who asks, when empty.
 */
by: string, };

/**
 * Says something about a proposal.
 */
export type ProposalComment = { 
/**
 * Its number.
 */
id: number, 
/**
 * What.
 */
words: string, 
/**
 * The reviewer's name, as in [`ProposalAccept`].
 */
by: string, };

/**
 * Everything about a proposal.
 */
export type ProposalDetail = { 
/**
 * The proposal, evidence and decision included.
 */
proposal: Proposal, 
/**
 * The card it is about, or would make.
 */
title: string, 
/**
 * The card it changes, or that accepting it made.
 */
card: string | null, 
/**
 * What accepting all of it would change in the card as it is now.
 */
diff: Array<FieldDiff>, 
/**
 * The revision of the card that was compared.
 */
revision: number | null, 
/**
 * The fields of the card it leaves alone.
 */
unchanged: { [key in string]: JsonValue }, 
/**
 * What can go wrong with each field.
 */
risks: { [key in string]: Risk }, 
/**
 * Texts of its fields, before and after, that hide something or give orders to a model.
 */
suspect: Array<FlaggedText>, 
/**
 * Reviewers who have to say yes.
 */
needed: number, 
/**
 * Cards that may be the same tool: id and name.
 */
similar: Array<[string, string]>, 
/**
 * What happened to it, oldest first.
 */
events: Array<ProposalEvent>, };

/**
 * An event in the history of a proposal.
 */
export type ProposalEvent = { 
/**
 * When it happened, RFC 3339 in UTC.
 */
at: string, 
/**
 * Who caused it.
 */
by: string, 
/**
 * `proposed`, `merged`, `replaced`, `rebased`, `conflicting`, `commented`, `approved`, `accepted`,
 * `rejected`, `undone`, `kept`, `withdrawn`.
 */
what: string, 
/**
 * Details in words.
 */
why: string, };

/**
 * Asks for a proposal.
 */
export type ProposalGet = { 
/**
 * Its number.
 */
id: number, 
/**
 * Values the reviewer put in place of proposed ones, to be compared in their stead.
 */
edits: { [key in string]: JsonValue }, };

/**
 * Names a proposal.
 */
export type ProposalRef = { 
/**
 * Its number.
 */
id: number, };

/**
 * Turns a proposal down.
 */
export type ProposalReject = { 
/**
 * Its number.
 */
id: number, 
/**
 * Why, in the reviewer's words.
 */
reason: string, 
/**
 * The reviewer's name, as in [`ProposalAccept`].
 */
by: string, };

/**
 * A row of the queue.
 */
export type ProposalRow = { 
/**
 * Its number.
 */
id: number, 
/**
 * The card it is about, or would make.
 */
title: string, 
/**
 * Where it comes from.
 */
origin: Origin, 
/**
 * The group of the queue it belongs to.
 */
group: string, 
/**
 * What can go wrong when all of it is accepted.
 */
risk: Risk, 
/**
 * Whether a text it proposes hides something or gives orders to a model.
 */
suspect: boolean, 
/**
 * How many of its fields changed in the card since.
 */
conflicts: number, 
/**
 * How many reviewers said yes while others are asked for.
 */
approvals: number, 
/**
 * How many have to.
 */
needed: number, 
/**
 * Where it stands.
 */
state: ProposalState, 
/**
 * Id of the card it changes; none for a new one.
 */
card: string | null, 
/**
 * The fields it would set.
 */
fields: Array<string>, 
/**
 * How likely all of it is true, 0 to 1.
 */
confidence: number, 
/**
 * When it was made.
 */
created_at: string, 
/**
 * Why, in a sentence.
 */
reason: string, };

/**
 * State of a proposal.
 */
export type ProposalState = "pending" | "accepted" | "rejected" | "withdrawn";

/**
 * The queue.
 */
export type Proposals = { 
/**
 * Newest first.
 */
rows: Array<ProposalRow>, 
/**
 * Those that wait, whatever was asked for.
 */
waiting: number, 
/**
 * The groups there can be, in the order they are shown.
 */
groups: Array<string>, };

/**
 * Accepts the safe ones among some proposals, as previewed.
 */
export type ProposalsAccept = { 
/**
 * Their numbers, as asked for in the preview.
 */
ids: Array<number>, 
/**
 * What the preview said.
 */
seen: string, 
/**
 * The reviewer's name, as in [`ProposalAccept`].
 */
by: string, };

/**
 * Which proposals.
 */
export type ProposalsQuery = { 
/**
 * Those in this state; all when not given.
 */
state?: ProposalState, };

/**
 * Several proposals.
 */
export type ProposalsRef = { 
/**
 * Their numbers.
 */
ids: Array<number>, };

/**
 * A field's proposed value.
 */
export type ProposedField = { 
/**
 * Name of the field.
 */
field: string, 
/**
 * The proposed value; `null` is a value, a missing one removes the field.
 */
value?: JsonValue, 
/**
 * The supporting evidence.
 */
evidence: Array<Evidence>, 
/**
 * Probability that it is correct, 0 to 1.
 */
confidence: number, };

/**
 * Everything chosen about services. Holds no key.
 */
export type ProviderSettings = { 
/**
 * The language model.
 */
llm: LlmSettings, 
/**
 * Searching the web.
 */
search: SearchSettings, 
/**
 * What may be reached.
 */
network: NetworkSettings, 
/**
 * Where keys are kept.
 */
keep: KeyStorage, 
/**
 * Prompts of the person's own, by name.
 */
prompts: { [key in string]: string }, };

/**
 * Services as they stand.
 */
export type Providers = { 
/**
 * What is chosen.
 */
settings: ProviderSettings, 
/**
 * Which keys are kept.
 */
keys: Array<KeyState>, 
/**
 * Where keys are kept, for people: the system's keychain, or an encrypted file.
 */
keys_in: string, 
/**
 * Why keys cannot be read, if so.
 */
keys_error: ApiError | null, 
/**
 * Why something that is chosen cannot be used.
 */
missing: Array<ApiError>, 
/**
 * US dollars spent on language models since the count was begun.
 */
spent: number, 
/**
 * Tokens read and written by language models since the count was begun.
 */
tokens: [number, number], 
/**
 * What is counted for a million tokens read and written by the large model; none where it is not known.
 */
price: [number, number] | null, 
/**
 * The prompts AutoKit comes with.
 */
prompts: Array<ShippedPrompt>, };

/**
 * A candidate after reranking.
 */
export type Ranked = { 
/**
 * Card id.
 */
id: string, 
/**
 * Tool name.
 */
name: string, 
/**
 * Description, shortened.
 */
description: string, 
/**
 * Ranking score, 0 to 1.
 */
score: number, 
/**
 * Components of that score.
 */
parts: ScoreParts, 
/**
 * Score given by the reranker, 0 to 1.
 */
judged: number | null, 
/**
 * The reranker's justification.
 */
justification: string | null, };

/**
 * Everything one examination found out about a card.
 */
export type Report = { 
/**
 * State of the card.
 */
state: CardState, 
/**
 * Health of its link.
 */
link: LinkHealth, 
/**
 * Whether the page there is about the tool, if there is a page.
 */
page: Judgement | null, 
/**
 * The card's claims, checked against its page or the page that was found for it.
 */
claims: Array<Claim>, 
/**
 * Result of searching for another page, if that was done.
 */
search: PageSearchOutcome | null, 
/**
 * The pages that were scored, best first.
 */
candidates: Array<ScoredPage>, 
/**
 * Consecutive failures to reach the page, including this one.
 */
attempts: number, 
/**
 * Set when there was no network; the other fields then mean nothing.
 */
offline: boolean, 
/**
 * Whether the page shows more code than is parsed; the rest was not checked.
 */
cut: boolean, 
/**
 * Who judged: `rules`, or `rules` and a model's name.
 */
judged_by: string, };

/**
 * How this library is reviewed.
 */
export type ReviewPolicy = { 
/**
 * How many reviewers have to accept a proposal, by different names.
 */
approvals: number, 
/**
 * The name decisions are signed with; the person's name on this machine when empty.
 */
reviewer: string, };

/**
 * The id of a revision in every library, in hexadecimal.
 */
export type RevisionId = string;

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
 * How carefully a reviewer should look before accepting. Ordered from low to high.
 */
export type Risk = "low" | "medium" | "high";

/**
 * Whether this process has the store or talks to the one that has.
 */
export type Role = "owner" | "client";

/**
 * A permission for one thing.
 */
export type Rule = { 
/**
 * The thing, as [`Need`] names it: a card's id or `Provider/*`, a host (`api.example.org`,
 * `localhost:8080`, `*.example.org`), a folder, the origin or MCP server a secret is for, a language.
 */
of: string, 
/**
 * What holds for it.
 */
permission: Permission, 
/**
 * Whether a profile may loosen it. Only on a rule for everybody that asks.
 */
overridable: boolean, };

/**
 * The rules for one kind of thing.
 */
export type Rules = { 
/**
 * What holds for everything no rule names. None: for everybody AutoKit's own default, which any
 * profile may change; for a profile what holds for everybody.
 */
otherwise: Permission | null, 
/**
 * Whether a profile may loosen `otherwise`. Only for everybody, where `otherwise` asks.
 */
overridable: boolean, 
/**
 * What holds for the things they name. Of several that fit, the one that names it most exactly holds;
 * of two that name it alike, the stricter.
 */
rules: Array<Rule>, };

/**
 * A proposal that could be accepted without a closer look.
 */
export type SafeProposal = { 
/**
 * Its number.
 */
id: number, 
/**
 * The card it is about.
 */
title: string, 
/**
 * Why it is proposed, in a sentence.
 */
reason: string, 
/**
 * What it would change.
 */
diff: Array<FieldDiff>, };

/**
 * Why a card was found. The score is `keyword + vector + name + feedback + rerank`, up to rounding.
 */
export type ScoreParts = { 
/**
 * Contribution of keywords to the score.
 */
keyword: number, 
/**
 * Contribution of the vector to the score; negative if the card is less similar to the request than the
 * average card.
 */
vector: number, 
/**
 * Contribution of a name match to the score.
 */
name: number, 
/**
 * Change of the score by feedback on the card for similar requests.
 */
feedback: number, 
/**
 * Change of the score by comparing request and card token by token; never positive.
 */
rerank: number, 
/**
 * How the request names the card, if it does.
 */
name_match?: NameMatch, 
/**
 * Cosine of the whole request with the card; absent if one of them has no vector.
 */
cosine?: number, 
/**
 * The chunk of the card's page that is closest to the request, counted from 0; absent if the card has no
 * page in the index.
 */
chunk?: number, 
/**
 * BM25F score of the whole request.
 */
bm25: number, 
/**
 * Share of the information content of the request's words that the card matches, 0 to 1.
 */
coverage: number, 
/**
 * The clause of a long request that the card matches best.
 */
clause?: string, 
/**
 * Words of the request found in the card, with the field.
 */
matched_terms: Array<MatchedTerm>, };

/**
 * A page that was scored.
 */
export type ScoredPage = { 
/**
 * Its URL.
 */
url: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Probability that it documents this tool, 0 to 1.
 */
score: number, 
/**
 * The page marks behind the score.
 */
marks: PageMarks, 
/**
 * The reason for people, in one sentence.
 */
why: string, };

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
 * Which service searches the web.
 */
export type SearchKind = "none" | "tavily" | "brave" | "searxng" | "duckduckgo";

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
limit?: number, 
/**
 * How far the ranking goes; reranked when not given.
 */
depth?: Depth, };

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
 * How far the ranking went.
 */
depth: Depth, 
/**
 * Whether the first result answers the query.
 */
verdict: Verdict, 
/**
 * Results, best first. Cards the query names exactly are among them beyond the limit, up to 50.
 */
results: Array<SearchHit>, 
/**
 * Names of further cards the query names exactly.
 */
also_named: Array<string>, 
/**
 * Time taken, in milliseconds.
 */
took_ms: number, };

/**
 * Searching the web.
 */
export type SearchSettings = { 
/**
 * The service.
 */
kind: SearchKind, 
/**
 * Its address; empty for the service's own.
 */
base: string, 
/**
 * The source looked at first, in words; empty for none.
 */
preferred: string, 
/**
 * Ask GitHub for facts about repositories.
 */
github: boolean, };

/**
 * A value that keeps a card from leaving.
 */
export type SecretFound = { 
/**
 * The card.
 */
card: CardId, 
/**
 * Its name.
 */
name: string, 
/**
 * Where in it.
 */
field: string, 
/**
 * What it looks like; never the value.
 */
kind: string, 
/**
 * Whether it is in an earlier revision only.
 */
in_history: boolean, };

/**
 * Keeps a key. The one request that carries it; no answer and no event does.
 */
export type SecretSet = { 
/**
 * What it is for.
 */
name: KeyName, 
/**
 * The key; empty takes it away.
 */
value: string, };

/**
 * An MCP server.
 */
export type Server = { 
/**
 * What it is called here.
 */
name: string, 
/**
 * How it is reached.
 */
reach: ServerReach, 
/**
 * Names of the variables or headers it is given.
 */
secrets: Array<string>, 
/**
 * Whether its tools are taken over without review.
 */
trusted: boolean, 
/**
 * Whether it runs now.
 */
running: boolean, 
/**
 * Its tools in the library: they can be called.
 */
tools: number, 
/**
 * What it says that waits in Review.
 */
waiting: number, 
/**
 * When its tools were last looked at, RFC 3339 in UTC.
 */
checked_at: string | null, 
/**
 * Why the last look failed, if it did.
 */
failed: string | null, 
/**
 * The tools that the last look left out, each with the reason.
 */
skipped: Array<string>, };

/**
 * Adds an MCP server, or changes one.
 */
export type ServerAdd = { 
/**
 * What it is called here; provider of its cards.
 */
name: string, 
/**
 * How it is reached.
 */
reach: ServerReach, 
/**
 * Variables (of a program) or headers (of an address) it is given. They are kept like keys and never
 * shown again.
 */
secrets: { [key in string]: string }, 
/**
 * Whether its tools are taken over without review, now and when they change.
 */
trusted: boolean, };

/**
 * How an MCP server is reached.
 */
export type ServerReach = { "transport": "stdio", 
/**
 * The program.
 */
command: string, 
/**
 * Its arguments.
 */
args: Array<string>, 
/**
 * Folder it is started in; empty for the home folder.
 */
folder: string, } | { "transport": "http", 
/**
 * Address of its endpoint.
 */
url: string, };

/**
 * Names an MCP server.
 */
export type ServerRef = { 
/**
 * What it is called here.
 */
name: string, };

/**
 * The MCP servers that settings hold; nothing is added yet.
 */
export type ServersRead = { 
/**
 * What adding each would take. The keys among them are handed on, not kept.
 */
servers: Array<ServerAdd>, 
/**
 * Names of those that are here already: adding them changes what is here.
 */
taken: Array<string>, 
/**
 * Of servers that cannot be added so, each with why.
 */
problems: Array<string>, };

/**
 * The settings of a program that agents run in, to read its MCP servers from.
 */
export type ServersText = { 
/**
 * JSON, with comments if there are any.
 */
text: string, };

/**
 * A conversation with the agent.
 */
export type Session = { 
/**
 * Id.
 */
id: string, 
/**
 * When it began, RFC 3339 in UTC.
 */
at: string, 
/**
 * Grows with every change.
 */
version: number, 
/**
 * Its turns, oldest first.
 */
turns: Array<Turn>, };

/**
 * A past ask.
 */
export type SessionNote = { 
/**
 * Names it.
 */
id: string, 
/**
 * When it began, RFC 3339 in UTC.
 */
at: string, 
/**
 * The question.
 */
question: string, };

/**
 * Names a session.
 */
export type SessionRef = { 
/**
 * Id.
 */
session: string, };

/**
 * Parameters of everything a session keeps (Kaman, sections 2 and 6–8).
 */
export type SessionSettings = { 
/**
 * Tools a search binds at most. The paper's limit: more would fill the context by one search.
 */
results: number, 
/**
 * Score below which a card is no result. Scores are comparable between queries; below this, the
 * best card of a library that has nothing fitting is usually found.
 */
threshold: number, 
/**
 * Discovered tools a session keeps. The paper sees sessions settle at 5–8; a half more leaves room
 * for a change of subject before anything in use has to go.
 */
capacity: number, 
/**
 * Seconds after which a tool that was not used is let go: longer than one task, shorter than a day.
 */
ttl_secs: number, 
/**
 * Names or ids of tools that are there from the start and never let go.
 */
always: Array<string>, 
/**
 * Tokens a model can read (C_max in equation 1). What common models offer at least.
 */
context_tokens: number, 
/**
 * Tokens kept for everything but tools (C_reserved). With the default context this leaves 16,000.
 */
reserved_tokens: number, 
/**
 * Tokens one search may answer with; results beyond are shortened, which the answer says. With the
 * tools that are always there, this stays below the paper's totals at every size of library.
 */
reply_tokens: number, 
/**
 * Tokens that discovered tools may cost together in the list of a session. Beyond, those found earlier are
 * listed without explanations: the answer that found them had them in full. Answer and list together
 * stay below the paper's totals so.
 */
listed_tokens: number, 
/**
 * Sessions kept at most; the one that was idle longest goes first.
 */
sessions: number, 
/**
 * Seconds after which a session nobody used is forgotten: a day, so that one which was left in the
 * evening goes on in the morning.
 */
session_secs: number, 
/**
 * What breaks loops.
 */
guard: GuardSettings, 
/**
 * Searches that are remembered, to notice one that finds the same again.
 */
recent_searches: number, 
/**
 * Seconds a search is remembered for this.
 */
search_secs: number, 
/**
 * Share of common results (of the union) from which a search counts as a repetition.
 */
overlap: number, };

/**
 * Waits for news of a session.
 */
export type SessionWait = { 
/**
 * Id.
 */
session: string, 
/**
 * Answer once the session's version is above this, or after ten seconds.
 */
after: number, };

/**
 * What a library keeps beside its cards, by the name it has in the store.
 */
export type Setting = "agents_http" | "api_keys" | "bundle_keys" | "checks" | "market_sources" | "mcp_servers" | "profiles" | "review" | "spending" | "subscriptions" | "verify_run" | "vouched_tools";

/**
 * Severity of a problem.
 */
export type Severity = "error" | "warning";

/**
 * A prompt AutoKit comes with.
 */
export type ShippedPrompt = { 
/**
 * Its name.
 */
name: string, 
/**
 * Its text.
 */
text: string, 
/**
 * Its slots.
 */
slots: Array<string>, };

/**
 * Who signed a bundle.
 */
export type SignatureView = { 
/**
 * How far it can be relied on.
 */
trust: Trust, 
/**
 * What whoever signed calls themselves; empty when nobody did.
 */
signer: string, 
/**
 * The key, in base64; empty when nobody signed.
 */
key: string, 
/**
 * What people compare of the key.
 */
fingerprint: string, };

/**
 * Keys that sign bundles.
 */
export type SigningKeys = { 
/**
 * The public part of this person's own key, in base64; none before something is signed.
 */
own: string | null, 
/**
 * What people compare of it.
 */
own_fingerprint: string | null, 
/**
 * The keys of others.
 */
known: Array<KnownKeyView>, };

/**
 * Order of a list.
 */
export type Sort = "name" | "provider" | "kind" | "updated" | "health";

/**
 * What a source is.
 */
export type SourceInfo = { 
/**
 * Its format.
 */
format: Format, 
/**
 * What it is called.
 */
name: string, 
/**
 * Who made it; empty where it does not say.
 */
author: string, 
/**
 * When, RFC 3339 in UTC; empty where it does not say.
 */
created_at: string, 
/**
 * The licence of cards that name none.
 */
licence: string | null, 
/**
 * What else is said about it.
 */
note: string, 
/**
 * Whether the history of cards comes along.
 */
history: boolean, 
/**
 * What its vectors were made with, if it holds any.
 */
vectors: VectorModel | null, 
/**
 * Names what it says, checksums included.
 */
digest: string, 
/**
 * Who signed it.
 */
signature: SignatureView, };

/**
 * A run of words with its side. The `Equal` and `Delete` spans joined are the text before, the `Equal` and
 * `Insert` spans joined are the text after.
 */
export type Span = { 
/**
 * The side.
 */
op: SpanOp, 
/**
 * The words, including white space.
 */
text: string, };

/**
 * Which side a span of text belongs to.
 */
export type SpanOp = "equal" | "delete" | "insert";

/**
 * Starter code for a use case.
 */
export type Starter = { 
/**
 * Language for highlighting.
 */
language: string, 
/**
 * The lines.
 */
code: string, 
/**
 * Lines a model wrote that nothing supports; left out.
 */
removed: Array<string>, 
/**
 * The model that wrote it; none when it was made from the card.
 */
model: string | null, };

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
 * What is missing or altered in the library, in a sentence.
 */
damage: string | null, 
/**
 * Why nothing can be changed, in a sentence.
 */
read_only: string | null, 
/**
 * Whether the library was created by this start, so that the first-run tour fits.
 */
first_run: boolean, 
/**
 * Proposals that wait for a person.
 */
proposals: number, 
/**
 * The search service in use, for people.
 */
search: string | null, 
/**
 * The language model in use, for people.
 */
llm: string | null, 
/**
 * What `undo` would take back.
 */
undoable: string | null, 
/**
 * Position in the journal; changes with every change to a card.
 */
cursor: number, 
/**
 * Grows with every check of a card that is kept.
 */
checks: number, 
/**
 * Folder of the backup made because this start moved the schema forward.
 */
migrated_from: string | null, };

/**
 * A step of the agent.
 */
export type Step = "search" | "generate" | "grade_grounded" | "grade_answers" | "rewrite" | "web" | "finalize" | "feedback" | "add";

/**
 * An event of the trace.
 */
export type StepEvent = { 
/**
 * The step.
 */
step: Step, 
/**
 * What happened in the step.
 */
phase: Phase, 
/**
 * A description for people.
 */
text: string, 
/**
 * The model that ran the step; `None` if it was rule-based.
 */
model: string | null, 
/**
 * Input and output tokens of the model.
 */
tokens: [number, number], 
/**
 * Duration of the step in milliseconds, at its end.
 */
ms: number, };

/**
 * Code to copy.
 */
export type Stub = { 
/**
 * Language for highlighting: `python`, `typescript`, `shell`, `json` …
 */
language: string, 
/**
 * The code.
 */
code: string, };

/**
 * A bundle that is looked at for a newer version now and then.
 */
export type Subscription = { 
/**
 * Names it.
 */
id: string, 
/**
 * Where it is: a file or folder of this machine, or an address.
 */
source: ImportSource, 
/**
 * Hours between two looks.
 */
every_hours: number, 
/**
 * Where what is new goes.
 */
landing: Landing, 
/**
 * What the bundle calls itself, once it was read.
 */
name: string, 
/**
 * When it was looked at last, RFC 3339 in UTC.
 */
checked_at: string | null, 
/**
 * Names what it said then.
 */
digest: string | null, 
/**
 * The key it was signed with the first time, in base64. A version signed with another one, or not
 * at all, is not brought in.
 */
key: string | null, 
/**
 * Why the last look failed, if it did.
 */
failed: string | null, };

/**
 * Looks at a bundle for a newer version now and then.
 */
export type SubscriptionAdd = { 
/**
 * Where it is.
 */
source: ImportSource, 
/**
 * Hours between two looks, from 1 to 8,760.
 */
every_hours: number, 
/**
 * Where what is new goes.
 */
landing: Landing, };

/**
 * Names a subscription.
 */
export type SubscriptionRef = { 
/**
 * Its id.
 */
id: string, };

/**
 * What came of trying. What went wrong is an error with its remedy.
 */
export type TestOutcome = { 
/**
 * What was seen, in words.
 */
text: string, 
/**
 * Milliseconds of the round trip.
 */
ms: number, };

/**
 * Tries a connection.
 */
export type TestRequest = { 
/**
 * Which.
 */
connection: Connection, };

/**
 * How long searches of a tier took.
 */
export type TierLatency = { 
/**
 * The tier.
 */
tier: string, 
/**
 * Searches.
 */
searches: number, 
/**
 * How long they took.
 */
latency: Latency, };

/**
 * A part of what a tool answered.
 */
export type ToolBlock = { "kind": "text", 
/**
 * As it came, cut where it was too long.
 */
text: string, } | { "kind": "image", 
/**
 * Its media type.
 */
mime: string, 
/**
 * In Base64.
 */
data: string, } | { "kind": "other", 
/**
 * JSON.
 */
value: unknown, };

/**
 * A tool that can be called from here.
 */
export type ToolEntry = { 
/**
 * Id of its card, or of a tool of AutoKit's own.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Who offers it.
 */
provider: string, 
/**
 * What it does, in one line.
 */
line: string, 
/**
 * Where it comes from.
 */
source: ToolSource, 
/**
 * Whether agents of the profile may call it; what a call needs besides is decided on when it is made.
 */
permission: Permission, };

/**
 * A window into the list of tools.
 */
export type ToolList = { 
/**
 * Tools that fit, in all.
 */
total: number, 
/**
 * Those asked for: AutoKit's own first, then by provider and name.
 */
tools: Array<ToolEntry>, };

/**
 * What a tool answered.
 */
export type ToolOutcome = { 
/**
 * Whether the tool itself calls it a failure.
 */
failed: boolean, 
/**
 * What it says.
 */
blocks: Array<ToolBlock>, 
/**
 * The same as data, where it gives any.
 */
structured: unknown, 
/**
 * Milliseconds it took.
 */
took_ms: number, };

/**
 * Names a tool.
 */
export type ToolRef = { 
/**
 * Id or name.
 */
tool: string, 
/**
 * As agents of this profile have it; everybody's if empty.
 */
profile: string, };

/**
 * Calls a tool.
 */
export type ToolRun = { 
/**
 * Id or name.
 */
tool: string, 
/**
 * By the rules of this profile; everybody's if empty.
 */
profile: string, 
/**
 * Its arguments.
 */
arguments: Record<string, unknown>, 
/**
 * What the person has allowed for this call.
 */
granted: Array<Need>, };

/**
 * What became of the wish to call a tool.
 */
export type ToolRunStart = { "state": "asks", 
/**
 * What.
 */
needs: Array<Need>, 
/**
 * The same in words: "to run code in python".
 */
words: Array<string>, } | { "state": "started", 
/**
 * The job.
 */
job: string, };

/**
 * Where a tool that can be called comes from.
 */
export type ToolSource = "session" | "builtin" | "server" | "api";

/**
 * How a tool was used.
 */
export type ToolUse = { 
/**
 * Id of its card, or name of one of AutoKit's own.
 */
tool: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * Calls.
 */
calls: number, 
/**
 * Calls that gave an error.
 */
failed: number, 
/**
 * How long they took.
 */
latency: Latency, };

/**
 * A tool with what it takes.
 */
export type ToolView = { 
/**
 * The tool.
 */
entry: ToolEntry, 
/**
 * What it does.
 */
description: string, 
/**
 * JSON Schema of its arguments.
 */
schema: Record<string, unknown>, 
/**
 * Arguments to begin with: what it requires, filled in as far as the schema says how.
 */
example: Record<string, unknown>, };

/**
 * Which tools are asked for.
 */
export type ToolsQuery = { 
/**
 * Those of which all of these words are said, in name, provider or description; all if empty.
 */
text: string, 
/**
 * Those from there; all if empty.
 */
sources: Array<ToolSource>, 
/**
 * As agents of this profile have them; everybody's if empty.
 */
profile: string, 
/**
 * Tools to skip.
 */
offset: number, 
/**
 * Tools to return; at most 1,000 in one answer.
 */
limit: number, };

/**
 * Progress of discovery.
 */
export type Trace = { "kind": "thought", 
/**
 * The thought.
 */
text: string, } | { "kind": "action", 
/**
 * The action.
 */
text: string, } | { "kind": "observation", 
/**
 * The result.
 */
text: string, 
/**
 * Whether the action failed.
 */
failed: boolean, };

/**
 * How far a signature can be relied on.
 */
export type Trust = "unsigned" | "stripped" | "trusted" | "known" | "new" | "other_key";

/**
 * One question and what came of it.
 */
export type Turn = { 
/**
 * What it is about.
 */
kind: TurnKind, 
/**
 * What was asked.
 */
asked: string, 
/**
 * Where it stands.
 */
state: TurnState, 
/**
 * The trace, in order.
 */
events: Array<StepEvent>, 
/**
 * The answer of an ask.
 */
answer: AgentAnswer | null, 
/**
 * What was found on the web, when only the web was asked.
 */
discovered: Discovered | null, 
/**
 * What the person said about it.
 */
said: AnswerFeedback | null, 
/**
 * Why it failed.
 */
error: ApiError | null, 
/**
 * Milliseconds it took.
 */
ms: number, };

/**
 * What a turn of a session is about.
 */
export type TurnKind = "ask" | "refine" | "discover";

/**
 * Where a turn stands.
 */
export type TurnState = "running" | "done" | "failed" | "cancelled";

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
 * A proposal that wants a closer look.
 */
export type UnsafeProposal = { 
/**
 * Its number.
 */
id: number, 
/**
 * The card it is about.
 */
title: string, 
/**
 * Why.
 */
why: string, };

/**
 * The embedding model behind a bundle's vectors.
 */
export type VectorModel = { 
/**
 * Identifies the model, including its weights.
 */
model: string, 
/**
 * Dimension of one vector.
 */
dim: number, };

/**
 * Certainty of an answer.
 */
export type Verdict = "answered" | "unsure" | "nothing";

/**
 * Which cards are checked.
 */
export type VerifyScope = { "kind": "cards", 
/**
 * Ids or names.
 */
cards: Array<string>, } | { "kind": "all" } | { "kind": "matching", 
/**
 * Which.
 */
query: CardsQuery, } | { "kind": "older", 
/**
 * Days.
 */
days: number, } | { "kind": "due" };

/**
 * Starts a run of checks.
 */
export type VerifyStart = { 
/**
 * Which cards.
 */
scope: VerifyScope, 
/**
 * Propose better descriptions and what the cards leave out as well.
 */
improve: boolean, 
/**
 * Begin from the beginning, also where the same run was broken off less than a day ago.
 */
anew: boolean, };

/**
 * One request on the way to a page.
 */
export type Visit = { 
/**
 * The requested URL.
 */
url: string, 
/**
 * HTTP status of the response; 0 if there was none.
 */
status: number, };

/** Every command by name, with what it takes and gives. */
export interface Commands {
  /** What the shell shows. */
  status_get: { request: Nothing; response: Status };
  /** The best tools for a request in words, with why. */
  answers_get: { request: AskRequest; response: Answer };
  /** Ranked cards with the parts of their scores. */
  cards_search: { request: SearchRequest; response: SearchResponse };
  /** A window into the list of cards. */
  cards_list: { request: CardList; response: CardsPage };
  /** What can be filtered by. */
  cards_facets: { request: CardsQuery; response: Facets };
  /** Everything about one card. */
  cards_get: { request: CardRef; response: CardDetail };
  /** What is wrong with fields as a card, before they are saved. */
  cards_validate: { request: CardCheck; response: Array<Problem> };
  /** Adds a card. */
  cards_create: { request: CardCreate; response: CardDetail };
  /** Replaces the fields of a card. */
  cards_update: { request: CardUpdate; response: CardDetail };
  /** Removes cards in one undoable change. */
  cards_delete: { request: CardsDelete; response: CardChange };
  /** The revisions of a card, newest first, each with what it changed. */
  cards_history: { request: CardRef; response: Array<RevisionView> };
  /** Brings a revision back; also revives a deleted card. */
  cards_restore: { request: CardRestore; response: CardDetail };
  /** Takes the newest change back. */
  changes_undo: { request: Nothing; response: UndoOutcome };
  /** What an import would do. */
  imports_preview: { request: ImportPreviewRequest; response: ImportPreview };
  /** Imports cards in the background, as one undoable change. */
  imports_start: { request: ImportRequest; response: JobRef };
  /** Loads the cards AutoKit comes with. */
  starter_load: { request: Nothing; response: JobRef };
  /** The imports that were made, newest first. */
  imports_list: { request: Nothing; response: Array<ImportView> };
  /** Takes an import back, with everything that was decided about it since. */
  imports_undo: { request: ImportRef; response: UndoOutcome };
  /** What would leave with an export. */
  exports_preview: { request: ExportRequest; response: ExportPreview };
  /** Writes cards as a bundle or a file of another format. */
  exports_write: { request: ExportRequest; response: ExportOutcome };
  /** Bundles that are looked at for newer versions. */
  subscriptions_list: { request: Nothing; response: Array<Subscription> };
  /** Looks at a bundle for newer versions from now on, and at once. */
  subscriptions_add: { request: SubscriptionAdd; response: Array<Subscription> };
  /** Looks at it no more; what came from it stays. */
  subscriptions_remove: { request: SubscriptionRef; response: Array<Subscription> };
  /** Looks at all of them now. */
  subscriptions_check: { request: Nothing; response: JobRef };
  /** Signs a bundle that is there, with one's own key. */
  bundles_sign: { request: BundlePath; response: ExportOutcome };
  /** The keys that sign bundles: one's own, and those that were seen. */
  bundle_keys_list: { request: Nothing; response: SigningKeys };
  /** Makes a key of one's own, if there is none. */
  bundle_keys_create: { request: Nothing; response: SigningKeys };
  /** Says whether somebody's key counts. */
  bundle_keys_trust: { request: KeyTrust; response: SigningKeys };
  /** Forgets a key that was seen. */
  bundle_keys_forget: { request: KeyRef; response: SigningKeys };
  /** Jobs at work and lately finished, newest first. */
  jobs_list: { request: Nothing; response: Array<Job> };
  /** Waits for news of a job. */
  jobs_wait: { request: JobWait; response: Job };
  /** Stops a job. */
  jobs_cancel: { request: JobRef; response: Job };
  /** Lets a job wait or go on. */
  jobs_pause: { request: JobPause; response: Job };
  /** Checks cards against their pages in the background; what should change waits in Review. */
  checks_start: { request: VerifyStart; response: JobRef };
  /** The newest check of a card. */
  checks_get: { request: CardRef; response: CardVerification };
  /** When cards are checked without being asked to. */
  check_settings_get: { request: Nothing; response: CheckSettings };
  /** Sets when cards are checked without being asked to. */
  check_settings_set: { request: CheckSettings; response: CheckSettings };
  /** The embedding models on offer. */
  models_list: { request: Nothing; response: Models };
  /** Fetches a model's files in the background. */
  models_pull: { request: ModelChoice; response: JobRef };
  /** Switches to a model: vectors are made in the background, the old ones serve until then. */
  models_use: { request: ModelChoice; response: JobRef };
  /** Asks the agent: the library first, the web when the library has nothing. */
  sessions_ask: { request: AgentQuestion; response: SessionRef };
  /** Looks for a tool on the web alone. */
  sessions_discover: { request: AgentQuestion; response: SessionRef };
  /** Waits for news of a session. */
  sessions_wait: { request: SessionWait; response: Session };
  /** Stops what a session is at. */
  sessions_cancel: { request: SessionRef; response: Session };
  /** A session as it stands, also a past one. */
  sessions_get: { request: SessionRef; response: Session };
  /** Past sessions, newest first. */
  sessions_list: { request: Nothing; response: Array<SessionNote> };
  /** Says whether the last answer of a session helps: yes gives starter code, no asks again. */
  sessions_feedback: { request: FeedbackRequest; response: Session };
  /** Proposes a tool found on the web as a card. */
  findings_propose: { request: AddFinding; response: ProposalDetail };
  /** Proposes a card made from words that describe a tool. */
  cards_describe: { request: CardDescribe; response: ProposalDetail };
  /** The review queue. */
  proposals_list: { request: ProposalsQuery; response: Proposals };
  /** Everything about a proposal. */
  proposals_get: { request: ProposalGet; response: ProposalDetail };
  /** Takes a proposal over, whole or in part. */
  proposals_accept: { request: ProposalAccept; response: ProposalDetail };
  /** Turns a proposal down. */
  proposals_reject: { request: ProposalReject; response: ProposalDetail };
  /** Takes the decision on a proposal back. */
  proposals_reopen: { request: ProposalRef; response: ProposalDetail };
  /** Says something about a proposal, which decides nothing. */
  proposals_comment: { request: ProposalComment; response: ProposalDetail };
  /** What accepting the safe ones among some proposals would change. */
  proposals_preview: { request: ProposalsRef; response: AcceptPreview };
  /** Accepts the safe ones in the background, as previewed and as one undoable change. */
  proposals_accept_safe: { request: ProposalsAccept; response: JobRef };
  /** How this library is reviewed. */
  review_policy_get: { request: Nothing; response: ReviewPolicy };
  /** Chooses how this library is reviewed. */
  review_policy_set: { request: ReviewPolicy; response: ReviewPolicy };
  /** How many cards are verified, stale, broken, unreachable or never checked, and the trend. */
  health_get: { request: Nothing; response: LibraryHealth };
  /** Reads documentation pages of cards in the background. */
  pages_fetch: { request: PagesFetch; response: JobRef };
  /** The documentation page of a card as last read. */
  pages_get: { request: CardRef; response: CardPage };
  /** The services in use. */
  providers_get: { request: Nothing; response: Providers };
  /** Chooses services; takes effect at once. */
  providers_set: { request: ProviderSettings; response: Providers };
  /** Begins the count of what language models cost anew. */
  spending_reset: { request: Nothing; response: Providers };
  /** Keeps a key, or takes it away. */
  secrets_set: { request: SecretSet; response: Providers };
  /** Tries a connection with one real request. */
  providers_test: { request: TestRequest; response: TestOutcome };
  /** The MCP servers behind AutoKit. */
  servers_list: { request: Nothing; response: Array<Server> };
  /** Adds an MCP server, or changes one, and looks at its tools: they wait in Review unless it is trusted. */
  servers_add: { request: ServerAdd; response: JobRef };
  /** The MCP servers in the settings of a program, as they would be added. */
  servers_read: { request: ServersText; response: ServersRead };
  /** Stops an MCP server and forgets it; the cards of its tools stay. */
  servers_remove: { request: ServerRef; response: Array<Server> };
  /** Looks again at the tools of an MCP server. */
  servers_refresh: { request: ServerRef; response: JobRef };
  /** Where tools are looked for that are not here yet. */
  market_sources_list: { request: Nothing; response: Array<MarketSource> };
  /** Looks for tools there from now on: a registry of MCP servers, or a published bundle. The words that are searched for are sent there, also those of agents. */
  market_sources_add: { request: MarketSourceAdd; response: Array<MarketSource> };
  /** Looks there no more; what was installed from it stays. */
  market_sources_remove: { request: MarketSourceRef; response: Array<MarketSource> };
  /** What the sources have for a request in words. */
  market_search: { request: MarketQuery; response: MarketFound };
  /** What installing would do, as a request to confirm; nothing is done. */
  market_install: { request: MarketRef; response: MarketInstall };
  /** What agents did: sessions, searches, calls, how long they took, what they cost. */
  activity_get: { request: ActivityQuery; response: ActivityReport };
  /** What agents called, who let them, and what came of it. */
  audit_list: { request: AuditQuery; response: AuditLog };
  /** The profiles of agents, and how their sessions are kept. */
  profiles_list: { request: Nothing; response: Profiles };
  /** Adds a profile, or replaces the one of its name. */
  profiles_set: { request: Profile; response: Profiles };
  /** Changes a profile that is still what it was when it was looked at; `conflict` when it is not. */
  profiles_change: { request: ProfileChange; response: Profiles };
  /** Removes a profile; agents that name it are refused from then on. */
  profiles_remove: { request: ProfileRef; response: Profiles };
  /** Sets how the sessions of agents are kept. */
  agent_sessions_set: { request: AgentSessions; response: Profiles };
  /** Waits for calls of agents that need a person's word. */
  approvals_wait: { request: ApprovalsWait; response: ApprovalRequests };
  /** Gives a person's word on a call of an agent. */
  approvals_answer: { request: ApprovalAnswer; response: ApprovalRequests };
  /** The tools that can be called from here, with whether agents may. */
  tools_list: { request: ToolsQuery; response: ToolList };
  /** One of them, with what it takes. */
  tools_get: { request: ToolRef; response: ToolView };
  /** Calls one for the person, or says what has to be allowed first. */
  tools_run: { request: ToolRun; response: ToolRunStart };
  /** What a tool answered whose job is done. */
  tools_outcome: { request: JobRef; response: ToolOutcome };
  /** The keys for web APIs: those that are kept, and those that operations in the library want. */
  api_keys_list: { request: Nothing; response: Array<ApiKey> };
  /** Keeps a key for a web API. */
  api_keys_set: { request: ApiKeySet; response: Array<ApiKey> };
  /** Forgets a key for a web API. */
  api_keys_remove: { request: ApiKeyRef; response: Array<ApiKey> };
  /** The programs agents run in, and what connecting AutoKit would change in their settings. */
  clients_list: { request: Nothing; response: Array<AgentClient> };
  /** Puts AutoKit among the MCP servers of a program, as previewed; the file as it was is kept beside. */
  clients_connect: { request: ConnectClient; response: ClientConnected };
  /** Takes AutoKit out of the MCP servers of a program, as previewed; the file as it was is kept beside. */
  clients_disconnect: { request: ConnectClient; response: ClientConnected };
  /** The address for agents that cannot start a program. */
  mcp_http_get: { request: AgentsHttpRef; response: AgentsHttp };
  /** Switches it on or off, or gives it another port. */
  mcp_http_set: { request: AgentsHttpSet; response: AgentsHttp };
  /** Gives it another token; who has the one before is refused from then on. */
  mcp_http_renew: { request: AgentsHttpRef; response: AgentsHttp };
  /** The backups of this library, newest first. */
  backups_list: { request: Nothing; response: Array<Backup> };
  /** Makes a backup and verifies it. */
  backups_create: { request: Nothing; response: Backup };
  /** Goes on without the acknowledged changes that are missing: they are reported no more. */
  missing_changes_accept: { request: Nothing; response: Nothing };
  /** Looks the installation over. */
  diagnostics_run: { request: DoctorRequest; response: Doctor };
}
