/** What identifies the inputs of an audit that come from no file; a file's hash comes from who reads it. */
import { createHash } from "node:crypto";
import type { AuditInputFile } from "../../../report/audit-certificate.js";
import type { Table } from "../../../tables/table.js";
import type { TaskSettings } from "../../../tables/task.js";
import { auditInputOf, auditTestOf } from "../../../workflows/audit-inputs.js";

export interface AuditTables {
  readonly table: Table;
  readonly roles: TaskSettings;
  readonly bins: number;
  readonly second: Table | undefined;
  readonly test: Table | undefined;
}

/** What is learnt from, where no file stands behind a table: the SHA-256 of those numbers. */
export const hashOfNumbers = (role: AuditInputFile["role"], tables: AuditTables): string => {
  const hash = createHash("sha256");
  for (const numbers of numbersOf(role, tables)) hash.update(bytesOf(numbers));
  return hash.digest("hex");
};

const numbersOf = (role: AuditInputFile["role"], { table, roles, bins, second, test }: AuditTables) => {
  const first = auditInputOf(table, roles, bins);
  if (role === "test" && test !== undefined) {
    const { encoded, target, sensitive } = auditTestOf(test, first, roles, bins);
    return [encoded.values, target, ...sensitive];
  }
  const { encoded, task, sensitive } =
    role === "second table" && second !== undefined ? auditInputOf(second, roles, bins, first.cuts) : first;
  return [encoded.values, task.target.labels, ...sensitive.map(({ labels }) => labels)];
};

const bytesOf = (view: Float32Array | Int32Array): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
