// The zoom of the window: the size of the root's text, which all sizes follow, relative to that of the system.

/** The steps of the zoom, in percent. */
export const ZOOMS = [90, 100, 110, 125, 150, 175, 200] as const;

export type Zoom = (typeof ZOOMS)[number];

const KEY = "autokit.zoom";
/** How far a wheel turns for a step, in pixels. */
const NOTCH = 50;
/** Height of a line, in pixels, for wheels that turn by lines. */
const LINE = 16;

function remembered(): Zoom {
  // Without a window, as in tests of plain modules, nothing is remembered.
  const value = typeof localStorage === "undefined" ? null : localStorage.getItem(KEY);
  return ZOOMS.find((one) => String(one) === value) ?? 100;
}

let chosen = $state<Zoom>(remembered());

/** Returns the zoom in percent. */
export function zoom(): Zoom {
  return chosen;
}

/** Applies the zoom to the document. */
export function applyZoom(): void {
  document.documentElement.style.fontSize = chosen === 100 ? "" : `${chosen}%`;
}

/** Sets and stores the zoom. */
export function setZoom(next: Zoom): void {
  if (next === 100) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, String(next));
  chosen = next;
  applyZoom();
}

/** Zooms by a number of steps, as far as there are any. */
export function zoomBy(steps: number): void {
  const at = Math.min(ZOOMS.length - 1, Math.max(0, ZOOMS.indexOf(chosen) + steps));
  setZoom(ZOOMS[at]!);
}

/** How far the wheel has turned since the last step, in pixels. */
let turned = 0;

/** Zooms by the wheel with Ctrl, which is also how a browser reports pinching. Must not be a passive listener. */
export function handleWheel(event: WheelEvent): void {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const by = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
  turned = Math.sign(by) === Math.sign(turned) ? turned + by : by;
  if (Math.abs(turned) < NOTCH) return;
  zoomBy(turned < 0 ? 1 : -1);
  turned = 0;
}
