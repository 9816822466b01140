// @vitest-environment jsdom
import { expect, it } from "vitest";
import { startOf } from "./dialog";

/** Returns the id of what takes the focus in a dialog with this content and these actions. */
function start(body: string, actions = "", attributes = ""): string {
  const content = document.createElement("div");
  content.id = "content";
  const close = '<div class="head"><button id="close"></button></div>';
  content.innerHTML = `${close}<div id="body" class="body" ${attributes}>${body}</div><div class="actions">${actions}</div>`;
  return startOf(content).id;
}

const CANCEL = '<button id="cancel" class="button"></button>';
const FROM_CANCEL = CANCEL.replace("id", "data-start id");

it("starts a dialog where one goes on: never at the button that closes it", () => {
  const choices = '<div data-start><i id="one" aria-checked="false"></i><i id="two" aria-checked="true"></i></div>';
  const confirm = `${CANCEL}<button id="yes" class="button primary"></button>`;
  expect(start(`<input id="name">${choices}`, confirm)).toBe("two");
  expect(start('<input type="file"><input disabled><input id="name">', confirm)).toBe("name");
  expect(start("<p>Really?</p>", confirm)).toBe("yes");
  expect(start("<p>Long text</p>", CANCEL, 'tabindex="0"')).toBe("body");
  const tabs = '<button role="tab"></button><button id="tab" role="tab" aria-selected="true"></button>';
  expect(start(`${tabs}<input id="name">`, CANCEL)).toBe("tab");
  expect(start('<button id="more"></button>', CANCEL)).toBe("more");
  expect(start("<p>Loading</p>", '<button class="button primary" disabled></button>')).toBe("content");
});

it("starts at the button that cancels where that is marked", () => {
  expect(start("<p>Gone</p>", `${FROM_CANCEL}<button id="yes" class="button primary"></button>`)).toBe("cancel");
});
