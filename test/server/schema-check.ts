/** Whether a value is what a schema of an OpenAPI 3.1 document says. Fails on words of the schema that it does not know. */

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const typeMatches = (type: unknown, value: unknown): boolean => {
  switch (type) {
    case "object":
      return isFields(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "null":
      return value === null;
    case "string":
    case "boolean":
      return typeof value === type;
    default:
      throw new Error(`the schema has an unknown type ${String(type)}`);
  }
};

const SILENT = ["description", "example", "title", "default", "format"];

/** Faults, as `path: reason`; none where the value fits. */
export const schemaFaults = (
  document: unknown,
  schema: unknown,
  value: unknown,
  at = "$",
): readonly string[] => {
  const faults: string[] = [];
  const inner = (own: unknown, one: unknown, place: string): void => {
    faults.push(...schemaFaults(document, own, one, place));
  };
  if (!isFields(schema)) throw new Error(`no schema at ${at}`);
  const fits = (own: unknown) => schemaFaults(document, own, value, at).length === 0;
  const fault = (reason: string) => faults.push(`${at}: ${reason}`);

  const checks: Readonly<Record<string, (given: unknown) => void>> = {
    $ref(given) {
      const target = String(given)
        .replace(/^#\//, "")
        .split("/")
        .reduce<unknown>((from, key) => (isFields(from) ? from[key] : undefined), document);
      inner(target, value, at);
    },
    type(given) {
      const types = Array.isArray(given) ? given : [given];
      if (!types.some((type) => typeMatches(type, value))) fault(`is no ${types.join(" or ")}`);
    },
    enum(given) {
      if (Array.isArray(given) && !given.includes(value)) fault(`is none of ${given.join(", ")}`);
    },
    const(given) {
      if (given !== value) fault(`is not ${String(given)}`);
    },
    anyOf(given) {
      if (Array.isArray(given) && !given.some(fits)) fault("fits none of several schemas");
    },
    oneOf(given) {
      if (Array.isArray(given) && given.filter(fits).length !== 1)
        fault("fits not exactly one of several schemas");
    },
    allOf(given) {
      if (Array.isArray(given)) for (const own of given) inner(own, value, at);
    },
    properties(given) {
      if (!isFields(value) || !isFields(given)) return;
      for (const [name, own] of Object.entries(given)) {
        if (Object.hasOwn(value, name)) inner(own, value[name], `${at}.${name}`);
      }
    },
    required(given) {
      if (!isFields(value) || !Array.isArray(given)) return;
      for (const name of given) if (!Object.hasOwn(value, name)) fault(`lacks ${name}`);
    },
    additionalProperties(given) {
      if (!isFields(value)) return;
      const known = Object.keys(isFields(schema.properties) ? schema.properties : {});
      for (const name of Object.keys(value).filter((each) => !known.includes(each))) {
        if (given === false) fault(`has ${name}, which is not described`);
        else if (isFields(given)) inner(given, value[name], `${at}.${name}`);
      }
    },
    propertyNames(given) {
      if (isFields(value)) for (const name of Object.keys(value)) inner(given, name, `${at}.${name}`);
    },
    items(given) {
      if (Array.isArray(value)) for (const [i, one] of value.entries()) inner(given, one, `${at}[${i}]`);
    },
    prefixItems(given) {
      if (!Array.isArray(value) || !Array.isArray(given)) return;
      if (value.length !== given.length) fault(`has ${value.length} and not ${given.length} parts`);
      for (const [i, own] of given.entries()) inner(own, value[i], `${at}[${i}]`);
    },
    minimum(given) {
      if (typeof value === "number" && value < Number(given)) fault(`is below ${String(given)}`);
    },
    maximum(given) {
      if (typeof value === "number" && value > Number(given)) fault(`is above ${String(given)}`);
    },
    minLength(given) {
      if (typeof value === "string" && value.length < Number(given)) fault("is too short");
    },
    maxLength(given) {
      if (typeof value === "string" && value.length > Number(given)) fault("is too long");
    },
    minItems(given) {
      if (Array.isArray(value) && value.length < Number(given)) fault("has too few");
    },
    maxItems(given) {
      if (Array.isArray(value) && value.length > Number(given)) fault("has too many");
    },
  };
  for (const [word, given] of Object.entries(schema)) {
    if (SILENT.includes(word)) continue;
    const check = checks[word];
    if (check === undefined) throw new Error(`the schema at ${at} has the unknown word ${word}`);
    check(given);
  }
  return faults;
};

const at = (from: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((own, key) => (isFields(own) ? own[key] : undefined), from);

export const operationOf = (document: unknown, method: string, path: string): unknown => {
  const paths = at(document, "paths");
  if (!isFields(paths)) return undefined;
  const template = Object.keys(paths).find((each) =>
    new RegExp(`^${each.replace(/\{[^}]+\}/g, "[^/]+").replaceAll(".", "\\.")}$`).test(path),
  );
  return template === undefined ? undefined : at(paths, template, method.toLowerCase());
};

/** What of a response the document does not say. */
export const responseFaults = async (
  document: unknown,
  method: string,
  path: string,
  response: Response,
): Promise<readonly string[]> => {
  const about = `${method} ${path} ${response.status}`;
  const operation = operationOf(document, method, path);
  if (operation === undefined) {
    return response.status === 404 ? [] : [`${about}: is not documented`];
  }
  const documented = at(operation, "responses", String(response.status));
  if (documented === undefined) return [`${about}: the status is not documented`];
  const content = at(documented, "content");
  const type = (response.headers.get("content-type") ?? "").split(";")[0];
  if (content === undefined) {
    return (await response.text()) === "" ? [] : [`${about}: has a body that is not documented`];
  }
  const media = at(content, type);
  if (media === undefined) return [`${about}: has the type ${type}, which is not documented`];
  if (type !== "application/json") return [];
  return schemaFaults(document, at(media, "schema"), await response.json()).map(
    (each) => `${about}: ${each}`,
  );
};
