/** How far annotators agree, against Krippendorff's formula worked out by hand. */
import { expect, test } from "vitest";
import { agreementOf } from "../../src/campaign/agreement.js";
import { Campaign, campaignTexts } from "../../src/campaign/campaign.js";
import type { LoadedCampaign } from "../../src/campaign/loaded-campaign.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { tableOf } from "../../src/tables/table-of.js";

const pool = (target: (i: number) => string | number | null) =>
  tableOf(Array.from({ length: 12 }, (_, i) => ({ id: `i${i}`, x: i, g: i % 2 ? "a" : "b", y: target(i) })));

const begin = (target = "y=yes", labels: (i: number) => string | number | null = (i) => (i ? null : "yes")) =>
  Campaign.create(memoryStore(), "opinions", {
    table: pool(labels),
    opinions: 3,
    acquisition: { id: "id", target, sensitive: ["g"], method: "random" },
  });

const tell = async (
  campaign: Campaign,
  annotator: string,
  labels: Readonly<Record<string, string | number>>,
) => {
  for (const [id, label] of Object.entries(labels)) {
    await campaign.tell(label === "refused" ? { id, annotator, refused: true } : { id, annotator, label });
  }
};

test("alpha of four items, counts of three annotators", async () => {
  const campaign = await begin();
  await tell(campaign, "ann", { i1: "yes", i2: "yes", i3: "no", i4: "no", i5: "yes", i6: "refused" });
  await tell(campaign, "bob", { i1: "yes", i2: "no", i3: "no", i4: "no" });
  await tell(campaign, "cyd", { i2: "no" });
  const { alpha, interval, units, values, annotators } = agreementOf(campaign.now);
  // Items yes yes | yes no no | no no | no no: coincidences o(yes, no) = 2/2 = 1, n(yes) = 3, n(no) = 6, n = 9.
  expect(alpha).toBeCloseTo(1 - (8 * 1) / (3 * 6), 12);
  expect([units, values]).toEqual([4, 9]);
  expect(interval?.[0]).toBeLessThanOrEqual(alpha ?? 0);
  expect(interval?.[1]).toBe(1);
  expect(annotators).toEqual([
    { annotator: "ann", answers: 5, refused: 1, compared: 4, disagreed: 1 },
    { annotator: "bob", answers: 4, refused: 0, compared: 4, disagreed: 0 },
    { annotator: "cyd", answers: 1, refused: 0, compared: 1, disagreed: 0 },
  ]);
});

test("a settled item is held against what was settled; a disputed one against nothing", async () => {
  const campaign = await begin();
  await tell(campaign, "ann", { i1: "yes", i2: "yes" });
  await tell(campaign, "bob", { i1: "no", i2: "no" });
  await campaign.adjudicate("i1", "no", "boss");
  expect(agreementOf(campaign.now).annotators).toEqual([
    { annotator: "ann", answers: 2, refused: 0, compared: 1, disagreed: 1 },
    { annotator: "bob", answers: 2, refused: 0, compared: 1, disagreed: 0 },
  ]);
});

test("numbers that a threshold is laid on agree by how far they are apart", async () => {
  const campaign = await begin("y>=40", (i) => (i < 2 ? 30 + 20 * i : null));
  await tell(campaign, "ann", { i2: 10, i3: 50 });
  await tell(campaign, "bob", { i2: 11, i3: 50 });
  // Squared differences: 1 within, and between the pairs of all of 10, 11, 50, 50: 1 + 2 * 40 ** 2 + 2 * 39 ** 2.
  expect(agreementOf(campaign.now).alpha).toBeCloseTo(1 - 3 / (1 + 2 * 1600 + 2 * 1521), 12);
});

test("one opinion each, and all the same", async () => {
  const campaign = await begin();
  await tell(campaign, "ann", { i1: "yes", i2: "no" });
  expect(agreementOf(campaign.now)).toMatchObject({ alpha: null, reason: "few-units", units: 0 });
  const alike = await begin();
  for (const annotator of ["ann", "bob"]) await tell(alike, annotator, { i1: "yes", i2: "yes" });
  expect(agreementOf(alike.now)).toMatchObject({ alpha: null, reason: "no-variation", units: 2 });
});

test("a campaign of designs has no annotators", () => {
  const now = { content: { kind: "design" } } as unknown as LoadedCampaign;
  expect(() => agreementOf(now)).toThrow(campaignTexts.wantsPool);
});
