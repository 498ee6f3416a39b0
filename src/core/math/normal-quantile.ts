import { log } from "./log.js";

/**
 * Coefficients of AS 241 (Wichura, Applied Statistics 37, 1988, function PPND16), constant term first, each written
 * with the fewest digits that give the same float64 as the published ones. Every denominator starts with 1.
 */
export const QUANTILE_CENTRAL_NUMERATOR = [
  3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
  67265.7709270087, 33430.57558358813, 2509.0809287301227,
] as const;
export const QUANTILE_CENTRAL_DENOMINATOR = [
  1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
  28729.085735721943, 5226.495278852854,
] as const;
export const QUANTILE_TAIL_NUMERATOR = [
  1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
  0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
] as const;
export const QUANTILE_TAIL_DENOMINATOR = [
  1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
  0.0005475938084995345, 1.0507500716444169e-9,
] as const;
export const QUANTILE_FAR_NUMERATOR = [
  6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
  0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
] as const;
export const QUANTILE_FAR_DENOMINATOR = [
  1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
  1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15,
] as const;

// Read from typed arrays because engines load those faster than constants of a module.
const A = Float64Array.from(QUANTILE_CENTRAL_NUMERATOR);
const B = Float64Array.from(QUANTILE_CENTRAL_DENOMINATOR);
const C = Float64Array.from(QUANTILE_TAIL_NUMERATOR);
const D = Float64Array.from(QUANTILE_TAIL_DENOMINATOR);
const E = Float64Array.from(QUANTILE_FAR_NUMERATOR);
const F = Float64Array.from(QUANTILE_FAR_DENOMINATOR);

/** N(r) / D(r) outside the centre, r = sqrt(-log of the smaller of p and 1 - p), which is at least 1.6. */
const tailQuantile = (r: number): number => {
  if (r <= 5) {
    const t = r - 1.6;
    return (
      (((((((C[7] * t + C[6]) * t + C[5]) * t + C[4]) * t + C[3]) * t + C[2]) * t + C[1]) * t + C[0]) /
      (((((((D[7] * t + D[6]) * t + D[5]) * t + D[4]) * t + D[3]) * t + D[2]) * t + D[1]) * t + D[0])
    );
  }
  if (r === Number.POSITIVE_INFINITY) return r;
  const t = r - 5;
  return (
    (((((((E[7] * t + E[6]) * t + E[5]) * t + E[4]) * t + E[3]) * t + E[2]) * t + E[1]) * t + E[0]) /
    (((((((F[7] * t + F[6]) * t + F[5]) * t + F[4]) * t + F[3]) * t + F[2]) * t + F[1]) * t + F[0])
  );
};

/**
 * The z with normalCdf(z) = p, relative error below 1e-15; -Infinity at 0, Infinity at 1, NaN outside [0, 1].
 *
 * In exactly this order of rounded operations, with every polynomial by Horner from the highest coefficient
 * ((c7 r + c6) r + ...) r + c0, and {@link log} of this library:
 *
 *     q = p - 0.5
 *     |q| <= 0.425:  r = 0.180625 - q * q;                  z = (q * N(r)) / D(r)    (central)
 *     else:          r = sqrt(-log(q < 0 ? p : 1 - p))
 *       r <= 5:      r = r - 1.6;                           z = N(r) / D(r)          (tail)
 *       else:        r = r - 5;                             z = N(r) / D(r)          (far)
 *       and z = -z where q < 0
 */
export const normalQuantile = (p: number): number => {
  const q = p - 0.5;
  if (q <= 0.425 && q >= -0.425) {
    const r = 0.180625 - q * q;
    return (
      (q * (((((((A[7] * r + A[6]) * r + A[5]) * r + A[4]) * r + A[3]) * r + A[2]) * r + A[1]) * r + A[0])) /
      (((((((B[7] * r + B[6]) * r + B[5]) * r + B[4]) * r + B[3]) * r + B[2]) * r + B[1]) * r + B[0])
    );
  }
  return q < 0 ? -tailQuantile(Math.sqrt(-log(p))) : tailQuantile(Math.sqrt(-log(1 - p)));
};
