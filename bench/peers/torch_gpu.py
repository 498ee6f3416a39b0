"""The static step of location finding in PyTorch on a GPU, for many configurations at once: one JSON line.

Samples are drawn on the GPU at every step; value, gradient and Adam. Three ways, the best counts: torch.compile with
CUDA graphs ("reduce-overhead"), a CUDA graph around a whole compiled step, and torch.compile alone.
"""

import json
import math
import sys
import time

import torch

B, L, M, T = 100, 1000, 1000, 10
BETA, NOISE, BACKGROUND, OFFSET, MEAN = 0.8, 0.5, 0.1, 1e-4, 3.0


def objective(xi):
    """xi[C, T, 2] to the sum over configurations of the conditional bound."""
    count = xi.shape[0]
    normal = lambda *shape: torch.randn(count, *shape, device="cuda")
    theta0, phi0, eps = MEAN + normal(B), MEAN + normal(B), normal(B, T)
    theta_l, phi_l, phi_m = MEAN + normal(L), MEAN + normal(L), MEAN + normal(M)

    def log_signal(theta, phi, x, y):
        return torch.log(BACKGROUND + 1 / (OFFSET + (theta - x).square() + (phi - y).square()))

    x, y = xi[..., 0], xi[..., 1]
    log_mu0 = log_signal(theta0[:, :, None], phi0[:, :, None], x[:, None], y[:, None])  # [C, B, T]
    log_y = log_mu0 + NOISE * eps
    log_mu_l = log_signal(theta_l[:, :, None], phi_l[:, :, None], x[:, None], y[:, None])  # [C, L, T]
    log_mu_m = log_signal(
        theta0[:, :, None, None], phi_m[:, None, :, None], x[:, None, None], y[:, None, None]
    )  # [C, B, M, T]
    scale = -0.5 / NOISE**2
    ll_0 = scale * (log_y - log_mu0).square().sum(-1)
    ll_m = scale * (log_y[:, :, None] - log_mu_m).square().sum(-1)
    ll_l = scale * (log_y[:, :, None] - log_mu_l[:, None]).square().sum(-1)
    log_p_theta = torch.logsumexp(ll_m, -1) - math.log(M)
    log_p = torch.logsumexp(torch.cat([ll_0[..., None], ll_l], -1), -1) - math.log(L + 1)
    return ((1 + BETA) * log_p_theta - BETA * ll_0 - log_p).mean(-1).sum()


def timed(step, steps):
    for _ in range(10):
        step()
    best = math.inf
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / steps)
    return 1e6 * best


def measure(count, steps=100):
    ways = {}

    def fresh():
        xi = (MEAN + torch.randn(count, T, 2, device="cuda")).requires_grad_()
        return xi, torch.optim.Adam([xi], lr=0.01, capturable=True, maximize=True)

    for name, options in {"compile": {}, "reduce-overhead": {"mode": "reduce-overhead"}}.items():
        torch._dynamo.reset()
        xi, optimiser = fresh()
        compiled = torch.compile(objective, **options)

        def step():
            optimiser.zero_grad(set_to_none=True)
            compiled(xi).backward()
            optimiser.step()

        ways[name] = timed(step, steps)
    try:
        torch._dynamo.reset()
        xi, optimiser = fresh()
        compiled = torch.compile(objective)
        xi.grad = torch.zeros_like(xi)

        def whole():
            optimiser.zero_grad(set_to_none=False)
            compiled(xi).backward()
            optimiser.step()

        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(5):
                whole()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            whole()
        ways["whole step in one CUDA graph"] = timed(graph.replay, steps)
    except Exception as error:  # the other ways still count
        print(f"whole step: {error}", file=sys.stderr)
    return ways


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    result = {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(0),
        "static": {str(count): measure(count) for count in (1, 32)},
    }
    print(json.dumps(result))
