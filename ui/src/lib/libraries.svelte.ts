// Searches of all libraries: whether they are on, which is stored in the browser, and what libraries are called.

import type { LibraryEntry } from "./bindings";
import { navigation } from "./navigation.svelte";
import { sharedResource } from "./resource.svelte";
import { visibleLine } from "./visible";
import { libraries as texts } from "../texts/libraries";

const KEY = "autokit.libraries";

class AllLibraries {
  #on = $state(localStorage.getItem(KEY) === "all");
  /** The libraries that can be searched together. */
  readonly list = sharedResource("libraries_list", () => ({}), {
    invalidatedBy: ["team", "setting:libraries", "setting:market_sources"],
    when: () => navigation.pane === "ask",
    refreshWhenShown: true,
  });

  /** Those that are searched together with the open one. */
  get others(): LibraryEntry[] {
    return (this.list.value ?? []).filter((one) => one.searched && !one.open);
  }

  get on(): boolean {
    return this.#on;
  }

  set on(value: boolean) {
    this.#on = value;
    if (value) localStorage.setItem(KEY, "all");
    else localStorage.removeItem(KEY);
  }
}

export const allLibraries = new AllLibraries();

/** Returns what a library is called. */
export function libraryName({ kind, name }: LibraryEntry): string {
  if (kind === "personal") return texts.personal;
  return visibleLine(kind === "team" ? name : hostOf(name));
}

/** Returns the host of an address, by which people tell sources apart. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host || address : address;
}

/** Returns the team to open for a library on this computer (`null` for the person's own); `undefined` for one on the web. */
export function teamOf({ id, kind }: LibraryEntry): string | null | undefined {
  if (kind === "personal") return null;
  return kind === "team" ? id.slice("team:".length) : undefined;
}
