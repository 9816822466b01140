// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import { CommandError } from "../lib/host";
import { navigation } from "../lib/navigation.svelte";
import { clear, stage } from "../testing/stage";
import { common } from "../texts/common";
import { general } from "../texts/settings/general";
import ErrorNote from "./ErrorNote.svelte";

afterEach(clear);

it("opens the settings that its remedy names, and submits no form around it", async () => {
  stage({});
  const form = document.createElement("form");
  document.body.append(form);
  let submitted = 0;
  form.addEventListener("submit", (event) => (event.preventDefault(), submitted++));
  const remedy = "If you trust this host, allow it in Settings, Network.";
  const error = new CommandError({ code: "refused", message: "localhost is on this machine", remedy });
  render(ErrorNote, { target: form, props: { error, retry: () => {} } });
  await fireEvent.click(screen.getByRole("button", { name: common.tryAgain }));
  await fireEvent.click(screen.getByRole("button", { name: common.openSettings(general.sections.network) }));
  expect([navigation.pane, navigation.section, submitted]).toEqual(["settings", "network", 0]);
  form.remove();
});
