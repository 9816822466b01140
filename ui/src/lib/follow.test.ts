import { afterEach, describe, expect, it, vi } from "vitest";
import { steadily } from "./follow.svelte";

afterEach(() => vi.useRealTimers());

describe("reading anew", () => {
  it("is done once for a burst of news, and never twice at a time", async () => {
    vi.useFakeTimers();
    let [reads, under, most] = [0, 0, 0];
    const reread = steadily(async () => {
      reads++;
      most = Math.max(most, ++under);
      await new Promise((done) => setTimeout(done, 1000));
      under--;
    }, 250);
    for (let news = 0; news < 100; news++) reread();
    await vi.advanceTimersByTimeAsync(1250);
    expect([reads, under]).toEqual([1, 0]);
    // News that come while it reads are read about once it is done.
    reread();
    await vi.advanceTimersByTimeAsync(300);
    for (let news = 0; news < 100; news++) reread();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([reads, under, most]).toEqual([3, 0, 1]);
    reread();
    await vi.advanceTimersByTimeAsync(1250);
    expect(reads).toBe(4);
  });
});
