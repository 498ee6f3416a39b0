/** What every function here needs to know of float32. */
export const SIGN_BIT = 0x80000000;
export const MANTISSA_BITS = 23;
/** Takes every subnormal number to a normal one, as a power of two. */
export const SUBNORMAL_SHIFT = 24;
/** Nearer to 0 than this, expm1 x and log1p x are x. */
export const TINY = 2 ** -64;
