/** The roles that people choose for columns; what `TaskSettings` calls them. */
import type { TaskSettings } from "../tables/task.js";

export interface Roles {
  /** As `hired=yes`; empty while none is chosen. */
  readonly target: string;
  readonly sensitive: readonly string[];
  /** Left out of the features. */
  readonly exclude: readonly string[];
  /** The column that names the rows; empty where there is none. */
  readonly id: string;
}

export const NO_ROLES: Roles = { target: "", sensitive: [], exclude: [], id: "" };

/** The roles as options of a workflow. */
export const taskOf = ({ target, sensitive, exclude, id }: Roles): TaskSettings => ({
  target,
  sensitive: [...sensitive],
  ...(exclude.length > 0 ? { exclude: [...exclude] } : {}),
  ...(id === "" ? {} : { id }),
});
