/** The longer examples, each in a folder of its own, print exactly the output that is committed beside them. */
import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toCsv } from "../../src/tables/csv.js";
import { examplePeople } from "../../src/tables/example-people.js";
import type { Observation } from "../../src/workflows/run-policy.js";
import { describeInChromium, serve } from "../setup/chromium.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { describeWithPostgres } from "../setup/postgres.js";

needsDist();

const EXAMPLES = join(ROOT, "examples");
const NAMES = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, "output.txt")));
/** Needs a queue. */
const CLUSTER = "cluster-sweep";
/** Each is under a minute by itself; other tests want the cores too. */
const LONGEST = 300_000;

const run = (name: string, env: NodeJS.ProcessEnv = {}) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(EXAMPLES, name, `${name}.mjs`)], {
      env: { ...process.env, ...env },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
const committed = (name: string) => ({
  code: 0,
  stdout: readFileSync(join(EXAMPLES, name, "output.txt"), "utf8"),
  stderr: "",
});

test("every folder is in the list of examples, and begins by saying what it is for", () => {
  const list = readFileSync(join(EXAMPLES, "README.md"), "utf8");
  const folders = readdirSync(EXAMPLES).filter((name) => !name.includes("."));
  for (const name of folders) expect(list).toContain(`(${name}/`);
  for (const name of NAMES) {
    const header = readFileSync(join(EXAMPLES, name, `${name}.mjs`), "utf8").split("*/")[0];
    for (const part of ["* For: ", "* Run: ", "* What is printed: "]) expect(header).toContain(part);
  }
});

test("the hiring tables are the example people, in two parts", () => {
  const read = (name: string) => readFileSync(join(EXAMPLES, "hiring", name), "utf8");
  const people = toCsv(examplePeople().table);
  expect(read("people.csv")).toBe(people);
  const [names, ...rows] = people.trimEnd().split("\n");
  const unlabelled = (line: string) => line.slice(0, line.lastIndexOf(","));
  expect(read("labelled.csv")).toBe(`${[names, ...rows.slice(0, 150)].join("\n")}\n`);
  expect(read("pool.csv")).toBe(`${[names, ...rows.slice(150)].map(unlabelled).join("\n")}\n`);
});

describe("print what is committed", () => {
  test.each(NAMES.filter((name) => name !== CLUSTER))("%s", { timeout: LONGEST }, async (name) => {
    expect(await run(name)).toEqual(committed(name));
  });
});

describeWithPostgres("with a queue", (server) => {
  test(CLUSTER, { timeout: LONGEST }, async () => {
    expect(await run(CLUSTER, { FAIRBED_QUEUE: server().address })).toEqual(committed(CLUSTER));
    // A second time there would be nothing to compute, and it would count what is not its own.
    expect(await run(CLUSTER, { FAIRBED_QUEUE: server().address })).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("was a queue before"),
    });
  });
});

test("a cluster sweep without a queue says what it needs", async () => {
  expect(await run(CLUSTER, { FAIRBED_QUEUE: "" })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("FAIRBED_QUEUE"),
  });
});

describeInChromium("the page with a trained policy, from a static server", (browser) => {
  /** Notices what is above it, in a calm ring. */
  const THRESHOLD = 0.6;

  test("finds a threshold, goes on after a reload, and asks nobody else", async () => {
    const site = mkdtempSync(join(tmpdir(), "fairbed-threshold-"));
    cpSync(join(EXAMPLES, "threshold-page"), site, { recursive: true });
    mkdirSync(join(site, "node_modules"));
    symlinkSync(ROOT, join(site, "node_modules", "fairbed"));
    symlinkSync(join(ROOT, "node_modules", "@noble"), join(site, "node_modules", "@noble"));
    const server = await serve({ isolated: false, folder: site });
    const page = await browser().newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(server.url))
        problems.push(`asked for ${request.url()}`);
    });
    // A stimulus is there for half a second, which a look now and then may miss.
    await page.addInitScript(() => {
      let shown = 0;
      let isThere = false;
      new MutationObserver(() => {
        const circle = document.querySelector("#stimulus circle");
        if (circle !== null && !isThere) document.documentElement.dataset.shown = String(++shown);
        isThere = circle !== null;
      }).observe(document, { childList: true, subtree: true });
    });
    const history: Observation[] = [];
    const takePart = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await page.getByText(`${history.length + 1} of 10`).waitFor();
        await page.locator(`html[data-shown="${i + 1}"]`).waitFor();
        const pictures = process.env.FAIRBED_PICTURES;
        if (pictures !== undefined) await page.screenshot({ path: join(pictures, "threshold-spot.png") });
        const design = JSON.parse((await page.locator("#trial").getAttribute("data-design")) ?? "");
        const noticed = design.intensity > THRESHOLD;
        history.push({ design, outcome: { outcome: noticed ? 1 : 0 } });
        // Keys and buttons do the same.
        if (i % 2 === 0) await page.keyboard.press(noticed ? "j" : "f");
        else await page.locator(noticed ? "#noticed" : "#missed").click();
      }
    };
    try {
      await page.goto(`${server.url}/`);
      await page.getByRole("button", { name: "Begin", exact: true }).click();
      await takePart(4);
      await page.getByText("5 of 10").waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Go on" }).click();
      await takePart(6);
      const result = page.locator("#result[data-threshold]");
      await result.waitFor();
      const said = JSON.parse((await result.getAttribute("data-threshold")) ?? "");
      // The library, given the same answers; as it ships, which is what the model is made with.
      const { runPolicy } = await import("fairbed");
      const { decodePolicy } = await import("fairbed/design");
      const { default: model } = await import(join(EXAMPLES, "threshold-page/model.mjs"));
      const policy = decodePolicy(readFileSync(join(EXAMPLES, "threshold-page/policy.fairbed")));
      const session = runPolicy(model, policy, { history });
      expect(session.done).toBe(true);
      const { threshold, anxiety } = (await session.posterior()).parameters;
      expect(said).toEqual(threshold);
      const pictures = process.env.FAIRBED_PICTURES;
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, "threshold-result.png") });
      expect(await page.locator("#mean").textContent()).toBe(threshold.mean.toFixed(2));
      expect(threshold.interval[0]).toBeLessThan(THRESHOLD);
      expect(threshold.interval[1]).toBeGreaterThan(THRESHOLD);
      // Of what is not to be learnt, as much is unknown as before.
      expect(anxiety.sd).toBeGreaterThan(0.95);
      // The designs are those that the policy gives for these answers.
      for (let step = 0; step < history.length; step++) {
        const again = runPolicy(model, policy, { history: history.slice(0, step) });
        expect(await again.next()).toEqual(history[step].design);
      }
      expect(problems).toEqual([]);
    } finally {
      await page.close();
      await server.close();
      rmSync(site, { recursive: true, force: true });
    }
  }, 120_000);
});
