import { describe, expect, it } from "vitest";
import { portOf, tokenOf, withoutToken } from "./agentsHttp";

const LINES = JSON.stringify(
  { mcpServers: { autokit: { url: "http://127.0.0.1:8427/mcp", headers: { Authorization: "Bearer 0a1b2c" } } } },
  null,
  2,
);

describe("address for agents", () => {
  it("shows the lines without the token", () => {
    expect([tokenOf(LINES), tokenOf(""), tokenOf('{"mcpServers": {}}')]).toEqual(["0a1b2c", null, null]);
    expect(withoutToken(LINES)).not.toContain("0a1b2c");
    expect(withoutToken(LINES)).toContain('"Authorization": "Bearer ••••••••"');
    expect(withoutToken("")).toBe("");
  });

  it("takes a port a person may open", () => {
    expect(["8427", " 1024 ", "65535"].map(portOf)).toEqual([8427, 1024, 65_535]);
    expect(["", "0", "80", "65536", "8e3", "-8427", "84.27", "x"].map(portOf)).toEqual(Array(8).fill(null));
  });
});
