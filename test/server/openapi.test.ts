/** The document is the truth: it is a valid one, and answers that it does not describe are found. */
import { describe, expect, it } from "vitest";
import { responseFaults, schemaFaults } from "./schema-check.js";
import { served } from "./served.js";

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields => value as Fields;

/** All objects in a document, with where they are. */
const walk = (value: unknown, at: string, visit: (found: Fields, at: string) => void): void => {
  if (Array.isArray(value)) for (const [i, each] of value.entries()) walk(each, `${at}/${i}`, visit);
  else if (typeof value === "object" && value !== null) {
    visit(value as Fields, at);
    for (const [key, each] of Object.entries(value)) walk(each, `${at}/${key}`, visit);
  }
};

describe("the document", () => {
  it("is an OpenAPI 3.1 document in all that the specification requires", async () => {
    const document = fields(await served().document());
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(fields(document.info)).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const operations: string[] = [];
    for (const [path, item] of Object.entries(fields(document.paths))) {
      expect(path.startsWith("/")).toBe(true);
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      for (const [method, operation] of Object.entries(fields(item))) {
        expect(["get", "post", "patch", "delete"]).toContain(method);
        const about = `${method} ${path}`;
        operations.push(about);
        const { responses, parameters = [], summary, tags, requestBody } = fields(operation);
        expect([about, typeof summary, Array.isArray(tags)]).toEqual([about, "string", true]);
        const known = parameters as Fields[];
        expect(known.filter((each) => each.in === "path").map(({ name }) => name)).toEqual(inPath);
        for (const parameter of known) {
          expect(["path", "query", "header"]).toContain(parameter.in);
          expect(parameter.schema ?? parameter.content).toBeDefined();
          if (parameter.in === "path") expect(parameter.required).toBe(true);
        }
        const names = known.map((each) => `${String(each.in)} ${String(each.name)}`);
        expect(new Set(names).size).toBe(names.length);
        for (const [status, response] of Object.entries(fields(responses))) {
          expect(status).toMatch(/^[1-5]\d\d$/);
          expect(typeof fields(response).description).toBe("string");
        }
        if (method !== "get" && requestBody !== undefined) expect(fields(requestBody).required).toBe(true);
      }
    }
    expect(operations.length).toBeGreaterThan(25);
    // Every reference leads somewhere.
    walk(document, "#", (found, at) => {
      if (typeof found.$ref !== "string") return;
      const target = found.$ref
        .slice(2)
        .split("/")
        .reduce<unknown>((from, key) => fields(from ?? {})[key], document);
      expect([at, found.$ref, target !== undefined]).toEqual([at, found.$ref, true]);
    });
    // No schema of the older version.
    walk(document, "#", (found) => expect(found.nullable).toBeUndefined());
    expect(document.components).toHaveProperty("securitySchemes.token.scheme", "bearer");
  });

  it("has every operation on the page for people", async () => {
    const server = served();
    const document = fields(await server.document());
    const { text } = await server.send("GET", "/docs");
    for (const path of Object.keys(fields(document.paths))) expect(text).toContain(`<code>${path}</code>`);
    for (const name of Object.keys(fields(fields(document.components).schemas))) {
      expect(text).toContain(`id="schema-${name}"`);
    }
  });
});

describe("the check of answers", () => {
  const answer = (status: number, body: unknown, type = "application/json") =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), {
      status,
      headers: { "Content-Type": type },
    });

  it("lets through what is described", async () => {
    const document = await served().document();
    expect(await responseFaults(document, "GET", "/health", answer(200, { status: "ok" }))).toEqual([]);
    const problem = { error: { code: "a", message: "b" } };
    expect(await responseFaults(document, "GET", "/api/v1/campaigns/x", answer(404, problem))).toEqual([]);
  });

  it("finds what is not", async () => {
    const document = await served().document();
    const faultsOf = async (path: string, response: Response, method = "GET") =>
      (await responseFaults(document, method, path, response)).length;
    expect(await faultsOf("/health", answer(200, { status: "well" }))).toBe(1);
    expect(await faultsOf("/health", answer(200, { status: "ok", more: 1 }))).toBe(1);
    expect(await faultsOf("/health", answer(200, {}))).toBe(1);
    expect(await faultsOf("/health", answer(418, { status: "ok" }))).toBe(1);
    expect(await faultsOf("/health", answer(200, "ok", "text/plain"))).toBe(1);
    expect(await faultsOf("/nowhere", answer(200, {}))).toBe(1);
    expect(await faultsOf("/api/v1/tokens/x", answer(404, { error: "x" }), "DELETE")).toBe(1);
    const taken = [{ event: "e", id: "i", status: "answer", unasked: false, sensitive: "x" }];
    expect(await faultsOf("/api/v1/campaigns/c/answers", answer(200, { taken }), "POST")).toBe(1);
  });

  it("does not pass over words of a schema that it does not know", () => {
    expect(() => schemaFaults({}, { type: "string", contentEncoding: "base64" }, "x")).toThrow(
      "contentEncoding",
    );
    expect(schemaFaults({}, { type: ["string", "null"] }, 1)).toHaveLength(1);
    expect(schemaFaults({}, { anyOf: [{ type: "string" }, { type: "null" }] }, null)).toEqual([]);
    expect(schemaFaults({}, { type: "array", prefixItems: [{ type: "number" }] }, [1, 2])).toHaveLength(1);
    expect(schemaFaults({}, { type: "number" }, Number.NaN)).toHaveLength(1);
  });
});
