/** `--recipe`: what `fairbed plan` recommended, as defaults of a command that goes on with it. */
import { readFile } from "node:fs/promises";
import { InputError } from "../../../core/errors.js";
import { type Recipe, readRecipe } from "../../../workflows/recipe.js";
import { text } from "../../options.js";
import { sharesInWords } from "./method-options.js";

export const recipeOption = text(
  "--recipe <file>",
  "do as fairbed plan recommended in this file; options given here win",
);

export const recipeOptionTexts = {
  unread: (path: string) => `the recipe ${path} cannot be read: name a file that fairbed plan --recipe wrote`,
  notJson: (path: string) => `the recipe ${path} is no JSON: name a file that fairbed plan --recipe wrote`,
};

const parse = (path: string, content: string): unknown => {
  try {
    return JSON.parse(content);
  } catch {
    // The parser's words quote the file, which may be anything.
    throw new InputError("recipe", recipeOptionTexts.notJson(path));
  }
};

/** The recipe of a file; undefined where none is named. */
export const recipeFrom = async (path: string | undefined): Promise<Recipe | undefined> => {
  if (path === undefined) return undefined;
  const content = await readFile(path, "utf8").catch(() => {
    throw new InputError("recipe", recipeOptionTexts.unread(path));
  });
  return readRecipe(parse(path, content));
};

/** Options with what a recipe says in the place of those that were not given. */
export const withRecipe = <Options extends object>(
  options: Options,
  given: ReadonlySet<string>,
  recommended: Partial<Options> | undefined,
): Options => {
  if (recommended === undefined) return options;
  const own = Object.entries(recommended).filter(([name, value]) => value !== undefined && !given.has(name));
  return { ...options, ...(Object.fromEntries(own) as Partial<Options>) };
};

/** How a recipe asks, by the options of `acquire` and `rank`. Quotas and the paper's way say themselves who is asked. */
export const askingOf = (
  { acquisition: { beta, shares, randomPart, reweigh } }: Recipe,
  given: ReadonlySet<string>,
) => ({
  beta,
  reweigh,
  ...(given.has("quota") || given.has("paper") ? {} : { shares: sharesInWords(shares), randomPart }),
});
