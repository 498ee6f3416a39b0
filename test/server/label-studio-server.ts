/**
 * A stand-in for Label Studio: a project with tasks and annotators, its REST interface as far as it is used, webhooks
 * that wait a second and are never sent again, and a caller of machine learning backends with its time-outs. What goes
 * wrong in the field goes wrong here on demand.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface StandInAnnotation {
  readonly id: number;
  readonly task: number;
  readonly completed_by: number;
  result: unknown[];
  was_cancelled: boolean;
  readonly ground_truth: false;
  readonly created_at: string;
  updated_at: string;
  readonly lead_time: number;
}

export interface StandInTask {
  readonly id: number;
  readonly data: Record<string, unknown>;
  readonly project: number;
  readonly annotations: StandInAnnotation[];
}

/** What becomes of a webhook: it is sent, gets lost, comes twice, or is kept back until `release`. */
export type Sending = "sent" | "lost" | "twice" | "held";

/** What happens to the next request whose path begins so. */
export interface Fault {
  readonly path: string;
  /** Answers with this status and does nothing; does it and breaks the connection; or does it late. */
  readonly what: number | "broken" | { readonly late: number };
  readonly headers?: Record<string, string>;
}

export interface SentWebhook {
  readonly action: string;
  /** Undefined where nothing was answered within a second. */
  readonly status: number | undefined;
  readonly milliseconds: number;
}

const WEBHOOK_TIMEOUT_MS = 1000;
const TIMEOUTS_MS = { health: 1000, setup: 3000, predict: 100_000 } as const;
export const LEGACY_TOKEN = "0123456789abcdef0123456789abcdef01234567";
/** Three parts, as those have that are exchanged. */
export const PERSONAL_TOKEN = "eyJhbGciOi.eyJ0b2tlbl.c2lnbmF0dXJl";

export const choice = (value: string, fromName = "choice") => ({
  id: "x1",
  from_name: fromName,
  to_name: "text",
  type: "choices",
  value: { choices: [value] },
});

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
};

export const startLabelStudio = async ({ project = 12, overlap = 1 } = {}) => {
  const tasks = new Map<number, StandInTask>();
  const requests: RecordedRequest[] = [];
  const faults: Fault[] = [];
  const webhooks: SentWebhook[] = [];
  const held: (() => Promise<void>)[] = [];
  let numbers = 100;
  let microseconds = 0;
  let webhookUrl: string | undefined;
  let webhookHeaders: Record<string, string> = {};
  /** The access that a personal token was exchanged for; changes when `expire` is called. */
  let access = "access-1";
  let closed = false;

  // Microseconds apart, as quick annotators' changes are.
  const now = (): string => {
    microseconds += 1;
    return `2026-03-01T10:00:00.${String(microseconds).padStart(6, "0")}Z`;
  };
  const number = (): number => {
    numbers += 1;
    return numbers;
  };
  const isLabeled = ({ annotations }: StandInTask): boolean =>
    annotations.filter(({ was_cancelled }) => !was_cancelled).length >= overlap;
  const projectObject = {
    id: project,
    title: "FairBED",
    maximum_annotations: overlap,
    sampling: "Sequential sampling",
  };

  const post = async (action: string, payload: object): Promise<void> => {
    if (webhookUrl === undefined) return;
    const started = performance.now();
    let status: number | undefined;
    try {
      const response = await fetch(webhookUrl, {
        method: "POST",
        headers: { "content-type": "application/json", ...webhookHeaders },
        body: JSON.stringify({ action, ...payload, project: projectObject }),
        signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS),
      });
      status = response.status;
      await response.arrayBuffer();
    } catch {
      // Logged and forgotten, as there.
    }
    webhooks.push({ action, status, milliseconds: performance.now() - started });
  };
  const emit = async (action: string, payload: object, sending: Sending): Promise<void> => {
    // As it is now: a webhook that is kept back says what was true then.
    const snapshot = structuredClone(payload);
    if (sending === "lost") return;
    if (sending === "held") {
      held.push(() => post(action, snapshot));
      return;
    }
    await post(action, snapshot);
    if (sending === "twice") await post(action, snapshot);
  };
  const taskOf = (id: number): StandInTask => {
    const task = tasks.get(id);
    if (task === undefined) throw new Error(`the stand-in has no task ${id}`);
    return task;
  };
  const annotationOf = (id: number): { task: StandInTask; annotation: StandInAnnotation } => {
    for (const task of tasks.values()) {
      const annotation = task.annotations.find((each) => each.id === id);
      if (annotation !== undefined) return { task, annotation };
    }
    throw new Error(`the stand-in has no annotation ${id}`);
  };
  const sentTask = ({ annotations: _, ...task }: StandInTask) => ({ ...task, overlap, meta: {} });

  const add = async (data: Record<string, unknown>[], sending: Sending): Promise<readonly number[]> => {
    const added = data.map((each): StandInTask => ({ id: number(), data: each, project, annotations: [] }));
    for (const task of added) tasks.set(task.id, task);
    await emit("TASKS_CREATED", { tasks: added.map(sentTask) }, sending);
    return added.map(({ id }) => id);
  };

  const answer = (request: IncomingMessage, response: ServerResponse, body: string): ServerResponse => {
    const send = (status: number, value: unknown): ServerResponse => {
      response.writeHead(status, { "content-type": "application/json" });
      return response.end(JSON.stringify(value));
    };
    const url = new URL(request.url ?? "/", "http://stand-in");
    if (url.pathname === "/api/token/refresh") {
      const { refresh } = JSON.parse(body) as { refresh: string };
      return refresh === PERSONAL_TOKEN ? send(200, { access }) : send(401, { detail: "Token is invalid" });
    }
    const given = request.headers.authorization;
    if (given !== `Token ${LEGACY_TOKEN}` && given !== `Bearer ${access}`) {
      return send(401, { detail: "Invalid token." });
    }
    if (request.method === "POST" && url.pathname === `/api/projects/${project}/import`) {
      const sent = JSON.parse(body) as { data: Record<string, unknown> }[];
      void add(
        sent.map(({ data }) => data),
        "sent",
      );
      return send(201, { task_count: sent.length, annotation_count: 0, prediction_count: 0 });
    }
    if (request.method === "GET" && url.pathname === "/api/tasks/") {
      const page = Number(url.searchParams.get("page") ?? 1);
      const size = Number(url.searchParams.get("page_size") ?? 100);
      const own = Number(url.searchParams.get("project")) === project ? [...tasks.values()] : [];
      const part = own.slice((page - 1) * size, page * size);
      if (part.length === 0 && page > 1) return send(404, { detail: "Invalid page." });
      const isAll = url.searchParams.get("fields") === "all";
      return send(200, {
        tasks: part.map((task) => ({
          ...sentTask(task),
          is_labeled: isLabeled(task),
          total_annotations: task.annotations.length,
          ...(isAll ? { annotations: task.annotations } : {}),
        })),
        total: own.length,
      });
    }
    const [, annotation] = /^\/api\/annotations\/(\d+)\/$/.exec(url.pathname) ?? [];
    if (request.method === "GET" && annotation !== undefined) {
      const found = [...tasks.values()]
        .flatMap((task) => task.annotations)
        .find(({ id }) => id === Number(annotation));
      return found === undefined ? send(404, { detail: "Not found." }) : send(200, found);
    }
    return send(404, { detail: "Not found." });
  };

  const server = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request);
      const path = request.url ?? "/";
      requests.push({
        method: request.method ?? "",
        path,
        authorization: request.headers.authorization,
        body,
      });
      const at = faults.findIndex((fault) => path.startsWith(fault.path));
      const [fault] = at < 0 ? [] : faults.splice(at, 1);
      if (fault === undefined) return answer(request, response, body);
      if (typeof fault.what === "number") {
        response.writeHead(fault.what, fault.headers);
        return response.end("not JSON, and it says nothing");
      }
      if (fault.what === "broken") {
        const silent = { writeHead: () => {}, end: () => {} } as unknown as ServerResponse;
        answer(request, silent, body);
        return request.socket.destroy();
      }
      const { late } = fault.what;
      setTimeout(() => answer(request, response, body), late);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;

  const call = async (base: string, path: keyof typeof TIMEOUTS_MS, body?: object): Promise<unknown> => {
    const response = await fetch(`${base}/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", ...webhookHeaders },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUTS_MS[path]),
    });
    if (!response.ok) throw new Error(`${path} was answered with status ${response.status}`);
    return response.json();
  };
  const uid = `${project}.1700000000`;
  const schema = '<View><Text name="text" value="$skill"/><Choices name="choice" toName="text"/></View>';

  return {
    url: `http://127.0.0.1:${port}`,
    project,
    tasks,
    requests,
    faults,
    webhooks,
    /** Who is told of what happens from now on. */
    sendWebhooksTo(url: string | undefined, headers: Record<string, string> = {}) {
      webhookUrl = url;
      webhookHeaders = headers;
    },
    expireAccess() {
      access = `${access}1`;
    },
    open: (): readonly StandInTask[] => [...tasks.values()].filter((task) => !isLabeled(task)),
    annotations: (): readonly StandInAnnotation[] => [...tasks.values()].flatMap((task) => task.annotations),
    addTasks: (data: Record<string, unknown>[], sending: Sending = "sent") => add(data, sending),
    async annotate(
      taskId: number,
      user: number,
      result: unknown[] | "skip",
      sending: Sending = "sent",
    ): Promise<number> {
      const task = taskOf(taskId);
      const time = now();
      const annotation: StandInAnnotation = {
        id: number(),
        task: taskId,
        completed_by: user,
        result: result === "skip" ? [] : result,
        was_cancelled: result === "skip",
        ground_truth: false,
        created_at: time,
        updated_at: time,
        lead_time: 1.5,
      };
      task.annotations.push(annotation);
      await emit("ANNOTATION_CREATED", { annotation, task: sentTask(task) }, sending);
      return annotation.id;
    },
    async annotateAll(
      pairs: readonly (readonly [task: number, value: string])[],
      user: number,
      sending: Sending = "sent",
    ) {
      const added = pairs.map(([taskId, value]) => {
        const time = now();
        const annotation: StandInAnnotation = {
          id: number(),
          task: taskId,
          completed_by: user,
          result: [choice(value)],
          was_cancelled: false,
          ground_truth: false,
          created_at: time,
          updated_at: time,
          lead_time: 1,
        };
        taskOf(taskId).annotations.push(annotation);
        return annotation;
      });
      // Lists under these very names, as there.
      await emit(
        "ANNOTATIONS_CREATED",
        { annotation: added, task: added.map(({ task }) => sentTask(taskOf(task))) },
        sending,
      );
    },
    async update(id: number, result: unknown[] | "skip", sending: Sending = "sent"): Promise<void> {
      const { task, annotation } = annotationOf(id);
      annotation.result = result === "skip" ? [] : result;
      annotation.was_cancelled = result === "skip";
      annotation.updated_at = now();
      await emit("ANNOTATION_UPDATED", { annotation, task: sentTask(task) }, sending);
    },
    async deleteAnnotation(id: number, sending: Sending = "sent"): Promise<void> {
      const { task, annotation } = annotationOf(id);
      task.annotations.splice(task.annotations.indexOf(annotation), 1);
      // Nothing but the number, as there.
      await emit("ANNOTATIONS_DELETED", { annotations: [{ id }] }, sending);
    },
    async deleteTask(id: number, sending: Sending = "sent"): Promise<void> {
      tasks.delete(id);
      await emit("TASKS_DELETED", { tasks: [{ id }] }, sending);
    },
    updateProject: (sending: Sending = "sent") => emit("PROJECT_UPDATED", {}, sending),
    /** Sends what was kept back, the last one first. */
    async release(): Promise<void> {
      for (const each of held.splice(0).reverse()) await each();
    },
    backend: {
      health: (base: string) => call(base, "health"),
      setup: (base: string) =>
        call(base, "setup", {
          project: uid,
          schema,
          hostname: `http://127.0.0.1:${port}`,
          access_token: LEGACY_TOKEN,
          extra_params: null,
        }),
      predict: (base: string) =>
        call(base, "predict", {
          tasks: [...tasks.values()].map((task) => ({ ...sentTask(task), annotations: [], predictions: [] })),
          model_version: null,
          project: uid,
          label_config: schema,
          params: { login: null, password: null, context: null },
        }) as Promise<{
          results: { result: unknown[]; score: number; model_version: string }[];
          model_version: string;
        }>,
    },
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
};

export type LabelStudioStandIn = Awaited<ReturnType<typeof startLabelStudio>>;
