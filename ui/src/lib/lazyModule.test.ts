import { describe, expect, it, vi } from "vitest";
import { LazyModule } from "./lazyModule.svelte";

describe("a late module", () => {
  it("is loaded once, and again only after that failed", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const read = vi.fn().mockRejectedValueOnce(new Error("gone")).mockResolvedValue({ name: "it" });
    const late = new LazyModule("it", read as () => Promise<{ name: string }>);
    await late.load();
    expect([late.value, late.failed]).toEqual([null, true]);
    await Promise.all([late.load(), late.load()]);
    expect([late.value, late.failed]).toEqual([{ name: "it" }, false]);
    expect(read).toHaveBeenCalledTimes(2);
  });
});
