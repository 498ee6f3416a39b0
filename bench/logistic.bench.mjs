// Logistic regression of 100,000 rows of 388 mostly one-hot columns, five classes: what an audit's adversary fits.
import { logisticBench } from "./logistic.mjs";

export default logisticBench({ rows: 100_000, classes: 5 });
