import { mount } from "svelte";
import App from "./App.svelte";
import { applyTheme } from "./lib/theme.svelte";
import { applyZoom } from "./lib/zoom.svelte";
import "./styles.css";

applyTheme();
applyZoom();

const target = document.getElementById("app");
if (!target) throw new Error("index.html has no #app");

export default mount(App, { target });
