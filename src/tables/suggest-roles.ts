/**
 * Which column of a table is probably what: the target, the sensitive attributes and the id, from names and contents. A
 * guess to start from, which a person confirms or changes.
 */
import { FairbedError } from "../core/errors.js";
import { isRare } from "../core/rare-values.js";
import { chooseLabel } from "./label.js";
import { isProvenance } from "./provenance.js";
import { roundThreshold } from "./round-threshold.js";
import { hasNameOfId, wordsOfName } from "./row-numbers.js";
import { type Column, columnCell, type Table } from "./table.js";

export interface SuggestedRoles {
  /** As the `target` of a task is written: `hired=yes`, `grade`, `income>=50000`; undefined where nothing looks like one. */
  readonly target: string | undefined;
  /** As the `sensitive` of a task is written. */
  readonly sensitive: readonly string[];
  /** A column in which every row has a value of its own. */
  readonly id: string | undefined;
  /** Why, one sentence for each role. */
  readonly reasons: readonly string[];
}

export const suggestedRoleTexts = {
  targetOfTwo: (column: string) => `${column} looks like the target: it has two values`,
  lastOfTwo: (column: string) => `${column} may be the target: it is the last column, and has two values`,
  targetOfFew: (column: string, values: number) =>
    `${column} looks like the target by its name: it has ${values} values`,
  targetAbove: (column: string, threshold: number) =>
    `${column} looks like the target by its name: it is a quantity, and parted at ${threshold}`,
  sensitiveByName: (column: string, groups: number) =>
    `${column} looks sensitive by its name: it has ${groups} groups`,
  sensitiveAbove: (column: string, threshold: number) =>
    `${column} looks sensitive by its name: it is a quantity, and parted at ${threshold}`,
  sensitiveByValues: (column: string) => `${column} looks sensitive: its values are words for women and men`,
  idByName: (column: string) => `${column} looks like the id: every row has one of its own`,
  idByTexts: (column: string) => `${column} looks like the id: every row has a text of its own`,
  idByCount: (column: string) => `${column} looks like the id: it counts the rows`,
};

const SENSITIVE = new RegExp(
  `\\b(${[
    "sex|gender|transgender|lgbt\\w*|sexual orientation|orientation",
    "race|racial|ethnic|ethnicity|skin|caste|national origin|nationality|citizen|citizenship|foreign",
    "native (?:country|language)|country of birth|birth (?:country|place)|birthplace|mother tongue",
    "age|religion|religious|faith|denomination|disability|disabilities|disabled|handicap",
    "marital|pregnan\\w*|veteran",
  ].join("|")})\\b`,
);
/** Things have an age too. */
const AGE_OF_THINGS =
  /\b(?:account|vehicle|car|house|home|building|property|policy|company|firm|loan|device)\b/;

const TARGET = new RegExp(
  `\\b(${[
    "target|label|labels|outcome|class|decision|result|response|y|diagnosis|disease",
    "hired|hire|selected|invited|promoted|promotion|employed|income|salary|wage|earnings",
    "approved|approval|accepted|accept|admitted|admit|admission|granted|default|defaulted|credit risk|risk|fraud",
    "recid|recidivism|recidivist|reoffended|rearrested|readmitted|survived",
    "churn|churned|subscribed|success|successful|passed|pass|graduated|dropout",
  ].join("|")})\\b`,
);

/** More different values than this are not counted. */
const MOST_VALUES = 100;
/** More different numbers than this are a quantity. */
const MOST_NUMERIC_CLASSES = 10;
/** Fewer rows than this may well have different texts, or be in order, without their being ids. */
const ROWS_TO_TELL_IDS = 50;

/**
 * Guesses what the columns of a table are for. What it suggests can be given to `defineTask` as it is.
 *
 * @example
 * ```ts
 * import { suggestRoles, tableOf } from "fairbed/tables";
 *
 * const people = Array.from({ length: 40 }, (_, i) => ({
 *   id: `p${i}`,
 *   score: (7 * i) % 40,
 *   sex: i % 2 === 0 ? "f" : "m",
 *   hired: i % 3 === 0 ? "yes" : "no",
 * }));
 * const { target, sensitive, id, reasons } = suggestRoles(tableOf(people));
 * console.log(target, sensitive.join(" "), id); // hired=yes sex id
 * console.log(reasons[0]); // hired looks like the target: it has two values
 * ```
 */
export const suggestRoles = (table: Table): SuggestedRoles => {
  const columns = table.columns.filter(({ name }) => !isProvenance(name)).map(lookedAt);
  const id = suggestId(columns, table.rows);
  const others = columns.filter(({ column }) => column.name !== id?.choice);
  const sensitive = others.flatMap((looked) => {
    const found = suggestSensitive(looked);
    return found !== undefined && isUsable(table, found, looked.column.name) ? [{ ...found, looked }] : [];
  });
  const rest = others.filter((looked) => sensitive.every((each) => each.looked !== looked));
  const target = suggestTarget(table, rest);
  const roles = [...(target === undefined ? [] : [target]), ...sensitive, ...(id === undefined ? [] : [id])];
  return {
    target: target?.choice,
    sensitive: sensitive.map(({ choice }) => choice),
    id: id?.choice,
    reasons: roles.map(({ reason }) => reason),
  };
};

interface Suggestion {
  readonly choice: string;
  readonly reason: string;
}

interface LookedAt {
  readonly column: Column;
  readonly words: string;
  /** Different values with their rows, in order; undefined where there are very many. */
  readonly values: readonly { readonly value: string; readonly rows: number }[] | undefined;
}

const lookedAt = (column: Column): LookedAt => ({
  column,
  words: wordsOfName(column.name),
  values: valuesOf(column),
});

const valuesOf = (column: Column): LookedAt["values"] => {
  const cells = column.kind === "numeric" ? column.values : column.codes;
  const rows = new Map<number, number>();
  for (const cell of cells) {
    if (column.kind === "numeric" ? Number.isNaN(cell) : cell < 0) continue;
    rows.set(cell, (rows.get(cell) ?? 0) + 1);
    if (rows.size > MOST_VALUES) return undefined;
  }
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([cell, count]) => ({
      value: column.kind === "numeric" ? String(cell) : column.levels[cell],
      rows: count,
    }));
};

/** Whether a choice means this column, and parts it into classes: a name may hold an operator itself. */
const isUsable = (table: Table, { choice }: Suggestion, name: string): boolean => {
  try {
    const { rule } = chooseLabel(table, choice);
    return rule.kind !== "combination" && rule.column === name;
  } catch (error) {
    if (error instanceof FairbedError) return false;
    throw error;
  }
};

const suggestSensitive = (looked: LookedAt): Suggestion | undefined => {
  const { column, words, values } = looked;
  const { name } = column;
  // Columns with a unit are dates.
  if (column.kind === "numeric" && column.unit !== undefined) return undefined;
  const [found] = SENSITIVE.exec(words) ?? [];
  if (found === undefined || (found === "age" && AGE_OF_THINGS.test(words))) {
    return isWomenAndMen(values)
      ? { choice: name, reason: suggestedRoleTexts.sensitiveByValues(name) }
      : undefined;
  }
  if (column.kind === "numeric" && (values === undefined || values.length > MOST_NUMERIC_CLASSES)) {
    const threshold = roundThreshold(column.values);
    const reason = suggestedRoleTexts.sensitiveAbove(name, threshold);
    return { choice: `${name}>=${threshold}`, reason };
  }
  return values === undefined
    ? undefined
    : { choice: name, reason: suggestedRoleTexts.sensitiveByName(name, values.length) };
};

const WOMEN = /^(?:f|w|female|woman|women|girl)$/i;
const MEN = /^(?:m|male|man|men|boy)$/i;
const OTHER_GENDERS =
  /^(?:x|d|other|diverse|divers|non-?binary|intersex|unknown|not (?:given|stated|known)|prefer not to say)$/i;

const isWomenAndMen = (values: LookedAt["values"]): boolean => {
  if (values === undefined) return false;
  const are = (words: RegExp) => values.filter(({ value }) => words.test(value)).length;
  return are(WOMEN) === 1 && are(MEN) === 1 && are(OTHER_GENDERS) === values.length - 2;
};

/** By a name with two values; the last column, where it has two; by a name with more. The later of two of a kind. */
const suggestTarget = (table: Table, columns: readonly LookedAt[]): Suggestion | undefined => {
  const named = columns.filter(({ words }) => TARGET.test(words)).reverse();
  const last = columns.filter(({ column }) => column === table.columns[table.columns.length - 1]);
  const ofTwo = (text: (column: string) => string) => (looked: LookedAt) =>
    looked.values?.length === 2
      ? [{ looked, choice: positiveChoice(looked), reason: text(looked.column.name) }]
      : [];
  const candidates = [
    ...named.flatMap(ofTwo(suggestedRoleTexts.targetOfTwo)),
    ...last.flatMap(ofTwo(suggestedRoleTexts.lastOfTwo)),
    ...named.flatMap(ofMore),
  ];
  const found = candidates.find((each) => isUsable(table, each, each.looked.column.name));
  return found === undefined ? undefined : { choice: found.choice, reason: found.reason };
};

const ofMore = (looked: LookedAt) => {
  const { column, values } = looked;
  const { name } = column;
  if (values !== undefined && values.length > 2 && values.length <= MOST_NUMERIC_CLASSES) {
    return [{ looked, choice: name, reason: suggestedRoleTexts.targetOfFew(name, values.length) }];
  }
  if (column.kind !== "numeric" || column.unit !== undefined || (values?.length ?? MOST_VALUES) <= 2)
    return [];
  const threshold = roundThreshold(column.values);
  const reason = suggestedRoleTexts.targetAbove(name, threshold);
  return [{ looked, choice: `${name}>=${threshold}`, reason }];
};

const POSITIVE =
  /^(?:1|yes|y|true|t|hired|accept(?:ed)?|approved|granted|admitted|selected|good|pass(?:ed)?|success(?:ful)?|positive|pos|high|won|survived|>.*|.*\+\.?)$/i;
const NEGATIVE =
  /^(?:0|-1|no|n|false|f|no[tn][ _-].*|bad|fail(?:ed)?|reject(?:ed)?|denied|refused|declined|negative|neg|low|lost|none|<.*|- .*)$/i;

/** Of two values the one that is asked about, by its meaning, the larger number, or else the rarer one. */
const positiveChoice = ({ column, words, values = [] }: LookedAt): string => {
  const [first, second] = values;
  // A value of so few rows may say who they are, and is not named.
  if (values.some(({ rows }) => isRare(rows))) return column.name;
  const isPositive = (value: string): boolean =>
    POSITIVE.test(value) || words.split(" ").includes(value.toLowerCase());
  const score = ({ value }: { readonly value: string }): number =>
    Number(isPositive(value)) - Number(NEGATIVE.test(value));
  const order = score(first) - score(second);
  const isFirst = column.kind === "numeric" ? false : order > 0 || (order === 0 && first.rows < second.rows);
  return `${column.name}=${isFirst ? first.value : second.value}`;
};

const suggestId = (columns: readonly LookedAt[], rows: number): Suggestion | undefined => {
  const named = columns.find(({ column }) => hasNameOfId(column.name) && isUnique(column));
  if (named !== undefined) {
    const { name } = named.column;
    return { choice: name, reason: suggestedRoleTexts.idByName(name) };
  }
  if (rows < ROWS_TO_TELL_IDS) return undefined;
  const counting = columns.find(({ column }) => countsRows(column));
  if (counting !== undefined) {
    const { name } = counting.column;
    return { choice: name, reason: suggestedRoleTexts.idByCount(name) };
  }
  const texts = columns.find(({ column }) => column.kind === "categorical" && isUnique(column));
  if (texts === undefined) return undefined;
  const { name } = texts.column;
  return { choice: name, reason: suggestedRoleTexts.idByTexts(name) };
};

const isUnique = (column: Column): boolean => {
  const cells = column.kind === "numeric" ? column.values : column.codes;
  if (column.kind === "categorical" && column.levels.length < cells.length) return false;
  const cell = columnCell(column);
  const seen = new Set<number>();
  for (let row = 0; row < cells.length; row++) {
    if (cell(row) === undefined || seen.has(cells[row])) return false;
    seen.add(cells[row]);
  }
  return cells.length > 0;
};

/** 0, 1, 2 and so on, or from any other number on. */
const countsRows = (column: Column): boolean =>
  column.kind === "numeric" &&
  column.unit === undefined &&
  column.values.every((value, row) => value === column.values[0] + row);
