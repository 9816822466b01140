import { describe, expect, it } from "vitest";
import {
  blocks,
  brief,
  dayName,
  dayRows,
  figuresOf,
  happened,
  highest,
  programsOf,
  savedShare,
  stretches,
  tierName,
  tierRows,
  tiersSaid,
  timeColumns,
  timesSaid,
  tokenRows,
  tokensSaid,
  toolName,
  toolRows,
  toolsSaid,
  useColumns,
  useSaid,
} from "./activity";
import type { ActivityDay, ActivityReport, ToolUse } from "./bindings";

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
    expect([happened(NOTHING), happened({ ...NOTHING, searches: 1 }), happened(BUSY)]).toEqual([false, true, true]);
  });

  it("names the figures and what belongs to them", () => {
    expect(figure(BUSY, "Sessions")).toEqual({ name: "Sessions", value: "12", about: "from 2 clients" });
    expect(figure(BUSY, "Searches")).toMatchObject({
      value: "1,234",
      about: "5 found nothing, 2 repeated earlier results",
    });
    expect(figure({ ...BUSY, empty_searches: 0, repeated_searches: 0 }, "Searches")?.about).toBe("all found new tools");
    expect(figure(BUSY, "Calls")).toMatchObject({ value: "30", about: "4 failed" });
    expect(figure({ ...BUSY, failed_calls: 0 }, "Calls")?.about).toBe("none failed");
    expect(figure(BUSY, "Tools loaded")).toMatchObject({ value: "40", about: "7 evicted" });
    expect([0, 2].map((loops) => figure({ ...BUSY, loops }, "Loops stopped")?.about)).toEqual([
      "none",
      "identical repeated calls",
    ]);
    expect(figure(BUSY, "Discovery accuracy")?.value).toBe("26%");
    expect(figure(NOTHING, "Discovery accuracy")?.value).toBe("–");
  });

  it("tells what is saved, also where nothing is", () => {
    expect(figure(BUSY, "Tokens saved")).toMatchObject({ value: "95%", about: "19,000 per session" });
    expect(figure({ ...BUSY, static_tokens: 500 }, "Tokens saved")?.value).toBe("none");
    expect([savedShare(NOTHING), savedShare({ ...BUSY, static_tokens: 500 })]).toEqual([null, -1]);
    expect(tokensSaid(BUSY)).toBe(
      "Listing every tool would cost 20,000 tokens per session; AutoKit uses 1,000 tokens, 95% less.",
    );
    expect(tokensSaid({ ...BUSY, static_tokens: 500 })).toMatch(/AutoKit uses 1,000 tokens\.$/);
    expect(tokensSaid(NOTHING)).toBe("A session costs 600 tokens; no tools can be called yet.");
  });

  it("says times as short as they are", () => {
    expect([0, 0.04, 0.34, 9.96, 12.4, 1250].map(brief)).toEqual([
      "0 ms",
      "< 0.1 ms",
      "0.3 ms",
      "10.0 ms",
      "12 ms",
      "1.3 s",
    ]);
    expect([tierName("library"), tierName("of \u202etomorrow")]).toEqual(["Library", "of ‹U+202E›tomorrow"]);
    expect(tiersSaid(BUSY)).toContain("Library: median 12 ms, p95 1.3 s");
  });

  it("puts the programs with most sessions first", () => {
    expect(programsOf({ ...NOTHING, clients: { b: 1, "": 2, a: 1 } }).map(({ name }) => name)).toEqual([
      "Unnamed",
      "a",
      "b",
    ]);
  });

  it("draws each part of a bar against the longest bar", () => {
    expect(stretches(tokenRows(BUSY))).toEqual([
      [[{ kind: "static", from: 0, width: 100 }]],
      [
        [
          { kind: "own", from: 0, width: 3 },
          { kind: "found", from: 3, width: 2 },
        ],
      ],
    ]);
    expect(stretches(tierRows(BUSY)).map((bars) => bars.map((parts) => Math.round(parts[0]?.width ?? 0)))).toEqual([
      [0, 0],
      [1, 100],
    ]);
    expect(stretches(tokenRows({ ...NOTHING, own_tokens: 0 }))).toEqual([[[]], [[]]]);
    expect(stretches([])).toEqual([]);
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
        label: "20, 3 failed",
      },
    ]);
    expect([toolName("Acme / get / all"), toolName("ask")]).toEqual([
      { name: "get / all", of: "Acme" },
      { name: "ask" },
    ]);
    expect(toolsSaid([tool("a", 1), tool("b", 2, 1)])).toBe("a: 1 call; b: 2 calls, 1 failed.");
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

  it("folds the days on which nothing happened, newest first", () => {
    expect(dayRows(DAYS, false).map(({ day }) => day.slice(-1))).toEqual(["5", "4", "2"]);
    expect(dayRows(DAYS, true).map(({ day }) => day.slice(-1))).toEqual(["5", "4", "3", "2", "1"]);
    expect([dayName("2026-03-09"), dayName("soon")]).toEqual(["Mar 9", "soon"]);
  });

  it("tells the days in a sentence", () => {
    expect(useSaid(DAYS)).toBe(
      "Active on 3 of 5 days: 9 searches and 10 calls, 4 failed. Busiest: Mar 2, with 8 searches and 10 calls, 4 failed.",
    );
    expect([useSaid([]), useSaid([day(1)])]).toEqual(["No activity on 0 days.", "No activity on 1 day."]);
    expect(timesSaid(DAYS)).toBe(
      "Slowest on Mar 2: median 12 ms, p95 240 ms; most recent on Mar 5: median 3.0 ms, p95 3.0 ms.",
    );
    expect(timesSaid(DAYS.slice(0, 3))).toBe("Mar 2: median 12 ms, p95 240 ms.");
    expect(timesSaid([day(1)])).toBe("No searches.");
  });
});
