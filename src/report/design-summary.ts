/** What designs tell and give away, in sentences, and as a frontier. */
import type { InformationUnit } from "../core/information-unit.js";
import { listed } from "../core/list-in-words.js";
import { between, fixed } from "../core/number-text.js";
import type { InformationEstimate } from "../design/evidence-samples.js";
import type { Role } from "../design/model.js";
import type { ObjectiveKind } from "../design/quantity.js";
import type { DesignFrontierPoint } from "../workflows/design-frontier.js";
import type { LiveInformation } from "../workflows/live-design.js";
import type { FrontierRow } from "./design-charts.js";

interface Named {
  readonly name: string;
  readonly role: Role;
}

export interface DesignWording {
  readonly parameters: readonly Named[];
  readonly objective: ObjectiveKind;
  readonly unit: InformationUnit;
}

/** The parameters of a role, as a list in a sentence. */
export const partNamed = (parameters: readonly Named[], role: Role): string =>
  listed(parameters.filter((each) => each.role === role).map(({ name }) => name));

/** Information is never below 0: what sampling takes below is no sign of it. */
const atLeastNone = ([low, high]: readonly [number, number]): [number, number] => [
  Math.max(0, low),
  Math.max(0, high),
];

/** An information in a unit: its middle and its interval, both never below 0. */
export const shownInformation = (
  { lower, upper, interval }: InformationEstimate,
  { of }: InformationUnit,
): { readonly middle: number; readonly bounds: [number, number]; readonly interval: [number, number] } => {
  const [low, high] = atLeastNone([of(lower), of(upper)]);
  return {
    middle: (low + high) / 2,
    bounds: [low, high],
    interval: atLeastNone([of(interval[0]), of(interval[1])]),
  };
};

/** As `0.85 nats (0.80 to 0.89)`; without an interval where nothing was sampled. */
export const informationText = (
  estimate: InformationEstimate,
  unit: InformationUnit,
  { exact }: Pick<LiveInformation, "exact">,
): string => {
  const { middle, interval } = shownInformation(estimate, unit);
  return `${fixed(middle, 2)} ${unit.name}${exact ? "" : ` (${between(interval, 2)})`}`;
};

/** What is left of the information once leakage is paid for; that may be less than nothing. */
export const worthText = (
  { objective: { lower, upper, interval }, exact }: Pick<LiveInformation, "objective" | "exact">,
  { of, name }: InformationUnit,
): string =>
  `${fixed(of((lower + upper) / 2), 2)} ${name}${exact ? "" : ` (${between([of(interval[0]), of(interval[1])], 2)})`}`;

/** What is told about the target, and what is given away, in one sentence. */
export const designAnswer = (
  information: LiveInformation,
  observations: number,
  { parameters, objective, unit }: DesignWording,
): string => {
  const [target, sensitive] = [partNamed(parameters, "target"), partNamed(parameters, "sensitive")];
  const leak = objective === "conditional" ? information.sensitiveGivenTarget : information.sensitive;
  const known = objective === "conditional" ? ` once ${target} is known` : "";
  const many = observations === 1 ? "This observation tells" : `These ${observations} observations tell`;
  const away = observations === 1 ? "gives away" : "give away";
  return `${many} ${informationText(information.target, unit, information)} about ${target} and ${away} ${informationText(leak, unit, information)} about ${sensitive}${known}.`;
};

const middle = ({ lower, upper, standardError }: InformationEstimate) => ({
  mean: (lower + upper) / 2,
  standardError,
});

/** Points of a frontier as the chart takes them. */
export const frontierRows = (points: readonly DesignFrontierPoint[]): readonly FrontierRow[] =>
  points.map(({ beta, horizon, target, sensitive, sensitiveGivenTarget }) => ({
    beta,
    horizon,
    target: middle(target),
    sensitive: middle(sensitive),
    sensitiveGivenTarget: middle(sensitiveGivenTarget),
  }));
