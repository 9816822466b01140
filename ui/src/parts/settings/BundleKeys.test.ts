// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { SigningKeys } from "../../lib/bindings";
import { asked, clear, stage, wait } from "../../testing/stage";
import { bundles as texts } from "../../texts/bundles";
import { common } from "../../texts/common";
import BundleKeys from "./BundleKeys.svelte";

afterEach(clear);

it("tells why the own key cannot be read, and lists those of others all the same", async () => {
  const known = { key: "k", fingerprint: "ab cd", signer: "Ada", authors: [], first_seen: "2026-01-01T00:00:00Z" };
  const own_error = { code: "no_keychain" as const, message: "there is no keychain", remedy: "Unlock it." };
  const keys = { own: null, own_fingerprint: null, own_error, known: [{ ...known, trusted: false }] };
  const calls = stage({ bundle_keys_list: () => keys as unknown as SigningKeys });
  render(BundleKeys);
  await wait();
  const own = within(screen.getByRole("region", { name: texts.yourKey }));
  expect(own.getByRole("alert").textContent).toContain("There is no keychain");
  expect(own.queryByRole("button", { name: texts.makeAKey })).toBeNull();
  expect(screen.getByRole("region", { name: texts.keysOfOthers }).textContent).toContain("Ada");
  await fireEvent.click(own.getByRole("button", { name: common.tryAgain }));
  expect(asked(calls, "bundle_keys_list").length).toBe(2);
});
