// The trace of a turn as people read it: events gathered into steps.

import type { Outcome, Step, StepEvent, Trace } from "./bindings";

/** One step of the agent with all that was told about it. */
export interface StepView {
  step: Step;
  name: string;
  /** None while it is at work, and when it was stopped. */
  outcome: Outcome | null;
  text: string;
  /** The model that did it; none when it ran on this machine by rules. */
  model: string | null;
  tokens: [number, number];
  ms: number;
  /** Thoughts, actions and observations on the web. */
  inner: Trace[];
}

export type Tone = "good" | "warn" | "plain";

const STEPS: Record<Step, string> = {
  search: "Search the library",
  generate: "Write an answer",
  grade_grounded: "Check what supports it",
  grade_answers: "Check that it answers",
  rewrite: "Say it in other words",
  web: "Look on the web",
  finalize: "Hand the answer over",
  feedback: "Your word on it",
  add: "Propose a card",
};

const OUTCOMES: Record<Outcome, { name: string; tone: Tone }> = {
  found: { name: "found", tone: "good" },
  nothing: { name: "nothing found", tone: "warn" },
  written: { name: "written", tone: "good" },
  grounded: { name: "supported", tone: "good" },
  ungrounded: { name: "not supported", tone: "warn" },
  answers: { name: "answers", tone: "good" },
  misses: { name: "misses", tone: "warn" },
  rewritten: { name: "rewritten", tone: "plain" },
  exhausted: { name: "no more tries", tone: "warn" },
  delivered: { name: "ready", tone: "good" },
  helpful: { name: "helps", tone: "good" },
  unhelpful: { name: "does not help", tone: "warn" },
  wanted: { name: "wanted", tone: "plain" },
  proposed: { name: "proposed", tone: "good" },
};

export function outcomeOf(outcome: Outcome): { name: string; tone: Tone } {
  return OUTCOMES[outcome];
}

/** Events gathered into steps. A step ends with its result; what is told in between is inside it. */
export function stepsOf(events: StepEvent[]): StepView[] {
  const steps: StepView[] = [];
  let open: StepView | null = null;
  for (const { step, phase, text, model, tokens, ms } of events) {
    if (!open || open.step !== step || phase.kind === "start") {
      open = { step, name: STEPS[step], outcome: null, text: "", model: null, tokens: [0, 0], ms: 0, inner: [] };
      steps.push(open);
    }
    open.ms = ms;
    if (phase.kind === "trace") {
      open.inner.push(phase.trace);
    } else {
      open.text = text;
      if (phase.kind === "result") {
        Object.assign(open, { outcome: phase.outcome, model, tokens });
        open = null;
      }
    }
  }
  return steps;
}

/** What all steps together used. */
export function totalOf(steps: StepView[]): { ms: number; tokens: number; models: string[] } {
  const models = new Set<string>();
  let [ms, tokens] = [0, 0];
  for (const step of steps) {
    ms += step.ms;
    tokens += step.tokens[0] + step.tokens[1];
    if (step.model) models.add(step.model);
  }
  return { ms, tokens, models: [...models] };
}
