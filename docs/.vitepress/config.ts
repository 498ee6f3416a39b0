/** The documentation as a site: `npm run docs` builds it into `docs/.vitepress/dist`, `npm run docs:dev` serves it. */
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { ROOT, siteLink, slug } from "./links.js";
import { commandPages, libraryPages } from "./references.js";

const page = (text: string, link: string) => ({ text, link });

/** A page for each file, named by its heading. */
const benchmarks = readdirSync(`${ROOT}bench`)
  .filter((name) => name.endsWith(".md") && name !== "README.md")
  .sort()
  .map((name) => {
    const heading = /^# (.*)$/m.exec(readFileSync(`${ROOT}bench/${name}`, "utf8"))?.[1] ?? name;
    return page(heading, `/benchmarks/${name.replace(/\.md$/, "")}`);
  });

export default defineConfig({
  title: "FairBED",
  description: "Gather data that says much about the target and little about a sensitive attribute.",
  lang: "en",
  // Relative, so that the site works from any path without being built again.
  base: "./",
  // The reference of the library is large and only loaded by who reads it.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    anchor: { slugify: slug },
    config: (md) => {
      md.core.ruler.push("repository-links", ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet("href");
          if (token.type === "link_open" && href !== null)
            token.attrSet("href", siteLink(href, env.relativePath));
        }
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      page("Tutorials", "/tutorials/audit"),
      page("How to", "/acquisition"),
      page("Concepts", "/concepts/leakage"),
      page("Reference", "/reference/library/root"),
      page("Evidence", "/reproduction"),
    ],
    sidebar: [
      {
        text: "Tutorials",
        items: [
          page("Audit a table", "/tutorials/audit"),
          page("Plan, collect and fit", "/tutorials/plan-collect-fit"),
          page("A campaign with Label Studio", "/tutorials/label-studio"),
          page("Your own model", "/tutorials/your-own-model"),
          page("A policy in a browser experiment", "/tutorials/browser-experiment"),
          page("A cluster", "/tutorials/cluster"),
          page("A GPU", "/tutorials/gpu"),
        ],
      },
      {
        text: "How to",
        items: [
          page("Choose whom to ask", "/acquisition"),
          page("Audit, fit and mitigate", "/fairness"),
          page("Design experiments", "/design"),
          page("Run a campaign", "/campaigns"),
          page("Use Label Studio", "/label-studio"),
          page("Receive webhooks", "/webhooks"),
          page("Use the page", "/studio"),
          page("Use many machines", "/cluster"),
          page("Use a GPU", "/gpu"),
          page("Read tables", "/tables"),
        ],
      },
      {
        text: "Concepts",
        items: [
          page("What leakage is, and is not", "/concepts/leakage"),
          page("When parity follows", "/concepts/when-parity-follows"),
          page("What moves parity", "/concepts/what-moves-parity"),
          page("One-group collapse", "/concepts/one-group-collapse"),
          page("Two kinds of parity at once", "/concepts/two-kinds-of-parity"),
          page("Choosing a level", "/concepts/choosing-a-level"),
          page("Bounds", "/concepts/bounds"),
          page("Glossary", "/concepts/glossary"),
          page("References", "/concepts/references"),
        ],
      },
      {
        text: "Commands",
        collapsed: true,
        items: (await commandPages()).map(({ name, title }) => page(title, `/reference/commands/${name}`)),
      },
      {
        text: "Library",
        collapsed: true,
        items: (await libraryPages()).map(({ name, title }) => page(title, `/reference/library/${name}`)),
      },
      {
        text: "Evidence",
        items: [
          page("What was reproduced", "/reproduction"),
          page("How benchmarks are made", "/benchmarks/"),
          ...benchmarks,
        ],
      },
      {
        text: "Inside",
        items: [
          page("Architecture", "/architecture"),
          page("The engine", "/engine"),
          page("Security", "/security"),
          page("Contributing", "/project/contributing"),
          page("Releases", "/release"),
          page("Changelog", "/project/changelog"),
          page("Licences", "/licences"),
        ],
      },
    ],
  },
});
