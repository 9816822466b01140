// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ImportItem, ItemStatus } from "../../lib/bindings";
import { handleKey } from "../../lib/commands";
import { overlays } from "../../lib/overlays.svelte";
import { importItem } from "../../testing/fixtures";
import { asked, clear, stage, wait } from "../../testing/stage";
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

async function open() {
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
        total: of.length,
        items: of.slice(offset, offset + limit),
      };
    },
    imports_start: () => ({ job: "j" }) as never,
  });
  overlays.importing = { path: "/a.toolcards" };
  render(ImportDialog, { source: { path: "/a.toolcards" } });
  await wait(500);
  return calls;
}

/** Presses a key on the focused element. */
async function press(key: string) {
  await fireEvent.keyDown(document.activeElement ?? document.body, { key });
  await wait(100);
}

const boxes = () =>
  screen
    .getAllByRole<HTMLInputElement>("checkbox", { name: /^Import / })
    .map((box) => `${box.getAttribute("aria-label")} ${box.checked}`);

beforeEach(() => addEventListener("keydown", handleKey));
afterEach(() => {
  removeEventListener("keydown", handleKey);
  overlays.importing = null;
  clear();
});

describe("the preview of an import", () => {
  it("is gone through by keys: take, open, filter", async () => {
    await open();
    expect(screen.getByRole("dialog", { name: "Import “Breakfast”" })).toBeTruthy();
    expect(boxes()).toEqual(["Import Toaster true", "Import Juicer true", "Import Whisk true"]);
    await press("j");
    await press("j");
    await press(" ");
    expect(boxes()[2]).toBe("Import Whisk false");
    expect(screen.getByRole("button", { name: "Propose 2 cards" })).toBeTruthy();
    await press("k");
    await press("Enter");
    expect(screen.getByRole("radiogroup", { name: "Description" })).toBeTruthy();
    await press("f");
    expect(boxes()).toEqual(["Import Toaster true", "Import Whisk false"]);
    await press("F");
    expect(boxes().length).toBe(3);
  });

  it("asks who wins in a conflict, and sends what was decided", async () => {
    const calls = await open();
    await press("j");
    await press("Enter");
    const words = within(screen.getByRole("radiogroup", { name: "Description" }));
    expect(words.getByRole("radio", { name: "Decide in Review" }).getAttribute("aria-checked")).toBe("true");
    await fireEvent.click(words.getByText("Use theirs"));
    await fireEvent.click(screen.getByText("Import directly"));
    await fireEvent.click(screen.getByRole("button", { name: "Import 3 cards" }));
    await wait();
    expect(asked(calls, "imports_start")).toMatchObject([
      { landing: "library", digest: "d", choices: [{ position: 1, take: true, fields: ["description"] }] },
    ]);
    expect(overlays.importing).toBeNull();
  });
});
