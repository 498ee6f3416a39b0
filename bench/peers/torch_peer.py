"""The benchmarks in natural PyTorch: broadcasting, torch.logsumexp, autograd, float32."""

import ctypes
import math

import torch
from torch import nn

from serve import serve


def location_model(settings):
    """log_signal(theta, phi, design) and the conditional objective from samples and designs."""
    beta, noise = settings["beta"], settings["noise"]
    background, offset = settings["background"], settings["offset"]

    def log_signal(theta, phi, design):
        distance2 = (theta - design[..., 0]).square() + (phi - design[..., 1]).square()
        return torch.log(background + 1 / (offset + distance2))

    def log_likelihood(log_y, log_mu):
        # Without the normal density's constant: it cancels, its weights are (1 + beta) - beta - 1.
        return -0.5 / noise**2 * (log_y - log_mu).square().sum(-1)

    def objective(samples, xi, log_mu0, log_y):
        """Designs xi[T, 2] shared by the batch or xi[B, T, 2] of each outer sample; log_mu0, log_y [B, T]."""
        theta0, theta_l, phi_l, phi_m = (samples[name] for name in ("theta0", "thetaL", "phiL", "phiM"))
        design = xi[:, None] if xi.dim() == 3 else xi  # [B, 1, T, 2] or [T, 2]
        log_mu_m = log_signal(theta0[:, None, None], phi_m[:, None], design)  # [B, M, T]
        log_mu_l = log_signal(theta_l[:, None], phi_l[:, None], design)  # [B, L, T] or [L, T]
        ll_0 = log_likelihood(log_y, log_mu0)  # [B]
        ll_m = log_likelihood(log_y[:, None], log_mu_m)  # [B, M]
        ll_l = log_likelihood(log_y[:, None], log_mu_l)  # [B, L]
        log_p_theta = torch.logsumexp(ll_m, 1) - math.log(ll_m.shape[1])
        ll_all = torch.cat([ll_0[:, None], ll_l], 1)
        log_p = torch.logsumexp(ll_all, 1) - math.log(ll_all.shape[1])
        return ((1 + beta) * log_p_theta - beta * ll_0 - log_p).mean()

    return log_signal, objective


def design_step(inputs, settings):
    """One conditional-objective step; designs xi[T, 2] shared by the batch or xi[B, T, 2] of each outer sample."""
    log_signal, objective = location_model(settings)
    theta0, phi0, eps = inputs["theta0"], inputs["phi0"], inputs["eps"]
    xi = inputs["xi"].requires_grad_()

    def run():
        xi.grad = None
        log_mu0 = log_signal(theta0[:, None], phi0[:, None], xi)  # [B, T]
        value = objective(inputs, xi, log_mu0, log_mu0 + settings["noise"] * eps)
        value.backward()
        return value.detach()

    def values():
        value = run()
        return {"objective": [value.item()], "gradient": xi.grad.flatten().tolist()}

    return run, values


def dad_step(inputs, settings):
    """Fresh samples, the experiment that the networks design, its bound, the gradient and a step of Adam."""
    log_signal, objective = location_model(settings)
    encoder, emitter = sequential(inputs, "encoder "), sequential(inputs, "emitter ")
    parameters = [*encoder.parameters(), *emitter.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=settings["rate"])
    samples = ("theta0", "phi0", "eps", "thetaL", "phiL", "phiM")
    given = {name: inputs[name] for name in samples}

    def fresh():
        drawn = {name: torch.randn(given[name].shape) for name in samples}
        return {name: z if name == "eps" else settings["priorMean"] + z for name, z in drawn.items()}

    def value_and_gradient(batch):
        theta0, phi0, eps = batch["theta0"], batch["phi0"], batch["eps"]
        seen = torch.zeros(len(theta0), emitter[0].in_features)
        designs, signals, outcomes = [], [], []
        for t in range(eps.shape[1]):
            design = emitter(seen)  # [B, 2]
            log_mu = log_signal(theta0, phi0, design)
            log_y = log_mu + settings["noise"] * eps[:, t]
            seen = seen + encoder(torch.cat([design, log_y[:, None]], 1))
            for made, one in ((designs, design), (signals, log_mu), (outcomes, log_y)):
                made.append(one)
        value = objective(batch, torch.stack(designs, 1), torch.stack(signals, 1), torch.stack(outcomes, 1))
        optimiser.zero_grad(set_to_none=True)
        (-value).backward()
        return value.detach()

    def run():
        value = value_and_gradient(fresh())
        optimiser.step()
        return value

    def values():
        value = value_and_gradient(given)
        return {"objective": [value.item()], "gradient": [-g for p in parameters for g in p.grad.flatten().tolist()]}

    return run, values


def sequential(inputs, prefix=""):
    """A network of the layers w0, b0, w1, b1, ..., ReLU between them."""
    layers = []
    for k in range(sum(name.startswith(f"{prefix}w") for name in inputs)):
        weight, bias = inputs[f"{prefix}w{k}"], inputs[f"{prefix}b{k}"]
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        linear.weight, linear.bias = nn.Parameter(weight), nn.Parameter(bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def dense(inputs, settings):
    """Forward and backward of a network of dense layers, ReLU between them."""
    x, dy = inputs["x"].requires_grad_(), inputs["dy"]
    network = sequential(inputs)

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


def blas_path():
    """The BLAS that was loaded, or None where this cannot be seen."""
    try:
        with open("/proc/self/maps") as maps:
            return next((line.split()[-1] for line in maps if "/libblas.so" in line), None)
    except OSError:
        return None


def blas_name():
    """Which BLAS was loaded, as its folder is called: Debian's default "blas" is the slow reference one."""
    path = blas_path()
    if path is None:
        return ""
    folder = path.split("/")[-2]
    return ", reference BLAS" if folder == "blas" else f", {folder} on as many threads"


def set_threads(threads):
    """PyTorch's own threads, and OpenBLAS's, which does not follow PyTorch's setting and takes all cores."""
    torch.set_num_threads(threads)
    path = blas_path()
    if path is not None:
        set_blas_threads = getattr(ctypes.CDLL(path), "openblas_set_num_threads", None)
        if set_blas_threads is not None:
            set_blas_threads(threads)


if __name__ == "__main__":
    serve(
        {
            "design-step": design_step,
            "design-step-adaptive": design_step,
            "dad-step": dad_step,
            "dense": dense,
        },
        array=lambda data, shape: torch.tensor(data, dtype=torch.float32).reshape(shape),
        set_threads=set_threads,
        about=f"torch {torch.__version__}{blas_name()}",
    )
