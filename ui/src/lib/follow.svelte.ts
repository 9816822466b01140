// What is shown of stored values that may change meanwhile: by the terminal, or another window.

import { untrack } from "svelte";
import type { Setting } from "./bindings";
import { engine } from "./engine.svelte";

/** Reads anew when told to, one reading at a time and `pause` milliseconds apart: news come in bursts, and what
    is long is read more slowly than they come. */
export function steadily(read: () => Promise<unknown>, pause: number): () => void {
  let reading = false;
  let stale = false;
  return () => {
    stale = true;
    if (reading) return;
    reading = true;
    const again = async () => {
      while (stale) {
        await new Promise((done) => setTimeout(done, pause));
        stale = false;
        await read();
      }
      reading = false;
    };
    void again();
  };
}

/** As [`steadily`], but the first time at once. */
export function atOnceThenSteadily(read: () => Promise<unknown>, pause: number): () => void {
  const again = steadily(read, pause);
  let next = () => {
    next = again;
    void read();
  };
  return () => next();
}

/** Reads what a setting holds now, and again whenever it is changed. */
export function whenKept(setting: Setting, read: () => void): void {
  $effect(() => {
    void engine.news.settings[setting];
    untrack(read);
  });
}

/** Takes stored values over as they change, until the person has changed something in the form. */
export function follow<T>(stored: () => T, shown: () => T, take: (value: T) => void): void {
  let base = JSON.stringify(untrack(stored));
  $effect(() => {
    const value = stored();
    const text = JSON.stringify(value);
    if (text === base) return;
    if (untrack(() => JSON.stringify(shown())) === base) untrack(() => take(value));
    base = text;
  });
}
