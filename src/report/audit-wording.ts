/** What an audit found, in sentences for someone who is not a statistician. */
import { type InformationUnit, unitOf } from "../core/information-unit.js";
import { fixed, percent, shortest, significant } from "../core/number-text.js";
import type { Interval } from "../core/stats.js";
import type { LeakageFigures, ParityAudit } from "../fairness/leakage.js";
import type { AttributeAudit } from "../workflows/audit-table.js";

export { unitOf };
export type Unit = InformationUnit;

/** Three decimals, or two digits where that would be 0. */
export const short = (value: number): string =>
  Math.abs(value) >= 0.001 || value === 0
    ? fixed(value, Math.abs(value) < 0.01 ? 4 : 3)
    : significant(value, 1);
export const between = ([low, high]: Interval, of: (x: number) => number = (x) => x): string =>
  `${short(of(low))} to ${short(of(high))}`;
export const chance = (p: number): string => (p < 0.001 ? "below 0.001" : fixed(p, 3));
/** After "p": "= 0.031", or "below 0.001". */
const atMost = (p: number): string => (p < 0.001 ? chance(p) : `= ${chance(p)}`);
export const levelInWords = (level: number): string => `${shortest(100 * level, 4)} %`;

const MOST_NAMED = 4;

/** Which groups have which value more or less often than all others. */
const differing = (test: ParityAudit["baseRateTest"]): string => {
  const named = test?.differing ?? [];
  if (named.length === 0) return "";
  const shown = named
    .slice(0, MOST_NAMED)
    .map(
      ({ group, target, rate, others }) =>
        `"${target}" for ${percent(rate)} of ${group} and ${percent(others)} of the others`,
    );
  const rest = named.length - shown.length;
  return `: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
};

export const auditTexts = {
  found: (
    unit: Unit,
    { nats, interval, entropy, winner, heldOut }: LeakageFigures,
    attribute: string,
    extra: string,
  ): string =>
    `The other columns${extra} give away ${short(unit.of(nats))} ${unit.name} per record about ${attribute} (${between(interval, unit.of)}): ${percent(nats / entropy)} of all there is to know about it. This is what ${winner}, the adversary that found most on held-out rows (${short(unit.of(heldOut.nats))}; ${between(heldOut.interval, unit.of)}), is estimated to reach with unlimited rows.`,
  noneFound: (unit: Unit, { pValue, detectable }: LeakageFigures, attribute: string, extra: string): string =>
    `No leakage about ${attribute} was found in the other columns${extra} (p = ${chance(pValue)}). ${auditTexts.detectable(unit, detectable)}`,
  detectable: (unit: Unit, detectable: number | undefined): string =>
    detectable === undefined
      ? "There are too few rows to detect one with any certainty, so this does not mean that there is none."
      : `With this many rows, a leakage of ${short(unit.of(detectable))} ${unit.name} per record would be detected four times out of five; a smaller one could go unnoticed.`,
  differ: ({ baseRateTest }: Pick<ParityAudit, "baseRateTest">): string =>
    `The groups differ in how often the target has its values (p ${atMost(baseRateTest?.pValue ?? 0)}, all groups and values together)${differing(baseRateTest)}. A predictor that is any good can then not satisfy both demographic parity (each group is selected equally often) and equalised odds (each group has the same error rates): the two contradict each other unless the predictor ignores what it is given. You have to choose. Demographic parity fits where the difference in the target is itself an injustice that predictions should not carry on; equalised odds fits where the target is right as recorded and the errors should fall on everyone alike.`,
  unclear: ({ baseRateTest }: Pick<ParityAudit, "baseRateTest">): string =>
    `These rows do not show that the groups differ in how often the target has its values (p ${atMost(baseRateTest?.pValue ?? 1)}, all groups and values together). If they do not, demographic parity and equalised odds can both hold; if they do, no predictor that is any good satisfies both, and you would have to choose.`,
  unknown:
    "Whether the groups differ in how often the target is positive could not be estimated. Where they do, no predictor that is any good satisfies both demographic parity and equalised odds.",
};

export const wasFound = ({ pValue }: Pick<LeakageFigures, "pValue">): boolean => pValue < 0.05;

const GIVEN = ", once the target is known,";

/** The one sentence about a leakage; "none found" comes with what could have been. */
export const verdict = (
  leakage: LeakageFigures,
  attribute: string,
  bits: boolean,
  givenTarget: boolean,
): string => {
  const extra = givenTarget ? GIVEN : "";
  return wasFound(leakage)
    ? auditTexts.found(unitOf(bits), leakage, attribute, extra)
    : auditTexts.noneFound(unitOf(bits), leakage, attribute, extra);
};

/** Every sentence about every attribute, the one that was asked for first. */
export const verdictsOf = ({
  attributes,
  bits,
  givenTarget,
}: {
  readonly attributes: readonly AttributeAudit[];
  readonly bits: boolean;
  readonly givenTarget: boolean;
}): string[] =>
  attributes.flatMap(({ name, audit: { leakage }, parity }) => {
    const { unconditional, conditional } = leakage;
    const said = [
      verdict(unconditional, name, bits, false),
      ...(conditional === undefined ? [] : [verdict(conditional, name, bits, true)]),
    ];
    return [...(givenTarget ? said.reverse() : said), impossibility(parity)];
  });

export const impossibility = (parity: ParityAudit): string =>
  parity.baseRates === "differ"
    ? auditTexts.differ(parity)
    : parity.baseRates === "unclear"
      ? auditTexts.unclear(parity)
      : auditTexts.unknown;
