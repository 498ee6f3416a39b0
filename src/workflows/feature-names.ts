/** The features of a representation by name, without the values that only a few people have. */
import { isRare, rareTexts } from "../core/rare-values.js";
import type { EncodedMatrix } from "../tables/encoder.js";
import { columnNamed, type Table } from "../tables/table.js";

/** A category's column of 0 and 1 is named for its value: where few rows have it, for the column alone. */
export const shownFeatureNames = (
  table: Table,
  { values, rows, columns, featureNames, sourceColumns }: EncodedMatrix,
): readonly string[] =>
  featureNames.map((name, column) => {
    if (columnNamed(table, sourceColumns[column]).kind === "numeric") return name;
    let have = 0;
    for (let row = 0; row < rows; row++) if (values[row * columns + column] !== 0) have += 1;
    return isRare(have) ? `${sourceColumns[column]}: ${rareTexts.some("value", 1)}` : name;
  });
