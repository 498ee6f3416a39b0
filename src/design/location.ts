/**
 * Source location finding (paper, section 6.1 and appendix F.1): a source at (theta, phi) is heard at a design (x, y) with
 * intensity mu = background + 1 / (offset + distance^2), and the log of the reading is normal around log mu.
 */
import { add, div, log, mul, square, sub, type Value } from "../compute/index.js";

export interface LocationSettings {
  /** Standard deviation of the log reading. */
  readonly noise: number;
  readonly background: number;
  /** What keeps the intensity finite at the source. */
  readonly offset: number;
}

export const LOCATION_DEFAULTS: LocationSettings = { noise: 0.5, background: 0.1, offset: 1e-4 };

export interface LocationPoint {
  readonly theta: Value;
  readonly phi: Value;
  readonly x: Value;
  readonly y: Value;
}

/** log mu(theta, phi; x, y). */
export const logIntensity = (
  { theta, phi, x, y }: LocationPoint,
  { background, offset }: LocationSettings = LOCATION_DEFAULTS,
): Value => {
  const distance2 = add(square(sub(theta, x)), square(sub(phi, y)));
  return log(add(background, div(1, add(offset, distance2))));
};

/** log p(reading | theta, phi; x, y), `reading` being the log of the observed intensity. */
export const locationLogLikelihood = (
  { reading, ...point }: LocationPoint & { readonly reading: Value },
  settings: LocationSettings = LOCATION_DEFAULTS,
): Value =>
  sub(
    mul(-0.5, square(div(sub(reading, logIntensity(point, settings)), settings.noise))),
    Math.log(settings.noise) + 0.5 * Math.log(2 * Math.PI),
  );
