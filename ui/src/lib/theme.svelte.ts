// The color theme, which follows the system unless the user chose one.

export type Theme = "system" | "light" | "dark";

const KEY = "autokit.theme";
const dark = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;

function remembered(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

let chosen = $state<Theme>(remembered());

/** Returns the user's choice. */
export function theme(): Theme {
  return chosen;
}

/** Applies the theme to the document. */
export function applyTheme(): void {
  const shown = chosen === "system" ? (dark?.matches ? "dark" : "light") : chosen;
  document.documentElement.dataset["theme"] = shown;
}

/** Sets and stores the choice. */
export function setTheme(next: Theme): void {
  chosen = next;
  if (next === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  applyTheme();
}

dark?.addEventListener("change", applyTheme);
