/** The model that the words of a command name. */
import { InputError } from "../../../core/errors.js";
import { MODEL_NAMES, type ModelOptions } from "../../../design/model-catalogue.js";
import { type PolicyFile, policyFileTexts } from "../../../design/policy-file.js";
import { isFile, type LoadedModel, loadModel } from "./load-model.js";
import type { ModelWords } from "./model-options.js";

export const namedModelTexts = {
  notObject: (given: string) =>
    `--model-options takes a JSON object such as {"noise": 0.3}, not ${JSON.stringify(given)}`,
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

const optionsOf = ({ priorMean, modelOptions: json }: Omit<ModelWords, "model">): ModelOptions => ({
  ...(json === undefined ? {} : objectIn(json)),
  ...(priorMean === undefined ? {} : { priorMean: priorMean.length === 1 ? priorMean[0] : priorMean }),
});

const objectIn = (json: string): ModelOptions => {
  const wrong = () => new InputError("option-value", namedModelTexts.notObject(json));
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw wrong();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong();
  return value as ModelOptions;
};
