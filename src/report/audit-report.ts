/** The audit as one HTML file for someone who is not a statistician. */
import { percent } from "../core/number-text.js";
import type { ComparedLeakage, LeakageEstimate, PredictorParity } from "../fairness/leakage.js";
import type { GapPart } from "../fairness/parity-decomposition.js";
import type { AttributeAudit, AuditComparison, TableAudit } from "../workflows/audit-table.js";
import type { AuditCertificate } from "./audit-certificate.js";
import { allOf } from "./audit-so-far.js";
import {
  type AuditPicture,
  adversariesPicture,
  baseRatesPicture,
  columnsPicture,
  columnsShown,
  gapsPicture,
  groupsShown,
  predictorInWords,
  rateOf,
} from "./audit-summary.js";
import {
  between,
  chance,
  impossibility,
  levelInWords,
  short,
  type Unit,
  unitOf,
  verdict,
  wasFound,
} from "./audit-wording.js";
import { notDrawnInWords } from "./not-drawn.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";
import { renderSvg } from "./render.js";

export interface AuditReport extends TableAudit {
  /** Whether the leakage given the target is the one to look at first. */
  readonly givenTarget: boolean;
  readonly bits: boolean;
  readonly certificate: AuditCertificate;
}

const figureOf = async (picture: AuditPicture | undefined): Promise<Html[]> =>
  picture === undefined ? [] : [figure(await renderSvg(picture.specification), picture.caption)];

const groupsSection = async (attribute: AttributeAudit, target: string, level: string): Promise<Html[]> => {
  const { audit, parity, name } = attribute;
  const tested = audit.groups.some(({ testRows }) => testRows !== undefined);
  const { shown, others } = groupsShown(audit.groups);
  const smaller = { names: others.map((group) => group.name), why: "the smallest; the JSON has them" };
  return [
    html`<h2>Who is in the table</h2>
<p>Groups by ${name}, and how often the target (${target}) is "${parity.positive}" in each.</p>`,
    htmlTable(
      [
        "group",
        "rows",
        "share",
        ...(tested ? ["test rows"] : []),
        `"${parity.positive}"`,
        `${level} interval`,
      ],
      shown.map((group) => {
        const rate = rateOf(group, parity.positive);
        return [
          group.name,
          String(group.rows),
          percent(group.share),
          ...(tested ? [String(group.testRows ?? 0)] : []),
          rate === undefined ? "not known" : percent(rate.rate),
          rate === undefined ? "" : `${percent(rate.interval[0])} to ${percent(rate.interval[1])}`,
        ];
      }),
    ),
    ...(others.length > 0 ? [html`<p>${notDrawnInWords(smaller).trim()}</p>`] : []),
    ...(await figureOf(baseRatesPicture(allOf(attribute)))),
  ];
};

const leakageRows = (leakage: LeakageEstimate, unit: Unit): string[][] =>
  leakage.adversaries.map(({ name, nats, interval, heldOut }) => [
    name === leakage.winner ? `${name} (most on held-out rows)` : name,
    short(unit.of(nats)),
    between(interval, unit.of),
    short(unit.of(heldOut)),
  ]);

const leakageSection = async (attribute: AttributeAudit, bits: boolean, level: string): Promise<Html[]> => {
  const { audit, name } = attribute;
  const unit = unitOf(bits);
  const { unconditional, conditional } = audit.leakage;
  const table = (leakage: LeakageEstimate) =>
    htmlTable(["adversary", unit.name, `${level} interval`, "on rows held out"], leakageRows(leakage, unit));
  const summary = (title: string, leakage: LeakageEstimate) => [
    title,
    short(unit.of(leakage.nats)),
    between(leakage.interval, unit.of),
    chance(leakage.pValue),
    leakage.detectable === undefined ? "not known" : short(unit.of(leakage.detectable)),
    short(unit.of(leakage.entropy)),
  ];
  return [
    html`<h2>How much is given away</h2>
<p>Adversaries, models of different kinds, tried to guess ${name} of records they had not seen from the other columns.
What they gain over guessing by the groups' shares alone is the leakage: 0 if the columns say nothing, and at most
${short(unit.of(unconditional.entropy))} ${unit.name} if they say everything. The worst adversary counts.</p>`,
    htmlTable(
      ["leakage", unit.name, `${level} interval`, "p", "smallest that could be seen", "all there is"],
      [
        summary("from the features", unconditional),
        ...(conditional === undefined ? [] : [summary("when the target is known too", conditional)]),
      ],
    ),
    html`<p>p is the chance of seeing as much where nothing is given away, the choice among the adversaries taken into
account. What no adversary can find may still be there: the figures say what these adversaries find.</p>`,
    ...(await figureOf(adversariesPicture(allOf(attribute), { bits }))),
    table(unconditional),
    ...(conditional === undefined ? [] : [html`<p>When the target is known too:</p>`, table(conditional)]),
    ...notesOf([...new Set([...unconditional.notes, ...(conditional?.notes ?? [])])]),
  ];
};

const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return begun.endsWith(".") ? begun : `${begun}.`;
};

const notesOf = (notes: readonly string[]): Html[] =>
  notes.map((note) => html`<p class="warning">${sentence(note)}</p>`);

const columnsSection = async (attribute: AttributeAudit, bits: boolean, level: string): Promise<Html[]> => {
  const { audit, name } = attribute;
  const unit = unitOf(bits);
  if (audit.columns.length === 0) return [];
  const shown = columnsShown(audit.columns);
  const more = audit.columns.length - shown.length;
  const proxies = audit.columns.filter(({ proxy }) => proxy);
  const { topTenth } = audit.rows;
  return [
    html`<h2>Where it comes from</h2>
<p>${
      proxies.length === 0
        ? `No single column clearly stands in for ${name}.`
        : `${proxies.length === 1 ? "One column stands" : `${proxies.length} columns stand`} in for ${name} to some degree, most of all ${proxies
            .slice(0, 3)
            .map((column) => column.name)
            .join(", ")}.`
    } A column that says much by itself but is hardly missed when the best adversary is fitted without it repeats what others say: leaving it out would change little.</p>`,
    ...(await figureOf(columnsPicture(allOf(attribute), { bits }))),
    htmlTable(
      ["column", "by itself", `${level} interval`, "lost without it", `${level} interval`, "when shuffled"],
      shown.map((column) => [
        column.name,
        short(unit.of(column.alone.nats)),
        between(column.alone.interval, unit.of),
        column.without === undefined ? "not tried" : short(unit.of(column.without.nats)),
        column.without === undefined ? "" : between(column.without.interval, unit.of),
        short(unit.of(column.shuffled.nats)),
      ]),
    ),
    ...(more > 0 ? [html`<p>${more} more ${more === 1 ? "column is" : "columns are"} in the JSON.</p>`] : []),
    html`<p>${
      topTenth === undefined
        ? "No record stands out."
        : `The tenth of the records that gives most away carries ${percent(topTenth)} of the leakage.`
    } The records themselves are listed by number in the JSON.</p>`,
  ];
};

const partInWords = (part: GapPart | undefined): string =>
  part === undefined ? "not known" : `${short(part.value)} (${between(part.interval)})`;

const predictorRows = ({ decomposition }: PredictorParity): string[][] =>
  decomposition.map(({ group, reference, gap, reading, features, reason }) => [
    `${group} against ${reference}`,
    partInWords(gap),
    partInWords(reading),
    reason === undefined ? partInWords(features) : reason,
  ]);

const gapInWords = ({ value, interval, reason }: PredictorParity["demographicParity"]): string =>
  value === undefined
    ? `not known (${reason ?? "no rows"})`
    : interval === undefined
      ? short(value)
      : `${short(value)} (${between(interval)})`;

const paritySection = async (attribute: AttributeAudit, unit: Unit, level: string): Promise<Html[]> => {
  const { audit, parity, name } = attribute;
  const { unconditional, conditional } = audit.leakage;
  return [
    html`<h2>What this means for predictions</h2>
<p class="${parity.baseRates === "differ" ? "warning" : "note"}">${impossibility(parity)}</p>
<p>Groups differ by up to ${gapInWords(parity.baseRateDifference)} in how often the target is "${parity.positive}".</p>`,
    ...(parity.reason === undefined ? [] : notesOf([parity.reason])),
    ...(parity.predictors.length === 0
      ? []
      : [
          html`<p>Two predictors of the target were made (${parity.predictor}): one sees ${name}, one does not. The gap between the
groups' mean predictions has two parts: what comes from reading ${name}, and what comes from the groups' different
features. A predictor that does not see ${name} has only the second.</p>`,
          ...(await figureOf(gapsPicture(allOf(attribute)))),
          ...parity.predictors.flatMap((predictor) => [
            html`<p>The predictor that ${predictorInWords(predictor)}: right for ${percent(predictor.accuracy)} of the records; largest difference of
selection rates ${gapInWords(predictor.demographicParity)}, of error rates (equalised odds)
${gapInWords(predictor.equalisedOdds)}.</p>`,
            htmlTable(["groups", "gap", "by reading it", "by the features"], predictorRows(predictor)),
          ]),
        ]),
    html`<p>A predictor that does not see ${name} treats the groups alike if either of two conditions holds. How far they are
from holding is the leakage itself:</p>`,
    htmlTable(
      ["condition", `leakage (${unit.name})`, `${level} interval`],
      [
        [
          "features independent of the attribute",
          short(unit.of(unconditional.nats)),
          between(unconditional.interval, unit.of),
        ],
        ...(conditional === undefined
          ? []
          : [
              [
                "features independent of it, given the target",
                short(unit.of(conditional.nats)),
                between(conditional.interval, unit.of),
              ],
            ]),
      ],
    ),
  ];
};

export const comparisonTexts = {
  verdict: (difference: ComparedLeakage, unit: Unit): string => {
    const [low, high] = difference.interval;
    const by = `${short(unit.of(difference.nats))} ${unit.name} per record (${between(difference.interval, unit.of)})`;
    if (high < 0) return `the second table gives away less: ${by}`;
    if (low > 0) return `the second table gives away more: ${by}`;
    return `no clear difference: ${by}`;
  },
};

const comparisonSection = (comparison: AuditComparison, first: string, unit: Unit): Html[] => [
  html`<h2>Compared with ${comparison.table}</h2>
<p>Second table (${comparison.table}) minus first (${first}); below 0, the second is fairer.</p>`,
  htmlTable(
    ["attribute", "first", "second", "from the features", "when the target is known too", "records"],
    comparison.attributes.map(({ name, first: one, second, unconditional, conditional }) => [
      name,
      short(unit.of(one)),
      short(unit.of(second)),
      comparisonTexts.verdict(unconditional, unit),
      conditional === undefined ? "not known" : comparisonTexts.verdict(conditional, unit),
      unconditional.paired ? "the same, compared in pairs" : "different",
    ]),
  ),
];

/** The whole page. */
export const auditHtml = async (report: AuditReport): Promise<string> => {
  const unit = unitOf(report.bits);
  const { certificate } = report;
  const level = levelInWords(report.attributes[0].audit.settings.level);
  const { settings } = report.attributes[0].audit;
  const sections: Html[] = [];
  for (const attribute of report.attributes) {
    if (report.attributes.length > 1) sections.push(html`<h1 class="attribute">By ${attribute.name}</h1>`);
    sections.push(
      ...(await groupsSection(attribute, report.target, level)),
      ...(await leakageSection(attribute, report.bits, level)),
      ...(await columnsSection(attribute, report.bits, level)),
      ...(await paritySection(attribute, unit, level)),
      ...notesOf(attribute.audit.notes),
    );
  }
  return page(`Audit of ${report.table}`, [
    html`<h1>What ${report.table} gives away</h1>
<p class="lead">${report.rows} records, ${report.features.length} columns to guess from, target ${report.target}.</p>`,
    ...report.attributes.flatMap(({ name, audit }) => {
      const { unconditional, conditional } = audit.leakage;
      const said = [
        html`<p class="${wasFound(unconditional) ? "warning" : "note"}">${verdict(unconditional, name, report.bits, false)}</p>`,
        ...(conditional === undefined
          ? []
          : [
              html`<p class="${wasFound(conditional) ? "warning" : "note"}">${verdict(conditional, name, report.bits, true)}</p>`,
            ]),
      ];
      return report.givenTarget ? said.reverse() : said;
    }),
    ...(report.comparison === undefined ? [] : comparisonSection(report.comparison, report.table, unit)),
    ...sections,
    html`<h2>How it was measured</h2>
<p>Every record was judged by models that had not seen it (${settings.folds} folds, or the test table where one was given).
Each adversary's probabilities were calibrated on what its models of other folds said, and drawn towards the groups' shares where they could
not be trusted, so that an adversary that finds nothing gets 0. Estimates are extrapolated from two sizes of training set to
unlimited rows. Intervals are over the records (${settings.replicates} resamples) and hold for all adversaries at once. The test
shuffles the attribute (${settings.permutations} times in every fold), and takes the best adversary in every shuffle as well. The
smallest leakage that could be seen comes from ${settings.plants} tables in which a known leak was planted in one column. The
leakage is a lower bound of what an all-knowing adversary would find.</p>`,
    ...report.notes.map((note) => html`<p>${sentence(note)}</p>`),
    html`<h2>Certificate</h2>
<p>With these inputs, this version, seed and settings anybody gets the same numbers.</p>`,
    htmlTable(
      ["input", "file", "rows", "sha256"],
      certificate.inputs.map(({ role, name, rows, sha256 }) => [
        role,
        name,
        String(rows),
        sha256 === undefined ? "one of the paper's tasks" : `${sha256.slice(0, 16)}…`,
      ]),
    ),
    html`<pre style="white-space: pre-wrap; overflow-wrap: anywhere; font-size: .75rem">${JSON.stringify(certificate, null, 1)}</pre>
<footer>fairbed ${certificate.version}, seed ${certificate.seed}</footer>`,
  ]);
};
