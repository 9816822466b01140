import { File as NodeFile } from "node:buffer";
import { describe, expect, it } from "vitest";
import type { SourceInfo } from "./bindings";
import { calledName, every, fingerprint, isSuspicious, sourceFrom, STATUS, STATUSES } from "./bundles";
import { Exporting, exportName } from "./export.svelte";
import { textOf } from "./files";
import { bundles as texts } from "../texts/bundles";

describe("bundles in words", () => {
  it("shows fingerprints in groups of four", () => {
    expect(fingerprint("8d29121f52daacc0")).toBe("8d29 121f 52da acc0");
    expect(fingerprint("8d29 121f:52da-acc0")).toBe("8d29 121f 52da acc0");
    expect(fingerprint("")).toBe("");
  });

  it("tells addresses of the web from paths", () => {
    expect(sourceFrom(" https://example.org/a ")).toEqual({ url: "https://example.org/a" });
    expect(sourceFrom("/home/me/a.toolcards")).toEqual({ path: "/home/me/a.toolcards" });
    expect(sourceFrom("file:///etc/passwd")).toEqual({ path: "file:///etc/passwd" });
  });

  it("calls a source by its name, or by where it lies", () => {
    const about = { name: " " } as SourceInfo;
    expect(calledName({ name: "Team" } as SourceInfo, { text: "" })).toBe("Team");
    expect(calledName(about, { path: "/a/b/cards/" })).toBe("cards");
    expect(calledName(about, { path: "C:\\a\\b.json" })).toBe("b.json");
    expect(calledName(about, { text: "x" })).toBe(texts.pasted);
  });

  it("says how often", () => {
    expect([1, 6, 24, 48, 168].map(every)).toEqual([
      texts.everyHour,
      texts.everyHours(6),
      texts.everyDay,
      texts.everyDays(2),
      texts.everyWeek,
    ]);
  });

  it("knows every kind of card and which signatures warn", () => {
    expect(STATUSES).toEqual(Object.keys(STATUS));
    expect((["unsigned", "stripped", "trusted", "known", "new", "other_key"] as const).filter(isSuspicious)).toEqual([
      "stripped",
      "other_key",
    ]);
  });
});

describe("an export", () => {
  it("names its file so that every system takes it", () => {
    expect(exportName("Our team: tools/2", "bundle")).toBe("Our team tools2.toolcards");
    expect(exportName(" ../.. ", "json")).toBe("toolcards.json");
    expect(exportName("", "bundle")).toBe("cards.toolcards");
    expect(exportName("", "folder")).toBe("toolcards");
  });

  it("sends history, vectors and a signature with bundles only", () => {
    const out = new Exporting({ cards: ["a"] });
    [out.history, out.vectors] = [true, true];
    expect(out.wanted).toMatchObject({ cards: ["a"], history: true, vectors: true, sign: true });
    out.format = "csv";
    expect(out.wanted).toMatchObject({ history: false, vectors: false, sign: false });
    out.which = "all";
    expect(out.wanted.cards).toBeNull();
  });

  it("leaves a card out once and takes it back", () => {
    const out = new Exporting({});
    const card = { id: "a", name: "A" };
    out.leaveOut([card, card]);
    out.leaveOut([card]);
    expect(out.wanted.without).toEqual(["a"]);
    out.takeBack("a");
    expect(out.wanted.without).toEqual([]);
  });
});

describe("a file of a browser", () => {
  it("is read as text, but a packed bundle is not", async () => {
    // Uses Node's `File`, as that of a test window cannot be read as bytes.
    const file = (parts: (string | Uint8Array)[], name: string) => new NodeFile(parts, name) as unknown as File;
    expect(await textOf(file(["[{}]"], "a.json"))).toBe("[{}]");
    const packed = file([new Uint8Array([0x50, 0x4b, 3, 4, 0])], "a.toolcards");
    await expect(textOf(packed)).rejects.toMatchObject({ code: "bad_request" });
  });
});
