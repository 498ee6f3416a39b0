/** A policy's file in a page: the same designs as in Node, bit for bit. */
import { expect, test } from "vitest";
import type * as Library from "../../src/design/index.js";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();

/** The designs of a policy that starts with a network's file, as plain numbers. */
const use = async (library: typeof Library, file: readonly number[]): Promise<number[]> => {
  const model = library.locationFinding();
  const policy = library.policyOf(library.decodePolicy(Uint8Array.from(file)), model);
  const history = library.readHistory(
    [
      { design: [1, 2], outcome: 0.3 },
      { design: { x: 3, y: 4 }, outcome: -0.2 },
    ],
    model,
  );
  return [...(await policy.next(history, library.seededStream(0)))];
};

describeInChromium("a policy's file in Chromium", (browser) => {
  test.each([
    ["of a network", undefined],
    ["of one that starts from static designs", [0.7, 3, 5.4, 3, 0.4, 3]],
  ])("%s gives Node's designs", async (_, startDesigns) => {
    const library: typeof Library = await import(new URL("../../dist/design/index.js", import.meta.url).href);
    const trained = await library.trainDad(library.locationFinding(), {
      ...{ horizon: 3, steps: 2, startDesigns },
    });
    const model = library.identityOf(library.locationFinding());
    const file = [...library.encodePolicy({ kind: "dad", horizon: 3, model, network: trained.network })];
    const expected = await use(library, file);
    expect(expected.every(Number.isFinite)).toBe(true);
    const server = await serve({
      isolated: false,
      folder: ROOT,
      handlers: { "/": () => "<!doctype html><title>policy</title>" },
    });
    const page = await browser().newPage();
    try {
      await page.goto(`${server.url}/`);
      const script = `import("/dist/design/index.js").then((library) => (${use})(library, ${JSON.stringify(file)}))`;
      expect(await page.evaluate(script)).toEqual(expected);
    } finally {
      await page.close();
      await server.close();
    }
  });
});
