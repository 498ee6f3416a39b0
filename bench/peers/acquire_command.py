"""fairbed acquire --task students in scikit-learn, from the file to the accuracy: python3 acquire_command.py FILE LABELS THREADS"""

import csv
import sys

import numpy as np
from acquisition import acquire
from sklearn.ensemble import RandomForestClassifier

file, labels, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(file, encoding="utf-8-sig") as lines:
    head, *rows = csv.reader(lines, delimiter=";")
names = [name.strip() for name in head]
target = np.array([row[names.index("Target")] == "Graduate" for row in rows]).astype(int)
sensitive = np.array([row[names.index("Gender")] == "1" for row in rows]).astype(int)
features = [i for i, name in enumerate(names) if name not in ("Target", "Gender")]
x = np.array([[float(row[i]) for i in features] for row in rows], dtype=np.float32)

# 30 % to test on, 310 rows that targets are drawn from, two labels of each class, as fairbed acquire has them.
order = np.random.default_rng(0).permutation(len(x))
tested = round(0.3 * len(x))
test, targets, rest = order[:tested], order[tested : tested + 310], order[tested + 310 :]
initial = [row for c in (0, 1) for row in rest[target[rest] == c][:2]]
pool = np.setdiff1d(rest, initial)
labelled = acquire(
    x, target, sensitive, initial=initial, pool=pool, targets=targets, labels=labels, drawn=100, beta=10, threads=threads, seed=0
)
model = RandomForestClassifier(n_jobs=threads).fit(x[labelled], target[labelled])
print(model.score(x[test], target[test]))
