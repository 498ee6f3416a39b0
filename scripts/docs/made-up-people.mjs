// @ts-check
/**
 * Writes the tables that the documentation's examples use, `docs/public/data/*.csv`. All of it is made up.
 *
 *     node scripts/docs/made-up-people.mjs
 *
 * Whether somebody is hired depends on skill, experience and hours. Women of this town work fewer hours, so hours give
 * away sex, and decisions that go by hours treat the groups differently.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { seededStream } from "../../dist/compute/index.js";
import { ROOT } from "./pages.mjs";

const TOWNS = ["north", "south", "east"];

/** @param {number} number @param {ReturnType<typeof seededStream>} stream */
const person = (number, stream) => {
  const woman = stream.uniform() < 0.48;
  const age = 18 + Math.floor(45 * stream.uniform());
  const skill = Math.round(50 + 15 * stream.normal());
  const experience = Math.floor((age - 17) * 0.8 * stream.uniform());
  const hours = Math.min(45, Math.max(8, Math.round((woman ? 28 : 36) + 6 * stream.normal())));
  const town = TOWNS[Math.floor(TOWNS.length * stream.uniform())];
  const score = (skill - 50) / 9 + (experience - 8) / 8 + (hours - 32) / 6;
  const hired = stream.uniform() < 1 / (1 + Math.exp(-score)) ? "yes" : "no";
  const id = String(number).padStart(4, "0");
  return { id, age, skill, experience, hours, town, sex: woman ? "f" : "m", hired };
};

/** @param {string} name @param {number} first @param {number} count @param {number} labelled */
const write = (name, first, count, labelled = count) => {
  const rows = Array.from({ length: count }, (_, i) => {
    const row = person(first + i, seededStream(7).split(first + i));
    return i < labelled ? row : { ...row, hired: "" };
  });
  const lines = [Object.keys(rows[0]), ...rows.map((row) => Object.values(row))];
  writeFileSync(`${ROOT}docs/public/data/${name}`, `${lines.map((line) => line.join(",")).join("\n")}\n`);
};

mkdirSync(`${ROOT}docs/public/data`, { recursive: true });
write("people.csv", 1, 1500);
write("labelled.csv", 2001, 120);
write("pool.csv", 3001, 300, 20);

/** What those of the pool without a label would say: a file to answer a campaign from. */
const answers = Array.from({ length: 280 }, (_, i) => person(3021 + i, seededStream(7).split(3021 + i)));
const answerLines = ["id,hired", ...answers.map(({ id, hired }) => `${id},${hired}`)];
writeFileSync(`${ROOT}docs/public/data/answers.csv`, `${answerLines.join("\n")}\n`);
