// How the pages reach the engine: through the window they are in, or, in a browser, through the
// engine's loopback host. Both carry the one list of commands.

import { type ApiError, type Commands, type Event, PROTOCOL } from "./bindings";
import { download } from "./save";
import { app as texts } from "../texts/app";

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
    return new CommandError({ code: "internal", message: String(reason), remedy: texts.tryAgainRemedy });
  }
}

/** A way to the engine. */
export interface Host {
  /** Whether file pickers, dropped files' paths and web links are the system's. */
  readonly desktop: boolean;
  call<C extends keyof Commands>(name: C, request: Commands[C]["request"]): Promise<Commands[C]["response"]>;
  /**
   * Hands a text over as a file. Gives where it was written; `null` when the person chose no place.
   * A browser keeps to itself where its downloads go: the name alone is known there.
   */
  save(name: string, text: string): Promise<string | null>;
  /**
   * Hears news until the returned function is called. Settles once nothing can be missed any
   * more: what is read after that is never older than the news.
   */
  listen(hear: (event: Event) => void): Promise<() => void>;
  /** Hears links of the system that this app was started with or is opened with; a browser has none. */
  links(hear: (link: string) => void): Promise<() => void>;
}

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
    async save(name, text) {
      const { invoke } = await core;
      try {
        return await invoke<string | null>("save_text", { name, text });
      } catch (reason) {
        throw CommandError.from(reason);
      }
    },
    async listen(hear) {
      const { listen } = await events;
      return listen<Event>("autokit", ({ payload }) => hear(payload));
    },
    async links(hear) {
      const [{ invoke }, { listen }] = await Promise.all([core, events]);
      const deaf = await listen<unknown>("deep-link", ({ payload }) => typeof payload === "string" && hear(payload));
      // Asked for after listening began, so that none falls between the two.
      const first = await invoke<string | null>("take_link");
      if (first) hear(first);
      return deaf;
    },
  };
}

/** The host of a browser page opened with `#token=…`. */
export function loopbackHost(token: string, base = ""): Host {
  const headers = { authorization: `Bearer ${token}`, "x-autokit-protocol": String(PROTOCOL) };
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
          message: texts.noAnswer(String(reason)),
          remedy: texts.noAnswerRemedy,
        });
      }
      const body: unknown = await response.json().catch(() => response.statusText);
      if (!response.ok) throw CommandError.from(body);
      return body as never;
    },
    async save(name, text) {
      download(name, text);
      return name;
    },
    async listen(hear) {
      const stop = new AbortController();
      try {
        const news = await fetch(`${base}/v1/events`, { headers, signal: stop.signal });
        if (news.ok) void follow(news, hear, stop.signal);
      } catch (reason) {
        // The commands will say so in words; news alone is not worth a message.
        console.warn("no news from the engine:", reason);
      }
      return () => stop.abort();
    },
    links: () => Promise.resolve(() => {}),
  };
}

async function follow(response: Response, hear: (event: Event) => void, signal: AbortSignal): Promise<void> {
  try {
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
