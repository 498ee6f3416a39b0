"""EPIG of members with probabilities in PyTorch on a GPU: torch_epig.py TARGETS MEMBERS ROWS ..., one JSON line.

In float32 throughout (TF32 products would be wrong by 1e-3 nats), a block of candidates at a time, compiled so that nothing of
the size of candidates times targets is written that need not be.
"""

import json
import math
import sys
import time

import torch

BLOCK = 50_000


def xlogx(x):
    return torch.where(x > 0, x * torch.log(x.clamp_min(1e-38)), torch.zeros_like(x))


def epig(pool, targets):
    """pool[N, K] and targets[T, K], P(class 1) of every member, to [N]."""
    p, q = pool.mean(1), targets.mean(1)
    both = pool @ targets.T / pool.shape[1]
    joint = xlogx(both) + xlogx(p[:, None] - both) + xlogx(q - both) + xlogx(1 - p[:, None] - q + both)
    return -xlogx(p) - xlogx(1 - p) + (-xlogx(q) - xlogx(1 - q)).mean() + joint.mean(1)


def timed(run):
    for _ in range(3):
        run()
    best = math.inf
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def members(rows, count):
    odds = 1.5 * torch.randn(rows, 1) + torch.randn(rows, 1) * torch.randn(1, count) + torch.randn(rows, count)
    return torch.sigmoid(2 * odds)


if __name__ == "__main__":
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    count, depth, *pools = map(int, sys.argv[1:])
    torch.manual_seed(0)
    targets = members(count, depth)
    compiled = torch.compile(epig)
    found = {}
    for rows in pools:
        pool = members(rows, depth)
        there, other = pool.cuda(), targets.cuda()

        def on_device():
            return torch.cat([compiled(block, other) for block in there.split(BLOCK)])

        def from_host():
            moved = targets.cuda()
            return torch.cat([compiled(block.cuda(), moved) for block in pool.split(BLOCK)]).cpu()

        found[str(rows)] = {"onDevice": timed(on_device), "fromHost": timed(from_host)}
    print(json.dumps({"torch": torch.__version__, "pools": found}))
