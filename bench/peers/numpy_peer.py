"""The benchmarks in natural NumPy, float32."""

import numpy as np

from epig_peer import epig
from serve import serve

CHUNK = 1000  # inner samples at a time: the [B, chunk, T] temporary stays within the cache


def logmeanexp_value(inputs, settings):
    """log mean_s prod_t p(y[b, t] | psi_s, xi_t), over chunks of inner samples."""
    log_y, theta, phi, xi = inputs["logY"], inputs["theta"], inputs["phi"], inputs["xi"]
    noise, background, offset = (np.float32(settings[k]) for k in ("noise", "background", "offset"))
    steps, samples = log_y.shape[1], theta.shape[0]
    constant = -steps * (np.log(noise) + 0.5 * np.log(2 * np.pi))

    def log_likelihood(theta, phi):
        distance2 = (theta[:, None] - xi[:, 0]) ** 2 + (phi[:, None] - xi[:, 1]) ** 2
        log_mu = np.log(background + 1 / (offset + distance2))  # [chunk, T]
        residual = log_y[:, None] - log_mu  # [B, chunk, T]
        return np.einsum("bst,bst->bs", residual, residual) * (-0.5 / noise**2)  # [B, chunk]

    def run():
        total = np.full(log_y.shape[0], -np.inf, dtype=np.float32)
        for start in range(0, samples, CHUNK):
            ll = log_likelihood(theta[start : start + CHUNK], phi[start : start + CHUNK])
            shift = ll.max(axis=1)
            total = np.logaddexp(total, shift + np.log(np.exp(ll - shift[:, None]).sum(axis=1)))
        return total - np.log(samples) + constant

    return run, lambda: {"logMarginal": run().tolist()}


if __name__ == "__main__":
    serve(
        {"logmeanexp-value": logmeanexp_value, "epig": epig},
        array=lambda data, shape: np.array(data, dtype=np.float32).reshape(shape),
        set_threads=lambda threads: None,  # element-wise operations have one thread; epig has its own two
        about=f"numpy {np.__version__}",
    )
