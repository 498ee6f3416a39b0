/** The tasks of the paper (section 6.2), and three more of the same kind, ready to be learnt. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { InputError } from "../core/errors.js";
import { seededStream } from "../core/random.js";
import {
  appendRows,
  type CategoricalColumn,
  type Column,
  columnNamed,
  columnOfTexts,
  dropColumns,
  selectRows,
  type Table,
} from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { type DatasetName, datasetNamed } from "./catalogue.js";
import { requireFile } from "./data-folder.js";
import { readNpy } from "./npy.js";
import { type ReadOptions, readTable } from "./source.js";

export interface PaperTaskOptions {
  /** Decides which rows are drawn where a task draws some. */
  readonly seed?: number | undefined;
  /** Columns to leave out of the features besides those that the task leaves out. */
  readonly exclude?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  /** The data folder; that of `FAIRBED_DATA` or the cache unless given. */
  readonly root?: string | undefined;
}

export interface PaperTask {
  readonly table: Table;
  /** The roles of its columns, with what the caller left out. */
  readonly settings: TaskSettings;
  readonly task: Task;
  /** What was done to the data before, one sentence each. */
  readonly notes: readonly string[];
}

export const paperTaskTexts = {
  unexpected: (file: string) => `${file} is not laid out as published: get it again with fairbed data get.`,
};

type Prepared = Omit<PaperTask, "task">;

/** A task by its name; the dataset must be in the data folder. */
export const loadPaperTask = async (name: string, options: PaperTaskOptions = {}): Promise<PaperTask> => {
  const prepared = await preparePaperTask(name, options);
  return { ...prepared, task: defineTask(prepared.table, prepared.settings) };
};

/** Its table and roles, for those who add to the roles before they make a task of it. */
export const preparePaperTask = async (name: string, options: PaperTaskOptions = {}): Promise<Prepared> => {
  const dataset = datasetNamed(name);
  const { seed = 0, exclude = [], features, root } = options;
  const file = (each: string) => requireFile(dataset, each, root);
  const { table, settings: own, notes } = await TASKS[dataset.name](file, seed);
  const settings = {
    ...own,
    exclude: [...(own.exclude ?? []), ...exclude],
    features: features ?? own.features,
  };
  return { table, settings, notes };
};

type Load = (file: (name: string) => string, seed: number) => Promise<Prepared>;

const students: Load = async (file) => ({
  table: await readTable(file("data.csv"), { name: "students" }),
  settings: { target: "Target=Graduate", sensitive: ["Gender=1"] },
  notes: ["the target is Graduate against the rest; Gender is sensitive (1 is male) and no feature"],
});

const census: Load = async (file, seed) => {
  const all = await readNamed(file("census-income.data"), CENSUS_COLUMNS, { name: "census", missing: ["?"] });
  const table = dropColumns(balanced(all, "income", "50000+.", seed), ["instance weight"]);
  return {
    table,
    settings: { target: "income=50000+.", sensitive: ["sex=Male"] },
    notes: [
      `class-balanced: every row above 50000 of the training file, and as many of the others drawn with seed ${seed}`,
      "the instance weight is dropped, as its description asks; sex is sensitive and no feature",
    ],
  };
};

const adult: Load = async (file) => {
  const options = { name: "adult", missing: ["?"] };
  const train = await readNamed(file("adult.data"), ADULT_COLUMNS, options);
  // The first line of the test file is a remark.
  const test = await readNamed(file("adult.test"), ADULT_COLUMNS, { ...options, skipLines: 1 });
  const table = appendRows(train, withoutFullStop(test, "income"));
  return {
    table: dropColumns(table, ["fnlwgt"]),
    settings: { target: "income=>50K", sensitive: ["sex=Male"] },
    notes: ["training and test file together", "fnlwgt is dropped; sex is sensitive and no feature"],
  };
};

const german: Load = async (file) => {
  const table = await readNamed(file("german.data"), GERMAN_COLUMNS, { name: "german" });
  const status = columnNamed(table, "personal status and sex");
  if (status.kind !== "categorical") throw unexpected("german.data");
  const sexes = Array.from(status.codes, (code) =>
    code < 0 ? undefined : GERMAN_FEMALE.includes(status.levels[code]) ? "female" : "male",
  );
  const rest = dropColumns(table, [status.name]);
  return {
    table: { ...rest, columns: [...rest.columns, columnOfTexts("sex", sexes)] },
    settings: { target: "credit=1", sensitive: ["sex=male"] },
    notes: [
      "the target is good credit (1 in the file)",
      "sex is taken from the personal status (A92 and A95 are female), which is dropped; it is sensitive and no feature",
    ],
  };
};

const bank: Load = async (file, seed) => {
  const all = await readTable(file("bank-full.csv"), { name: "bank" });
  return {
    table: dropColumns(balanced(all, "y", "yes", seed), ["duration"]),
    settings: { target: "y=yes", sensitive: ["marital=married"] },
    notes: [
      `class-balanced: every row that answered yes, and as many of the others drawn with seed ${seed}`,
      "the duration of the call is dropped, since it is known only after the answer",
      "being married, against single or divorced, is sensitive; the marital status is no feature",
    ],
  };
};

const celeba: Load = async (file) => {
  const features = await readNpy(file("resnet18-layer3-gap-000001-010000.npy"));
  const attributes = await readAttributes(file("list_attr_celeba.txt"), features.rows);
  const columns: Column[] = Array.from({ length: features.columns }, (_, column) => ({
    kind: "numeric",
    name: `layer3 ${column + 1}`,
    values: Float64Array.from(
      { length: features.rows },
      (_, row) => features.values[row * features.columns + column],
    ),
  }));
  return {
    table: {
      name: "celeba",
      rows: features.rows,
      columns: [...columns, ...["Smiling", "Male"].map((name) => yesOrNo(name, attributes))],
      notes: [],
    },
    settings: { target: "Smiling=yes", sensitive: ["Male=yes"] },
    notes: [
      "the first 10,000 images, all of CelebA's training part",
      "features come from a ResNet-18 that is truncated at layer3 (256 values), not from the whole network (512), so results are not comparable with those of the whole",
    ],
  };
};

const TASKS: Readonly<Record<DatasetName, Load>> = { students, census, adult, german, bank, celeba };

/** All rows of the value, and as many of the others, in the order of the table. */
const balanced = (table: Table, name: string, value: string, seed: number): Table => {
  const column = columnNamed(table, name);
  if (column.kind !== "categorical") throw unexpected(table.name);
  const code = column.levels.indexOf(value);
  const positive: number[] = [];
  const negative: number[] = [];
  for (const [row, each] of column.codes.entries()) (each === code ? positive : negative).push(row);
  const drawn = seededStream(seed).split("class balance").choice(negative.length, positive.length);
  const rows = [...positive, ...Array.from(drawn, (place) => negative[place])].sort((a, b) => a - b);
  return selectRows(table, rows);
};

const withoutFullStop = (table: Table, name: string): Table => ({
  ...table,
  columns: table.columns.map((column) =>
    column.name === name && column.kind === "categorical"
      ? ({ ...column, levels: column.levels.map((level) => level.replace(/\.$/, "")) } as CategoricalColumn)
      : column,
  ),
});

/** A file without a header, with its columns named as its description names them. */
const readNamed = async (path: string, names: readonly string[], options: ReadOptions): Promise<Table> => {
  const table = await readTable(path, { ...options, header: false });
  if (table.columns.length !== names.length) throw unexpected(path);
  return { ...table, columns: table.columns.map((column, index) => ({ ...column, name: names[index] })) };
};

const unexpected = (file: string) => new InputError("layout", paperTaskTexts.unexpected(file));

const yesOrNo = (name: string, attributes: ReadonlyMap<string, Int8Array>): CategoricalColumn => ({
  kind: "categorical",
  name,
  codes: Int32Array.from(attributes.get(name) ?? [], (value) => (value > 0 ? 1 : 0)),
  levels: ["no", "yes"],
});

/** The first rows of CelebA's list: a count, the names, then a file's name and a value of -1 or 1 for each. */
const readAttributes = async (path: string, rows: number): Promise<ReadonlyMap<string, Int8Array>> => {
  const source = createReadStream(path);
  const lines = createInterface({ input: path.endsWith(".gz") ? source.pipe(createGunzip()) : source });
  let names: readonly string[] = [];
  const values = new Map<string, Int8Array>();
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (line === 1) continue;
    const words = text.trim().split(/\s+/);
    if (line === 2) {
      names = words;
      for (const name of names) values.set(name, new Int8Array(rows));
      continue;
    }
    if (words.length !== names.length + 1) throw unexpected(path);
    for (const [index, name] of names.entries()) {
      const column = values.get(name);
      if (column !== undefined) column[line - 3] = Number(words[index + 1]);
    }
    if (line - 2 === rows) break;
  }
  source.destroy();
  if (line - 2 < rows) throw unexpected(path);
  return values;
};

/** As in census-income.names. */
const CENSUS_COLUMNS: readonly string[] = [
  "age",
  "class of worker",
  "detailed industry recode",
  "detailed occupation recode",
  "education",
  "wage per hour",
  "enroll in edu inst last wk",
  "marital stat",
  "major industry code",
  "major occupation code",
  "race",
  "hispanic origin",
  "sex",
  "member of a labor union",
  "reason for unemployment",
  "full or part time employment stat",
  "capital gains",
  "capital losses",
  "dividends from stocks",
  "tax filer stat",
  "region of previous residence",
  "state of previous residence",
  "detailed household and family stat",
  "detailed household summary in household",
  "instance weight",
  "migration code-change in msa",
  "migration code-change in reg",
  "migration code-move within reg",
  "live in this house 1 year ago",
  "migration prev res in sunbelt",
  "num persons worked for employer",
  "family members under 18",
  "country of birth father",
  "country of birth mother",
  "country of birth self",
  "citizenship",
  "own business or self employed",
  "fill inc questionnaire for veteran's admin",
  "veterans benefits",
  "weeks worked in year",
  "year",
  "income",
];

/** As in adult.names. */
const ADULT_COLUMNS: readonly string[] = [
  "age",
  "workclass",
  "fnlwgt",
  "education",
  "education-num",
  "marital-status",
  "occupation",
  "relationship",
  "race",
  "sex",
  "capital-gain",
  "capital-loss",
  "hours-per-week",
  "native-country",
  "income",
];

/** As in the description of the dataset, in short. */
const GERMAN_COLUMNS: readonly string[] = [
  "checking account",
  "months",
  "credit history",
  "purpose",
  "amount",
  "savings",
  "employed since",
  "instalment rate",
  "personal status and sex",
  "other debtors",
  "resident since",
  "property",
  "age",
  "other instalments",
  "housing",
  "credits here",
  "job",
  "dependants",
  "telephone",
  "foreign worker",
  "credit",
];

/** Divorced, separated or married; and single. */
const GERMAN_FEMALE: readonly string[] = ["A92", "A95"];
