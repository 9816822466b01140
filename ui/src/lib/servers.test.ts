import { describe, expect, it } from "vitest";
import type { Server } from "./bindings";
import { draftOf, draftOfOffer, missingOf, reachLine, requestOf, secretRow, type ServerDraft } from "./servers";
import { servers as texts } from "../texts/servers";

const SERVER: Server = {
  name: "files",
  reach: { transport: "stdio", command: "npx", args: ["-y", "a server", "/srv"], folder: "/tmp" },
  secrets: ["TOKEN"],
  trusted: true,
  running: false,
  waiting: 0,
  tools: 3,
  checked_at: null,
  failed: null,
  skipped: [],
};

const typed = (more: Partial<ServerDraft>): ServerDraft => ({
  ...draftOf(null),
  name: "files",
  command: "npx",
  ...more,
});
const row = (name: string, value: string) => ({ ...secretRow(name), value });

describe("servers", () => {
  it("gives back what was typed, but for the values of secrets", () => {
    const draft = draftOf(SERVER);
    expect(draft).toMatchObject({
      transport: "stdio",
      command: "npx",
      args: "-y\na server\n/srv",
      folder: "/tmp",
      trusted: true,
    });
    expect(draft.secrets).toMatchObject([{ name: "TOKEN", value: "" }]);
    expect(missingOf(draft, [])).toBe(texts.missing.secretValue("TOKEN"));
    const again = requestOf({ ...draft, secrets: [row("TOKEN", "s3cret")] });
    expect(again).toEqual({ name: "files", reach: SERVER.reach, secrets: { TOKEN: "s3cret" }, trusted: true });
    expect(requestOf({ ...draft, secrets: [] }).secrets).toEqual({});
  });

  it("sends an address without what was typed for a program", () => {
    const draft = typed({
      transport: "http",
      url: " https://mcp.example.org/x ",
      secrets: [row(" Authorization ", "Bearer 1"), row("", "")],
    });
    expect(missingOf(draft, [])).toBeNull();
    expect(requestOf(draft)).toEqual({
      name: "files",
      reach: { transport: "http", url: "https://mcp.example.org/x" },
      secrets: { Authorization: "Bearer 1" },
      trusted: false,
    });
  });

  it("says what is missing", () => {
    const { missing, header, variable } = texts;
    const wrong: [Partial<ServerDraft>, string][] = [
      [{ name: " " }, missing.name],
      [{ name: "a/b" }, missing.goodName],
      [{ name: "taken" }, missing.otherName("taken")],
      [{ command: "" }, missing.program],
      [{ transport: "http", url: "ftp://x" }, missing.address],
      [{ secrets: [row("", "x")] }, missing.secretName(variable)],
      [
        { transport: "http", url: "http://x", secrets: [row("A", "x"), row("A ", "y")] },
        missing.secretTwice(header, "A"),
      ],
    ];
    for (const [more, said] of wrong) expect(missingOf(typed(more), ["taken"])).toBe(said);
    expect(missingOf(typed({ secrets: [secretRow()] }), ["taken"])).toBeNull();
  });

  it("fills in what a marketplace says, and trusts none of it", () => {
    const draft = draftOfOffer({
      kind: "server",
      add: { name: "mail", reach: SERVER.reach, secrets: { HOST: "mail.example.org", EXTRA: "1" }, trusted: true },
      runner: "npx",
      runner_here: true,
      inputs: [
        { name: "KEY", description: "The \u202ekey", required: true, secret: true },
        { name: "HOST", description: null, required: false, secret: false },
        { name: "PORT", description: null, required: false, secret: false },
      ],
      notes: [],
    });
    expect(draft).toMatchObject({ name: "mail", command: "npx", trusted: false });
    // Values set by the publisher are visible, even for undeclared inputs; those the user enters are not.
    expect(
      draft.secrets.map(({ name, value, about, optional, shown }) => [name, value, about, optional, shown]),
    ).toEqual([
      ["KEY", "", "The ‹U+202E›key", false, false],
      ["HOST", "mail.example.org", "", true, true],
      ["PORT", "", "", true, false],
      ["EXTRA", "1", "", false, true],
    ]);
    expect(missingOf(draft, [])).toBe(texts.missing.secretValue("KEY"));
    const given = {
      ...draft,
      secrets: draft.secrets.map((one) => (one.name === "KEY" ? { ...one, value: "s" } : one)),
    };
    expect(missingOf(given, [])).toBeNull();
    expect(requestOf(given).secrets).toEqual({ KEY: "s", HOST: "mail.example.org", EXTRA: "1" });
  });

  it("shows how a server is reached in a line", () => {
    expect(reachLine(SERVER.reach)).toBe('npx -y "a server" /srv');
    expect(reachLine({ transport: "http", url: "https://a.example" })).toBe("https://a.example");
  });
});
