import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { dadPolicy } from "../../src/design/dad-network.js";
import { greedyPolicy } from "../../src/design/greedy.js";
import { identityOf } from "../../src/design/model-catalogue.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import type { History } from "../../src/design/policy.js";
import {
  crc32,
  type DadPolicyFile,
  decodePolicy,
  encodePolicy,
  matchModel,
  type PolicyFile,
  policyFileTexts,
  policyOf,
} from "../../src/design/policy-file.js";

const location = locationFinding();
const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const decodeText = (value: unknown) =>
  decodePolicy(bytesOf(typeof value === "string" ? value : JSON.stringify(value)), "f.json");

const record = {
  model: identityOf(location, { priorMean: [3, 3] }),
  seed: 7,
  settings: { objective: "conditional", beta: 0.8, steps: 100 },
  bounds: { target: { lower: 0.5, upper: 0.6, standardError: 0.01 } },
};
/** 3 inputs, a hidden layer of 2, encodings of 2, a hidden layer of 3, 2 outputs. */
const WEIGHTS = 4 * 2 + 3 * 2 + (3 * 3 + 4 * 2);
const PLAIN = { kind: "free", centre: 0, unit: 1 } as const;
const network = {
  widths: { encoder: [2], encoding: 2, emitter: [3] },
  designs: [PLAIN, PLAIN],
  outcomes: [{ centre: 0, unit: 1 }],
  parameters: Float32Array.from({ length: WEIGHTS }, (_, i) => Math.fround(Math.sin(i))),
};
const dad: DadPolicyFile = { kind: "dad", horizon: 4, ...record, network };
const { horizon: _, ...search } = greedyPolicy(location, { horizon: 3, beta: 0.5 }).settings;

const history: History = {
  outer: 1,
  steps: 2,
  designs: Float64Array.of(1, 2, 3, 4),
  outcomes: Float64Array.of(0.3, -0.2),
};

describe("a policy comes back from its file", () => {
  const files: readonly PolicyFile[] = [
    {
      kind: "static",
      horizon: 2,
      ...record,
      designs: [
        [0.1, 0.2],
        [1e-7, -3e21],
      ],
    },
    { kind: "random", horizon: 3, ...record, distribution: { mean: 0.5, sd: 2 } },
    { kind: "random", horizon: 3, ...record },
    { kind: "greedy", horizon: 3, ...record, search },
    dad,
  ];
  test.each(files.map((file) => [file.kind, file] as const))("%s", (_kind, file) => {
    const bytes = encodePolicy(file);
    expect(decodePolicy(bytes)).toEqual(file);
    // A view into a larger buffer, as Node's readFile gives for small files.
    const padded = new Uint8Array(bytes.length + 3);
    padded.set(bytes, 3);
    expect(decodePolicy(padded.subarray(3))).toEqual(file);
  });

  test("any designs, to the last bit", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0);
    const rows = fc.array(fc.array(number, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(rows, (designs) => {
        const read = decodePolicy(encodePolicy({ kind: "static", horizon: designs.length, designs }));
        expect(read).toEqual({ kind: "static", horizon: designs.length, designs });
      }),
    );
  });

  test("a list of designs alone is a static policy", () => {
    expect(decodeText({ designs: [[1, 2]] })).toEqual({ kind: "static", horizon: 1, designs: [[1, 2]] });
  });

  test("and a static one reads like a list of designs", () => {
    const text = textOf(
      encodePolicy({
        kind: "static",
        horizon: 2,
        ...record,
        designs: [
          [1, 2],
          [3, 4],
        ],
      }),
    );
    expect(JSON.parse(text).designs).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(text).toContain("\n    [1, 2],\n    [3, 4]\n");
  });

  test("and gives the same designs", async () => {
    const stream = seededStream(3);
    const before = await dadPolicy(location, 4, network).next(history, stream);
    const after = await policyOf(decodePolicy(encodePolicy(dad)), location).next(history, stream);
    expect([...after]).toEqual([...before]);
  });
});

describe("a network's file", () => {
  const whole = encodePolicy(dad);

  test("keeps every kind of scale, and refuses what is none", () => {
    const designs = [
      { kind: "between", low: 1, high: 365 },
      { kind: "above", low: -2, unit: 4 },
      { kind: "below", high: 7, unit: 0.5 },
      { kind: "values", values: [0, 1, 5] },
      { kind: "free", centre: 3, unit: 2 },
    ] as const;
    // 6 inputs and 2 + 2 hidden, 3 hidden and 7 outputs: three for the variable with values.
    const parameters = new Float32Array(7 * 2 + 3 * 2 + (3 * 3 + 4 * 7)).fill(0.5);
    const file: DadPolicyFile = { ...dad, network: { ...network, designs, parameters } };
    expect(decodePolicy(encodePolicy(file))).toEqual(file);
    const tried = (wrong: unknown) =>
      decodePolicy(encodePolicy({ ...dad, network: { ...network, designs: wrong as typeof designs } }), "p");
    expect(() => tried([{ kind: "between", low: 3, high: 1 }])).toThrow(
      policyFileTexts.field("p", "network.designs.high", "above low"),
    );
    expect(() => tried([{ kind: "above", low: 3, unit: 0 }])).toThrow(
      policyFileTexts.field("p", "network.designs.unit", "above 0"),
    );
    expect(() => tried([{ kind: "odd" }])).toThrow(
      policyFileTexts.field("p", "network.designs.kind", "free, between, above, below or values"),
    );
  });

  test("has the checksum of zip and PNG", () => {
    expect(crc32(bytesOf("123456789"))).toBe(0xcbf43926);
  });

  test("is refused wherever it is cut", () => {
    for (let length = 1; length < whole.length; length++) {
      expect(() => decodePolicy(whole.subarray(0, length), "p")).toThrow(/^p is (cut short|damaged)/);
    }
    const half = whole.subarray(0, whole.length - 10);
    expect(() => decodePolicy(half, "p")).toThrow(
      new InputError("policy-file", policyFileTexts.cutShort("p", half.length, whole.length)),
    );
  });

  test("is refused with any bit changed", () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(7), (at, bit) => {
        const changed = whole.slice();
        changed[at] ^= 1 << bit;
        expect(() => decodePolicy(changed)).toThrow(InputError);
      }),
    );
  });

  test("is refused with bytes behind it, or with weights that its shape does not have", () => {
    expect(() => decodePolicy(Uint8Array.of(...whole, 0), "p")).toThrow(policyFileTexts.corrupt("p"));
    const fewer = encodePolicy({ ...dad, network: { ...network, parameters: new Float32Array(5) } });
    expect(() => decodePolicy(fewer, "p")).toThrow(
      policyFileTexts.field("p", "the number of weights", String(WEIGHTS)),
    );
  });
});

describe("what is no policy gets one sentence", () => {
  const format = { format: "fairbed policy", version: 1 };
  test.each([
    ["", policyFileTexts.empty("f.json")],
    ["[[1, 2]]", policyFileTexts.notPolicy("f.json")],
    ['{"a": 1}', policyFileTexts.notPolicy("f.json")],
    ['{"designs": [[1, NaN]]}', policyFileTexts.notANumber("f.json")],
    ['{"designs": [[-Infinity, 1]]}', policyFileTexts.notANumber("f.json")],
    [{ designs: [] }, policyFileTexts.noDesigns("f.json")],
    [{ designs: 3 }, policyFileTexts.noDesigns("f.json")],
    [{ designs: [[1, 2], 3] }, policyFileTexts.notADesign("f.json", 2)],
    [{ designs: [[1, null]] }, policyFileTexts.notFinite("f.json", 1, null)],
    [{ designs: [[1, "2"]] }, policyFileTexts.notFinite("f.json", 1, "2")],
    [{ ...format, version: 3, designs: [[1]] }, policyFileTexts.version("f.json", 3)],
    [{ ...format, kind: "oracle", horizon: 1 }, policyFileTexts.kind("f.json", "oracle")],
    [
      { ...format, kind: "random", horizon: 0 },
      policyFileTexts.field("f.json", "horizon", "a whole number of at least 1"),
    ],
    [
      { ...format, kind: "random", horizon: 1, distribution: { mean: 0, sd: -1 } },
      policyFileTexts.field("f.json", "distribution.sd", "above 0"),
    ],
    [
      { ...format, kind: "dad", horizon: 1, network: {} },
      policyFileTexts.field("f.json", "a network", "in a file with weights"),
    ],
    [{ designs: [[1]], model: 3 }, policyFileTexts.field("f.json", "model", "an object")],
  ])("%j", (given, message) => {
    expect(() => decodeText(given)).toThrow(InputError);
    expect(() => decodeText(given)).toThrow(message);
  });

  test("JSON that is cut short", () => {
    expect(() => decodeText("age,sex\n3,1")).toThrow(policyFileTexts.notJson("f.json"));
    for (const cut of ['{"designs": [[1, 2', '{"designs": [[1, 2]]', '{ "format": "fairbed pol', "{"]) {
      expect(() => decodeText(cut)).toThrow(policyFileTexts.cutJson("f.json"));
    }
    expect(() => decodeText('{"designs": [[1, 2],]}')).toThrow(policyFileTexts.notJson("f.json"));
    for (const horizon of [1, 3, "2"]) {
      const changed = {
        kind: "static",
        horizon,
        designs: [
          [1, 2],
          [3, 4],
        ],
      };
      expect(() => decodeText(changed)).toThrow(policyFileTexts.horizon("f.json", horizon, 2));
    }
    expect(() => decodeText("name,diagnosis\nAda,flu\n")).toThrow(/^(?!.*(diagnosis|Ada)).*$/);
  });
});

describe("a policy and a model", () => {
  const designs = (...rows: number[][]): PolicyFile => ({
    kind: "static",
    horizon: rows.length,
    designs: rows,
  });

  test("that it was made for, that differs in its numbers, and that it says nothing about", () => {
    expect(matchModel(dad, locationFinding())).toBe("same");
    expect(matchModel(dad, locationFinding({ priorMean: 0 }))).toBe("differs");
    expect(matchModel(designs([1, 2]), location)).toBe("unknown");
  });

  test("that is another one", () => {
    expect(() => matchModel(dad, linearGaussian(), "p")).toThrow(
      new InputError("other-model", policyFileTexts.otherModel("p", "location", "linear-gaussian")),
    );
    expect(() => policyOf(dad, locationFinding({ sources: 2 }))).toThrow(
      /was made for the model location \(theta/,
    );
  });

  test("with another number of variables", () => {
    expect(() => policyOf(designs([1, 2], [3]), location, "p")).toThrow(
      new InputError("designs", policyFileTexts.width("p", 2, 1, ["x", "y"])),
    );
  });

  test("whose bounds it leaves", () => {
    expect(() => policyOf(designs([2], [99]), pharmacokinetics(), "p")).toThrow(
      new InputError("designs", policyFileTexts.outside("p", 2, "time", 99, "0.1 to 24")),
    );
  });
});
