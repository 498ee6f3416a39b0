/** What can be handed to another process or machine: plain JSON that says all that its result depends on. */
import {
  acquisitionOf,
  CELL_VERSIONS,
  type Cell,
  type CellKind,
  type CellResult,
  cellKey,
  seedOf,
} from "../reproduce/cell.js";
import { describeCell, estimateSeconds } from "../reproduce/describe-cell.js";

export interface Order {
  readonly cell: Cell;
}
export type OrderResult = CellResult;

/** The same for the same order in the same version, and for nothing else. */
export const orderKey = ({ cell }: Order): string => cellKey(cell);

/** The order whose result this one starts from. */
export const orderBefore = ({ cell }: Order): Order | undefined => {
  const before = acquisitionOf(cell);
  return before === undefined ? undefined : { cell: before };
};

/** In words, the same for all seeds. */
export const describeOrder = ({ cell }: Order): string => describeCell(cell);

/** In words, with what tells it from others of its kind. */
export const orderInWords = (order: Order): string => `${describeOrder(order)}, seed ${seedOf(order.cell)}`;

/** Rough seconds on one core. */
export const estimateOrder = ({ cell }: Order): number => estimateSeconds(cell);

const queueStart = (kind: CellKind): string => {
  const startsItself = kind === "acquire" || kind === "design";
  const versions = [CELL_VERSIONS[kind], ...(startsItself ? [] : [CELL_VERSIONS.acquire])];
  return `cells-${kind}-${versions.join("_")}`;
};

/** Orders that the same workers can run are in one queue: those of one version that need the same data. */
export const queueOf = ({ cell }: Order): string => {
  const start = queueStart(cell.kind);
  if (cell.kind === "design") return start;
  return `${start}-${(cell.kind === "acquire" ? cell : cell.acquisition).task}`;
};

/** Whether this version can run what is in a queue. */
export const knowsQueue = (queue: string): boolean =>
  Object.keys(CELL_VERSIONS)
    .map((kind) => queueStart(kind as CellKind))
    .some((start) => queue === start || queue.startsWith(`${start}-`));
