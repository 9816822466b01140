// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { createRawSnippet } from "svelte";
import { afterEach, expect, it } from "vitest";
import { clear, stage } from "../testing/stage";
import { common } from "../texts/common";
import Dialog from "./Dialog.svelte";

afterEach(clear);

it("closes by its button with Enter, but not with the chord that submits", async () => {
  stage({});
  let closed = 0;
  const children = createRawSnippet(() => ({ render: () => "<p>Counts</p>" }));
  render(Dialog, { props: { title: "Import", close: () => closed++, children } });
  const button = screen.getByRole("button", { name: common.close });
  for (const modifier of ["ctrlKey", "metaKey"]) await fireEvent.keyDown(button, { key: "Enter", [modifier]: true });
  expect(closed).toBe(0);
  await fireEvent.keyDown(button, { key: "Enter" });
  expect(closed).toBe(1);
});
