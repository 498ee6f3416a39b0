/** Each result of the page as the files that the command line writes of it. */
import { encodePolicy, type PolicyFile } from "../../design/policy-file.js";
import { auditCertificate } from "../../report/audit-certificate.js";
import { hashOfBytes, hashOfNumbers } from "../../report/audit-input-hash.js";
import { auditHtml } from "../../report/audit-report.js";
import { planReport } from "../../report/plan-report.js";
import { toCsv } from "../../tables/csv.js";
import type { Table } from "../../tables/table.js";
import type { Recipe } from "../../workflows/recipe.js";
import type { AskedAudit } from "../audit-run.svelte.js";
import { FILES, hasOtherRecipe } from "../exported.js";
import { kept } from "../kept.js";
import type { OpenTable } from "../open-table.js";
import type { AskedPlan } from "../plan-run.svelte.js";
import { taskOf } from "../roles.js";

export interface ExportFile {
  readonly name: string;
  readonly text: string;
  /** What it is, in a sentence. */
  readonly about: string;
}

export const exportFileTexts = {
  table: "The built-in example, as a table.",
  report: "What the table gives away, for readers who are no statisticians. It needs no other file.",
  certificate: "What it takes to get the numbers of the report again, and those numbers.",
  plan: "Which recipes were tried out for the parity that is wanted, and which is recommended.",
  recipe: "How to ask for labels and what to make of them: fairbed rank, acquire, fit and campaign take it.",
  plannedRecipe: "The recipe that the plan recommends for the parity that it was asked for.",
  policy: "The designs, with the bounds that they reach: fairbed design evaluate and next take it.",
  model: "The model, without a row of the table: fairbed predict takes it.",
};

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

async function* piecesOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

export const tableFile = (table: Table): ExportFile => ({
  name: table.name,
  text: toCsv(table),
  about: exportFileTexts.table,
});

/** Of the file's bytes; of what is learnt from where this browser keeps no file. */
const hashOf = async (
  table: Table,
  source: OpenTable["source"],
  { roles, audit }: AskedAudit,
): Promise<string> => {
  const file =
    source === "example" ? new Blob([toCsv(table)]) : await kept<File>("file").catch(() => undefined);
  if (file !== undefined) return hashOfBytes(piecesOf(file));
  const { bins } = audit.settings;
  return hashOfNumbers("table", { table, roles: taskOf(roles), bins, second: undefined, test: undefined });
};

export const auditFiles = async (
  table: Table,
  source: OpenTable["source"],
  asked: AskedAudit,
): Promise<readonly ExportFile[]> => {
  const sha256 = await hashOf(table, source, asked);
  const certificate = auditCertificate(
    asked.audit,
    [{ role: "table", name: table.name, rows: table.rows, sha256 }],
    { exclude: asked.roles.exclude, task: undefined },
  );
  const text = await auditHtml({ ...asked.audit, givenTarget: false, bits: false, certificate });
  return [
    { name: FILES.report, text, about: exportFileTexts.report },
    { name: FILES.certificate, text: jsonText(certificate), about: exportFileTexts.certificate },
  ];
};

export const recipeFile = (recipe: Recipe): ExportFile => ({
  name: FILES.recipe,
  text: jsonText(recipe),
  about: exportFileTexts.recipe,
});

export const planFiles = async (
  name: string,
  asked: AskedPlan,
  recipe: Recipe | undefined,
): Promise<readonly ExportFile[]> => {
  const {
    choice: { roles },
    plan,
  } = asked;
  const isOther = hasOtherRecipe({ plan: asked, recipe });
  const own = isOther ? FILES.plannedRecipe : FILES.recipe;
  const sources = { table: name, target: roles.target, sensitive: roles.sensitive, recipe: own };
  return [
    { name: FILES.plan, text: await planReport({ plan, name, sources }), about: exportFileTexts.plan },
    ...(isOther ? [{ name: own, text: jsonText(plan.recipe), about: exportFileTexts.plannedRecipe }] : []),
  ];
};

export const modelFile = (text: string): ExportFile => ({
  name: FILES.model,
  text,
  about: exportFileTexts.model,
});

/** Of designs that were chosen ahead: such a file is text. */
export const policyFile = (policy: PolicyFile): ExportFile => ({
  name: FILES.policy,
  text: new TextDecoder().decode(encodePolicy(policy)),
  about: exportFileTexts.policy,
});
