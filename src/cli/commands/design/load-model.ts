/** Models for the commands: shipped ones by name, a user's own by the file that defines it. */
import module from "node:module";
import { isAbsolute, resolve as resolvePath } from "node:path";
import { pathToFileURL } from "node:url";
import { FairbedError, InputError } from "../../../core/errors.js";
import type { Model } from "../../../design/model.js";
import {
  identityOf,
  type ModelIdentity,
  type ModelOptions,
  shippedModel,
} from "../../../design/model-catalogue.js";
import { readBytes } from "./files.js";
import * as hooks from "./model-hooks.js";
import { moduleMistake } from "./module-mistake.js";
import { type RepeatedKey, repeatedKey } from "./repeated-key.js";
import { settledImport } from "./settled-import.js";

/** Where a model comes from, as plain data that another process can be told. */
export interface ModelSource {
  /** The name of a shipped model, or a file. */
  readonly model: string;
  readonly options: ModelOptions;
}

export interface LoadedModel {
  readonly model: Model;
  readonly source: ModelSource;
  readonly identity: ModelIdentity;
}

export const loadModelTexts = {
  failed: (path: string, reason: string, line?: number) =>
    `the model in ${path} could not be loaded: ${reason}${line === undefined ? "" : ` (line ${line})`}`,
  twice: (path: string, { key, line, firstLine }: RepeatedKey) =>
    `${path}:${line} uses the name "${key}" again, which the same object has in line ${firstLine}: JavaScript would keep the last one only, so give each a name of its own`,
  noModel: (path: string) =>
    `${path} has no model: export what defineModel(...) returns, as the default export or under the name model`,
  noOptions: (path: string) =>
    `the model in ${path} takes no options: export a function of the options that returns the model, or leave them out`,
};

export const isFile = (model: string): boolean => /[/\\]|\.m?[jt]s$/.test(model);

export const loadModel = async ({ model: name, options }: ModelSource): Promise<LoadedModel> => {
  if (!isFile(name)) {
    const model = shippedModel(name, options);
    return { model, source: { model: name, options }, identity: identityOf(model, options) };
  }
  const path = isAbsolute(name) ? name : resolvePath(name);
  // Looked at first: a missing import inside the file would otherwise read as a missing file.
  const source = new TextDecoder().decode(await readBytes(name));
  const twice = repeatedKey(source, path.endsWith("ts"));
  if (twice !== undefined) throw new InputError("model-file", loadModelTexts.twice(name, twice));
  const model = modelIn(await importFile(path, name), options, name);
  return { model, source: { model: path, options }, identity: identityOf(model, options) };
};

interface HookRegistry {
  readonly registerHooks?: ((given: Pick<typeof hooks, "resolve" | "load">) => unknown) | undefined;
}

let hooked = false;

const importFile = async (path: string, name: string): Promise<Readonly<Record<string, unknown>>> => {
  if (!hooked) {
    const { registerHooks } = module as HookRegistry;
    if (registerHooks === undefined) module.register("./model-hooks.js", import.meta.url);
    else registerHooks({ resolve: hooks.resolve, load: hooks.load });
    hooked = true;
  }
  const url = pathToFileURL(path).href;
  try {
    return await settledImport(url, name);
  } catch (error) {
    // What defineModel says about the definition is already a sentence for its author.
    if (error instanceof FairbedError) throw error;
    const { reason, line } = moduleMistake(error, url);
    throw new InputError("model-file", loadModelTexts.failed(name, reason, line), { cause: error });
  }
};

const modelIn = (exported: Readonly<Record<string, unknown>>, options: ModelOptions, name: string): Model => {
  const found = exported.default ?? exported.model;
  const made: unknown = typeof found === "function" ? found(options) : found;
  if (!isModel(made)) throw new InputError("model-file", loadModelTexts.noModel(name));
  if (typeof found !== "function" && Object.keys(options).length > 0) {
    throw new InputError("model-option", loadModelTexts.noOptions(name));
  }
  return made;
};

const isModel = (value: unknown): value is Model => {
  if (typeof value !== "object" || value === null) return false;
  const { parameters, design, outcomes, logLikelihood, distributions } = value as Partial<Model>;
  return (
    [parameters, design, outcomes].every(Array.isArray) &&
    [logLikelihood, distributions].every((each) => typeof each === "function")
  );
};
