/** The page, built into static files that need no server: see src/studio. */
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { pageDictionary } from "./scripts/page-dictionary.mjs";
import { pageLicences } from "./scripts/page-licences.mjs";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const licences = pageLicences("licences.md");

const unused = here("src/studio/worker/no-maps-or-schemes.ts");

export default defineConfig({
  root: here("src/studio"),
  // Relative, so that the page works in any folder of any host.
  base: "./",
  logLevel: "warn",
  plugins: [svelte({ configFile: false }), pageDictionary(), licences.inPage],
  resolve: {
    alias: {
      // Charts are drawn by a part of Vega that evaluates no text: a strict content security policy allows it.
      vega: here("src/studio/worker/vega.ts"),
      "d3-geo": unused,
      "d3-scale-chromatic": unused,
      "topojson-client": unused,
    },
  },
  worker: { format: "es", plugins: () => [pageDictionary(), licences.inWorkers] },
  build: {
    outDir: process.env.FAIRBED_STUDIO_OUT ?? here("dist/studio"),
    emptyOutDir: true,
    target: "es2022",
    // A link that is made up at run time would be an inline script or style.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    // A slow machine is nothing to warn of.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
