/** What a policy reaches, for a person. */
import type { InformationUnit } from "../../../core/information-unit.js";
import { fixed, withError } from "../../../core/number-text.js";
import type { InformationEstimate } from "../../../design/estimate.js";
import { INFORMATION_NAMES, type InformationName } from "../../../design/quantity.js";
import type { PolicyReport } from "../../../workflows/evaluate-policy.js";
import { rightAligned, short } from "../../text-table.js";

const LABELS: Readonly<Record<InformationName, string>> = {
  target: "information about the target",
  sensitive: "leakage: about the sensitive part",
  sensitiveGivenTarget: "leakage: the same, given the target",
  joint: "information about both",
};

const sentence = (text: string): string => `${text[0].toUpperCase()}${text.slice(1)}.`;

const fairnessTable = (by: NonNullable<PolicyReport["fairness"]>, { of }: InformationUnit): string[] => [
  "",
  ...rightAligned([
    [`worst leakage of ${Object.keys(by.conditional.models).length} models`, "at least", "at most", "error"],
    ...(["unconditional", "conditional"] as const).map((kind) => [
      LABELS[kind === "conditional" ? "sensitiveGivenTarget" : "sensitive"].replace("leakage: ", ""),
      ...(["lower", "upper", "standardError"] as const).map((side) => fixed(of(by[kind].leakage[side]), 4)),
    ]),
  ]),
  `The worst: ${by.unconditional.worst}; given the target, ${by.conditional.worst}.`,
];

/** The bounds for a person. */
export const reportTable = (report: PolicyReport, unit: InformationUnit): string[] => {
  const row = (label: string, { lower, upper, standardError }: InformationEstimate) => [
    label,
    ...[lower, upper, standardError].map((nats) => fixed(unit.of(nats), 4)),
  ];
  const { ratios, beta } = report;
  return [
    ...rightAligned([
      [unit.name, "at least", "at most", "error"],
      ...INFORMATION_NAMES.map((name) => row(LABELS[name], report[name])),
      row(`objective R_c, beta = ${short(beta)}`, report.objectives.conditional),
      row(`objective R_u, beta = ${short(beta)}`, report.objectives.unconditional),
    ]),
    "",
    ...rightAligned([
      ["leakage / information about the target", "at least", "at most", "paper's form"],
      ...(["sensitive", "sensitiveGivenTarget"] as const).map((name) => [
        LABELS[name].replace("leakage: ", ""),
        fixed(ratios[name].interval[0], 3),
        fixed(ratios[name].interval[1], 3),
        withError(ratios[name].paper, ratios[name].paperError),
      ]),
    ]),
    ...(report.fairness === undefined ? [] : fairnessTable(report.fairness, unit)),
    ...(report.parity === undefined ? [] : ["", sentence(report.parity.sentence)]),
    ...report.warnings.flatMap((warning) => ["", `Note: ${warning}`]),
  ];
};
