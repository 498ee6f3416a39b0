/**
 * A made-up hiring table for people who look around: whether somebody was hired depends on what they can do, and by a
 * bias on their sex, which other columns give away in part. Nobody in it is real.
 */
import { exp } from "../core/math.js";
import { seededStream } from "../core/random.js";
import { columnOfNumbers, columnOfTexts, type Table, tableOfColumns } from "./table.js";
import type { TaskSettings } from "./task.js";

const ROWS = 1200;
const EDUCATION = ["school", "apprenticeship", "bachelor", "master"] as const;
const DISTRICTS = ["north", "east", "south", "west", "centre"] as const;
const SECTORS = ["care", "retail", "crafts", "office", "technology"] as const;
/** Shares of the sectors among women and men. */
const SECTOR_SHARES = [
  [0.34, 0.26, 0.06, 0.22, 0.12],
  [0.08, 0.18, 0.3, 0.2, 0.24],
] as const;
const EDUCATION_SHARES = [0.25, 0.3, 0.28, 0.17] as const;

const drawn = (shares: readonly number[], u: number): number => {
  let sum = 0;
  const at = shares.findIndex((share) => {
    sum += share;
    return u < sum;
  });
  return at < 0 ? shares.length - 1 : at;
};

export interface ExamplePeople {
  readonly table: Table;
  readonly settings: Pick<TaskSettings, "target" | "sensitive" | "id">;
}

/** 1,200 people; the same on every machine. */
export const examplePeople = (): ExamplePeople => {
  const stream = seededStream(7).split("example people");
  const people = Array.from({ length: ROWS }, (_, row) => {
    const own = stream.split(row);
    const of = (name: string) => own.split(name);
    const man = of("sex").uniform() < 0.54 ? 1 : 0;
    const education = drawn(EDUCATION_SHARES, of("education").uniform());
    const sector = drawn(SECTOR_SHARES[man], of("sector").uniform());
    const experience = Math.round(Math.max(0, 9 + 5 * of("experience").normal()));
    const isPartTime = of("part time").uniform() < (man === 1 ? 0.12 : 0.5);
    const partTime = isPartTime ? Math.min(experience, Math.round(1 + 8 * of("years").uniform())) : 0;
    const test = Math.round(Math.min(100, Math.max(0, 58 + 6 * education + 13 * of("test").normal())));
    const score =
      -0.2 + 0.055 * (test - 66) + 0.09 * (experience - 9) + 0.35 * (education - 1.4) + 0.75 * (man - 0.54);
    const hired = of("hired").uniform() < 1 / (1 + exp(-score));
    return {
      id: `p${String(row + 1).padStart(4, "0")}`,
      test,
      experience,
      education: EDUCATION[education],
      sector: SECTORS[sector],
      partTime,
      district: DISTRICTS[Math.floor(DISTRICTS.length * of("district").uniform())],
      sex: man === 1 ? "male" : "female",
      hired: hired ? "yes" : "no",
    };
  });
  const table = tableOfColumns(
    [
      columnOfTexts(
        "id",
        people.map(({ id }) => id),
      ),
      columnOfNumbers(
        "test_score",
        people.map(({ test }) => test),
      ),
      columnOfNumbers(
        "years_experience",
        people.map(({ experience }) => experience),
      ),
      columnOfTexts(
        "education",
        people.map(({ education }) => education),
      ),
      columnOfTexts(
        "last_sector",
        people.map(({ sector }) => sector),
      ),
      columnOfNumbers(
        "years_part_time",
        people.map(({ partTime }) => partTime),
      ),
      columnOfTexts(
        "district",
        people.map(({ district }) => district),
      ),
      columnOfTexts(
        "sex",
        people.map(({ sex }) => sex),
      ),
      columnOfTexts(
        "hired",
        people.map(({ hired }) => hired),
      ),
    ],
    { name: "example-hiring.csv" },
  );
  return { table, settings: { target: "hired=yes", sensitive: ["sex"], id: "id" } };
};
