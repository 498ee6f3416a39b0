/** For tests of what ships: call at the top of the file. */
import { fileURLToPath } from "node:url";
import { beforeAll, inject } from "vitest";

/** The checkout, with a slash at the end. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Fails the file's tests with the compiler's own words when `dist/` could not be built. */
export const needsDist = (): void => {
  beforeAll(() => {
    const failure = inject("buildFailure");
    if (failure !== "") throw new Error(failure);
  });
};
