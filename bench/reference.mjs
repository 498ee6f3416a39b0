// The benchmarks' objectives in plain float64 loops: slow and obviously right. Every side is compared with these.

const logNormaliser = (noise) => -Math.log(noise) - 0.5 * Math.log(2 * Math.PI);

/** log mu = log(b + 1 / (m + |psi - xi|^2)) and its gradient in the design (x, y). */
function logSignal(theta, phi, x, y, { background, offset }) {
  const [dx, dy] = [theta - x, phi - y];
  const distance2 = dx * dx + dy * dy;
  const mu = background + 1 / (offset + distance2);
  // d mu / d distance2 = -1 / (m + distance2)^2 and d distance2 / dx = -2 (theta - x).
  const slope = 2 / ((offset + distance2) ** 2 * mu);
  return { value: Math.log(mu), dx: slope * dx, dy: slope * dy };
}

/** log sum_i exp(values[i]) and the weights exp(values[i]) / sum_j exp(values[j]). */
function logSumExp(values) {
  const shift = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const weights = values.map((v) => Math.exp(v - shift));
  const total = weights.reduce((a, b) => a + b, 0);
  return { value: shift + Math.log(total), weights: weights.map((w) => w / total) };
}

/**
 * The lower bound of R_c (src/design/quantity.ts) and its gradient in the designs:
 *
 *   mean_b [ (1 + beta) log p(D | theta0) - beta log p(D | theta0, phi0) - log p(D) ],
 *   p(D | theta0) = mean_m p(D | theta0, phi_m)                                  (fresh phi only)
 *   p(D) = (p(D | psi0) + sum_l p(D | psi_l)) / (L + 1)                          (psi0 included)
 *
 * with log y = log mu(psi0, xi) + noise * eps, so that the gradient also flows through the outcome.
 * Designs are xi[T, 2] or xi[B, T, 2]. Returns { objective: [1], gradient: like xi }.
 */
export function conditionalStep({ theta0, phi0, eps, thetaL, phiL, phiM, xi }, settings) {
  const { beta, noise } = settings;
  const [B, T] = eps.shape;
  const [L, M] = [thetaL.data.length, phiM.data.length];
  const adaptive = xi.shape.length === 3;
  const gradient = new Float64Array(xi.data.length);
  let objective = 0;

  for (let b = 0; b < B; b++) {
    const design = (t) => 2 * (adaptive ? b * T + t : t);
    const own = Array.from({ length: T }, (_, t) =>
      logSignal(theta0.data[b], phi0.data[b], xi.data[design(t)], xi.data[design(t) + 1], settings),
    );
    /** log p(D | theta, phi) and, where `into` is given, weight * its gradient added to it. */
    const logLikelihood = (theta, phi, weight, into) => {
      let sum = T * logNormaliser(noise);
      for (let t = 0; t < T; t++) {
        const at = design(t);
        const signal = logSignal(theta, phi, xi.data[at], xi.data[at + 1], settings);
        const residual = (own[t].value + noise * eps.data[b * T + t] - signal.value) / noise;
        sum -= 0.5 * residual * residual;
        if (into) {
          into[at] -= weight * (residual / noise) * (own[t].dx - signal.dx);
          into[at + 1] -= weight * (residual / noise) * (own[t].dy - signal.dy);
        }
      }
      return sum;
    };

    // Its residual is eps whatever the designs: log p(D | psi0) has no gradient.
    const logOwn = logLikelihood(theta0.data[b], phi0.data[b]);
    const marginal = logSumExp(Array.from(phiM.data, (phi) => logLikelihood(theta0.data[b], phi)));
    const evidence = logSumExp([
      logOwn,
      ...Array.from(thetaL.data, (theta, l) => logLikelihood(theta, phiL.data[l])),
    ]);
    objective +=
      ((1 + beta) * (marginal.value - Math.log(M)) - beta * logOwn - (evidence.value - Math.log(L + 1))) / B;
    for (let m = 0; m < M; m++)
      logLikelihood(theta0.data[b], phiM.data[m], ((1 + beta) * marginal.weights[m]) / B, gradient);
    for (let l = 0; l < L; l++)
      logLikelihood(thetaL.data[l], phiL.data[l], -evidence.weights[l + 1] / B, gradient);
  }
  return { objective: [objective], gradient };
}

/** log mean_s prod_t p(y[b, t] | theta_s, phi_s, xi_t) for each b, of log y's density. Returns { logMarginal: [B] }. */
export function logMeanLikelihood({ logY, theta, phi, xi }, settings) {
  const [B, T] = logY.shape;
  const S = theta.data.length;
  const signal = Float64Array.from({ length: S * T }, (_, i) => {
    const [s, t] = [Math.floor(i / T), i % T];
    return logSignal(theta.data[s], phi.data[s], xi.data[2 * t], xi.data[2 * t + 1], settings).value;
  });
  const logMarginal = Float64Array.from({ length: B }, (_, b) => {
    const terms = new Float64Array(S);
    for (let s = 0; s < S; s++) {
      terms[s] = T * logNormaliser(settings.noise);
      for (let t = 0; t < T; t++)
        terms[s] -= 0.5 * ((logY.data[b * T + t] - signal[s * T + t]) / settings.noise) ** 2;
    }
    return logSumExp(terms).value - Math.log(S);
  });
  return { logMarginal };
}

/**
 * A network of dense layers x W^T + b, ReLU between them and a linear output, and its gradients given the
 * upstream gradient dy[N, out]. Inputs x[N, in], w0[out, in], b0[out], w1, b1, ...
 * Returns { y, dx, dw0, db0, dw1, db1, ... }.
 */
export function denseStep({ x, dy, ...parameters }) {
  const depth = Object.keys(parameters).length / 2;
  const N = x.shape[0];
  const result = {};
  const activations = [Float64Array.from(x.data)];
  for (let k = 0; k < depth; k++) {
    const [outs, ins] = parameters[`w${k}`].shape;
    const [w, bias, from] = [parameters[`w${k}`].data, parameters[`b${k}`].data, activations[k]];
    const to = new Float64Array(N * outs);
    for (let n = 0; n < N; n++)
      for (let o = 0; o < outs; o++) {
        let sum = bias[o];
        for (let i = 0; i < ins; i++) sum += from[n * ins + i] * w[o * ins + i];
        to[n * outs + o] = k < depth - 1 ? Math.max(sum, 0) : sum;
      }
    activations.push(to);
  }
  result.y = activations[depth];

  let upstream = Float64Array.from(dy.data);
  for (let k = depth - 1; k >= 0; k--) {
    const [outs, ins] = parameters[`w${k}`].shape;
    const [w, from] = [parameters[`w${k}`].data, activations[k]];
    const [dw, db, down] = [new Float64Array(outs * ins), new Float64Array(outs), new Float64Array(N * ins)];
    for (let n = 0; n < N; n++)
      for (let o = 0; o < outs; o++) {
        const g = upstream[n * outs + o];
        db[o] += g;
        for (let i = 0; i < ins; i++) {
          dw[o * ins + i] += g * from[n * ins + i];
          if (k === 0 || from[n * ins + i] > 0) down[n * ins + i] += g * w[o * ins + i];
        }
      }
    result[`dw${k}`] = dw;
    result[`db${k}`] = db;
    upstream = down;
  }
  result.dx = upstream;
  return result;
}

/**
 * One step of deep adaptive design: the lower bound of R_c for designs that the networks choose one after the other, and
 * its gradient in all weights and biases, in the order "encoder w0", "encoder b0", ..., "emitter w0", ....
 *
 *   xi_t = emitter(sum_{s < t} encoder(xi_s, log y_s)),   log y_t = log mu(psi0, xi_t) + noise * eps_t,
 *
 * so with r_t = dR / d xi_t for the other designs as they are, and S_t = dR / d(sum that xi_t is chosen from),
 *
 *   dR / d xi_t = r_t + d encoder(xi_t, log y_t) / d xi_t applied to sum_{s > t} S_s.
 */
export function dadStep({ theta0, phi0, eps, thetaL, phiL, phiM, ...parameters }, settings) {
  const [B, T] = eps.shape;
  const layersOf = (network) =>
    Object.fromEntries(
      Object.entries(parameters)
        .filter(([name]) => name.startsWith(`${network} `))
        .map(([name, array]) => [name.slice(network.length + 1), array]),
    );
  const networks = { encoder: layersOf("encoder"), emitter: layersOf("emitter") };
  const encoding = networks.emitter.w0.shape[1];
  const matrix = (width, data = new Float64Array(B * width)) => ({ shape: [B, width], data });
  const forward = (network, x, width) => denseStep({ x, dy: matrix(width), ...networks[network] }).y;

  const steps = [];
  const xi = { shape: [B, T, 2], data: new Float64Array(B * T * 2) };
  let sum = new Float64Array(B * encoding);
  for (let t = 0; t < T; t++) {
    const designs = forward("emitter", matrix(encoding, sum), 2);
    const pairs = new Float64Array(B * 3);
    const slopes = [];
    for (let b = 0; b < B; b++) {
      const [x, y] = [designs[2 * b], designs[2 * b + 1]];
      const signal = logSignal(theta0.data[b], phi0.data[b], x, y, settings);
      pairs.set([x, y, signal.value + settings.noise * eps.data[b * T + t]], 3 * b);
      xi.data.set([x, y], 2 * (b * T + t));
      slopes.push(signal);
    }
    steps.push({ sum, pairs, slopes });
    const encodings = forward("encoder", matrix(3, pairs), encoding);
    sum = sum.map((value, i) => value + encodings[i]);
  }
  const { objective, gradient: direct } = conditionalStep(
    { theta0, phi0, eps, thetaL, phiL, phiM, xi },
    settings,
  );

  const totals = Object.fromEntries(
    Object.entries(parameters).map(([name, { data }]) => [name, new Float64Array(data.length)]),
  );
  const back = (network, x, dy) => {
    const { y: _, dx, ...gradients } = denseStep({ x, dy, ...networks[network] });
    for (const [name, values] of Object.entries(gradients)) {
      const total = totals[`${network} ${name.slice(1)}`];
      for (let i = 0; i < total.length; i++) total[i] += values[i];
    }
    return dx;
  };
  const later = new Float64Array(B * encoding);
  for (let t = T - 1; t >= 0; t--) {
    const { sum, pairs, slopes } = steps[t];
    const throughPairs = back("encoder", matrix(3, pairs), matrix(encoding, later.slice()));
    const dDesigns = Float64Array.from({ length: 2 * B }, (_, i) => {
      const [b, d] = [i >> 1, i % 2];
      const slope = d === 0 ? slopes[b].dx : slopes[b].dy;
      return direct[2 * (b * T + t) + d] + throughPairs[3 * b + d] + throughPairs[3 * b + 2] * slope;
    });
    const dSum = back("emitter", matrix(encoding, sum), matrix(2, dDesigns));
    for (let i = 0; i < later.length; i++) later[i] += dSum[i];
  }
  return { objective, gradient: Object.values(totals).flatMap((values) => Array.from(values)) };
}
