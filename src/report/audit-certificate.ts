/** What it takes to get the numbers of an audit again. */
import { VERSION } from "../core/version.js";
import type { LeakageEstimate } from "../fairness/leakage.js";
import type { TableAudit } from "../workflows/audit-table.js";

export interface AuditInputFile {
  readonly role: "table" | "test" | "second table" | "second test";
  readonly name: string;
  readonly rows: number;
  /** Of the file's bytes; absent for one of the paper's tasks, which is made from several files. */
  readonly sha256?: string | undefined;
}

/** What it takes to get the same numbers again. */
export interface AuditCertificate {
  readonly format: "fairbed-audit-1";
  readonly version: string;
  readonly seed: number;
  readonly inputs: readonly AuditInputFile[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly results: readonly {
    readonly attribute: string;
    readonly unconditional: CertifiedLeakage;
    readonly conditional: CertifiedLeakage | undefined;
  }[];
}

export type CertifiedLeakage = Pick<
  LeakageEstimate,
  "nats" | "interval" | "pValue" | "detectable" | "winner"
>;

const certifiedLeakage = ({
  nats,
  interval,
  pValue,
  detectable,
  winner,
}: LeakageEstimate): CertifiedLeakage => ({
  nats,
  interval,
  pValue,
  detectable,
  winner,
});

/** The certificate of an audit: `inputs` are what it read, `more` what else decides its numbers. */
export const auditCertificate = (
  { target, sensitive, features, attributes, settings: { seed, ...settings } }: TableAudit,
  inputs: readonly AuditInputFile[],
  more: Readonly<Record<string, unknown>> = {},
): AuditCertificate => ({
  format: "fairbed-audit-1",
  version: VERSION,
  seed,
  inputs,
  settings: { target, sensitive, features, ...more, ...settings },
  results: attributes.map(({ name, audit: { leakage } }) => ({
    attribute: name,
    unconditional: certifiedLeakage(leakage.unconditional),
    conditional: leakage.conditional === undefined ? undefined : certifiedLeakage(leakage.conditional),
  })),
});
