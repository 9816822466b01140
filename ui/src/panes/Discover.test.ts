// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Discovered, Finding, ProposalRow, Session } from "../lib/bindings";
import { discovering } from "../lib/conversation.svelte";
import { clear, stage, wait } from "../testing/stage";
import { common } from "../texts/common";
import { discover as texts } from "../texts/discover";
import Discover from "./Discover.svelte";

afterEach(() => {
  clear();
  discovering.clear();
});

const REFUSED = {
  code: "refused" as const,
  message: "the address is on this machine",
  remedy: "Allow it in Settings.",
};

const finding = (path: string) =>
  ({
    url: `https://docs.example.org/${path}`,
    name: path,
    description: "",
    score: 0.9,
    excerpt: "",
    similar: [],
  }) as unknown as Finding;

/** Shows what a search of the web found. */
async function show(found: Partial<Discovered>, proposals: Partial<ProposalRow>[] = []) {
  const discovered = {
    findings: [],
    dismissed: [],
    read: 0,
    unread: null,
    preferred: null,
    substitute: null,
    ...found,
  };
  const turn = { kind: "discover", asked: "send mail", state: "done", events: [], ms: 5, discovered };
  stage({ proposals_list: () => ({ rows: proposals as ProposalRow[], waiting: 0, groups: [] }) });
  render(Discover);
  await discovering.show({ id: "s", at: "", version: 1, turns: [turn] } as unknown as Session);
  await wait();
}

describe("a search of the web", () => {
  it("begins with why no page could be read, and what helps against it", async () => {
    await show({ unread: { pages: 26, with_error: 26, error: REFUSED } });
    const heading = screen.getByRole("heading", { name: texts.unread(26, 26) });
    const cause = within(heading.closest("section")!).getByRole("alert").textContent;
    expect(cause).toContain("The address is on this machine");
    expect(cause).toContain("Allow it in Settings.");
    expect(screen.queryByText(texts.nothingFound)).toBeNull();
  });

  it("says that nothing suitable was found if most pages could be read", async () => {
    await show({ read: 20, unread: { pages: 6, with_error: 6, error: REFUSED } });
    expect(screen.getByRole("heading", { name: texts.nothingFound })).toBeTruthy();
    expect(screen.getByText(new RegExp(texts.partlyUnread(6)))).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("knows what was proposed by the page, also where one address begins like another", async () => {
    const proposed = { id: 7, page: "https://docs.example.org/mail", state: "pending" as const };
    await show({ findings: [finding("mail"), finding("mail/send")], read: 2 }, [proposed]);
    const [first, second] = within(screen.getByRole("list", { name: texts.candidates })).getAllByRole("article");
    expect(within(first!).getByRole("button", { name: texts.proposed })).toBeTruthy();
    expect(within(second!).getByRole("button", { name: `${common.add}: mail/send` })).toBeTruthy();
  });
});
