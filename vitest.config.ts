import { defineConfig } from "vitest/config";

/** Totals for a machine, beside what is printed for a person. */
const jsonReport = (outputFile: string | undefined): ["json", { outputFile: string }][] =>
  outputFile === undefined ? [] : [["json", { outputFile }]];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // However slow the machine is: what is awaited comes, or the test is over.
    expect: { poll: { timeout: 30_000 } },
    // One fewer unless given, which on two cores is one file at a time.
    maxWorkers: "100%",
    globalSetup: ["test/setup/build.ts"],
    reporters: [
      "default",
      "./test/setup/skipped-reporter.ts",
      ...jsonReport(process.env.FAIRBED_TEST_REPORT),
    ],
  },
});
