/** The public surface that runs unchanged in a browser; bundlers pick it through the `browser` condition. */
export { detectFeatures, type Features } from "./compute/features.js";
export { EnvironmentError, FairbedError, InputError, TraceError } from "./core/errors.js";
