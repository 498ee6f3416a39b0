/** What a fair representation is told where nothing else is. */
export const REPRESENTATION_DEFAULTS = {
  prototypes: 5,
  reconstruction: 0.01,
  prediction: 1,
  parity: 1,
  parityForm: "sum",
  standardise: true,
  bounded: true,
  maxSteps: 5000,
  smoothing: 0.01,
  restarts: 5,
} as const;
