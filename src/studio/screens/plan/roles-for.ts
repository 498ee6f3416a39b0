/** The roles of a plan, which is for one attribute. */
import { columnOfChoice } from "../../../tables/label.js";
import type { OpenTable } from "../../open-table.js";
import type { Roles } from "../../roles.js";

/** With the other attributes left out: whoever may not be judged by them must not be judged by them as features either. */
export const rolesFor = (attribute: string, roles: Roles, table: OpenTable | undefined): Roles => {
  if (roles.sensitive.length < 2) return roles;
  const names = new Set(table?.columns.map(({ name }) => name));
  const others = roles.sensitive
    .filter((each) => each !== attribute)
    .map((each) => columnOfChoice(each, names));
  const own = columnOfChoice(attribute, names);
  const exclude = [...new Set([...roles.exclude, ...others.filter((name) => name !== own)])];
  return { ...roles, sensitive: [attribute], exclude };
};
