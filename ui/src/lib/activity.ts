// Agent activity as figures, charts and sentences.

import type { ActivityDay, ActivityReport, ToolUse } from "./bindings";
import { percent, took } from "./format";
import { visibleLine } from "./visible";
import { activity as texts } from "../texts/activity";

/** The selectable periods, in days. */
export const DAYS = [7, 30, 90] as const;

export type Days = (typeof DAYS)[number];

/** Number of tools in the chart; the table below it lists all. */
export const CHARTED_TOOLS = 10;

/** A key figure and a note on it. */
export interface Figure {
  name: string;
  value: string;
  about: string;
}

/** Part of a bar; `kind` determines its color. */
export interface Part {
  kind: string;
  value: number;
}

/** A chart row: one or more bars with a name. */
export interface Row {
  name: string;
  /** The tool's provider. */
  of?: string;
  bars: { parts: Part[]; label: string }[];
}

/** A day, drawn as adjacent bars. */
export interface Column {
  day: string;
  bars: Part[][];
}

/** Position of a column's part, measured from the top left. */
export interface Block {
  kind: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

const TIERS: Record<string, string> = texts.tiers;

/** Returns the display name of a search tier. */
export function tierName(tier: string): string {
  return TIERS[tier] ?? visibleLine(tier);
}

/** Returns whether there was any activity. */
export function hasActivity(report: ActivityReport): boolean {
  return report.sessions + report.searches + report.calls > 0;
}

/** Formats the duration of a search or call, with fractions of a millisecond below 10 ms. */
export function formatLatency(ms: number): string {
  return ms > 0 && ms < 10 ? texts.milliseconds(ms < 0.1 ? "< 0.1" : ms.toFixed(1)) : took(ms);
}

/** Returns the tokens a session costs with AutoKit: its own tools and the search results. */
export function dynamicTokens(report: ActivityReport): number {
  return report.own_tokens + report.search_tokens;
}

/** Returns the share of tokens saved; negative if a session costs more, `null` if there is no callable tool. */
export function savedShare(report: ActivityReport): number | null {
  return report.static_tokens > 0 ? 1 - dynamicTokens(report) / report.static_tokens : null;
}

/** Returns the clients by number of sessions, highest first. */
export function programsOf(report: ActivityReport): { name: string; sessions: number }[] {
  return Object.entries(report.clients)
    .map(([name, sessions]) => ({ name: visibleLine(name) || texts.withoutAName, sessions }))
    .sort((a, b) => b.sessions - a.sessions || a.name.localeCompare(b.name));
}

function searchesAbout({ empty_searches: empty, repeated_searches: repeated }: ActivityReport): string {
  const words = [empty && texts.foundNothing(empty), repeated && texts.foundSame(repeated)];
  return words.filter(Boolean).join(", ") || texts.foundNew;
}

function savedFigure(report: ActivityReport): Omit<Figure, "name"> {
  const saved = savedShare(report);
  if (saved === null) return { value: "–", about: texts.noTool };
  if (saved <= 0) return { value: texts.none, about: texts.fewTools };
  return {
    value: percent(saved),
    about: texts.aSession(report.static_tokens - dynamicTokens(report)),
  };
}

/** Returns the key figures at the top of the pane. */
export function figuresOf(report: ActivityReport): Figure[] {
  const number = (n: number) => n.toLocaleString("en");
  const programs = Object.keys(report.clients).length;
  return [
    { name: texts.sessions, value: number(report.sessions), about: programs ? texts.ofPrograms(programs) : "" },
    { name: texts.searches, value: number(report.searches), about: report.searches ? searchesAbout(report) : "" },
    {
      name: texts.calls,
      value: number(report.calls),
      about: !report.calls ? "" : report.failed_calls ? texts.failedOf(report.failed_calls) : texts.noneFailed,
    },
    { name: texts.toolsLoaded, value: number(report.bound), about: texts.evicted(report.evicted) },
    {
      name: texts.loopsStopped,
      value: number(report.loops),
      about: report.loops ? texts.sameCalls : texts.none,
    },
    {
      name: texts.discoveryAccuracy,
      value: report.accuracy === null ? "–" : percent(report.accuracy),
      about: report.accuracy === null ? texts.noToolWasLoadedYet : texts.accuracyOf,
    },
    { name: texts.tokensSaved, ...savedFigure(report) },
  ];
}

/** Returns the token cost of a session with every tool at once and with AutoKit. */
export function tokenRows(report: ActivityReport): Row[] {
  const tokens = (n: number) => n.toLocaleString("en");
  return [
    {
      name: texts.everyToolAtOnce,
      bars: [{ parts: [{ kind: "static", value: report.static_tokens }], label: tokens(report.static_tokens) }],
    },
    {
      name: texts.withAutokit,
      bars: [
        {
          parts: [
            { kind: "own", value: report.own_tokens },
            { kind: "found", value: report.search_tokens },
          ],
          label: tokens(dynamicTokens(report)),
        },
      ],
    },
  ];
}

/** Returns the search latency by tier. */
export function tierRows(report: ActivityReport): Row[] {
  return report.tiers.map(({ tier, latency }) => ({
    name: tierName(tier),
    bars: [
      { parts: [{ kind: "p50", value: latency.p50_ms }], label: formatLatency(latency.p50_ms) },
      { parts: [{ kind: "p95", value: latency.p95_ms }], label: formatLatency(latency.p95_ms) },
    ],
  }));
}

/** Splits a qualified name into tool and provider, so that a long provider name does not hide that of the tool. */
export function toolName(name: string): { name: string; of?: string } {
  const [of, ...rest] = visibleLine(name).split(" / ");
  return rest.length && of ? { name: rest.join(" / "), of } : { name: visibleLine(name) };
}

/** Returns the most-called tools with their successful and failed calls. */
export function toolRows(tools: ToolUse[]): Row[] {
  return tools.slice(0, CHARTED_TOOLS).map((tool) => ({
    ...toolName(tool.name),
    bars: [
      {
        parts: [
          { kind: "good", value: tool.calls - tool.failed },
          { kind: "failed", value: tool.failed },
        ],
        label: tool.failed ? texts.callsFailed(tool.calls, tool.failed) : tool.calls.toLocaleString("en"),
      },
    ],
  }));
}

/** Scales every part of a bar to 0–100, where 100 is the longest bar. */
export function barSegments(rows: Row[]): { kind: string; from: number; width: number }[][][] {
  const sum = (parts: Part[]) => parts.reduce((all, { value }) => all + value, 0);
  const longest = Math.max(0, ...rows.flatMap(({ bars }) => bars.map(({ parts }) => sum(parts))));
  // If all values are zero, no bar is drawn.
  const scale = longest > 0 ? 100 / longest : 0;
  return rows.map(({ bars }) =>
    bars.map(({ parts }) => {
      let from = 0;
      return parts
        .filter(({ value }) => value > 0)
        .map(({ kind, value }) => {
          const stretch = { kind, from, width: value * scale };
          from += stretch.width;
          return stretch;
        });
    }),
  );
}

/** Describes the token cost of a session in a sentence, for screen readers. */
export function describeTokens(report: ActivityReport): string {
  if (!report.static_tokens) return texts.costs(dynamicTokens(report));
  return texts.saves(report.static_tokens, dynamicTokens(report), savedShare(report) ?? 0);
}

/** Describes the search latencies in a sentence. */
export function describeLatency(report: ActivityReport): string {
  const each = report.tiers.map(({ tier, latency }) =>
    texts.times(tierName(tier), formatLatency(latency.p50_ms), formatLatency(latency.p95_ms)),
  );
  return `${each.join("; ")}.`;
}

/** Describes the tool calls in a sentence. */
export function describeTools(tools: ToolUse[]): string {
  const each = tools
    .slice(0, CHARTED_TOOLS)
    .map(({ name, calls, failed }) => texts.toolUse(visibleLine(name), calls, failed));
  return `${each.join("; ")}.`;
}

/** Formats a day. Days are in UTC, regardless of the local time zone. */
export function dayName(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime())
    ? day
    : date.toLocaleDateString("en", { day: "numeric", month: "short", timeZone: "UTC" });
}

/** Returns whether a day had any activity. */
export function busyDay({ searches, calls, loops }: ActivityDay): boolean {
  return searches + calls + loops > 0;
}

/** Returns the days for the table, newest first: all of them, or only those with activity. */
export function dayRows(days: ActivityDay[], all: boolean): ActivityDay[] {
  return days.filter((day) => all || busyDay(day)).reverse();
}

/** Returns the searches and the successful and failed calls of each day. */
export function useColumns(days: ActivityDay[]): Column[] {
  return days.map(({ day, searches, calls, failed_calls: failed }) => ({
    day,
    bars: [
      [{ kind: "static", value: searches }],
      [
        { kind: "good", value: calls - failed },
        { kind: "failed", value: failed },
      ],
    ],
  }));
}

/** Returns the search latency of each day. */
export function timeColumns(days: ActivityDay[]): Column[] {
  return days.map(({ day, search }) => ({
    day,
    bars: [[{ kind: "p50", value: search.p50_ms }], [{ kind: "p95", value: search.p95_ms }]],
  }));
}

const height = (parts: Part[]) => parts.reduce((all, { value }) => all + value, 0);

/** Returns the highest bar, which sets the scale of the chart. */
export function highest(columns: Column[]): number {
  return Math.max(0, ...columns.flatMap(({ bars }) => bars.map(height)));
}

/** Share of a column that stays empty to separate the days. */
const GAP = 0.3;
/** Minimum height of a nonzero part, in percent, so that it stays visible. */
const TRACE = 1.5;

/** Lays out all parts in a chart that is one unit wide per column and 100 units high. */
export function blocks(columns: Column[]): Block[] {
  const most = highest(columns);
  return columns.flatMap(({ bars }, at) => {
    const width = (1 - GAP) / bars.length;
    return bars.flatMap((parts, nth) => {
      let top = 100;
      return parts
        .filter(({ value }) => value > 0)
        .map(({ kind, value }) => {
          const tall = Math.max((value * 100) / most, TRACE);
          // Parts drawn at their minimum height must not exceed the chart.
          top = Math.max(0, top - tall);
          return { kind, x: at + GAP / 2 + nth * width, y: top, width, height: tall };
        });
    });
  });
}

/** Describes the daily use in a sentence: the totals, and the busiest day. */
export function describeUse(days: ActivityDay[]): string {
  const busy = days.filter(busyDay);
  const sum = (of: (day: ActivityDay) => number) => busy.reduce((all, day) => all + of(day), 0);
  const most = busy.reduce<ActivityDay | null>(
    (most, day) => (most && most.searches + most.calls >= day.searches + day.calls ? most : day),
    null,
  );
  if (!most) return texts.nothingOn(days.length);
  const all = texts.use(
    sum(({ searches }) => searches),
    sum(({ calls }) => calls),
    sum(({ failed_calls }) => failed_calls),
  );
  return texts.used(
    busy.length,
    days.length,
    all,
    dayName(most.day),
    texts.use(most.searches, most.calls, most.failed_calls),
  );
}

/** Describes the daily search latencies in a sentence: the latest day with searches, and the slowest. */
export function describeTimes(days: ActivityDay[]): string {
  const searched = days.filter(({ searches }) => searches > 0);
  const last = searched.at(-1);
  if (!last) return texts.noSearches;
  const slowest = searched.reduce((slow, day) => (day.search.p95_ms > slow.search.p95_ms ? day : slow));
  const told = ({ day, search }: ActivityDay) =>
    texts.times(dayName(day), formatLatency(search.p50_ms), formatLatency(search.p95_ms));
  return slowest === last ? `${told(last)}.` : texts.slowest(told(slowest), told(last));
}
