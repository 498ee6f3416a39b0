/** Adam (compute/adam.ts) in WGSL: what a step is, and what it does to one number. */
import { log } from "../../../core/math.js";
import { ADAM_DEFAULTS, LOG_LAST_RATE } from "../../adam.js";
import { f32 } from "./literal.js";

const { beta1, beta2, epsilon } = ADAM_DEFAULTS;

/**
 * Statements that give `size` and `scale` of the step numbered `step`, from 1. `settings` begins with the rate, and the steps
 * over which it falls to a hundredth, 0 where it does not.
 */
export const ADAM_STEP = `
var rate = settings[0];
if (settings[1] > 0.0f) { rate *= fb_exp(min(step, settings[1]) / settings[1] * ${f32(LOG_LAST_RATE)}); }
let size = rate / -fb_expm1(step * ${f32(log(beta1))});
let scale = inverseSqrt(-fb_expm1(step * ${f32(log(beta2))}));`;

/** Statements that bring both running means of a number up to its `slope`, and give the `change` to take away from it. */
export const adamChange = (mean: string, meanSquare: string): string => `
let runningMean = fma(${f32(beta1)}, ${mean}, ${f32(1 - beta1)} * slope);
let runningSquare = fma(${f32(beta2)}, ${meanSquare}, ${f32(1 - beta2)} * slope * slope);
${mean} = runningMean;
${meanSquare} = runningSquare;
let change = size * runningMean / (sqrt(runningSquare) * scale + ${f32(epsilon)});`;
