/** The options that all mitigations share, and what they read. */
import { MITIGATION_DEFAULTS } from "../../../workflows/mitigation-defaults.js";
import type { OptionValues } from "../../command.js";
import { grouped, integer, outFile, real, text } from "../../options.js";
import { readingOf, readOptions, roleOptions, rolesOf, tableOptions } from "../sources/table-options.js";

// Mitigations are of rows that count the same, so there are no weights.
const { weights: _, target, sensitive, ...otherRoles } = roleOptions;
const D = MITIGATION_DEFAULTS;

export const mitigationOptions = {
  target,
  sensitive,
  privileged: text(
    "--privileged <value>",
    "the privileged group; the one with the most favourable outcomes unless given",
  ),
  test: text("--test <table>", "rows to test on; a part of the table unless given"),
  testFraction: real("--test-fraction <number>", "the share of rows that is tested on", D.testFraction, {
    above: 0,
    max: 0.95,
  }),
  trees: integer("--trees <number>", "trees of each forest", D.trees, { min: 1 }),
  out: outFile("--out <file>", "write what it gives for each row to this CSV file"),
  seed: integer("--seed <number>", "random seed", D.seed, { min: 0 }),
  ...grouped("Columns", { ...otherRoles, task: tableOptions.task }),
  ...grouped("Reading the table", readOptions),
};

type MitigationValues = OptionValues<typeof mitigationOptions>;

/** The table with the test rows below it, and what every workflow is told. */
export const readMitigation = async (path: string | undefined, options: MitigationValues) => {
  const { privileged, test, testFraction, trees, seed } = options;
  const reading = { ...readingOf(options), test, seed };
  const { readWithRoles } = await import("../../../sources/read-task.js");
  const { table, roles, name, testFrom } = await readWithRoles(path, rolesOf(options), reading);
  return { table, name, settings: { ...roles, privileged, testFraction, testFrom, trees, seed } };
};
