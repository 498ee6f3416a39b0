/** Label Studio's own interface, as far as a campaign needs it. */
import { z } from "zod";
import { EnvironmentError } from "../../core/errors.js";
import { backOff, type Pause, pause as pauseFor } from "../pause.js";
import { type LabelStudioConnection, type ShownConnection, withoutToken } from "./connection.js";
import { itemIn, type ListedTask, listedTaskSchema } from "./payload.js";

export type TaskData = Readonly<Record<string, string | number | null>>;

export interface LabelStudioClient {
  readonly connection: ShownConnection;
  /** All tasks of the project with their annotations. */
  tasks(signal?: AbortSignal): Promise<readonly ListedTask[]>;
  /** Whether there is such an annotation. */
  hasAnnotation(id: string, signal?: AbortSignal): Promise<boolean>;
  /**
   * Adds tasks in their order, those left out whose id the project has already; returns how many were added. Tried
   * again, it first looks what the last attempt has left behind.
   */
  importTasks(tasks: readonly TaskData[], signal?: AbortSignal): Promise<number>;
}

export interface ClientOptions {
  readonly fetch?: typeof fetch | undefined;
  readonly pause?: Pause | undefined;
  /** For one request. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is tried in all. */
  readonly tries?: number | undefined;
  readonly pageSize?: number | undefined;
}

export const clientTexts = {
  refused: (status: number) =>
    `Label Studio answered with status ${status}: check the token, the number of the project and what the token may do`,
  away: (reason: string) =>
    `Label Studio does not answer (${reason}): nothing is lost, and it is tried again; check its address where it lasts`,
  odd: "Label Studio answered with something else than was asked for: check that the address is its own",
};

/** Worth another try. */
class LabelStudioAway extends EnvironmentError {
  readonly waitMs: number;

  constructor(reason: string, waitMs = 0) {
    super("label-studio-away", clientTexts.away(reason));
    this.waitMs = waitMs;
  }
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const IMPORTED_AT_ONCE = 100;
const NOT_FOUND = 404;

const pageSchema = z.object({ tasks: z.array(listedTaskSchema), total: z.int().nullish() });
const accessSchema = z.object({ access: z.string() });

/** A personal token is exchanged for one that holds for minutes; a legacy one is used as it is. */
const isPersonal = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);

interface Asked {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export const labelStudioClient = (
  given: LabelStudioConnection,
  options: ClientOptions = {},
): LabelStudioClient => {
  const { fetch: send = fetch, pause = pauseFor, timeoutMs = 30_000, tries = 6, pageSize = 100 } = options;
  const connection = withoutToken(given);
  const { url, project, field } = connection;
  let access: string | undefined;

  const once = async ({ method, path, body, signal }: Asked, authorization?: string): Promise<Response> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await send(`${url}${path}`, {
        method,
        headers: {
          accept: "application/json",
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The token goes nowhere else.
        redirect: "manual",
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
    } catch (error) {
      signal?.throwIfAborted();
      // Not in its own words: they may quote the request.
      throw new LabelStudioAway(timeout.aborted ? "no answer in time" : reasonOf(error));
    }
  };
  const checked = (response: Response): Response => {
    const { status } = response;
    if (status === 429 || status >= 500) {
      void response.body?.cancel().catch(() => {});
      throw new LabelStudioAway(`status ${status}`, 1000 * Number(response.headers.get("retry-after") ?? 0));
    }
    return response;
  };
  const authorization = async (signal: AbortSignal | undefined): Promise<string> => {
    if (!isPersonal(given.token)) return `Token ${given.token}`;
    if (access === undefined) {
      const body = { refresh: given.token };
      const response = checked(await once({ method: "POST", path: "/api/token/refresh", body, signal }));
      if (!response.ok) throw refusal(response);
      access = (await readAs(accessSchema, response)).access;
    }
    return `Bearer ${access}`;
  };
  const ask = async (asked: Asked): Promise<Response> => {
    const response = checked(await once(asked, await authorization(asked.signal)));
    if (response.status !== 401 || access === undefined) return response;
    access = undefined;
    return checked(await once(asked, await authorization(asked.signal)));
  };
  const retried = async <Result>(
    action: (attempt: number) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await action(attempt);
      } catch (error) {
        if (!(error instanceof LabelStudioAway) || attempt >= tries) throw error;
        const wait = Math.max(error.waitMs || 0, backOff(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
        await pause(Math.min(wait, LONGEST_PAUSE_MS), signal);
        signal?.throwIfAborted();
      }
    }
  };
  const page = (number: number, fields: "all" | "task_only", signal: AbortSignal | undefined) =>
    retried(async () => {
      const query = new URLSearchParams({
        project: String(project),
        page: String(number),
        page_size: String(pageSize),
        fields,
      });
      const response = await ask({ method: "GET", path: `/api/tasks/?${query}`, signal });
      // A page behind the last one.
      if (response.status === NOT_FOUND && number > 1) return { tasks: [] };
      if (!response.ok) throw refusal(response);
      return readAs(pageSchema, response);
    }, signal);
  const list = async (fields: "all" | "task_only", signal?: AbortSignal): Promise<readonly ListedTask[]> => {
    const found = new Map<string, ListedTask>();
    for (let number = 1; ; number++) {
      const { tasks } = await page(number, fields, signal);
      for (const task of tasks) found.set(task.id, task);
      if (tasks.length < pageSize) return [...found.values()];
    }
  };
  const idsThere = async (signal?: AbortSignal): Promise<ReadonlySet<string>> =>
    new Set((await list("task_only", signal)).flatMap(({ data }) => itemIn(data, field) ?? []));
  const importSome = (tasks: readonly TaskData[], signal: AbortSignal | undefined): Promise<number> => {
    let left = tasks;
    return retried(async (attempt) => {
      if (attempt > 1) {
        // The last attempt may have got through without its answer.
        const there = await idsThere(signal);
        left = left.filter((data) => !there.has(String(data[field])));
      }
      if (left.length === 0) return tasks.length;
      const body = left.map((data) => ({ data }));
      const response = await ask({ method: "POST", path: `/api/projects/${project}/import`, body, signal });
      if (!response.ok) throw refusal(response);
      await response.body?.cancel();
      return tasks.length;
    }, signal);
  };
  return {
    connection,
    tasks: (signal) => list("all", signal),
    hasAnnotation: (id, signal) =>
      retried(async () => {
        const response = await ask({ method: "GET", path: `/api/annotations/${id}/`, signal });
        await response.body?.cancel();
        if (response.status === NOT_FOUND) return false;
        if (!response.ok) throw refusal(response);
        return true;
      }, signal),
    async importTasks(tasks, signal) {
      if (tasks.length === 0) return 0;
      const there = await idsThere(signal);
      const missing = tasks.filter((data) => !there.has(String(data[field])));
      let added = 0;
      for (let start = 0; start < missing.length; start += IMPORTED_AT_ONCE) {
        added += await importSome(missing.slice(start, start + IMPORTED_AT_ONCE), signal);
      }
      return added;
    },
  };
};

const refusal = (response: Response): EnvironmentError => {
  void response.body?.cancel().catch(() => {});
  return new EnvironmentError("label-studio", clientTexts.refused(response.status));
};

const readAs = async <Schema extends z.ZodType>(
  schema: Schema,
  response: Response,
): Promise<z.output<Schema>> => {
  const text = await response.text().catch(() => {
    throw new LabelStudioAway("the answer broke off");
  });
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new EnvironmentError("label-studio", clientTexts.odd);
  }
};

/** The code of what went wrong with the connection, such as ECONNREFUSED. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : "no connection";
};
