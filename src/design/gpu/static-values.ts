/** The objective of many sets of static designs at once, on a GPU. */
import type { Gpu } from "../../compute/webgpu/device.js";
import type { Row } from "../../compute/webgpu/nested/row-program.js";
import { NestedBounds, type RowEvidence } from "../../compute/webgpu/nested/values.js";
import type { Pacer } from "../../core/options.js";
import type { Model } from "../model.js";
import type { ByGiven, NestedEstimate } from "../nested.js";
import type { SampleSizes } from "../objective.js";
import { GIVEN, type Given, type Quantity } from "../quantity.js";
import { describeNested, integrated } from "./describe.js";

export interface ValueRow extends Row {
  readonly quantity: Quantity;
}

/** Rows that are worked on at a time. */
const MOST_ROWS = 1024;

/** What the GPU gives of a row's experiments, by the evidences' names. */
export const estimateOf = ({ own, fresh, prior }: RowEvidence, names: readonly Given[]): NestedEstimate => {
  const byName = <T>(list: readonly (T | undefined)[]): ByGiven<T> =>
    Object.fromEntries(
      names.map((name, e) => [name, list[e]] as const).filter(([, each]) => each !== undefined),
    );
  return { own, fresh: byName(fresh), prior: byName(prior) };
};

/** The coefficients of a quantity as the kernels take them: of every evidence, then of the generating sample's own. */
export const coefficientsOf = (
  names: readonly Given[],
  given: readonly Given[],
  quantity: Quantity,
): number[] => [
  ...names.map((each) => quantity[each] ?? 0),
  given.reduce((sum, each) => sum + (names.includes(each) ? 0 : (quantity[each] ?? 0)), 0),
];

export class StaticValues {
  readonly #bounds: NestedBounds;
  readonly #names: readonly Given[];
  readonly #given: readonly Given[];
  readonly #pace: Pick<Pacer, "pause">;

  private constructor(
    bounds: NestedBounds,
    names: readonly Given[],
    given: readonly Given[],
    pace: Pick<Pacer, "pause">,
  ) {
    this.#bounds = bounds;
    this.#names = names;
    this.#given = given;
    this.#pace = pace;
  }

  /** `given` are the evidences that any of the quantities needs; `pace` hears that it is to stop. */
  static async create(
    gpu: Gpu,
    model: Model,
    given: readonly Given[],
    horizon: number,
    sizes: SampleSizes,
    pace: Pick<Pacer, "pause">,
  ): Promise<StaticValues> {
    const ordered = GIVEN.filter((each) => given.includes(each));
    const bounds = await NestedBounds.create(gpu, describeNested(model, ordered, horizon, sizes), MOST_ROWS);
    return new StaticValues(bounds, integrated(model, ordered), ordered, pace);
  }

  /** The mean lower bound of every row. */
  lower(rows: readonly ValueRow[]): Promise<number[]> {
    return this.#bounds.evaluate(
      rows.map((row) => ({ ...row, coefficients: coefficientsOf(this.#names, this.#given, row.quantity) })),
      this.#pace,
    );
  }

  dispose(): void {
    this.#bounds.dispose();
  }
}
