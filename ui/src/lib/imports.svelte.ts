// The imports that were made, for those who show where something came from.

import type { ImportView } from "./bindings";
import { sharedResource } from "./resource.svelte";
import { navigation } from "./navigation.svelte";

const imports = sharedResource("imports_list", () => ({}), {
  invalidatedBy: ["jobs:import"],
  when: () => navigation.pane === "review",
});

/** An import by its id, once it is known. */
export function importOf(id: string): ImportView | undefined {
  return imports.value?.find((made) => made.import === id);
}
