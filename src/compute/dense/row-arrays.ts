/** The arrays of a network that have a row for each of its inputs: its own, or someone else's in the same workspace. */
import type { Workspace } from "../workspace.js";

export class RowArrays {
  readonly #workspace: Workspace;
  /** Floats of a row, by array. */
  readonly #widths: readonly number[];
  readonly #onAddress: (index: number, address: number) => void;
  readonly #addresses: number[];
  /** Lengths of those that belong to someone else. */
  readonly #bound = new Map<number, number>();
  #rows: number;

  /** Places all arrays; `onAddress` is told where each is, now and whenever it moves. */
  constructor(
    workspace: Workspace,
    widths: readonly number[],
    rows: number,
    onAddress: (index: number, address: number) => void,
  ) {
    this.#workspace = workspace;
    this.#widths = widths;
    this.#onAddress = onAddress;
    this.#addresses = widths.map(() => 0);
    this.#rows = rows;
    this.#place(this.#own(), rows);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Floats that an array has, or would have with other rows. */
  length(index: number, rows = this.#rows): number {
    return rows * this.#widths[index];
  }

  address(index: number): number {
    return this.#addresses[index];
  }

  /** The length of an array that belongs to someone else. */
  boundLength(index: number): number | undefined {
    return this.#bound.get(index);
  }

  #own(): number[] {
    return [...this.#widths.keys()].filter((index) => !this.#bound.has(index));
  }

  #setAddress(index: number, address: number): void {
    this.#addresses[index] = address;
    this.#onAddress(index, address);
  }

  /** Arrays of this many rows, all or none. */
  #place(indices: readonly number[], rows: number): void {
    const found = this.#workspace.allocateAll(indices.map((index) => 4 * this.length(index, rows)));
    indices.forEach((index, k) => {
      this.#setAddress(index, found[k]);
    });
  }

  #unplace(indices: readonly number[]): void {
    for (const index of indices) {
      this.#workspace.release(this.#addresses[index]);
      this.#addresses[index] = 0;
    }
  }

  /** From now on the array is this one, which is in the workspace and long enough; or one of its own again. */
  bind(index: number, array: Float32Array | undefined): void {
    if (array !== undefined) {
      if (!this.#bound.has(index)) this.#unplace([index]);
      this.#bound.set(index, array.length);
      this.#setAddress(index, array.byteOffset);
    } else if (this.#bound.has(index)) {
      this.#place([index], this.#rows);
      this.#bound.delete(index);
    }
  }

  /** Other rows; where there is no memory for them, everything stays as it was but for what the arrays hold. */
  resize(rows: number): void {
    this.#unplace(this.#own());
    try {
      this.#place(this.#own(), rows);
      this.#rows = rows;
    } catch (error) {
      this.#place(this.#own(), this.#rows);
      throw error;
    }
  }

  release(): void {
    this.#unplace(this.#own());
  }
}
