/** `fairbed predict`: what a fitted model says of the rows of a table. */
import { InputError } from "../../../core/errors.js";
import { type CsvValue, csvText } from "../../../tables/csv.js";
import { toRecords } from "../../../tables/table-of.js";
import { defineCommand } from "../../command.js";
import { argument, grouped, outFile, text } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { readBytes } from "../design/files.js";
import { readingOf, readOptions } from "../sources/table-options.js";

export const predictCommandTexts = {
  noModelFile: (path: string) => `${path} is no model file: give one that fairbed fit --out wrote`,
  noModel: (path: string, reason: string) => `${path} cannot be used as a model, for ${reason}`,
};

export const predict = defineCommand({
  name: "predict",
  group: "Models",
  summary: "what a fitted model says of the rows of a table",
  examples: [
    {
      line: "predict model.json new.csv --id person --out predictions.csv",
      description: "of every row: its id, class and probability",
    },
    { line: "predict model.json new.csv", description: "the same on standard output, rows by number from 0" },
  ],
  arguments: {
    model: argument("what fairbed fit --out wrote"),
    table: argument("a CSV, Parquet or JSON-lines file with the columns that the model was fitted on"),
  },
  options: {
    id: text("--id <column>", "the column that names the rows; rows are counted from 0 unless given"),
    out: outFile("--out <file>", "write the predictions to this CSV file instead of showing them"),
    ...grouped("Reading the table", readOptions),
  },
  reportsProgress: true,
  async run({ arguments: { model: path, table: source }, options, context }) {
    const { predict: ask } = await import("../../../workflows/predict.js");
    const { readModel } = await import("../../../workflows/fitted-model.js");
    const { readTableWithIds } = await import("../../../sources/read-task.js");
    const { toCsv } = await import("../../../tables/csv.js");
    const content = new TextDecoder().decode(await readBytes(path));
    const model = named(path, () => readModel(content));
    // What was text when the model was fitted is text here too, though it may look like numbers.
    const asText = model.columns.filter(({ kind }) => kind === "categorical").map(({ name }) => name);
    const table = await readTableWithIds(source, options.id, { ...readingOf(options), asText });
    const {
      predicted,
      classes,
      table: answers,
      notes,
    } = await withProgress(context, "predicting", (run) => ask(model, table, { id: options.id, ...run }));
    const said = [...table.notes, ...notes];
    if (options.out !== undefined) await context.writeFile(options.out, toCsv(answers));
    else for (const note of said) context.say(`Note: ${note.replace(/\.$/, "")}.`);
    return {
      target: model.target.name,
      classes,
      rows: table.rows,
      counts: Object.fromEntries(
        classes.map((name) => [name, predicted.filter((each) => each === name).length]),
      ),
      /** As records, and absent where they were written to a file. */
      predictions: options.out === undefined ? toRecords(answers) : undefined,
      notes: said,
      written: options.out === undefined ? [] : [options.out],
    };
  },
  print: ({ target, rows, counts, notes, predictions, written }) =>
    predictions === undefined
      ? [
          `${rows} rows, ${target}: ${Object.entries(counts)
            .map(([name, count]) => `${count} ${name}`)
            .join(", ")}`,
          ...notes.map((note) => `Note: ${note.replace(/\.$/, "")}.`),
          ...written.map((file) => `Wrote ${file}.`),
        ].join("\n")
      : csvText([
          Object.keys(predictions[0]),
          ...predictions.map((each) => Object.values(each).map(csvCell)),
        ]),
});

/** The sentences about a model do not know where it lies. */
const named = <Result>(path: string, read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const text =
      error.code === "model-file"
        ? predictCommandTexts.noModelFile(path)
        : predictCommandTexts.noModel(path, error.message);
    throw new InputError(error.code, text, { cause: error });
  }
};

const csvCell = (value: string | number | Date | null): CsvValue =>
  value instanceof Date ? value.toISOString() : value;
