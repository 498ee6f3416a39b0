/** What a page says and draws of an audit, while it runs and when it is done. */
import { describe, expect, test } from "vitest";
import { NATS } from "../../src/core/information-unit.js";
import { seededStream } from "../../src/core/random.js";
import { type AttributeSoFar, allOf, withFinding } from "../../src/report/audit-so-far.js";
import {
  answerOf,
  auditPictures,
  auditSummaryTexts,
  groupsShown,
  originOf,
} from "../../src/report/audit-summary.js";
import { renderSvg } from "../../src/report/render.js";
import { tableOf } from "../../src/tables/table-of.js";
import { type AuditFinding, auditTable } from "../../src/workflows/audit-table.js";

const people = (error: number, rows = 150) => {
  const stream = seededStream("summary");
  return tableOf(
    Array.from({ length: rows }, () => {
      const sex = stream.integer(2);
      return {
        sex: "fm"[sex],
        copy: stream.uniform() < error ? 1 - sex : sex,
        noise: stream.uniform(),
        hired: stream.uniform() < 0.3 + 0.3 * sex ? "yes" : "no",
      };
    }),
  );
};

const audited = async (error: number) => {
  const states: (readonly AttributeSoFar[])[] = [[]];
  const found: AuditFinding[] = [];
  const audit = await auditTable(people(error), {
    target: "hired=yes",
    sensitive: ["sex"],
    adversaries: ["logistic", "lookup"],
    plants: 2,
    permutations: 99,
    onFound: (each) => {
      found.push(each);
      states.push(withFinding(states[states.length - 1], each));
    },
  });
  return { audit, found, states };
};

/** The figures of the sketch: 0.096 nats of ln 3 = 1.099 nats are 8.7 %. */
const compas = (columns: readonly [string, number][], more: object = {}): AttributeSoFar => {
  const interval = [0.076, 0.116] as const;
  const adversary = {
    name: "forest",
    nats: 0.096,
    interval,
    standardError: 0.01,
    heldOut: 0.09,
    strength: 1,
  };
  const figures = {
    nats: 0.096,
    interval,
    standardError: 0.01,
    heldOut: { nats: 0.09, interval },
    pValue: 0.0001,
    detectable: 0.004,
    entropy: Math.log(3),
    winner: "forest",
    adversaries: [adversary],
    notes: [],
    ...more,
  };
  return {
    name: "race",
    level: 0.95,
    positive: "yes",
    groups: [],
    leftOut: [],
    unconditional: { adversaries: [adversary], figures },
    conditional: { adversaries: [adversary], figures },
    columns: columns.map(([name, nats]) => ({
      name,
      alone: { nats, interval },
      shuffled: { nats, interval },
      without: undefined,
      proxy: nats > 0,
    })),
    parity: undefined,
  };
};

describe("the answer", () => {
  test("is how much a record narrows it down, and where from", () => {
    expect(
      answerOf(
        compas([
          ["decile_score", 0.06],
          ["priors_count", 0.04],
          ["age", 0.01],
        ]),
      ),
    ).toBe(
      "Knowing a record narrows down race by 0.096 nats (0.076 to 0.116), 8.7 % of all there is to know. Most of it comes from decile_score and priors_count.",
    );
    expect(answerOf(compas([["decile_score", 0.06]]), { givenTarget: true })).toBe(
      "Once the target is known, knowing a record narrows down race by 0.096 nats (0.076 to 0.116), 8.7 % of all there is to know.",
    );
    // 0.096 / ln 2
    expect(answerOf(compas([]), { bits: true })).toContain("by 0.138 bits (0.110 to 0.167), 8.7 %");
  });

  test("says most of it only where one column alone is half of it", () => {
    const of = (...columns: [string, number][]) => originOf(compas(columns));
    expect(of(["a", 0.05])).toBe("Most of it comes from a.");
    expect(of(["a", 0.05], ["b", 0.03], ["c", 0.026], ["d", 0.025])).toBe(
      "Most of it comes from a, b and c.",
    );
    expect(of(["a", 0.04], ["b", 0.03])).toBe("It comes from many columns; by themselves a and b say most.");
    expect(of(["a", 0.04], ["b", 0.01])).toBe("It comes from many columns; by itself a says most.");
    expect(of(["a", 0], ["b", 0])).toBe(auditSummaryTexts.noColumn("race"));
    expect(of()).toBe("");
  });

  test("is not none without the smallest that would have been found", () => {
    const none = answerOf(compas([["a", 0.05]], { pValue: 0.43 }));
    expect(none).toContain("No sign was found that knowing a record narrows down race (p = 0.430).");
    expect(none).toContain("a leakage of 0.0040 nats per record would be detected four times out of five");
    expect(none).not.toContain("comes from");
    expect(answerOf(compas([], { pValue: 0.43, detectable: undefined }))).toContain(
      "so this does not mean that there is none",
    );
  });

  test("fills in while the audit runs", async () => {
    const { audit, states, found } = await audited(0.1);
    const said = states.slice(1).map(([sex]) => answerOf(sex));
    const last = answerOf(allOf(audit.attributes[0]));
    expect(said[0]).toBe(auditSummaryTexts.begins("sex"));
    const first = audit.attributes[0].audit.leakage.unconditional.adversaries[0];
    expect(said[1]).toBe(auditSummaryTexts.soFar(NATS, first, 1, "sex", false));
    expect(said[2]).toContain("So far the best of 2 adversaries narrows sex down by ");
    // The leakage is there, and then the columns; nothing of it changes any more.
    const finished = found.findIndex(({ kind }) => kind === "leakage");
    expect(last.startsWith(said[finished])).toBe(true);
    expect(said[finished]).not.toContain("comes from");
    expect(new Set(said.slice(finished + 1))).toEqual(new Set([last]));
    expect(last).toMatch(/Most of it comes from copy\.$/);
    const given = states.slice(1).map(([sex]) => answerOf(sex, { givenTarget: true }));
    expect(given[finished]).toBe(auditSummaryTexts.begins("sex"));
    expect(
      given.some((text) => text.startsWith("So far the best of 2 adversaries, told the target, narrows sex")),
    ).toBe(true);
    expect(given[given.length - 1]).toMatch(/^Once the target is known, /);
  });
});

describe("what is known so far", () => {
  test("is in the end what the finished audit says", async () => {
    const { audit, states, found } = await audited(0.1);
    const before = structuredClone(states[3]);
    expect(states[states.length - 1]).toStrictEqual(audit.attributes.map(allOf));
    expect(states[3]).toStrictEqual(before);
    // Kept without its records, it says the same.
    const kept = structuredClone(audit.attributes[0]);
    const { records, ...figures } = kept.audit.leakage.unconditional;
    const leakage = { ...kept.audit.leakage, unconditional: figures };
    expect(allOf({ ...kept, audit: { ...kept.audit, leakage } })).toStrictEqual(allOf(kept));
    // An audit that is begun again begins with its groups.
    const again = withFinding(states[states.length - 1], found[0]);
    expect(again).toStrictEqual(states[1]);
    expect(withFinding([], found[1])).toEqual([]);
    expect(withFinding(states[1], { ...found[1], table: "second" })).toBe(states[1]);
  });
});

describe("the pictures", () => {
  test("are drawn as soon as there is something to draw", async () => {
    const { audit, states, found } = await audited(0.1);
    const drawn = states.slice(1).map(([sex]) => {
      const pictures = Object.entries(auditPictures(sex));
      return pictures.flatMap(([name, picture]) => (picture === undefined ? [] : [name])).join(" ");
    });
    const from = (kind: AuditFinding["kind"]) => drawn[found.findIndex((each) => each.kind === kind)];
    expect(from("groups")).toBe("baseRates");
    expect(from("adversary")).toBe("baseRates adversaries");
    expect(from("columns")).toBe("baseRates adversaries columns");
    expect(from("parity")).toBe("baseRates adversaries columns gaps");
    for (const state of [states[2], states[states.length - 1], audit.attributes.map(allOf)]) {
      for (const picture of Object.values(auditPictures(state[0], { bits: true }))) {
        if (picture === undefined) continue;
        const svg = await renderSvg(picture.specification);
        expect(svg).toContain("<svg");
        expect(svg).not.toMatch(/NaN|undefined|Infinity/);
        expect(picture.caption).not.toBe("");
      }
    }
    const { adversaries } = auditPictures(states[2][0], { bits: true });
    expect(JSON.stringify(adversaries?.specification)).toContain("bits per record");
  });

  test("show the largest of many groups, and say who is not there", () => {
    const groups = Array.from({ length: 45 }, (_, at) => ({
      name: `g${at}`,
      rows: 100 + at,
      share: 1 / 45,
      baseRates: [{ target: "yes", rate: 0.5, interval: [0.4, 0.6] as const }],
      testRows: undefined,
    }));
    expect(groupsShown(groups).others.map(({ name }) => name)).toEqual(["g0", "g1", "g2", "g3", "g4"]);
    const { baseRates } = auditPictures({ ...compas([]), groups });
    expect(baseRates?.caption).toContain(
      "Left out (too few rows, or the smallest of many): g0, g1, g2, g3, g4.",
    );
  });
});
