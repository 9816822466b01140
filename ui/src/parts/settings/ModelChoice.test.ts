// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CommandError } from "../../lib/host";
import { asked, clear, stage, wait } from "../../testing/stage";
import { services as texts } from "../../texts/settings/services";
import ModelChoice from "./ModelChoice.svelte";

afterEach(clear);

describe("the models of a service", () => {
  it("are listed on request, and one is chosen", async () => {
    const calls = stage({ providers_models: () => ["large-1", "small-1"] });
    const choose = vi.fn();
    const { rerender } = render(ModelChoice, {
      id: "m",
      kind: "openai",
      base: "http://127.0.0.1:11434/v1",
      current: "",
      choose,
    });
    await wait();
    // Nothing is sent before that.
    expect(calls).toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: texts.listModels }));
    await wait();
    expect(asked(calls, "providers_models")).toEqual([{ kind: "openai", base: "http://127.0.0.1:11434/v1" }]);
    expect(document.activeElement).toBe(screen.getByLabelText(texts.modelsOffered(2)));
    await fireEvent.change(screen.getByLabelText(texts.modelsOffered(2)), { target: { value: "small-1" } });
    expect(choose).toHaveBeenCalledWith("small-1");
    // The list of one service is not offered for another.
    await rerender({ base: "" });
    expect(screen.queryByLabelText(texts.modelsOffered(2))).toBeNull();
  });

  it("that cannot be listed say why", async () => {
    stage({
      providers_models: () => {
        throw new CommandError({ code: "wrong_key", message: "the key is wrong", remedy: "Enter another." });
      },
    });
    render(ModelChoice, { id: "m", kind: "anthropic", base: "", current: "", choose: () => {} });
    await fireEvent.click(screen.getByRole("button", { name: texts.listModels }));
    await wait();
    expect(screen.getByRole("alert").textContent).toContain("The key is wrong");
    expect(screen.getByRole<HTMLButtonElement>("button", { name: texts.listModels }).disabled).toBe(false);
  });
});
