/** The documentation for people: one page made of the OpenAPI document. It asks nothing of anybody and runs no script. */
import { createHash } from "node:crypto";

export interface Page {
  readonly text: string;
  /** A content security policy that allows its own style and nothing else. */
  readonly policy: string;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses?: unknown;
}

/** What of an OpenAPI document is shown. */
export interface ShownDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, object>> | undefined;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> } | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1,h2,h3{line-height:1.2}h2{border-bottom:1px solid #ccc;padding-bottom:.2rem;margin-top:2.5rem}h3{margin-top:2rem}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#f5f5f5;padding:.8rem;overflow:auto}
table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}
.method{display:inline-block;min-width:4.5rem;font-weight:700}a{color:#0b57a4}
@media(prefers-color-scheme:dark){body{color:#eee;background:#181818}pre{background:#242424}a{color:#8ab8f0}h2{border-color:#444}}`;

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => escapes[letter] ?? letter);

/** Words with code in them, as in Markdown. */
const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const pageOf = (title: string, body: string): Page => ({
  text: `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escaped(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>\n`,
  policy: `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
});

/** A schema in a line: a link where it has a name. */
const schemaText = (schema: unknown): string => {
  const { $ref, type, items, anyOf, enum: values } = fieldsOf(schema);
  if (typeof $ref === "string") {
    const name = $ref.split("/").at(-1) ?? "";
    return `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`;
  }
  if (Array.isArray(anyOf)) return anyOf.map(schemaText).join(" or ");
  if (Array.isArray(values))
    return values.map((value) => `<code>${escaped(String(value))}</code>`).join(", ");
  if (type === "array") return `list of ${schemaText(items)}`;
  return escaped(Array.isArray(type) ? type.join(" or ") : textOf(type) || "anything");
};

const contentText = (content: unknown): string =>
  Object.entries(fieldsOf(content))
    .map(([type, media]) => `<code>${escaped(type)}</code>: ${schemaText(fieldsOf(media).schema)}`)
    .join("; ");

const parametersText = (parameters: readonly unknown[]): string => {
  if (parameters.length === 0) return "";
  const rows = parameters.map(fieldsOf).map((parameter) => {
    const { name, in: where, required, description, schema } = parameter;
    const about = textOf(description) || textOf(fieldsOf(schema).description);
    return `<tr><td><code>${escaped(textOf(name))}</code></td><td>${escaped(textOf(where))}${required === true ? "" : ", optional"}</td><td>${schemaText(schema)}</td><td>${prose(about)}</td></tr>`;
  });
  return `<table>${rows.join("")}</table>`;
};

const operationText = (method: string, path: string, operation: Operation): string => {
  const { summary = "", description = "", parameters = [], requestBody, responses } = operation;
  const body = fieldsOf(requestBody).content;
  const answers = Object.entries(fieldsOf(responses)).map(
    ([status, response]) =>
      `<tr><td>${escaped(status)}</td><td>${prose(textOf(fieldsOf(response).description))}</td><td>${contentText(fieldsOf(response).content)}</td></tr>`,
  );
  return `<h3><span class="method">${method.toUpperCase()}</span> <code>${escaped(path)}</code></h3><p><strong>${escaped(summary)}.</strong> ${prose(description)}</p>${parametersText(parameters)}${body === undefined ? "" : `<p>Body: ${contentText(body)}</p>`}<details><summary>Answers</summary><table>${answers.join("")}</table></details>`;
};

export const docsPage = ({ info, paths = {}, components }: ShownDocument): Page => {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Readonly<Record<string, Operation | undefined>>)[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
  const groups = [...new Set(operations.map(({ operation }) => operation.tags?.[0] ?? "Other"))];
  const sections = groups.map(
    (group) =>
      `<h2>${escaped(group)}</h2>${operations
        .filter(({ operation }) => (operation.tags?.[0] ?? "Other") === group)
        .map(({ method, path, operation }) => operationText(method, path, operation))
        .join("")}`,
  );
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<h3 id="schema-${escaped(name)}">${escaped(name)}</h3><pre>${escaped(JSON.stringify(schema, null, 2))}</pre>`,
  );
  return pageOf(
    `${info.title} ${info.version}`,
    `<h1>${escaped(info.title)} ${escaped(info.version)}</h1><p>${prose(info.description ?? "")} For programs: <a href="/openapi.json">openapi.json</a>.</p><p>A token is sent as <code>Authorization: Bearer fbd_…</code>. Everything that cannot be done is answered with <code>{ "error": { "code", "message" } }</code>.</p>${sections.join("")}<h2>Schemas</h2>${schemas.join("")}`,
  );
};

/** Where there is no other page, with the reason. */
export const frontPage = (reason: string): Page =>
  pageOf(
    "FairBED",
    `<h1>FairBED</h1><p>The server runs; ${escaped(reason)}. <a href="/docs">What it can do</a>, and the same <a href="/openapi.json">for programs</a>.</p>`,
  );
