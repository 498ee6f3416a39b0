/** The model that the options of a command name. */
import { existsSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { InputError } from "../../../core/errors.js";
import type { Model } from "../../../design/model.js";
import { MODEL_NAMES, type ModelIdentity, type ModelOptions } from "../../../design/model-catalogue.js";
import { type PolicyFile, policyFileTexts } from "../../../design/policy-file.js";
import { isFile, type LoadedModel, loadModel, type ModelSource } from "./load-model.js";
import type { ModelChoice } from "./model-options.js";

export const namedModelTexts = {
  notObject: (given: string) =>
    `--model-options takes a JSON object such as {"noise": 0.3}, not ${JSON.stringify(given)}`,
  notObjects: (given: string) =>
    `--against takes a JSON list of options of the model such as [{"noise": 0.3}], not ${JSON.stringify(given)}`,
  noModel: "say which model: --model location, or a file such as --model ./my-model.ts",
  unknownOrigin: (name: string, model: string) =>
    `${name} was made for the model ${model}, which is not shipped: name its file with --model`,
  movedModel: (name: string, model: string, file: string) =>
    `${name} was made for the model ${model} in ${file}, which is neither beside it nor here: say where it is with --model`,
};

/** The model of a command that makes something new. */
export const namedModel = async ({ model, ...options }: ModelChoice): Promise<LoadedModel> => {
  if (model === undefined) throw new InputError("no-model", namedModelTexts.noModel);
  return loadModel({ model, options: optionsOf(options) });
};

/**
 * The model of a command that uses a policy: the one that was named, or else the policy's own. Options that are not
 * given are the policy's too.
 */
export const modelForPolicy = async (
  file: PolicyFile,
  name: string,
  options: ModelChoice,
): Promise<LoadedModel> => {
  const { model: made } = file;
  const model = options.model ?? (made && originOf(made, name));
  if (model === undefined) throw new InputError("no-model", namedModelTexts.noModel);
  const shipped = !isFile(model) && MODEL_NAMES.includes(model);
  // A shipped model of another name is known to be wrong before the policy's options could seem to be.
  if (made !== undefined && shipped && model !== made.name) {
    throw new InputError("other-model", policyFileTexts.otherModel(name, made.name, model));
  }
  const inherited = shipped || isFile(model) ? made?.options : undefined;
  return loadModel({ model, options: { ...inherited, ...optionsOf(options) } });
};

/** Where the model of a policy file is: a shipped one by its name, another by its file, beside the policy or here. */
const originOf = ({ name: model, file }: ModelIdentity, path: string): string => {
  if (file === undefined) {
    if (MODEL_NAMES.includes(model)) return model;
    throw new InputError("no-model", namedModelTexts.unknownOrigin(path, model));
  }
  const found = [resolve(dirname(path), file), resolve(file)].find((each) => existsSync(each));
  if (found === undefined) throw new InputError("no-model", namedModelTexts.movedModel(path, model, file));
  return found;
};

/** What a policy's file says of its model: the options, and a file of one's own by its way from the policy's. */
export const sourceFrom = (
  { model, options }: ModelSource,
  policyPath: string,
): { readonly options: ModelOptions; readonly file?: string | undefined } => ({
  options,
  file: isFile(model)
    ? relative(dirname(resolve(policyPath)), resolve(model))
        .split(sep)
        .join("/")
    : undefined,
});

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

const optionsOf = ({ priorMean, modelOptions: json }: Omit<ModelChoice, "model">): ModelOptions => ({
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
