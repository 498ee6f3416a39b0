/**
 * The smallest piece of a reproduction: plain JSON that says all that its result depends on, so that it can be run
 * anywhere, once, and be shared by every table and figure that needs it.
 */
import type { DadWidths } from "../design/dad-network.js";
import type { LocationOptions } from "../design/models/location.js";
import type { ObjectiveKind } from "../design/quantity.js";
import type { SettledRule } from "../design/static-ascent.js";
import { contentKey } from "../jobs/content-key.js";
import type { Evaluation } from "../workflows/evaluation.js";
import type { ParityMetrics } from "../workflows/judge-parity.js";
import type { SimulationSettings } from "../workflows/simulation.js";

export type TaskName = "students" | "census" | "celeba" | "adult" | "german" | "bank" | "synthetic";

/**
 * Numbers that are codes as categories; the sensitive columns as features too; or no columns that are known only after
 * the start (the results of the semesters, of students).
 */
export type FeatureChoice = "codes-as-categories" | "sensitive-too" | "known-at-start";

/** Labels acquired with one method and one seed, evaluated as they come in. */
export interface AcquireCell {
  readonly kind: "acquire";
  readonly task: TaskName;
  /** Decides which rows of the source are in the task, where some are drawn. */
  readonly dataSeed: number;
  /** What the models read, where it is not the task's own choice. */
  readonly features?: FeatureChoice | undefined;
  readonly settings: SimulationSettings;
  readonly seed: number;
}

/** Another model, trained on what was acquired. */
export interface GeneralizeCell {
  readonly kind: "generalize";
  readonly acquisition: AcquireCell;
  readonly model: "forest" | "boosting" | "mlp" | "svm";
}

/** A forest on a part of what was acquired, and a reject option fitted on the rest. */
export interface RejectOptionCell {
  readonly kind: "reject-option";
  readonly acquisition: AcquireCell;
  readonly validationFraction: number;
  readonly band: readonly [number, number];
}

/** A forest on a fair representation that was learnt from what was acquired. */
export interface RepresentationCell {
  readonly kind: "representation";
  readonly acquisition: AcquireCell;
  readonly prototypes: number;
  readonly reconstruction: number;
  readonly prediction: number;
  readonly parity: number;
  readonly steps: number;
  readonly restarts: number;
}

/**
 * What was acquired under a requirement of parity: models of target and group, the fair decision rule chosen honestly,
 * and what it all comes to on test rows.
 */
export interface ParityCell {
  readonly kind: "parity";
  readonly acquisition: AcquireCell;
  /** The least ratio of selection rates. */
  readonly level: number;
}

/** A policy for location finding, trained and judged with one seed. */
export interface DesignCell {
  readonly kind: "design";
  readonly policy: "random" | "static" | "dad";
  readonly objective: ObjectiveKind;
  readonly beta: number;
  readonly horizon: number;
  /**
   * Static designs by the search that finds the best ones, in place of the paper's protocol: so many starts all over the
   * prior, a decaying rate. They are a static policy's own, or what a network starts from.
   */
  readonly bestStatic?: { readonly starts: number; readonly steps: number } | undefined;
  readonly training: {
    readonly steps: number;
    readonly outer: number;
    readonly contrastive: number;
    readonly marginal: number;
    /** How far a step goes; the paper's protocol unless given. */
    readonly rate?: number | undefined;
    /** When static designs stop before their steps are over. */
    readonly settled?: SettledRule | undefined;
  };
  /** Experiments are simulated in batches of `outer`, which share their `inner` samples; by quadrature there are none. */
  readonly evaluation: {
    readonly outer: number;
    readonly batches: number;
    readonly inner: number;
    readonly exact?: boolean | undefined;
  };
  readonly seed: number;
  /** Other sources than the paper's. */
  readonly model?: LocationOptions | undefined;
  /** Layers of a network; the paper's unless given. */
  readonly widths?: DadWidths | undefined;
  /** Trained, and judged unless by quadrature, on a GPU in single floats; on the processor, the reference, unless given. */
  readonly device?: "gpu" | undefined;
}

export type Cell =
  | AcquireCell
  | GeneralizeCell
  | RejectOptionCell
  | RepresentationCell
  | ParityCell
  | DesignCell;
export type CellKind = Cell["kind"];

/** A metric that has no value (a rate of a group that is empty, say) is left out. */
export type Metrics = Partial<Evaluation>;

/** Who was asked, the rows known at the start left out, and how they stand among the candidates. */
export interface StoredComposition {
  readonly attribute: string;
  readonly groups: readonly StoredShare[];
  /** Every group with every outcome. */
  readonly cells: readonly (StoredShare & { readonly outcome: string })[];
}

export interface StoredShare {
  readonly group: string;
  /** Of those asked. */
  readonly count: number;
  /** The share of the candidates. */
  readonly population: number;
}

export interface AcquireResult {
  /** Rows of the task's table: those known at the start, then the others in the order they were asked for. */
  readonly labelled: readonly number[];
  /** Which of those asked for, counted from 0, were drawn at random, where a part was. */
  readonly drawn?: readonly number[] | undefined;
  /** By sensitive attribute; results that are older than it have none. */
  readonly composition?: readonly StoredComposition[] | undefined;
  readonly checkpoints: readonly { readonly labels: number; readonly metrics: Metrics }[];
}

export interface JudgeResult {
  readonly metrics: Metrics;
  /** What a reader should know of it. */
  readonly warning?: string | undefined;
}

/** What has no value is left out. */
export interface ParityResult {
  readonly metrics: Partial<ParityMetrics>;
  readonly warning?: string | undefined;
}

/** Lower and upper bound in nats, or the ends of a 95 % interval of an exact value. */
export type Bounds = readonly [number, number];

export interface DesignResult {
  readonly target: Bounds;
  readonly sensitive: Bounds;
  readonly sensitiveGivenTarget: Bounds;
  readonly joint: Bounds;
  /** [horizon][variables] of a static policy. */
  readonly designs?: readonly (readonly number[])[] | undefined;
  /** Steps that static designs took to settle. */
  readonly steps?: number | undefined;
  /** The objective by quadrature, on a GPU a lower bound of it, with the standard error over the sampled experiments. */
  readonly objective?: number | undefined;
  readonly objectiveError?: number | undefined;
}

export interface ResultByKind {
  readonly acquire: AcquireResult;
  readonly generalize: JudgeResult;
  readonly "reject-option": JudgeResult;
  readonly representation: JudgeResult;
  readonly parity: ParityResult;
  readonly design: DesignResult;
}
export type CellResult = ResultByKind[CellKind];
export type ResultOf<C extends Cell> = ResultByKind[C["kind"]];

/** Raised by hand when results of this kind would come out differently; older ones are then run again. */
export const CELL_VERSIONS: Readonly<Record<CellKind, number>> = {
  acquire: 1,
  generalize: 1,
  "reject-option": 1,
  representation: 1,
  parity: 1,
  design: 1,
};

/** The acquisition that a cell starts from; its result is handed to the cell where it is known. */
export const acquisitionOf = (cell: Cell): AcquireCell | undefined =>
  "acquisition" in cell ? cell.acquisition : undefined;

/** What a result is stored under. */
export const cellKey = (cell: Cell): string => {
  const before = acquisitionOf(cell);
  const versions = [CELL_VERSIONS[cell.kind], ...(before === undefined ? [] : [CELL_VERSIONS[before.kind]])];
  return contentKey({ cell, versions });
};

export const seedOf = (cell: Cell): number => ("seed" in cell ? cell.seed : cell.acquisition.seed);
