import { describe, expect, it } from "vitest";
import { fileName } from "./save";
import { amountOf, dollars, hostsOf, daysOf } from "./settings";

describe("settings", () => {
  it("reads hosts however they are written", () => {
    expect(hostsOf("127.0.0.1:8888\nhttp://Docs.Local/a, docs.local ;")).toEqual(["127.0.0.1:8888", "docs.local"]);
    expect(hostsOf(" \n")).toEqual([]);
  });

  it("reads amounts, and tells nothing from nonsense", () => {
    expect([amountOf(""), amountOf("1,5"), amountOf("0"), amountOf("x"), amountOf("-1")]).toEqual([
      null,
      1.5,
      0,
      undefined,
      undefined,
    ]);
    expect([dollars(0), dollars(0.0123), dollars(2.5)]).toEqual(["$0.00", "$0.0123", "$2.50"]);
  });

  it("names files after the tool and the language", () => {
    expect(fileName("Google Calendar Toolkit", "python")).toBe("google_calendar_toolkit.py");
    expect(fileName("../../etc", "Shell")).toBe("etc.sh");
    expect(fileName("茶", "")).toBe("starter.txt");
  });

  it("takes whole days, up to ten years", () => {
    expect(["0", " 30 ", "3650"].map(daysOf)).toEqual([0, 30, 3650]);
    for (const wrong of ["", "x", "-1", "1.5", "1e3", "3651", "99999"]) expect(daysOf(wrong)).toBeUndefined();
  });
});
