/** `--quota site=north:2-5,site=south:3-`: at least and at most so many of what is chosen. */
import { InputError } from "../../../core/errors.js";
import type { ColumnQuotas } from "../../../workflows/groups-by.js";
import { text } from "../../options.js";

export const quotaOption = text("--quota <list>", "of what is chosen: site=north:2-5,site=south:3-");

export const quotaOptionTexts = {
  form: (given: string) =>
    `--quota takes column=value:least-most with commas between them, such as site=north:2-5 (either number may be left out), not "${given}"`,
  columns: (first: string, second: string) =>
    `--quota names the columns ${first} and ${second}: quotas are on the values of one column`,
};

const ONE = /^([^=]+)=(.+):(\d*)-(\d*)$/;

export const parseQuotas = (given: string | undefined): ColumnQuotas | undefined => {
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
