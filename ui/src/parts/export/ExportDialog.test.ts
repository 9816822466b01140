// @vitest-environment jsdom
import { render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import { CommandError } from "../../lib/host";
import { clear, stage, wait } from "../../testing/stage";
import { exporting as texts } from "../../texts/exporting";
import ExportDialog from "./ExportDialog.svelte";

afterEach(clear);

const refuse = (message: string) => () => {
  throw new CommandError({ code: "disk_full", message, remedy: "" });
};

describe("the export dialog", () => {
  it("says why it failed beside its buttons, which stay in view", async () => {
    stage({ exports_preview: refuse("the disk is full"), bundle_keys_list: () => new Promise(() => {}) });
    render(ExportDialog, { given: {} });
    await wait(500);
    const actions = screen.getByText(texts.nothingToExport).closest<HTMLElement>(".actions");
    expect(within(actions!).getByRole("alert").textContent).toContain("The disk is full");
  });

  const error = { code: "no_keychain" as const, message: "there is no keychain", remedy: "" };
  it.each([
    ["the key cannot be read", () => ({ own: null, own_fingerprint: null, own_error: error, known: [] }) as never],
    ["no key can be read", refuse("there is no keychain")],
  ])("offers no signature where %s", async (_, bundle_keys_list) => {
    stage({ exports_preview: () => new Promise(() => {}), bundle_keys_list });
    render(ExportDialog, { given: {} });
    await wait(500);
    const signed = screen.getByRole("checkbox", { name: new RegExp(`^${texts.signed}`) }) as HTMLInputElement;
    expect([signed.checked, signed.disabled]).toEqual([false, true]);
  });
});
