/** Roles column by column: what a table of columns shows and changes. */
import { shortest } from "../../../core/number-text.js";
import type { ColumnDescription } from "../../../tables/describe-table.js";
import type { Roles } from "../../roles.js";

export const ROLE_NAMES = {
  feature: "feature",
  target: "target",
  sensitive: "sensitive",
  id: "id",
  exclude: "leave out",
} as const;

export type RoleName = keyof typeof ROLE_NAMES;

/** The column of a choice such as `hired=yes` or `age>=40`. */
export const targetColumn = (choice: string): string => choice.replace(/(=|>=|<=|>|<)[^=<>]*$/, "");

const isOf = (choice: string, column: string): boolean =>
  choice === column || targetColumn(choice) === column;

export const roleOf = (column: string, { target, sensitive, exclude, id }: Roles): RoleName => {
  if (target !== "" && isOf(target, column)) return "target";
  if (sensitive.some((choice) => isOf(choice, column))) return "sensitive";
  if (id === column) return "id";
  return exclude.includes(column) ? "exclude" : "feature";
};

/** What the target may be of a column: one of the values that are shown of it, or each by itself. */
export const targetChoices = ({ name, type, example, distinct }: ColumnDescription): readonly string[] => {
  if (type === "number") {
    const [low, high] = example.split(" to ").map(Number.parseFloat);
    if (distinct <= 2) return [`${name}=${high}`, `${name}=${low}`];
    return Number.isFinite(low + high) ? [`${name}>=${shortest((low + high) / 2, 3)}`] : [];
  }
  const values = example.split(", ").filter((value) => value !== "…" && !value.startsWith("("));
  return [...values.map((value) => `${name}=${value}`), ...(distinct > 2 ? [name] : [])];
};

/** The value that sounds like what is wanted, for a first guess. */
const likely = (choices: readonly string[]): string | undefined =>
  choices.find((choice) => /=(yes|true|1|y|positive|good|hired|graduate|>50k)\.?$/i.test(choice)) ??
  choices[0];

export const roleChange = (column: ColumnDescription, role: RoleName, roles: Roles): Partial<Roles> => {
  const { name } = column;
  const without: Roles = {
    target: isOf(roles.target, name) ? "" : roles.target,
    sensitive: roles.sensitive.filter((choice) => !isOf(choice, name)),
    exclude: roles.exclude.filter((each) => each !== name),
    id: roles.id === name ? "" : roles.id,
  };
  if (role === "target") return { ...without, target: likely(targetChoices(column)) ?? name };
  if (role === "sensitive") return { ...without, sensitive: [...without.sensitive, name] };
  if (role === "exclude") return { ...without, exclude: [...without.exclude, name] };
  if (role === "id") return { ...without, id: name };
  return without;
};
