import { describe, expect, it, vi } from "vitest";
import { LazyModule } from "./lazyModule.svelte";

describe("a lazy module", () => {
  it("is loaded once, and again only after that failed", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const read = vi.fn().mockRejectedValueOnce(new Error("gone")).mockResolvedValue({ name: "it" });
    const lazy = new LazyModule("it", read as () => Promise<{ name: string }>);
    await lazy.load();
    expect([lazy.value, lazy.failed]).toEqual([null, true]);
    await Promise.all([lazy.load(), lazy.load()]);
    expect([lazy.value, lazy.failed]).toEqual([{ name: "it" }, false]);
    expect(read).toHaveBeenCalledTimes(2);
  });
});
