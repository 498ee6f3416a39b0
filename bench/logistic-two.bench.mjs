// Logistic regression of 39,000 rows, two classes.
import { logisticBench } from "./logistic.mjs";

export default logisticBench({ rows: 39_000, classes: 2 });
