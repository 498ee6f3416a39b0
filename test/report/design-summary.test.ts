/** What designs tell and give away, in words. */
import { describe, expect, test } from "vitest";
import { BITS, NATS } from "../../src/core/information-unit.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { designAnswer, frontierRows, informationText, worthText } from "../../src/report/design-summary.js";
import { liveDesign } from "../../src/workflows/live-design.js";

const { parameters } = linearGaussian();
const told = (beta = 0.5) => {
  const live = liveDesign(linearGaussian(), { horizon: 2, beta });
  // theta is seen with weight 2 and phi with weight 1, in noise of 1: half of log 5 and of log 2 nats.
  const information = live.information([
    [2, 0],
    [0, 1],
  ]);
  live.dispose();
  return information;
};

describe("the answer", () => {
  test("has both numbers, in the unit that was asked for", () => {
    expect(designAnswer(told(), 2, { parameters, objective: "conditional", unit: NATS })).toBe(
      "These 2 observations tell 0.80 nats about theta and give away 0.35 nats about phi once theta is known.",
    );
    expect(designAnswer(told(), 2, { parameters, objective: "unconditional", unit: BITS })).toBe(
      "These 2 observations tell 1.16 bits about theta and give away 0.50 bits about phi.",
    );
  });

  test("of sampled designs has intervals, and one observation is singular", () => {
    const live = liveDesign(locationFinding(), { horizon: 1 });
    const information = live.information([[3, 3]]);
    live.dispose();
    expect(designAnswer(information, 1, { parameters, objective: "conditional", unit: NATS })).toMatch(
      /^This observation tells 0\.\d\d nats \(0\.\d\d to \d\.\d\d\) about theta and gives away \d\.\d\d nats \(.*\) about phi once theta is known\.$/,
    );
  });
});

test("information is never shown below nothing, and what leakage takes away may be more than there is", () => {
  const below = { lower: -0.02, upper: 0.01, standardError: 0.01, interval: [-0.04, 0.03] } as const;
  expect(informationText({ ...told().target, ...below }, NATS, { exact: false })).toBe(
    "0.01 nats (0.00 to 0.03)",
  );
  // log 5 / 2 - 10 log 2 / 2
  expect(worthText(told(10), NATS)).toBe("-2.66 nats");
});

test("a frontier's rows are the middles of the bounds", () => {
  const { target, sensitive, sensitiveGivenTarget } = told();
  const [row] = frontierRows([
    {
      ...{ target, sensitive, sensitiveGivenTarget, beta: 0.5, horizon: 2, objective: target },
      designs: [],
      policy: { kind: "static", horizon: 0, designs: [] },
    },
  ]);
  expect(row.target.mean).toBeCloseTo(0.5 * Math.log(5), 12);
  expect(row.sensitive.mean).toBeCloseTo(0.5 * Math.log(2), 12);
});
