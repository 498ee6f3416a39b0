/** `fairbed data list`: the datasets that can be had by name. */
import { defineCommand } from "../../command.js";

export const list = defineCommand({
  name: "data list",
  group: "Data",
  summary: "list the paper's datasets",
  examples: [{ line: "data list", says: "their sizes, licences and sources" }],
  arguments: {},
  options: {},
  async run() {
    const { DATASETS } = await import("../../../data/catalogue.js");
    const { dataFolder, findFile } = await import("../../../data/data-folder.js");
    const { join } = await import("node:path");
    const folder = dataFolder();
    return {
      folder,
      datasets: DATASETS.map((dataset) => ({
        ...dataset,
        here: dataset.files.every(
          ({ name, optional }) => optional || findFile(join(folder, dataset.folder), name) !== undefined,
        ),
      })),
    };
  },
  print: ({ folder, datasets }) =>
    [
      `in ${folder}`,
      ...datasets.flatMap(({ name, title, page, licence, citation, files, here }) => [
        "",
        `${name.padEnd(10)}${title}${here ? " [here]" : ""}`,
        ...files.map(
          (file) => `          ${file.name}, ${file.bytes} bytes${file.optional ? ", optional" : ""}`,
        ),
        `          ${page}`,
        `          licence: ${licence}`,
        `          cite: ${citation}`,
      ]),
    ].join("\n"),
});
