"""The benchmarks in natural scikit-learn."""

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier

from serve import serve

state = {"threads": 1}


def forest(inputs, settings):
    """Two forests on the labelled rows, and the probabilities of all their trees for all rows."""
    x, labelled = inputs["x"], settings["labelled"]

    def members(name):
        model = RandomForestClassifier(n_jobs=state["threads"]).fit(x[:labelled], inputs[name][:labelled])
        return np.stack([tree.predict_proba(x) for tree in model.estimators_], axis=1)  # [rows, members, classes]

    def run():
        return [members(name) for name in ("target", "sensitive")]

    return run, lambda: {name: members(name)[:, :, 1].mean(axis=1).tolist() for name in ("target", "sensitive")}


if __name__ == "__main__":
    serve(
        {"forest": forest},
        array=lambda data, shape: np.array(data, dtype=np.float32).reshape(shape),
        set_threads=lambda threads: state.update(threads=threads),
        about=f"scikit-learn {sklearn.__version__}",
    )
