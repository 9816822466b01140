// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Event, PROTOCOL } from "./bindings";
import { CommandError, detectHost, loopbackHost } from "./host";

afterEach(() => vi.unstubAllGlobals());

const answer = (body: unknown, status = 200) => Promise.resolve(new Response(JSON.stringify(body), { status }));

describe("the loopback host", () => {
  it("sends the token, the protocol and a key of its own with every call", async () => {
    const sent: Request[] = [];
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
      sent.push(new Request(`http://h${url}`, init));
      return answer({ undone: 1 });
    });
    const host = loopbackHost("secret");
    await host.call("changes_undo", {});
    await host.call("changes_undo", {});
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer secret");
    expect(sent[0]?.headers.get("x-autokit-protocol")).toBe(String(PROTOCOL));
    const keys = sent.map((request) => request.headers.get("x-autokit-request"));
    expect(new Set(keys).size).toBe(2);
  });

  it("gives errors with code and remedy, also when nobody answers", async () => {
    vi.stubGlobal("fetch", () => answer({ code: "not_found", message: "no", remedy: "look" }, 404));
    const host = loopbackHost("t");
    await expect(host.call("changes_undo", {})).rejects.toMatchObject({ code: "not_found", remedy: "look" });
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("refused")));
    await expect(host.call("changes_undo", {})).rejects.toBeInstanceOf(CommandError);
    await expect(host.call("changes_undo", {})).rejects.toMatchObject({ code: "owner_unreachable" });
  });

  it("hears news line by line, however it is cut", async () => {
    const event = (cursor: number) => JSON.stringify({ event: "library", cursor });
    const text = `${event(1)}\n${event(2)}\n`;
    const body = new ReadableStream({
      start(controller) {
        const encode = new TextEncoder();
        for (const piece of [text.slice(0, 9), text.slice(9, 40), text.slice(40)])
          controller.enqueue(encode.encode(piece));
        controller.close();
      },
    });
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(body)));
    const heard: Event[] = [];
    const stop = await loopbackHost("t").listen((event) => heard.push(event));
    await vi.waitFor(() => expect(heard).toHaveLength(2), { timeout: 30_000 });
    stop();
    expect(heard.map((event) => event.event === "library" && event.cursor)).toEqual([1, 2]);
  });

  it("opens the stream of news again when it breaks, and says that something was missed", async () => {
    vi.useFakeTimers();
    try {
      const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
      let refused = 0;
      const open = () => new Response(new ReadableStream({ start: (controller) => void streams.push(controller) }));
      vi.stubGlobal("fetch", () =>
        streams.length === 1 && !refused++ ? Promise.reject(new TypeError("refused")) : Promise.resolve(open()),
      );
      const heard: Event[] = [];
      const stop = await loopbackHost("t").listen((event) => heard.push(event));
      streams[0]!.close();
      await vi.advanceTimersByTimeAsync(1000);
      expect([streams.length, refused, heard]).toEqual([1, 1, []]);
      await vi.advanceTimersByTimeAsync(1000);
      expect(streams).toHaveLength(2);
      expect(heard).toEqual([{ event: "missed" }]);
      stop();
      streams[1]!.close();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(streams).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the window", () => {
  it("saves by the window's own command, which asks where, and says what failed", async () => {
    const called: unknown[] = [];
    const invoke = (name: string, args: unknown) => {
      called.push([name, args]);
      if ((args as { name: string }).name === "bad.py")
        return Promise.reject({ code: "bad_request", message: "no", remedy: "look" });
      return Promise.resolve("/home/someone/a.py");
    };
    vi.stubGlobal("__TAURI_INTERNALS__", { invoke });
    const host = detectHost();
    expect(host.desktop).toBe(true);
    expect(await host.save("a.py", "import a\n")).toBe("/home/someone/a.py");
    expect(called).toEqual([["save_text", { name: "a.py", text: "import a\n" }]]);
    await expect(host.save("bad.py", "")).rejects.toBeInstanceOf(CommandError);
  });

  it("has an engine started once it can hear its events", async () => {
    const called: string[] = [];
    const invoke = (name: string) => (called.push(name), Promise.resolve(1));
    vi.stubGlobal("__TAURI_INTERNALS__", { invoke, transformCallback: (handler: unknown) => handler });
    await detectHost().listen(() => {});
    expect(called).toEqual(["plugin:event|listen", "engine_start"]);
  });

  it("hears links by the system's event, and only texts", async () => {
    const listening: { event: string; handler: (message: unknown) => void }[] = [];
    const invoke = (name: string, args: { event: string; handler: (message: unknown) => void }) => {
      if (name === "plugin:event|listen") listening.push(args);
      return Promise.resolve(name === "take_links" ? started : 1);
    };
    let started = ["autokit://import?url=https://example.org/first"];
    vi.stubGlobal("__TAURI_INTERNALS__", { invoke, transformCallback: (handler: unknown) => handler });
    const heard: string[] = [];
    await detectHost().links((link) => heard.push(link));
    expect(listening[0]?.event).toBe("deep-link");
    expect(heard.splice(0)).toEqual(started);
    listening[0]?.handler({ payload: "autokit://import?url=https://example.org" });
    listening[0]?.handler({ payload: { url: "x" } });
    expect(heard).toEqual(["autokit://import?url=https://example.org"]);
    started = [];
    await detectHost().links((link) => heard.push(link));
    expect(heard).toHaveLength(1);
    await (
      await loopbackHost("t").links(() => {})
    )();
  });
});
