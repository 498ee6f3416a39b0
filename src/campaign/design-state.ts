/** What is known of a campaign of designs: for each participant, what was observed and what was asked. A fold over events. */
import { InputError } from "../core/errors.js";
import type { NamedNumbers, Observation } from "../workflows/run-policy.js";
import type { AskedBody, LogEvent, ToldBody } from "./events.js";

export interface Participant {
  /** Observation by observation, corrections taken in. */
  readonly history: readonly Observation[];
  /** The design that waits for its outcome, and until when. */
  readonly asked:
    | { readonly step: number; readonly design: NamedNumbers; readonly until: number }
    | undefined;
  readonly asks: number;
  readonly corrections: number;
  /** Outcomes of designs that nobody had asked for. */
  readonly unasked: number;
}

export interface DesignState {
  participant(id: string): Participant | undefined;
  participants(): Iterable<readonly [string, Participant]>;
  /** Sequence numbers of events that changed what is known, ascending. */
  readonly changes: readonly number[];
  apply(event: LogEvent): void;
}

export const designTexts = {
  step: (given: unknown, steps: number) =>
    `the outcome is of observation ${String(given)} and ${steps} ${steps === 1 ? "was" : "were"} made: give the next one, ${steps}, or an earlier one to correct it`,
  noDesign:
    "no design was asked for this outcome: ask first, or tell the design that was used together with its outcome",
  participant: "say whose outcome it is with `id`, the participant's",
  done: (horizon: number) =>
    `all ${horizon} observations of this participant are made: begin with another one`,
  outcome: "an answer in a campaign of designs is an outcome: give `outcome`, a number or numbers by name",
};

const NEW: Participant = { history: [], asked: undefined, asks: 0, corrections: 0, unasked: 0 };

export const createDesignState = (): DesignState => {
  const participants = new Map<string, Participant>();
  const changes: number[] = [];
  return {
    participant: (id) => participants.get(id),
    participants: () => participants.entries(),
    changes,
    apply({ kind, subject, body, seq }) {
      if (body === null || subject === null) return;
      const own = participants.get(subject) ?? NEW;
      if (kind === "asked") {
        const { step = 0, design = {}, until } = JSON.parse(body) as AskedBody;
        participants.set(subject, { ...own, asked: { step, design, until }, asks: own.asks + 1 });
      } else if (kind === "told" || kind === "corrected") {
        const { step = 0, design = {}, outcome = {}, unasked } = JSON.parse(body) as ToldBody;
        changes.push(seq);
        const history = [...own.history];
        history[step] = { design, outcome };
        participants.set(subject, {
          ...own,
          history,
          asked: own.asked?.step === step ? undefined : own.asked,
          corrections: own.corrections + Number(kind === "corrected"),
          unasked: own.unasked + Number(unasked === true),
        });
      }
    },
  };
};

/** Which observation an outcome is of, and the design that it belongs to. */
export const outcomePlace = (
  own: Participant | undefined,
  given: { readonly step?: number | undefined; readonly design?: NamedNumbers | undefined },
  horizon: number,
): {
  readonly step: number;
  readonly design: NamedNumbers;
  readonly corrects: boolean;
  readonly unasked: boolean;
} => {
  const { history, asked } = own ?? NEW;
  const step = given.step ?? history.length;
  if (!Number.isInteger(step) || step < 0 || step > history.length) {
    throw new InputError("step", designTexts.step(step, history.length));
  }
  if (step >= horizon) throw new InputError("step", designTexts.done(horizon));
  const waits = asked?.step === step;
  const design = given.design ?? (waits ? asked.design : history[step]?.design);
  if (design === undefined) throw new InputError("design", designTexts.noDesign);
  return { step, design, corrects: step < history.length, unasked: !waits && step === history.length };
};
