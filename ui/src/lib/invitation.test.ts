import { describe, expect, it } from "vitest";
import { isOpenToNetwork, readInvitation } from "./invitation";

const linkOf = (server: string, invitation: string) =>
  `autokit://join?server=${encodeURIComponent(server)}&invitation=${encodeURIComponent(invitation)}`;

describe("an invitation", () => {
  it("says which team at which server", () => {
    const link = linkOf("wss://teams.example.org:8000/rpc?a=b", "the_kitchen2.0a1b");
    expect(readInvitation(` ${link}\n`)).toEqual({
      link,
      server: "wss://teams.example.org:8000/rpc?a=b",
      team: "the_kitchen2",
    });
  });

  it("is no other link, and none that hides something", () => {
    for (const other of [
      "",
      "autokit://join",
      "autokit://import?url=https://example.org",
      linkOf("https://teams.example.org", "kitchen.0a1b"),
      linkOf("wss://teams.example.org\u200b", "kitchen.0a1b"),
      linkOf("wss://teams.example.org", "kitchen"),
      linkOf("wss://teams.example.org", "../kitchen.0a1b"),
      `${linkOf("wss://teams.example.org", "kitchen.0a1b")}&trust=yes`,
      `${linkOf("wss://teams.example.org", "kitchen.0a1b")}#now`,
    ]) {
      expect(readInvitation(other), other).toBeNull();
    }
  });
});

it("warns of servers to which passwords would cross a network in the open", () => {
  expect(isOpenToNetwork("ws://teams.example.org")).toBe(true);
  for (const safe of ["wss://teams.example.org", "ws://127.0.0.1:8000", "ws://localhost", "ws://[::1]:8000", "ws"]) {
    expect(isOpenToNetwork(safe), safe).toBe(false);
  }
});
