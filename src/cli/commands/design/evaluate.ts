/** `fairbed design evaluate`: what a policy's experiments tell, in nats, between bounds. */
import { unitOf } from "../../../core/information-unit.js";
import { deviceTexts } from "../../../workflows/device.js";
import { EVALUATION_DEFAULTS } from "../../../workflows/evaluation-defaults.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import { deviceOption } from "../../device-option.js";
import { argument, flag, integer, optionalReal } from "../../options.js";
import { evaluationOptions } from "./evaluation-options.js";
import { againstOption, modelOptions } from "./model-options.js";
import { reportTable } from "./report-table.js";

export const evaluateTexts = {
  otherNumbers:
    "the policy was made for this model with other numbers (another prior, say): these are its bounds under the model given here.",
};

export const evaluate = defineCommand({
  name: "design evaluate",
  group: "Design",
  summary: "bound what a policy tells and gives away",
  examples: [
    {
      line: "design evaluate policy.json",
      description: "how much it tells about the target, and gives away",
    },
    {
      line: "design evaluate designs.json --model location --exact --json",
      description: 'a plain {"designs": [[x, y], ...]}, without inner samples',
    },
    {
      line: "design evaluate policy.json --parity",
      description: "also whether predictions from the data treat groups alike",
    },
  ],
  arguments: { policy: argument("a policy file, or a list of designs") },
  options: {
    ...modelOptions,
    ...evaluationOptions,
    exact: flag("--exact", "without inner samples: exact by closed form or enumeration, else by quadrature"),
    parity: flag("--parity", "also whether demographic parity follows for what is learnt from the data"),
    beta: optionalReal(
      "--beta <number>",
      `what leakage costs in the objectives; the policy's, or ${EVALUATION_DEFAULTS.beta}`,
      { min: 0 },
    ),
    against: againstOption,
    seed: integer("--seed <number>", "random seed", EVALUATION_DEFAULTS.seed, { min: 0 }),
    device: deviceOption,
    bits: bitsOption,
  },
  reportsProgress: true,
  async run({ arguments: { policy: path }, options, context }) {
    const { readPolicy } = await import("./read-policy.js");
    const { modelsAgainst, optionsAgainst } = await import("./named-model.js");
    const { evaluatePolicy } = await import("../../../workflows/evaluate-policy.js");
    const { file, policy, loaded, match } = await readPolicy(path, options);
    const { outer, inner, batches, exact, parity, beta, seed, device } = options;
    const bar = context.progress("evaluating", 100);
    const report = await evaluatePolicy(loaded.model, file, {
      ...{ outer, inner, batches, exact, parity, beta, seed, device },
      against: await modelsAgainst(loaded.source, optionsAgainst(options.against)),
      signal: context.signal,
      onProgress: ({ done, total }) => bar.update(Math.round((100 * done) / total)),
    });
    const notes = match === "differs" ? [evaluateTexts.otherNumbers] : [];
    return {
      unit: "nats",
      policy: { file: path, kind: policy.kind, horizon: policy.horizon },
      model: { name: loaded.identity.name, options: loaded.identity.options },
      ...report,
      warnings: [...notes, ...report.warnings],
    };
  },
  print: ({ policy, model, ...report }, { bits }) =>
    [
      `${policy.file}: ${policy.kind}, ${policy.horizon} observations, model ${model.name}`,
      report.method === "nested sampling"
        ? `By nested sampling: ${report.samples.batches} batches of ${report.samples.outer} experiments, ${report.samples.inner} inner samples.`
        : report.exact
          ? `By ${report.method}: exact.`
          : `By ${report.method}: ${report.samples.batches * report.samples.outer} of them; the bounds are 95 % intervals.`,
      ...(report.device === undefined ? [] : [deviceTexts.used(report.device)]),
      "",
      ...reportTable(report, unitOf(bits)),
    ].join("\n"),
});
