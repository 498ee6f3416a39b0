/** Pages of made-up tables with few and many groups, as a browser shows them on a desk and on a telephone. */
import { beforeAll, describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { acquisitionReport } from "../../src/report/acquisition-report.js";
import { auditCertificate } from "../../src/report/audit-certificate.js";
import { auditHtml } from "../../src/report/audit-report.js";
import { html, page as htmlPage, htmlTable } from "../../src/report/page.js";
import { planReport } from "../../src/report/plan-report.js";
import { shortName } from "../../src/report/short-names.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { auditTable } from "../../src/workflows/audit-table.js";
import { plan } from "../../src/workflows/plan.js";
import { simulate } from "../../src/workflows/simulate.js";
import { describeInChromium } from "../setup/chromium.js";
import { seePage } from "./seen.js";

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "constructor",
  "__proto__",
  "toString",
  "عربي نص طويل جدا",
  "\u202egpj.exe",
  "W".repeat(100),
  "**bold** [link](http://example.org)",
  "</svg></text>",
  "-0",
  "a | b",
];

/** Groups of sizes that fall, a feature that knows a little of them, and an outcome. */
const tableOf = (groups: readonly string[], rows: number, least = 12) => {
  const stream = seededStream("pages").split(String(groups.length));
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = Array.from({ length: rows }, (_, row) => {
    const at =
      row < least * groups.length ? row % groups.length : stream.integer(Math.ceil(groups.length / 3));
    const x = stream.normal() + at / groups.length;
    const y = stream.uniform() < 0.3 + 0.4 * Number(x > 0.5);
    return [x.toFixed(4), stream.normal().toFixed(4), quoted(groups[at]), y ? "yes" : "no"].join(",");
  });
  return parseTable(["x,noise,race,y", ...lines].join("\n"), { name: "people.csv" });
};
const roles = { target: "y=yes", sensitive: ["race"] };

const GROUPS = {
  two: ["a", "b"],
  fifteen: Array.from({ length: 15 }, (_, at) => `group number ${at}`),
  forty: Array.from({ length: 40 }, (_, at) => `group number ${at}`),
  hostile: HOSTILE,
};

const NEVER = /NaN|undefined|Infinity|-0\.0+\b|[^\w.]-0 /;

/** As a page shows a name: nothing in it turns the text around. */
const shown = (name: string): string => name.replace(/\p{Format}/gu, "\ufffd");

describeInChromium("pages in Chromium", (browser) => {
  describe.each(Object.entries(GROUPS))("%s groups", (_, groups) => {
    const pages: Record<string, string> = {};
    beforeAll(async () => {
      const table = await tableOf(groups, 14 * groups.length + 200);
      const simulation = await simulate(table, {
        ...roles,
        ...{ methods: ["random", "epig", "fairbed"], budget: 20, batch: 10, trees: 4, seeds: 2 },
      });
      pages.acquisition = await acquisitionReport({
        title: "Whom to ask next?",
        lead: "people.csv",
        about: [],
        simulation,
        footer: "fairbed acquire",
      });
      const audit = await auditTable(table, {
        ...roles,
        ...{ adversaries: ["logistic"], permutations: 99, plants: 1, folds: 3 },
      });
      pages.audit = await auditHtml({
        ...audit,
        givenTarget: false,
        bits: false,
        certificate: auditCertificate(audit, [{ role: "table", name: "people.csv", rows: audit.rows }]),
      });
    }, 120_000);

    test.each(["acquisition", "audit"])("%s", async (name) => {
      const html = pages[name];
      for (const width of [390, 1280]) {
        const seen = await seePage(browser(), html, width);
        expect(seen.tooWide).toBeLessThanOrEqual(0);
        expect(seen.foreign).toEqual([]);
        expect(seen.smallest).toBeGreaterThanOrEqual(7.9);
        if (groups !== HOSTILE) expect(seen.text).not.toMatch(NEVER);
        for (const group of groups) expect(seen.text).toContain(shown(group));
      }
    });

    test.each(["acquisition", "audit"])("%s: every picture shows or names every group", async (name) => {
      const figures = pages[name]
        .split("<figure>")
        .slice(1)
        .map((each) => each.split("</figure>")[0])
        .filter((each) => /Who was asked|in each group/.test(each));
      expect(figures.length).toBeGreaterThan(0);
      for (const figure of figures) {
        const page = await seePage(browser(), figure, 1280);
        for (const group of groups) expect(page.text).toContain(shortName(group));
      }
    });
  });

  test("a plan", async () => {
    const table = await tableOf(GROUPS.fifteen.slice(0, 5), 600, 120);
    const found = await plan(table, {
      ...roles,
      ...{ parity: 0.8, labels: 16, methods: ["epig"], learners: ["forest"], trees: 3, minutes: 1e-9 },
    });
    const sources = { table: "people.csv", target: "y=yes", sensitive: ["race"], recipe: undefined };
    const html = await planReport({ plan: found, name: "W".repeat(200), sources, seconds: 1 });
    for (const width of [390, 1280]) {
      const { tooWide, foreign, text, smallest } = await seePage(browser(), html, width);
      expect(tooWide).toBeLessThanOrEqual(0);
      expect(foreign).toEqual([]);
      expect(text).not.toMatch(NEVER);
      expect(smallest).toBeGreaterThanOrEqual(7.9);
    }
  }, 60_000);

  test("a table of forty columns and names of a hundred characters", async () => {
    const wide = Array.from({ length: 40 }, (_, at) => `column ${at}`);
    const name = "W".repeat(100);
    const text = htmlPage(name, [
      html`<h1>${name}</h1><p>${name}</p>`,
      htmlTable(wide, [wide, [name, ...wide.slice(1)], [wide[0], name, ...wide.slice(2)]]),
    ]);
    for (const width of [390, 1280]) {
      expect((await seePage(browser(), text, width)).tooWide).toBeLessThanOrEqual(0);
    }
  });
});
