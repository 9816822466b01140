// Past imports, for components that show where something came from.

import type { ImportView } from "./bindings";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

const imports = sharedResource("imports_list", () => ({}), {
  invalidatedBy: ["jobs:import"],
  when: () => navigation.pane === "review",
});

/** Returns an import by its id, or `undefined` if it is unknown or not loaded yet. */
export function importOf(id: string): ImportView | undefined {
  return imports.value?.find((made) => made.import === id);
}
