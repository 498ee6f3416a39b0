/**
 * Float64 references for the functions that `Math` lacks, by formulas other than those of the kernels, and
 * vectors to check the references themselves: mpmath 1.3.0 at 40 digits, rounded to float64, at arguments that
 * are float32.
 */

const EULER = 0.5772156649015329;

/** zeta(k) for k >= 2, by Euler and Maclaurin from n = 30. */
const zeta = (k: number): number => {
  let sum = 0;
  for (let n = 29; n >= 1; n--) sum += n ** -k;
  const tail = 30 ** (1 - k) / (k - 1) + 30 ** -k / 2 + (k * 30 ** (-k - 1)) / 12;
  return sum + tail - (k * (k + 1) * (k + 2) * 30 ** (-k - 3)) / 720;
};
const ZETA = Array.from({ length: 50 }, (_, k) => (k < 2 ? 0 : zeta(k)));

/** lgamma(1 + d) by its Taylor series, |d| <= 0.3. */
const lgammaNearOne = (d: number): number => {
  let sum = 0;
  for (let k = 49; k >= 2; k--) sum = -d * sum + ZETA[k] / k;
  return d * (d * sum - EULER) + 0; // +0 at d = 0, as C has it
};

/** Lanczos' approximation with g = 7 and nine coefficients (Godfrey's). */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

const lgammaPositive = (x: number): number => {
  if (Math.abs(x - 1) < 0.3) return lgammaNearOne(x - 1);
  if (Math.abs(x - 2) < 0.3) return lgammaNearOne(x - 2) + Math.log1p(x - 2);
  if (x < 0.5) return lgammaPositive(x + 1) - Math.log(x);
  if (x > 1e15) return x * (Math.log(x) - 1);
  const z = x - 1;
  const t = z + 7.5;
  const sum = LANCZOS.reduce((all, c, i) => all + (i === 0 ? c : c / (z + i)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
};

/** x less the nearest integer: exact. */
const fraction = (x: number): number => x - Math.round(x);
const isPole = (x: number): boolean => x <= 0 && Math.floor(x) === x;

/** log |Gamma(x)|. */
export const lgamma = (x: number): number => {
  if (Number.isNaN(x)) return x;
  if (isPole(x) || x === Infinity) return Infinity;
  if (x > 0) return lgammaPositive(x);
  // Euler's reflection.
  const a = -x;
  const size = Math.abs(Math.sin(Math.PI * fraction(a)));
  return Math.log(Math.PI / size) - Math.log(a) - lgammaPositive(a);
};

/** The sum of f(x) to f(x + steps - 1), and x + steps, for as many steps as bring x to 12. */
const upward = (x: number, f: (x: number) => number): readonly [number, number] => {
  let sum = 0;
  let y = x;
  for (; y < 12; y++) sum += f(y);
  return [sum, y];
};

export const digamma = (x: number): number => {
  if (Number.isNaN(x) || isPole(x)) return Number.NaN;
  if (x < 0) return digamma(1 - x) - Math.PI / Math.tan(Math.PI * fraction(x));
  const [sum, y] = upward(x, (v) => 1 / v);
  const w = 1 / (y * y);
  const series =
    w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - (w * 691) / 32760)))));
  return Math.log(y) - 0.5 / y - series - sum;
};

export const trigamma = (x: number): number => {
  if (Number.isNaN(x) || x === -Infinity) return Number.NaN;
  if (isPole(x)) return Infinity;
  if (x < 0) return (Math.PI / Math.sin(Math.PI * fraction(x))) ** 2 - trigamma(1 - x);
  const [sum, y] = upward(x, (v) => 1 / (v * v));
  const w = 1 / (y * y);
  const series = w * (1 / 6 - w * (1 / 30 - w * (1 / 42 - w * (1 / 30 - w * (5 / 66 - (w * 691) / 2730)))));
  return (1 + 0.5 / y + series) / y + sum;
};

/** The Maclaurin series up to 2, one less the continued fraction of erfc beyond. */
export const erf = (x: number): number => {
  const a = Math.abs(x);
  if (Number.isNaN(x) || a > 7) return Math.sign(x);
  if (a < 2) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 60 && Math.abs(term) > 1e-18 * a; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = a;
  for (let k = 80; k > 0; k--) fraction = a + k / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / fraction);
};

export const LGAMMA_VECTORS: readonly (readonly [number, number])[] = [
  [1.0000000031710769e-30, 69.07755278665029],
  [9.999999747378752e-6, 11.512919718158097],
  [0.10000000149011612, 2.252712636201601],
  [0.25, 1.2880225246980774],
  [0.5, 0.5723649429247001],
  [0.75, 0.20328095143129538],
  [1.0000001192092896, -6.880945764253472e-8],
  [1.25, -0.09827183642181316],
  [1.4616321325302124, -0.12148629053584953],
  [1.9999998807907104, -5.0399815637755424e-8],
  [2.000000238418579, 1.0079965877070314e-7],
  [2.5, 0.2846828704729192],
  [3.0, Math.LN2],
  [4.5, 2.4537365708424423],
  [7.25, 7.0521854507385395],
  [20.0, 39.339884187199495],
  [123.5, 469.8172754919306],
  [1000000.0, 12815504.569147611],
  [1.0000000150474662e30, 6.807755382926351e31],
  [-1.0000000031710769e-30, 69.07755278665029],
  [-0.10000000149011612, 2.3689613189525565],
  [-0.5, 1.2655121234846454],
  [-0.75, 1.5757045971498584],
  [-1.5, 0.860047015376481],
  [-2.456993818283081, 4.6867009023663954e-5],
  [-2.7472481727600098, -0.0008299294801989492],
  [-5.000000476837158, 9.768598235436858],
  [-10.25, -14.20399790093109],
  [-100.125, -362.21044642584553],
  [-1234.5, -7556.52459250083],
];
export const DIGAMMA_VECTORS: readonly (readonly [number, number])[] = [
  [1.0000000031710769e-30, -9.999999968289232e29],
  [9.999999747378752e-6, -100000.57972542822],
  [0.10000000149011612, -10.423754789263684],
  [0.25, -4.2274535333762655],
  [0.5, -1.9635100260214235],
  [0.75, -1.0858608797864722],
  [1.0000001192092896, -0.5772154688101285],
  [1.25, -0.22745353337626542],
  [1.4616321325302124, -1.203605254910667e-8],
  [1.9999998807907104, 0.42278425821633236],
  [2.000000238418579, 0.42278448886271947],
  [2.5, 0.7031566406452432],
  [3.0, 0.9227843350984671],
  [4.5, 1.388870926359529],
  [7.25, 1.910453526883736],
  [20.0, 2.970523992242149],
  [123.5, 4.812187109433143],
  [1000000.0, 13.815510057964191],
  [1.0000000150474662e30, 69.07755280486883],
  [-1.0000000031710769e-30, 9.999999968289232e29],
  [-0.10000000149011612, 9.24507289817653],
  [-0.5, 0.03648997397857652],
  [-0.75, -2.894120200042932],
  [-1.5, 0.7031566406452432],
  [-2.456993818283081, 1.5159038900329442],
  [-2.7472481727600098, -1.9060412039134162],
  [-5.000000476837158, 2097153.706116186],
  [-10.25, 5.516858419886273],
  [-100.125, 12.195880442483347],
  [-1234.5, 7.118826276380449],
];
export const TRIGAMMA_VECTORS: readonly (readonly [number, number])[] = [
  [1.0000000031710769e-30, 9.999999936578462e59],
  [9.999999747378752e-6, 10000000506.887426],
  [0.10000000149011612, 101.43329616778679],
  [0.25, 17.19732915450711],
  [0.5, 4.934802200544679],
  [0.75, 2.5418796476716063],
  [1.0000001192092896, 1.6449337802555737],
  [1.25, 1.1973291545071107],
  [1.4616321325302124, 0.9676722564619307],
  [1.9999998807907104, 0.6449341150223497],
  [2.000000238418579, 0.644933970500001],
  [2.5, 0.49035775610023485],
  [3.0, 0.39493406684822646],
  [4.5, 0.24872510303901038],
  [7.25, 0.14787923315893217],
  [20.0, 0.05127082293520312],
  [123.5, 0.008130036519855761],
  [1000000.0, 1.0000005000001667e-6],
  [1.0000000150474662e30, 9.99999984952534e-31],
  [-1.0000000031710769e-30, 9.999999936578462e59],
  [-0.10000000149011612, 101.92253698401608],
  [-0.5, 8.934802200544679],
  [-0.75, 18.975106932284888],
  [-1.5, 9.379246644989124],
  [-2.456993818283081, 9.716903825537655],
  [-2.7472481727600098, 19.098135618722644],
  [-5.000000476837158, 4398046511107.108],
  [-10.25, 19.646252424622652],
  [-100.125, 67.38393659650153],
  [-1234.5, 9.868794684534409],
];
export const ERF_VECTORS: readonly (readonly [number, number])[] = [
  [1.0000000031710769e-30, 1.1283791706736896e-30],
  [-9.999999747378752e-6, -1.1283791385526445e-5],
  [0.10000000149011612, 0.11246291768297051],
  [-0.5, -0.5204998778130465],
  [0.75, 0.7111556336535151],
  [1.0, 0.8427007929497149],
  [-1.5, -0.9661051464753108],
  [2.0, 0.9953222650189527],
  [2.5, 0.999593047982555],
  [-3.0, -0.9999779095030014],
  [3.5, 0.9999992569016276],
  [3.9000000953674316, 0.9999999652077781],
  [4.5, 0.9999999998033839],
  [6.0, 1.0],
];
