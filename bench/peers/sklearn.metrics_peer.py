"""Group metrics from scikit-learn's confusion counts; the bootstrap, which it has not, in natural NumPy."""

import numpy as np
import sklearn
from sklearn.metrics import confusion_matrix

from serve import serve


def rates_of(counts):
    """[base, selection, TPR, FPR, precision, accuracy] from [..., TN FP FN TP]."""
    tn, fp, fn, tp = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    n = tn + fp + fn + tp
    rates = [(tp + fn) / n, (tp + fp) / n, tp / (tp + fn), fp / (fp + tn), tp / (tp + fp), (tp + tn) / n]
    return np.stack(rates, axis=-1)


def gaps_of(rates):
    """[..., rates, (difference, ratio)] from [..., groups, rates]."""
    low, high = rates.min(axis=-2), rates.max(axis=-2)
    return np.stack([high - low, low / high], axis=-1)


def group_metrics(inputs, settings):
    group, actual, predicted = (inputs[name] for name in ("group", "actual", "predicted"))
    groups, replicates = settings["groups"], settings["replicates"]

    def point():
        return rates_of(
            [
                confusion_matrix(actual[group == g], predicted[group == g], labels=[0, 1]).ravel()
                for g in range(groups)
            ]
        )

    def run():
        rates = point()
        rng = np.random.default_rng(1)
        cell = group * 4 + actual * 2 + predicted
        counts = np.stack(
            [
                np.bincount(cell[rng.integers(len(cell), size=len(cell))], minlength=4 * groups)
                for _ in range(replicates)
            ]
        ).reshape(replicates, groups, 4)
        return rates, np.quantile(gaps_of(rates_of(counts)), [0.025, 0.975], axis=0)

    def values():
        rates = point()
        return {"rates": rates.ravel().tolist(), "gaps": gaps_of(rates).ravel().tolist()}

    return run, values


if __name__ == "__main__":
    serve(
        {"group-metrics": group_metrics},
        array=lambda data, shape: np.array(data, dtype=np.int64).reshape(shape),
        set_threads=lambda threads: None,
        about=f"scikit-learn {sklearn.__version__}",
    )
