// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ImportItem, ItemStatus } from "../../lib/bindings";
import { handleKey } from "../../lib/commands";
import { fieldName } from "../../lib/format";
import { overlays } from "../../lib/overlays.svelte";
import { importItem } from "../../testing/fixtures";
import { asked, clear, stage, wait } from "../../testing/stage";
import { importing as texts } from "../../texts/importing";
import ImportDialog from "./ImportDialog.svelte";

const item = (position: number, name: string, status: ItemStatus, more: Partial<ImportItem> = {}): ImportItem =>
  importItem(position, name, status, { card: status === "new" ? null : ("c" as never), ...more });

const ITEMS = [
  item(0, "Toaster", "new"),
  item(1, "Juicer", "conflicting", {
    conflicts: [{ field: "description", base: "Juices.", ours: "Juices fruit.", theirs: "Juices anything." }],
  }),
  item(2, "Whisk", "new"),
];

async function open(settled = 500) {
  const calls = stage({
    imports_preview: ({ status, offset, limit }) => {
      const of = ITEMS.filter((one) => !status || one.status === status);
      return {
        about: {
          format: "bundle",
          name: "Breakfast",
          author: "Ann",
          created_at: "",
          licence: null,
          note: "",
          history: false,
          vectors: null,
          vocabulary: [],
          invalid_vocabulary: 0,
          digest: "d",
          signature: { trust: "trusted", signer: "Ann", key: "k", fingerprint: "8d29" },
        },
        new: 2,
        changed: 0,
        conflicting: 1,
        similar: 0,
        identical: 0,
        invalid: 0,
        suspect: 0,
        suspect_new: 0,
        reverting: 0,
        total: of.length,
        items: of.slice(offset, offset + limit),
      };
    },
    imports_start: () => ({ job: "j" }) as never,
  });
  overlays.importing = { path: "/a.toolcards" };
  render(ImportDialog, { source: { path: "/a.toolcards" } });
  await wait(settled);
  return calls;
}

/** Presses a key on the focused element. */
async function press(key: string) {
  await fireEvent.keyDown(document.activeElement ?? document.body, { key });
  await wait(100);
}

const takes = (name: string, taken: boolean) => `${texts.take(name)} ${taken}`;
const boxes = () =>
  screen
    .getAllByRole<HTMLInputElement>("checkbox")
    .map((box) => `${box.getAttribute("aria-label")} ${box.checked}`)
    .filter((box) => ITEMS.some(({ name }) => box.startsWith(texts.take(name))));

beforeEach(() => addEventListener("keydown", handleKey));
afterEach(() => {
  removeEventListener("keydown", handleKey);
  overlays.importing = null;
  clear();
});

describe("the preview of an import", () => {
  it("is gone through by keys: take, open, filter", async () => {
    await open();
    expect(screen.getByRole("dialog", { name: texts.importOf("Breakfast") })).toBeTruthy();
    expect(boxes()).toEqual([takes("Toaster", true), takes("Juicer", true), takes("Whisk", true)]);
    await press("j");
    await press("j");
    await press(" ");
    expect(boxes()[2]).toBe(takes("Whisk", false));
    expect(screen.getByRole("button", { name: texts.propose(2) })).toBeTruthy();
    await press("k");
    await press("Enter");
    expect(screen.getByRole("radiogroup", { name: fieldName("description") })).toBeTruthy();
    await press("f");
    expect(boxes()).toEqual([takes("Toaster", true), takes("Whisk", false)]);
    await press("F");
    expect(boxes().length).toBe(3);
  });

  it("is closed before the frame in which it would scroll or take the focus", async () => {
    await open(0);
    await screen.findByRole("checkbox", { name: texts.take("Toaster") });
    cleanup();
    await wait(100);
    await open();
    await press("j");
    await fireEvent.keyDown(document.activeElement!, { key: "Enter" });
    cleanup();
    await wait(100);
  });

  it("asks who wins in a conflict, and sends what was decided", async () => {
    const calls = await open();
    await press("j");
    await press("Enter");
    const words = within(screen.getByRole("radiogroup", { name: fieldName("description") }));
    expect(words.getByRole("radio", { name: texts.resolutions.review }).getAttribute("aria-checked")).toBe("true");
    await fireEvent.click(words.getByText(texts.resolutions.theirs));
    await fireEvent.click(screen.getByText(texts.landings.library.name));
    await fireEvent.click(screen.getByRole("button", { name: texts.takeOver(3) }));
    await wait();
    expect(asked(calls, "imports_start")).toMatchObject([
      { landing: "library", digest: "d", choices: [{ position: 1, take: true, fields: ["description"] }] },
    ]);
    expect(overlays.importing).toBeNull();
  });
});
