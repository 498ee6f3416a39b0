/** Adam (compute/adam.ts) in WGSL: what a step is, and what it does to one number. */
import { log } from "../../../core/math.js";
import { f32 } from "./literal.js";

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;

/**
 * Statements that give `size` and `scale` of the step numbered `step`, from 1. `settings` begins with the rate, and the steps
 * over which it falls to a hundredth, 0 where it does not.
 */
export const ADAM_STEP = `
var rate = settings[0];
if (settings[1] > 0.0f) { rate *= fb_exp(min(step, settings[1]) / settings[1] * ${f32(log(0.01))}); }
let size = rate / -fb_expm1(step * ${f32(log(BETA1))});
let scale = inverseSqrt(-fb_expm1(step * ${f32(log(BETA2))}));`;

/** Statements that bring both running means of a number up to its `slope`, and give the `change` to take away from it. */
export const adamChange = (mean: string, meanSquare: string): string => `
let runningMean = fma(${f32(BETA1)}, ${mean}, ${f32(1 - BETA1)} * slope);
let runningSquare = fma(${f32(BETA2)}, ${meanSquare}, ${f32(1 - BETA2)} * slope * slope);
${mean} = runningMean;
${meanSquare} = runningSquare;
let change = size * runningMean / (sqrt(runningSquare) * scale + ${f32(EPSILON)});`;
