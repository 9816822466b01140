// Finds what is cut off or out of reach where little fits: in a small window, or with large text.

/** Returns a line per control that cannot be scrolled into view or is covered, and per part that is wider than it fits. */
function misfits() {
  const name = (element) =>
    `${element.tagName.toLowerCase()}${element.id && `#${element.id}`}.${[...element.classList].join(".")} "${(
      element.getAttribute("aria-label") ??
      element.textContent ??
      ""
    )
      .trim()
      .replace(/\s+/g, " ")
      .slice(0, 40)}"`;
  const dialogs = [...document.querySelectorAll("[role=dialog]")];
  const root = dialogs.at(-1) ?? document.body;
  const found = [];
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("[inert]");
  const controls = [...root.querySelectorAll("button, input, select, textarea, a[href], summary, [tabindex='0']")];
  for (const control of controls) {
    if (!shown(control) || control.disabled) continue;
    // A field without a box of its own is operated by its label.
    const target = control.offsetWidth < 2 ? control.closest("label") : control;
    // Shown only while it has the focus, or never.
    if (!target || getComputedStyle(target).clipPath !== "none") continue;
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
    const box = target.getBoundingClientRect();
    const tall = box.height > innerHeight / 2;
    const inside =
      box.left >= -1 && box.right <= innerWidth + 1 && box.top >= -1 && (tall || box.bottom <= innerHeight + 1);
    if (!inside) {
      found.push(`out of the window: ${name(target)}`);
      continue;
    }
    const x = Math.min(box.left + box.width / 2, innerWidth - 2);
    const y = Math.min(box.top + (tall ? 12 : box.height / 2), innerHeight - 2);
    const top = document.elementFromPoint(x, y);
    if (!(top && (target.contains(top) || top.contains(target)))) {
      found.push(`covered: ${name(target)} by ${top ? name(top) : "nothing"}`);
    }
  }
  for (const part of [document.documentElement, ...root.querySelectorAll("*")]) {
    if (!shown(part) || part.closest(".sr-only, svg, pre")) continue;
    const { overflowX, textOverflow, position } = getComputedStyle(part);
    const wider = part.scrollWidth - part.clientWidth;
    // Lines that end in an ellipsis have their text in a tooltip, and tables and code scroll sideways.
    if (wider < 2 || part.clientWidth < 2 || textOverflow === "ellipsis" || position === "absolute") continue;
    if (["hidden", "clip"].includes(overflowX)) found.push(`cut off by ${wider} pixels: ${name(part)}`);
    else if (part.matches("html, .pane, .body")) {
      const { right } = part.getBoundingClientRect();
      const widest = [...part.querySelectorAll("*")].findLast(
        (inner) => inner.getBoundingClientRect().right > right + 1,
      );
      found.push(`scrolls sideways by ${wider} pixels: ${name(part)}, for ${widest ? name(widest) : "its own sake"}`);
    }
  }
  return found;
}

/** Ways in which little fits: a window of 1280x800 at a zoom of 200%, and text of twice the size. */
export const SMALL = [
  { name: "zoomed", size: { width: 640, height: 400 }, text: null },
  { name: "large text", size: { width: 1180, height: 780 }, text: "32px" },
];

/** Returns what does not fit in the page as it is. */
export async function fit(page, state) {
  return (await page.evaluate(misfits)).map((line) => `${state}: ${line}`);
}
