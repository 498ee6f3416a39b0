/** What a data card says, and what it never does: an id, a value of one person, a group of a few by its name. */
import { describe, expect, test } from "vitest";
import { auditCampaign, auditCampaignTexts } from "../../src/campaign/audit-campaign.js";
import { Campaign } from "../../src/campaign/campaign.js";
import { cardNoteTexts } from "../../src/campaign/card-notes.js";
import { type CampaignCard, completeDataCard, dataCard } from "../../src/campaign/data-card.js";
import { dataCardMarkdown, dataCardText } from "../../src/campaign/data-card-text.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { verifyCampaign } from "../../src/campaign/verify.js";
import { identityOf } from "../../src/design/model-catalogue.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import type { PolicyFile } from "../../src/design/policy-file.js";
import { dataCardHtml } from "../../src/report/data-card-page.js";
import { tableOf } from "../../src/tables/table-of.js";
import { estimateTexts } from "../../src/workflows/judged-acquisition.js";
import { seePage } from "../report/seen.js";
import { describeInChromium } from "../setup/chromium.js";
import { handClock } from "./people.js";

const HOSTILE = "<img src=x onerror=alert(1)> | **b**";
const MARKER = "Zaphod-secret";

/** Groups a (60), b (40), two of 3 and 2 that must not be named, one with a name that is markup. */
const groupOf = (i: number): string =>
  i < 60 ? "a" : i < 100 ? "b" : i < 103 ? "Rare-one" : i < 105 ? "Rare-two" : HOSTILE;
const answerOf = (id: string): string => (Number(id.slice(4)) % 3 === 0 ? "yes" : "no");

const begin = (given: object = {}, clock = handClock(Date.UTC(2026, 0, 5, 8))) =>
  Campaign.create(
    memoryStore(),
    "card",
    {
      table: tableOf(
        Array.from({ length: 130 }, (_, i) => ({
          id: `item${i}`,
          x: (i * 7) % 11,
          z: i % 2,
          name: i === 70 ? MARKER : "plain",
          race: groupOf(i),
          hired: i === 0 ? "yes" : i === 1 ? "no" : null,
        })),
      ),
      acquisition: { id: "id", target: "hired=yes", sensitive: ["race"], method: "random" },
      ...given,
    },
    { clock: clock.now },
  );

const answerAll = async (campaign: Campaign, count: number) => {
  const { questions } = await campaign.ask(count);
  for (const { id } of questions) await campaign.tell({ id, label: answerOf(id) });
  return questions.map(({ id }) => id);
};

const formsOf = async (card: CampaignCard): Promise<readonly string[]> => [
  JSON.stringify(card),
  dataCardMarkdown(card),
  dataCardText(card),
  await dataCardHtml(card),
];

describe("a card", () => {
  test("counts, times, settings and their changes are those of the campaign", async () => {
    const clock = handClock(Date.UTC(2026, 0, 5, 8));
    const campaign = await begin({ budget: 50, seed: 3, requirement: { metric: "dp", level: 0.8 } }, clock);
    clock.pass(3600);
    const { questions } = await campaign.ask(12);
    const [refused, corrected, ...others] = questions.map(({ id }) => id);
    await campaign.tell({ id: refused, refused: true });
    await campaign.tell({ id: corrected, label: "yes" });
    await campaign.tell({ id: corrected, label: "no" });
    for (const id of others.slice(0, 7)) await campaign.tell({ id, label: answerOf(id) });
    await campaign.skip(others[7], "ann");
    clock.pass(3600);
    await campaign.configure({ budget: 60, acquisition: { randomPart: 0.5 } });
    const free = Array.from({ length: 30 }, (_, i) => `item${i + 2}`).find(
      (id) => !questions.some((question) => question.id === id),
    );
    await campaign.tell({ id: free ?? "", annotator: "bob", label: "yes" });
    const card = dataCard(campaign, { licence: "CC BY 4.0", contact: "data@example.org" });
    expect(card).toMatchObject({
      name: "card",
      licence: "CC BY 4.0",
      createdAt: "2026-01-05T08:00:00.000Z",
      firstAnswerAt: "2026-01-05T09:00:00.000Z",
      lastAnswerAt: "2026-01-05T10:00:00.000Z",
      purpose: {
        target: "hired=yes",
        sensitive: ["race"],
        method: "random",
        budget: 60,
        seed: 3,
        randomPart: 1,
        requirement: { metric: "dp", level: 0.8 },
      },
      counts: {
        subjects: 130,
        initial: 2,
        asked: 12,
        questions: 12,
        refused: 1,
        corrections: 1,
        skipped: 1,
        unasked: 1,
        withdrawn: 0,
        chosen: 0,
      },
      changes: [
        { at: "2026-01-05T10:00:00.000Z", setting: "budget of labels", from: "50", to: "60" },
        { setting: "random part", to: "0.5" },
      ],
      integrity: { events: campaign.head.seq, hash: campaign.head.hash, verified: null },
    });
    expect(card.counts).toMatchObject({ labelled: 9, drawn: 8, disputed: 0, pending: 3 });
    expect(card.notes).toContain(cardNoteTexts.allDrawn);
    expect(card.notes).toContain(cardNoteTexts.refused(1, 12));
    expect(card.notes).toContain(cardNoteTexts.changed);
  });

  test("groups of a few are not named, and outcomes of a few are not counted", async () => {
    const campaign = await begin();
    const ids = await answerAll(campaign, 128);
    expect(ids.length).toBe(128);
    const [composition] = dataCard(campaign).composition;
    expect(composition).toMatchObject({ attribute: "race", known: 128, unknown: 0 });
    const named = composition.groups.map(({ group }) => group);
    expect(named).toEqual([HOSTILE, "a", "b", "2 groups of fewer than 5 rows each"]);
    const few = composition.groups.find(({ group }) => group.startsWith("2 groups"));
    expect(few).toMatchObject({ count: 5, pool: null });
    const a = composition.groups.find(({ group }) => group === "a");
    // All of the pool were asked but the two that had labels, both of group a.
    expect(a).toMatchObject({ count: 58, share: 58 / 128, pool: 60 / 130 });
    // Drawn one after the other: the i-th counts 1 for each later draw, and as many as were left for its own.
    const weights = ids.map((_, i) => (ids.length - 1 - i + (ids.length - i)) / ids.length);
    const total = (of: (id: string) => boolean) =>
      weights.reduce((sum, weight, i) => sum + (of(ids[i]) ? weight : 0), 0);
    for (const { group, outcome, count, pool } of composition.cells) {
      const isIn = (id: string) => groupOf(Number(id.slice(4))) === group;
      const own = ids.filter(isIn);
      const yes = own.filter((id) => answerOf(id) === "yes").length;
      expect(count).toBe(outcome === "yes" ? yes : own.length - yes);
      const isYes = outcome === "yes";
      expect(pool).toBeCloseTo(
        total((id) => isIn(id) && (answerOf(id) === "yes") === isYes) / total(() => true),
        12,
      );
    }
    expect(new Set(composition.cells.map(({ group }) => group))).toEqual(new Set([HOSTILE, "a", "b"]));
    for (const form of await formsOf(dataCard(campaign))) expect(form).not.toMatch(/Rare-(one|two)/);
  });

  test("a group of which few were asked is not divided by outcome", async () => {
    const campaign = await begin();
    for (let i = 2; i < 30; i++) await campaign.tell({ id: `item${i}`, label: answerOf(`item${i}`) });
    for (let i = 60; i < 67; i++) await campaign.tell({ id: `item${i}`, label: i < 63 ? "yes" : "no" });
    const [composition] = dataCard(campaign).composition;
    expect(composition.groups.find(({ group }) => group === "b")?.count).toBe(7);
    expect(composition.cells.map(({ group }) => group)).toEqual(["a", "a"]);
    expect(composition.undivided).toBe(1);
    // Nobody was asked: there are no weights.
    expect(composition.cells.every(({ pool }) => pool === null)).toBe(true);
    expect(dataCard(campaign).notes).toContain(cardNoteTexts.noneDrawn);
  });

  test("no id, no value and nobody who withdrew is in any form of it", async () => {
    const campaign = await begin({ opinions: 2 });
    for (const annotator of ["Annotator-ann", "Annotator-bob"]) {
      const { questions } = await campaign.ask(60, { annotator });
      for (const { id } of questions) await campaign.tell({ id, annotator, label: answerOf(id) });
    }
    await campaign.tell({ id: "item70", label: "yes" });
    await campaign.withdraw("item70");
    const card = await completeDataCard(campaign, { description: "People." });
    expect(card.counts.withdrawn).toBe(1);
    expect(card.agreement?.units).toBeGreaterThan(1);
    for (const form of await formsOf(card)) {
      expect(form).not.toContain(MARKER);
      expect(form).not.toMatch(/item\d/);
      expect(form).not.toContain("Annotator-");
    }
  }, 120_000);

  test("what is markup in a name is text on the card", async () => {
    const campaign = await begin();
    await answerAll(campaign, 128);
    const card = dataCard(campaign, { description: "# Not a heading\n<script>x</script>" });
    expect(await dataCardHtml(card)).not.toMatch(/<img|<script/);
    const markdown = dataCardMarkdown(card);
    expect(markdown).not.toMatch(/(?<!\\)<img|^# Not/m);
    for (const line of markdown
      .split("\n")
      .filter((each) => each.startsWith("| ") && each.includes("onerror")))
      expect([6, 7]).toContain(line.split(/(?<!\\)\|/).length);
  });

  test("an empty campaign has a card that says so", async () => {
    const campaign = await begin();
    const card = await completeDataCard(campaign);
    expect(card.notes).toEqual([cardNoteTexts.noLabels]);
    expect(card.audit).toEqual({ result: null, reason: auditCampaignTexts.tooFew(2) });
    expect(card.estimate).toEqual({ result: null, reason: estimateTexts.few(0) });
    expect(card.integrity.verified).toBe(true);
    for (const form of await formsOf(card)) expect(form).not.toMatch(/NaN|undefined/);
  });

  test("a log that is not what was written is said to be", async () => {
    const campaign = await begin();
    await answerAll(campaign, 3);
    const verification = await verifyCampaign(campaign.store, campaign.name);
    expect(dataCard(campaign, { verification }).integrity.verified).toBe(true);
    const fault = { where: { seq: 2 }, problem: "content" } as const;
    const damaged = dataCard(campaign, {
      verification: { ...verification, fault, reason: "event 2 was changed" },
    });
    expect(damaged.integrity).toMatchObject({ verified: false, reason: "event 2 was changed" });
    expect(damaged.notes[0]).toBe(cardNoteTexts.damaged);
    await answerAll(campaign, 1);
    // Checked before it grew.
    expect(dataCard(campaign, { verification }).integrity.verified).toBeNull();
  });

  test("a campaign of designs", async () => {
    const model = linearGaussian();
    const policy = {
      kind: "static",
      designNames: model.design.map(({ name }) => name),
      horizon: 2,
      designs: [1, 2].map((value) => model.design.map(() => value)),
      model: identityOf(model),
    } as unknown as PolicyFile;
    const campaign = await Campaign.create(memoryStore(), "dose", { policy }, { model });
    await campaign.ask(1, { participant: "Patient-eve" });
    await campaign.tell({ id: "Patient-eve", outcome: 0.5 });
    const card = await completeDataCard(campaign);
    expect(card).toMatchObject({
      kind: "design",
      agreement: null,
      composition: [],
      counts: { subjects: 1, labelled: 1, questions: 1, asked: 1 },
      purpose: { method: "static", policy: { horizon: 2 } },
    });
    for (const form of await formsOf(card)) {
      expect(form).not.toContain("Patient-eve");
      expect(form).not.toMatch(/NaN|undefined/);
    }
  });
});

test("the audit looks at the features of the pool alone", async () => {
  const campaign = await begin();
  await answerAll(campaign, 120);
  const { audit } = await auditCampaign(campaign);
  expect(audit?.features).toEqual(["x", "z", "name"]);
  expect(audit?.rows).toBe(122);
}, 120_000);

test("an audit can be stopped", async () => {
  const campaign = await begin();
  await answerAll(campaign, 120);
  const stop = new AbortController();
  stop.abort();
  const run = auditCampaign(campaign, { signal: stop.signal });
  await expect(run).rejects.toThrow();
}, 60_000);

describeInChromium("the page in Chromium", (browser) => {
  test("nothing overflows on a desk or on a telephone", async () => {
    const campaign = await begin({ opinions: 2 });
    for (const annotator of ["ann", "bob"]) {
      const { questions } = await campaign.ask(70, { annotator });
      for (const { id } of questions) await campaign.tell({ id, annotator, label: answerOf(id) });
    }
    const card = await completeDataCard(campaign, { licence: "CC BY 4.0" });
    const html = await dataCardHtml(card);
    expect(html).toContain("<svg");
    for (const width of [1200, 375]) {
      const seen = await seePage(browser(), html, width);
      expect(seen.tooWide).toBeLessThanOrEqual(0);
      expect(seen.smallest).toBeGreaterThan(7);
      expect(seen.foreign).toEqual([]);
    }
  }, 120_000);
});
