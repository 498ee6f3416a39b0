/** Pictures of the page: made small to be kept, and compared so that a broken layout is seen and anti-aliasing is not. */
import sharp from "sharp";

/** What is kept of the pixels of a side. */
const SCALE = 0.5;
/** In pixels of the kept picture. */
const BLUR = 1.2;
/** From 0 to 255, in any colour: what is clearly another shade. */
const CLEARLY = 40;
const TILE = 16;
/** The share of a tile's pixels from which on it counts as changed: half a line of text. */
const SHARE_OF_TILE = 0.2;

/** A screenshot as it is kept: half as wide, few colours. */
export const keptPicture = async (png: Buffer): Promise<Buffer> => {
  const { width } = await sharp(png).metadata();
  return sharp(png)
    .resize({ width: Math.round(width * SCALE), kernel: "lanczos3" })
    .webp({ quality: 55, effort: 6, smartSubsample: true })
    .toBuffer();
};

export interface PictureDifference {
  /** Why they cannot be compared, or undefined. */
  readonly sizes: string | undefined;
  /** Tiles that look different. */
  readonly tiles: number;
  /** The picture with what is different in red, as PNG; undefined where the sizes differ. */
  readonly drawn: Buffer | undefined;
}

const pixelsOf = (picture: Buffer) =>
  sharp(picture).removeAlpha().toColourspace("srgb").blur(BLUR).raw().toBuffer({ resolveWithObject: true });

/** Both as `keptPicture` gives them. */
export const pictureDifference = async (before: Buffer, now: Buffer): Promise<PictureDifference> => {
  const [one, other] = [await pixelsOf(before), await pixelsOf(now)];
  const { width, height, channels } = other.info;
  if (one.info.width !== width || one.info.height !== height) {
    const sizes = `it is ${width} x ${height} and was ${one.info.width} x ${one.info.height}`;
    return { sizes, tiles: 0, drawn: undefined };
  }
  const across = Math.ceil(width / TILE);
  const counts = new Map<number, number>();
  const drawn = Buffer.from(await sharp(now).removeAlpha().toColourspace("srgb").raw().toBuffer());
  for (let pixel = 0; pixel < width * height; pixel++) {
    const at = pixel * channels;
    let most = 0;
    for (let channel = 0; channel < channels; channel++)
      most = Math.max(most, Math.abs(one.data[at + channel] - other.data[at + channel]));
    if (most <= CLEARLY) continue;
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const tile = Math.floor(y / TILE) * across + Math.floor(x / TILE);
    counts.set(tile, (counts.get(tile) ?? 0) + 1);
    drawn.set([255, 0, 0], at);
  }
  return {
    sizes: undefined,
    tiles: [...counts.values()].filter((count) => count >= SHARE_OF_TILE * TILE * TILE).length,
    drawn: await sharp(drawn, { raw: { width, height, channels } }).png().toBuffer(),
  };
};
