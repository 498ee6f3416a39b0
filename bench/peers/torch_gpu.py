"""Steps of location finding in PyTorch on a GPU, of static designs and of DAD, for many configurations at once: one JSON line.

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
    (xi,) = xi
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


ENCODER, EMITTER = [3, 64, 256, 16], [16, 128, 16, 2]


def layers(widths, flat):
    for n, m in zip(widths, widths[1:]):
        yield flat.pop(0), flat.pop(0)


def network(widths, flat, x):
    """x[C, B, n] through layers with weights [C, n, m] and biases [C, 1, m]."""
    pairs = list(layers(widths, flat))
    for k, (w, b) in enumerate(pairs):
        x = torch.baddbmm(b, x, w)
        if k + 1 < len(pairs):
            x = torch.relu(x)
    return x


def dad_objective(parameters):
    """The networks of C policies to the sum of their conditional bounds: ten designs, one after the other."""
    count = parameters[0].shape[0]
    normal = lambda *shape: torch.randn(count, *shape, device="cuda")
    theta0, phi0, eps = MEAN + normal(B), MEAN + normal(B), normal(B, T)
    theta_l, phi_l, phi_m = MEAN + normal(L), MEAN + normal(L), MEAN + normal(M)

    def log_signal(theta, phi, x, y):
        return torch.log(BACKGROUND + 1 / (OFFSET + (theta - x).square() + (phi - y).square()))

    split = 2 * (len(ENCODER) - 1)
    total = torch.zeros(count, B, ENCODER[-1], device="cuda")
    xs, ys, logs = [], [], []
    for t in range(T):
        design = network(EMITTER, list(parameters[split:]), total)
        x, y = design[..., 0], design[..., 1]
        log_y = log_signal(theta0, phi0, x, y) + NOISE * eps[..., t]
        xs.append(x)
        ys.append(y)
        logs.append(log_y)
        if t + 1 < T:
            total = total + network(ENCODER, list(parameters[:split]), torch.stack([x, y, log_y], -1))
    x, y, log_y = torch.stack(xs, -1), torch.stack(ys, -1), torch.stack(logs, -1)  # [C, B, T]
    log_mu0 = log_signal(theta0[:, :, None], phi0[:, :, None], x, y)
    log_mu_l = log_signal(theta_l[:, None, :, None], phi_l[:, None, :, None], x[:, :, None], y[:, :, None])
    log_mu_m = log_signal(theta0[:, :, None, None], phi_m[:, None, :, None], x[:, :, None], y[:, :, None])
    scale = -0.5 / NOISE**2
    ll_0 = scale * (log_y - log_mu0).square().sum(-1)
    ll_m = scale * (log_y[:, :, None] - log_mu_m).square().sum(-1)
    ll_l = scale * (log_y[:, :, None] - log_mu_l).square().sum(-1)
    log_p_theta = torch.logsumexp(ll_m, -1) - math.log(M)
    log_p = torch.logsumexp(torch.cat([ll_0[..., None], ll_l], -1), -1) - math.log(L + 1)
    return ((1 + BETA) * log_p_theta - BETA * ll_0 - log_p).mean(-1).sum()


def fresh_designs(count):
    return [(MEAN + torch.randn(count, T, 2, device="cuda")).requires_grad_()]


def fresh_networks(count):
    return [
        (torch.randn(count, *shape, device="cuda") / math.sqrt(n)).requires_grad_()
        for widths in (ENCODER, EMITTER)
        for n, m in zip(widths, widths[1:])
        for shape in ((n, m), (1, m))
    ]


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


def measure(objective, fresh, count, steps=100):
    ways = {}

    def begin():
        torch._dynamo.reset()
        parameters = fresh(count)
        return parameters, torch.optim.Adam(parameters, lr=1e-4, capturable=True, maximize=True)

    for name, options in {"compile": {}, "reduce-overhead": {"mode": "reduce-overhead"}}.items():
        parameters, optimiser = begin()
        compiled = torch.compile(objective, **options)

        def step():
            optimiser.zero_grad(set_to_none=True)
            compiled(parameters).backward()
            optimiser.step()

        ways[name] = timed(step, steps)
    try:
        parameters, optimiser = begin()
        compiled = torch.compile(objective)
        for each in parameters:
            each.grad = torch.zeros_like(each)

        def whole():
            optimiser.zero_grad(set_to_none=False)
            compiled(parameters).backward()
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
        "static": {str(count): measure(objective, fresh_designs, count) for count in (1, 32)},
        "dad": {str(count): measure(dad_objective, fresh_networks, count) for count in (1, 32)},
    }
    print(json.dumps(result))
