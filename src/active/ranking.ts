/** Rows from the largest key down, as far as they are asked for. */
import { goesFirst, type RowKeys } from "./ties.js";

/**
 * A heap over the rows: putting it up takes time linear in them, and each row taken a logarithm, so that a few of
 * many cost no sort. Keys must not be NaN. Among equal ones `ties` decides, see `ties.ts`.
 */
export function* descending(keys: Float64Array, ties: RowKeys): Generator<number> {
  let size = keys.length;
  const heap = Int32Array.from({ length: size }, (_, row) => row);
  // A row is compared a few times: its key is made at most once, and only where it is needed.
  const made = new Float64Array(size);
  const tieKey = (row: number): number => {
    if (made[row] === 0) made[row] = ties(row);
    return made[row];
  };
  const before = (a: number, b: number): boolean =>
    keys[a] > keys[b] || (keys[a] === keys[b] && goesFirst(tieKey, a, b));
  const sift = (start: number): void => {
    const row = heap[start];
    let at = start;
    for (let child = 2 * at + 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && before(heap[child + 1], heap[child])) child++;
      if (!before(heap[child], row)) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = row;
  };
  for (let start = (size >> 1) - 1; start >= 0; start--) sift(start);
  while (size > 0) {
    yield heap[0];
    heap[0] = heap[--size];
    sift(0);
  }
}
