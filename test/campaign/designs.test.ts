import { describe, expect, test } from "vitest";
import { Campaign, campaignTexts } from "../../src/campaign/campaign.js";
import { designTexts } from "../../src/campaign/design-state.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { answerTexts } from "../../src/campaign/pool-answers.js";
import { replayCampaign } from "../../src/campaign/replay.js";
import { InputError } from "../../src/core/errors.js";
import { identityOf } from "../../src/design/model-catalogue.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { runPolicy } from "../../src/workflows/run-policy.js";
import { handClock } from "./people.js";

const model = linearGaussian();
const fixed = {
  kind: "static",
  horizon: 3,
  designs: [
    [1, 0],
    [0, 1],
    [1, 1],
  ],
  model: identityOf(model),
} as const;
const drawn = { kind: "random", horizon: 3, model: identityOf(model) } as const;

const begin = (policy: typeof fixed | typeof drawn = fixed, clock = handClock()) =>
  Campaign.create(memoryStore(), "designs", { policy, lease: 60, seed: 3 }, { clock: clock.now });

describe("a campaign of designs", () => {
  test("takes every participant through the policy, with designs that differ from those asked", async () => {
    const campaign = await begin();
    const first = (await campaign.ask(1, { participant: "ann" })).questions[0];
    expect(first).toMatchObject({ id: "ann", step: 0, design: { x: 1, y: 0 }, reason: "policy" });
    expect((await campaign.tell({ id: "ann", outcome: 0.4 }))[0]).toMatchObject({
      status: "answer",
      unasked: false,
    });
    const other = (await campaign.ask(1, { participant: "bob" })).questions[0];
    expect(other).toMatchObject({ id: "bob", step: 0 });
    const second = (await campaign.ask(1, { participant: "ann" })).questions[0];
    expect(second).toMatchObject({ step: 1, design: { x: 0, y: 1 } });
    await campaign.tell({ id: "ann", outcome: 0.1, design: { x: 0.5, y: 1 } });
    await campaign.ask(1, { participant: "ann" });
    await campaign.tell({ id: "ann", outcome: 0.2 });
    expect((await campaign.ask(1, { participant: "ann" })).notes).toEqual([campaignTexts.done(3)]);
    const { content } = campaign.now;
    const history = content.kind === "design" ? content.state.participant("ann")?.history : undefined;
    expect(history?.map(({ design }) => design)).toEqual([
      { x: 1, y: 0 },
      { x: 0.5, y: 1 },
      { x: 1, y: 1 },
    ]);
    expect(campaign.status().counts).toMatchObject({ subjects: 2, labelled: 3, pending: 1, open: 3 });
    const { agreeing, decisions } = await replayCampaign(campaign.store, "designs");
    expect([agreeing, decisions]).toEqual([4, 4]);
  });

  test("gives the designs that runPolicy gives, to each participant their own", async () => {
    const campaign = await begin(drawn);
    const seen: unknown[] = [];
    for (const participant of ["ann", "bob"]) {
      const { content } = campaign.now;
      if (content.kind !== "design") throw new Error("designs");
      const session = runPolicy(model, drawn, { seed: content.seedOf(participant) });
      for (let i = 0; i < 3; i++) {
        const [{ design }] = (await campaign.ask(1, { participant })).questions;
        expect(design).toEqual(await session.next());
        session.tell(i);
        await campaign.tell({ id: participant, outcome: i });
        seen.push(design);
      }
    }
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(6);
    expect((await replayCampaign(campaign.store, "designs")).agreeing).toBe(6);
  });

  test("does not ask again before the lease is over; then it is the same design", async () => {
    const clock = handClock();
    const campaign = await begin(drawn, clock);
    const [{ design }] = (await campaign.ask(1, { participant: "ann" })).questions;
    expect(await campaign.ask(1, { participant: "ann" })).toMatchObject({
      questions: [],
      notes: [campaignTexts.waiting],
    });
    clock.pass(61);
    expect((await campaign.ask(1, { participant: "ann" })).questions[0].design).toEqual(design);
    expect((await replayCampaign(campaign.store, "designs")).agreeing).toBe(2);
  });

  test("corrections, repeats, event ids and outcomes nobody asked for", async () => {
    const campaign = await begin();
    expect((await campaign.tell({ id: "ann", outcome: 1, design: [2, 2], event: "e" }))[0]).toMatchObject({
      status: "answer",
      unasked: true,
    });
    expect((await campaign.tell({ id: "ann", outcome: 1, design: [2, 2], event: "e" }))[0].status).toBe(
      "duplicate",
    );
    await expect(campaign.tell({ id: "ann", outcome: 2, design: [2, 2], event: "e" })).rejects.toThrow(
      answerTexts.eventTaken,
    );
    expect((await campaign.tell({ id: "ann", outcome: 1, step: 0 }))[0].status).toBe("same");
    expect((await campaign.tell({ id: "ann", outcome: 3, step: 0 }))[0].status).toBe("correction");
    expect(campaign.status().counts).toMatchObject({ labelled: 1, corrections: 1, unasked: 1 });
    await expect(campaign.tell({ id: "ann", outcome: 3, step: 2 })).rejects.toThrow(designTexts.step(2, 1));
    await expect(campaign.tell({ id: "ann", outcome: 3 })).rejects.toThrow(designTexts.noDesign);
    await expect(campaign.tell({ id: "ann", label: "yes" })).rejects.toThrow(designTexts.outcome);
    await expect(campaign.tell({ id: "ann", outcome: Number.NaN, design: [1, 1] })).rejects.toThrow(
      InputError,
    );
  });

  test("a participant withdraws with all observations", async () => {
    const campaign = await begin();
    await campaign.ask(1, { participant: "marker-ann" });
    await campaign.tell({ id: "marker-ann", outcome: 0.123456 });
    expect(await campaign.withdraw("marker-ann")).toEqual({ events: 2 });
    const all = JSON.stringify(await campaign.store.read("designs", 0));
    expect([all.includes("marker-ann"), all.includes("0.123456")]).toEqual([false, false]);
    expect(campaign.status().counts).toMatchObject({ subjects: 0, withdrawn: 1, labelled: 0 });
    await expect(campaign.withdraw("marker-ann")).rejects.toThrow(campaignTexts.nobody);
  });

  test("what is about a pool is refused, and a policy of another model too", async () => {
    const campaign = await begin();
    await expect(campaign.skip("ann")).rejects.toThrow(campaignTexts.wantsPool);
    await expect(campaign.configure({ acquisition: { beta: 1 } })).rejects.toThrow(InputError);
    const other = { ...fixed, model: { ...fixed.model, name: "nowhere" } };
    await expect(Campaign.create(memoryStore(), "x", { policy: other })).rejects.toThrow(InputError);
  });
});
