// What agents did, as figures, bars and sentences.

import type { ActivityDay, ActivityReport, ToolUse } from "./bindings";
import { percent, took } from "./format";
import { visibleLine } from "./visible";
import { activity as texts } from "../texts/activity";

/** How far back one can look, in days. */
export const DAYS = [7, 30, 90] as const;

export type Days = (typeof DAYS)[number];

/** Tools that are drawn; the table below holds all. */
export const DRAWN = 10;

/** A number that stands at the top, and what belongs to it. */
export interface Figure {
  name: string;
  value: string;
  about: string;
}

/** Part of a bar: what it stands for decides its colour. */
export interface Part {
  kind: string;
  value: number;
}

/** One or more bars with a name. */
export interface Row {
  name: string;
  /** Whose it is. */
  of?: string;
  bars: { parts: Part[]; label: string }[];
}

/** A day as bars that stand side by side. */
export interface Column {
  day: string;
  bars: Part[][];
}

/** Where a part of a column is drawn, from the top left. */
export interface Block {
  kind: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

const TIERS: Record<string, string> = texts.tiers;

/** A tier of the search in words. */
export function tierName(tier: string): string {
  return TIERS[tier] ?? visibleLine(tier);
}

/** Whether there is anything to tell. */
export function happened(report: ActivityReport): boolean {
  return report.sessions + report.searches + report.calls > 0;
}

/** A time of a search or call: most are far below a second, so parts of a millisecond count. */
export function brief(ms: number): string {
  return ms > 0 && ms < 10 ? texts.milliseconds(ms < 0.1 ? "< 0.1" : ms.toFixed(1)) : took(ms);
}

/** Tokens a session costs with AutoKit: its own tools and what is found. */
export function dynamicTokens(report: ActivityReport): number {
  return report.own_tokens + report.search_tokens;
}

/** Which part of the tokens a session saves; below zero where it costs more, none where no tool can be called. */
export function savedShare(report: ActivityReport): number | null {
  return report.static_tokens > 0 ? 1 - dynamicTokens(report) / report.static_tokens : null;
}

/** The programs agents run in, those with most sessions first. */
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

/** The figures at the top. */
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

/** What a session costs: every tool at once, and with AutoKit. */
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

/** How long searches took, by tier. */
export function tierRows(report: ActivityReport): Row[] {
  return report.tiers.map(({ tier, latency }) => ({
    name: tierName(tier),
    bars: [
      { parts: [{ kind: "p50", value: latency.p50_ms }], label: brief(latency.p50_ms) },
      { parts: [{ kind: "p95", value: latency.p95_ms }], label: brief(latency.p95_ms) },
    ],
  }));
}

/** What a tool is called, and by whom it is: a long name of a provider must not hide that of the tool. */
export function toolName(name: string): { name: string; of?: string } {
  const [of, ...rest] = visibleLine(name).split(" / ");
  return rest.length && of ? { name: rest.join(" / "), of } : { name: visibleLine(name) };
}

/** The tools called most, with the calls that failed. */
export function toolRows(tools: ToolUse[]): Row[] {
  return tools.slice(0, DRAWN).map((tool) => ({
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

/** Each part of a bar as a stretch of 0 to 100, where the longest bar of all takes 100. */
export function stretches(rows: Row[]): { kind: string; from: number; width: number }[][][] {
  const sum = (parts: Part[]) => parts.reduce((all, { value }) => all + value, 0);
  const longest = Math.max(0, ...rows.flatMap(({ bars }) => bars.map(({ parts }) => sum(parts))));
  // Nothing at all is no bar, rather than a bar as long as can be.
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

/** The cost of a session in a sentence, for who does not see the bars. */
export function tokensSaid(report: ActivityReport): string {
  if (!report.static_tokens) return texts.costs(dynamicTokens(report));
  return texts.saves(report.static_tokens, dynamicTokens(report), savedShare(report) ?? 0);
}

/** The times in a sentence. */
export function tiersSaid(report: ActivityReport): string {
  const each = report.tiers.map(({ tier, latency }) =>
    texts.times(tierName(tier), brief(latency.p50_ms), brief(latency.p95_ms)),
  );
  return `${each.join("; ")}.`;
}

/** The tools in a sentence. */
export function toolsSaid(tools: ToolUse[]): string {
  const each = tools.slice(0, DRAWN).map(({ name, calls, failed }) => texts.toolUse(visibleLine(name), calls, failed));
  return `${each.join("; ")}.`;
}

/** A day as people write it; it is one of UTC, wherever they are. */
export function dayName(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime())
    ? day
    : date.toLocaleDateString("en", { day: "numeric", month: "short", timeZone: "UTC" });
}

/** Whether anything is to be told of a day. */
export function busyDay({ searches, calls, loops }: ActivityDay): boolean {
  return searches + calls + loops > 0;
}

/** The days for the table, newest first: those with something to tell, or all. */
export function dayRows(days: ActivityDay[], all: boolean): ActivityDay[] {
  return days.filter((day) => all || busyDay(day)).reverse();
}

/** Searches and calls of each day, with the calls that failed. */
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

/** How long the searches of each day took. */
export function timeColumns(days: ActivityDay[]): Column[] {
  return days.map(({ day, search }) => ({
    day,
    bars: [[{ kind: "p50", value: search.p50_ms }], [{ kind: "p95", value: search.p95_ms }]],
  }));
}

const height = (parts: Part[]) => parts.reduce((all, { value }) => all + value, 0);

/** The highest bar of all: what the whole height of a chart stands for. */
export function highest(columns: Column[]): number {
  return Math.max(0, ...columns.flatMap(({ bars }) => bars.map(height)));
}

/** Part of a column that stays empty, so that days are told apart. */
const GAP = 0.3;
/** What is there leaves a trace, however little it is. */
const TRACE = 1.5;

/** The parts of all columns, in a chart as wide as there are columns and 100 high. */
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
          // A part on a full bar does not grow out of the chart.
          top = Math.max(0, top - tall);
          return { kind, x: at + GAP / 2 + nth * width, y: top, width, height: tall };
        });
    });
  });
}

/** What was done day by day in a sentence: in all, and on the day with most. */
export function useSaid(days: ActivityDay[]): string {
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

/** The times of searches day by day in a sentence: of the last day with any, and of the slowest. */
export function timesSaid(days: ActivityDay[]): string {
  const searched = days.filter(({ searches }) => searches > 0);
  const last = searched.at(-1);
  if (!last) return texts.noSearches;
  const slowest = searched.reduce((slow, day) => (day.search.p95_ms > slow.search.p95_ms ? day : slow));
  const told = ({ day, search }: ActivityDay) => texts.times(dayName(day), brief(search.p50_ms), brief(search.p95_ms));
  return slowest === last ? `${told(last)}.` : texts.slowest(told(slowest), told(last));
}
