/** The objective of many sets of static designs at once, on a GPU. */
import type { Gpu } from "../../compute/webgpu/device.js";
import { NestedValues, type Row, type RowEvidence } from "../../compute/webgpu/nested/program.js";
import type { Model } from "../model.js";
import { logMeanWithOwn } from "../nested.js";
import type { SampleSizes } from "../objective.js";
import { type Bound, GIVEN, type Given, includesOwn, type Quantity } from "../quantity.js";
import { describeNested, integrated } from "./describe.js";

export interface ValueRow extends Row {
  readonly quantity: Quantity;
}

/** Words of read-back and of rows that are worked on at a time. */
const MOST_ROWS = 512;

/** A bound for every outer sample, from what the GPU gives. */
export const boundOf = (
  { own, fresh }: RowEvidence,
  names: readonly Given[],
  quantity: Quantity,
  bound: Bound,
  { contrastive, marginal }: SampleSizes,
): Float64Array =>
  own.map((ownLog, b) => {
    let total = 0;
    for (const [given, coefficient] of Object.entries(quantity) as [Given, number][]) {
      if (coefficient === 0) continue;
      const e = names.indexOf(given);
      if (e < 0) {
        total += coefficient * ownLog;
        continue;
      }
      const inner = given === "none" ? contrastive : marginal;
      const value = fresh[e][b];
      total += coefficient * (includesOwn(coefficient, bound) ? logMeanWithOwn(value, inner, ownLog) : value);
    }
    return total;
  });

export class StaticValues {
  readonly #values: NestedValues;
  readonly #names: readonly Given[];
  readonly #sizes: SampleSizes;

  private constructor(values: NestedValues, names: readonly Given[], sizes: SampleSizes) {
    this.#values = values;
    this.#names = names;
    this.#sizes = sizes;
  }

  /** `given` are the evidences that any of the quantities needs. */
  static async create(
    gpu: Gpu,
    model: Model,
    given: readonly Given[],
    horizon: number,
    sizes: SampleSizes,
  ): Promise<StaticValues> {
    const ordered = GIVEN.filter((each) => given.includes(each));
    const values = await NestedValues.create(gpu, describeNested(model, ordered, horizon, sizes), MOST_ROWS);
    return new StaticValues(values, integrated(model, ordered), sizes);
  }

  /** The mean lower bound of every row. */
  async lower(rows: readonly ValueRow[]): Promise<number[]> {
    const found = await this.#values.evaluate(rows);
    return found.map((evidence, r) => {
      const each = boundOf(evidence, this.#names, rows[r].quantity, "lower", this.#sizes);
      return each.reduce((sum, value) => sum + value, 0) / each.length;
    });
  }

  dispose(): void {
    this.#values.dispose();
  }
}
