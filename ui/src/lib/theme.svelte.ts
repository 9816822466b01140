// Light and dark follow the system unless the person chose one.

export type Theme = "system" | "light" | "dark";

const KEY = "autokit.theme";
const dark = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;

function remembered(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

let chosen = $state<Theme>(remembered());

/** The person's choice. */
export function theme(): Theme {
  return chosen;
}

/** Puts the choice on the page. */
export function applyTheme(): void {
  const shown = chosen === "system" ? (dark?.matches ? "dark" : "light") : chosen;
  document.documentElement.dataset["theme"] = shown;
}

/** Chooses and remembers. */
export function setTheme(next: Theme): void {
  chosen = next;
  if (next === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  applyTheme();
}

dark?.addEventListener("change", applyTheme);
