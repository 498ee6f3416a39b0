/** In a browser, the page's headers let it do what it needs, and nothing else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startStudio } from "../../src/server/studio-server.js";
import { describeInChromium } from "../setup/chromium.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-policy-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "assets"));
const file = (name: string, text: string) => writeFileSync(join(folder, name), text);

file(
  "index.html",
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="fairbed-mode" content="static"><title>x</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="./assets/style-12345678.css"><script>window.inline = true;</script></head>
<body><div id="box"></div><script type="module" src="./assets/index-12345678.js"></script></body></html>`,
);
file("assets/style-12345678.css", "#box { width: 123px; }");
file(
  "assets/index-12345678.js",
  `const fails = async (run) => { try { await run(); return false; } catch { return true; } };
const stopped = new Set();
document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => stopped.add(effectiveDirective));
const box = document.querySelector("#box");
box.innerHTML = '<svg width="20" height="10"><rect fill="#ff0000" width="5" height="5"/></svg><p style="width: 7px">x</p>';
const worker = new Worker(new URL("./worker-12345678.js", import.meta.url), { type: "module" });
const inWorker = await new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); });
const seen = {
  isolated: crossOriginIsolated,
  inline: window.inline === true,
  styled: getComputedStyle(box).width,
  drawn: getComputedStyle(box.querySelector("rect")).fill,
  evaluates: !(await fails(() => new Function("return 1")())),
  elsewhere: !(await fails(() => fetch("https://example.org/"))),
  inWorker,
};
// Told a little later.
for (let i = 0; i < 100 && stopped.size < 3; i++) await new Promise((resolve) => setTimeout(resolve, 20));
seen.stopped = [...stopped].sort();
const shown = document.createElement("pre");
shown.id = "seen";
shown.textContent = JSON.stringify(seen);
document.body.append(shown);`,
);
file(
  "assets/worker-12345678.js",
  `const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const compiled = WebAssembly.compile(empty).then(() => true, () => false);
const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const text = "onmessage = ({ data }) => postMessage(data.buffer instanceof SharedArrayBuffer)";
const thread = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
thread.onmessage = async ({ data }) => {
  let evaluates = true;
  try { new Function("return 1")(); } catch { evaluates = false; }
  postMessage({ compiled: await compiled, shared: data, evaluates });
};
thread.onerror = () => postMessage("no thread");
thread.postMessage(memory);`,
);

describeInChromium("the page's headers", (browser) => {
  test("allow workers, threads and WebAssembly, and no program but its own", async () => {
    const server = await startStudio({ folder, port: 0 });
    const page = await browser().newPage();
    try {
      await page.goto(server.url);
      const seen = await page.locator("#seen").textContent();
      expect(JSON.parse(seen ?? "")).toEqual({
        isolated: true,
        inline: false,
        styled: "123px",
        drawn: "rgb(255, 0, 0)",
        evaluates: false,
        elsewhere: false,
        inWorker: { compiled: true, shared: true, evaluates: false },
        stopped: ["connect-src", "script-src", "style-src-attr"],
      });
    } finally {
      await page.close();
      await server.close();
    }
  });
});
