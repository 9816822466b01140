// Keeps the place of who uses the keyboard: an update that removes what has the focus leaves the focus nowhere.

import type { Attachment } from "svelte/attachments";
import { nameOf } from "./settingsControls";

const CONTROLS = "a[href], button, input, select, summary, textarea";

/**
 * When what has the focus in an element is removed, focuses the control of the same name that took its place, however
 * much later it is there, and until then `otherwise`. Gives up when a key is pressed or the focus goes elsewhere.
 */
export function keepFocus(otherwise: () => HTMLElement): Attachment<HTMLElement> {
  return (container) => {
    let focused: { control: HTMLElement; name: string } | null = null;
    /** The name of the removed control that is waited for. */
    let missing: string | null = null;

    const remember = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement) focused = { control: target, name: nameOf(target) };
    };
    const giveUp = () => (missing = null);
    const observer = new MutationObserver(() => {
      const now = document.activeElement;
      if (focused && !focused.control.isConnected) {
        missing = now === document.body ? focused.name : null;
        focused = null;
      }
      if (missing === null) return;
      if (now !== document.body && now !== otherwise()) return giveUp();
      const name = missing;
      const same = [...container.querySelectorAll<HTMLElement>(CONTROLS)].find((one) => name && nameOf(one) === name);
      (same ?? otherwise()).focus();
      if (same) giveUp();
    });

    observer.observe(container, { childList: true, subtree: true });
    container.addEventListener("focusin", remember);
    container.addEventListener("keydown", giveUp);
    container.addEventListener("pointerdown", giveUp);
    return () => {
      observer.disconnect();
      container.removeEventListener("focusin", remember);
      container.removeEventListener("keydown", giveUp);
      container.removeEventListener("pointerdown", giveUp);
    };
  };
}
