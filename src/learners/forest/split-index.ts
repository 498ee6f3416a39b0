/** Numbers the splits that differ, in the order in which they were added: a hash table without objects. */
export class SplitIndex {
  /** [places, 3]: column, threshold's bits, and number + 1; 0 where a place is free. */
  #table = new Int32Array(3 * 64);
  #columns = new Int32Array(32);
  #thresholds = new Int32Array(32);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** By number: the column, and the bits of the threshold. */
  columnOf(number: number): number {
    return this.#columns[number];
  }

  thresholdOf(number: number): number {
    return this.#thresholds[number];
  }

  /** Where the split is, or the free place where it belongs. */
  #place(column: number, threshold: number): number {
    const table = this.#table;
    const mask = table.length / 3 - 1;
    let hash = Math.imul(column, 0x9e3779b1) ^ Math.imul(threshold, 0x85ebca6b);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0xc2b2ae35);
    for (let i = (hash ^ (hash >>> 13)) & mask; ; i = (i + 1) & mask) {
      const at = 3 * i;
      if (table[at + 2] === 0 || (table[at] === column && table[at + 1] === threshold)) return at;
    }
  }

  /** The split's number, -1 where it was not added. */
  find(column: number, threshold: number): number {
    return this.#table[this.#place(column, threshold) + 2] - 1;
  }

  /** The split's number; adds it where it is new. */
  add(column: number, threshold: number): number {
    const at = this.#place(column, threshold);
    if (this.#table[at + 2] > 0) return this.#table[at + 2] - 1;
    if (this.#size === this.#columns.length) {
      this.#grow();
      return this.add(column, threshold);
    }
    this.#columns[this.#size] = column;
    this.#thresholds[this.#size] = threshold;
    this.#enter(this.#size, at);
    return this.#size++;
  }

  #enter(number: number, at: number): void {
    this.#table[at] = this.#columns[number];
    this.#table[at + 1] = this.#thresholds[number];
    this.#table[at + 2] = number + 1;
  }

  /** Twice the room; the table has at least twice as many places as splits. */
  #grow(): void {
    const [columns, thresholds] = [this.#columns, this.#thresholds];
    this.#columns = new Int32Array(2 * columns.length);
    this.#thresholds = new Int32Array(2 * columns.length);
    this.#columns.set(columns);
    this.#thresholds.set(thresholds);
    this.#table = new Int32Array(2 * this.#table.length);
    for (let k = 0; k < this.#size; k++) this.#enter(k, this.#place(columns[k], thresholds[k]));
  }
}
