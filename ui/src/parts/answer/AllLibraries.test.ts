// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LibrariesFound, LibraryEntry, LibraryHit } from "../../lib/bindings";
import { desktop } from "../../lib/desktop.svelte";
import { allLibraries } from "../../lib/libraries.svelte";
import { navigation } from "../../lib/navigation.svelte";
import { showCard } from "../../lib/team.svelte";
import { asked, clear, stage, wait } from "../../testing/stage";
import { libraries as texts } from "../../texts/libraries";
import AllLibraries from "./AllLibraries.svelte";
import AllLibrariesToggle from "./AllLibrariesToggle.svelte";

const PERSONAL: LibraryEntry = { id: "personal", kind: "personal", name: "", open: true, searched: true };
const KITCHEN: LibraryEntry = { id: "team:kitchen", kind: "team", name: "The kitchen", open: false, searched: true };
const REGISTRY: LibraryEntry = {
  id: "market:ab",
  kind: "registry",
  name: "https://registry.example.org/v0",
  open: false,
  searched: true,
};

const hit = (library: string, name: string, more: Partial<LibraryHit> = {}): LibraryHit => ({
  library,
  id: name,
  name,
  provider: "",
  description: `About ${name}`,
  documentation: null,
  stub: null,
  suspect: null,
  score: 0.5,
  parts: null,
  ...more,
});

function found(results: LibraryHit[], libraries: LibrariesFound["libraries"]): LibrariesFound {
  return { query: "tea", verdict: "answered", results, libraries, took_ms: 12 };
}

const answered = (library: LibraryEntry, n: number) =>
  ({ library, state: "answered", error: null, found: n, took_ms: 5 }) as const;
const late = (library: LibraryEntry) => ({ library, state: "late", error: null, found: 0, took_ms: 300 }) as const;

const KETTLE = hit("team:kitchen", "kettle", { stub: { language: "python", code: "import kettle" } });

afterEach(() => {
  clear();
  allLibraries.on = false;
  vi.restoreAllMocks();
});

async function show(answer: (request: { wait_ms?: number }) => LibrariesFound, entries = [PERSONAL, KITCHEN]) {
  const calls = stage(
    { libraries_list: () => entries, libraries_search: (request) => answer(request as { wait_ms?: number }) },
    { desktop: true },
  );
  await allLibraries.list.refresh();
  render(AllLibrariesToggle);
  render(AllLibraries, { query: "tea", local: true });
  await wait();
  return calls;
}

const results = () => screen.getAllByRole("button", { name: /, in / }).map((row) => row.getAttribute("aria-label"));

describe("the results of all libraries", () => {
  it("are asked for once a person switches them on, and not where there is one library", async () => {
    const calls = await show(() => found([], []));
    expect(asked(calls, "libraries_search")).toEqual([]);
    await fireEvent.click(screen.getByRole("checkbox", { name: texts.all }));
    await wait();
    expect(asked(calls, "libraries_search")).toEqual([{ query: "tea", limit: 8, local: true }]);
    clear();
    await show(() => found([], []), [PERSONAL]);
    expect(screen.queryByRole("checkbox")).toBeNull();
  });

  it("come in one list, each with its library; another library's has its code and opens it", async () => {
    allLibraries.on = true;
    const open = vi.spyOn(desktop, "openLibrary").mockResolvedValue();
    const openCard = vi.spyOn(navigation, "open").mockImplementation(() => {});
    await show(() => found([KETTLE, hit("personal", "pot")], [answered(PERSONAL, 1), answered(KITCHEN, 1)]));
    expect(results()).toEqual([texts.show("kettle", "The kitchen"), texts.show("pot", texts.personal)]);
    await fireEvent.click(screen.getByRole("button", { name: texts.show("kettle", "The kitchen") }));
    expect(screen.getByText("import kettle")).toBeTruthy();
    await fireEvent.click(screen.getByRole("button", { name: texts.open("The kitchen") }));
    expect(open).toHaveBeenCalledWith("kitchen");
    // The page starts over, and then shows the card.
    showCard();
    expect(openCard).toHaveBeenLastCalledWith("kettle");
    openCard.mockClear();
    showCard();
    expect(openCard).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByRole("button", { name: texts.show("pot", texts.personal) }));
    expect(openCard).toHaveBeenCalledWith("pot");
  });

  it("are shown before a late library has answered, which is waited for", async () => {
    allLibraries.on = true;
    const both = [PERSONAL, KITCHEN, REGISTRY];
    const pot = hit("personal", "pot");
    const calls = await show(
      ({ wait_ms }) =>
        wait_ms
          ? found([KETTLE, pot], [answered(PERSONAL, 1), answered(KITCHEN, 1), late(REGISTRY)])
          : found([pot], [answered(PERSONAL, 1), late(KITCHEN), late(REGISTRY)]),
      both,
    );
    await wait();
    expect(asked(calls, "libraries_search").length).toBe(2);
    expect(results()[0]).toBe(texts.show("kettle", "The kitchen"));
    expect(screen.getByText(texts.noAnswer("registry.example.org"))).toBeTruthy();
  });
});
