// Finds the controls of Settings on the page by their names, as a person who reads them does.

const NAMED = "label, legend, h3, h4, summary, button, [aria-label]";
const FOCUSABLE = [
  "[role='radio'][aria-checked='true']",
  "input:not(:disabled), textarea:not(:disabled), select:not(:disabled), button:not(:disabled), summary, a[href]",
];

/** Returns the name of a control as it is read: its label for screen readers, or its text. */
export function nameOf(element: Element): string {
  return (element.getAttribute("aria-label") ?? element.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** Returns what takes the focus for an element that names a control: the control itself, or the first one in a group. */
function focusableOf(element: HTMLElement): HTMLElement {
  if (element instanceof HTMLLabelElement) return element.control ?? element;
  if (element.matches("button, summary, input, textarea, select")) return element;
  const group = element.matches("legend, h3, h4") ? (element.parentElement ?? element) : element;
  for (const selector of FOCUSABLE) {
    const first = group.querySelector<HTMLElement>(selector);
    if (first) return first;
  }
  return element;
}

/** Returns the control with this name in a section; `null` if it is not on the page. */
export function controlOf(section: HTMLElement, name: string): HTMLElement | null {
  const elements = [...section.querySelectorAll<HTMLElement>(NAMED)];
  const wanted = name.replace(/\s+/g, " ").trim();
  // Some names end in a remark, such as "(optional)".
  const found =
    elements.find((element) => nameOf(element) === wanted) ??
    elements.find((element) => nameOf(element).startsWith(`${wanted} `));
  return found ? focusableOf(found) : null;
}

/** Scrolls to a control and focuses it. */
export function focusControl(control: HTMLElement): void {
  // A list without anything to press can still be read from.
  if (control.tabIndex < 0 && !control.matches("[role='radio'], button")) control.tabIndex = -1;
  control.scrollIntoView({ block: "center" });
  control.focus({ preventScroll: true });
}

/**
 * Focuses the control with this name as soon as it is on the page, as some wait for data. Gives up when the focus goes
 * elsewhere. Returns a function that stops waiting.
 */
export function focusWhenThere(section: HTMLElement, name: string): () => void {
  const attempt = () => {
    const control = controlOf(section, name);
    if (control) focusControl(control);
    return !!control;
  };
  if (attempt()) return () => {};
  const focused = document.activeElement;
  const observer = new MutationObserver(() => {
    if (document.activeElement !== focused || attempt()) observer.disconnect();
  });
  observer.observe(section, { childList: true, subtree: true });
  return () => observer.disconnect();
}
