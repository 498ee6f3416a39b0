/** The observations of a campaign of designs, one row each. */
import { DATE_UNIT } from "../tables/cell-type.js";
import { columnOfNumbers, columnOfTexts, type Table, tableOfColumns } from "../tables/table.js";
import type { NamedNumbers, Observation } from "../workflows/run-policy.js";
import type { AskedBody, LogEvent, ToldBody } from "./events.js";
import type { DesignContent, LoadedCampaign } from "./loaded-campaign.js";

interface ObservedRow extends Observation {
  readonly participant: string;
  readonly step: number;
  /** What was asked for, where something else was used. */
  readonly asked: NamedNumbers | undefined;
  readonly unasked: boolean;
  readonly askedAt: number | undefined;
  readonly answeredAt: number | undefined;
  readonly corrections: number;
}

const isSame = (a: NamedNumbers, b: NamedNumbers): boolean =>
  Object.keys(a).every((name) => a[name] === b[name]);

const observedRow = (
  participant: string,
  step: number,
  observation: Observation,
  events: readonly LogEvent[],
): ObservedRow => {
  const ofStep = <Body extends { readonly step?: number | undefined }>(kinds: readonly string[]) =>
    events.flatMap(({ kind, at, seq, body }) => {
      const said = kinds.includes(kind) && body !== null ? (JSON.parse(body) as Body) : undefined;
      return said === undefined || (said.step ?? 0) !== step ? [] : [{ kind, at, seq, said }];
    });
  const told = ofStep<ToldBody>(["told", "corrected"]);
  const ask = ofStep<AskedBody>(["asked"]).findLast(({ seq }) => seq < (told[0]?.seq ?? Infinity));
  const asked = ask?.said.design;
  return {
    participant,
    step,
    ...observation,
    asked: asked === undefined || isSame(asked, observation.design) ? undefined : asked,
    unasked: told[0]?.said.unasked === true,
    askedAt: ask?.at,
    answeredAt: told[0]?.at,
    corrections: told.filter(({ kind }) => kind === "corrected").length,
  };
};

const MS_PER_DAY = 86_400_000;

/**
 * `participant`, `step` (from 0), `design_…`, `outcome_…`; `asked_design_…` where another design was used than was asked for;
 * `reason` (policy, or unasked), `asked_at` and `answered_at` in UTC, and `corrections`.
 */
export const designExport = (now: LoadedCampaign, { state, model }: DesignContent): Table => {
  const rows = [...state.participants()].flatMap(([participant, { history }]) => {
    const events = now.eventsAbout(participant);
    return history.map((observation, step) => observedRow(participant, step, observation, events));
  });
  const numbers = (name: string, of: (row: ObservedRow) => number | undefined) =>
    columnOfNumbers(
      name,
      rows.map((row) => of(row) ?? Number.NaN),
    );
  const moments = (name: string, of: (row: ObservedRow) => number | undefined) => ({
    ...numbers(name, (row) => {
      const time = of(row);
      return time === undefined ? undefined : time / MS_PER_DAY;
    }),
    unit: DATE_UNIT,
  });
  const texts = (name: string, of: (row: ObservedRow) => string) => columnOfTexts(name, rows.map(of));
  const designs = model.design.map(({ name }) => name);
  return tableOfColumns(
    [
      texts("participant", ({ participant }) => participant),
      numbers("step", ({ step }) => step),
      ...designs.map((name) => numbers(`design_${name}`, ({ design }) => design[name])),
      ...model.outcomes.map((name) => numbers(`outcome_${name}`, ({ outcome }) => outcome[name])),
      ...designs.map((name) => numbers(`asked_design_${name}`, ({ asked }) => asked?.[name])),
      texts("reason", ({ unasked }) => (unasked ? "unasked" : "policy")),
      moments("asked_at", ({ askedAt }) => askedAt),
      moments("answered_at", ({ answeredAt }) => answeredAt),
      numbers("corrections", ({ corrections }) => corrections),
    ],
    { name: now.name },
  );
};
