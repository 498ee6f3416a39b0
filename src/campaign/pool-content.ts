/** What can be said of a pool and all that was told of it. */
import type { Table } from "../tables/table.js";
import { checkTold, tableWithTold } from "../workflows/told-log.js";
import type { LabelValue } from "../workflows/told-values.js";
import type { PoolContent } from "./loaded-campaign.js";

/** A label as it is kept. */
export const checkLabel = (pool: PoolContent, label: LabelValue): LabelValue =>
  checkTold(pool, label, undefined).label ?? label;

/** The pool with all labels filled in that were told by this time. */
export const tableOfCampaign = ({ table, task, state, rowOf }: PoolContent, at: number): Table =>
  tableWithTold(table, task.target, state.soFar(at, rowOf).told);
