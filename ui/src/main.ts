import { mount } from "svelte";
import App from "./App.svelte";
import { applyTheme } from "./lib/theme.svelte";
import "./styles.css";

applyTheme();

const target = document.getElementById("app");
if (!target) throw new Error("index.html has no #app");

export default mount(App, { target });
