import { VERSION } from "../core/version.js";

/** The package's version. */
export const version = (): string => VERSION;
