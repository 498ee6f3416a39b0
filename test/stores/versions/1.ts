/** A store as version 1 left it, by the statements that made it then. Never changed; the next version has its own file. */
import type { LogEvent, StoredItem } from "../../../src/campaign/events.js";

/** The second event is about somebody who withdrew. */
export const log: readonly LogEvent[] = [
  {
    seq: 1,
    at: 1700000000000,
    kind: "skipped",
    id: "a",
    subject: "0",
    body: '{"annotator":"Zoë"}',
    salt: "00000000000000000000000000000000",
    digest: "6d530ee5426307ab55262489ec810e9ea7982a4c10bdda504682e4831e05c206",
    hash: "f6dd2aef69a753e35626fd67972f91dd58dbd71badd701fd732250834703a4a2",
  },
  {
    seq: 2,
    at: 1700000000001,
    kind: "skipped",
    id: null,
    subject: null,
    body: null,
    salt: null,
    digest: "c65b943d81f7d3e475610d01fe4af39218f03de4cf8b93189b54228d7efbfb76",
    hash: "dac5c5815103d882e0efab5c5e2d4a48279feceb7c41ef7e45d72610b375a954",
  },
  {
    seq: 3,
    at: 1700000000002,
    kind: "retracted",
    id: "c",
    subject: "1",
    body: '{"annotator":"ann"}',
    salt: "00000000000000000000000000000002",
    digest: "b8c9d91c38d803365671f79b1c3de7bf923eee6f128caea18464ecf4f43d8018",
    hash: "8a91956444cb88394ee39d1e4b9bced4941d6a048bbed1b2d9785f30fa372c67",
  },
];

export const items: readonly StoredItem[] = [
  {
    item: 0,
    id: "p 0",
    cells: '["x",1]',
    salt: "ffffffffffffffffffffffffffffffff",
    digest: "25292d7bae3eb3391f2830f5e067fad6f0af60a8a0720cd8079807246453d3aa",
  },
  {
    item: 1,
    id: null,
    cells: null,
    salt: null,
    digest: "a7ec01abc030bfbc27b588d672a96f64272142715ec11e8cac8fe1cd58e7d74c",
  },
];

const cell = (value: string | number | null): string =>
  value === null ? "null" : typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
const row = (...cells: (string | number | null)[]): string => `(${cells.map(cell).join(", ")})`;

/** `in_` stands in front of each table: nothing in SQLite, the schema and a dot in PostgreSQL. */
export const statements = (in_: string): readonly string[] => [
  ...(in_ === "" ? [] : ["create schema fairbed_campaigns"]),
  `create table ${in_}store_version (version integer not null)`,
  `create table ${in_}campaigns (name text primary key, seq integer not null, at bigint not null, hash text not null)`,
  `create table ${in_}events (
    campaign text not null references ${in_}campaigns (name) on delete cascade, seq integer not null,
    at bigint not null, kind text not null, id text, subject text, body text, salt text, digest text not null,
    hash text not null, constraint events_in_order primary key (campaign, seq))`,
  `create unique index events_by_id on ${in_}events (campaign, id)`,
  `create index events_by_subject on ${in_}events (campaign, subject)`,
  `create table ${in_}items (
    campaign text not null references ${in_}campaigns (name) on delete cascade, item integer not null, id text,
    cells text, salt text, digest text not null, constraint items_in_order primary key (campaign, item))`,
  `create table ${in_}documents (
    kind text not null, key text not null, body text not null, constraint documents_by_key primary key (kind, key))`,
  `insert into ${in_}store_version values (1)`,
  `insert into ${in_}campaigns values ${row("old", 3, log[2].at, log[2].hash)}`,
  ...log.map(
    ({ seq, at, kind, id, subject, body, salt, digest, hash }) =>
      `insert into ${in_}events (campaign, seq, at, kind, id, subject, body, salt, digest, hash)
       values ${row("old", seq, at, kind, id, subject, body, salt, digest, hash)}`,
  ),
  ...items.map(
    ({ item, id, cells, salt, digest }) =>
      `insert into ${in_}items (campaign, item, id, cells, salt, digest)
       values ${row("old", item, id, cells, salt, digest)}`,
  ),
  `insert into ${in_}documents values ${row("ranking", "old", '{"order":[1,0]}')}`,
];
