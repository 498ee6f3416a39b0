/** Pictures as an ImageNet network wants them. */
import { EnvironmentError } from "../../core/errors.js";
import { resizeAndCrop } from "./resize.js";
import { imageTexts } from "./texts.js";

/** Pixels a side. */
export const SIDE = 224;
export const CHANNELS = 3;
/** Numbers of one picture: [CHANNELS, SIDE, SIDE]. */
export const PICTURE = CHANNELS * SIDE * SIDE;

/** Larger files are refused before they are decoded: 300 MB each, and four are decoded at once. */
const MOST_PIXELS = 1e8;

/** As the manifest says it, so that a reader can do the same. */
export const PREPROCESSING = {
  orientation: "upright by EXIF",
  colours: "sRGB, 8 bits, transparent parts on white",
  resize: `shorter side ${SIDE}, linear with antialiasing`,
  crop: `centre ${SIDE} x ${SIDE}`,
  layout: "RGB, [3, height, width]",
  mean: [0.485, 0.456, 0.406],
  standardDeviation: [0.229, 0.224, 0.225],
} as const;

const load = async () => {
  try {
    return (await import("sharp")).default;
  } catch (cause) {
    throw new EnvironmentError("no-image-packages", imageTexts.missingPackage("sharp"), { cause });
  }
};

/** What reads one picture file into `out` [CHANNELS, SIDE, SIDE]; it throws for a file that is no whole picture. */
export const pictureReader = async (): Promise<(file: string, out: Float32Array) => Promise<void>> => {
  const sharp = await load();
  const { mean, standardDeviation } = PREPROCESSING;
  return async (file, out) => {
    const { data, info } = await sharp(file, { failOn: "warning", limitInputPixels: MOST_PIXELS })
      .rotate()
      .toColourspace("srgb")
      .flatten({ background: "white" })
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    const small = resizeAndCrop({ data, width, height, channels }, SIDE);
    const pixels = SIDE * SIDE;
    // A grey picture may keep its one channel, which is then all three.
    for (let c = 0; c < CHANNELS; c++) {
      const from = channels < CHANNELS ? 0 : c;
      for (let i = 0; i < pixels; i++) {
        out[c * pixels + i] = (small[i * channels + from] / 255 - mean[c]) / standardDeviation[c];
      }
    }
  };
};
