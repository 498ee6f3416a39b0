/** `fairbed data list`: the datasets that can be had by name. */
import { defineCommand } from "../../command.js";

export const list = defineCommand({
  name: "data list",
  group: "Data",
  summary: "list the paper's datasets",
  examples: [{ line: "data list", description: "their sizes, licences and sources" }],
  arguments: {},
  options: {},
  async run() {
    const { DATASETS } = await import("../../../sources/catalogue.js");
    const { dataFolder, hasFile } = await import("../../../sources/data-folder.js");
    const { join } = await import("node:path");
    const folder = dataFolder();
    const isHere = async ({ files, folder: own }: (typeof DATASETS)[number]): Promise<boolean> => {
      for (const { name, bytes, optional } of files) {
        if (!optional && !(await hasFile(join(folder, own), name, bytes))) return false;
      }
      return true;
    };
    const datasets = await Promise.all(
      DATASETS.map(async (dataset) => ({ ...dataset, here: await isHere(dataset) })),
    );
    return { folder, datasets };
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
