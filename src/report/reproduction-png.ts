/** A chart as PNG, where the package that makes images is installed. */

/** Twice as fine as a screen, so that it also prints well. */
const DOTS_PER_INCH = 144;

const loadSharp = () =>
  import("sharp").then(
    (module) => module.default,
    () => undefined,
  );

/** Undefined without the package: the SVG says the same. */
export const pngOf = async (svg: string): Promise<Uint8Array | undefined> => {
  const sharp = await loadSharp();
  return sharp?.(Buffer.from(svg), { density: DOTS_PER_INCH }).png().toBuffer();
};
