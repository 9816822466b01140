// What the window loads after its start, in one file: all panes but Ask, and the dialogs.

export { default as Activity } from "./panes/Activity.svelte";
export { default as BundlesDialog } from "./parts/bundles/BundlesDialog.svelte";
export { default as CreateTeam } from "./parts/team/CreateTeam.svelte";
export { default as Discover } from "./panes/Discover.svelte";
export { default as DuplicatesDialog } from "./parts/duplicates/DuplicatesDialog.svelte";
export { default as ExportDialog } from "./parts/export/ExportDialog.svelte";
export { default as ImportDialog } from "./parts/import/ImportDialog.svelte";
export { default as JoinTeam } from "./parts/team/JoinTeam.svelte";
export { default as Library } from "./panes/Library.svelte";
export { default as Review } from "./panes/Review.svelte";
export { default as Settings } from "./panes/Settings.svelte";
