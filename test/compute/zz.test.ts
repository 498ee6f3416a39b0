import { test, expect } from "vitest";
import { LogMeanExp } from "../../src/compute/logmeanexp/program.js";
import { add, div, log, mul, square, sub } from "../../src/compute/graph/operations.js";
import { writeFileSync } from "node:fs";

const lik = ({ y, theta, phi, x1, x2 }: any) => {
  const d2 = add(square(sub(theta, x1)), square(sub(phi, x2)));
  const g = log(add(0.1, div(1, add(1e-4, d2))));
  return sub(mul(-0.5, square(div(sub(y, g), 0.5))), Math.log(0.5) + 0.5 * Math.log(2 * Math.PI));
};
for (const [name, S] of [["full", 1000], ["tail", 1001], ["tiny", 3], ["chunks", 20003]] as const)
test(`stream ${name}`, () => {
  const B = 100, T = 10;
  const p = new LogMeanExp(lik, { inputs: { y: ["outer", "observation"], theta: ["outer"], phi: ["inner"], x1: ["observation"], x2: ["observation"] }, gradients: ["y", "x1", "x2", "theta"], threads: 2 });
  p.resize({ outer: B, inner: S, observation: T });
  let k = 1; const rnd = () => { k = (k * 16807) % 2147483647; return k / 2147483647; };
  const n = () => Math.sqrt(-2 * Math.log(rnd())) * Math.cos(6.2831853 * rnd());
  for (const name of ["theta", "phi"] as const) { const a = p.input(name); for (let i = 0; i < a.length; i++) a[i] = 3 + n(); }
  for (const name of ["x1", "x2"] as const) { const a = p.input(name); for (let i = 0; i < a.length; i++) a[i] = 1.5 + n(); }
  { const a = p.input("y"); for (let i = 0; i < a.length; i++) a[i] = n() - 1; }
  p.run();
  // reference
  const [y, th, ph, x1, x2] = (["y", "theta", "phi", "x1", "x2"] as const).map((v) => p.input(v));
  let worst = 0;
  const gx = new Float64Array(T), gy = new Float64Array(B * T);
  for (let b = 0; b < B; b++) {
    const ll = new Float64Array(S);
    for (let s = 0; s < S; s++) { let a = 0; for (let t = 0; t < T; t++) a += lik({ y: y[b * T + t], theta: th[b], phi: ph[s], x1: x1[t], x2: x2[t] }) as number; ll[s] = a; }
    const m = Math.max(...ll); let z = 0; for (const l of ll) z += Math.exp(l - m);
    const v = m + Math.log(z) - Math.log(S);
    worst = Math.max(worst, Math.abs(v - p.value[b]));
    for (let s = 0; s < S; s++) { const w = Math.exp(ll[s] - m) / z; for (let t = 0; t < T; t++) {
      const q = 1e-4 + (th[b] - x1[t]) ** 2 + (ph[s] - x2[t]) ** 2, mu = 0.1 + 1 / q, r = (y[b * T + t] - Math.log(mu)) / 0.25;
      gy[b * T + t] -= w * r; gx[t] += w * r * (-1 / (q * q * mu)) * 2 * (x1[t] - th[b]); } }
  }
  console.log(name, "worst value", worst);
  const g1 = p.gradient("x1"), g2 = p.gradient("y");
  console.log("gx", Math.max(...g1.map((v, i) => Math.abs(v - gx[i]))), Math.max(...gx.map(Math.abs)), "gy", Math.max(...g2.map((v, i) => Math.abs(v - gy[i]))));
  expect(worst).toBeLessThan(1e-4);
  if (name === "full") {
    for (let i = 0; i < 300; i++) p.run();
    let best = 1e9; for (let i = 0; i < 200; i++) { const t0 = performance.now(); p.run(); best = Math.min(best, performance.now() - t0); }
    console.log("ms", best);
  }
  p.dispose();
});
