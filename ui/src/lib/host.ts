// How the pages reach the engine: through the window they are in, or, in a browser, through the
// engine's loopback host. Both carry the one list of commands.

import type { ApiError, Commands, Event } from "./bindings";

/** What the engine answered instead of a result: branch on `code`, show the rest. */
export class CommandError extends Error implements ApiError {
  readonly code: ApiError["code"];
  readonly remedy: string;

  constructor(error: ApiError) {
    super(error.message);
    this.name = "CommandError";
    this.code = error.code;
    this.remedy = error.remedy;
  }

  static from(reason: unknown): CommandError {
    if (reason instanceof CommandError) return reason;
    if (typeof reason === "object" && reason !== null && "code" in reason && "message" in reason) {
      return new CommandError(reason as ApiError);
    }
    return new CommandError({ code: "internal", message: String(reason), remedy: "Try again." });
  }
}

/** A way to the engine. */
export interface Host {
  /** Whether file pickers, dropped files' paths and web links are the system's. */
  readonly desktop: boolean;
  call<C extends keyof Commands>(
    name: C,
    request: Commands[C]["request"],
  ): Promise<Commands[C]["response"]>;
  /** Hears news until the returned function is called. */
  listen(hear: (event: Event) => void): () => void;
}

/** Version of the protocol of the loopback host. */
const PROTOCOL = "1";

function windowHost(): Host {
  const core = import("@tauri-apps/api/core");
  const events = import("@tauri-apps/api/event");
  return {
    desktop: true,
    async call(name, request) {
      const { invoke } = await core;
      try {
        return await invoke("call", { name, request });
      } catch (reason) {
        throw CommandError.from(reason);
      }
    },
    listen(hear) {
      const listening = events.then(({ listen }) =>
        listen<Event>("autokit", ({ payload }) => hear(payload)),
      );
      return () => void listening.then((stop) => stop());
    },
  };
}

/** The host of a browser page opened with `#token=…`. */
export function loopbackHost(token: string, base = ""): Host {
  const headers = { authorization: `Bearer ${token}`, "x-autokit-protocol": PROTOCOL };
  return {
    desktop: false,
    async call(name, request) {
      let response: Response;
      try {
        response = await fetch(`${base}/v1/call/${name}`, {
          method: "POST",
          headers: {
            ...headers,
            "content-type": "application/json",
            "x-autokit-request": crypto.randomUUID(),
          },
          body: JSON.stringify(request),
        });
      } catch (reason) {
        throw new CommandError({
          code: "owner_unreachable",
          message: `the engine does not answer: ${String(reason)}`,
          remedy: "Start it again with `autokit serve`.",
        });
      }
      const body: unknown = await response.json().catch(() => response.statusText);
      if (!response.ok) throw CommandError.from(body);
      return body as never;
    },
    listen(hear) {
      const stop = new AbortController();
      void follow(`${base}/v1/events`, headers, hear, stop.signal);
      return () => stop.abort();
    },
  };
}

async function follow(
  url: string,
  headers: Record<string, string>,
  hear: (event: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const response = await fetch(url, { headers, signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    while (reader) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line) hear(JSON.parse(line) as Event);
    }
  } catch (reason) {
    if (!signal.aborted) console.warn("no news from the engine:", reason);
  }
}

/** The host of the place the pages run in. */
export function detectHost(): Host {
  if ("__TAURI_INTERNALS__" in window) return windowHost();
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  return loopbackHost(token);
}
