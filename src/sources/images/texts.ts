/** What can be wrong with pictures, networks and embeddings. */
export const imageTexts = {
  missingPackage: (name: string): string =>
    `images need the package ${name}, which is not installed here: run npm install sharp onnxruntime-node.`,
  noFolder: (folder: string): string =>
    `${folder} is not a folder that can be read; name the folder with the images.`,
  noImages: (folder: string, kinds: readonly string[]): string =>
    `${folder} holds no image (${kinds.join(", ")}); name the folder with the images.`,
  allCorrupt: (images: number, first: string): string =>
    `none of the ${images} images could be read (the first: ${first}); check that the files are whole.`,
  noModel: (file: string): string =>
    `the model ${file} cannot be read; name an ONNX file, for example resnet18.onnx.`,
  badModel: (file: string, reason: string): string =>
    `${file} is not a network that can be run (${reason}); give an ONNX file of an image network.`,
  badInput: (file: string, shape: string): string =>
    `${file} takes ${shape}, but images come as one float32 input [batch, 3, 224, 224]; give a network for these.`,
  noLayer: (layer: string, near: string | undefined, outputs: readonly string[]): string =>
    `the network has no value "${layer}"${near === undefined ? "" : ` (did you mean "${near}"?)`}; its outputs are ${outputs.join(", ")}, and --layer takes these or the name of any value inside it.`,
  classHead: (output: string, inner: readonly string[]): string =>
    `the output ${output} holds scores of 1000 classes and not features, and the layer before it could not be told; name it with --layer, for example ${inner.join(" or ")}.`,
  badShape: (layer: string, shape: readonly number[]): string =>
    `the layer ${layer} is of shape [${shape.join(", ")}], but features are [batch, columns] or [batch, channels, height, width]; name another with --layer.`,
  notFinite: (name: string): string => `the network gave a number that is not finite for ${name}.`,
  otherSettings: (folder: string, what: string): string =>
    `${folder} holds features made with another ${what}; name another folder with --out, or remove this one.`,
  notEmbedding: (folder: string): string =>
    `${folder} holds files, but no features; name an empty or a new folder with --out.`,
  noEmbedding: (folder: string): string =>
    `${folder} holds no features (its manifest.json cannot be read); make them with fairbed data embed.`,
  damaged: (file: string): string =>
    `${file} is damaged: it does not agree with the manifest beside it; remove the folder and run fairbed data embed again.`,
  twoLabels: (folder: string, files: readonly string[]): string =>
    `${folder} has ${files.join(" and ")}, which both say what its images are: keep one of them.`,
  noFeatures: (folder: string): string =>
    `${folder} has no features yet: run fairbed data embed into it to its end.`,
  noImageColumn: (table: string): string =>
    `${table} has no column "image": name the images in it, as paths below the folder of images, such as faces/1.png.`,
  unfinished: (folder: string): string =>
    `${folder} is not finished: the images that are still to come are not in it`,
  query: (folder: string): string =>
    `${folder} is a folder of features, which no query can be asked: leave out the query.`,
};
