// Written by `cargo xtask bindings` from the list of commands in autokit-api. Do not edit.

/** Version of the protocol of the loopback host. */
export const PROTOCOL = 27;

/** How the sessions of agents are kept where nobody said otherwise. */
export const SESSION_DEFAULTS: AgentSessions = {
  "session": {
    "results": 5,
    "threshold": 0.2,
    "rerank_ms": 2000,
    "capacity": 12,
    "ttl_secs": 1800,
    "always": [],
    "preload": 0,
    "full_context_percent": 100,
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
 * Preview of accepting those of several proposals that are safe.
 */
export type AcceptPreview = { 
/**
 * Proposals that would be accepted, in the requested order.
 */
safe: Array<SafeProposal>, 
/**
 * Proposals that would be left pending.
 */
left: Array<UnsafeProposal>, 
/**
 * Digest of the preview, to be returned with the acceptance so that nothing else is accepted.
 */
seen: string, };

/**
 * Which of several proposals may be accepted together. None of them contains flagged text, conflicts with its card or
 * changes code that AutoKit runs.
 */
export type AcceptRule = "safe" | "link_repairs" | "selected";

/**
 * Activity of agents on one day.
 */
export type ActivityDay = { 
/**
 * Date in UTC, e.g. `2026-03-09`.
 */
day: string, 
/**
 * Number of searches.
 */
searches: number, 
/**
 * Number of calls.
 */
calls: number, 
/**
 * Number of calls that returned an error.
 */
failed_calls: number, 
/**
 * Number of loops stopped.
 */
loops: number, 
/**
 * Latency of searches.
 */
search: Latency, 
/**
 * Share of the tools found that were called; `null` if none were found.
 */
accuracy: number | null, };

/**
 * Request for a report on agents' activity.
 */
export type ActivityQuery = { 
/**
 * Number of days to look back.
 */
days: number, };

/**
 * Activity of agents over several days.
 */
export type ActivityReport = { 
/**
 * Number of days covered.
 */
days: number, 
/**
 * Number of sessions started.
 */
sessions: number, 
/**
 * Number of sessions by client program, ignoring its version.
 */
clients: { [key in string]: number }, 
/**
 * Number of searches.
 */
searches: number, 
/**
 * Number of searches that found nothing.
 */
empty_searches: number, 
/**
 * Number of searches that found the same tools as an earlier one.
 */
repeated_searches: number, 
/**
 * Latency of searches.
 */
search: Latency, 
/**
 * Latency of searches by tier.
 */
tiers: Array<TierLatency>, 
/**
 * Number of tools bound to sessions.
 */
bound: number, 
/**
 * Number of tools evicted: idle, least recently used, or over the token budget.
 */
evicted: number, 
/**
 * Number of loops stopped.
 */
loops: number, 
/**
 * Number of calls.
 */
calls: number, 
/**
 * Number of calls that returned an error.
 */
failed_calls: number, 
/**
 * Activity per day, oldest first, including days without any.
 */
days_list: Array<ActivityDay>, 
/**
 * Most frequently called tools.
 */
tools: Array<ToolUse>, 
/**
 * Number of further tools that were called.
 */
other_tools: number, 
/**
 * Share of the tools found that were called, over all sessions (Kaman, equation 4); `null` if none
 * were found.
 */
accuracy: number | null, 
/**
 * Tokens of the tools listed in every session.
 */
own_tokens: number, 
/**
 * Tokens of the search results in a session, median over the sessions that searched.
 */
search_tokens: number, 
/**
 * Total tokens of the results of calls.
 */
result_tokens: number, 
/**
 * Tokens it would take to list every callable tool in a session.
 */
static_tokens: number, 
/**
 * Number of events of another version, which are not counted.
 */
unknown: number, 
/**
 * Past sessions replayed with preloading; `null` if there were too few.
 */
preloading: PreloadingReplay | null, };

/**
 * Request to propose a tool found on the web as a card.
 */
export type AddFinding = { 
/**
 * Id of the session that found the tool.
 */
session: SessionId, 
/**
 * Address of the tool's page.
 */
url: string, };

/**
 * What is known of an entry that was added.
 */
export type AddedEntry = { 
/**
 * Its id.
 */
id: string, 
/**
 * Name of the bundle it came with; absent if it was added here.
 */
bundle?: string, 
/**
 * Who added it.
 */
by: string, 
/**
 * When it was added.
 */
at: Timestamp, };

/**
 * An answer. Name, sentence, code and citations all come from the same card.
 */
export type AgentAnswer = { 
/**
 * Whether the tool answers the question.
 */
verdict: Verdict, 
/**
 * Probability that the recommended tool is right, 0 to 1. `null` if there is none, it is not the first of the
 * ranking, a model wrote the answer, or that was not measured for such scores.
 */
confidence: number | null, 
/**
 * Id of the recommended card.
 */
tool: CardId | null, 
/**
 * Its name.
 */
name: string | null, 
/**
 * One sentence that describes the tool.
 */
sentence: string, 
/**
 * Sentences of its card that limit what it does and that are not part of `sentence`.
 */
limits: Array<string>, 
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
 * If neither the library nor the web has a suitable tool: one that may be used in its place.
 */
substitute: Finding | null, 
/**
 * What ran and what did not, as messages for the person.
 */
notes: Array<string>, };

/**
 * Client program in which agents run, and whether AutoKit is connected to it.
 */
export type AgentClient = { 
/**
 * Id for requests.
 */
id: string, 
/**
 * Display name.
 */
name: string, 
/**
 * Settings file that lists its MCP servers.
 */
file: string, 
/**
 * Whether the program appears to be used on this machine.
 */
here: boolean, 
/**
 * Whether AutoKit is among its MCP servers, with the current settings.
 */
connected: boolean, 
/**
 * Lines to paste by hand.
 */
lines: string, 
/**
 * Change to the file that connecting makes, with a few lines of context; the rest of the file may be
 * private. `null` if the file cannot be changed without loss.
 */
change: Array<ChangedLine> | null, 
/**
 * Change to the file that disconnecting makes; `null` if AutoKit is not among its servers.
 */
leave: Array<ChangedLine> | null, 
/**
 * Digest of the file, to be returned with a change so that a file changed since is not overwritten.
 */
seen: string, 
/**
 * Why the file cannot be changed; `null` if it can.
 */
problem: string | null, };

/**
 * Request to ask the agent a question.
 */
export type AgentQuestion = { 
/**
 * The question, or a description of the tool that is needed.
 */
question: string, 
/**
 * Id of the session to continue. Default: a new session.
 */
session?: SessionId, 
/**
 * Maximum number of candidates in the answer, 1 to 20. Default: 5.
 */
limit?: number, };

/**
 * Settings of the sessions of all agents.
 */
export type AgentSessions = { 
/**
 * Parameters of every session.
 */
session: SessionSettings, 
/**
 * Token budget for tools by client program. A key matches every client whose name contains it,
 * ignoring case; the longest match wins. Other clients use the parameters above.
 */
budgets: { [key in string]: number }, };

/**
 * Local HTTP server for agents that cannot start a program.
 */
export type AgentsHttp = { 
/**
 * Whether the server is switched on.
 */
enabled: boolean, 
/**
 * Port on the loopback interface; other machines cannot connect.
 */
port: number, 
/**
 * Whether this process is listening there now.
 */
open: boolean, 
/**
 * Address. If a client names a profile by `?profile=NAME` or the header `x-autokit-profile`, both that
 * profile and the one of its token apply.
 */
url: string, 
/**
 * Profile of the token in `lines`; empty for the one that applies to all agents.
 */
profile: string, 
/**
 * Lines for the settings of a client program, including the token; empty if the server is switched
 * off.
 */
lines: string, 
/**
 * Why the server is not listening although it is switched on.
 */
problem: string | null, };

/**
 * Request for the HTTP server as used by clients of one profile, with a token of that profile.
 */
export type AgentsHttpRef = { 
/**
 * Profile name; empty for the one that applies to all agents.
 */
profile: string, };

/**
 * Request to switch the HTTP server for agents on or off.
 */
export type AgentsHttpSet = { 
/**
 * Whether it is to be on.
 */
enabled: boolean, 
/**
 * Port. Default: unchanged.
 */
port: number | null, };

/**
 * Cards that may be found: those of the listed providers, and those listed by id. Cards assigned to the
 * profile may be found as well.
 */
export type Allowlist = { 
/**
 * Providers.
 */
providers: Array<string>, 
/**
 * Card ids.
 */
cards: Array<CardId>, };

/**
 * Answer of the library to a question.
 */
export type Answer = { 
/**
 * The question as received.
 */
question: string, 
/**
 * Whether the first candidate answers the question.
 */
verdict: Verdict, 
/**
 * Probability that the first candidate is right, 0 to 1. `null` if there is none, or that was not measured for
 * such scores.
 */
confidence: number | null, 
/**
 * Candidates, best first. The first is the recommendation unless the verdict is `nothing`.
 */
candidates: Array<Candidate>, 
/**
 * Messages for the person about ranking stages that ran or were skipped.
 */
notes: Array<string>, 
/**
 * Number of cards searched.
 */
searched: number, 
/**
 * Duration in milliseconds.
 */
took_ms: number, };

/**
 * Feedback of a person on an answer.
 */
export type AnswerFeedback = { 
/**
 * Whether the answer helped.
 */
helpful: boolean, 
/**
 * Use case if the answer helped, otherwise what was wrong with it.
 */
text: string, 
/**
 * Starter code for the use case; only if the answer helped.
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
 * Credential for a web API that is stored, or that operations need.
 */
export type ApiKey = { 
/**
 * Origin the credential is sent to.
 */
origin: string, 
/**
 * Name of the security scheme in the API's description.
 */
scheme: string, 
/**
 * Place in a request where the credential is sent, e.g. `header X-Key`, or the tokens that are fetched
 * with it.
 */
place: string, 
/**
 * Kind of credential: `key`, `basic`, `token` or `client`.
 */
sort: string, 
/**
 * Whether the credential is stored.
 */
here: boolean, 
/**
 * Number of operations in the library that need it.
 */
operations: number, 
/**
 * Address of the token endpoint for a client; for one that is not stored, as given by the API's
 * description.
 */
token_url: string | null, };

/**
 * Reference to a credential for a web API.
 */
export type ApiKeyRef = { 
/**
 * Origin the credential is sent to.
 */
origin: string, 
/**
 * Name of the security scheme in the API's description.
 */
scheme: string, 
/**
 * Place in a request where the credential is sent; empty for every place.
 */
place: string, };

/**
 * Request to store a credential for a web API.
 */
export type ApiKeySet = { 
/**
 * Origin the credential is sent to, and nowhere else, e.g. `https://api.example.org`.
 */
origin: string, 
/**
 * Name of the security scheme in the API's description.
 */
scheme: string, 
/**
 * Place in a request where the credential is sent, and nowhere else, as [`ApiKey::place`]. May be
 * empty if all operations agree.
 */
place: string, 
/**
 * The credential.
 */
secret: ApiSecret, };

/**
 * Credential for a web API. Stored in the secret store and never returned.
 */
export type ApiSecret = { "sort": "key", 
/**
 * The API key.
 */
key: string, } | { "sort": "basic", 
/**
 * User name.
 */
user: string, 
/**
 * Password.
 */
password: string, } | { "sort": "token", 
/**
 * The token.
 */
token: string, } | { "sort": "client", 
/**
 * Address of the token endpoint.
 */
token_url: string, 
/**
 * Client id.
 */
id: string, 
/**
 * Client secret.
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
 * When it was given.
 */
at: Timestamp, 
/**
 * The fields to accept, each with its value as JSON text; an empty text removes the field.
 */
values: { [key in string]: string }, };

/**
 * Request to decide on a call that waits for approval.
 */
export type ApprovalAnswer = { 
/**
 * Id of the call.
 */
id: string, 
/**
 * Decision of the person.
 */
reply: ApprovalDecision, };

/**
 * Decision of a person on a call that waits for approval.
 */
export type ApprovalDecision = "once" | "session" | "always" | "no" | "never";

/**
 * Call of an agent that waits for approval.
 */
export type ApprovalRequest = { 
/**
 * Id for the response.
 */
id: string, 
/**
 * Time since when the call waits.
 */
at: Timestamp, 
/**
 * Time at which the call is refused unless it is answered.
 */
until: Timestamp, 
/**
 * Id of the agent's session.
 */
session: McpSessionId, 
/**
 * Name of the client program, as reported by itself.
 */
client: string, 
/**
 * Profile of the agent; empty for the one that applies to all agents.
 */
profile: string, 
/**
 * Id of the tool's card, or of one of AutoKit's own tools.
 */
tool: string, 
/**
 * Name of the tool.
 */
name: string, 
/**
 * Provider of the tool.
 */
provider: string, 
/**
 * Permissions that no rule and no earlier approval grants.
 */
needs: Array<Need>, 
/**
 * Whether [`ApprovalDecision::Always`] is possible; `false` if a rule for all agents asks each time and
 * profiles may not override it.
 */
can_always: boolean, 
/**
 * The permissions in words, e.g. "to run code in python".
 */
words: Array<string>, 
/**
 * Arguments of the call, complete and unredacted.
 */
arguments: unknown, };

/**
 * List of the calls that wait for approval.
 */
export type ApprovalRequests = { 
/**
 * Version number, incremented with every change.
 */
version: number, 
/**
 * Calls, longest wait first.
 */
asks: Array<ApprovalRequest>, };

/**
 * Request to wait until the list of calls that wait for approval changes, for up to ten seconds. Calls
 * wait for approval only while a client sends this request; otherwise they are refused at once.
 */
export type ApprovalsWait = { 
/**
 * Version the caller knows; 0 for none.
 */
after: number, };

/**
 * Request for the tools that best match a question.
 */
export type AskRequest = { 
/**
 * The question, e.g. "I want a tool that can integrate with my calendar".
 */
question: string, 
/**
 * Maximum number of candidates. Default: 5.
 */
limit?: number, 
/**
 * Ids of cards that are not to be in the answer.
 */
exclude?: Array<CardId>, };

/**
 * Call in the audit log.
 */
export type AuditEntry = { 
/**
 * End of the call.
 */
at: Timestamp, 
/**
 * Id of the agent's session.
 */
session: McpSessionId, 
/**
 * Name of the client program, as reported by itself.
 */
client: string, 
/**
 * Profile of the agent; empty for the one that applies to all agents.
 */
profile: string, 
/**
 * Id of the tool's card, or of one of AutoKit's own tools.
 */
tool: string, 
/**
 * Name of the tool.
 */
name: string, 
/**
 * Provider of the tool.
 */
provider: string, 
/**
 * Arguments, with secrets redacted and long values shortened.
 */
arguments: unknown, 
/**
 * Permissions the call needed, in words.
 */
needed: Array<string>, 
/**
 * Who allowed or refused the call.
 */
decided: DecidedBy, 
/**
 * Outcome of the call.
 */
outcome: CallOutcome, 
/**
 * Reason for a refusal or failure; empty otherwise.
 */
why: string, 
/**
 * Duration in milliseconds, including the wait for approval.
 */
took_ms: number, };

/**
 * Entries of the audit log.
 */
export type AuditLog = { 
/**
 * Entries, newest first.
 */
entries: Array<AuditEntry>, 
/**
 * Total number of entries in the period.
 */
total: number, };

/**
 * Request for entries of the audit log.
 */
export type AuditQuery = { 
/**
 * Number of days to look back.
 */
days: number, 
/**
 * Maximum number of entries; the latest are returned.
 */
limit: number, };

/**
 * Backup of the library.
 */
export type Backup = { 
/**
 * Name by which it is verified and restored.
 */
name: string, 
/**
 * Time of creation.
 */
created_at: Timestamp, 
/**
 * Number of cards.
 */
cards: number, 
/**
 * Number of the last commit it contains.
 */
commit: number, 
/**
 * Size on disk in bytes.
 */
bytes: number, };

/**
 * What restoring a backup would change.
 */
export type BackupContents = { 
/**
 * The backup.
 */
backup: Backup, 
/**
 * Problems that verifying it found. A backup with problems cannot be restored.
 */
problems: Array<string>, 
/**
 * Cards that only the backup has.
 */
added: CardNames, 
/**
 * Cards that only the library has.
 */
removed: CardNames, 
/**
 * Cards that differ.
 */
changed: CardNames, 
/**
 * Number of pending proposals in the backup.
 */
proposals: number, 
/**
 * Number of changes that were made to the library since.
 */
later_changes: number, };

/**
 * Request that names a backup.
 */
export type BackupRef = { 
/**
 * Name of the backup.
 */
name: string, };

/**
 * Reference to a bundle on this machine.
 */
export type BundlePath = { 
/**
 * File or folder.
 */
path: string, };

/**
 * The outcome of a call.
 */
export type CallOutcome = "done" | "failed" | "refused" | "cancelled";

/**
 * Card that matches a question, with the reasons.
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
 * Components of the score.
 */
parts: ScoreParts, 
/**
 * One sentence that says what the tool is.
 */
sentence: string, 
/**
 * Sentences of its description that limit what it does and that the card's shortened description does not contain.
 */
limits: Array<string>, 
/**
 * Import and call of the tool, if the card contains enough to generate them.
 */
stub: Stub | null, };

/**
 * Result of a change to several cards.
 */
export type CardChange = { 
/**
 * Id of the change, for undo; `null` if nothing differed.
 */
change: string | null, 
/**
 * Ids of the affected cards.
 */
cards: Array<CardId>, };

/**
 * Request to validate fields without saving them.
 */
export type CardCheck = { 
/**
 * Fields of the card.
 */
fields: { [key in string]: JsonValue }, };

/**
 * Request to add a card.
 */
export type CardCreate = { 
/**
 * Fields of the card.
 */
fields: { [key in string]: JsonValue }, 
/**
 * Reason for the change, written by the person.
 */
reason: string, 
/**
 * Whether to save the card although some of its texts are flagged as hidden text or instructions to a
 * model.
 */
flagged_too: boolean, };

/**
 * Request to draft a card from a description.
 */
export type CardDescribe = { 
/**
 * Description of a tool: a README, a copied page, a few sentences.
 */
text: string, };

/**
 * Card with all its fields.
 */
export type CardDetail = { 
/**
 * The card as shown in lists.
 */
summary: CardSummary, 
/**
 * All fields as stored.
 */
fields: { [key in string]: JsonValue }, 
/**
 * Problems found by validation.
 */
warnings: Array<Problem>, 
/**
 * Import and call of the tool.
 */
stub: Stub | null, 
/**
 * Time the card was added.
 */
created_at: Timestamp, 
/**
 * Id of the change that the command made, for undo; `null` if it changed nothing.
 */
change: string | null, };

/**
 * Stable identifier of a card within a library, e.g. `google-calendar-toolkit-1f0c93d2a7be`. It does not
 * change when the card is renamed.
 */
export type CardId = string;

/**
 * Request for a page of a list of cards.
 */
export type CardList = { 
/**
 * Filters and order.
 */
query: CardsQuery, 
/**
 * Number of rows to skip.
 */
offset: number, 
/**
 * Maximum number of rows, up to 1,000.
 */
limit: number, };

/**
 * Cards of which a list shows the first.
 */
export type CardNames = { 
/**
 * Number of cards.
 */
count: number, 
/**
 * Names of the first hundred in alphabetical order, with their providers.
 */
first: Array<string>, };

/**
 * Result of a request for the page of a card.
 */
export type CardPage = { 
/**
 * The page; `null` if it was never fetched.
 */
page: PageView | null, };

/**
 * Reference to a card.
 */
export type CardRef = { 
/**
 * Card id, or the card's exact name if no other card has it.
 */
card: string, };

/**
 * Request to restore an earlier revision.
 */
export type CardRestore = { 
/**
 * Card id or name.
 */
card: string, 
/**
 * Revision number.
 */
number: number, };

/**
 * Who sees a card.
 */
export type CardSharing = { 
/**
 * At the team; `None` for a card that it does not have yet.
 */
visible_to: CardVisibility | null, 
/**
 * Once that was sent; `None` if nothing is to be sent.
 */
wanted: CardVisibility | null, };

/**
 * State of a card.
 */
export type CardState = "verified" | "stale" | "broken" | "unreachable";

/**
 * Card as shown in lists.
 */
export type CardSummary = { 
/**
 * Card id.
 */
id: CardId, 
/**
 * Name of the tool.
 */
name: string, 
/**
 * Provider, or an empty string.
 */
provider: string, 
/**
 * Kind of tool.
 */
kind: Kind, 
/**
 * Programming language, if any.
 */
language: string | null, 
/**
 * Beginning of the description.
 */
description: string, 
/**
 * Documentation address as stored in the card.
 */
documentation: string | null, 
/**
 * Whether a check (FUEL) has confirmed the card against its page.
 */
verified: boolean, 
/**
 * Result of the last check; `null` if the card was never checked.
 */
health: CardState | null, 
/**
 * Time of the last check.
 */
checked_at: Timestamp | null, 
/**
 * Whether the card changed after its last check, so that the result is about an earlier revision.
 */
changed: boolean, 
/**
 * Whether the card stores a call, so that AutoKit can make it: a request, a tool of an MCP server, a macro or a
 * function. Otherwise it is a reference, for use in code.
 */
callable: boolean, 
/**
 * Tags.
 */
tags: Array<string>, 
/**
 * Number of the latest revision.
 */
number: number, 
/**
 * Time of the last change.
 */
updated_at: Timestamp, };

/**
 * Request to replace the fields of a card.
 */
export type CardUpdate = { 
/**
 * Card id or name.
 */
card: string, 
/**
 * Revision the edit is based on; `null` overwrites any revision.
 */
expected: number | null, 
/**
 * All fields after the edit.
 */
fields: { [key in string]: JsonValue }, 
/**
 * Reason for the change, written by the person.
 */
reason: string, 
/**
 * Whether to save the card although texts added by the edit are flagged as hidden text or instructions
 * to a model.
 */
flagged_too: boolean, };

/**
 * Last check of a card, and the proposals that wait because of it.
 */
export type CardVerification = { 
/**
 * The check; `null` if the card was never checked.
 */
checked: LatestCheck | null, 
/**
 * Number of the card's newest proposal that waits in Review.
 */
proposal: ProposalId | null, 
/**
 * Number of the card's proposals that wait in Review.
 */
waiting: number, };

/**
 * Who sees a card of a team.
 */
export type CardVisibility = { "kind": "everyone" } | { "kind": "team" } | { "kind": "role", "of": TeamRole } | { "kind": "group", "of": string } | { "kind": "person", "of": string };

/**
 * Request to delete cards in one change, which can be undone.
 */
export type CardsDelete = { 
/**
 * Card ids or names.
 */
cards: Array<string>, 
/**
 * Reason for the change, written by the person.
 */
reason: string, };

/**
 * Request to edit several cards in one change, which can be undone.
 */
export type CardsEdit = { 
/**
 * Card ids or names.
 */
cards: Array<string>, 
/**
 * Fields to set on all of them; `null` removes a field. The name cannot be set.
 */
fields: { [key in string]: JsonValue }, 
/**
 * Tags to add.
 */
add_tags: Array<string>, 
/**
 * Tags to remove.
 */
remove_tags: Array<string>, 
/**
 * Reason for the change, written by the person.
 */
reason: string, 
/**
 * Whether to save the cards although texts added by the edit are flagged as hidden text or instructions to a
 * model.
 */
flagged_too: boolean, };

/**
 * Request to merge two cards in one change, which can be undone.
 */
export type CardsMerge = { 
/**
 * Id or name of the card to keep.
 */
keep: string, 
/**
 * Id or name of the card to remove.
 */
remove: string, 
/**
 * All fields of the kept card after the merge; `null` merges them as the preview shows.
 */
fields: { [key in string]: JsonValue } | null, 
/**
 * Revisions of both cards that were looked at, that of the kept one first; `null` merges any.
 */
expected: [number, number] | null, 
/**
 * Reason for the change, written by the person.
 */
reason: string, 
/**
 * Whether to save the card although texts of the other one are flagged as hidden text or instructions to a model.
 */
flagged_too: boolean, };

/**
 * Page of a list of cards.
 */
export type CardsPage = { 
/**
 * Total number of matching cards.
 */
total: number, 
/**
 * Number of rows skipped.
 */
offset: number, 
/**
 * Rows of the page.
 */
rows: Array<CardSummary>, };

/**
 * Filters and order of a list of cards. All given filters must match.
 */
export type CardsQuery = { 
/**
 * Text contained in name, provider or description, ignoring case.
 */
text: string | null, 
/**
 * Kind of tool.
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
 * Tag.
 */
tag: string | null, 
/**
 * Collection, by its name.
 */
collection: string | null, 
/**
 * Whether the card is verified.
 */
verified: boolean | null, 
/**
 * Whether the card has a documentation address.
 */
documented: boolean | null, 
/**
 * Result of the last check.
 */
health: HealthFilter | null, 
/**
 * Sort order.
 */
sort: Sort, 
/**
 * Whether to reverse the sort order.
 */
descending: boolean, };

/**
 * How a field changed.
 */
export type ChangeKind = "added" | "removed" | "changed";

/**
 * Line of a file in a preview of a change.
 */
export type ChangedLine = { 
/**
 * Whether the line is kept, added or removed.
 */
fate: LineChange, 
/**
 * The line without its line break.
 */
text: string, };

/**
 * Diagnostic check.
 */
export type Check = { 
/**
 * What was checked.
 */
name: string, 
/**
 * Result.
 */
state: CheckState, 
/**
 * Finding, in words.
 */
detail: string, 
/**
 * What to do about it, unless the result is good.
 */
remedy: string | null, };

/**
 * Settings of automatic checks.
 */
export type CheckSettings = { 
/**
 * Days after which a card is checked again; 0 for never.
 */
every_days: number, 
/**
 * Whether accepted, imported, added or changed cards are checked soon afterwards.
 */
new_cards: boolean, };

/**
 * Result of one diagnostic check.
 */
export type CheckState = "good" | "warning" | "bad";

/**
 * A passage that supports a statement.
 */
export type Citation = { 
/**
 * Id of the card whose page is cited.
 */
card: CardId, 
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
 * Client program whose settings were changed.
 */
export type ClientConnected = { 
/**
 * The program after the change.
 */
client: AgentClient, 
/**
 * Path of the backup of its settings file; `null` if there was no file.
 */
backup: string | null, };

/**
 * Code that was written, and its checks.
 */
export type CodeAttempt = { 
/**
 * The code.
 */
source: string, 
/**
 * Its tests.
 */
tests: string, 
/**
 * The checks, in the order they were made in.
 */
checks: Array<CodeCheck>, };

/**
 * A check with what it showed.
 */
export type CodeCheck = { 
/**
 * What was checked.
 */
kind: CodeCheckKind, 
/**
 * How it ended.
 */
state: CodeCheckState, 
/**
 * What it showed, in words.
 */
output: string, };

/**
 * What is checked.
 */
export type CodeCheckKind = "syntax" | "access" | "examples" | "tests" | "limits" | "types" | "lint";

/**
 * How a check ended.
 */
export type CodeCheckState = "passed" | "failed" | "not_run";

/**
 * A documented public function or a command of a repository.
 */
export type CodeTool = { 
/**
 * Id that its card would have.
 */
id: CardId, 
/**
 * Its name, with the class it is in.
 */
name: string, 
/**
 * The package that offers it.
 */
package: string, 
/**
 * File and line, or the manifest, from the root of the repository.
 */
place: string, 
/**
 * What it does, in a sentence.
 */
line: string, };

/**
 * What a repository offers that the library has no card for.
 */
export type CodeTools = { 
/**
 * Number of tools, also of those not listed.
 */
total: number, 
/**
 * The first ones, commands before functions.
 */
tools: Array<CodeTool>, };

/**
 * Request to propose cards for what a repository offers.
 */
export type CodeToolsPropose = { 
/**
 * Absolute path of the folder.
 */
folder: string, 
/**
 * Ids of the tools, as listed; the first ones if empty.
 */
tools: Array<CardId>, 
/**
 * Most tools if none are named; 50 by default.
 */
limit?: number, };

/**
 * Request for what the repository in a folder offers to others.
 */
export type CodeToolsQuery = { 
/**
 * Absolute path of the folder.
 */
folder: string, 
/**
 * Most tools; 50 by default.
 */
limit?: number, };

/**
 * Named set of cards. It belongs to this library: exports and bundles do not contain it.
 */
export type Collection = { 
/**
 * Name, unique ignoring case.
 */
name: string, 
/**
 * Ids of its cards that are in the library, sorted.
 */
cards: Array<CardId>, };

/**
 * Request to add cards to a collection, or to take them out of it.
 */
export type CollectionChange = { 
/**
 * Name of the collection; cards can be added to a new one.
 */
collection: string, 
/**
 * Card ids or names.
 */
cards: Array<string>, 
/**
 * Whether the cards are to be in the collection.
 */
included: boolean, };

/**
 * Reference to a collection.
 */
export type CollectionRef = { 
/**
 * Its name, ignoring case.
 */
collection: string, };

/**
 * Request to rename a collection.
 */
export type CollectionRename = { 
/**
 * Its name, ignoring case.
 */
collection: string, 
/**
 * New name.
 */
name: string, };

/**
 * Condition of a page.
 */
export type Condition = "content" | "not_found" | "parked" | "empty";

/**
 * Request to connect AutoKit to a client program or to disconnect it, as previewed.
 */
export type ConnectClient = { 
/**
 * Id of the client program.
 */
id: string, 
/**
 * Digest of the file, as in [`AgentClient::seen`].
 */
seen: string, };

/**
 * Connection to test.
 */
export type Connection = "llm" | "small_llm" | "search" | "github";

/**
 * A demand of a request.
 */
export type Constraint = "free" | "no_account" | "local" | "hosted" | "open_source" | { "language": Language } | { "excluding": string };

/**
 * Who decided whether a call may be made.
 */
export type DecidedBy = "rules" | "person" | "nobody";

/**
 * A member who can be chosen.
 */
export type DirectoryMember = { 
/**
 * The name they sign in with.
 */
name: string, 
/**
 * What they may do.
 */
role: TeamRole, };

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
read: number, 
/**
 * The pages that could not be read, if there are any.
 */
unread: UnreadPages | null, 
/**
 * The preferred source that has the findings; `null` if they are from any.
 */
preferred: string | null, 
/**
 * If nothing is suitable: a tool that was not made for the need, but may be used in its place.
 */
substitute: Finding | null, };

/**
 * Diagnostics of the installation.
 */
export type Doctor = { 
/**
 * Checks, in order.
 */
checks: Array<Check>, 
/**
 * Whether acknowledged changes are or may be missing from the store, and the loss has not been
 * accepted yet.
 */
can_accept_losses: boolean, };

/**
 * Request to run diagnostics.
 */
export type DoctorRequest = { 
/**
 * Whether to compare the whole library with its change log, which takes seconds for a large library.
 * Otherwise the last known result is reported.
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
 * Card of a pair.
 */
export type DuplicateCard = { 
/**
 * Its id.
 */
id: CardId, 
/**
 * Its name.
 */
name: string, 
/**
 * Its provider; may be empty.
 */
provider: string, 
/**
 * Its description.
 */
description: string, };

/**
 * Two cards that may describe the same tool.
 */
export type DuplicatePair = { 
/**
 * The cards.
 */
cards: [DuplicateCard, DuplicateCard], 
/**
 * Why they were matched.
 */
reason: DuplicateReason, 
/**
 * Cosine of their embeddings (−1 to 1), if they were matched by meaning.
 */
cosine: number | null, };

/**
 * Why two cards may describe the same tool, the most certain first.
 */
export type DuplicateReason = "name" | "import" | "page" | "description" | "meaning";

/**
 * Outcome of the newest search for duplicates.
 */
export type Duplicates = { 
/**
 * Time the search ended; `null` if there was none since the library was opened.
 */
searched_at: Timestamp | null, 
/**
 * Whether cards were compared by meaning as well, which takes an embedding model.
 */
by_meaning: boolean, 
/**
 * The pairs, most certain first. Removed cards and dismissed pairs are left out.
 */
pairs: Array<DuplicatePair>, };

/**
 * Which list an entry belongs to.
 */
export type EntryKind = "name" | "synonym";

/**
 * Error code for the window and the terminal to branch on.
 */
export type ErrorCode = "bad_request" | "not_found" | "conflict" | "duplicate" | "invalid" | "flagged" | "unreadable_file" | "read_only" | "disk_full" | "newer_schema" | "damaged" | "owner_unreachable" | "version_mismatch" | "unauthorized" | "no_model" | "bad_model" | "no_keychain" | "no_search" | "wrong_key" | "wrong_address" | "wrong_model" | "no_connection" | "rate_limited" | "timeout" | "over_budget" | "refused" | "provider" | "cancelled" | "internal";

/**
 * Notification from the engine to its clients.
 */
export type Event = { "event": "job", 
/**
 * Current state of the job.
 */
job: Job, } | { "event": "library", 
/**
 * Position in the change log.
 */
cursor: number, } | { "event": "model", 
/**
 * Current state.
 */
state: ModelState, } | { "event": "session", 
/**
 * Session id.
 */
session: SessionId, 
/**
 * Current version.
 */
version: number, } | { "event": "proposals", 
/**
 * Number of pending proposals.
 */
waiting: number, } | { "event": "providers" } | { "event": "team" } | { "event": "team_notice", 
/**
 * What they are told.
 */
notice: TeamNotice, } | { "event": "setting", 
/**
 * The setting.
 */
setting: Setting, } | { "event": "missed" } | { "event": "restored", 
/**
 * The backup.
 */
backup: Backup, 
/**
 * The folder with the replaced library; `None` if the library was not replaced.
 */
replaced: string | null, 
/**
 * Why the library was not replaced.
 */
error: ApiError | null, } | { "event": "owner", 
/**
 * Current role of this process.
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
 * When the source was read.
 */
fetched_at: Timestamp, 
/**
 * Every request made to reach the page, including the last one; empty if no request was made.
 */
chain: Array<Visit>, };

/**
 * Treatment of cards that the library already has.
 */
export type ExistingCards = "merge" | "replace" | "keep";

/**
 * Result of an export.
 */
export type ExportOutcome = { 
/**
 * Number of cards written.
 */
cards: number, 
/**
 * Path of the file, if one was written.
 */
path: string | null, 
/**
 * Text of the export, if no file was written.
 */
text: string | null, 
/**
 * Digest of a bundle's contents; empty for other formats.
 */
digest: string, 
/**
 * Fingerprint of the key that signed the bundle; empty without a signature.
 */
fingerprint: string, };

/**
 * Preview of an export.
 */
export type ExportPreview = { 
/**
 * Number of cards.
 */
cards: number, 
/**
 * Number of earlier revisions.
 */
revisions: number, 
/**
 * Number of cards with embeddings.
 */
vectors: number, 
/**
 * Approximate size in bytes before compression.
 */
bytes: bigint, 
/**
 * Names of the first cards.
 */
names: Array<string>, 
/**
 * Number of names and synonyms.
 */
vocabulary: number, 
/**
 * Secrets that prevent the export.
 */
secrets: Array<SecretFound>, };

/**
 * Request to export cards.
 */
export type ExportRequest = { 
/**
 * Filters that select the cards.
 */
query: CardsQuery, 
/**
 * Ids or names of the cards to export. Default: all that match.
 */
cards: Array<string> | null, 
/**
 * Ids or names of cards to leave out.
 */
without: Array<string>, 
/**
 * File or folder to write. Default: the text is returned.
 */
path: string | null, 
/**
 * Format of the export.
 */
format: Format, 
/**
 * Whether a bundle includes the history of its cards.
 */
history: boolean, 
/**
 * Whether a bundle includes embeddings of the current model.
 */
vectors: boolean, 
/**
 * Whether a bundle includes the names and synonyms that were added to the library.
 */
vocabulary: boolean, 
/**
 * Whether to sign a bundle with this library's key, which is created if there is none.
 */
sign: boolean, 
/**
 * Name of the export; if empty, the file name.
 */
name: string, 
/**
 * Licence of cards that name none.
 */
licence: string | null, 
/**
 * Note for the reader.
 */
note: string, };

/**
 * Value of a filter, with the number of matching cards.
 */
export type Facet = { 
/**
 * Filter value.
 */
value: string, 
/**
 * Number of cards that have it.
 */
count: number, };

/**
 * Available filter values with their counts, most frequent first.
 */
export type Facets = { 
/**
 * Kinds of tool.
 */
kinds: Array<Facet>, 
/**
 * Programming languages.
 */
languages: Array<Facet>, 
/**
 * Providers.
 */
providers: Array<Facet>, 
/**
 * Tags.
 */
tags: Array<Facet>, 
/**
 * Results of the last checks, as in [`HealthFilter`].
 */
health: Array<Facet>, 
/**
 * Number of verified cards.
 */
verified: number, 
/**
 * Number of cards with a documentation address.
 */
documented: number, 
/**
 * Total number of cards.
 */
total: number, };

/**
 * Request to record feedback on the last answer of a session.
 */
export type FeedbackRequest = { 
/**
 * Session id.
 */
session: SessionId, 
/**
 * Whether the answer helped.
 */
helpful: boolean, 
/**
 * Use case if the answer helped, otherwise what was wrong with it.
 */
said: string, };

/**
 * The part of a card in which a word was found.
 */
export type Field = "provider" | "name" | "description" | "parameters" | "keywords" | "asks_for" | "known";

/**
 * Field that was changed both in the library and in the source.
 */
export type FieldConflict = { 
/**
 * Field name.
 */
field: string, 
/**
 * Value in the last common revision, if there is one.
 */
base: JsonValue | null, 
/**
 * Value in this library.
 */
ours: JsonValue | null, 
/**
 * Value in the source.
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
 * When it was decided.
 */
at: Timestamp, };

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
 * Side of a comparison of two values.
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
 * The page features behind the score.
 */
marks: PageFeatures, 
/**
 * The passage of the page that matches the need best.
 */
excerpt: string, 
/**
 * Ids of library cards that may be the same tool.
 */
similar: Array<CardId>, 
/**
 * The draft card, with evidence.
 */
draft: Draft, };

/**
 * Text of a proposal that is flagged as hidden text or instructions to a model.
 */
export type FlaggedText = { 
/**
 * Name of the field.
 */
field: string, 
/**
 * Which value of the field contains it.
 */
side: FieldSide, 
/**
 * JSON Pointer to the text inside the value; empty for the value itself.
 */
pointer: string, 
/**
 * Whether the text is the name of the object member at `pointer` rather than its value.
 */
in_name: boolean, 
/**
 * Flagged ranges of the text, in order.
 */
marks: Array<InjectionMatch>, };

/**
 * Format of a source or an export.
 */
export type Format = "bundle" | "folder" | "json" | "csv" | "mcp_servers" | "server_json" | "open_api" | "rapid_api" | "markdown" | "html";

/**
 * A language functions can be written in.
 */
export type FunctionLanguage = "python" | "javascript";

/**
 * Request to have a tool written by a language model, or an existing one improved.
 */
export type GenerateRequest = { 
/**
 * What it is needed for, in a sentence or two.
 */
need: string, 
/**
 * Its language.
 */
language: FunctionLanguage, 
/**
 * The written tool to improve, by id or name; absent for a new one.
 */
card?: string, 
/**
 * Most that language models may cost, in US dollars.
 */
budget?: number, };

/**
 * A tool that was composed or written here, and how it fares.
 */
export type GeneratedTool = { 
/**
 * Its card.
 */
card: CardId, 
/**
 * Its name.
 */
name: string, 
/**
 * Whether it is code; otherwise it is made of calls of other tools.
 */
is_code: boolean, 
/**
 * Calls that succeeded in the last three months.
 */
successes: number, 
/**
 * Calls that failed.
 */
failures: number, 
/**
 * Median time of a call, in milliseconds.
 */
p50_ms: number | null, 
/**
 * When it was last called.
 */
last_called: Timestamp | null, 
/**
 * What this suggests; absent while it does well.
 */
advice: ToolAdvice | null, 
/**
 * Why, in a sentence.
 */
why: string, };

/**
 * Needs, and the tools generated for them.
 */
export type GeneratedToolList = { 
/**
 * The tools, those that need something first.
 */
tools: Array<GeneratedTool>, 
/**
 * Requests that were made several times and never answered.
 */
unanswered: Array<UnansweredNeed>, 
/**
 * Edits that were made on several cards.
 */
edits: Array<RepeatedCardEdit>, 
/**
 * Whether a language model is chosen, without which no tool is written.
 */
can_write: boolean, };

/**
 * The writing of a tool, as far as it has come.
 */
export type Generation = { 
/**
 * What the tool is needed for.
 */
need: string, 
/**
 * What it has to do.
 */
specification: ToolSpecification | null, 
/**
 * What was written, first attempt first.
 */
attempts: Array<CodeAttempt>, 
/**
 * The proposal that waits in Review.
 */
proposal: ProposalId | null, 
/**
 * Why nothing was proposed, once that is certain.
 */
problem: string | null, };

/**
 * Reference to the writing of a tool, by its job.
 */
export type GenerationRef = { 
/**
 * The job; the latest one if absent.
 */
job?: JobId, };

/**
 * Parameters of the iteration guard (section 7.2).
 */
export type GuardSettings = { 
/**
 * Number of calls of one tool with the same arguments within the time window that count as a loop. Two
 * may be a retry.
 */
repeats: number, 
/**
 * Length of the time window in seconds.
 */
window_secs: number, 
/**
 * The same among the latest calls, however long they take: detects two tools called alternately.
 */
window_repeats: number, 
/**
 * Calls in that sliding window.
 */
window_calls: number, 
/**
 * Most calls remembered: with more calls in between, repeated calls are not a loop.
 */
remembered: number, 
/**
 * As `repeats`, for calls that failed in transit, which may be retried for a while.
 */
failures: number, 
/**
 * Tools that may be called with the same arguments any number of times, because their results change.
 */
exempt: Array<string>, };

/**
 * Result of a card's last check, as a filter.
 */
export type HealthFilter = "verified" | "stale" | "broken" | "unreachable" | "changed" | "never";

/**
 * Number of cards per check result at the end of a day.
 */
export type HealthPoint = { 
/**
 * Date, `YYYY-MM-DD` in UTC.
 */
day: string, 
/**
 * Number of cards confirmed by their page.
 */
verified: number, 
/**
 * Number of cards contradicted by their page.
 */
stale: number, 
/**
 * Number of cards whose link is dead.
 */
broken: number, 
/**
 * Number of cards whose page could not be fetched.
 */
unreachable: number, 
/**
 * Number of cards that were never checked.
 */
never_checked: number, };

/**
 * Card of a source, in the preview of an import.
 */
export type ImportItem = { 
/**
 * Position in the source, starting at 1.
 */
position: number, 
/**
 * Name, or an empty string.
 */
name: string, 
/**
 * Provider, or an empty string.
 */
provider: string, 
/**
 * Effect of the import on this card.
 */
status: ItemStatus, 
/**
 * Id of the library's card that would change.
 */
card: CardId | null, 
/**
 * Errors that prevent the import, or warnings.
 */
problems: Array<Problem>, 
/**
 * Changes to the library's card, including fields in conflict.
 */
diff: Array<FieldDiff>, 
/**
 * Fields in conflict.
 */
conflicts: Array<FieldConflict>, 
/**
 * Cards of the library that may be the same tool, as pairs of id and name.
 */
similar: Array<[CardId, string]>, 
/**
 * Author of the last change in the source; empty if unknown.
 */
by: string, 
/**
 * Time of the last change in the source, if known.
 */
at: Timestamp | null, 
/**
 * Licence, if one is given.
 */
licence: string | null, 
/**
 * Whether the library's card is newer than this one.
 */
behind: boolean, 
/**
 * Whether a text that is not in the library yet is flagged as hidden text or instructions to a model.
 * Such a card waits in Review even if the others go to the library.
 */
suspect: boolean, 
/**
 * Whether replacing the library's card undoes edits that the source, which has no history, does not have.
 */
reverts: boolean, };

/**
 * Stored description of an import.
 */
export type ImportNote = { 
/**
 * File, folder or address of the source.
 */
source: string, 
/**
 * Name of the source as stated by itself.
 */
name: string, 
/**
 * Author of the source.
 */
author: string, 
/**
 * Digest of the source's contents.
 */
digest: string, 
/**
 * Fingerprint of the key that signed the source; empty without a signature.
 */
fingerprint: string, 
/**
 * Time of the import.
 */
at: Timestamp, 
/**
 * Person who imported it.
 */
by: string, 
/**
 * Number of cards written or proposed.
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
 * Preview of an import.
 */
export type ImportPreview = { 
/**
 * Description of the source.
 */
about: SourceInfo, 
/**
 * Number of cards that the library does not have.
 */
new: number, 
/**
 * Number of cards with changes.
 */
changed: number, 
/**
 * Number of cards with a field in conflict.
 */
conflicting: number, 
/**
 * Number of cards that the library probably has under another name.
 */
similar: number, 
/**
 * Number of cards with nothing new.
 */
identical: number, 
/**
 * Number of cards that cannot be imported.
 */
invalid: number, 
/**
 * Number of cards with a flagged text that is not in the library yet.
 */
suspect: number, 
/**
 * How many of the cards with a flagged text the library does not have.
 */
suspect_new: number, 
/**
 * Number of changed cards of which replacing undoes edits that the source does not have.
 */
reverting: number, 
/**
 * Total number of items with the requested status.
 */
total: number, 
/**
 * Items of the page.
 */
items: Array<ImportItem>, };

/**
 * Request for a page of the preview of an import.
 */
export type ImportPreviewRequest = { 
/**
 * The source.
 */
source: ImportSource, 
/**
 * Status of the items to return. Default: all.
 */
status: ItemStatus | null, 
/**
 * Number of items to skip.
 */
offset: number, 
/**
 * Maximum number of items, up to 1,000.
 */
limit: number, };

/**
 * Reference to an import.
 */
export type ImportRef = { 
/**
 * Id of the import's change.
 */
import: string, };

/**
 * Request to import cards in one change, which can be undone.
 */
export type ImportRequest = { 
/**
 * The source.
 */
source: ImportSource, 
/**
 * Treatment of cards that the library already has.
 */
existing: ExistingCards, 
/**
 * Destination of the cards.
 */
landing: Landing, 
/**
 * Whether search should know the names and synonyms of the source as well.
 */
vocabulary: boolean, 
/**
 * Digest of the source that was previewed; the import fails if the source changed since.
 */
digest: string | null, 
/**
 * Choices for single cards; all others are imported.
 */
choices: Array<ItemChoice>, 
/**
 * Reason for the import, written by the person.
 */
reason: string, };

/**
 * Source of cards.
 */
export type ImportSource = { "path": string } | { "text": string } | { "url": string };

/**
 * Import in the list of past imports.
 */
export type ImportView = { 
/**
 * Id of the import's change, for undo.
 */
import: string, 
/**
 * Whether the import was undone.
 */
undone: boolean, 
/**
 * Description of the import.
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
 * Choice of a person for one card of a source.
 */
export type ItemChoice = { 
/**
 * Position in the source.
 */
position: number, 
/**
 * Whether to import the card.
 */
take: boolean, 
/**
 * Fields to import. Default: all that are not in conflict. For a field in conflict that is listed
 * here, the source's value is used.
 */
fields: Array<string> | null, 
/**
 * Fields in conflict to decide in Review, if others are chosen now.
 */
later: Array<string>, 
/**
 * Id of the library's card that is the same tool under another name.
 */
same_as: CardId | null, };

/**
 * Effect of an import on one card.
 */
export type ItemStatus = "new" | "changed" | "conflicting" | "identical" | "similar" | "invalid";

/**
 * Background job.
 */
export type Job = { 
/**
 * Job id.
 */
id: JobId, 
/**
 * Kind of job.
 */
kind: JobKind, 
/**
 * Title for people.
 */
title: string, 
/**
 * Current state.
 */
state: JobState, 
/**
 * What the job waits for or continues with, as a sentence.
 */
note: string | null, 
/**
 * Whether the running job is paused; `null` for a job that cannot be paused.
 */
paused: boolean | null, 
/**
 * Version number, incremented with every change.
 */
version: number, 
/**
 * Number of units completed.
 */
done: number, 
/**
 * Total number of units; 0 while unknown.
 */
total: number, 
/**
 * Unit of `done` and `total`, e.g. `cards` or `bytes`.
 */
unit: string, 
/**
 * Estimated remaining time in milliseconds; `null` until the first unit is completed.
 */
eta_ms: number | null, 
/**
 * Time in milliseconds since the start, until the end of the job.
 */
elapsed_ms: number, 
/**
 * Result of the job for people, once it is completed.
 */
summary: string | null, 
/**
 * Number of cards affected, for a job that changed cards.
 */
tally: JobTally | null, 
/**
 * Error that ended the job.
 */
error: ApiError | null, };

/**
 * Id of a background job, unique among the jobs of a process.
 */
export type JobId = string;

/**
 * Kind of job.
 */
export type JobKind = "import" | "starter" | "embed" | "download" | "pages" | "memory" | "review" | "duplicates" | "verify" | "call" | "learn" | "refine" | "generate";

/**
 * Request to pause or resume a job.
 */
export type JobPause = { 
/**
 * Job id.
 */
job: JobId, 
/**
 * Whether the job is to be paused.
 */
paused: boolean, };

/**
 * Reference to a job.
 */
export type JobRef = { 
/**
 * Job id.
 */
job: JobId, };

/**
 * State of a job.
 */
export type JobState = "running" | "done" | "failed" | "cancelled";

/**
 * Effect of a completed job on the library.
 */
export type JobTally = { 
/**
 * Number of cards added.
 */
added: number, 
/**
 * Number of cards changed.
 */
changed: number, 
/**
 * Number of cards that were identical to the source.
 */
unchanged: number, 
/**
 * Number of cards rejected.
 */
rejected: number, 
/**
 * Number of cards that only wait in Review, as proposals.
 */
proposed: number, 
/**
 * How many of the changed cards have fields in conflict that wait in Review as well.
 */
conflicting: number, 
/**
 * Number of added cards that may duplicate an existing card under another name.
 */
similar: number, 
/**
 * Id of the change, for undo, if there was one.
 */
change: string | null, };

/**
 * Request to wait until a job changes.
 */
export type JobWait = { 
/**
 * Job id.
 */
job: JobId, 
/**
 * Version the caller knows. The response is sent once the job's version is higher, or after ten
 * seconds.
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
 * The page features behind the score.
 */
marks: PageFeatures, };

/**
 * API key, identified by its service.
 */
export type KeyName = "anthropic" | "openai" | "tavily" | "brave" | "github";

/**
 * Reference to a signing key.
 */
export type KeyRef = { 
/**
 * Public key in Base64.
 */
key: string, };

/**
 * Whether an API key is set. The key itself is never returned.
 */
export type KeyState = { 
/**
 * Service of the key.
 */
name: KeyName, 
/**
 * Whether the key is set.
 */
set: boolean, };

/**
 * Storage of API keys and other secrets.
 */
export type KeyStorage = "keychain" | "file" | "memory";

/**
 * Request to trust a signing key or to withdraw the trust.
 */
export type KeyTrust = { 
/**
 * Public key in Base64.
 */
key: string, 
/**
 * Whether the key is trusted.
 */
trusted: boolean, 
/**
 * Name of the owner, for a key that was not seen before.
 */
signer: string, };

/**
 * Kind of tool that a card describes.
 */
export type Kind = "class" | "rest_operation" | "mcp_tool" | "cli" | "other";

/**
 * Key of another person.
 */
export type KnownKeyView = { 
/**
 * Public key in Base64.
 */
key: string, 
/**
 * Fingerprint of the key, for comparison by people.
 */
fingerprint: string, 
/**
 * Name stated by its owner when the key was first seen.
 */
signer: string, 
/**
 * Time the key was first seen.
 */
first_seen: Timestamp, 
/**
 * Whether a person marked the key as trusted.
 */
trusted: boolean, 
/**
 * Authors of the bundles it signed.
 */
authors: Array<string>, };

/**
 * Destination of imported cards.
 */
export type Landing = "review" | "library";

/**
 * A programming language, or the command line.
 */
export type Language = "python" | "java_script" | "rust" | "go" | "java" | "c_sharp" | "ruby" | "php" | "shell";

/**
 * Request for the models that a service offers. It may differ from the chosen one, which cannot be chosen before its
 * model is known.
 */
export type LanguageModelsQuery = { 
/**
 * Kind of service. Its stored key is sent to its default address and to the address in use, and nowhere else.
 */
kind: LlmKind, 
/**
 * Address of the service; empty for the default one of its kind.
 */
base: string, };

/**
 * Distribution of durations.
 */
export type Latency = { 
/**
 * Median in milliseconds.
 */
p50_ms: number, 
/**
 * 95th percentile in milliseconds.
 */
p95_ms: number, };

/**
 * Last check of a card.
 */
export type LatestCheck = { 
/**
 * Result of the check.
 */
state: CardState, 
/**
 * Time of the check.
 */
checked_at: Timestamp, 
/**
 * Time of the next attempt, if the page was unreachable.
 */
next_at: Timestamp | null, 
/**
 * Whether the card changed after the check, so that the result is about an earlier revision.
 */
changed: boolean, 
/**
 * Findings per field.
 */
report: Report, };

/**
 * Past questions ranked without and with what was learned from the others (five-fold cross-validation).
 */
export type LearningComparison = { 
/**
 * When it was made.
 */
at: Timestamp, 
/**
 * Number of different questions.
 */
questions: number, 
/**
 * Mean reciprocal rank of the right card without it, 0 to 1.
 */
before: number, 
/**
 * The same with it.
 */
after: number, 
/**
 * Lower bound of the difference (95 %, paired bootstrap).
 */
lower: number, 
/**
 * Upper bound of the difference.
 */
upper: number, 
/**
 * Number of questions whose right card moved up.
 */
better: number, 
/**
 * Number of questions whose right card moved down.
 */
worse: number, };

/**
 * Whether searches of a profile are adapted.
 */
export type LearningState = "collecting" | "waiting" | "not_better" | "in_use";

/**
 * Results of several libraries in one ranking.
 */
export type LibrariesFound = { 
/**
 * The query as received.
 */
query: string, 
/**
 * Whether the first result answers the query, as judged by its library.
 */
verdict: Verdict, 
/**
 * Results, best first.
 */
results: Array<LibraryHit>, 
/**
 * How each library answered; the open one first.
 */
libraries: Array<LibraryOutcome>, 
/**
 * Duration in milliseconds.
 */
took_ms: number, };

/**
 * Request to search several libraries at once.
 */
export type LibrariesQuery = { 
/**
 * Description of the tool, or its name.
 */
query: string, 
/**
 * Maximum number of results, up to 50. Default: 10.
 */
limit?: number, 
/**
 * How long to wait for libraries other than the open one, in milliseconds, up to 30,000. Default: 300.
 */
wait_ms?: number, 
/**
 * Whether to wait until the libraries on this machine are open, before that time begins. Default: no.
 */
wait_until_open?: boolean, 
/**
 * Whether to leave out registries, to which the query would be sent. Default: no.
 */
local?: boolean, };

/**
 * Library that can be searched together with the open one.
 */
export type LibraryEntry = { 
/**
 * Id for requests: `personal`, `team:` or `market:` and the id of the team or source.
 */
id: string, 
/**
 * Kind.
 */
kind: LibraryKind, 
/**
 * Display name: of the team, or the address of a source. Empty for the person's own library.
 */
name: string, 
/**
 * Whether it is the library that is open.
 */
open: boolean, 
/**
 * Whether searches of all libraries include it.
 */
searched: boolean, };

/**
 * Number of cards per check result, now and over time.
 */
export type LibraryHealth = { 
/**
 * Total number of cards.
 */
total: number, 
/**
 * Number of cards confirmed by their page.
 */
verified: number, 
/**
 * Number of cards contradicted by their page.
 */
stale: number, 
/**
 * Number of cards whose link is dead.
 */
broken: number, 
/**
 * Number of cards whose page could not be fetched.
 */
unreachable: number, 
/**
 * Number of cards that changed after their last check.
 */
changed: number, 
/**
 * Number of cards that were never checked.
 */
never_checked: number, 
/**
 * Recorded days, oldest first.
 */
trend: Array<HealthPoint>, };

/**
 * Result from one of several libraries.
 */
export type LibraryHit = { 
/**
 * Id of its library.
 */
library: string, 
/**
 * Card id, or id of the offer within its source.
 */
id: string, 
/**
 * Name of the tool.
 */
name: string, 
/**
 * Provider, or an empty string.
 */
provider: string, 
/**
 * Beginning of the description.
 */
description: string, 
/**
 * Documentation address, if any.
 */
documentation: string | null, 
/**
 * Import and call of the tool, if known.
 */
stub: Stub | null, 
/**
 * Why its texts are flagged as hidden text or instructions to a model; `null` if they are not.
 */
suspect: string | null, 
/**
 * Score between 0 and 1, on one scale for all libraries.
 */
score: number, 
/**
 * Components of the score; `null` for an offer, which is compared by meaning alone.
 */
parts: ScoreParts | null, };

/**
 * Kind of library.
 */
export type LibraryKind = "personal" | "team" | "bundle" | "registry";

/**
 * How a library answered a search.
 */
export type LibraryOutcome = { 
/**
 * The library.
 */
library: LibraryEntry, 
/**
 * State.
 */
state: LibraryState, 
/**
 * What went wrong, as a sentence; `null` unless it failed.
 */
error: string | null, 
/**
 * Number of results it returned.
 */
found: number, 
/**
 * Duration in milliseconds.
 */
took_ms: number, };

/**
 * Request to include a library in searches of all libraries, or not.
 */
export type LibrarySet = { 
/**
 * Library id.
 */
id: string, 
/**
 * Whether searches of all libraries include it.
 */
searched: boolean, };

/**
 * State of a library in a search.
 */
export type LibraryState = "answered" | "late" | "failed";

/**
 * Effect of a change on a line.
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
 * Protocol of a language model.
 */
export type LlmKind = "none" | "anthropic" | "openai";

/**
 * Settings of the language models.
 */
export type LlmSettings = { 
/**
 * Protocol.
 */
kind: LlmKind, 
/**
 * Base URL; empty for the provider's default.
 */
base: string, 
/**
 * Name of the model that writes answers and searches the web.
 */
large: string, 
/**
 * Name of the model that grades, reranks and rewrites; empty for the large model.
 */
small: string, 
/**
 * Whether the model supports tool calls.
 */
tools: boolean, 
/**
 * Input price of the large model in US dollars per million tokens. Default: list price.
 */
price_in: number | null, 
/**
 * Output price of the large model in US dollars per million tokens. Default: list price.
 */
price_out: number | null, 
/**
 * Spending limit in US dollars. Once reached, no request is sent until the limit is raised or the
 * spending is reset.
 */
cap: number | null, };

/**
 * Request to propose a tool made of recorded calls.
 */
export type MacroPropose = { 
/**
 * Numbers of the calls; they are made in the order they were made in.
 */
calls: number[], 
/**
 * Name of the tool; empty for one made of the tools' names.
 */
name: string, 
/**
 * What it does; empty for a list of its calls.
 */
description: string, };

/**
 * A proposed tool.
 */
export type MacroProposed = { 
/**
 * The proposal that waits in Review.
 */
proposal: ProposalId, 
/**
 * Name of the tool.
 */
name: string, };

/**
 * Search results from all sources.
 */
export type MarketFound = { 
/**
 * Results, best first.
 */
offers: Array<MarketOffer>, 
/**
 * Messages about sources that did not respond and entries that could not be used.
 */
notes: Array<string>, };

/**
 * Variable or header that a server needs.
 */
export type MarketInput = { 
/**
 * Name of the variable or header; stored among the server's secrets.
 */
name: string, 
/**
 * Description by the publisher.
 */
description: string | null, 
/**
 * Whether the server does not work without it.
 */
required: boolean, 
/**
 * Whether the value is an API key or a password.
 */
secret: boolean, };

/**
 * Preview of an installation, to be confirmed by a person. Nothing is installed yet.
 */
export type MarketInstall = { "kind": "server", 
/**
 * The request, as far as it can be filled in.
 */
add: ServerAdd, 
/**
 * Program that is started; `null` for a server reached at an address.
 */
runner: string | null, 
/**
 * Whether that program was found on this machine; `true` if none is needed.
 */
runner_here: boolean, 
/**
 * Variables or headers the server needs.
 */
inputs: Array<MarketInput>, 
/**
 * Notices for the person to read before confirming.
 */
notes: Array<string>, } | { "kind": "card", 
/**
 * The request.
 */
import: ImportRequest, 
/**
 * Notices for the person to read before confirming.
 */
notes: Array<string>, };

/**
 * Kind of source.
 */
export type MarketKind = "registry" | "bundle";

/**
 * Tool, or server with tools, that can be installed.
 */
export type MarketOffer = { 
/**
 * Id of the source.
 */
source: string, 
/**
 * Id within the source.
 */
id: string, 
/**
 * Display name.
 */
name: string, 
/**
 * Publisher, or an empty string.
 */
provider: string, 
/**
 * Description.
 */
description: string, 
/**
 * Latest version.
 */
version: string | null, 
/**
 * Address of a page about it.
 */
page: string | null, 
/**
 * Category given by the source.
 */
category: string | null, 
/**
 * Price given by the source.
 */
price: string | null, 
/**
 * User rating, on the scale of the source.
 */
rating: number | null, 
/**
 * Names of its tools, if the source lists them.
 */
functions: Array<string>, 
/**
 * Whether the source marks it as deprecated.
 */
deprecated: boolean, 
/**
 * Whether it is already installed here.
 */
installed: boolean, 
/**
 * Why its texts are flagged as hidden text or instructions to a model; `null` if they are not.
 */
suspect: string | null, 
/**
 * Match score between 0 and 1.
 */
score: number, };

/**
 * Request to search all sources.
 */
export type MarketQuery = { 
/**
 * Description of the tool, or part of its name.
 */
query: string, 
/**
 * Maximum number of results, up to 100. Default: 20.
 */
limit?: number, };

/**
 * Reference to an offer.
 */
export type MarketRef = { 
/**
 * Source id.
 */
source: string, 
/**
 * Id within the source.
 */
id: string, };

/**
 * Source of tools that can be installed.
 */
export type MarketSource = { 
/**
 * Id for requests.
 */
id: string, 
/**
 * Kind of source.
 */
kind: MarketKind, 
/**
 * Web address.
 */
url: string, };

/**
 * Request to add a source.
 */
export type MarketSourceAdd = { 
/**
 * Kind of source. Default: `bundle` if the path ends with `.toolcards`, otherwise `registry`.
 */
kind?: MarketKind, 
/**
 * Web address.
 */
url: string, };

/**
 * Reference to a source.
 */
export type MarketSourceRef = { 
/**
 * Source id.
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
 * Id of an agent's session: the handle of a context, or the id of a connection together with the profile.
 * It is another kind of session than the one in which a person asks questions.
 */
export type McpSessionId = string;

/**
 * Request to add a source and to read it in the background.
 */
export type MemoryAdd = { 
/**
 * What it holds.
 */
kind: MemoryKind, 
/**
 * Absolute path of a file or folder, or the address of a page. Code is in folders.
 */
location: string, };

/**
 * What a search found.
 */
export type MemoryFound = { 
/**
 * Best first.
 */
hits: Array<MemoryHit>, 
/**
 * Number of passages searched.
 */
searched: number, 
/**
 * What the results lack, e.g. that only words were searched; `null` if nothing.
 */
note: string | null, };

/**
 * A passage that was found.
 */
export type MemoryHit = { 
/**
 * How it is cited: `path#piece` of a document, `path:line` of code.
 */
citation: string, 
/**
 * Path or address of the file.
 */
file: string, 
/**
 * Title of the document; the file's name for code.
 */
title: string, 
/**
 * Headings above it, from the title down; empty for code.
 */
heading: Array<string>, 
/**
 * Page it begins on, from 1, where there are pages.
 */
page: number | null, 
/**
 * The text of the piece, or the comment of a function.
 */
text: string, 
/**
 * Set for code.
 */
symbol: MemorySymbol | null, 
/**
 * Between 0 and 1. Comparable between searches with the same model.
 */
score: number, };

/**
 * What a source holds.
 */
export type MemoryKind = "documents" | "code";

/**
 * Request for the list of sources.
 */
export type MemoryListQuery = { 
/**
 * Only sources of this kind.
 */
kind: MemoryKind | null, };

/**
 * A file that could not be read.
 */
export type MemoryProblem = { 
/**
 * Its path or address.
 */
file: string, 
/**
 * Why.
 */
reason: string, };

/**
 * A search of documents or code.
 */
export type MemoryQuery = { 
/**
 * What to search.
 */
kind: MemoryKind, 
/**
 * The question, or what a function does.
 */
query: string, 
/**
 * Most results; 5 if not given, at most 50.
 */
limit: number | null, };

/**
 * A source.
 */
export type MemorySource = { 
/**
 * Id, unique in the library.
 */
id: string, 
/**
 * What it holds.
 */
kind: MemoryKind, 
/**
 * Path or address.
 */
location: string, 
/**
 * When it was added.
 */
added_at: Timestamp, 
/**
 * When it was last read to the end; `null` before that.
 */
read_at: Timestamp | null, 
/**
 * Number of files with something to search.
 */
files: number, 
/**
 * Number of pieces of documents, or of functions and types.
 */
passages: number, 
/**
 * Number of `passages` that are also found by meaning.
 */
embedded: number, 
/**
 * Why the source as a whole could not be read; `null` if it could.
 */
problem: string | null, 
/**
 * Files that could not be read.
 */
problems: Array<MemoryProblem>, };

/**
 * Reference to a source.
 */
export type MemorySourceRef = { 
/**
 * Its id or its location.
 */
source: string, };

/**
 * All sources.
 */
export type MemorySources = { 
/**
 * In the order of their locations.
 */
sources: Array<MemorySource>, };

/**
 * A function, method or type that was found.
 */
export type MemorySymbol = { 
/**
 * `function`, `method` or `type`.
 */
kind: string, 
/**
 * Name with what it is inside of, separated by dots.
 */
name: string, 
/**
 * Everything before its body.
 */
signature: string, 
/**
 * First and last line, from 1.
 */
lines: [number, number], 
/**
 * What calls something of this name: file and symbol, at most ten.
 */
callers: Array<string>, };

/**
 * What merging two cards would save.
 */
export type MergePreview = { 
/**
 * The card to keep.
 */
keep: CardDetail, 
/**
 * The card to remove.
 */
remove: CardDetail, 
/**
 * The merged fields: those of the kept card, what only the other one has, and the entries of lists of both.
 */
fields: { [key in string]: JsonValue }, };

/**
 * Request to preview a merge.
 */
export type MergeQuery = { 
/**
 * Id or name of the card to keep.
 */
keep: string, 
/**
 * Id or name of the card to remove.
 */
remove: string, };

/**
 * Ranking mode.
 */
export type Mode = "keyword" | "vector" | "hybrid";

/**
 * Choice of an embedding model.
 */
export type ModelChoice = { 
/**
 * Name of the model in the manifest.
 */
name: string, 
/**
 * Folder with the model's files, used instead of a download.
 */
folder: string | null, };

/**
 * Available embedding model.
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
 * State of the embedding model.
 */
export type ModelState = "missing" | "loading" | "ready" | "failed";

/**
 * List of embedding models.
 */
export type Models = { 
/**
 * Models in the order of the manifest.
 */
models: Array<ModelEntry>, 
/**
 * Folder of downloaded models.
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
 * Settings of network access.
 */
export type NetworkSettings = { 
/**
 * Hosts on this machine or a private network whose pages may be fetched.
 */
allowed_hosts: Array<string>, 
/**
 * Proxy for pages and searches.
 */
proxy: string | null, };

/**
 * Request to choose who sees cards that are added on this machine.
 */
export type NewCards = { 
/**
 * Who sees them.
 */
visible_to: CardVisibility, };

/**
 * Empty request or response.
 */
export type Nothing = Record<symbol, never>;

/**
 * The operation that made a revision.
 */
export type Operation = "create" | "edit" | "delete" | "restore" | "import" | "undo" | "accept";

/**
 * Origin of a proposal.
 */
export type Origin = "discovery" | "description" | "use" | "code" | "repair" | "refresh" | "improvement" | "import" | "conflict";

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
export type PageFeature = "pair" | "class" | "code" | "prose" | "like" | "main" | "focus" | "title" | "exact" | "address" | "sort" | "meaning" | "wording" | "bare" | "rank" | "bm25" | "found" | "tool_address" | "tool_code" | "tool_words" | "named" | "the_named" | "another" | "known";

/**
 * The features of a page. A feature that is not set counts as 0.
 */
export type PageFeatures = { [key in PageFeature]?: number };

/**
 * Section of a page.
 */
export type PagePiece = { 
/**
 * Headings above the section, starting with the page title.
 */
path: Array<string>, 
/**
 * Address of the page, with the anchor of the section if there is one.
 */
url: string, 
/**
 * Text of the section; code is fenced.
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
 * Documentation page of a card, as last fetched.
 */
export type PageView = { 
/**
 * Address after redirects.
 */
url: string, 
/**
 * Page title.
 */
title: string, 
/**
 * Time of the last attempt.
 */
fetched_at: Timestamp, 
/**
 * Why the last attempt failed; `null` if it succeeded.
 */
failed: string | null, 
/**
 * Sections in reading order.
 */
pieces: Array<PagePiece>, };

/**
 * Request to fetch documentation pages.
 */
export type PagesFetch = { 
/**
 * Card ids or names; empty for all cards.
 */
cards: Array<string>, 
/**
 * Whether to also fetch pages that were fetched recently.
 */
again: boolean, };

/**
 * Request to dismiss a pair.
 */
export type PairRef = { 
/**
 * Ids or names of the cards.
 */
cards: [string, string], 
/**
 * Whether they are different tools; `false` takes that back.
 */
dismissed: boolean, };

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
 * What was learned for one profile. Profiles learn apart: what an agent does changes nobody else's searches.
 */
export type PersonalProfile = { 
/**
 * Name of the person, or `agents`, or `agents/` and the name of a profile of agents.
 */
profile: string, 
/**
 * Whether searches are adapted, or why not.
 */
state: LearningState, 
/**
 * Different questions to learn from.
 */
questions: number, 
/**
 * How many answers were rated.
 */
ratings: number, 
/**
 * How many tools were called after they were found.
 */
calls: number, 
/**
 * How many found cards were edited afterwards, directly or in review.
 */
edits: number, 
/**
 * What happened before is not learned from; absent if nothing was reset.
 */
since?: Timestamp, 
/**
 * The last comparison; absent before the first.
 */
comparison?: LearningComparison, };

/**
 * Whether searches adapt to use, and what each profile's did.
 */
export type Personalization = { 
/**
 * Whether it is switched on.
 */
enabled: boolean, 
/**
 * Fewest different questions from which something is learned.
 */
needed: number, 
/**
 * Profiles with anything to learn from, by name.
 */
profiles: Array<PersonalProfile>, };

/**
 * What was learned, as a file.
 */
export type PersonalizationExport = { 
/**
 * A name for the file.
 */
file: string, 
/**
 * Its text: JSON.
 */
text: string, };

/**
 * Which profiles to reset or to export.
 */
export type PersonalizationProfiles = { 
/**
 * Name of a profile; all if absent.
 */
profile?: string, };

/**
 * Switches personalization on or off.
 */
export type PersonalizationSet = { 
/**
 * Whether searches adapt to use.
 */
enabled: boolean, };

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
 * Past sessions, replayed with the tools that the sessions before them predict.
 */
export type PreloadingReplay = { 
/**
 * Number of sessions.
 */
sessions: number, 
/**
 * Most tools preloaded.
 */
tools: number, 
/**
 * Searches of a session.
 */
searches: ReplayedMeasure, 
/**
 * Share of its tools that it called.
 */
used: ReplayedMeasure, 
/**
 * Tokens of responses to its searches and of tools preloaded.
 */
tokens: ReplayedMeasure, 
/**
 * Whether preloading would have saved searches, outside the error, without costing tokens.
 */
helps: boolean, };

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
 * Profile of agents: what they find first, may find and may do. The rules of the profile with an empty
 * name apply to all agents.
 */
export type Profile = { 
/**
 * Name by which an agent selects the profile; empty for the one that applies to all agents.
 */
name: string, 
/**
 * Purpose of the profile, written by the person.
 */
about: string, 
/**
 * Ids of the cards assigned to the profile; they rank before all others (the expert tier).
 */
cards: Array<CardId>, 
/**
 * Cards the profile may find. Default: all. A profile never finds what the profile for all agents may
 * not find.
 */
only: Allowlist | null, 
/**
 * Ids of cards, or names of AutoKit's own tools, that are bound from the start of a session and never
 * evicted.
 */
always: Array<string>, 
/**
 * Permissions of the profile. A profile with a name inherits those for all agents and adds these; a
 * deny for all agents is final.
 */
permissions: Permissions, };

/**
 * Request to change a profile, unless it changed since it was read.
 */
export type ProfileChange = { 
/**
 * The profile as it was read.
 */
before: Profile, 
/**
 * The profile as it is to be, with the same name.
 */
after: Profile, };

/**
 * Reference to a profile.
 */
export type ProfileRef = { 
/**
 * Name by which an agent selects it.
 */
name: string, };

/**
 * All profiles, with the settings they share.
 */
export type Profiles = { 
/**
 * Profiles, the one for all agents first, then by name.
 */
profiles: Array<Profile>, 
/**
 * Settings of sessions.
 */
sessions: AgentSessions, };

/**
 * A proposal in the library.
 */
export type Proposal = { 
/**
 * Its number.
 */
id: ProposalId, 
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
created_at: Timestamp, 
/**
 * Its state.
 */
state: ProposalState, 
/**
 * When it was decided.
 */
decided_at: Timestamp | null, 
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
risk: Risk, 
/**
 * Who reviews it now, in a team.
 */
assigned_to: string | null, };

/**
 * Request to accept a proposal.
 */
export type ProposalAccept = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Fields to accept. Default: all.
 */
fields?: Array<string>, 
/**
 * Values from the reviewer that replace proposed ones.
 */
edits: { [key in string]: JsonValue }, 
/**
 * Fields to reject. Fields in neither list are left undecided.
 */
rejected: Array<string>, 
/**
 * Card revision the reviewer saw. Fields in conflict are set to the reviewer's own value if the card
 * is still at this revision.
 */
seen?: number, 
/**
 * Reason for the decision, written by the reviewer.
 */
reason: string, 
/**
 * Name of the reviewer. Default: the name in the review policy, otherwise the caller's.
 */
by: string, };

/**
 * Request to say who reviews a proposal of a team.
 */
export type ProposalAssign = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Name of the member; `null` for nobody.
 */
to: string | null, };

/**
 * Request to comment on a proposal.
 */
export type ProposalComment = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Comment text.
 */
words: string, 
/**
 * Name of the reviewer, as in [`ProposalAccept`].
 */
by: string, };

/**
 * Proposal with everything needed for its review.
 */
export type ProposalDetail = { 
/**
 * The proposal, with evidence and decision.
 */
proposal: Proposal, 
/**
 * Name of the card it changes or creates.
 */
title: string, 
/**
 * Id of the card it changes, or of the one created by accepting it.
 */
card: CardId | null, 
/**
 * Changes to the current card if all of it is accepted.
 */
diff: Array<FieldDiff>, 
/**
 * Card revision used for the comparison.
 */
revision: number | null, 
/**
 * Fields of the card that the proposal does not set.
 */
unchanged: { [key in string]: JsonValue }, 
/**
 * Risk per field.
 */
risks: { [key in string]: Risk }, 
/**
 * Flagged texts in its fields, before and after.
 */
suspect: Array<FlaggedText>, 
/**
 * Number of approvals required.
 */
needed: number, 
/**
 * What the team lets this person do; `null` in a library that is no team's.
 */
team: TeamReviewer | null, 
/**
 * Cards that may be the same tool, as pairs of id and name.
 */
similar: Array<[CardId, string]>, 
/**
 * History of the proposal, oldest first.
 */
events: Array<ProposalEvent>, };

/**
 * An event in the history of a proposal.
 */
export type ProposalEvent = { 
/**
 * When it happened.
 */
at: Timestamp, 
/**
 * Who caused it.
 */
by: string, 
/**
 * What happened.
 */
kind: ProposalEventKind, 
/**
 * Details in words.
 */
why: string, };

/**
 * What happened to a proposal.
 */
export type ProposalEventKind = "proposed" | "merged" | "replaced" | "rebased" | "conflicting" | "commented" | "approved" | "accepted" | "rejected" | "undone" | "kept" | "withdrawn" | "assigned";

/**
 * Request for the details of a proposal.
 */
export type ProposalGet = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Values from the reviewer that replace proposed ones in the comparison.
 */
edits: { [key in string]: JsonValue }, };

/**
 * The number of a proposal, which people use to refer to it. Numbers start at 1; the default belongs to no
 * proposal.
 */
export type ProposalId = number;

/**
 * Reference to a proposal.
 */
export type ProposalRef = { 
/**
 * Proposal number.
 */
id: ProposalId, };

/**
 * Request to reject a proposal.
 */
export type ProposalReject = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Reason for the decision, written by the reviewer.
 */
reason: string, 
/**
 * Name of the reviewer, as in [`ProposalAccept`].
 */
by: string, };

/**
 * Proposal as shown in the review queue.
 */
export type ProposalRow = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Name of the card the proposal changes or creates.
 */
title: string, 
/**
 * Origin of the proposal.
 */
origin: Origin, 
/**
 * Group of the queue in which it is shown.
 */
group: string, 
/**
 * Risk of accepting all of its fields.
 */
risk: Risk, 
/**
 * Whether a proposed text is flagged as hidden text or instructions to a model.
 */
suspect: boolean, 
/**
 * Number of its fields that changed in the card since.
 */
conflicts: number, 
/**
 * Number of reviewers who approved it.
 */
approvals: number, 
/**
 * Number of approvals required.
 */
needed: number, 
/**
 * Current state.
 */
state: ProposalState, 
/**
 * Id of the card it changes; `null` for a new card.
 */
card: CardId | null, 
/**
 * Names of the fields it sets.
 */
fields: Array<string>, 
/**
 * Probability that all of it is true, 0 to 1.
 */
confidence: number, 
/**
 * Time of creation.
 */
created_at: Timestamp, 
/**
 * Reason for the proposal, in one sentence.
 */
reason: string, 
/**
 * URL of the page that a web search found; `null` for proposals of another origin.
 */
page: string | null, 
/**
 * The member of the team who reviews it now.
 */
assigned_to: string | null, };

/**
 * State of a proposal.
 */
export type ProposalState = "pending" | "accepted" | "rejected" | "withdrawn";

/**
 * Review queue.
 */
export type Proposals = { 
/**
 * Proposals, newest first.
 */
rows: Array<ProposalRow>, 
/**
 * Number of pending proposals, independent of the requested state.
 */
waiting: number, 
/**
 * All groups, in display order.
 */
groups: Array<string>, };

/**
 * Request to accept those of several proposals that are safe, as previewed.
 */
export type ProposalsAccept = { 
/**
 * Proposal numbers, as in the preview request.
 */
ids: Array<ProposalId>, 
/**
 * Rule, as in the preview request.
 */
rule?: AcceptRule, 
/**
 * Digest from the preview.
 */
seen: string, 
/**
 * Name of the reviewer, as in [`ProposalAccept`].
 */
by: string, };

/**
 * Request for a list of proposals.
 */
export type ProposalsQuery = { 
/**
 * State of the proposals. Default: all.
 */
state?: ProposalState, };

/**
 * Reference to several proposals.
 */
export type ProposalsRef = { 
/**
 * Proposal numbers.
 */
ids: Array<ProposalId>, 
/**
 * Which of them may be accepted.
 */
rule?: AcceptRule, };

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
 * Settings of all services. Contains no keys.
 */
export type ProviderSettings = { 
/**
 * Language models.
 */
llm: LlmSettings, 
/**
 * Web search.
 */
search: SearchSettings, 
/**
 * Network access.
 */
network: NetworkSettings, 
/**
 * Storage of keys.
 */
keep: KeyStorage, 
/**
 * Prompts that replace the built-in ones, by name.
 */
prompts: { [key in string]: string }, };

/**
 * Settings and status of all services.
 */
export type Providers = { 
/**
 * Current settings.
 */
settings: ProviderSettings, 
/**
 * Status of each API key.
 */
keys: Array<KeyState>, 
/**
 * Where keys are stored, for display: the system's keychain, or an encrypted file.
 */
keys_in: string, 
/**
 * Error that prevents keys from being read.
 */
keys_error: ApiError | null, 
/**
 * Errors that prevent configured services from being used.
 */
missing: Array<ApiError>, 
/**
 * US dollars spent on language models since the last reset.
 */
spent: number, 
/**
 * Tokens since the last reset: input, output.
 */
tokens: [number, number], 
/**
 * Prices per million tokens used for the large model, in US dollars: input, output; `null` if unknown.
 */
price: [number, number] | null, 
/**
 * Built-in prompts.
 */
prompts: Array<ShippedPrompt>, };

/**
 * A candidate after reranking.
 */
export type Ranked = { 
/**
 * Card id.
 */
id: CardId, 
/**
 * Tool name.
 */
name: string, 
/**
 * Description, shortened.
 */
description: string, 
/**
 * Whether the card stores a call, so that AutoKit can make it.
 */
callable: boolean, 
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
 * A recent call that succeeded.
 */
export type RecordedCall = { 
/**
 * Number of the call in this process; later calls have higher ones.
 */
number: number, 
/**
 * When it ended.
 */
at: Timestamp, 
/**
 * The session it was made in.
 */
session: string, 
/**
 * The client program's own name.
 */
client: string, 
/**
 * Name of the tool.
 */
name: string, 
/**
 * Provider of the tool.
 */
provider: string, 
/**
 * The arguments as JSON, shortened.
 */
arguments: string, 
/**
 * Numbers of earlier calls of the session that returned what it was given.
 */
uses: number[], };

/**
 * Recent calls of which one tool can be made. They are kept in memory only.
 */
export type RecordedCalls = { 
/**
 * The calls, newest first.
 */
calls: Array<RecordedCall>, 
/**
 * Sequences that were repeated, the most frequent first.
 */
repeated: Array<RepeatedCalls>, };

/**
 * Request to redo a change.
 */
export type RedoRequest = { 
/**
 * Id of the undo to take back; without it, the newest one.
 */
undo?: string, };

/**
 * What a run would do with a tool.
 */
export type RefinePlan = { 
/**
 * Id of its card.
 */
tool: string, 
/**
 * Provider and name.
 */
title: string, 
/**
 * Method and address of an operation, or server and tool.
 */
place: string, 
/**
 * Whether calls may change something.
 */
may_change: boolean, 
/**
 * Why it is left out; `null` if it is not.
 */
skipped: string | null, 
/**
 * Arguments of the calls that would be made if each succeeded, as JSON; what answers say leads to others.
 */
calls: Array<string>, };

/**
 * Request to refine the documentation of tools by trial calls.
 */
export type RefineRequest = { 
/**
 * The tools.
 */
scope: RefineScope, 
/**
 * Profile whose permissions apply; empty for the one that applies to all agents.
 */
profile: string, 
/**
 * Whether tools that may change something are called as well.
 */
allow_changes: boolean, 
/**
 * Most calls of each tool.
 */
calls?: number, 
/**
 * Most that language models may cost in this run, in US dollars.
 */
budget?: number, 
/**
 * Permissions the person granted for this run.
 */
granted: Array<Need>, 
/**
 * Only return what would be called.
 */
dry_run: boolean, };

/**
 * Which tools to refine.
 */
export type RefineScope = { "of": "tools", 
/**
 * Ids or names of their cards.
 */
tools: Array<string>, } | { "of": "all" } | { "of": "resume" };

/**
 * Response to a request to refine tools.
 */
export type RefineStart = { "state": "asks", 
/**
 * Permissions to grant.
 */
needs: Array<Need>, 
/**
 * The permissions in words.
 */
words: Array<string>, } | { "state": "planned", 
/**
 * The tools in the order of their calls.
 */
tools: Array<RefinePlan>, } | { "state": "started", 
/**
 * Job id.
 */
job: JobId, 
/**
 * Tools that are left out, with the reason.
 */
skipped: Array<RefinePlan>, };

/**
 * A run that was interrupted.
 */
export type RefineState = { 
/**
 * Number of tools it has left; 0 if there is none.
 */
left: number, 
/**
 * Number of tools it began with.
 */
total: number, };

/**
 * Calls that were made one after the other again and again.
 */
export type RepeatedCalls = { 
/**
 * Names of the tools, in order.
 */
names: Array<string>, 
/**
 * How often they were made in this order.
 */
occurrences: number, 
/**
 * Numbers of the calls of the last time.
 */
calls: number[], };

/**
 * The same edit, made by hand on several cards.
 */
export type RepeatedCardEdit = { 
/**
 * The field.
 */
field: string, 
/**
 * What was there; empty where something was added.
 */
from: string, 
/**
 * What was put in its place; empty where something was removed.
 */
to: string, 
/**
 * How many cards were edited so.
 */
cards: number, };

/**
 * A measure of past sessions, as it was and as it would have been with preloading.
 */
export type ReplayedMeasure = { 
/**
 * Mean over sessions.
 */
actual: number, 
/**
 * Mean over sessions with preloading.
 */
preloaded: number, 
/**
 * Lower end of the 95 % interval of the difference.
 */
low: number, 
/**
 * Upper end of it.
 */
high: number, };

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
 * What GitHub knows about the tool's repository; `null` if that was not looked up.
 */
repository: RepositoryNote | null, 
/**
 * Who judged: `rules`, or `rules` and a model's name.
 */
judged_by: string, };

/**
 * What GitHub knows about the repository of a tool.
 */
export type RepositoryNote = { 
/**
 * `owner/name`.
 */
full_name: string, 
/**
 * Its page.
 */
url: string, 
/**
 * Number of stars.
 */
stars: number, 
/**
 * SPDX identifier of its license.
 */
license: string | null, 
/**
 * Topics that its owner chose.
 */
topics: Array<string>, 
/**
 * Tag of its newest release.
 */
release: string | null, 
/**
 * When it was last changed, RFC 3339.
 */
changed_at: string | null, 
/**
 * Whether it is archived, and thus no longer maintained.
 */
archived: boolean, };

/**
 * The state of a research: what was searched and found so far. Rounds continue from it.
 */
export type Research = { 
/**
 * Whether the sources answer the question.
 */
answered: boolean, 
/**
 * The summary: indexes into `passages`, in the order in which they are read.
 */
summary: Array<number>, 
/**
 * The best passages, best first.
 */
passages: Array<ResearchPassage>, 
/**
 * The sources of the passages.
 */
sources: Array<ResearchSource>, 
/**
 * Queries sent to the web.
 */
queries: Array<string>, 
/**
 * Addresses of pages opened, including those that could not be read.
 */
visited: Array<string>, 
/**
 * Number of pages read.
 */
read: number, 
/**
 * Number of rounds on the web.
 */
rounds: number, 
/**
 * Whether it ran to its end; otherwise it can be resumed.
 */
complete: boolean, 
/**
 * Language model that chose the passages; `null` if rules did.
 */
model: string | null, 
/**
 * What limits the result, e.g. that no search service is configured.
 */
notes: Array<string>, };

/**
 * A sentence, table row or code block as it is in its source.
 */
export type ResearchPassage = { 
/**
 * The text.
 */
text: string, 
/**
 * Index of its source in [`Research::sources`].
 */
source: number, 
/**
 * Headings above it, from the title down.
 */
heading: Array<string>, 
/**
 * Whether it is code.
 */
code: boolean, 
/**
 * Whether its page says that it is outdated.
 */
outdated: boolean, 
/**
 * How well it fits the question, 0 to 1.
 */
score: number, };

/**
 * Request to research a question, or to continue a research that was stopped.
 */
export type ResearchRequest = { 
/**
 * The question; ignored when a research is continued.
 */
question: string, 
/**
 * Session whose last research is continued from where it stopped. Default: a new session.
 */
resume?: SessionId, 
/**
 * Most rounds on the web, 0 to 10; 0 for sources on this machine alone. Default: 3.
 */
rounds?: number, };

/**
 * Where a passage is from.
 */
export type ResearchSource = { 
/**
 * Kind of source.
 */
kind: SourceKind, 
/**
 * Title of the page or document; name of the tool or function.
 */
title: string, 
/**
 * Address of the page; citation of a document or function.
 */
location: string, 
/**
 * The card, for a source in the library.
 */
card?: CardId, };

/**
 * A proposal that was made.
 */
export type RetirementProposed = { 
/**
 * The proposal that waits in Review.
 */
proposal: ProposalId, };

/**
 * Rules of review.
 */
export type ReviewPolicy = { 
/**
 * Number of reviewers, with different names, who have to accept a proposal.
 */
approvals: number, 
/**
 * Name of the reviewer for decisions; if empty, the person's name on this machine.
 */
reviewer: string, };

/**
 * The id of a revision in every library, in hexadecimal.
 */
export type RevisionId = string;

/**
 * Revision in the history of a card.
 */
export type RevisionView = { 
/**
 * Revision number, starting at 1.
 */
number: number, 
/**
 * Operation that created the revision.
 */
operation: Operation, 
/**
 * Author of the change.
 */
author: string, 
/**
 * Reason given for the change.
 */
reason: string, 
/**
 * Time of the change.
 */
at: Timestamp, 
/**
 * Fields after the change; `null` if it deleted the card.
 */
fields: { [key in string]: JsonValue } | null, 
/**
 * Differences from the previous revision.
 */
diff: Array<FieldDiff>, };

/**
 * How carefully a reviewer should look before accepting. Ordered from low to high.
 */
export type Risk = "low" | "medium" | "high";

/**
 * Role of this process: it owns the store or talks to the process that does.
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
 * Proposal that can be accepted without individual review.
 */
export type SafeProposal = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Name of the card.
 */
title: string, 
/**
 * Reason for the proposal, in one sentence.
 */
reason: string, 
/**
 * Changes to the card.
 */
diff: Array<FieldDiff>, };

/**
 * Why a card was found. The score is `keyword + vector + constraints + lookup + direction + name + feedback`, up to
 * rounding.
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
 * Change of the score by what the request demands of a tool besides what it is to do.
 */
constraints: number, 
/**
 * Contribution of a name match to the score.
 */
name: number, 
/**
 * Contribution of finding an identifier that a better card takes.
 */
lookup: number, 
/**
 * Change of the score by whether the card turns the same into the same as the request, or the other way round.
 */
direction: number, 
/**
 * Change of the score by feedback on the card for similar requests.
 */
feedback: number, 
/**
 * How the request names the card, if it does.
 */
name_match?: NameMatch, 
/**
 * The word for what the card finds the identifiers of, if a better card takes one: `person` for a `person_id`.
 */
finds?: string, 
/**
 * Cosine of the whole request with the card; absent if one of them has no vector.
 */
cosine?: number, 
/**
 * The phrase of `asks_for` that is closest to the request, counted from 0; absent if the
 * card has none in the index.
 */
ask?: number, 
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
 * The page features behind the score.
 */
marks: PageFeatures, 
/**
 * The reason for people, in one sentence.
 */
why: string, };

/**
 * Search result.
 */
export type SearchHit = { 
/**
 * Card id.
 */
id: CardId, 
/**
 * Name of the tool.
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
 * Components of the score.
 */
parts: ScoreParts, 
/**
 * Beginning of the description.
 */
description: string, };

/**
 * Web search service.
 */
export type SearchKind = "none" | "tavily" | "brave" | "searxng" | "duckduckgo";

/**
 * Request for a ranked list of cards.
 */
export type SearchRequest = { 
/**
 * Search terms.
 */
query: string, 
/**
 * Ranking method. Default: hybrid.
 */
mode?: Mode, 
/**
 * Maximum number of results. Default: 10.
 */
limit?: number, };

/**
 * Ranked list of cards.
 */
export type SearchResponse = { 
/**
 * The query as received.
 */
query: string, 
/**
 * Ranking method used: keyword if no embedding model is available.
 */
mode: Mode, 
/**
 * Whether the first result answers the query.
 */
verdict: Verdict, 
/**
 * Probability that the first result is right, 0 to 1. `null` if there is none, or that was not measured for
 * such scores.
 */
confidence: number | null, 
/**
 * Results, best first. May exceed the limit, up to 50, by cards whose exact name is in the query.
 */
results: Array<SearchHit>, 
/**
 * Names of further cards whose exact name is in the query.
 */
also_named: Array<string>, 
/**
 * What was understood that the query demands of a tool besides what it is to do.
 */
constraints: Array<Constraint>, 
/**
 * Duration in milliseconds.
 */
took_ms: number, };

/**
 * Settings of the web search.
 */
export type SearchSettings = { 
/**
 * Search service.
 */
kind: SearchKind, 
/**
 * Base URL; empty for the service's default.
 */
base: string, 
/**
 * Names of the sources searched first, in this order, separated by commas; empty for none.
 */
preferred: string, 
/**
 * Whether to query GitHub for facts about repositories.
 */
github: boolean, 
/**
 * Base URL of GitHub's API; empty for github.com.
 */
github_base: string, };

/**
 * Secret that prevents a card from being exported.
 */
export type SecretFound = { 
/**
 * Card id.
 */
card: CardId, 
/**
 * Name of the card.
 */
name: string, 
/**
 * Location of the secret in the card.
 */
field: string, 
/**
 * Kind of secret; never the value.
 */
kind: string, 
/**
 * Whether it occurs only in an earlier revision.
 */
in_history: boolean, };

/**
 * Request to set or remove an API key. No other request and no response or event contains it.
 */
export type SecretSet = { 
/**
 * Service of the key.
 */
name: KeyName, 
/**
 * The API key; empty to remove it.
 */
value: string, };

/**
 * MCP server behind AutoKit.
 */
export type Server = { 
/**
 * Name of the server.
 */
name: string, 
/**
 * Transport.
 */
reach: ServerTransport, 
/**
 * Names of its environment variables or headers.
 */
secrets: Array<string>, 
/**
 * Whether its tools are accepted without review.
 */
trusted: boolean, 
/**
 * Whether it is running now.
 */
running: boolean, 
/**
 * Number of its tools in the library, which can be called.
 */
tools: number, 
/**
 * Number of its proposals that wait in Review.
 */
waiting: number, 
/**
 * Time of the last scan of its tools.
 */
checked_at: Timestamp | null, 
/**
 * Why the last scan failed; `null` if it succeeded.
 */
failed: string | null, 
/**
 * Tools left out by the last scan, each with the reason.
 */
skipped: Array<string>, };

/**
 * Request to add an MCP server, or to replace the one of the same name.
 */
export type ServerAdd = { 
/**
 * Name of the server, and provider of its cards: up to 40 letters, digits, spaces, dots, `-` and `_`.
 */
name: string, 
/**
 * Transport.
 */
reach: ServerTransport, 
/**
 * Environment variables (of a program) or headers (of an address). Stored in the secret store and
 * never returned.
 */
secrets: { [key in string]: string }, 
/**
 * Whether its tools are accepted without review, now and when they change.
 */
trusted: boolean, };

/**
 * Reference to an MCP server.
 */
export type ServerRef = { 
/**
 * Name of the server.
 */
name: string, };

/**
 * Transport of an MCP server.
 */
export type ServerTransport = { "transport": "stdio", 
/**
 * Program.
 */
command: string, 
/**
 * Arguments.
 */
args: Array<string>, 
/**
 * Working directory; empty for the home folder.
 */
folder: string, } | { "transport": "http", 
/**
 * Address of the endpoint.
 */
url: string, };

/**
 * MCP servers found in the settings of a client program. Nothing is added yet.
 */
export type ServersRead = { 
/**
 * Requests that add the servers. Their secrets are passed on, not stored.
 */
servers: Array<ServerAdd>, 
/**
 * Names of servers that exist already and would be replaced.
 */
taken: Array<string>, 
/**
 * Servers that cannot be added, each with the reason.
 */
problems: Array<string>, };

/**
 * Settings of a client program, to read its MCP servers from.
 */
export type ServersText = { 
/**
 * JSON, with or without comments.
 */
text: string, };

/**
 * Conversation with the agent.
 */
export type Session = { 
/**
 * Session id.
 */
id: SessionId, 
/**
 * Start time.
 */
at: Timestamp, 
/**
 * Version number, incremented with every change.
 */
version: number, 
/**
 * Turns, oldest first.
 */
turns: Array<Turn>, };

/**
 * Id of a session with the agent, in which a person asks questions.
 */
export type SessionId = string;

/**
 * Entry in the list of past sessions.
 */
export type SessionNote = { 
/**
 * Session id.
 */
id: SessionId, 
/**
 * Start time.
 */
at: Timestamp, 
/**
 * First question of the session.
 */
question: string, };

/**
 * Reference to an agent session.
 */
export type SessionRef = { 
/**
 * Session id.
 */
session: SessionId, };

/**
 * Parameters of everything a session keeps (Kaman, sections 2 and 6–8).
 */
export type SessionSettings = { 
/**
 * Tools a search binds at most. The paper's limit: more would fill the context by one search.
 */
results: number, 
/**
 * Minimum score of a result. Scores are comparable between queries; the best card of a library without a
 * suitable one usually scores lower.
 */
threshold: number, 
/**
 * Most milliseconds a language model, if one is chosen, may take to rerank the results of a search, up to
 * [`MAX_RERANK_MS`]; 0 for none. Twenty scores are about 200 tokens, and an agent loses more by calling the wrong tool.
 */
rerank_ms: number, 
/**
 * Most discovered tools of a session. Sessions in the paper use 5–8; half as many more leave room for a
 * change of subject before a tool in use is evicted.
 */
capacity: number, 
/**
 * Seconds without use after which a tool may be evicted: longer than one task, shorter than a day.
 */
ttl_secs: number, 
/**
 * Names or ids of tools that every session has from the start and that are never evicted.
 */
always: Array<string>, 
/**
 * Most tools that a session gets because past sessions of its profile called them; 0 for none. Off unless
 * `autokit eval sessions` shows that it spares searches on a person's own sessions.
 */
preload: number, 
/**
 * Percent of the budget for tools that is left when the results of calls have filled the context; the budget shrinks
 * towards it as they do. 100 keeps the budget whatever the session has read.
 */
full_context_percent: number, 
/**
 * Size of the model's context in tokens (C_max in equation 1): the minimum of common models.
 */
context_tokens: number, 
/**
 * Tokens reserved for everything but tools (C_reserved). With the default context this leaves 16,000.
 */
reserved_tokens: number, 
/**
 * Most tokens of the response to a search; further results are shortened, which a note says. Together
 * with the tools every session has, this is less than in the paper for any size of library.
 */
reply_tokens: number, 
/**
 * Most tokens of the discovered tools in the list of a session. Earlier ones are then listed without
 * explanations, which the response to their search contained.
 */
listed_tokens: number, 
/**
 * Most sessions; the one idle longest is removed first.
 */
sessions: number, 
/**
 * Seconds without use after which a session expires: a day, so that a session left in the evening
 * continues in the morning.
 */
session_secs: number, 
/**
 * Parameters of loop detection.
 */
guard: GuardSettings, 
/**
 * Number of latest searches compared, to detect one that finds the same again.
 */
recent_searches: number, 
/**
 * Seconds for which a search is compared.
 */
search_secs: number, 
/**
 * Share of common results (of the union) from which a search counts as a repetition.
 */
overlap: number, };

/**
 * Request to wait until a session changes.
 */
export type SessionWait = { 
/**
 * Session id.
 */
session: SessionId, 
/**
 * Version the caller knows. The response is sent once the session's version is higher, or after ten
 * seconds.
 */
after: number, };

/**
 * Request to delete past sessions.
 */
export type SessionsDelete = { 
/**
 * Ids of the sessions; without them, all that are not running.
 */
sessions?: Array<SessionId>, };

/**
 * Setting stored in the library, by its key in the store.
 */
export type Setting = "agents_http" | "api_keys" | "bundle_keys" | "checks" | "collections" | "duplicates" | "libraries" | "market_sources" | "mcp_servers" | "personalization" | "profiles" | "refine_run" | "review" | "spending" | "subscriptions" | "variants" | "verify_run" | "vouched_tools";

/**
 * Severity of a problem.
 */
export type Severity = "error" | "warning";

/**
 * Request to change who sees cards.
 */
export type ShareCards = { 
/**
 * Card ids, or exact names that no other card has.
 */
cards: Array<string>, 
/**
 * Who sees them from now on, among whom is this member.
 */
visible_to: CardVisibility, };

/**
 * Built-in prompt.
 */
export type ShippedPrompt = { 
/**
 * Prompt name.
 */
name: string, 
/**
 * Prompt text.
 */
text: string, 
/**
 * Names of its slots.
 */
slots: Array<string>, };

/**
 * Signature of a bundle.
 */
export type SignatureView = { 
/**
 * Trust in the signature.
 */
trust: Trust, 
/**
 * Name of the signer as stated by the signer; empty without a signature.
 */
signer: string, 
/**
 * Public key in Base64; empty without a signature.
 */
key: string, 
/**
 * Fingerprint of the key, for comparison by people; empty without a signature.
 */
fingerprint: string, };

/**
 * Keys that sign bundles.
 */
export type SigningKeys = { 
/**
 * Public part of the person's own key, in Base64; `null` until it is created.
 */
own: string | null, 
/**
 * Fingerprint of the person's own key.
 */
own_fingerprint: string | null, 
/**
 * Why it is unknown whether there is a key of the person's own: the place of keys does not answer, or refuses.
 */
own_error: ApiError | null, 
/**
 * Keys of others.
 */
known: Array<KnownKeyView>, };

/**
 * Sort order of a list of cards.
 */
export type Sort = "name" | "provider" | "kind" | "updated" | "health";

/**
 * Description of a source.
 */
export type SourceInfo = { 
/**
 * Format.
 */
format: Format, 
/**
 * Name.
 */
name: string, 
/**
 * Author; empty if not given.
 */
author: string, 
/**
 * Time of creation, if given.
 */
created_at: Timestamp | null, 
/**
 * Licence of cards that name none.
 */
licence: string | null, 
/**
 * Note by the author.
 */
note: string, 
/**
 * Whether the source contains the history of its cards.
 */
history: boolean, 
/**
 * Model of its embeddings, if it contains any.
 */
vectors: VectorModel | null, 
/**
 * Names and synonyms it contains, as text.
 */
vocabulary: Array<string>, 
/**
 * How many further names and synonyms cannot be read.
 */
invalid_vocabulary: number, 
/**
 * Digest of the contents.
 */
digest: string, 
/**
 * Signature of the bundle.
 */
signature: SignatureView, };

/**
 * What kind of source a passage is from.
 */
export type SourceKind = "library" | "documents" | "code" | "web";

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
 * Code with which a program starts to use a tool.
 */
export type Starter = { 
/**
 * Language for syntax highlighting.
 */
language: string, 
/**
 * Source code.
 */
code: string, 
/**
 * Command that installs what the code needs, if the card has one.
 */
install?: string, 
/**
 * Environment variables that the code reads, in order of appearance: keys and addresses of one's own.
 */
variables: Array<string>, 
/**
 * Lines written by the model and removed from `code` because neither card nor page supports them.
 */
removed: Array<string>, 
/**
 * Model that wrote the code; `null` if it was generated from the card.
 */
model: string | null, };

/**
 * Status of the program, as shown by the shell.
 */
export type Status = { 
/**
 * AutoKit version.
 */
version: string, 
/**
 * Data directory.
 */
data_dir: string, 
/**
 * Process id of the owner of the store.
 */
owner_pid: number, 
/**
 * Number of cards in the library.
 */
cards: number, 
/**
 * Number of cards with embeddings, which semantic search can find.
 */
embedded: number, 
/**
 * Name of the embedding model.
 */
model: string, 
/**
 * State of the embedding model.
 */
model_state: ModelState, 
/**
 * Why the model cannot be used.
 */
model_error: string | null, 
/**
 * What is missing or altered in the library, as a sentence.
 */
damage: string | null, 
/**
 * Why the library is read-only, as a sentence; `null` if it is writable.
 */
read_only: string | null, 
/**
 * Whether this start created the library, so that the first-run tour is shown.
 */
first_run: boolean, 
/**
 * Number of proposals that wait in Review.
 */
proposals: number, 
/**
 * Display name of the configured search service.
 */
search: string | null, 
/**
 * Display name of the configured language model.
 */
llm: string | null, 
/**
 * Description of the change that `changes_undo` would undo.
 */
undoable: string | null, 
/**
 * Position in the change log; increases with every change to a card.
 */
cursor: number, 
/**
 * Version of the check results; increases with every stored check.
 */
checks: number, 
/**
 * Folder of the backup made because this start migrated the schema.
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
 * Bundle that is regularly checked for a newer version.
 */
export type Subscription = { 
/**
 * Subscription id.
 */
id: string, 
/**
 * File, folder or web address of the bundle.
 */
source: ImportSource, 
/**
 * Hours between two checks.
 */
every_hours: number, 
/**
 * Destination of new cards and changes.
 */
landing: Landing, 
/**
 * Name of the bundle, once it was read.
 */
name: string, 
/**
 * Time of the last check.
 */
checked_at: Timestamp | null, 
/**
 * Digest of the version read last.
 */
digest: string | null, 
/**
 * Public key that signed the first version, in Base64. A version that is signed with another key, or
 * unsigned, is not imported.
 */
key: string | null, 
/**
 * Why the last check failed; `null` if it succeeded.
 */
failed: string | null, };

/**
 * Request to check a bundle for newer versions regularly.
 */
export type SubscriptionAdd = { 
/**
 * File, folder or web address of the bundle.
 */
source: ImportSource, 
/**
 * Hours between two checks, 1 to 8,760.
 */
every_hours: number, 
/**
 * Destination of new cards and changes. Default: Review.
 */
landing: Landing, };

/**
 * Reference to a subscription.
 */
export type SubscriptionRef = { 
/**
 * Subscription id.
 */
id: string, };

/**
 * Something that happened in the library: a card was written, or something was done about a proposal.
 */
export type TeamActivityEntry = { 
/**
 * When.
 */
at: Timestamp, 
/**
 * Who did it.
 */
by: string, 
/**
 * What was done: an operation on a card, such as `create`, `edit`, `accept`, `delete`; or about a proposal: `proposed`,
 * `commented`, `approved`, `rejected`, `withdrawn`, `assigned`.
 */
what: string, 
/**
 * Name of the card.
 */
card: string, 
/**
 * Its id, if it exists.
 */
card_id: CardId | null, 
/**
 * The proposal.
 */
proposal: ProposalId | null, 
/**
 * The reason, or the comment.
 */
text: string, };

/**
 * Request for what happened in the library lately.
 */
export type TeamActivityRequest = { 
/**
 * Most entries to return, the newest: 1 to 1,000.
 */
limit: number, };

/**
 * Something that was done in a team: a sign-in, a grant or a decision.
 */
export type TeamAuditEntry = { 
/**
 * When.
 */
at: Timestamp, 
/**
 * Name of the member who did it; `None` for whoever runs the server.
 */
by: string | null, 
/**
 * What was done: `joined`, `signed_in`, `invited`, `role`, `groups`, `removed`, `restored`, `password`, `policy`,
 * `shared`, `accepted`, `rejected`, `exported`, `imported`, `upgraded`.
 */
what: string, 
/**
 * To whom or what: a member, a role, a risk, a card.
 */
about: string, };

/**
 * Request for the audit log of a team.
 */
export type TeamAuditRequest = { 
/**
 * Most entries to return, the newest: 1 to 10,000.
 */
limit: number, };

/**
 * Which cards a replica is made of: those of any of these providers, kinds or tags, in capitals or not; all if none are named.
 */
export type TeamCards = { 
/**
 * Providers.
 */
providers: Array<string>, 
/**
 * Kinds of tools.
 */
kinds: Array<Kind>, 
/**
 * Tags.
 */
tags: Array<string>, };

/**
 * Request to create a team on a server.
 */
export type TeamCreate = { 
/**
 * URL of the server: `ws://` or `wss://`.
 */
server: string, 
/**
 * Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
 */
authorities: string | null, 
/**
 * Name of the server's own user.
 */
owner: string, 
/**
 * Its password. It is used once and not stored.
 */
owner_password: string, 
/**
 * Identifies the team: lower-case letters, digits and `_`.
 */
id: string, 
/**
 * Name of the team.
 */
name: string, 
/**
 * Name of its first administrator.
 */
member: string, 
/**
 * Password of the first administrator.
 */
password: string, };

/**
 * Who can be chosen in a team, as last read from its server.
 */
export type TeamDirectory = { 
/**
 * Name of this member.
 */
self_name: string, 
/**
 * Members who can sign in, by name.
 */
members: Array<DirectoryMember>, 
/**
 * Names of one's own groups.
 */
groups: Array<string>, 
/**
 * Whether this member may change who sees a card.
 */
may_share: boolean, 
/**
 * Who sees cards that are added on this machine.
 */
new_cards: CardVisibility, };

/**
 * A team that this person belongs to on this machine.
 */
export type TeamEntry = { 
/**
 * Identifies the team: its database on the server.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * URL of its server.
 */
server: string, 
/**
 * The name under which this person is a member.
 */
member: string, 
/**
 * Folder of the replica of its library.
 */
folder: string, };

/**
 * A team that was exported or imported.
 */
export type TeamFileOutcome = { 
/**
 * Path of the file.
 */
path: string, 
/**
 * Number of rows in it.
 */
rows: number, };

/**
 * Request to export a team to a file, or to make one of such a file.
 */
export type TeamFileRequest = { 
/**
 * The team.
 */
team: TeamServer, 
/**
 * Path of the file.
 */
path: string, };

/**
 * An invitation, which can be used once.
 */
export type TeamInvitation = { 
/**
 * The link that whoever is invited opens.
 */
link: string, 
/**
 * Until when it can be used.
 */
expires: Timestamp, };

/**
 * Request for an invitation.
 */
export type TeamInvite = { 
/**
 * What the new member may do.
 */
role: TeamRole, 
/**
 * Groups they belong to from the beginning; those that do not exist are created.
 */
groups: Array<string>, 
/**
 * Days for which it can be used.
 */
days: number, };

/**
 * Request to join a team.
 */
export type TeamJoin = { 
/**
 * The invitation, as a link.
 */
invitation: string, 
/**
 * Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
 */
authorities: string | null, 
/**
 * Name under which to become a member, or under which this person is one already.
 */
member: string, 
/**
 * Password to sign in with.
 */
password: string, };

/**
 * Which of the team's cards are kept on this machine.
 */
export type TeamKept = { 
/**
 * What was chosen.
 */
cards: TeamCards, 
/**
 * Whether the replica is made of that; if not, it is after the next synchronization.
 */
is_applied: boolean, 
/**
 * Whether cards that this member is allowed to see are not in the replica: not chosen, or beyond the limit.
 */
is_incomplete: boolean, 
/**
 * Most cards in a replica.
 */
limit: number, };

/**
 * A member of a team.
 */
export type TeamMember = { 
/**
 * The name they sign in with.
 */
name: string, 
/**
 * What they may do.
 */
role: TeamRole, 
/**
 * Names of their groups, as far as this person may know them.
 */
groups: Array<string>, 
/**
 * Whether they can sign in.
 */
active: boolean, 
/**
 * Whether it is this person.
 */
is_self: boolean, };

/**
 * Request to change a member. What is absent stays as it is.
 */
export type TeamMemberChange = { 
/**
 * The member's name.
 */
name: string, 
/**
 * Their new role.
 */
role: TeamRole | null, 
/**
 * All their groups from now on; those that do not exist are created.
 */
groups: Array<string> | null, 
/**
 * Whether they can sign in from now on.
 */
active: boolean | null, 
/**
 * Their new password.
 */
password: string | null, };

/**
 * The members of a team.
 */
export type TeamMembers = { 
/**
 * The members, by name.
 */
members: Array<TeamMember>, 
/**
 * Names of the groups: all for administrators, one's own for others.
 */
groups: Array<string>, };

/**
 * Request to use a team at another address from now on.
 */
export type TeamMove = { 
/**
 * The team on this machine.
 */
id: string, 
/**
 * URL of its server: `ws://` or `wss://`.
 */
server: string, 
/**
 * Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
 */
authorities: string | null, };

/**
 * Something that a member is told of.
 */
export type TeamNotice = { 
/**
 * What it is.
 */
kind: TeamNoticeKind, 
/**
 * The proposal that it is about.
 */
proposal: ProposalId, 
/**
 * Name of the card that it is about.
 */
card: string, 
/**
 * Who did it, if that is known.
 */
by: string | null, 
/**
 * The comment, or why the change was proposed.
 */
text: string, };

/**
 * What a member is told of.
 */
export type TeamNoticeKind = "assigned" | "mentioned";

/**
 * How many reviewers have to accept a change, by its risk. Where more than one has to for any risk, changes are proposed,
 * and nobody accepts what they proposed themselves.
 */
export type TeamPolicy = { 
/**
 * For a low risk: 1 to 9.
 */
low: number, 
/**
 * For a medium risk: 1 to 9.
 */
medium: number, 
/**
 * For a high risk: 1 to 9.
 */
high: number, };

/**
 * Reference to a team on this machine.
 */
export type TeamRef = { 
/**
 * Its id.
 */
id: string, };

/**
 * A member of a team who looks at a proposal.
 */
export type TeamReviewer = { 
/**
 * Their name.
 */
member: string, 
/**
 * Whether they may decide on proposals.
 */
may_decide: boolean, };

/**
 * What a member may do. Each role may do what the ones before it may.
 */
export type TeamRole = "reader" | "contributor" | "reviewer" | "admin";

/**
 * A team's database at a server, and whoever runs that.
 */
export type TeamServer = { 
/**
 * URL of the server: `ws://` or `wss://`.
 */
server: string, 
/**
 * Certificates of the only authorities trusted to name the server, as PEM text; those of the system without.
 */
authorities: string | null, 
/**
 * Name of the server's own user.
 */
owner: string, 
/**
 * Its password. It is used once and not stored.
 */
owner_password: string, 
/**
 * Identifies the team.
 */
id: string, };

/**
 * How the replica of a team's library stands.
 */
export type TeamState = { 
/**
 * The team.
 */
team: TeamEntry, 
/**
 * Whether changes arrive as they happen.
 */
is_connected: boolean, 
/**
 * Why not, if it was tried; or else what is too large to be sent.
 */
error: string | null, 
/**
 * When the replica and the team's library were the same last.
 */
synced_at: Timestamp | null, 
/**
 * Number of cards with changes that the team does not have yet.
 */
unsent: number, 
/**
 * Cards of the team that were written since the library was opened.
 */
received: number, 
/**
 * Cards whose changes were sent since the library was opened.
 */
sent: number, 
/**
 * Edits that met another one, or that the role does not allow, since the library was opened: they wait in Review.
 */
conflicts: number, 
/**
 * Cards of the team that are not valid and were left out.
 */
invalid: number, 
/**
 * What this member was told of since the library was opened, oldest first.
 */
notices: Array<TeamNotice>, 
/**
 * Cards that were left out since the library was opened: not chosen, or beyond the limit.
 */
left_out: number, 
/**
 * Which of the team's cards are kept on this machine.
 */
kept: TeamKept, };

/**
 * What a replica has that the team does not.
 */
export type TeamUnsent = { 
/**
 * Number of cards with changes that were not sent.
 */
cards: number, };

/**
 * Request to bring the tables of a team up to date and to make new keys for signing tokens.
 */
export type TeamUpgrade = { 
/**
 * The team.
 */
team: TeamServer, 
/**
 * Hours for which a token is valid, 1 to 720; as before if absent.
 */
token_hours: number | null, 
/**
 * Hours after which an open connection has to sign in again, 1 to 720; as before if absent.
 */
session_hours: number | null, };

/**
 * Result of a successful connection test. A failed test returns an error with a remedy.
 */
export type TestOutcome = { 
/**
 * Result for people.
 */
text: string, 
/**
 * Duration of the round trip in milliseconds.
 */
ms: number, };

/**
 * Request to test a connection.
 */
export type TestRequest = { 
/**
 * The connection.
 */
connection: Connection, };

/**
 * Latency of searches in one tier.
 */
export type TierLatency = { 
/**
 * Search tier.
 */
tier: string, 
/**
 * Number of searches.
 */
searches: number, 
/**
 * Latency of the searches.
 */
latency: Latency, };

/**
 * A moment in UTC, to the millisecond.
 *
 * Its text is RFC 3339 with exactly three decimals, `2026-11-22T10:00:00.000Z`, so that texts in the store
 * sort as the moments do. No other form is read: a time that came with a bundle leaves with the same text.
 */
export type Timestamp = string;

/**
 * What the calls of a tool suggest.
 */
export type ToolAdvice = "improve" | "retire";

/**
 * Content block of a tool's result.
 */
export type ToolBlock = { "kind": "text", 
/**
 * The text, truncated if it is too long.
 */
text: string, } | { "kind": "image", 
/**
 * Media type.
 */
mime: string, 
/**
 * Base64-encoded data.
 */
data: string, } | { "kind": "other", 
/**
 * The block as JSON.
 */
value: unknown, };

/**
 * Callable tool as shown in lists.
 */
export type ToolEntry = { 
/**
 * Id of its card, or of one of AutoKit's own tools.
 */
id: string, 
/**
 * Tool name.
 */
name: string, 
/**
 * Provider.
 */
provider: string, 
/**
 * First sentence of the description, shortened.
 */
line: string, 
/**
 * Source of the tool.
 */
source: ToolSource, 
/**
 * Whether agents of the profile may call it. Further permissions are decided when a call is made.
 */
permission: Permission, };

/**
 * Page of the list of callable tools.
 */
export type ToolList = { 
/**
 * Total number of matching tools.
 */
total: number, 
/**
 * Tools of the page: AutoKit's own first, then by provider and name.
 */
tools: Array<ToolEntry>, };

/**
 * Result of a tool call.
 */
export type ToolOutcome = { 
/**
 * Whether the tool reported an error.
 */
failed: boolean, 
/**
 * Content blocks.
 */
blocks: Array<ToolBlock>, 
/**
 * Structured content, if the tool returned any.
 */
structured: unknown, 
/**
 * Duration in milliseconds.
 */
took_ms: number, };

/**
 * Reference to a callable tool.
 */
export type ToolRef = { 
/**
 * Tool id or name.
 */
tool: string, 
/**
 * Profile whose permissions apply; empty for the one that applies to all agents.
 */
profile: string, };

/**
 * Request to call a tool.
 */
export type ToolRun = { 
/**
 * Tool id or name.
 */
tool: string, 
/**
 * Profile whose permissions apply; empty for the one that applies to all agents.
 */
profile: string, 
/**
 * Arguments.
 */
arguments: Record<string, unknown>, 
/**
 * Permissions the person granted for this call.
 */
granted: Array<Need>, };

/**
 * Response to a request to call a tool.
 */
export type ToolRunStart = { "state": "asks", 
/**
 * Permissions to grant.
 */
needs: Array<Need>, 
/**
 * The permissions in words, e.g. "to run code in python".
 */
words: Array<string>, } | { "state": "started", 
/**
 * Job id.
 */
job: JobId, };

/**
 * Source of a callable tool.
 */
export type ToolSource = "session" | "builtin" | "server" | "api" | "macro" | "function";

/**
 * What a tool has to do.
 */
export type ToolSpecification = { 
/**
 * Its name.
 */
name: string, 
/**
 * What it does.
 */
purpose: string, 
/**
 * JSON Schema of its arguments.
 */
parameters: JsonValue, 
/**
 * What it returns.
 */
returns: string, 
/**
 * What it does not do, or not for every argument.
 */
limits: string, 
/**
 * What it would need beside its arguments: files, the network, other programs. Such a tool is not written.
 */
side_effects: Array<string>, };

/**
 * Usage of a tool.
 */
export type ToolUse = { 
/**
 * Id of the tool's card, or of one of AutoKit's own tools.
 */
tool: string, 
/**
 * Display name.
 */
name: string, 
/**
 * Number of calls.
 */
calls: number, 
/**
 * Number of calls that returned an error.
 */
failed: number, 
/**
 * Latency of the calls.
 */
latency: Latency, };

/**
 * Callable tool with its parameters.
 */
export type ToolView = { 
/**
 * The tool as shown in lists.
 */
entry: ToolEntry, 
/**
 * Full description.
 */
description: string, 
/**
 * JSON Schema of the arguments.
 */
schema: Record<string, unknown>, 
/**
 * Example arguments: the required ones, filled in as far as the schema allows.
 */
example: Record<string, unknown>, };

/**
 * Request for a page of the list of callable tools.
 */
export type ToolsQuery = { 
/**
 * Words that must all occur in name, provider or description; empty for all tools.
 */
text: string, 
/**
 * Sources of the tools; empty for all.
 */
sources: Array<ToolSource>, 
/**
 * Profile whose permissions apply; empty for the one that applies to all agents.
 */
profile: string, 
/**
 * Number of tools to skip.
 */
offset: number, 
/**
 * Maximum number of tools, up to 1,000.
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
 * Trust in the signature of a bundle.
 */
export type Trust = "unsigned" | "stripped" | "trusted" | "known" | "new" | "other_key";

/**
 * One question of a session and its result.
 */
export type Turn = { 
/**
 * Kind of work.
 */
kind: TurnKind, 
/**
 * Text of the question.
 */
asked: string, 
/**
 * The person who asked; absent for agents, and in sessions of earlier versions.
 */
by?: string, 
/**
 * When it was asked; absent in sessions of earlier versions.
 */
at?: Timestamp, 
/**
 * Current state.
 */
state: TurnState, 
/**
 * Steps taken so far, in order.
 */
events: Array<StepEvent>, 
/**
 * Answer of an `ask` or `refine` turn.
 */
answer: AgentAnswer | null, 
/**
 * Pieces of the person's documents that bear on the question; only for people.
 */
documents: Array<MemoryHit>, 
/**
 * Tools found on the web by a `discover` turn.
 */
discovered: Discovered | null, 
/**
 * What a `research` turn found so far.
 */
research?: Research, 
/**
 * Feedback on the answer.
 */
said: AnswerFeedback | null, 
/**
 * Error that ended the turn.
 */
error: ApiError | null, 
/**
 * Duration in milliseconds.
 */
ms: number, };

/**
 * Kind of work a turn does.
 */
export type TurnKind = "ask" | "refine" | "discover" | "research";

/**
 * State of a turn.
 */
export type TurnState = "running" | "done" | "failed" | "cancelled";

/**
 * Something that was asked for again and again, and never found.
 */
export type UnansweredNeed = { 
/**
 * The newest request.
 */
question: string, 
/**
 * How many requests were like it.
 */
times: number, };

/**
 * Result of an undo or a redo.
 */
export type UndoOutcome = { 
/**
 * Id of the change that was undone or redone.
 */
change: string, 
/**
 * Id of the undo, for redo; `null` for an import, and for a redo.
 */
undo: string | null, 
/**
 * Description of the change that was undone or redone.
 */
reason: string, 
/**
 * Ids of the cards that were restored.
 */
cards: Array<CardId>, 
/**
 * Ids of the cards that were left as they are because they changed again later.
 */
kept: Array<CardId>, };

/**
 * Request to undo a change.
 */
export type UndoRequest = { 
/**
 * Id of the change; without it, the newest one that is not an import.
 */
change?: string, };

/**
 * Pages that could not be read.
 */
export type UnreadPages = { 
/**
 * Number of pages.
 */
pages: number, 
/**
 * Number of them with the most frequent error.
 */
with_error: number, 
/**
 * That error.
 */
error: ApiError, };

/**
 * Proposal that requires individual review.
 */
export type UnsafeProposal = { 
/**
 * Proposal number.
 */
id: ProposalId, 
/**
 * Name of the card.
 */
title: string, 
/**
 * Why it requires individual review.
 */
why: string, };

/**
 * A description that competes.
 */
export type Variant = { 
/**
 * Its id in the contest; `current` for the card's own.
 */
id: string, 
/**
 * The text.
 */
description: string, 
/**
 * Calls that succeeded.
 */
successes: number, 
/**
 * Calls that failed.
 */
failures: number, 
/**
 * Mean of the success rate, 0 to 1, with a uniform prior.
 */
mean: number, 
/**
 * Lower end of its 95 % interval.
 */
low: number, 
/**
 * Upper end.
 */
high: number, 
/**
 * Why it is not used any more; `null` if it is.
 */
withdrawn: VariantWithdrawal | null, };

/**
 * Request to let another description compete.
 */
export type VariantAdd = { 
/**
 * Card name or id.
 */
card: string, 
/**
 * The description.
 */
description: string, };

/**
 * The descriptions of one tool that compete.
 */
export type VariantContest = { 
/**
 * The tool's card.
 */
card: CardId, 
/**
 * Name of the tool.
 */
name: string, 
/**
 * When it began.
 */
began: Timestamp, 
/**
 * The descriptions, the card's own first.
 */
variants: Array<Variant>, };

/**
 * All contests.
 */
export type VariantContests = { 
/**
 * One for each tool with several descriptions.
 */
contests: Array<VariantContest>, };

/**
 * Request to withdraw a description, or to let it compete again.
 */
export type VariantSet = { 
/**
 * Card name or id.
 */
card: string, 
/**
 * Id of the variant.
 */
variant: string, 
/**
 * Whether it is withdrawn.
 */
withdrawn: boolean, };

/**
 * Why a description is not given to agents any more.
 */
export type VariantWithdrawal = "fails" | "worse" | "person";

/**
 * Request to end a contest.
 */
export type VariantsEnd = { 
/**
 * Card name or id.
 */
card: string, 
/**
 * Variant that is proposed as the card's description; the card keeps its own if not given.
 */
propose?: string, };

/**
 * A contest that was ended.
 */
export type VariantsEnded = { 
/**
 * The proposal that waits in Review, if a description was chosen.
 */
proposal: ProposalId | null, };

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
 * Cards to check.
 */
export type VerifyScope = { "kind": "cards", 
/**
 * Card ids or names.
 */
cards: Array<string>, } | { "kind": "all" } | { "kind": "matching", 
/**
 * The query.
 */
query: CardsQuery, } | { "kind": "older", 
/**
 * Number of days.
 */
days: number, } | { "kind": "due" };

/**
 * Request to start a run of checks.
 */
export type VerifyStart = { 
/**
 * Cards to check.
 */
scope: VerifyScope, 
/**
 * Whether to also propose better descriptions and values for empty fields.
 */
improve: boolean, 
/**
 * Whether to start over even if the same run was interrupted less than a day ago.
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

/**
 * An entry that was added.
 */
export type VocabularyChanged = { 
/**
 * The entry.
 */
entry: VocabularyItem, 
/**
 * For a name: number of cards it applies to.
 */
cards: number, };

/**
 * An entry of a list.
 */
export type VocabularyItem = { 
/**
 * Its text: `name, other name = what it is`; `word, same word`; or `phrase | phrase -> word`.
 */
text: string, 
/**
 * Who added it; absent for a shipped entry, which cannot be changed.
 */
added?: AddedEntry, };

/**
 * Entries of a list: those added here first, then those of bundles, then shipped ones.
 */
export type VocabularyList = { 
/**
 * The first ones, up to the limit.
 */
entries: Array<VocabularyItem>, 
/**
 * Number of entries that match.
 */
total: number, 
/**
 * Number of entries that were added, whether or not they match.
 */
added: number, };

/**
 * Which entries to list.
 */
export type VocabularyQuery = { 
/**
 * The list.
 */
kind: EntryKind, 
/**
 * Only entries that contain all of these words; empty for all.
 */
text: string, 
/**
 * Leave out the shipped entries.
 */
added_only: boolean, 
/**
 * Most entries to return. Default: 100.
 */
limit?: number, };

/**
 * Added entries to remove.
 */
export type VocabularyRemove = { 
/**
 * Their ids.
 */
ids: Array<string>, 
/**
 * Also all that came with the bundle of this name.
 */
bundle?: string, };

/**
 * Entries that were removed.
 */
export type VocabularyRemoved = { 
/**
 * The entries, as they were.
 */
removed: Array<VocabularyItem>, };

/**
 * An entry to add.
 */
export type VocabularySet = { 
/**
 * The list.
 */
kind: EntryKind, 
/**
 * Its text, see [`VocabularyItem::text`].
 */
text: string, 
/**
 * Id of the added entry that it replaces.
 */
replaces?: string, };

/** Every command by name, with what it takes and gives. */
export interface Commands {
  /** Returns the status of the program. */
  status_get: { request: Nothing; response: Status };
  /** Returns the tools that best match a question, with reasons. */
  answers_get: { request: AskRequest; response: Answer };
  /** Returns ranked cards with the components of their scores. */
  cards_search: { request: SearchRequest; response: SearchResponse };
  /** Returns the libraries that can be searched together, the open one first. */
  libraries_list: { request: Nothing; response: Array<LibraryEntry> };
  /** Includes a library in searches of all libraries, or not. */
  libraries_set: { request: LibrarySet; response: Array<LibraryEntry> };
  /** Returns results from all included libraries in one ranking. */
  libraries_search: { request: LibrariesQuery; response: LibrariesFound };
  /** Returns a page of the list of cards. */
  cards_list: { request: CardList; response: CardsPage };
  /** Returns the available filter values with their counts. */
  cards_facets: { request: CardsQuery; response: Facets };
  /** Returns all fields of a card. */
  cards_get: { request: CardRef; response: CardDetail };
  /** Returns code with which a program starts to use a card's tool: what to install, which variables to set, and one call. */
  cards_starter: { request: CardRef; response: Starter | null };
  /** Validates the fields of a card without saving them. */
  cards_validate: { request: CardCheck; response: Array<Problem> };
  /** Adds a card. */
  cards_create: { request: CardCreate; response: CardDetail };
  /** Replaces the fields of a card. */
  cards_update: { request: CardUpdate; response: CardDetail };
  /** Edits several cards in one change, which can be undone. */
  cards_edit: { request: CardsEdit; response: CardChange };
  /** Deletes cards in one change, which can be undone. */
  cards_delete: { request: CardsDelete; response: CardChange };
  /** Starts looking for cards that may describe the same tool, by what they share and by meaning. */
  duplicates_find: { request: Nothing; response: JobRef };
  /** Returns the pairs of cards that the newest search found, without those that were dismissed. */
  duplicates_list: { request: Nothing; response: Duplicates };
  /** Stores that two cards are different tools, or that they may be one. */
  duplicates_dismiss: { request: PairRef; response: Nothing };
  /** Returns two cards and what merging them would save. */
  cards_merge_preview: { request: MergeQuery; response: MergePreview };
  /** Merges a card into another one, in one change that can be undone. Collections of the removed card contain the other one from then on. */
  cards_merge: { request: CardsMerge; response: CardChange };
  /** Returns the revisions of a card with their changes, newest first. */
  cards_history: { request: CardRef; response: Array<RevisionView> };
  /** Restores a revision of a card, or a deleted card. */
  cards_restore: { request: CardRestore; response: CardDetail };
  /** Returns the favorites and the other collections of cards. */
  collections_list: { request: Nothing; response: Array<Collection> };
  /** Adds cards to a collection, or takes them out of it. */
  collections_change: { request: CollectionChange; response: Array<Collection> };
  /** Renames a collection. */
  collections_rename: { request: CollectionRename; response: Array<Collection> };
  /** Removes a collection. Its cards are kept. */
  collections_remove: { request: CollectionRef; response: Array<Collection> };
  /** Undoes a change, or the newest one that is not an import. */
  changes_undo: { request: UndoRequest; response: UndoOutcome };
  /** Redoes a change that was undone, or the newest one. */
  changes_redo: { request: RedoRequest; response: UndoOutcome };
  /** Returns a preview of an import. */
  imports_preview: { request: ImportPreviewRequest; response: ImportPreview };
  /** Imports cards in the background, in one change, which can be undone. */
  imports_start: { request: ImportRequest; response: JobRef };
  /** Imports the starter cards that ship with AutoKit. */
  starter_load: { request: Nothing; response: JobRef };
  /** Returns past imports, newest first. */
  imports_list: { request: Nothing; response: Array<ImportView> };
  /** Undoes an import, including the decisions made about it since. */
  imports_undo: { request: ImportRef; response: UndoOutcome };
  /** Returns a preview of an export. */
  exports_preview: { request: ExportRequest; response: ExportPreview };
  /** Exports cards as a bundle or in another format. */
  exports_write: { request: ExportRequest; response: ExportOutcome };
  /** Returns the subscriptions to bundles. */
  subscriptions_list: { request: Nothing; response: Array<Subscription> };
  /** Subscribes to a bundle: checks it for newer versions at once and regularly. */
  subscriptions_add: { request: SubscriptionAdd; response: Array<Subscription> };
  /** Unsubscribes from a bundle. Cards that came from it are kept. */
  subscriptions_remove: { request: SubscriptionRef; response: Array<Subscription> };
  /** Checks all subscriptions now. */
  subscriptions_check: { request: Nothing; response: JobRef };
  /** Signs an existing bundle with the person's own key. */
  bundles_sign: { request: BundlePath; response: ExportOutcome };
  /** Returns the keys that sign bundles: the person's own, and known keys of others. */
  bundle_keys_list: { request: Nothing; response: SigningKeys };
  /** Creates the person's own key, if there is none. */
  bundle_keys_create: { request: Nothing; response: SigningKeys };
  /** Marks a key as trusted or not trusted. */
  bundle_keys_trust: { request: KeyTrust; response: SigningKeys };
  /** Deletes a known key. */
  bundle_keys_forget: { request: KeyRef; response: SigningKeys };
  /** Returns running and recent jobs, newest first. */
  jobs_list: { request: Nothing; response: Array<Job> };
  /** Waits until a job changes. */
  jobs_wait: { request: JobWait; response: Job };
  /** Cancels a job. */
  jobs_cancel: { request: JobRef; response: Job };
  /** Pauses or resumes a job. */
  jobs_pause: { request: JobPause; response: Job };
  /** Checks cards against their pages in the background. Corrections wait in Review. */
  checks_start: { request: VerifyStart; response: JobRef };
  /** Returns the last check of a card. */
  checks_get: { request: CardRef; response: CardVerification };
  /** Returns the settings of automatic checks. */
  check_settings_get: { request: Nothing; response: CheckSettings };
  /** Changes the settings of automatic checks. */
  check_settings_set: { request: CheckSettings; response: CheckSettings };
  /** Returns the available embedding models. */
  models_list: { request: Nothing; response: Models };
  /** Downloads a model in the background. */
  models_pull: { request: ModelChoice; response: JobRef };
  /** Switches to a model. Cards are embedded again in the background; the old embeddings are used until then. */
  models_use: { request: ModelChoice; response: JobRef };
  /** Asks the agent: the library first, then the web if the library has no answer. */
  sessions_ask: { request: AgentQuestion; response: SessionRef };
  /** Searches the web for a tool, without the library. */
  sessions_discover: { request: AgentQuestion; response: SessionRef };
  /** Researches a question over the library, documents, code and the web, or continues a research. */
  sessions_research: { request: ResearchRequest; response: SessionRef };
  /** Waits until a session changes. */
  sessions_wait: { request: SessionWait; response: Session };
  /** Cancels the running turn of a session. */
  sessions_cancel: { request: SessionRef; response: Session };
  /** Returns the current state of a session, or a past one. */
  sessions_get: { request: SessionRef; response: Session };
  /** Returns past sessions, newest first. */
  sessions_list: { request: Nothing; response: Array<SessionNote> };
  /** Deletes past sessions and returns the others. What search learned from feedback on them is kept. */
  sessions_delete: { request: SessionsDelete; response: Array<SessionNote> };
  /** Records whether the last answer of a session helped: if so, starter code is generated, otherwise the question is asked again. */
  sessions_feedback: { request: FeedbackRequest; response: Session };
  /** Proposes a tool found on the web as a card. */
  findings_propose: { request: AddFinding; response: ProposalDetail };
  /** Proposes a card drafted from a description. */
  cards_describe: { request: CardDescribe; response: ProposalDetail };
  /** Returns the review queue. */
  proposals_list: { request: ProposalsQuery; response: Proposals };
  /** Returns the details of a proposal. */
  proposals_get: { request: ProposalGet; response: ProposalDetail };
  /** Accepts a proposal, in whole or in part. */
  proposals_accept: { request: ProposalAccept; response: ProposalDetail };
  /** Rejects a proposal. */
  proposals_reject: { request: ProposalReject; response: ProposalDetail };
  /** Undoes the decision on a proposal. */
  proposals_reopen: { request: ProposalRef; response: ProposalDetail };
  /** Adds a comment to a proposal. */
  proposals_comment: { request: ProposalComment; response: ProposalDetail };
  /** Says who reviews a proposal of a team. */
  proposals_assign: { request: ProposalAssign; response: ProposalDetail };
  /** Returns a preview of accepting those of several proposals that are safe. */
  proposals_preview: { request: ProposalsRef; response: AcceptPreview };
  /** Accepts the previewed proposals in the background, in one change, which can be undone. */
  proposals_accept_safe: { request: ProposalsAccept; response: JobRef };
  /** Returns the review policy. */
  review_policy_get: { request: Nothing; response: ReviewPolicy };
  /** Changes the review policy. */
  review_policy_set: { request: ReviewPolicy; response: ReviewPolicy };
  /** Returns the number of cards that are verified, stale, broken, unreachable or never checked, with the trend. */
  health_get: { request: Nothing; response: LibraryHealth };
  /** Fetches documentation pages of cards in the background. */
  pages_fetch: { request: PagesFetch; response: JobRef };
  /** Returns the documentation page of a card, as last fetched. */
  pages_get: { request: CardRef; response: CardPage };
  /** Adds documents or code, and reads them in the background. */
  memory_add: { request: MemoryAdd; response: JobRef };
  /** Lists the documents and code that were added. */
  memory_list: { request: MemoryListQuery; response: MemorySources };
  /** Reads a source again in the background; files that did not change are skipped. */
  memory_refresh: { request: MemorySourceRef; response: JobRef };
  /** Removes a source with all that was read from it. */
  memory_remove: { request: MemorySourceRef; response: Nothing };
  /** Searches documents or code. */
  memory_search: { request: MemoryQuery; response: MemoryFound };
  /** Lists the public functions and commands of a repository that the library has no card for. */
  code_tools_list: { request: CodeToolsQuery; response: CodeTools };
  /** Proposes cards for the public functions and commands of a repository. */
  code_tools_propose: { request: CodeToolsPropose; response: JobRef };
  /** Lists recent calls of which one tool can be made. */
  macros_list: { request: Nothing; response: RecordedCalls };
  /** Proposes a tool made of recorded calls. */
  macros_propose: { request: MacroPropose; response: MacroProposed };
  /** Returns needs, and the tools that were composed or written for them. */
  generated_list: { request: Nothing; response: GeneratedToolList };
  /** Has a tool written by a language model, checked in the sandbox and proposed. */
  generated_start: { request: GenerateRequest; response: JobRef };
  /** Returns what was written, and its checks. */
  generated_get: { request: GenerationRef; response: Generation };
  /** Proposes that a composed or written tool can no longer be called. */
  generated_retire: { request: CardRef; response: RetirementProposed };
  /** Returns the descriptions of tools that compete. */
  variants_list: { request: Nothing; response: VariantContests };
  /** Lets another description of a tool compete with its own. */
  variants_add: { request: VariantAdd; response: Nothing };
  /** Withdraws a description from a contest, or lets it compete again. */
  variants_set: { request: VariantSet; response: Nothing };
  /** Ends a contest, and proposes one of the descriptions for the card. */
  variants_end: { request: VariantsEnd; response: VariantsEnded };
  /** Refines the documentation of tools by trial calls, or returns what would be called. */
  refine_start: { request: RefineRequest; response: RefineStart };
  /** Returns what an interrupted run of trial calls has left. */
  refine_get: { request: Nothing; response: RefineState };
  /** Returns the settings and status of services. */
  providers_get: { request: Nothing; response: Providers };
  /** Changes the settings of services, with immediate effect. */
  providers_set: { request: ProviderSettings; response: Providers };
  /** Resets the spending on language models to zero. */
  spending_reset: { request: Nothing; response: Providers };
  /** Sets or removes an API key. */
  secrets_set: { request: SecretSet; response: Providers };
  /** Returns the names of the models that a service offers, sorted. */
  providers_models: { request: LanguageModelsQuery; response: Array<string> };
  /** Tests a connection with one real request. */
  providers_test: { request: TestRequest; response: TestOutcome };
  /** Returns the MCP servers behind AutoKit. */
  servers_list: { request: Nothing; response: Array<Server> };
  /** Adds or changes an MCP server and scans its tools, which wait in Review unless the server is trusted. */
  servers_add: { request: ServerAdd; response: JobRef };
  /** Returns the MCP servers in the settings of a client program, as they would be added. */
  servers_read: { request: ServersText; response: ServersRead };
  /** Stops and removes an MCP server. The cards of its tools are kept. */
  servers_remove: { request: ServerRef; response: Array<Server> };
  /** Scans the tools of an MCP server again. */
  servers_refresh: { request: ServerRef; response: JobRef };
  /** Returns the sources of tools that can be installed. */
  market_sources_list: { request: Nothing; response: Array<MarketSource> };
  /** Adds a source: a registry of MCP servers, or a published bundle. Search terms are sent to registries, including those of agents. */
  market_sources_add: { request: MarketSourceAdd; response: Array<MarketSource> };
  /** Removes a source. Tools installed from it are kept. */
  market_sources_remove: { request: MarketSourceRef; response: Array<MarketSource> };
  /** Searches all sources for tools. */
  market_search: { request: MarketQuery; response: MarketFound };
  /** Returns a preview of an installation as a request to confirm. Nothing is installed. */
  market_install: { request: MarketRef; response: MarketInstall };
  /** Returns a report on agents' activity: sessions, searches, calls, latency and tokens. */
  activity_get: { request: ActivityQuery; response: ActivityReport };
  /** Returns the audit log: agents' calls, who allowed them, and their outcome. */
  audit_list: { request: AuditQuery; response: AuditLog };
  /** Returns the profiles of agents and the settings of their sessions. */
  profiles_list: { request: Nothing; response: Profiles };
  /** Adds a profile, or replaces the one of the same name. */
  profiles_set: { request: Profile; response: Profiles };
  /** Changes a profile that is still as it was read; `conflict` otherwise. */
  profiles_change: { request: ProfileChange; response: Profiles };
  /** Removes a profile. Agents that name it are refused from then on. */
  profiles_remove: { request: ProfileRef; response: Profiles };
  /** Changes the settings of agents' sessions. */
  agent_sessions_set: { request: AgentSessions; response: Profiles };
  /** Waits until the list of calls that wait for approval changes. */
  approvals_wait: { request: ApprovalsWait; response: ApprovalRequests };
  /** Approves or refuses a call that waits for approval. */
  approvals_answer: { request: ApprovalAnswer; response: ApprovalRequests };
  /** Returns the callable tools and whether agents may call them. */
  tools_list: { request: ToolsQuery; response: ToolList };
  /** Returns a callable tool with its parameters. */
  tools_get: { request: ToolRef; response: ToolView };
  /** Calls a tool for the person, or returns the permissions to grant first. */
  tools_run: { request: ToolRun; response: ToolRunStart };
  /** Returns the result of a tool call whose job is done. */
  tools_outcome: { request: JobRef; response: ToolOutcome };
  /** Returns names of products, or synonyms, that search knows. */
  vocabulary_list: { request: VocabularyQuery; response: VocabularyList };
  /** Adds a name or synonym, or replaces one that was added. Search knows it when this returns. */
  vocabulary_set: { request: VocabularySet; response: VocabularyChanged };
  /** Removes names or synonyms that were added. */
  vocabulary_remove: { request: VocabularyRemove; response: VocabularyRemoved };
  /** Returns what search learned from use. */
  personalization_get: { request: Nothing; response: Personalization };
  /** Switches learning from use, and what was learned, on or off. */
  personalization_set: { request: PersonalizationSet; response: Personalization };
  /** Learns from all use until now, instead of in the background. */
  personalization_learn: { request: Nothing; response: JobRef };
  /** Forgets what was learned; what happened until now is not learned from again. */
  personalization_reset: { request: PersonalizationProfiles; response: Personalization };
  /** Returns what was learned, as a file. */
  personalization_export: { request: PersonalizationProfiles; response: PersonalizationExport };
  /** Returns the credentials for web APIs: those stored, and those that operations in the library need. */
  api_keys_list: { request: Nothing; response: Array<ApiKey> };
  /** Stores a credential for a web API. */
  api_keys_set: { request: ApiKeySet; response: Array<ApiKey> };
  /** Removes a credential for a web API. */
  api_keys_remove: { request: ApiKeyRef; response: Array<ApiKey> };
  /** Returns the client programs of agents, and the changes to their settings that would connect AutoKit. */
  clients_list: { request: Nothing; response: Array<AgentClient> };
  /** Adds AutoKit to the MCP servers of a client program, as previewed. A backup of the file is kept. */
  clients_connect: { request: ConnectClient; response: ClientConnected };
  /** Removes AutoKit from the MCP servers of a client program, as previewed. A backup of the file is kept. */
  clients_disconnect: { request: ConnectClient; response: ClientConnected };
  /** Returns the status of the HTTP server for agents. */
  mcp_http_get: { request: AgentsHttpRef; response: AgentsHttp };
  /** Switches the HTTP server for agents on or off, or changes its port. */
  mcp_http_set: { request: AgentsHttpSet; response: AgentsHttp };
  /** Replaces the token of the HTTP server for agents. Clients using the current token are rejected. */
  mcp_http_renew: { request: AgentsHttpRef; response: AgentsHttp };
  /** Returns the backups of this library, newest first. */
  backups_list: { request: Nothing; response: Array<Backup> };
  /** Creates and verifies a backup. */
  backups_create: { request: Nothing; response: Backup };
  /** Compares a backup with the library, to show what restoring it would change. */
  backups_inspect: { request: BackupRef; response: BackupContents };
  /** Verifies a backup, then replaces the library with it as soon as running commands have ended. The outcome is sent as the event `restored`. The replaced library is kept next to the backups. */
  backups_restore: { request: BackupRef; response: Backup };
  /** Accepts the loss of acknowledged changes that are missing, so that they are no longer reported. */
  missing_changes_accept: { request: Nothing; response: Nothing };
  /** Returns the teams that this person belongs to on this machine. */
  teams_list: { request: Nothing; response: Array<TeamEntry> };
  /** Creates a team on a server, and becomes its first administrator. */
  teams_create: { request: TeamCreate; response: TeamEntry };
  /** Joins a team, or signs in to it on another machine, and makes the folder of its replica. */
  teams_join: { request: TeamJoin; response: TeamEntry };
  /** Counts what is lost when a team whose library is not open is left. */
  teams_unsent: { request: TeamRef; response: TeamUnsent };
  /** Removes the replica of a team's library and the password from this machine. */
  teams_leave: { request: TeamRef; response: TeamEntry };
  /** Uses a team at another address from now on. */
  teams_move: { request: TeamMove; response: TeamEntry };
  /** Writes everything of a team to a file, from which it can be made anew at another server. */
  teams_export: { request: TeamFileRequest; response: TeamFileOutcome };
  /** Makes a team of an exported one. */
  teams_import: { request: TeamFileRequest; response: TeamFileOutcome };
  /** Brings the tables of a team up to date and makes new keys for signing tokens. */
  teams_upgrade: { request: TeamUpgrade; response: Nothing };
  /** Returns how this library and its team's stand; `null` if it is not the replica of one. */
  team_get: { request: Nothing; response: TeamState | null };
  /** Sends and receives changes now. */
  team_sync: { request: Nothing; response: TeamState };
  /** Chooses which of the team's cards the replica is made of. */
  team_cards_set: { request: TeamCards; response: TeamKept };
  /** Returns which of the team's cards are kept on this machine. */
  team_cards_get: { request: Nothing; response: TeamKept };
  /** Returns the members of the team. */
  team_members: { request: Nothing; response: TeamMembers };
  /** Invites somebody to the team. */
  team_invite: { request: TeamInvite; response: TeamInvitation };
  /** Changes the role, the groups or the password of a member, removes or restores them. */
  team_member_change: { request: TeamMemberChange; response: TeamMembers };
  /** Returns how many reviewers the team requires. */
  team_policy_get: { request: Nothing; response: TeamPolicy };
  /** Sets how many reviewers the team requires. For administrators. */
  team_policy_set: { request: TeamPolicy; response: TeamPolicy };
  /** Returns who can be chosen in the team; `null` if this library is not the replica of one. */
  team_directory: { request: Nothing; response: TeamDirectory | null };
  /** Returns who sees a card. */
  team_sharing_get: { request: CardRef; response: CardSharing };
  /** Changes who sees cards: sent at the next synchronization. */
  team_share: { request: ShareCards; response: Nothing };
  /** Chooses who sees cards that are added on this machine. */
  team_new_cards_set: { request: NewCards; response: TeamDirectory };
  /** Returns what happened in the library lately, newest first. */
  team_activity: { request: TeamActivityRequest; response: Array<TeamActivityEntry> };
  /** Returns what was done in the team, newest first. For administrators. */
  team_audit: { request: TeamAuditRequest; response: Array<TeamAuditEntry> };
  /** Runs diagnostics of the installation. */
  diagnostics_run: { request: DoctorRequest; response: Doctor };
}
