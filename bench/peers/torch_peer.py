"""The benchmarks in natural PyTorch: broadcasting, torch.logsumexp, autograd, float32."""

import math

import torch
from torch import nn

from serve import serve


def design_step(inputs, settings):
    """One conditional-objective step; designs xi[T, 2] shared by the batch or xi[B, T, 2] of each outer sample."""
    beta, noise = settings["beta"], settings["noise"]
    background, offset = settings["background"], settings["offset"]
    theta0, phi0, eps = inputs["theta0"], inputs["phi0"], inputs["eps"]
    theta_l, phi_l, phi_m = inputs["thetaL"], inputs["phiL"], inputs["phiM"]
    xi = inputs["xi"].requires_grad_()
    adaptive = xi.dim() == 3

    def log_signal(theta, phi, design):
        distance2 = (theta - design[..., 0]).square() + (phi - design[..., 1]).square()
        return torch.log(background + 1 / (offset + distance2))

    def log_likelihood(log_y, log_mu):
        # Without the normal density's constant: it cancels, its weights are (1 + beta) - beta - 1.
        return -0.5 / noise**2 * (log_y - log_mu).square().sum(-1)

    def objective():
        log_mu0 = log_signal(theta0[:, None], phi0[:, None], xi)  # [B, T]
        log_y = log_mu0 + noise * eps
        design = xi[:, None] if adaptive else xi  # [B, 1, T, 2] or [T, 2]
        log_mu_m = log_signal(theta0[:, None, None], phi_m[:, None], design)  # [B, M, T]
        log_mu_l = log_signal(theta_l[:, None], phi_l[:, None], design)  # [B, L, T] or [L, T]
        ll_0 = log_likelihood(log_y, log_mu0)  # [B]
        ll_m = log_likelihood(log_y[:, None], log_mu_m)  # [B, M]
        ll_l = log_likelihood(log_y[:, None], log_mu_l)  # [B, L]
        log_p_theta = torch.logsumexp(ll_m, 1) - math.log(ll_m.shape[1])
        ll_all = torch.cat([ll_0[:, None], ll_l], 1)
        log_p = torch.logsumexp(ll_all, 1) - math.log(ll_all.shape[1])
        return ((1 + beta) * log_p_theta - beta * ll_0 - log_p).mean()

    def run():
        xi.grad = None
        value = objective()
        value.backward()
        return value.detach()

    def values():
        value = run()
        return {"objective": [value.item()], "gradient": xi.grad.flatten().tolist()}

    return run, values


def dense(inputs, settings):
    """Forward and backward of a network of dense layers, ReLU between them."""
    x, dy = inputs["x"].requires_grad_(), inputs["dy"]
    layers = []
    for k in range((len(inputs) - 2) // 2):
        weight, bias = inputs[f"w{k}"], inputs[f"b{k}"]
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight, linear.bias = nn.Parameter(weight), nn.Parameter(bias)
        layers += [linear, nn.ReLU()]
    network = nn.Sequential(*layers[:-1])

    def run():
        network.zero_grad(set_to_none=True)
        x.grad = None
        y = network(x)
        y.backward(dy)
        return y.detach()

    def values():
        result = {"y": run(), "dx": x.grad}
        for k, linear in enumerate(network[::2]):
            result[f"dw{k}"], result[f"db{k}"] = linear.weight.grad, linear.bias.grad
        return {name: tensor.flatten().tolist() for name, tensor in result.items()}

    return run, values


def blas():
    """Which BLAS was loaded, as its folder is called: Debian's default "blas" is the slow reference one."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "/libblas.so" in line}
    except OSError:
        return ""
    folders = {path.split("/")[-2] for path in paths}
    return "".join(f", {'reference BLAS' if name == 'blas' else name}" for name in sorted(folders))


if __name__ == "__main__":
    serve(
        {
            "design-step": design_step,
            "design-step-adaptive": design_step,
            "dense": dense,
        },
        array=lambda data, shape: torch.tensor(data, dtype=torch.float32).reshape(shape),
        set_threads=torch.set_num_threads,
        about=f"torch {torch.__version__}{blas()}",
    )
