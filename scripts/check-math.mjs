// @ts-check
/**
 * What engines may round differently stays out of what must have the same bits everywhere: the functions of `Math`
 * beyond those that ECMAScript and IEEE 754 specify exactly, and powers that are not whole. `core/math` has their like.
 *
 *     node scripts/check-math.mjs [folder with src/]
 *
 * Prints every offence as `file:line: rule` and fails when there is one, or when an exception is not needed.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "vite";

const FOLDERS = [
  ...["core", "compute", "learners", "tables", "design", "active", "fairness", "mitigation", "workflows"],
];

/** Exactly specified, or exact by nature. */
const EXACT = new Set([
  ...["abs", "ceil", "clz32", "floor", "fround", "imul", "max", "min", "round", "sign", "sqrt", "trunc"],
  ...["E", "LN10", "LN2", "LOG10E", "LOG2E", "PI", "SQRT1_2", "SQRT2"],
]);

/** Where it does not matter, by file: what stands there, and why. @type {Readonly<Record<string, Readonly<Record<string, string>>>>} */
const ALLOWED = {
  "src/compute/graph/scalar.ts": {
    "a ** b": "what the operation pow means on plain numbers: its last digit is promised to nobody",
  },
};

/** @typedef {{ file: string, line: number, description: string }} Offence */

/** Whether a power is made of whole numbers: a whole exponent, or a base and an exponent that count something.
 * @param {{ type: string, value?: unknown, operator?: string, argument?: any }} exponent @returns {boolean} */
const isWhole = (exponent) =>
  exponent.type === "UnaryExpression"
    ? exponent.operator === "-" && isWhole(exponent.argument)
    : exponent.type === "Literal" && Number.isInteger(exponent.value);

/** @param {string} root @returns {Offence[]} */
export const checkMath = (root) => {
  /** @type {Offence[]} */
  const offences = [];
  const used = new Set();
  const files = FOLDERS.map((folder) => join(root, "src", folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of files) {
    const file = relative(root, path);
    const source = readFileSync(path, "utf8");
    const { program, errors } = parseSync(path, source);
    if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
    /** @param {{ start: number, end: number }} node @param {string} rule */
    const report = ({ start, end }, rule) => {
      const text = source.slice(start, end);
      if (ALLOWED[file]?.[text] !== undefined) {
        used.add(`${file} ${text}`);
        return;
      }
      const line = source.slice(0, start).split("\n").length;
      offences.push({ file, line, description: `${text}: ${rule}` });
    };
    new Visitor({
      MemberExpression: (node) => {
        if (node.object.type !== "Identifier" || node.object.name !== "Math") return;
        const name = node.property.type === "Identifier" && !node.computed ? node.property.name : "";
        if (!EXACT.has(name)) report(node, "engines may round it differently, so take it from core/math");
      },
      BinaryExpression: (node) => {
        if (node.operator !== "**" || isWhole(node.right)) return;
        if (node.left.type === "Literal" && node.left.value === 2) return;
        report(
          node,
          "engines may round powers differently, so multiply, or take exp, log or wholePower from core/math",
        );
      },
      AssignmentExpression: (node) => {
        if (node.operator === "**=") report(node, "write the product out, or take wholePower from core/math");
      },
      // Text that becomes code, as the js backend's does.
      TemplateElement: (node) => {
        if (/\bMath\.(?!sqrt|abs|floor|min|max)[a-z]/.test(node.value.raw)) {
          report(node, "engines may round it differently, so take it from core/math");
        }
      },
    }).visit(program);
  }
  for (const [file, places] of Object.entries(ALLOWED)) {
    for (const text of Object.keys(places)) {
      if (!existsSync(join(root, file)) || used.has(`${file} ${text}`)) continue;
      offences.push({
        file,
        line: 1,
        description: `${text} is allowed in scripts/check-math.mjs and not used here`,
      });
    }
  }
  return offences;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
  const offences = checkMath(root);
  for (const { file, line, description } of offences)
    process.stdout.write(`${file}:${line}: ${description}\n`);
  if (offences.length > 0)
    process.stdout.write(`${offences.length} places may differ between engines (scripts/check-math.mjs)\n`);
  process.exitCode = offences.length > 0 ? 1 : 0;
}
