// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { ProviderSettings } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { navigation } from "./navigation.svelte";
import { changed, openSettings, PROVIDERS, section, visit } from "../testing/settings";
import { asked, clear, wait } from "../testing/stage";
import { common } from "../texts/common";
import { sessions as sessionTexts } from "../texts/sessions";
import { agents } from "../texts/settings/agents";
import { general as texts } from "../texts/settings/general";
import { keys } from "../texts/settings/keys";
import { services } from "../texts/settings/services";

afterEach(() => {
  navigation.go("ask");
  clear();
});

const refusal = () => new CommandError({ code: "invalid", message: "it was refused", remedy: "Try another." });

/** Types into a field and leaves it. */
async function enter(field: HTMLElement, value: string) {
  await fireEvent.input(field, { target: { value } });
  await fireEvent.change(field);
}

describe("settings that save themselves", () => {
  it("save a choice at once", async () => {
    const { calls } = await openSettings();
    await visit("checks");
    const checks = section("checks");
    await fireEvent.click(checks.getByRole("checkbox", { name: texts.checkNewCards }));
    await wait();
    expect(asked(calls, "check_settings_set")).toEqual([{ every_days: 30, new_cards: false }]);
    expect(checks.getByText(common.saved)).toBeTruthy();
    await visit("keys");
    await fireEvent.click(section("keys").getByText(keys.places.file.name));
    await wait();
    expect(asked(calls, "providers_set").map(({ keep }) => keep)).toEqual(["file"]);
  });

  it("save a text when it is left, once, and not on the way", async () => {
    const { calls } = await openSettings();
    await visit("checks");
    const days = section("checks").getByLabelText<HTMLInputElement>(texts.checkCardsEvery);
    for (const value of ["9", "90"]) await fireEvent.input(days, { target: { value } });
    await wait(5000);
    expect(asked(calls, "check_settings_set")).toEqual([]);
    await fireEvent.change(days);
    await wait();
    await fireEvent.change(days);
    await wait();
    expect(asked(calls, "check_settings_set")).toEqual([{ every_days: 90, new_cards: true }]);
  });

  it("do not save what is invalid, say what is wrong, and save once it is right", async () => {
    const { calls } = await openSettings();
    await visit("review");
    const policy = section("review");
    const approvals = policy.getByLabelText<HTMLInputElement>(texts.reviewers);
    await enter(approvals, "0");
    await wait();
    expect(policy.getByRole("alert").textContent).toBe(texts.giveApprovals);
    expect([approvals.value, approvals.getAttribute("aria-invalid")]).toEqual(["0", "true"]);
    expect(asked(calls, "review_policy_set")).toEqual([]);
    await enter(approvals, "2");
    await wait();
    expect(policy.queryByRole("alert")).toBeNull();
    expect(asked(calls, "review_policy_set")).toEqual([{ approvals: 2, reviewer: "" }]);
  });

  it("keep the input when saving fails, say why, and can be tried again", async () => {
    let refused = true;
    const { calls, kept } = await openSettings({
      answers: {
        review_policy_set: (policy) => {
          if (refused) throw refusal();
          return (kept.policy = policy);
        },
      },
    });
    await visit("review");
    const policy = section("review");
    const reviewer = policy.getByLabelText<HTMLInputElement>(texts.yourName);
    await enter(reviewer, "Ann");
    await wait();
    expect(policy.getByRole("alert").textContent).toContain("It was refused");
    expect(reviewer.value).toBe("Ann");
    expect(policy.queryByText(common.saved)).toBeNull();
    // Not even a change from elsewhere replaces it.
    kept.policy = { approvals: 3, reviewer: "Bob" };
    await changed("review");
    expect(reviewer.value).toBe("Ann");
    refused = false;
    await fireEvent.click(policy.getByRole("button", { name: common.tryAgain }));
    await wait();
    expect(policy.queryByRole("alert")).toBeNull();
    expect(asked(calls, "review_policy_set").at(-1)).toEqual({ approvals: 3, reviewer: "Ann" });
  });

  it("lose neither of two changes of the same settings, nor one from elsewhere", async () => {
    const { calls, kept } = await openSettings({
      answers: {
        // Slow, so that the second change is made before the first is saved.
        providers_set: async (settings: ProviderSettings) => {
          await new Promise((done) => setTimeout(done, 500));
          return { ...PROVIDERS, settings: (kept.services = settings) };
        },
      },
    });
    await visit("network");
    const network = section("network");
    kept.services = { ...kept.services, prompts: { grade: "mine" } };
    await enter(network.getByLabelText(services.allowedHosts), "http://docs.local/x");
    await enter(network.getByLabelText(services.proxy), "http://proxy:1");
    await wait(2000);
    expect(kept.services.network).toEqual({ allowed_hosts: ["docs.local"], proxy: "http://proxy:1" });
    expect(kept.services.prompts).toEqual({ grade: "mine" });
    expect(asked(calls, "providers_set").length).toBe(2);
    // The stored form of what was typed is shown.
    expect(network.getByLabelText<HTMLTextAreaElement>(services.allowedHosts).value).toBe("docs.local");
  });

  it("end with the last of two quick changes, even back to what was stored", async () => {
    const { kept } = await openSettings({
      answers: {
        check_settings_set: async (checks) => {
          await new Promise((done) => setTimeout(done, 500));
          return (kept.checks = checks);
        },
      },
    });
    await visit("checks");
    const box = section("checks").getByRole<HTMLInputElement>("checkbox", { name: texts.checkNewCards });
    await fireEvent.click(box);
    await wait(100);
    await fireEvent.click(box);
    await wait(600);
    // The first change is stored by now, and is not shown in place of the second.
    expect([box.checked, kept.checks.new_cards]).toEqual([true, false]);
    await wait(2000);
    expect([box.checked, kept.checks.new_cards]).toEqual([true, true]);
  });

  it("keep what is typed while the change before it is being saved", async () => {
    const { kept } = await openSettings({
      answers: {
        review_policy_set: async (policy) => {
          await new Promise((done) => setTimeout(done, 500));
          return (kept.policy = policy);
        },
      },
    });
    await visit("review");
    const reviewer = section("review").getByLabelText<HTMLInputElement>(texts.yourName);
    await enter(reviewer, "Ann");
    await fireEvent.input(reviewer, { target: { value: "Anna" } });
    await wait(1000);
    expect([kept.policy.reviewer, reviewer.value]).toEqual(["Ann", "Anna"]);
    await fireEvent.change(reviewer);
    await wait(1000);
    expect([kept.policy.reviewer, reviewer.value]).toEqual(["Anna", "Anna"]);
  });

  it("save what was typed when the pane is left, and tell if that fails", async () => {
    let refused = false;
    const { calls, kept } = await openSettings({
      answers: {
        review_policy_set: (policy) => {
          if (refused) throw refusal();
          return (kept.policy = policy);
        },
      },
    });
    const type = async (value: string) => {
      await visit("review");
      await fireEvent.input(section("review").getByLabelText(texts.yourName), { target: { value } });
    };
    await type("Ann");
    navigation.go("ask");
    await wait();
    expect(asked(calls, "review_policy_set")).toEqual([{ approvals: 1, reviewer: "Ann" }]);
    refused = true;
    await type("Bob");
    navigation.go("ask");
    await wait();
    expect(engine.toasts.map(({ text }) => text)).toEqual(["it was refused"]);
  });

  it("keep the present service until another one can be used", async () => {
    const { calls } = await openSettings();
    await visit("llm");
    const llm = section("llm");
    await fireEvent.click(llm.getByRole("radio", { name: new RegExp(`^${services.llms.openai.name}`) }));
    await fireEvent.input(llm.getByLabelText(services.address), { target: { value: "http://127.0.0.1:1/v1" } });
    const use = llm.getByRole("button", { name: services.useService(services.llms.openai.name) });
    await fireEvent.click(use);
    expect(llm.getByRole("alert").textContent).toBe(services.noModel);
    await fireEvent.input(llm.getByLabelText(services.model), { target: { value: "qwen3" } });
    await wait(1000);
    expect(asked(calls, "providers_set")).toEqual([]);
    await fireEvent.click(use);
    await wait();
    expect(asked(calls, "providers_set").map(({ llm }) => [llm.kind, llm.base, llm.large])).toEqual([
      ["openai", "http://127.0.0.1:1/v1", "qwen3"],
    ]);
    // From then on it saves itself.
    await enter(llm.getByLabelText(services.model), "qwen4");
    await fireEvent.click(llm.getByRole("radio", { name: new RegExp(`^${services.llms.none.name}`) }));
    await wait();
    expect(asked(calls, "providers_set").map(({ llm }) => [llm.kind, llm.large])).toEqual([
      ["openai", "qwen3"],
      ["openai", "qwen4"],
      ["none", "qwen4"],
    ]);
  });

  it("test a connection only once everything is saved", async () => {
    const settings = { llm: { ...PROVIDERS.settings.llm, kind: "openai" as const, large: "qwen3" } };
    const { calls, kept } = await openSettings({
      settings,
      answers: {
        providers_set: async (given: ProviderSettings) => {
          await new Promise((done) => setTimeout(done, 500));
          return { ...PROVIDERS, settings: (kept.services = given) };
        },
        providers_test: () => ({ text: `${kept.services.llm.large} responded`, ms: 1 }),
      },
    });
    await visit("llm");
    const llm = section("llm");
    await enter(llm.getByLabelText(services.model), "qwen4");
    await fireEvent.click(llm.getByRole("button", { name: services.testConnection }));
    await wait(2000);
    expect(llm.getByText(/qwen4 responded/)).toBeTruthy();
    expect(asked(calls, "providers_test").length).toBe(1);
  });

  it("save the endpoint's port and switch together", async () => {
    const { calls } = await openSettings();
    await visit("agents");
    const port = screen.getByLabelText<HTMLInputElement>(agents.port);
    await enter(port, "80");
    await fireEvent.click(screen.getByRole("checkbox", { name: agents.answerHere }));
    await wait();
    expect(screen.getByText(agents.portWrong)).toBeTruthy();
    expect(asked(calls, "mcp_http_set")).toEqual([]);
    await enter(port, "5050");
    await wait();
    expect(asked(calls, "mcp_http_set")).toEqual([{ enabled: false, port: 5050 }]);
  });

  it("save a client's budget when its row is left, and a removed one at once", async () => {
    const { calls } = await openSettings();
    await visit("sessions");
    const sessions = section("sessions");
    await fireEvent.click(sessions.getByRole("button", { name: sessionTexts.addAProgram }));
    const name = sessions.getByRole("textbox", { name: sessionTexts.program(1) });
    await fireEvent.input(name, { target: { value: "claude" } });
    const tokens = sessions.getByRole("textbox", { name: sessionTexts.tokensOf("claude") });
    await fireEvent.focusOut(name, { relatedTarget: tokens });
    await wait();
    expect(sessions.queryByRole("alert")).toBeNull();
    await fireEvent.focusOut(tokens, { relatedTarget: null });
    expect(sessions.getByRole("alert").textContent).toBe(sessionTexts.giveTokens("claude"));
    await fireEvent.input(tokens, { target: { value: "8000" } });
    await fireEvent.focusOut(tokens, { relatedTarget: null });
    await wait();
    expect(asked(calls, "agent_sessions_set").map(({ budgets }) => budgets)).toEqual([{ claude: 8000 }]);
    await fireEvent.click(sessions.getByRole("button", { name: sessionTexts.remove("claude") }));
    await wait();
    expect(asked(calls, "agent_sessions_set").map(({ budgets }) => budgets)).toEqual([{ claude: 8000 }, {}]);
  });

  it("change one number of the sessions and reset all of them", async () => {
    const { calls, kept } = await openSettings();
    await visit("sessions");
    const sessions = section("sessions");
    const { results, capacity } = sessionTexts.limits;
    await enter(sessions.getByLabelText(capacity.name), "0");
    await enter(sessions.getByLabelText(results.name), "7");
    await wait();
    expect(sessions.getByRole("alert").textContent).toBe(sessionTexts.outOfRange(capacity.name, 1, 500));
    expect(asked(calls, "agent_sessions_set").map(({ session }) => session.results)).toEqual([7]);
    await fireEvent.click(sessions.getByRole("button", { name: sessionTexts.resetAll }));
    await fireEvent.click(screen.getByRole("button", { name: sessionTexts.resetYes }));
    await wait();
    expect(kept.sessions.session.results).toBe(5);
    const shown = [results, capacity].map(({ name }) => sessions.getByLabelText<HTMLInputElement>(name).value);
    expect(shown).toEqual([5, 12].map(String));
    expect(sessions.queryByRole("alert")).toBeNull();
  });
});
