// @vitest-environment jsdom
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolView } from "../../lib/bindings";
import { asked, clear, stage, wait } from "../../testing/stage";
import { card as texts } from "../../texts/card";
import CallTool from "./CallTool.svelte";

afterEach(clear);

const VIEW = {
  entry: { name: "Forecast", permission: "allow" },
  description: "",
  schema: {
    type: "object",
    required: ["place"],
    properties: { place: { type: "string", description: "Name of the city" }, days: { type: "integer" } },
  },
  example: { place: "", extra: 1 },
} as unknown as ToolView;

async function open() {
  const calls = stage({
    tools_get: () => VIEW,
    tools_run: () => ({ state: "asks", needs: [], words: ["to read example.org"] }) as never,
  });
  render(CallTool, { tool: "one" });
  await wait();
  return calls;
}

const box = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name: new RegExp(`^${name}`) });

describe("a call by hand", () => {
  it("is a form whose values are sent with their types", async () => {
    const calls = await open();
    const call = screen.getByRole("button", { name: texts.callTool("Forecast") });
    await fireEvent.click(call);
    expect(screen.getByText(texts.isRequired)).toBeTruthy();
    expect(asked(calls, "tools_run")).toEqual([]);
    await fireEvent.input(box("place"), { target: { value: "Ghent" } });
    await fireEvent.input(box("days"), { target: { value: "x" } });
    await fireEvent.click(call);
    expect(screen.getByText(texts.notANumber)).toBeTruthy();
    await fireEvent.input(box("days"), { target: { value: "2" } });
    await fireEvent.click(call);
    await wait();
    // An argument without a field is kept.
    expect(asked(calls, "tools_run").map((request) => request.arguments)).toEqual([
      { extra: 1, place: "Ghent", days: 2 },
    ]);
    expect(screen.getByText("to read example.org")).toBeTruthy();
    expect(screen.getByText("Name of the city")).toBeTruthy();
  });

  it("can be edited as JSON and back", async () => {
    const calls = await open();
    await fireEvent.input(box("place"), { target: { value: "Ghent" } });
    await fireEvent.click(screen.getByRole("button", { name: texts.editAsJson }));
    const json = screen.getByRole<HTMLTextAreaElement>("textbox", { name: texts.arguments });
    expect(JSON.parse(json.value)).toEqual({ extra: 1, place: "Ghent" });
    await fireEvent.input(json, { target: { value: "{" } });
    expect(screen.getByRole<HTMLButtonElement>("button", { name: texts.editAsForm }).disabled).toBe(true);
    await fireEvent.input(json, { target: { value: '{"place": "Bruges", "days": 4}' } });
    await fireEvent.click(screen.getByRole("button", { name: texts.editAsForm }));
    expect([box("place").value, box("days").value]).toEqual(["Bruges", "4"]);
    await fireEvent.click(screen.getByRole("button", { name: texts.callTool("Forecast") }));
    await wait();
    expect(asked(calls, "tools_run").map((request) => request.arguments)).toEqual([{ place: "Bruges", days: 4 }]);
  });
});
