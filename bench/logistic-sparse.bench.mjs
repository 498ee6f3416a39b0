// The same, where scikit-learn is given SciPy's sparse rows (scaled, but not centred: it cannot do that to them).
import { logisticBench } from "./logistic.mjs";

export default logisticBench({ rows: 100_000, classes: 5, sparse: true });
