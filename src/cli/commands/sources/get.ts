/** `fairbed data get`: a dataset of the paper, from its original site or from files at hand. */
import { defineCommand } from "../../command.js";
import { argument, text } from "../../options.js";

export const get = defineCommand({
  name: "data get",
  group: "Data",
  summary: "get one of the paper's datasets",
  examples: [
    { line: "data get students", description: "download it, or go on where it stopped" },
    { line: "data get census --from downloads", description: "take files that are here already" },
  ],
  arguments: { dataset: argument("students, census, adult, german, bank or celeba") },
  options: { from: text("--from <folder>", "a folder with the files, plain, gzipped or in a zip archive") },
  reportsProgress: true,
  async run({ arguments: { dataset: name }, options: { from }, context }) {
    const { datasetNamed } = await import("../../../sources/catalogue.js");
    const { getDataset } = await import("../../../sources/get-dataset.js");
    const dataset = datasetNamed(name);
    let progress: ReturnType<typeof context.progress> | undefined;
    const files = await getDataset(dataset, {
      from,
      signal: context.signal,
      onProgress(done, total) {
        if (total === undefined) return;
        progress ??= context.progress("bytes", total);
        progress.update(done);
      },
    });
    const { title, page, licence, citation } = dataset;
    return { name, title, page, licence, citation, files };
  },
  print: ({ title, page, licence, citation, files }) =>
    [
      title,
      ...files.flatMap(({ path, bytes, sha256, had }) => [
        `${path}${had ? " (was here already)" : ""}`,
        `  ${bytes} bytes, sha256 ${sha256}`,
      ]),
      `from ${page}`,
      `licence: ${licence}`,
      `cite: ${citation}`,
    ].join("\n"),
});
