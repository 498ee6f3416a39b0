"""scikit-learn's side of bench/learners-accuracy.mjs: the default forest on the same splits, the same measures.

Reads a folder: table.json {rows, columns, classes}, values.f32, labels.i32 and splits.json
[{"train": [row], "test": [row], "seed": k}]; prints a JSON list of [accuracy, entropy, disagreement].
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def entropy(p):
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(-1)


def measure(x, y, split):
    forest = RandomForestClassifier(random_state=split["seed"], n_jobs=1).fit(x[split["train"]], y[split["train"]])
    asked = x[split["test"]]
    members = np.stack([tree.predict_proba(asked) for tree in forest.estimators_])  # [members, rows, classes]
    mean = members.mean(0)
    accuracy = (forest.classes_[mean.argmax(1)] == y[split["test"]]).mean()
    total = entropy(mean)
    return [accuracy, total.mean(), (total - entropy(members).mean(0)).mean()]


folder = Path(sys.argv[1])
shape = json.loads((folder / "table.json").read_text())
values = np.fromfile(folder / "values.f32", dtype="<f4").reshape(shape["rows"], shape["columns"])
labels = np.fromfile(folder / "labels.i32", dtype="<i4")
splits = json.loads((folder / "splits.json").read_text())
print(json.dumps([measure(values, labels, split) for split in splits]))
