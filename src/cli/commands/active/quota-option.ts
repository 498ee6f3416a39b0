/** `--quota site=north:2-5,site=south:3-`: at least and at most so many of what is chosen. */
import { InputError } from "../../../core/errors.js";
import { asCategorical, columnNamed, type Table } from "../../../tables/table.js";
import { type ColumnQuotas, groupsBy, groupValuesOf } from "../../../workflows/groups-by.js";
import { text } from "../../options.js";

export const quotaOption = text("--quota <list>", "of what is chosen: site=north:2-5,site=south:3-");

export const quotaOptionTexts = {
  form: (given: string) =>
    `--quota takes column=value:least-most with commas between them, such as site=north:2-5 (either number may be left out), not "${given}"`,
  columns: (first: string, second: string) =>
    `--quota names the columns ${first} and ${second}: quotas are on the values of one column`,
  room: (least: number, chosen: number) =>
    `--quota asks for at least ${least} rows and ${chosen} are to be chosen: ask for fewer, or choose more`,
  value: (column: string, value: string) =>
    `the column "${column}" has no value "${value}": --quota names one that it has`,
};

export type QuotaWords = ColumnQuotas;
export { quotasByGroup } from "../../../workflows/groups-by.js";

const ONE = /^([^=]+)=(.+):(\d*)-(\d*)$/;

export const parseQuotas = (given: string | undefined): QuotaWords | undefined => {
  if (given === undefined) return undefined;
  const quotas = given.split(",").map((each) => {
    const [, column, value, least, most] = ONE.exec(each.trim()) ?? [];
    const crossed = least !== "" && most !== "" && Number(least) > Number(most);
    if (column === undefined || (least === "" && most === "") || crossed) {
      throw new InputError("quota", quotaOptionTexts.form(each));
    }
    return {
      column: column.trim(),
      value: value.trim(),
      ...(least === "" ? {} : { atLeast: Number(least) }),
      ...(most === "" ? {} : { atMost: Number(most) }),
    };
  });
  const [{ column }] = quotas;
  const other = quotas.find((each) => each.column !== column);
  if (other !== undefined) throw new InputError("quota", quotaOptionTexts.columns(column, other.column));
  return { column, quotas };
};

/** The group of every row, [rows], -1 where it has no quota. */
export const groupsOf = (table: Table, quota: QuotaWords): Int32Array =>
  groupsBy(table, groupValuesOf(quota));

/** Fails where the quotas ask for more than is chosen. */
export const requireRoom = ({ quotas }: QuotaWords, chosen: number): void => {
  const least = quotas.reduce((sum, { atLeast = 0 }) => sum + atLeast, 0);
  if (least > chosen) throw new InputError("quota", quotaOptionTexts.room(least, chosen));
};

/** Fails where a quota is on a value that the column does not have. */
export const requireValues = (table: Table, { column, quotas }: QuotaWords): void => {
  const { levels } = asCategorical(columnNamed(table, column));
  const unknown = quotas.find(({ value }) => !levels.includes(value));
  if (unknown !== undefined) throw new InputError("quota", quotaOptionTexts.value(column, unknown.value));
};
