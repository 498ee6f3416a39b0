/** The library in other people's bundles: each bundler takes it, its result runs, and what is not used stays out. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { build as buildWithVite } from "vite";
import { afterAll, expect, test } from "vitest";
import webpack from "webpack";
import { needsDist, ROOT } from "../setup/dist.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-bundles-"));
afterAll(() => rmSync(folder, { recursive: true }));
// As it is installed: without the packages that users add where they need them.
const modules = join(folder, "node_modules");
for (const part of ["package.json", "dist"]) {
  cpSync(join(ROOT, part), join(modules, "fairbed", part), { recursive: true });
}
for (const name of ["@noble", "commander", "sucrase"]) {
  symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
}

const page = (name: string, text: string): string => {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, text);
  return path;
};

const AUDIT = page(
  "audit",
  `import { auditTable, parseTable } from "fairbed";
const rows = Array.from({ length: 200 }, (_, i) => [(i * 7) % 20, i % 2 ? "m" : "f", (i * 7) % 20 > 9 ? "yes" : "no"]);
const table = await parseTable("skill,sex,hired\\n" + rows.map((row) => row.join(",")).join("\\n"));
const options = { target: "hired=yes", sensitive: ["sex"], adversaries: ["logistic"] };
const { attributes } = await auditTable(table, options);
console.log(attributes.length, table.rows);
`,
);

const bundlers: Readonly<Record<string, (entry: string, out: string) => Promise<unknown>>> = {
  esbuild: (entry, out) =>
    esbuild.build({
      ...{ entryPoints: { main: entry }, outdir: out, bundle: true, minify: true, format: "esm" },
      ...{ platform: "browser", splitting: true, outExtension: { ".js": ".mjs" } },
    }),
  Vite: (entry, out) =>
    buildWithVite({
      ...{ root: folder, configFile: false, logLevel: "error" },
      build: {
        ...{ outDir: out, modulePreload: false, target: "es2022" },
        lib: { entry, formats: ["es"], fileName: () => "main.mjs" },
      },
    }),
  webpack: (entry, out) =>
    new Promise<void>((resolve, reject) => {
      webpack(
        {
          ...{ mode: "production", target: ["web", "es2022"], entry: { main: entry } },
          experiments: { outputModule: true },
          output: {
            path: out,
            filename: "[name].mjs",
            chunkFilename: "[name].mjs",
            module: true,
            chunkFormat: "module",
          },
        },
        (error, stats) => {
          const said = stats?.compilation.errors.map(({ message }) => message) ?? [];
          if (error !== null || said.length > 0) reject(error ?? new Error(said.join("\n")));
          else resolve();
        },
      );
    }),
};

test.each(Object.keys(bundlers))("%s: the bundle computes", async (name) => {
  const out = join(folder, name);
  await bundlers[name](AUDIT, out);
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(out, "main.mjs")], {
    encoding: "utf8",
  });
  expect({ stdout, stderr, status }).toEqual({ stdout: "1 200\n", stderr: "", status: 0 });
  const code = readdirSync(out, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.m?js$/.test(path))
    .map((path) => readFileSync(join(out, path), "utf8"))
    .join("\n");
  expect(code).not.toMatch(/(?:from|import|require)\s*\(?\s*["'`](?:node:|fs\b|path\b|os\b|worker_threads)/);
});

/** Programs with default options, and kB after gzip that a page has downloaded when they have run. These may fall, and not grow. */
const PROGRAMS: Readonly<
  Record<string, { readonly most: number; readonly text: string; readonly prints: string }>
> = {
  parseTable: {
    most: 7.5,
    text: `import { parseTable } from "fairbed";
console.log((await parseTable("a,b\\n1,2\\n")).rows);`,
    prints: "1",
  },
  acquisition: {
    most: 76,
    text: `import { acquisition, parseTable } from "fairbed";
const rows = Array.from({ length: 40 }, (_, i) => [i, i % 2 ? "m" : "f", i < 20 ? (i % 3 ? "yes" : "no") : ""]);
const table = await parseTable("skill,sex,hired\\n" + rows.map((row) => row.join(",")).join("\\n"));
const session = acquisition(table, { target: "hired=yes", sensitive: ["sex"] });
console.log((await session.ask()).length);`,
    prints: "1",
  },
  auditTable: {
    most: 90,
    text: `import { auditTable, parseTable } from "fairbed";
const rows = Array.from({ length: 60 }, (_, i) => [(i * 7) % 20, i % 2 ? "m" : "f", (i * 7) % 20 > 9 ? "yes" : "no"]);
const table = await parseTable("skill,sex,hired\\n" + rows.map((row) => row.join(",")).join("\\n"));
console.log((await auditTable(table, { target: "hired=yes", sensitive: ["sex"], plants: 1, permutations: 99 })).rows);`,
    prints: "60",
  },
  runPolicy: {
    most: 50,
    text: `import { runPolicy } from "fairbed";
import { linearGaussian } from "fairbed/design";
const session = runPolicy(linearGaussian(), { kind: "static", horizon: 1, designs: [[1, 0]] });
console.log((await session.next()).x);`,
    prints: "1",
  },
};

test.each(Object.keys(PROGRAMS))("%s: the first chunks alone are enough, and small", async (name) => {
  const { most, text, prints } = PROGRAMS[name];
  const out = join(folder, `first-${name}`);
  await buildWithVite({
    ...{ root: folder, configFile: false, logLevel: "error" },
    build: {
      ...{ outDir: out, modulePreload: false, target: "es2022" },
      lib: { entry: page(`program-${name}`, text), formats: ["es"], fileName: () => "main.mjs" },
      rolldownOptions: { output: { minify: true, chunkFileNames: "[hash].mjs" } },
    },
  });
  // What main.mjs imports, and what that imports: all of it is downloaded before the first line runs.
  const first = new Set(["main.mjs"]);
  for (const file of first) {
    const code = readFileSync(join(out, file), "utf8");
    for (const [, next] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) first.add(next);
  }
  // What is loaded on demand is taken away: a default call that needed it would fail.
  for (const file of readdirSync(out)) if (!first.has(file)) rmSync(join(out, file));
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(out, "main.mjs")], {
    encoding: "utf8",
  });
  expect({ stdout, stderr, status }).toEqual({ stdout: `${prints}\n`, stderr: "", status: 0 });
  const sizes = [...first].map((file) => gzipSync(readFileSync(join(out, file)), { level: 9 }).length);
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1000).toBeLessThan(most);
});

/** By esbuild in one file, which holds what is loaded on demand as well. These may fall, and not grow. */
test.each([
  ["parseTable", 9],
  ["auditTable", 90],
  ["acquisition", 147],
])("%s in one file takes at most %i kB", async (name, most) => {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: `export { ${name} } from "fairbed";`, resolveDir: folder },
    ...{ bundle: true, minify: true, format: "esm", platform: "browser", write: false },
  });
  expect(gzipSync(outputFiles[0].contents, { level: 9 }).length / 1000).toBeLessThan(most);
});
