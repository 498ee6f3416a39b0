/** What identifies the inputs of an audit. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
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

/** The SHA-256 of the file's bytes, or where there is no one file, of the numbers that are learnt from. */
export const inputHash =
  (tables: AuditTables) =>
  async (role: AuditInputFile["role"], path: string | undefined): Promise<string> => {
    const hash = createHash("sha256");
    const isFile = path !== undefined && (await stat(path).catch(() => undefined))?.isFile() === true;
    if (isFile) for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
    else for (const numbers of numbersOf(role, tables)) hash.update(bytesOf(numbers));
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
