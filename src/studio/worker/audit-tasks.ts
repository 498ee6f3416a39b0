/** The audit of the open table, told as it is found. */
import { auditTable, type TableAudit } from "../../workflows/audit-table.js";
import { type Roles, taskOf } from "../roles.js";
import type { TaskRun } from "./task.js";

export interface AuditChoice {
  readonly roles: Roles;
  readonly adversaries?: readonly string[] | undefined;
  readonly seed: number;
}

export const auditTasks = {
  async audit({ roles, adversaries, seed }: AuditChoice, run: TaskRun): Promise<TableAudit> {
    return auditTable(await run.table(), {
      ...taskOf(roles),
      adversaries,
      seed,
      signal: run.signal,
      onProgress: (progress) => run.emit({ progress }),
      onFound: (finding) => run.emit({ finding }),
    });
  },
};
