/** Roles column by column: what a table of columns shows and changes. */
import { columnOfChoice } from "../../../tables/label.js";
import type { OpenColumn, OpenTable } from "../../open-table.js";
import type { Roles } from "../../roles.js";

export const ROLE_NAMES = {
  feature: "feature",
  target: "target",
  sensitive: "sensitive",
  id: "id",
  exclude: "leave out",
} as const;

export type RoleName = keyof typeof ROLE_NAMES;

type Columns = Pick<OpenTable, "columns">;

/** The column of a choice such as `hired=yes` or `age>=40`. */
export const choiceColumn = (choice: string, { columns }: Columns): string =>
  columnOfChoice(choice, new Set(columns.map(({ name }) => name)));

/** What was chosen of a column as the target or as sensitive. */
export const chosenOf = (column: string, { target, sensitive }: Roles, table: Columns): string | undefined =>
  [target, ...sensitive].find((choice) => choice !== "" && choiceColumn(choice, table) === column);

export const roleOf = (
  column: string,
  { target, sensitive, exclude, id }: Roles,
  table: Columns,
): RoleName => {
  if (target !== "" && choiceColumn(target, table) === column) return "target";
  if (sensitive.some((choice) => choiceColumn(choice, table) === column)) return "sensitive";
  if (id === column) return "id";
  return exclude.includes(column) ? "exclude" : "feature";
};

/** A choice in a menu of its own column: `=yes`, `>=40`, or that each value is a class. */
export const choiceText = (choice: string, column: string): string =>
  choice === column ? "each value" : choice.slice(column.length);

const WANTED = /=(yes|true|1|y|positive|good|hired|graduate|>50k)\.?$/i;

/** The value that sounds like what is wanted, or else the first, for a first guess. */
const likelyTarget = ({ name, choices }: OpenColumn): string =>
  choices.find((choice) => WANTED.test(choice)) ?? choices[0] ?? name;

/** Its groups as they are; of a quantity, those below and above a threshold. */
const likelyAttribute = ({ name, type, choices }: OpenColumn): string =>
  type === "number" && choices[0]?.startsWith(`${name}>=`) ? choices[0] : name;

export const roleChange = (
  column: OpenColumn,
  role: RoleName,
  roles: Roles,
  table: Columns,
): Partial<Roles> => {
  const { name } = column;
  const isOther = (choice: string): boolean => choiceColumn(choice, table) !== name;
  const without: Roles = {
    target: roles.target !== "" && isOther(roles.target) ? roles.target : "",
    sensitive: roles.sensitive.filter(isOther),
    exclude: roles.exclude.filter((each) => each !== name),
    id: roles.id === name ? "" : roles.id,
  };
  if (role === "target") return { ...without, target: likelyTarget(column) };
  if (role === "sensitive") return { ...without, sensitive: [...without.sensitive, likelyAttribute(column)] };
  if (role === "exclude") return { ...without, exclude: [...without.exclude, name] };
  if (role === "id") return { ...without, id: name };
  return without;
};

/** Another choice of the same column in the same role. */
export const choiceChange = (
  choice: string,
  column: string,
  roles: Roles,
  table: Columns,
): Partial<Roles> => {
  if (roleOf(column, roles, table) === "target") return { target: choice };
  const isOwn = (each: string): boolean => choiceColumn(each, table) === column;
  return { sensitive: roles.sensitive.map((each) => (isOwn(each) ? choice : each)) };
};
