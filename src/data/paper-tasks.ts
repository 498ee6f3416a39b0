/** The paper's tasks, and two of the field's, in the files of the catalogue: which columns are what. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { randomStream } from "../core/random.js";
import { datasetFile, datasetText } from "./dataset-files.js";
import { readNpy } from "./npy.js";
import { type ReadOptions, readTable } from "./source.js";
import {
  appendRows,
  asCategorical,
  categoricalColumn,
  columnNamed,
  dropColumns,
  numericColumn,
  selectRows,
  type Table,
  tableOf,
} from "./table.js";
import { defineTask, type Task, type TaskSettings } from "./task.js";

export interface PaperTaskOptions {
  /** Decides which rows a class-balanced task keeps. */
  readonly seed?: number;
  readonly features?: readonly string[];
  readonly exclude?: readonly string[];
}

export interface PaperTask {
  readonly task: Task;
  /** What was done to the data, one sentence each. */
  readonly notes: readonly string[];
}

export const PAPER_TASKS = ["students", "census", "adult", "german", "celeba"] as const;
export type PaperTaskName = (typeof PAPER_TASKS)[number];

export const paperTaskTexts = {
  unknown: (name: string, near: string | undefined) =>
    `there is no task "${name}"${near === undefined ? "" : ` (did you mean "${near}"?)`}: choose one of ${PAPER_TASKS.join(", ")}.`,
};

interface Recipe {
  readonly table: (seed: number) => Promise<Table>;
  readonly settings: TaskSettings;
  readonly notes: readonly string[];
}

const RECIPES: Readonly<Record<PaperTaskName, Recipe>> = {
  students: {
    table: async () => readTable(await datasetFile("students", "data.csv"), { name: "students" }),
    settings: { target: "Target=Graduate", sensitive: ["Gender=1"] },
    notes: ["Graduate against the rest; gender (1 is male) is not a feature"],
  },
  census: {
    table: async (seed) => balanced(await census(), "income", "50000+.", seed),
    settings: {
      target: "income=50000+.",
      sensitive: ["sex=Male"],
      exclude: ["instance weight"],
    },
    notes: [
      "the larger income class is subsampled to the size of the smaller",
      "sex and the instance weight are not features",
    ],
  },
  adult: {
    table: adult,
    settings: { target: "income=>50K", sensitive: ["sex=Male"], exclude: ["fnlwgt"] },
    notes: ["training and test file together, at natural rates", "sex and fnlwgt are not features"],
  },
  german: {
    table: german,
    settings: { target: "credit=good", sensitive: ["sex=male"] },
    notes: ["sex is read from the personal status (A92 and A95 are female), which is not a feature itself"],
  },
  celeba: {
    table: celeba,
    settings: { target: "Smiling=1", sensitive: ["Male=1"] },
    notes: [
      "10,000 images, features from a ResNet-18 truncated at its third layer (256 values), not the full network's 512",
    ],
  },
};

export const loadPaperTask = async (
  name: string,
  { seed = 0, features, exclude = [] }: PaperTaskOptions = {},
): Promise<PaperTask> => {
  const known = PAPER_TASKS.find((each) => each === name);
  if (known === undefined) {
    throw new InputError("unknown-task", paperTaskTexts.unknown(name, nearestName(name, PAPER_TASKS)));
  }
  const { table, settings, notes } = RECIPES[known];
  const task = defineTask(await table(seed), {
    ...settings,
    ...(features === undefined ? {} : { features }),
    exclude: [...(settings.exclude ?? []), ...exclude],
  });
  return { task, notes };
};

/** Files without a header: the columns get these names, and values are trimmed. */
const named = async (path: string, names: readonly string[], options: ReadOptions): Promise<Table> => {
  const table = await readTable(path, { header: false, ...options });
  return tableOf(
    table.columns.map((column, i) => ({ ...column, name: names[i] ?? column.name })),
    { name: options.name ?? path },
  );
};

/** As many rows of the other classes as of this value, drawn at random, in the order of the table. */
const balanced = (table: Table, column: string, value: string, seed: number): Table => {
  const { codes, levels } = asCategorical(columnNamed(table, column));
  const code = levels.indexOf(value);
  const of = (wanted: boolean) =>
    Int32Array.from(codes.keys()).filter((row) => (codes[row] === code) === wanted);
  const [positive, negative] = [of(true), of(false)];
  const drawn = randomStream(seed).split("balance").choice(negative.length, positive.length);
  const kept = [...positive, ...Array.from(drawn, (at) => negative[at])].sort((a, b) => a - b);
  return selectRows(table, kept);
};

const census = async (): Promise<Table> => {
  const text = await datasetText("census", "census-income.names");
  const names = [...text.matchAll(/^([a-z][^:|\n]*):/gm)].map(([, name]) => name.trim());
  const path = await datasetFile("census", "census-income.data");
  return named(path, [...names, "income"], { name: "census", delimiter: ",", missing: ["?"] });
};

const ADULT_COLUMNS = [
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

async function adult(): Promise<Table> {
  const options = { name: "adult", delimiter: ",", missing: ["?"] };
  const train = await named(await datasetFile("adult", "adult.data"), ADULT_COLUMNS, options);
  // The first line of the test file is a comment, and its labels end in a full stop.
  const test = await named(await datasetFile("adult", "adult.test"), ADULT_COLUMNS, {
    ...options,
    skipLines: 1,
  });
  const plain = tableOf(
    test.columns.map((column) =>
      column.name === "income" && column.kind === "categorical"
        ? { ...column, levels: column.levels.map((level) => level.replace(/\.$/, "")) }
        : column,
    ),
    { name: "adult" },
  );
  return appendRows(train, plain);
}

const GERMAN_COLUMNS = [
  "checking account",
  "duration",
  "credit history",
  "purpose",
  "amount",
  "savings",
  "employment",
  "installment rate",
  "personal status",
  "other debtors",
  "residence",
  "property",
  "age",
  "other installments",
  "housing",
  "existing credits",
  "job",
  "dependants",
  "telephone",
  "foreign worker",
  "credit",
];

async function german(): Promise<Table> {
  const path = await datasetFile("german", "german.data");
  const table = await named(path, GERMAN_COLUMNS, { name: "german", delimiter: " ", missing: [] });
  const status = asCategorical(columnNamed(table, "personal status"));
  const credit = asCategorical(columnNamed(table, "credit"));
  const female = new Set(["A92", "A95"]);
  const sex = Array.from(status.codes, (code) => (female.has(status.levels[code]) ? "female" : "male"));
  const good = Array.from(credit.codes, (code) => (credit.levels[code] === "1" ? "good" : "bad"));
  const rest = dropColumns(table, ["personal status", "credit"]);
  return tableOf([...rest.columns, categoricalColumn("sex", sex), categoricalColumn("credit", good)], {
    name: "german",
  });
}

const CELEBA_FEATURES = "resnet18-layer3-gap-000001-010000.npy";

async function celeba(): Promise<Table> {
  const { values, shape } = readNpy(await datasetFile("celeba", CELEBA_FEATURES), "celeba features");
  const [rows, columns] = shape;
  const lines = (await datasetText("celeba", "list_attr_celeba.txt")).split("\n", rows + 2);
  const attributes = lines[1].trim().split(/\s+/);
  const attribute = (name: string) => {
    const place = attributes.indexOf(name) + 1;
    return numericColumn(
      name,
      Float64Array.from({ length: rows }, (_, row) => Number(lines[row + 2].trim().split(/\s+/)[place])),
    );
  };
  return tableOf(
    [
      ...Array.from({ length: columns }, (_, c) =>
        numericColumn(
          `layer3 ${c}`,
          Float64Array.from({ length: rows }, (_, row) => values[row * columns + c]),
        ),
      ),
      attribute("Smiling"),
      attribute("Male"),
    ],
    { name: "celeba" },
  );
}
