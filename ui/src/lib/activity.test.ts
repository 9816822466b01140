import { describe, expect, it } from "vitest";
import {
  blocks,
  formatLatency,
  dayName,
  dayRows,
  figuresOf,
  hasActivity,
  highest,
  programsOf,
  savedShare,
  barSegments,
  tierName,
  tierRows,
  describeLatency,
  timeColumns,
  describeTimes,
  tokenRows,
  describeTokens,
  toolName,
  toolRows,
  describeTools,
  useColumns,
  describeUse,
} from "./activity";
import type { ActivityDay, ActivityReport, ToolUse } from "./bindings";
import { activity as texts } from "../texts/activity";
import { format } from "../texts/format";

const NOTHING: ActivityReport = {
  days: 30,
  sessions: 0,
  clients: {},
  searches: 0,
  empty_searches: 0,
  repeated_searches: 0,
  search: { p50_ms: 0, p95_ms: 0 },
  tiers: [],
  bound: 0,
  evicted: 0,
  loops: 0,
  calls: 0,
  failed_calls: 0,
  tools: [],
  other_tools: 0,
  days_list: [],
  accuracy: null,
  own_tokens: 600,
  search_tokens: 0,
  result_tokens: 0,
  static_tokens: 0,
  preloading: null,
  unknown: 0,
};

const BUSY: ActivityReport = {
  ...NOTHING,
  sessions: 12,
  clients: { "Claude Code": 9, cursor: 3 },
  searches: 1234,
  empty_searches: 5,
  repeated_searches: 2,
  tiers: [
    { tier: "system", searches: 1234, latency: { p50_ms: 0.04, p95_ms: 0.3 } },
    { tier: "library", searches: 1234, latency: { p50_ms: 12.4, p95_ms: 1250 } },
  ],
  bound: 40,
  evicted: 7,
  loops: 1,
  calls: 30,
  failed_calls: 4,
  accuracy: 0.256,
  search_tokens: 400,
  static_tokens: 20_000,
};

const tool = (name: string, calls: number, failed = 0): ToolUse => ({
  tool: name,
  name,
  calls,
  failed,
  latency: { p50_ms: 1, p95_ms: 2 },
});
const day = (date: number, some: Partial<ActivityDay> = {}): ActivityDay => ({
  day: `2026-03-0${date}`,
  searches: 0,
  calls: 0,
  failed_calls: 0,
  loops: 0,
  search: { p50_ms: 0, p95_ms: 0 },
  accuracy: null,
  ...some,
});
const DAYS = [
  day(1),
  day(2, { searches: 8, calls: 10, failed_calls: 4, search: { p50_ms: 12, p95_ms: 240 } }),
  day(3),
  day(4, { loops: 1 }),
  day(5, { searches: 1, search: { p50_ms: 3, p95_ms: 3 } }),
];
const figure = (report: ActivityReport, name: string) => figuresOf(report).find((figure) => figure.name === name);

describe("activity", () => {
  it("tells whether anything happened", () => {
    expect([hasActivity(NOTHING), hasActivity({ ...NOTHING, searches: 1 }), hasActivity(BUSY)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("names the figures and what belongs to them", () => {
    const { sessions, searches, calls, toolsLoaded, loopsStopped, discoveryAccuracy } = texts;
    expect(figure(BUSY, sessions)).toEqual({ name: sessions, value: "12", about: texts.ofPrograms(2) });
    expect(figure(BUSY, searches)).toMatchObject({
      value: "1,234",
      about: `${texts.foundNothing(5)}, ${texts.foundSame(2)}`,
    });
    expect(figure({ ...BUSY, empty_searches: 0, repeated_searches: 0 }, searches)?.about).toBe(texts.foundNew);
    expect(figure(BUSY, calls)).toMatchObject({ value: "30", about: texts.failedOf(4) });
    expect(figure({ ...BUSY, failed_calls: 0 }, calls)?.about).toBe(texts.noneFailed);
    expect(figure(BUSY, toolsLoaded)).toMatchObject({ value: "40", about: texts.evicted(7) });
    expect([0, 2].map((loops) => figure({ ...BUSY, loops }, loopsStopped)?.about)).toEqual([
      texts.none,
      texts.sameCalls,
    ]);
    expect(figure(BUSY, discoveryAccuracy)?.value).toBe("26%");
    expect(figure(NOTHING, discoveryAccuracy)?.value).toBe("–");
  });

  it("tells what is saved, also where nothing is", () => {
    expect(figure(BUSY, texts.tokensSaved)).toMatchObject({ value: "95%", about: texts.aSession(19_000) });
    expect(figure({ ...BUSY, static_tokens: 500 }, texts.tokensSaved)?.value).toBe(texts.none);
    expect([savedShare(NOTHING), savedShare({ ...BUSY, static_tokens: 500 })]).toEqual([null, -1]);
    expect(describeTokens(BUSY)).toBe(texts.saves(20_000, 1000, 0.95));
    expect(describeTokens(BUSY)).toContain("95%");
    expect(describeTokens({ ...BUSY, static_tokens: 500 })).toBe(texts.saves(500, 1000, -1));
    expect(describeTokens({ ...BUSY, static_tokens: 500 })).not.toContain("%");
    expect(describeTokens(NOTHING)).toBe(texts.costs(600));
  });

  it("says times as short as they are", () => {
    expect([0, 0.04, 0.34, 9.96, 12.4, 1250].map(formatLatency)).toEqual([
      format.milliseconds(0),
      texts.milliseconds("< 0.1"),
      texts.milliseconds("0.3"),
      texts.milliseconds("10.0"),
      format.milliseconds(12),
      format.seconds("1.3"),
    ]);
    expect([tierName("library"), tierName("of \u202etomorrow")]).toEqual([texts.tiers.library, "of ‹U+202E›tomorrow"]);
    expect(describeLatency(BUSY)).toContain(
      texts.times(texts.tiers.library, format.milliseconds(12), format.seconds("1.3")),
    );
  });

  it("puts the programs with most sessions first", () => {
    expect(programsOf({ ...NOTHING, clients: { b: 1, "": 2, a: 1 } }).map(({ name }) => name)).toEqual([
      texts.withoutAName,
      "a",
      "b",
    ]);
  });

  it("draws each part of a bar against the longest bar", () => {
    expect(barSegments(tokenRows(BUSY))).toEqual([
      [[{ kind: "static", from: 0, width: 100 }]],
      [
        [
          { kind: "own", from: 0, width: 3 },
          { kind: "found", from: 3, width: 2 },
        ],
      ],
    ]);
    expect(barSegments(tierRows(BUSY)).map((bars) => bars.map((parts) => Math.round(parts[0]?.width ?? 0)))).toEqual([
      [0, 0],
      [1, 100],
    ]);
    expect(barSegments(tokenRows({ ...NOTHING, own_tokens: 0 }))).toEqual([[[]], [[]]]);
    expect(barSegments([])).toEqual([]);
  });

  it("draws the tools called most and says how many calls failed", () => {
    const tools = Array.from({ length: 14 }, (_, at) => tool(`tool ${at}`, 20 - at, at ? 0 : 3));
    expect(toolRows(tools)).toHaveLength(10);
    expect(toolRows(tools)[0]?.bars).toEqual([
      {
        parts: [
          { kind: "good", value: 17 },
          { kind: "failed", value: 3 },
        ],
        label: texts.callsFailed(20, 3),
      },
    ]);
    expect([toolName("Acme / get / all"), toolName("ask")]).toEqual([
      { name: "get / all", of: "Acme" },
      { name: "ask" },
    ]);
    expect(describeTools([tool("a", 1), tool("b", 2, 1)])).toBe(
      `${texts.toolUse("a", 1, 0)}; ${texts.toolUse("b", 2, 1)}.`,
    );
  });

  it("draws a day's bars side by side against the highest of all, with the failed calls on top", () => {
    const columns = useColumns(DAYS);
    expect(highest(columns)).toBe(10);
    const drawn = blocks(columns).map(({ kind, x, y, height }) => [kind, x.toFixed(2), y, height]);
    expect(drawn).toEqual([
      ["static", "1.15", 20, 80],
      ["good", "1.50", 40, 60],
      ["failed", "1.50", 0, 40],
      ["static", "4.15", 90, 10],
    ]);
    expect(blocks(timeColumns(DAYS)).map(({ kind }) => kind)).toEqual(["p50", "p95", "p50", "p95"]);
    expect(blocks(useColumns([day(1)]))).toEqual([]);
    expect([highest([]), blocks([])]).toEqual([0, []]);
  });

  it("keeps a trace of little, within the chart", () => {
    const drawn = blocks(useColumns([day(1, { searches: 1, calls: 1000, failed_calls: 1 })]));
    expect(drawn.map(({ kind, height }) => [kind, height])).toEqual([
      ["static", 1.5],
      ["good", 99.9],
      ["failed", 1.5],
    ]);
    expect(drawn.every(({ y, height }) => y >= 0 && y + height <= 101.5)).toBe(true);
  });

  it("folds the days on which nothing hasActivity, newest first", () => {
    expect(dayRows(DAYS, false).map(({ day }) => day.slice(-1))).toEqual(["5", "4", "2"]);
    expect(dayRows(DAYS, true).map(({ day }) => day.slice(-1))).toEqual(["5", "4", "3", "2", "1"]);
    expect([dayName("2026-03-09"), dayName("soon")]).toEqual(["Mar 9", "soon"]);
  });

  it("tells the days in a sentence", () => {
    expect(describeUse(DAYS)).toBe(texts.used(3, 5, texts.use(9, 10, 4), "Mar 2", texts.use(8, 10, 4)));
    expect([describeUse([]), describeUse([day(1)])]).toEqual([texts.nothingOn(0), texts.nothingOn(1)]);
    const slowest = texts.times("Mar 2", format.milliseconds(12), format.milliseconds(240));
    const last = texts.times("Mar 5", texts.milliseconds("3.0"), texts.milliseconds("3.0"));
    expect(describeTimes(DAYS)).toBe(texts.slowest(slowest, last));
    expect(describeTimes(DAYS.slice(0, 3))).toBe(`${slowest}.`);
    expect(describeTimes([day(1)])).toBe(texts.noSearches);
  });
});
