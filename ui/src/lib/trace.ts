// The trace of a turn for display: events grouped into steps.

import type { Outcome, Step, StepEvent, Trace } from "./bindings";
import { ask as texts } from "../texts/ask";

/** A step of the agent with all of its events. */
export interface StepView {
  step: Step;
  name: string;
  /** `null` while the step is running or if it was cancelled. */
  outcome: Outcome | null;
  text: string;
  /** The model that was used; `null` for a step that runs locally by rules. */
  model: string | null;
  tokens: [number, number];
  ms: number;
  /** Thoughts, actions and observations of the web search. */
  inner: Trace[];
}

export type Tone = "good" | "warn" | "plain";

const OUTCOMES: Record<Outcome, { name: string; tone: Tone }> = {
  found: { name: texts.outcomes.found, tone: "good" },
  nothing: { name: texts.outcomes.nothing, tone: "warn" },
  written: { name: texts.outcomes.written, tone: "good" },
  grounded: { name: texts.outcomes.grounded, tone: "good" },
  ungrounded: { name: texts.outcomes.ungrounded, tone: "warn" },
  answers: { name: texts.outcomes.answers, tone: "good" },
  misses: { name: texts.outcomes.misses, tone: "warn" },
  rewritten: { name: texts.outcomes.rewritten, tone: "plain" },
  exhausted: { name: texts.outcomes.exhausted, tone: "warn" },
  delivered: { name: texts.outcomes.delivered, tone: "good" },
  helpful: { name: texts.outcomes.helpful, tone: "good" },
  unhelpful: { name: texts.outcomes.unhelpful, tone: "warn" },
  wanted: { name: texts.outcomes.wanted, tone: "plain" },
  proposed: { name: texts.outcomes.proposed, tone: "good" },
};

export function outcomeOf(outcome: Outcome): { name: string; tone: Tone } {
  return OUTCOMES[outcome];
}

/** Groups events into steps. A result ends a step; trace events before it belong to the step. */
export function stepsOf(events: StepEvent[]): StepView[] {
  const steps: StepView[] = [];
  let open: StepView | null = null;
  for (const { step, phase, text, model, tokens, ms } of events) {
    if (!open || open.step !== step || phase.kind === "start") {
      open = { step, name: texts.steps[step], outcome: null, text: "", model: null, tokens: [0, 0], ms: 0, inner: [] };
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

/** Sums up the time, tokens and models of all steps. */
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
