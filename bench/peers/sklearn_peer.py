"""The benchmarks in natural scikit-learn."""

import warnings

import numpy as np
import scipy.sparse
import sklearn
from acquisition import acquire
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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


def students_run(inputs, settings):
    """The acquisition loop as one would write it."""
    x = inputs["x"]
    target, sensitive = inputs["target"].astype(int), inputs["sensitive"].astype(int)
    rows = {name: inputs[name].astype(int) for name in ("pool", "targets", "initial", "test")}

    def labelled_after(labels, seed):
        start = {name: rows[name] for name in ("initial", "pool", "targets")}
        given = {"drawn": settings["targets"], "beta": settings["beta"], "threads": state["threads"]}
        return acquire(x, target, sensitive, labels=labels, seed=seed, **start, **given)

    def accuracy(seed):
        labelled = labelled_after(settings["checked"]["labels"], seed)
        model = RandomForestClassifier(n_jobs=state["threads"]).fit(x[labelled], target[labelled])
        return float(model.score(x[rows["test"]], target[rows["test"]]))

    def values():
        return {"accuracy": [accuracy(seed) for seed in range(settings["checked"]["peerSeeds"])]}

    return lambda: labelled_after(settings["labels"], 0), values


def one_hot(inputs, levels):
    """Numbers as they are, and a column for every value of every category."""
    codes = inputs["codes"].astype(int)
    hot = [np.eye(count, dtype=np.float32)[codes[:, j]] for j, count in enumerate(levels)]
    return np.concatenate([inputs["numbers"], *hot], axis=1)


def logistic(inputs, settings):
    """C = 1 behind a StandardScaler, as it comes: lbfgs, at most 100 iterations."""
    dense = one_hot(inputs, settings["levels"])
    y = inputs["labels"].astype(int)
    x = scipy.sparse.csr_matrix(dense) if settings["sparse"] else dense

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that 100 iterations did not suffice
            return make_pipeline(StandardScaler(with_mean=not settings["sparse"]), LogisticRegression()).fit(x, y)

    def values():
        some = slice(settings["checked"])
        model = LogisticRegression(solver="newton-cg", tol=1e-9, max_iter=1000)
        model.fit(StandardScaler().fit_transform(dense[some].astype(np.float64)), y[some])
        return {"weights": np.hstack([model.coef_, model.intercept_[:, None]]).ravel().tolist()}

    return run, values


def boosting(inputs, settings):
    """40 trees of depth 6 on histograms."""
    x, y, learnt = one_hot(inputs, settings["levels"]), inputs["labels"].astype(int), settings["learnt"]

    def run():
        model = HistGradientBoostingClassifier(
            max_iter=40, learning_rate=0.2, max_depth=6, max_leaf_nodes=None, early_stopping=False
        )
        return model.fit(x[:learnt], y[:learnt])

    return run, lambda: {"positive": run().predict_proba(x[learnt:])[:, 1].tolist()}


if __name__ == "__main__":
    serve(
        {"forest": forest, "students-run": students_run, "logistic": logistic, "boosting": boosting},
        array=lambda data, shape: np.array(data, dtype=np.float32).reshape(shape),
        set_threads=lambda threads: state.update(threads=threads),
        about=f"scikit-learn {sklearn.__version__}",
    )
