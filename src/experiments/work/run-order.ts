/** An order to its result: the same numbers in any process, on any machine. */
import type { AcquireResult } from "../reproduce/cell.js";
import { runCell } from "../reproduce/run-cell.js";
import type { Order, OrderResult } from "./order.js";

export interface OrderRun {
  /** The result of the order before it, where it is known. */
  readonly before?: OrderResult;
  /** All cores unless given. */
  readonly threads?: number;
  /** Where the data is; the usual folder unless given. */
  readonly root?: string;
  /** Called often with the share that is done; the order waits for it. */
  readonly onProgress?: (done: number) => void | Promise<void>;
}

export const runOrder = ({ cell }: Order, { before, ...run }: OrderRun = {}): Promise<OrderResult> =>
  runCell(cell, { ...run, ...(before === undefined ? {} : { acquired: before as AcquireResult }) });
