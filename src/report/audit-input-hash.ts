/** What identifies the inputs of an audit: the bytes of a file, or what is learnt from where no file stands behind it. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Table } from "../tables/table.js";
import type { TaskSettings } from "../tables/task.js";
import { auditInputOf, auditTestOf } from "../workflows/audit-inputs.js";
import type { AuditInputFile } from "./audit-certificate.js";

export interface AuditTables {
  readonly table: Table;
  readonly roles: TaskSettings;
  readonly bins: number;
  readonly second: Table | undefined;
  readonly test: Table | undefined;
}

/** Of a file that is read piece by piece, the SHA-256 of its bytes. */
export const hashOfBytes = async (pieces: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = sha256.create();
  for await (const piece of pieces) hash.update(piece);
  return bytesToHex(hash.digest());
};

/** What is learnt from, where no file stands behind a table: the SHA-256 of those numbers. */
export const hashOfNumbers = (role: AuditInputFile["role"], tables: AuditTables): string => {
  const hash = sha256.create();
  for (const numbers of numbersOf(role, tables)) hash.update(bytesOf(numbers));
  return bytesToHex(hash.digest());
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
