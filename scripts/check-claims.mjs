// @ts-check
/**
 * Fails where a number in the README or in `docs/` has no source, or is not what its source has.
 *
 *     node scripts/check-claims.mjs [PAGE…]
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { wrongFigures } from "./docs/claims.mjs";
import { ROOT, writtenPages } from "./docs/pages.mjs";

/** @type {import("./docs/claims.mjs").Claim[]} */
const claims = JSON.parse(readFileSync(join(ROOT, "docs/claims.json"), "utf8"));
const pages = process.argv.length > 2 ? process.argv.slice(2) : writtenPages();
/** @param {string} path */
const read = (path) => (existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), "utf8") : undefined);

const problems = [
  ...claims
    .filter(({ page }) => !existsSync(join(ROOT, page)))
    .map(({ page }) => `docs/claims.json names ${page}, which is not there`),
  ...pages.flatMap((name) =>
    wrongFigures({ name, text: read(name) ?? "", claims: claims.filter(({ page }) => page === name), read }),
  ),
];
for (const problem of problems) console.log(problem);
const sourced = claims.filter((claim) => "source" in claim).length;
console.log(
  `${pages.length} pages, ${sourced} statements with a source, ${claims.length - sourced} that are no measurement; ${problems.length} wrong`,
);
process.exit(problems.length === 0 ? 0 : 1);
