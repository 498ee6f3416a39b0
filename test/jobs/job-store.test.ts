import { expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { JobStore, jobStoreTexts } from "../../src/jobs/job-store.js";
import { temporaryFolder } from "../sources/files.js";

const { file } = temporaryFolder();

test.each(["null", "[]", "7", '{"key": "k", "kind": "c", "input": {}, "result": null, "seconds": 1}'])(
  "a line of results that is no result is named: %s",
  (line) => {
    const path = file("results.jsonl", `${line}\n`);
    expect(() => JobStore.read(path)).toThrow(new InputError("results", jobStoreTexts.line(path, 1)));
  },
);
