// A conversation with the agent: starts it, follows its steps, cancels it, sends feedback, and reopens it.

import type { Session, Turn } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

export class Conversation {
  /** The session as last received. Replaced as a whole, never mutated. */
  session = $state.raw<Session | null>(null);
  /** The question, known before the engine responds. */
  asked = $state("");
  /** Error of a failed request. The error of a failed turn is part of the turn. */
  error = $state<CommandError | null>(null);
  /** Whether the first response is still pending. */
  sending = $state(false);
  /** Whether feedback is being sent, which takes a while if a model writes starter code. */
  judging = $state(false);
  /** Incremented when a session started elsewhere is shown, so that the input box takes its question. */
  opened = $state(0);

  #command: "sessions_ask" | "sessions_discover" | "sessions_research";
  /** Incremented with each request; only the latest one may update the state. */
  #watch = 0;

  constructor(command: "sessions_ask" | "sessions_discover" | "sessions_research") {
    this.#command = command;
  }

  get turn(): Turn | null {
    return this.session?.turns.at(-1) ?? null;
  }

  get running(): boolean {
    return this.sending || this.turn?.state === "running";
  }

  /** Starts a new session and follows it. */
  async start(question: string): Promise<void> {
    if (this.running) void this.stop();
    await this.#do(async (mine) => {
      [this.session, this.asked, this.sending] = [null, question, true];
      const { session } = await engine.call(this.#command, { question });
      if (mine === this.#watch) await this.#follow(session, 0, mine);
    });
  }

  /** Continues the research of this session: from where it was stopped, or with more rounds. */
  async resume(): Promise<void> {
    const id = this.session?.id;
    if (!id || this.running) return;
    await this.#do(async (mine) => {
      const version = this.session?.version ?? 0;
      this.sending = true;
      await engine.call("sessions_research", { question: "", resume: id });
      if (mine === this.#watch) await this.#follow(id, version, mine);
    });
  }

  /** Shows a loaded session, and follows it if it is still running. */
  async show(session: Session): Promise<void> {
    await this.#do(async (mine) => {
      [this.session, this.asked, this.sending] = [session, session.turns[0]?.asked ?? "", false];
      this.opened++;
      if (this.running) await this.#follow(session.id, session.version, mine);
    });
  }

  /** Sends feedback on the answer. Negative feedback starts another turn, which is followed. */
  async judge(helpful: boolean, said: string): Promise<void> {
    const id = this.session?.id;
    if (!id) return;
    await this.#do(async (mine) => {
      this.judging = true;
      const session = await engine.call("sessions_feedback", { session: id, helpful, said });
      if (mine !== this.#watch) return;
      [this.session, this.judging] = [session, false];
      if (this.running) await this.#follow(id, session.version, mine);
    });
  }

  async stop(): Promise<void> {
    const id = this.session?.id;
    if (!id) return;
    try {
      const session = await engine.call("sessions_cancel", { session: id });
      if (this.session?.id === id && session.version > this.session.version) this.session = session;
    } catch (reason) {
      engine.showError(reason);
    }
  }

  /** Reloads the session after something else changed it. */
  async refresh(): Promise<void> {
    const id = this.session?.id;
    if (!id) return;
    const session = await engine.call("sessions_get", { session: id });
    if (this.session?.id === id) this.session = session;
  }

  clear(): void {
    this.#watch++;
    [this.session, this.asked, this.error, this.sending, this.judging] = [null, "", null, false, false];
  }

  async #do(work: (mine: number) => Promise<void>): Promise<void> {
    const mine = ++this.#watch;
    this.error = null;
    try {
      await work(mine);
    } catch (reason) {
      if (mine === this.#watch) this.error = CommandError.from(reason);
    } finally {
      if (mine === this.#watch) [this.sending, this.judging] = [false, false];
    }
  }

  async #follow(id: string, version: number, mine: number): Promise<void> {
    for (let after = version; mine === this.#watch;) {
      const session = await engine.call("sessions_wait", { session: id, after });
      if (mine !== this.#watch) return;
      [this.session, this.sending, after] = [session, false, session.version];
      if (session.turns.at(-1)?.state !== "running") return;
    }
  }
}

/** The conversation in Ask. Global, so that other panes can reopen a session there. */
export const asking = new Conversation("sessions_ask");
/** The conversation in Discover. */
export const discovering = new Conversation("sessions_discover");
/** The research in Discover. */
export const researching = new Conversation("sessions_research");
