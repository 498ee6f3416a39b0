/** From the words of `acquire` to the settings of a simulation. */
import type { Task } from "../../../data/task.js";
import { RECOMMENDED, type SimulationRun, type SimulationSettings } from "../../../experiments/simulation.js";
import type { OptionValues } from "../../command.js";
import type { simulationOptions } from "./acquire.js";
import { goalOf, type goalOptions, type methodOptions, sensitiveForestOf } from "./method-options.js";
import { groupsOf, parseQuotas, quotasByGroup, requireValues } from "./quota-option.js";

export type AcquireWords = OptionValues<typeof methodOptions & typeof goalOptions & typeof simulationOptions>;

export const settingsOf = (words: AcquireWords): SimulationSettings => {
  const { method, combine, trees, correction, budget, batch, batchKind, temperature } = words;
  const { initial, testFraction, targets, pool, categories, checkpoints, sensitiveModel } = words;
  return {
    ...RECOMMENDED,
    method,
    goal: goalOf(words),
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
    correction,
    sensitiveForest: sensitiveForestOf(words, RECOMMENDED.sensitiveForest),
    sensitiveCorrection: correction,
    sensitiveModel: sensitiveModel === "pretrained" ? "pretrained" : "revealed",
    checkpoints: checkpoints.filter((labels) => labels < budget),
  };
};

/** What a simulation takes beside its settings: costs, and members that come from a file. */
export const runOf = async (task: Task, words: AcquireWords): Promise<SimulationRun> => {
  const { costs, costWeight, sensitiveModel } = words;
  const quota = parseQuotas(words.quota);
  if (quota !== undefined) requireValues(task.table, quota);
  const supplied = await suppliedBy(sensitiveModel, task);
  return {
    ...(supplied === undefined ? {} : { supplied }),
    ...(quota === undefined ? {} : { groups: groupsOf(task.table, quota), quotas: quotasByGroup(quota) }),
    ...(costs === undefined ? {} : { costs: await costsOf(task, costs), costWeight: costWeight ?? 1 }),
  };
};

const suppliedBy = async (model: string, task: Task) => {
  if (model === "revealed" || model === "pretrained") return undefined;
  const { suppliedMembers } = await import("../../../data/supplied-members.js");
  return Promise.all(
    model.split(",").map((file, i) => suppliedMembers(file, task, task.sensitive[i]?.classes.length ?? 2)),
  );
};

const costsOf = async ({ table }: Task, column: string): Promise<Float64Array> => {
  const { numbersOf } = await import("../../../data/supplied-members.js");
  return numbersOf(table, column);
};
