/** What the page works on: the open table, the roles of its columns, and what was found, all kept in this browser. */
import type { TaskSettings } from "../tables/task.js";
import { randomName } from "./campaigns/random-name.js";
import { engine, tableChanged } from "./engine-client.js";
import { forgetAll, keep, keepBeside, keepInstead, kept, keptTexts } from "./kept.js";
import type { OpenTable } from "./open-table.js";
import { NO_ROLES, type Roles, taskOf } from "./roles.js";
import { route } from "./route.svelte.js";
import type { dataTasks } from "./worker/data-tasks.js";

const RESULTS = ["audit", "plan", "asked plan", "recipe", "campaign"] as const;
type ResultName = (typeof RESULTS)[number];

/** What is not about a table, and stays when another one is opened. */
const WITHOUT_TABLE = ["design", "design session"];
/** The document that tells which opening of a table the others are about. */
const OPENED = "opened";

class Project {
  table = $state.raw<OpenTable | undefined>();
  #roles = $state.raw<Roles>(NO_ROLES);
  /** Why each role was guessed. */
  reasons = $state.raw<readonly string[]>([]);
  /** Reading a file, or restoring the last one. */
  opening = $state.raw<{ label: string; done: number; total: number } | undefined>();
  failure = $state("");
  /** Said where this browser keeps nothing. */
  notKept = $state("");
  /** Results by screen; see `remember`. */
  results = $state.raw<Readonly<Partial<Record<ResultName, unknown>>>>({});
  /** Whether what was kept has been looked at. */
  ready = $state(false);
  /** This opening of the table: no two have the same. */
  #opened = "";
  /** Ends an opening that another one has overtaken. */
  #stop = new AbortController();
  readonly #onOpened: (() => void)[] = [];

  get roles(): Roles {
    return this.#roles;
  }

  get hasRoles(): boolean {
    return this.table !== undefined && this.#roles.target !== "" && this.#roles.sensitive.length > 0;
  }

  get task(): TaskSettings {
    return taskOf(this.#roles);
  }

  setRoles(change: Partial<Roles>): void {
    this.#roles = { ...this.#roles, ...change };
    this.keep("roles", this.#roles);
  }

  /** The result of a screen, kept until another table is opened. */
  remember(name: ResultName, value: unknown): void {
    this.results = { ...this.results, [name]: value };
    this.keep(`result ${name}`, value);
  }

  /** Calls this before another table takes the place of the one that is open: what is about the old one ends. */
  whenOpened(forget: () => void): void {
    this.#onOpened.push(forget);
  }

  /** Opens a file, or the built-in example where none is given; whether it is open, and nothing else was chosen since. */
  async open(file?: File): Promise<boolean> {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.failure = "";
    this.opening = {
      label: file === undefined ? "making the example" : `reading ${file.name}`,
      done: 0,
      total: 1,
    };
    try {
      const found = await engine<typeof dataTasks>("data").call(
        "open",
        { file },
        {
          signal: stop.signal,
          onPartial: (progress: { done: number; total: number }) => {
            if (!stop.signal.aborted && this.opening !== undefined)
              this.opening = { ...this.opening, ...progress };
          },
        },
      );
      // One that was read before the worker heard of the next is the one that is open there, until that is read.
      const { table, roles, reasons } = found;
      for (const forget of this.#onOpened) forget();
      route.forget();
      tableChanged();
      this.table = table;
      this.#roles = roles;
      this.reasons = reasons;
      this.results = {};
      await this.#keepTable(file);
      return !stop.signal.aborted;
    } catch (error) {
      if (!stop.signal.aborted) this.failure = error instanceof Error ? error.message : String(error);
      return false;
    } finally {
      if (!stop.signal.aborted) this.opening = undefined;
    }
  }

  /** What was open when the page was left. */
  async restore(): Promise<void> {
    try {
      const table = await kept<OpenTable>("table");
      if (table !== undefined) {
        const file = await kept<File>("file");
        const roles = await kept<Roles>("roles");
        this.#opened = (await kept<string>(OPENED)) ?? "";
        this.opening = { label: `opening ${table.name} again`, done: 0, total: 1 };
        const found = await engine<typeof dataTasks>("data").call("open", { file });
        this.table = found.table;
        this.#roles = roles ?? found.roles;
        this.reasons = found.reasons;
        for (const name of RESULTS) {
          const value = await kept(`result ${name}`);
          if (value !== undefined) this.results = { ...this.results, [name]: value };
        }
      }
    } catch {
      // A file that cannot be opened again is no reason to show nothing: the page starts afresh.
      this.notKept = keptTexts.cannot;
    } finally {
      this.opening = undefined;
      this.ready = true;
    }
  }

  /** Forgets the table and all results in this browser; campaigns stay. */
  async close(): Promise<void> {
    await forgetAll().catch(() => undefined);
    location.hash = "#/start";
    location.reload();
  }

  async #keepTable(file: File | undefined): Promise<void> {
    this.#opened = randomName();
    try {
      const documents = { [OPENED]: this.#opened, file, roles: this.#roles, table: this.table };
      await keepInstead(documents, WITHOUT_TABLE);
      this.notKept = "";
    } catch {
      this.#cannotKeep();
    }
  }

  /** Keeps something about the open table until another one is opened, here or in another tab. */
  keep(name: string, value: unknown): void {
    if (this.table === undefined) {
      keep(name, value).catch(() => this.#cannotKeep());
      return;
    }
    keepBeside({ name: OPENED, value: this.#opened }, name, value)
      .then((isBeside) => {
        if (!isBeside) this.notKept = keptTexts.elsewhere;
      })
      .catch(() => this.#cannotKeep());
  }

  #cannotKeep(): void {
    this.notKept = keptTexts.cannot;
  }
}

export const project = new Project();
