// Transports to the engine: Tauri in the desktop app, or the engine's loopback HTTP server in a browser. Both provide
// the same commands.

import { type ApiError, type Commands, type Event, PROTOCOL } from "./bindings";
import { download } from "./save";
import { app as texts } from "../texts/app";

/** An error response of the engine. Branch on `code`; the other fields are for display. */
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

/** How long to wait before the stream of events is opened again. */
const RECONNECT_MS = 1000;

/** A transport to the engine. */
export interface Host {
  /** Whether the system provides file pickers, the paths of dropped files, and links to web pages. */
  readonly desktop: boolean;
  call<C extends keyof Commands>(name: C, request: Commands[C]["request"]): Promise<Commands[C]["response"]>;
  /**
   * Saves a text as a file. Returns its path, or `null` if the user cancelled. In a browser only the file name is
   * known.
   */
  save(name: string, text: string): Promise<string | null>;
  /**
   * Delivers events until the returned function is called. Resolves once subscribed: data read after that is never
   * older than the events.
   */
  listen(hear: (event: Event) => void): Promise<() => void>;
  /** Delivers the system links that the app is launched or opened with. A browser has none. */
  links(hear: (link: string) => void): Promise<() => void>;
  /** Delivers what the desktop asks the main window for: an answer, or a pane. A browser has no such requests. */
  requests(hear: { ask: (question: string) => void; open: (pane: string) => void }): Promise<() => void>;
}

/** Calls a command of the desktop app. Throws a `CommandError`. */
export async function invokeApp<T>(command: string, request: Record<string, unknown> = {}): Promise<T> {
  const { invoke } = await import("@tauri-apps/api/core");
  try {
    return await invoke<T>(command, request);
  } catch (reason) {
    throw CommandError.from(reason);
  }
}

function windowHost(): Host {
  const events = import("@tauri-apps/api/event");
  return {
    desktop: true,
    call: (name, request) => invokeApp("call", { name, request }),
    save: (name, text) => invokeApp("save_text", { name, text }),
    async listen(hear) {
      const { listen } = await events;
      const stop = await listen<Event>("autokit", ({ payload }) => hear(payload));
      // There is none if the library could not be opened: whoever tries again tries with another one.
      await invokeApp("engine_start");
      return stop;
    },
    async links(hear) {
      const { listen } = await events;
      const deaf = await listen<unknown>("deep-link", ({ payload }) => typeof payload === "string" && hear(payload));
      // Read after subscribing, so that no link in between is missed.
      for (const link of await invokeApp<string[]>("take_links")) hear(link);
      return deaf;
    },
    async requests(hear) {
      const { listen } = await events;
      const stops = await Promise.all([
        listen<string>("ask", ({ payload }) => hear.ask(payload)),
        listen<string>("open-pane", ({ payload }) => hear.open(payload)),
      ]);
      return () => stops.forEach((stop) => stop());
    },
  };
}

/** Returns the host for a browser page opened with `#token=…`. */
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
      const connect = async () => {
        try {
          const news = await fetch(`${base}/v1/events`, { headers, signal: stop.signal });
          return news.ok ? news : null;
        } catch (reason) {
          // No toast: the next command will report the error.
          if (!stop.signal.aborted) console.warn("no news from the engine:", reason);
          return null;
        }
      };
      const first = await connect();
      void (async () => {
        let news = first;
        for (;;) {
          if (news) await follow(news, hear, stop.signal);
          if (stop.signal.aborted) return;
          await new Promise((done) => setTimeout(done, RECONNECT_MS));
          news = await connect();
          // Nobody has told what happened in between.
          if (news) hear({ event: "missed" });
        }
      })();
      return () => stop.abort();
    },
    links: () => Promise.resolve(() => {}),
    requests: () => Promise.resolve(() => {}),
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

/** Returns whether this is the desktop app and not a browser. */
export const inApp = (): boolean => "__TAURI_INTERNALS__" in globalThis;

/** Detects the environment and returns its host. */
export function detectHost(): Host {
  if (inApp()) return windowHost();
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  return loopbackHost(token);
}
