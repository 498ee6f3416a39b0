/** What runs in a worker: tasks by name, each from plain data to plain data. */
import type { Table } from "../../tables/table.js";

/** How a task is watched, and where it finds the table. */
export interface TaskRun {
  /** Aborted where the page asks for it. */
  readonly signal: AbortSignal;
  /** What has been found so far, for a page that shows it at once. */
  emit(partial: unknown): void;
  /** The table that is open; waits until it is here. */
  table(): Promise<Table>;
  /** Makes a table the one that is open. */
  open(table: Table): void;
}

// biome-ignore lint/suspicious/noExplicitAny: what a task takes is its own matter; callers see its real type.
export type Task = (input: any, run: TaskRun) => unknown;
export type Tasks = Readonly<Record<string, Task>>;

export type ToWorker =
  | { readonly kind: "start"; readonly name: string }
  | { readonly kind: "call"; readonly id: number; readonly task: string; readonly input: unknown }
  | { readonly kind: "stop"; readonly id: number }
  /** Sends the table through the port, or takes it from there: it never passes through the page's own thread. */
  | { readonly kind: "give" | "take"; readonly port: MessagePort };

/** An error as it crosses from a worker. */
export interface TaskFailure {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
}

export type FromWorker =
  | { readonly kind: "partial"; readonly id: number; readonly value: unknown }
  | { readonly kind: "done"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly failure: TaskFailure };
