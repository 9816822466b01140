// @vitest-environment jsdom
import { render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelState, Status } from "../../lib/bindings";
import { engine } from "../../lib/engine.svelte";
import { clear, stage, wait } from "../../testing/stage";
import { services as texts } from "../../texts/settings/services";
import Embedding from "./Embedding.svelte";

afterEach(clear);

const MODEL = {
  ...{ name: "small", title: "Small", installed: false, current: true, dim: 384, size_bytes: 1 },
  ...{ licence: "MIT", source: "", folder_only: false },
};

async function open(model_state: ModelState, installed = false) {
  stage({ models_list: () => ({ models: [{ model: { ...MODEL, installed }, current: true }], store: "/models" }) });
  engine.status = { ...(engine.status as Status), model_state };
  render(Embedding);
  await wait();
}

const download = () => screen.queryByRole("button", { name: texts.download });

describe("the embedding model in use", () => {
  it("is not offered as a download if it was loaded from a folder", async () => {
    await open("ready");
    expect(screen.getByText(texts.modelStates.ready)).toBeTruthy();
    expect([screen.queryByText(texts.notHere), download()]).toEqual([null, null]);
  });

  it("is offered as a download where it is missing or broken", async () => {
    await open("missing");
    expect(download()).toBeTruthy();
    clear();
    await open("failed");
    expect([!!screen.queryByText(texts.notHere), !!download()]).toEqual([true, true]);
  });
});
