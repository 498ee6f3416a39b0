/** From the words of `acquire` to the settings of a simulation. */
import { InputError } from "../../../core/errors.js";
import { nearestName } from "../../../core/nearest-name.js";
import type { Task } from "../../../tables/task.js";
import {
  recommendedFor,
  type SimulationRun,
  type SimulationSettings,
} from "../../../workflows/simulation.js";
import type { OptionValues } from "../../command.js";
import type { simulationOptions } from "./acquire.js";
import {
  correctionOf,
  goalOf,
  type goalOptions,
  type methodOptions,
  sensitiveForestOf,
} from "./method-options.js";
import { groupsOf, parseQuotas, quotasByGroup, requireRoom, requireValues } from "./quota-option.js";

export type AcquireWords = OptionValues<typeof methodOptions & typeof goalOptions & typeof simulationOptions>;

export const settingsTexts = {
  temperature:
    "--batch-kind softmax draws by exp(score / temperature): say how warm with --temperature, in nats, such as 0.02",
  costWeight: "--cost-weight says what a unit of cost is worth: name the column of costs with --costs",
  sensitiveModel: (given: string, near: string | undefined) =>
    `--sensitive-model takes revealed, pretrained or a file such as members.csv or model.onnx, not "${given}"${near === undefined ? "" : `: did you mean ${near}?`}`,
};

export const settingsOf = (words: AcquireWords): SimulationSettings => {
  if (words.batchKind === "softmax" && words.temperature === undefined) {
    throw new InputError("temperature", settingsTexts.temperature);
  }
  if (words.costWeight !== undefined && words.costs === undefined) {
    throw new InputError("costs", settingsTexts.costWeight);
  }
  const { method, combine, trees, budget, batch, batchKind, temperature } = words;
  const { initial, testFraction, targets, pool, categories, checkpoints, sensitiveModel } = words;
  const recommended = recommendedFor(method);
  return {
    ...recommended,
    goal: goalOf(words, recommended.goal),
    combine,
    budget,
    batch,
    batchKind,
    ...(temperature === undefined ? {} : { temperature }),
    ...(initial === undefined ? {} : { initial }),
    testFraction,
    ...(targets === undefined ? {} : { targets }),
    ...(pool === undefined ? {} : { pool }),
    categories,
    forest: { trees },
    sensitiveForest: sensitiveForestOf(words, recommended.sensitiveForest),
    sensitiveCorrection: correctionOf(words, recommended.sensitiveCorrection),
    sensitiveModel: sensitiveModel === "pretrained" ? "pretrained" : "revealed",
    checkpoints: checkpoints.filter((labels) => labels < budget),
  };
};

/** What a simulation takes beside its settings: costs, and members that come from a file. */
export const runOf = async (task: Task, words: AcquireWords): Promise<SimulationRun> => {
  const { costs, costWeight, sensitiveModel } = words;
  const quota = parseQuotas(words.quota);
  if (quota !== undefined) {
    requireValues(task.table, quota);
    requireRoom(quota, words.budget);
  }
  const supplied = await suppliedBy(sensitiveModel, task);
  return {
    supplied,
    ...(quota === undefined ? {} : { groups: groupsOf(task.table, quota), quotas: quotasByGroup(quota) }),
    ...(costs === undefined ? {} : { costs: await costsOf(task, costs), costWeight: costWeight ?? 1 }),
  };
};

const suppliedBy = async (model: string, task: Task) => {
  if (model === "revealed" || model === "pretrained") return undefined;
  if (!/[./\\]/.test(model)) {
    const near = nearestName(model, ["revealed", "pretrained"]);
    throw new InputError("sensitive-model", settingsTexts.sensitiveModel(model, near));
  }
  const { suppliedMembers } = await import("../../../sources/supplied-members.js");
  return Promise.all(
    model.split(",").map((file, i) => suppliedMembers(file, task, task.sensitive[i]?.classes.length ?? 2)),
  );
};

const costsOf = async ({ table }: Task, column: string): Promise<Float64Array> => {
  const { numbersOf } = await import("../../../sources/supplied-members.js");
  return numbersOf(table, column);
};
