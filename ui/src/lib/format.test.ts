import { describe, expect, it } from "vitest";
import { ago, bytes, count, duration, fieldName, webAddress } from "./format";
import { format as texts } from "../texts/format";

describe("format", () => {
  it("tells times as people do", () => {
    const now = Date.parse("2026-01-10T12:00:00Z");
    expect(ago("2026-01-10T11:59:40Z", now)).toBe(texts.justNow);
    expect(ago("2026-01-10T09:00:00Z", now)).toBe("3 hours ago");
    expect(ago("2026-01-09T12:00:00Z", now)).toBe("yesterday");
    expect(ago("nonsense", now)).toBe("nonsense");
  });

  it("tells amounts", () => {
    expect([count(1, "card"), count(1234, "card")]).toEqual(["1 card", "1,234 cards"]);
    expect([duration(400), duration(80_000), duration(7_260_000)]).toEqual([
      texts.seconds(1),
      texts.minutes(1, 20),
      texts.hours(2, 1),
    ]);
    expect([bytes(90), bytes(86_700_000), bytes(1500)]).toEqual(["90 B", "87 MB", "1.5 kB"]);
    expect(fieldName("init_args")).toBe("Init args");
  });

  it("opens nothing but the web", () => {
    expect(webAddress("https://a.b/c")).toBe("https://a.b/c");
    for (const bad of ["javascript:alert(1)", "file:///etc/passwd", "/docs", "", null]) {
      expect(webAddress(bad)).toBeNull();
    }
  });
});
