/** Whether what a file calls the result of a cell is one: drawings read it without looking again. */
import type { CellKind } from "./cell.js";

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isListOf = (value: unknown, isOne: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isOne);
const isNumber = (value: unknown): boolean => typeof value === "number";
const isAbsentOr = (value: unknown, is: (given: unknown) => boolean): boolean =>
  value === undefined || is(value);
/** A number that JSON has no text for is null there. */
const isMetrics = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every((each) => each === null || isNumber(each));
const isBounds = (value: unknown): boolean =>
  isListOf(value, (each) => each === null || isNumber(each)) && (value as unknown[]).length === 2;

const isAcquired = ({ labelled, drawn, composition, checkpoints }: Fields): boolean =>
  isListOf(labelled, isNumber) &&
  isAbsentOr(drawn, (given) => isListOf(given, isNumber)) &&
  isAbsentOr(composition, (given) => isListOf(given, isComposition)) &&
  isListOf(checkpoints, (each) => isObject(each) && isNumber(each.labels) && isMetrics(each.metrics));

const isComposition = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.attribute === "string" &&
  isListOf(value.groups, isObject) &&
  isListOf(value.cells, isObject);

const isJudged = ({ metrics, warning }: Fields): boolean =>
  isMetrics(metrics) && isAbsentOr(warning, (given) => typeof given === "string");

const isDesigned = ({ target, sensitive, sensitiveGivenTarget, joint, designs }: Fields): boolean =>
  [target, sensitive, sensitiveGivenTarget, joint].every(isBounds) &&
  isAbsentOr(designs, (given) => isListOf(given, (each) => isListOf(each, isNumber)));

const CHECKS: Readonly<Record<CellKind, (result: Fields) => boolean>> = {
  acquire: isAcquired,
  design: isDesigned,
  generalize: isJudged,
  "reject-option": isJudged,
  representation: isJudged,
  parity: isJudged,
};

/** Cells of kinds that only other versions know may have any result: nobody reads it. */
export const isStoredResult = (input: unknown, result: unknown): boolean => {
  if (!isObject(input) || !isObject(result)) return false;
  const check = Object.hasOwn(CHECKS, String(input.kind)) ? CHECKS[input.kind as CellKind] : isObject;
  return check(result);
};
