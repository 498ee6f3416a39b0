/** Every operation with bodies made of its own schema, and with such that are not: never a 500, never a hang. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { modelsInThread, type PoolModels } from "../../src/campaign/ranking-schedule.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import { openStore } from "../../src/stores/open-store.js";
import { addressOf, type Operation, operations } from "./operations.js";
import { operationOf } from "./schema-check.js";
import { idOf, poolCsv, type Served, served } from "./served.js";

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const SEED = 20_261_118;
const RUNS = 1000;
const GET_RUNS = 40;
/** Milliseconds that no request may take. */
const SLOWEST = 10_000;

/** Texts that have broken programs before. */
const oddText = fc.oneof(
  fc.constantFrom(
    "",
    "\0",
    "\ud800",
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "null",
    "1e999",
    "created",
    "-0",
    "\u202e\u0000",
    "😀".repeat(60),
    "x".repeat(20_000),
    "'; drop table campaigns; --",
    "<script>",
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
);
/** Texts that mean something here. */
const knownText = fc.constantFrom(
  "clinic",
  "hired=yes",
  "clan",
  "age",
  "id",
  "yes",
  "no",
  "ann",
  idOf(20),
  idOf(21),
  poolCsv(),
);
const oddNumber = fc.oneof(
  fc.integer({ min: -3, max: 50 }),
  fc.constantFrom(-0, 0.5, 1e-320, 1e308, Number.MAX_SAFE_INTEGER, 2 ** 53 + 2, -1e308),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anything = fc.oneof(
  oddText,
  oddNumber,
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
);

/** Values that a schema of the document describes, more or less. */
const ofSchema = (document: unknown, schema: unknown, depth = 0): fc.Arbitrary<unknown> => {
  if (!isFields(schema) || depth > 6) return anything;
  const inner = (own: unknown) => ofSchema(document, own, depth + 1);
  const { $ref, anyOf, type, properties, required, items, additionalProperties, minimum, maximum } = schema;
  if (typeof $ref === "string") {
    const target = $ref
      .slice(2)
      .split("/")
      .reduce<unknown>((from, key) => (isFields(from) ? from[key] : undefined), document);
    return ofSchema(document, target, depth);
  }
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(inner));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  const types = Array.isArray(type) ? type : [type];
  const ofType = (one: unknown): fc.Arbitrary<unknown> => {
    if (one === "string")
      return fc.oneof({ weight: 3, arbitrary: knownText }, { weight: 1, arbitrary: oddText });
    if (one === "boolean") return fc.boolean();
    if (one === "null") return fc.constant(null);
    if (one === "integer" || one === "number") {
      const least = Number(minimum ?? -5);
      const most = Math.min(Number(maximum ?? 60), Math.max(least, 60));
      const inside = fc.integer({ min: Math.ceil(least), max: Math.floor(most) });
      return fc.oneof({ weight: 4, arbitrary: inside }, { weight: 1, arbitrary: oddNumber });
    }
    if (one === "array") return fc.array(inner(items), { maxLength: 4 });
    if (one !== "object") return anything;
    if (!isFields(properties)) {
      return fc.dictionary(
        fc.oneof(
          knownText.filter((text) => text.length < 50),
          oddText,
        ),
        inner(additionalProperties),
        {
          maxKeys: 4,
        },
      );
    }
    return fc.record(
      Object.fromEntries(Object.entries(properties).map(([name, own]) => [name, inner(own)])),
      {
        requiredKeys: (Array.isArray(required) ? required : []) as string[],
      },
    );
  };
  return fc.oneof(...types.map(ofType));
};

/** With something left out, added, or of another kind. */
const mutated = (body: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(body, fc.nat(), anything, fc.constantFrom("drop", "replace", "add", "nest"))
    .map(([value, at, odd, how]) => {
      if (!isFields(value)) return odd;
      const names = Object.keys(value);
      const name = names[at % Math.max(1, names.length)] ?? "x";
      if (how === "drop") return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
      if (how === "add") return { ...value, [typeof odd === "string" ? odd : "more"]: odd };
      return { ...value, [name]: how === "nest" ? [value[name], { value: odd }] : odd };
    });

/** A body that works, with a few of its fields as the schema describes them. */
const overlaid = (working: Fields, described: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(described, fc.array(fc.nat(), { minLength: 1, maxLength: 3 })).map(([value, picks]) => {
    const others = isFields(value) ? Object.entries(value).filter(([name]) => name !== "pool") : [];
    const picked = picks.flatMap((pick) => (others.length === 0 ? [] : [others[pick % others.length]]));
    const { answers } = working;
    if (!Array.isArray(answers) || !isFields(value) || !Array.isArray(value.answers)) {
      return { ...working, ...Object.fromEntries(picked) };
    }
    const [first = {}] = answers;
    return {
      answers: value.answers.map((answer, i) => ({
        ...first,
        ...Object.fromEntries(
          Object.entries(isFields(answer) ? answer : {}).filter((_, at) => at % 3 === (picks[0] + i) % 3),
        ),
      })),
    };
  });

const schemaOfBody = (operation: unknown): unknown => {
  const content =
    isFields(operation) && isFields(operation.requestBody) ? operation.requestBody.content : undefined;
  const media = isFields(content) ? content["application/json"] : undefined;
  return isFields(media) ? media.schema : undefined;
};

const asText = (value: unknown): string => JSON.stringify(value) ?? "";

const bodyFor = (document: unknown, operation: unknown, working: unknown): fc.Arbitrary<string> => {
  const schema = schemaOfBody(operation);
  const described = schema === undefined ? anything : ofSchema(document, schema);
  const near = isFields(working) ? fc.oneof(described, overlaid(working, described)) : described;
  const close = isFields(working) ? overlaid(working, described) : described;
  return fc.oneof(
    { weight: 6, arbitrary: close.map(asText) },
    { weight: 2, arbitrary: described.map(asText) },
    { weight: 3, arbitrary: mutated(near).map(asText) },
    { weight: 1, arbitrary: oddText },
    { weight: 1, arbitrary: fc.constant(`${'{"a":['.repeat(2000)}${"]}".repeat(2000)}`) },
  );
};

/** A text with lines left out, told twice, or with something else in the place of a few letters. */
const damaged = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(), fc.constantFrom("drop", "twice", "replace", "cut", "whole"), oddText)
    .map(([at, how, odd]) => {
      const lines = text.split("\n");
      const line = at % lines.length;
      if (how === "drop") return lines.filter((_, i) => i !== line).join("\n");
      if (how === "twice") return [...lines.slice(0, line), ...lines.slice(Math.max(0, line - 1))].join("\n");
      if (how === "cut") return text.slice(0, at % text.length);
      if (how === "replace")
        return text.slice(0, at % text.length) + odd + text.slice((at % text.length) + 3);
      return text;
    });

const queryText = fc.oneof(
  fc.constant(""),
  fc
    .tuple(
      fc.constantFrom("limit", "cursor", "format", "rows", "name", "sensitive"),
      fc.oneof(oddText, fc.constantFrom("1", "1e3", "MQ", "csv")),
    )
    .map(([name, value]) => `?${name}=${encodeURIComponent(value.replace(/\p{Surrogate}/gu, ""))}`),
);

const oddHeaders = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ "If-Match": "*" } as Record<string, string>) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        "If-Match": fc.constantFrom('"x"', "", ",,,", 'W/"y"', "*"),
        "If-None-Match": fc.constantFrom('"x"', "*", ""),
        "Last-Event-ID": fc.constantFrom("0", "-1", "x", "1e400", ""),
        "Content-Type": fc.constantFrom(
          "application/json",
          "text/plain",
          "application/x-ndjson",
          "",
          "application/json; charset=x",
        ),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Record<string, string>>,
  },
);

const within = <Result>(work: Promise<Result>, about: string): Promise<Result> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`${about} takes more than ${SLOWEST} ms`)), SLOWEST).unref();
    }),
  ]);

/** A campaign with something in it, made again where a request has deleted it. */
const prepare = async (server: Served, token: string): Promise<void> => {
  if ((await server.campaigns.list()).some(({ name }) => name === "clinic")) return;
  await server.create({ method: "random" }, token);
  const campaign = await server.campaigns.get("clinic");
  await campaign.ask(4, { annotator: "ann" });
  await campaign.tell({ id: idOf(21), label: "yes", annotator: "ann" });
};

const SQLITE_RUNS = 120;

/** Rankings are made beside requests, in a thread of their own: here they would only take the time of the requests. */
const withoutRankings = (): PoolModels => ({
  ...modelsInThread(),
  rank: async () => ({ rows: [], beta: 0, cold: true, leastLeakage: 0, parity: undefined }),
});

const folder = mkdtempSync(join(tmpdir(), "fairbed-fuzz-"));
afterAll(() => rmSync(folder, { recursive: true }));

const campaignName = fc.oneof(
  { weight: 8, arbitrary: fc.constant("clinic") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "%00",
      "..%2f..%2fetc",
      "%F0%9F%98%80",
      "__proto__",
      "a%2Fb",
      "%ff",
      "x".repeat(3000),
    ),
  },
);

const attack = async (operation: Operation, store: CampaignStore, numRuns: number): Promise<void> => {
  const server = served({ store, models: withoutRankings });
  const token = await server.tokenFor("admin");
  const document = await server.document();
  const described = operationOf(document, operation.method, addressOf(operation));
  await prepare(server, token);
  const backup = (await server.at("GET", "/backup", { token })).text;
  const body =
    operation.method === "GET"
      ? fc.constant(undefined)
      : operation.path.endsWith("/restore")
        ? damaged(backup)
        : bodyFor(document, described, operation.sent?.body);
  let understood = 0;
  await fc.assert(
    fc.asyncProperty(body, queryText, oddHeaders, campaignName, async (text, query, headers, campaign) => {
      await prepare(server, token);
      const path = addressOf({ ...operation, address: campaign }, campaign) + query;
      const response = await within(
        server.raw(operation.method, path, {
          token,
          ...(text === undefined ? {} : { text }),
          headers: { "Content-Type": "application/json", ...operation.sent?.headers, ...headers },
        }),
        `${operation.method} ${path}`,
      );
      await response.body?.cancel();
      if (![400, 401, 415].includes(response.status)) understood += 1;
      const failure = server.lines.find((line) => line.includes('"failure"'));
      expect([response.status, failure]).toEqual([response.status, undefined]);
      expect(response.status).toBeLessThan(500);
    }),
    { seed: SEED, numRuns, endOnFailure: true },
  );
  // Else nothing but the schema was looked at.
  expect(understood).toBeGreaterThan(numRuns / 10);
  await server.close();
};

describe("odd requests", () => {
  for (const operation of operations) {
    const runs = operation.method === "GET" ? GET_RUNS : RUNS;
    it(`${operation.method} ${operation.path} is never answered with 500`, () =>
      attack(operation, memoryStore(), runs));
  }
});

describe("odd requests to a database", () => {
  for (const operation of operations.filter(({ method }) => method === "POST")) {
    it(`${operation.method} ${operation.path} is never answered with 500`, async () => {
      const store = await openStore(`sqlite:${join(folder, `${randomUUID()}.db`)}`);
      await attack(operation, store, SQLITE_RUNS);
      await store.close();
    });
  }
});
