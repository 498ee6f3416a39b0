/** A page whose policy allows WebAssembly and nothing else that is made at run time: models can be defined and trained. */
import { expect, test } from "vitest";
import { moduleTexts } from "../../src/compute/wasm/compile-module.js";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

/** What docs/engine.md says a page needs. */
const POLICY = "script-src 'self' 'wasm-unsafe-eval'";

/** In a file of its own: what the debugger evaluates is not held to the policy. */
const SCRIPT = `
const report = (result) => { document.querySelector("output").textContent = JSON.stringify(result); };
let evaluates = true;
try { new Function("return 1"); } catch { evaluates = false; }
try {
  const { locationFinding, trainStatic } = await import("/dist/design/index.js");
  const trained = await trainStatic(locationFinding(), {
    horizon: 1, steps: 20, starts: 2, seed: 1, threads: 2, sizes: { outer: 8, contrastive: 32, marginal: 32 },
  });
  report({ evaluates, designs: Array.from(trained.designs) });
} catch (error) {
  report({ evaluates, error: String(error) });
}`;

interface Result {
  readonly evaluates: boolean;
  readonly designs?: readonly number[];
  readonly error?: string;
}

describeInChromium("a strict content security policy", (browser) => {
  const inPage = async (options: {
    readonly isolated: boolean;
    readonly policy?: string;
  }): Promise<Result> => {
    const server = await serve({
      ...options,
      folder: ROOT,
      handlers: {
        "/": () =>
          '<!doctype html><title>policy</title><output></output><script type="module" src="/page.mjs"></script>',
        "/page.mjs": () => SCRIPT,
      },
    });
    const page = await browser().newPage();
    try {
      await page.goto(`${server.url}/`);
      return JSON.parse((await page.locator("output:not(:empty)").textContent()) ?? "") as Result;
    } finally {
      await page.close();
      await server.close();
    }
  };

  test.each([true, false])(
    "leaves models and their training as they are (isolated: %s)",
    async (isolated) => {
      const expected = await inPage({ isolated });
      expect(expected.evaluates).toBe(true);
      expect(expected.designs?.every(Number.isFinite)).toBe(true);
      expect(await inPage({ isolated, policy: POLICY })).toEqual({ ...expected, evaluates: false });
      expect(await inPage({ isolated, policy: `${POLICY}; worker-src blob:` })).toEqual({
        ...expected,
        evaluates: false,
      });
    },
  );

  test("needs WebAssembly to be allowed, and says so", async () => {
    const { error } = await inPage({ isolated: false, policy: "script-src 'self'" });
    expect(error).toBe(`EnvironmentError: ${moduleTexts.forbidden}`);
  });
});
