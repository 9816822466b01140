// A conversation with the agent as the pages follow it: started, watched step by step, stopped,
// judged, reopened.

import type { Session, Turn } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

export class Talk {
  /** As the engine last told it. Replaced as a whole, never changed inside. */
  session = $state.raw<Session | null>(null);
  /** What was asked, known before the engine answers. */
  asked = $state("");
  /** Why a request was refused; why a turn failed stands in the turn. */
  error = $state<CommandError | null>(null);
  /** The first answer is not here yet. */
  sending = $state(false);
  /** What the person said is on its way; starter code by a model takes its time. */
  judging = $state(false);
  /** Grows when a session is shown that was not begun here, so that the box takes its question. */
  opened = $state(0);

  #command: "sessions_ask" | "sessions_discover";
  /** Only the newest watch may write: a slow answer to an earlier one is dropped. */
  #watch = 0;

  constructor(command: "sessions_ask" | "sessions_discover") {
    this.#command = command;
  }

  get turn(): Turn | null {
    return this.session?.turns.at(-1) ?? null;
  }

  get running(): boolean {
    return this.sending || this.turn?.state === "running";
  }

  /** Begins a session of its own and follows it. */
  async start(question: string): Promise<void> {
    if (this.running) void this.stop();
    await this.#do(async (mine) => {
      [this.session, this.asked, this.sending] = [null, question, true];
      const { session } = await engine.call(this.#command, { question });
      if (mine === this.#watch) await this.#follow(session, 0, mine);
    });
  }

  /** Shows a session that was fetched, and follows it if it is still at work. */
  async show(session: Session): Promise<void> {
    await this.#do(async (mine) => {
      [this.session, this.asked, this.sending] = [session, session.turns[0]?.asked ?? "", false];
      this.opened++;
      if (this.running) await this.#follow(session.id, session.version, mine);
    });
  }

  /** Says whether the answer helps. A no asks again, and that turn is followed. */
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
      engine.complain(reason);
    }
  }

  /** Reads the session anew, after something else changed it. */
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

/** What Ask shows. Outside the pane, so that other places can reopen a session there. */
export const asking = new Talk("sessions_ask");
/** What Discover shows. */
export const discovering = new Talk("sessions_discover");
