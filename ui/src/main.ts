import { mount } from "svelte";
import App from "./App.svelte";
import { applyTheme } from "./lib/theme.svelte";
import { applyZoom } from "./lib/zoom.svelte";
import QuickAsk from "./panes/QuickAsk.svelte";
import "./styles.css";

applyTheme();
applyZoom();

const target = document.getElementById("app");
if (!target) throw new Error("index.html has no #app");

// The desktop app opens the same page in both of its windows.
export default mount(location.hash === "#quick-ask" ? QuickAsk : App, { target });
