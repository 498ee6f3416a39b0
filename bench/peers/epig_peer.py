"""EPIG in natural NumPy, float32: a matrix product a chunk of candidates at a time, chunks on two threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

CHUNK = 200  # candidates at a time: of 50 to 1000 the fastest
THREADS = 2


def xlogx(x):
    return x * np.log(x, where=x > 0, out=np.zeros_like(x))


def epig(inputs, settings):
    """H[p] + mean_t (H[q] - H[J]), J's cells being a, p - a, q - a and 1 - p - q + a."""
    pool, targets = inputs["pool"], inputs["targets"]
    members = np.float32(pool.shape[1])

    def score(chunk, q, entropy_q):
        p = chunk.mean(axis=1)[:, None]
        both = chunk @ targets.T / members
        joint = sum(xlogx(np.maximum(cell, 0)) for cell in (both, p - both, q - both, 1 - p - q + both))
        return -(xlogx(p) + xlogx(1 - p))[:, 0] + (entropy_q + joint).mean(axis=1)

    def run():
        q = targets.mean(axis=1)
        entropy_q = -(xlogx(q) + xlogx(1 - q))
        chunks = [pool[start : start + CHUNK] for start in range(0, len(pool), CHUNK)]
        with ThreadPoolExecutor(THREADS) as threads:
            return np.concatenate(list(threads.map(lambda chunk: score(chunk, q, entropy_q), chunks)))

    return run, lambda: {"epig": run().tolist()}
