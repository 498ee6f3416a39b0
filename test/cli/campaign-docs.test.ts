/** The commands of docs/campaigns.md run as they stand, one after the other. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { csvText } from "../../src/tables/csv.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { FAIRBED } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-campaign-docs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const page = readFileSync(join(ROOT, "docs", "campaigns.md"), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map((match) => match[1]);

const people = () => {
  const stream = seededStream(7);
  return csvText([
    ["id", "age", "skill", "town", "sex", "hired"],
    ...Array.from({ length: 300 }, (_, i) => {
      const [sex, skill] = [stream.uniform() < 0.5 ? "f" : "m", stream.integer(20)];
      const hired = stream.uniform() < skill / 20 ? "yes" : "no";
      const town = ["north", "south", "east"][stream.integer(3)];
      return [String(i).padStart(3, "0"), 18 + stream.integer(50), skill, town, sex, i < 20 ? hired : ""];
    }),
  ]);
};

test("every command of the page", () => {
  writeFileSync(join(folder, "people.csv"), people());
  writeFileSync(join(folder, "answers.csv"), blocks("csv")[0]);
  const lines = blocks("sh").flatMap((block) => block.trim().split("\n"));
  expect(lines.length).toBeGreaterThanOrEqual(25);
  for (const line of lines) {
    expect(line).toMatch(/^fairbed /);
    const less = line.startsWith("fairbed design optimize") ? " --steps 3 --starts 1" : "";
    const { status, stderr } = spawnSync(
      "bash",
      ["-c", `${line.replace("fairbed", '"$NODE" "$FAIRBED"')} --json${less}`],
      {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, NODE: process.execPath, FAIRBED, FAIRBED_STORE: "" },
      },
    );
    expect({ line, status, failure: stderr.match(/fairbed: .*/)?.[0] }).toEqual({
      line,
      status: 0,
      failure: undefined,
    });
  }
}, 300_000);
