/** The programs in `examples/`, one for each job: the same file runs in Node and, unbundled, in Chromium, and prints the same. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

const NAMES = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".mjs"));

const printed = new Map<string, string>();
const inNode = (name: string): string => {
  const before = printed.get(name);
  if (before !== undefined) return before;
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(ROOT, "examples", name)], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  printed.set(name, stdout);
  return stdout;
};

/** What a bundler would make of the package's exports, as an import map. */
const importMap = (): string => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const entries = Object.entries<Record<string, string | null>>(exports).flatMap(([entry, conditions]) => {
    const file = conditions.browser === null ? undefined : (conditions.browser ?? conditions.default);
    return file === undefined ? [] : [[`fairbed${entry.slice(1)}`, file.slice(1)]];
  });
  // The one package that pages need beside it.
  const hashes = ["@noble/hashes/", "/node_modules/@noble/hashes/"];
  return JSON.stringify({ imports: Object.fromEntries([...entries, hashes]) });
};

test("there is one for each job", () => {
  expect(NAMES).toEqual(
    expect.arrayContaining([
      "acquisition.mjs",
      "audit.mjs",
      "campaign.mjs",
      "fit-predict.mjs",
      "plan.mjs",
      "policy.mjs",
      "rank.mjs",
    ]),
  );
});

/** A plan takes most of a minute where other tests want the cores too. */
const LONGEST = 300_000;

describe("in Node", () => {
  test.each(NAMES)("%s prints something", { timeout: LONGEST }, (name) => {
    expect(inNode(name)).not.toBe("");
  });

  test("a p value is never printed as 0", () => {
    expect(inNode("audit.mjs")).toMatch(/, p below 0\.001\n/);
  });
});

describeInChromium("in Chromium", (browser) => {
  test.each(NAMES)("%s prints what it prints in Node", { timeout: LONGEST }, async (name) => {
    const page = await browser().newPage();
    const server = await serve({
      isolated: true,
      folder: ROOT,
      handlers: {
        "/": () =>
          `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${importMap()}</script>`,
      },
    });
    try {
      const lines: string[] = [];
      page.on("console", (message) => lines.push(message.text()));
      await page.goto(`${server.url}/`);
      await page.evaluate(`import("/examples/${name}")`);
      expect(`${lines.join("\n")}\n`).toBe(inNode(name));
    } finally {
      await page.close();
      await server.close();
    }
  });
});
