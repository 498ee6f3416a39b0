/** A plan as one HTML page, for whoever decides how data are collected. */

import { type InformationUnit, NATS, summaryIn } from "../core/information-unit.js";
import { fixed, percent } from "../core/number-text.js";
import type { ParityPlan } from "../workflows/parity-plan.js";
import { estimateInWords, METRIC_NAMES } from "../workflows/plan-answer.js";
import type { PlannedRecipe } from "../workflows/planned-recipe.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";
import { commandLines, type PlanSources } from "./plan-commands.js";
import { compositionPicture, curvePictures, frontierPicture, type PlanPicture } from "./plan-summary.js";
import { renderSvg } from "./render.js";

export interface PlanReport {
  readonly plan: ParityPlan;
  /** What the table is called. */
  readonly name: string;
  readonly sources: PlanSources;
  /** How long it took; not said unless given. */
  readonly seconds?: number | undefined;
  /** In which leakage is shown (nats). */
  readonly unit?: InformationUnit | undefined;
}

const number = (value: number): string => fixed(value, 3);
const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

const RATES = { dp: "selection rate", eopp: "true positive rate" } as const;

export const planReport = async ({
  plan,
  name,
  sources,
  seconds,
  unit = NATS,
}: PlanReport): Promise<string> => {
  const { answer, requirement, rows, target, sensitive, notes, rounds, cut } = plan;
  const { metric, level, labels } = requirement;
  const title = "How to reach parity at the least cost";
  const [frontier, curves, composition] = await Promise.all([
    drawn(frontierPicture(plan)),
    Promise.all(curvePictures(plan).map(drawn)),
    drawn(compositionPicture(plan)),
  ]);
  return page(title, [
    html`<h1>${title}</h1>`,
    ...(answer.unmet === null ? [] : [html`<p class="warning"><strong>${answer.unmet}</strong></p>`]),
    html`<p class="lead">${name}: of the groups of ${sensitive}, the lowest ${RATES[metric]} is to be at least ${level}
times the highest (${METRIC_NAMES[metric]}), for ${target} and with ${labels} labels.</p>`,
    html`<p class="note"><strong>Do this.</strong> ${answer.recommendation} ${answer.reached}</p>`,
    ...answer.warnings.map((text) => html`<p class="warning">${text}</p>`),
    html`<p>${answer.labels}</p>`,
    html`<p>${answer.random}</p>`,
    ...notes.map((text) => html`<p class="${cut === null ? "note" : "warning"}">${sentence(text)}</p>`),
    html`<h2>Accuracy against parity</h2>`,
    frontier,
    html`<h2>How many labels</h2>`,
    ...curves,
    html`<h2>The recipes that were compared to the end</h2>`,
    recipeTable(
      plan,
      plan.recipes.filter(({ finalist }) => finalist),
    ),
    html`<p>Means over seeds on ${rows.outer} rows that no choice saw, with 95 % intervals for both: other seeds, and other
such rows. The rule is set to a level of its own, found on the rows that choices were made on, because what it reaches on
other people is seldom what it was set to. Of recipes within a standard error of the best, the simplest is recommended.</p>`,
    html`<h2>Whom they asked, and what the labels give away</h2>`,
    composition,
    setTable(plan, unit),
    html`<p>Leakage is what a model that learns the group from the acquired labels can tell about the group of others, at the
population's shares: in ${unit.name}, and as the chance to tell a member of one group from one of another (AUC, 0.5 is a guess).</p>`,
    ...plan.sets.flatMap(({ name: recipe, warnings }) =>
      warnings.map((text) => html`<p class="warning">${recipe}: ${sentence(text)}</p>`),
    ),
    html`<h2>Go on</h2>`,
    ...commandLines(plan, sources).map(
      ({ line, description }) =>
        html`<p>${sentence(description).replace(/\.$/, ":")}<br><code>${line}</code></p>`,
    ),
    html`<h2>All that was tried</h2>`,
    html`<p>${rounds
      .map(({ recipes, seeds, labels: count }) => `${recipes} recipes on ${seeds} seeds with ${count} labels`)
      .join(
        ", then ",
      )}. The table has ${rows.table} rows; each simulation had ${rows.pool} candidates, choices were made on
${rows.inner} rows and what is reported comes from ${rows.outer} others.</p>`,
    recipeTable(
      plan,
      plan.recipes.filter(({ finalist }) => !finalist),
    ),
    html`<footer>fairbed plan${seconds === undefined ? "" : `, ${fixed(seconds, 0)} s`}; recipe format ${plan.recipe.format}</footer>`,
  ]);
};

const recipeTable = ({ requirement, recommended }: ParityPlan, recipes: readonly PlannedRecipe[]): Html =>
  htmlTable(
    ["recipe", "labels", "seeds", "rule set to", "accuracy", METRIC_NAMES[requirement.metric]],
    recipes.map(({ id, name, labels, seeds, fit, outer }) => [
      id === recommended.id ? `${name} (recommended)` : name,
      String(labels),
      String(seeds),
      fit.rule === undefined ? "no rule" : fixed(fit.rule.level, 2),
      seeds < FEW_SEEDS ? number(outer.accuracy.mean) : estimateInWords(outer.accuracy),
      seeds < FEW_SEEDS ? number(outer.parity.mean) : estimateInWords(outer.parity),
    ]),
  );

/** An interval over fewer seeds says nothing. */
const FEW_SEEDS = 4;

const drawn = async ({ specification, caption }: PlanPicture): Promise<Html> =>
  figure(await renderSvg(specification), caption);

const setTable = ({ sets, composition, target }: ParityPlan, unit: InformationUnit): Html => {
  const share = (mean: number | null): string => (mean === null ? "none" : percent(mean));
  return htmlTable(
    [
      `${target}, group`,
      ...composition.cells.map(({ group, outcome }) => `${outcome}, ${group}`),
      `leakage (${unit.name})`,
      "group guessed (AUC)",
    ],
    [
      ["all candidates", ...composition.cells.map(({ population }) => percent(population)), "", ""],
      ...sets.map(({ name, composition: { cells }, leakage }) => [
        name,
        ...cells.map(({ acquired }) => share(acquired.mean)),
        estimateInWords(summaryIn(leakage.nats, unit)),
        estimateInWords(leakage.auc),
      ]),
    ],
  );
};
