// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { LibraryEntry } from "../../lib/bindings";
import { asked, clear, stage, wait } from "../../testing/stage";
import { libraries as texts } from "../../texts/libraries";
import Libraries from "./Libraries.svelte";

afterEach(clear);

it("includes a registry only once a person says so, and always the open library", async () => {
  let entries: LibraryEntry[] = [
    { id: "personal", kind: "personal", name: "", open: true, searched: true },
    { id: "market:ab", kind: "registry", name: "https://registry.example.org", open: false, searched: false },
  ];
  const calls = stage({
    libraries_list: () => entries,
    libraries_set: (request) => {
      const { id, searched } = request as { id: string; searched: boolean };
      return (entries = entries.map((one) => (one.id === id ? { ...one, searched } : one)));
    },
  });
  render(Libraries);
  await wait();
  const box = (name: string) => screen.getByRole<HTMLInputElement>("checkbox", { name });
  expect([box(texts.personal).disabled, box(texts.personal).checked]).toEqual([true, true]);
  const registry = box("registry.example.org");
  expect(registry.checked).toBe(false);
  await fireEvent.click(registry);
  await wait();
  expect(asked(calls, "libraries_set")).toEqual([{ id: "market:ab", searched: true }]);
  expect(box("registry.example.org").checked).toBe(true);
});
