"""An acquisition as one would write it with scikit-learn: two forests at every label, EPIG of both by one matrix product."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def xlogx(p):
    return p * np.log(p, where=p > 0, out=np.zeros_like(p))


def epig(model, x, pool, targets):
    members = [np.stack([t.predict_proba(x[r])[:, -1] for t in model.estimators_], axis=1) for r in (pool, targets)]
    p, q = (m.mean(axis=1) for m in members)
    both = members[0] @ members[1].T / members[0].shape[1]
    cells = (both, p[:, None] - both, q - both, 1 - p[:, None] - q + both)
    joint = sum(xlogx(np.maximum(cell, 0)) for cell in cells)
    entropy = [-(xlogx(m) + xlogx(1 - m)) for m in (p, q)]
    return entropy[0] + entropy[1].mean() + joint.mean(axis=1)


def acquire(x, target, sensitive, *, initial, pool, targets, labels, drawn, beta, threads, seed):
    """The rows that are labelled after `labels` more, by FairBED-EPIG with `drawn` of the target rows at every label."""
    rng = np.random.default_rng(seed)
    labelled = list(initial)
    for _ in range(labels):
        some = rng.choice(targets, drawn, replace=False)
        scores = 0
        for y, weight in ((target, 1), (sensitive, -beta)):
            if len(set(y[labelled])) < 2:
                continue
            model = RandomForestClassifier(n_jobs=threads).fit(x[labelled], y[labelled])
            scores = scores + weight * epig(model, x, pool, some)
        best = int(np.argmax(scores))
        labelled.append(pool[best])
        pool = np.delete(pool, best)
    return labelled
