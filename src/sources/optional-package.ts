/** Packages that only some sources need: loaded when such a source is read. */
import { EnvironmentError } from "../core/errors.js";

export const packageTexts = {
  /** `all` are the packages of the task, so that one command installs what would be missed next. */
  missing: (task: string, name: string, instead?: string, all = name) =>
    `${task} needs the package ${name}, which is not installed here: run npm install ${all}${instead === undefined ? "" : `, or ${instead}`}.`,
};

/** What `load` imports, or the sentence that says how to get it. */
export const optionalPackage = async <Module>(
  load: () => Promise<Module>,
  task: string,
  name: string,
  instead?: string,
  all?: string,
): Promise<Module> => {
  try {
    return await load();
  } catch (cause) {
    throw new EnvironmentError("no-package", packageTexts.missing(task, name, instead, all), { cause });
  }
};
