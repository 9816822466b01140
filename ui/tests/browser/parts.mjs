// Parts of the window that tests of several areas use.

import assert from "node:assert/strict";
import { counted, pattern, texts } from "./texts.mjs";

const named = (role) => (within, name) => within.getByRole(role, { name, exact: true });

export const button = named("button");
export const checkbox = named("checkbox");
export const region = named("region");
export const tab = named("tab");
export const textbox = named("textbox");

/** Returns a choice of a group, whose description is part of its name. */
export const choice = (within, { name, about }) => named("radio")(within, about ? `${name} ${about}` : name);

/** Returns a segment of a group of choices. Only its text can be clicked. */
export const segment = (within, group, name) => named("radiogroup")(within, group).getByText(name, { exact: true });

export const status = (within, text) => within.getByRole("status").filter({ hasText: text });
export const alert = (within, text) => within.getByRole("alert").filter({ hasText: text });

/** Returns the button that accepts some fields of a proposal, of which `wanted` are selected if given. */
export const acceptSome = (page, wanted) =>
  page.getByRole("button", { name: pattern`^${counted((n) => texts.review.acceptSome(wanted ?? n, n))}$` });

/** Returns a section of Settings, whose group must be open. */
export const section = (page, name) => region(page, texts.general.sections[name]);

/** Opens a group of Settings. */
export async function openGroup(page, name) {
  await page.keyboard.press("Control+6");
  const groups = named("navigation")(page, texts.common.settings);
  await groups.getByRole("button", { name: pattern`^${texts.general.groups[name]}` }).click();
}

/** Returns the box that filters the library. */
export const filterBox = (page) => named("searchbox")(page, texts.library.filterLabel);

/** Returns the name of a card in the table of the library. */
export const cell = (page, name) => named("gridcell")(page, name);

/** Returns the heading of the card that is open beside the table. */
export const openCard = (page, name) =>
  named("complementary")(page, texts.library.card).getByRole("heading", { level: 1, name, exact: true });

/** Opens the command palette and types. */
export async function typeInPalette(page, words) {
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder(texts.commands.paletteBox, { exact: true }).fill(words);
}

/** Returns what the command palette offers. */
export const offered = (page, name) =>
  named("dialog")(page, texts.commands.commandPalette).getByRole("option").filter({ hasText: name });

/** Runs an action that calls a command of the engine, with these words in the request, and returns the response. */
export async function answerTo(page, command, work, words = "") {
  const isIt = (answer) => answer.url().endsWith(`/${command}`) && (answer.request().postData() ?? "").includes(words);
  return (await Promise.all([page.waitForResponse(isIt), work()]))[0];
}

/** Runs an action that the engine refuses with this code; `words` as in `answerTo`. */
export async function refused(page, command, code, work, words = "") {
  const answer = await answerTo(page, command, work, words);
  assert.equal((await answer.json()).code, code);
}

/** Returns the bar of jobs. */
export const jobs = (page) => named("contentinfo")(page, texts.app.jobs);

/** Opens the list of recent jobs and returns a job in it: outcomes leave the bar of jobs by themselves. */
export async function recentJob(page, { title, summary }) {
  await typeInPalette(page, texts.commands.recentJobs);
  await page.keyboard.press("Enter");
  const list = named("dialog")(page, texts.app.recentJobs);
  return list.getByRole("group").filter({ hasText: texts.app.jobSummary(title, summary) });
}

/** Waits until a job has ended and the window says so, and returns it. */
export async function ended(page, call, id) {
  let job = { version: 0, state: "running" };
  while (job.state === "running") job = await call("jobs_wait", { job: id, after: job.version });
  assert.equal(job.state, "done", JSON.stringify(job));
  await page
    .getByRole("status")
    .getByText(texts.app.jobSummary(job.title, job.summary), { exact: true })
    .waitFor({ state: "attached" });
  return job;
}

/** Runs an action that starts a job, waits until the job has ended and the window says so, and returns it. */
export async function runJob(page, call, command, work) {
  const { job } = await (await answerTo(page, command, work)).json();
  return ended(page, call, job);
}
