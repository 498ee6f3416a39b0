/** `fairbed data embed`: features of images by a network. */

import { InputError } from "../../../core/errors.js";
import type { EmbedResult } from "../../../sources/images/embed.js";
import { defineCommand } from "../../command.js";
import { argument, integer, outFolder, text } from "../../options.js";

export const embedTexts = {
  noModel: "--model is missing: name the ONNX file of an image network, for example --model resnet18.onnx.",
};

/** Skipped images that are named; the manifest names all. */
const SHOWN = 10;

export const embed = defineCommand({
  name: "data embed",
  group: "Data",
  summary: "turn a folder of images into features by a network",
  examples: [
    {
      line: "data embed photos --model resnet18.onnx --out features",
      description: "what a network sees",
    },
    {
      line: "data embed photos --model resnet18.onnx --labels people.csv --out features",
      description: "with what is known of the images: fairbed audit features reads both",
    },
    {
      line: "data embed photos --model resnet18.onnx --layer /avgpool/GlobalAveragePool_output_0",
      description: "another value of the network",
    },
  ],
  arguments: { folder: argument("the folder with the images, with its subfolders") },
  options: {
    model: text("--model <file>", "the network, an ONNX file"),
    out: outFolder("--out <folder>", "where the features go", "features"),
    labels: text("--labels <table>", "what is known of the images, by a column image with their names"),
    layer: text("--layer <name>", "which value of the network to take"),
    batch: integer("--batch <number>", "how many images go through the network at once", 16, {
      min: 1,
      max: 4096,
    }),
  },
  reportsProgress: true,
  async run({ arguments: { folder }, options: { model, out, labels, layer, batch }, context }) {
    if (model === undefined) throw new InputError("no-model", embedTexts.noModel);
    const { embedImages } = await import("../../../sources/images/embed.js");
    let progress: ReturnType<typeof context.progress> | undefined;
    return embedImages({
      folder,
      model,
      out,
      layer,
      labels,
      batch,
      writeFile: context.writeFile,
      async onProgress(done, total) {
        progress ??= context.progress("images", total);
        progress.update(done);
        await context.checkpoint();
      },
    });
  },
  print: ({ out, layer, columns, rows, added, skipped, labelled }: EmbedResult) =>
    [
      `${added} ${added === 1 ? "image" : "images"} done, ${rows} in ${out}: ${columns} features each, layer ${layer}`,
      ...(labelled === undefined ? [] : [`${labelled} of them have a row in the table of labels`]),
      ...(skipped.length === 0 ? [] : [`skipped ${skipped.length} that could not be read:`]),
      ...skipped.slice(0, SHOWN).map(({ name, reason }) => `  ${name} (${reason})`),
      ...(skipped.length > SHOWN ? [`  and ${skipped.length - SHOWN} more, all in the manifest`] : []),
    ].join("\n"),
});
