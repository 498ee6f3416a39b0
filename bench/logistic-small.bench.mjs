// Logistic regression of 5,000 rows, five classes.
import { logisticBench } from "./logistic.mjs";

export default logisticBench({ rows: 5000, classes: 5 });
