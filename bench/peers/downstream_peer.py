"""The other side of bench/downstream-accuracy.mjs: prepares the tables and splits, and fits the peers on them.

    downstream_peer.py DATA OUT [--seeds N] [--large-seeds N]

writes to the folder OUT one NAME.f32 (features, row-major float32) a table, and splits.json: every split's rows and
labels, and each peer's accuracy, log loss and milliseconds. Peers are XGBoost's XGBClassifier, and scikit-learn's
MLPClassifier and SVC(probability=True), both behind a StandardScaler, all with their defaults on one thread.
"""

import argparse
import json
import os
import time
import warnings

import numpy as np
import pandas as pd
import sklearn
import xgboost
from sklearn.metrics import accuracy_score, log_loss
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

SIZES = (400, 3000)
TEST_ROWS = 4000


def students(data):
    """Graduate against the rest, without Gender; numbers as they are, codes included."""
    table = pd.read_csv(f"{data}/students-dropout/data.csv", sep=";", encoding="utf-8-sig")
    features = table.drop(columns=["Target", "Gender"])
    return features, (table["Target"] == "Graduate").astype(int)


def students_three(data):
    """The same features, all three outcomes."""
    table = pd.read_csv(f"{data}/students-dropout/data.csv", sep=";", encoding="utf-8-sig")
    return students(data)[0], table["Target"].map({"Dropout": 0, "Enrolled": 1, "Graduate": 2})


def adult(data):
    """Income above 50K, without sex and the sampling weight; texts one-hot."""
    table = pd.read_csv(f"{data}/adult/adult.data.gz", header=None, skipinitialspace=True)
    return pd.get_dummies(table.drop(columns=[2, 9, 14])), (table[14] == ">50K").astype(int)


def census(data):
    """Income above 50000, both classes equally frequent, without sex and the instance weight; texts one-hot."""
    table = pd.read_csv(f"{data}/census-income-kdd/census-income.data.gz", header=None, skipinitialspace=True)
    rich = table[41].str.startswith("50000")
    poor = table[~rich].sample(int(rich.sum()), random_state=0)
    table = pd.concat([table[rich], poor])
    return pd.get_dummies(table.drop(columns=[12, 24, 41])), rich[table.index].astype(int)


TABLES = {"students": students, "students, 3 classes": students_three, "adult": adult, "census, balanced": census}


def peers(seed):
    return {
        "boosting": xgboost.XGBClassifier(n_jobs=1),
        "mlp": make_pipeline(StandardScaler(), MLPClassifier(random_state=seed)),
        "svm": make_pipeline(StandardScaler(), SVC(probability=True, random_state=seed)),
    }


def compare(x, y, seed, size):
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:size], order[size : size + TEST_ROWS]
    results = {}
    for name, model in peers(seed).items():
        start = time.perf_counter()
        model.fit(x[train], y[train])
        ms = (time.perf_counter() - start) * 1e3
        p = model.predict_proba(x[test]).astype(float)
        p /= p.sum(axis=1, keepdims=True)
        results[name] = {
            "accuracy": accuracy_score(y[test], p.argmax(axis=1)),
            "logLoss": log_loss(y[test], p, labels=range(p.shape[1])),
            "ms": ms,
        }
        if name == "svm":  # the sign of the decision, which may differ from the probability's side of 1/2
            results[name]["decisionAccuracy"] = accuracy_score(y[test], model.predict(x[test]))
            if p.shape[1] == 2:
                results[name]["decisions"] = model.decision_function(x[test]).tolist()
    return {"size": size, "seed": seed, "train": train.tolist(), "test": test.tolist(), "peers": results}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--large-seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # networks that stop at the last epoch, which is the default
    tables = []
    for name, load in TABLES.items():
        features, labels = load(arguments.data)
        x, y = features.to_numpy(np.float32), labels.to_numpy()
        file = f"{len(tables)}.f32"
        x.tofile(os.path.join(arguments.out, file))
        splits = []
        for size in SIZES:
            if size + 1000 > len(y):
                continue
            for seed in range(arguments.seeds if size == min(SIZES) else arguments.large_seeds):
                splits.append(compare(x, y, seed, size))
                print(name, size, seed, flush=True)
        tables.append(
            {"name": name, "file": file, "rows": x.shape[0], "columns": x.shape[1], "labels": y.tolist(), "splits": splits}
        )
    about = f"XGBoost {xgboost.__version__}, scikit-learn {sklearn.__version__}"
    with open(os.path.join(arguments.out, "splits.json"), "w") as out:
        json.dump({"about": about, "tables": tables}, out)


main()
