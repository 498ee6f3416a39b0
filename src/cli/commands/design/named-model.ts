/** The model that the words of a command name. */
import { InputError } from "../../../core/errors.js";
import type { Model } from "../../../design/model.js";
import { MODEL_NAMES, type ModelOptions } from "../../../design/model-catalogue.js";
import { type PolicyFile, policyFileTexts } from "../../../design/policy-file.js";
import { isFile, type LoadedModel, loadModel, type ModelSource } from "./load-model.js";
import type { ModelWords } from "./model-options.js";

export const namedModelTexts = {
  notObject: (given: string) =>
    `--model-options takes a JSON object such as {"noise": 0.3}, not ${JSON.stringify(given)}`,
  notObjects: (given: string) =>
    `--against takes a JSON list of options of the model such as [{"noise": 0.3}], not ${JSON.stringify(given)}`,
  noModel: "say which model: --model location, or a file such as --model ./my-model.ts",
  unknownOrigin: (name: string, model: string) =>
    `${name} was made for the model ${model}, which is not shipped: name its file with --model`,
};

/** The model of a command that makes something new. */
export const namedModel = async ({ model, ...words }: ModelWords): Promise<LoadedModel> => {
  if (model === undefined) throw new InputError("no-model", namedModelTexts.noModel);
  return loadModel({ model, options: optionsOf(words) });
};

/**
 * The model of a command that uses a policy: the one that was named, or else the policy's own. Options that are not
 * given are the policy's too.
 */
export const modelForPolicy = async (
  file: PolicyFile,
  name: string,
  words: ModelWords,
): Promise<LoadedModel> => {
  const { model: made } = file;
  const model = words.model ?? made?.name;
  if (model === undefined) throw new InputError("no-model", namedModelTexts.noModel);
  const shipped = !isFile(model) && MODEL_NAMES.includes(model);
  if (words.model === undefined && !shipped) {
    throw new InputError("no-model", namedModelTexts.unknownOrigin(name, model));
  }
  // A shipped model of another name is known to be wrong before the policy's options could seem to be.
  if (made !== undefined && shipped && model !== made.name) {
    throw new InputError("other-model", policyFileTexts.otherModel(name, made.name, model));
  }
  const inherited = shipped || isFile(model) ? made?.options : undefined;
  return loadModel({ model, options: { ...inherited, ...optionsOf(words) } });
};

/** What `--against` lists: options of further models. */
export const optionsAgainst = (json: string | undefined): readonly ModelOptions[] => {
  if (json === undefined) return [];
  const value = parsed(json);
  const isObject = (each: unknown) => typeof each === "object" && each !== null && !Array.isArray(each);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) {
    throw new InputError("option-value", namedModelTexts.notObjects(json));
  }
  return value as ModelOptions[];
};

/** The models of `--against`: the model with other options, by names that tell them apart. */
export const modelsAgainst = async (
  { model, options }: ModelSource,
  against: readonly ModelOptions[],
): Promise<Readonly<Record<string, Model>>> =>
  Object.fromEntries(
    await Promise.all(
      against.map(async (each) => {
        const loaded = await loadModel({ model, options: { ...options, ...each } });
        return [JSON.stringify(each), loaded.model] as const;
      }),
    ),
  );

const optionsOf = ({ priorMean, modelOptions: json }: Omit<ModelWords, "model">): ModelOptions => ({
  ...(json === undefined ? {} : objectIn(json)),
  ...(priorMean === undefined ? {} : { priorMean: priorMean.length === 1 ? priorMean[0] : priorMean }),
});

const objectIn = (json: string): ModelOptions => {
  const wrong = () => new InputError("option-value", namedModelTexts.notObject(json));
  const value = parsed(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong();
  return value as ModelOptions;
};

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};
