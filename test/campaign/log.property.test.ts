/** Whatever happens in whatever order: the log folds to one state, and every decision in it can be computed again. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { backupLines, restoreCampaign } from "../../src/campaign/backup.js";
import { Campaign } from "../../src/campaign/campaign.js";
import { sealEvent } from "../../src/campaign/chain.js";
import type { EventDraft, LogEvent } from "../../src/campaign/events.js";
import { type LoadedCampaign, loadCampaign } from "../../src/campaign/loaded-campaign.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { replayCampaign } from "../../src/campaign/replay.js";
import { statusOf } from "../../src/campaign/status.js";
import { verifyCampaign } from "../../src/campaign/verify.js";
import { InputError } from "../../src/core/errors.js";
import { answerOf, handClock, people, ROLES } from "./people.js";

const ROWS = 26;
const item = fc.integer({ min: 0, max: ROWS - 1 }).map((i) => `p${i}`);
const annotator = fc.constantFrom("", "ann", "bob", "cy");
const label = fc.constantFrom("yes", "no");

type Step =
  | {
      readonly do: "ask";
      readonly count: number;
      readonly annotator: string;
      readonly again: boolean;
      readonly adjudicate: boolean;
    }
  | { readonly do: "answer"; readonly which: number; readonly label: string }
  | {
      readonly do: "tell";
      readonly id: string;
      readonly label: string;
      readonly annotator: string;
      readonly event: string | undefined;
    }
  | {
      readonly do: "refuse" | "sensitive" | "skip" | "retract" | "adjudicate";
      readonly id: string;
      readonly annotator: string;
    }
  | { readonly do: "withdraw"; readonly id: string }
  | { readonly do: "pass"; readonly seconds: number }
  | { readonly do: "configure"; readonly opinions: number; readonly randomPart: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("ask" as const),
      count: fc.integer({ min: 1, max: 3 }),
      annotator,
      again: fc.boolean(),
      adjudicate: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("answer" as const), which: fc.nat(20), label }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("tell" as const),
      id: item,
      label,
      annotator,
      event: fc.option(fc.constantFrom("e1", "e2", "e3"), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "refuse" as const,
        "sensitive" as const,
        "skip" as const,
        "retract" as const,
        "adjudicate" as const,
      ),
      id: item,
      annotator,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("withdraw" as const), id: item }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("pass" as const), seconds: fc.integer({ min: -100, max: 200 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("configure" as const),
      opinions: fc.integer({ min: 1, max: 3 }),
      randomPart: fc.constantFrom(0.25, 0.5, 1),
    }),
  },
);

/** All that can be known of a campaign; when its ranking was made is no part of it. */
const stateOf = (now: LoadedCampaign) => {
  const { content, settings, generation, withdrawn } = now;
  if (content.kind !== "pool") throw new Error("a pool");
  const { hash: _, events: __, lastEventAt: ___, ...status } = statusOf(now, now.head.at, null);
  return {
    status,
    settings,
    generation,
    withdrawn,
    soFar: content.state.soFar(now.head.at, content.rowOf),
    open: content.state.openCount(now.head.at),
  };
};

const asIfRefused = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    // Nobody of that id, nothing to take back, an event id of another answer: all are answers too.
    if (!(error instanceof InputError)) throw error;
  }
};

test("any steps of several handles fold to one state, survive a move, and are replayed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(2), step), { maxLength: 40 }),
      fc.nat(5),
      async (steps, seed) => {
        const clock = handClock();
        const store = memoryStore();
        const table = people({ rows: ROWS, labelled: 5 });
        const open = { clock: clock.now };
        const first = await Campaign.create(
          store,
          "hiring",
          { table, acquisition: ROLES, seed, lease: 60, budget: 18 },
          open,
        );
        const handles = [
          first,
          await Campaign.open(store, "hiring", open),
          await Campaign.open(store, "hiring", open),
        ];
        const asked: { id: string; annotator: string }[] = [];
        for (const [who, each] of steps) {
          const campaign = handles[who];
          await asIfRefused(async () => {
            switch (each.do) {
              case "ask": {
                const { questions } = await campaign.ask(each.count, {
                  annotator: each.annotator || undefined,
                  again: each.again,
                  adjudicate: each.adjudicate,
                  wait: 5,
                });
                asked.push(...questions.map(({ id, annotator: own }) => ({ id, annotator: own })));
                return;
              }
              case "answer": {
                const question = asked[each.which];
                if (question !== undefined) await campaign.tell({ ...question, label: each.label });
                return;
              }
              case "tell":
                return void (await campaign.tell({
                  id: each.id,
                  label: each.label,
                  annotator: each.annotator,
                  event: each.event,
                }));
              case "refuse":
                return void (await campaign.tell({ id: each.id, refused: true, annotator: each.annotator }));
              case "sensitive":
                return void (await campaign.tell({ id: each.id, sensitive: "f" }));
              case "skip":
                return campaign.skip(each.id, each.annotator);
              case "retract":
                return campaign.retract(each.id, each.annotator);
              case "adjudicate":
                return campaign.adjudicate(each.id, answerOf(each.id), each.annotator);
              case "withdraw":
                return void (await campaign.withdraw(each.id));
              case "pass":
                return clock.pass(each.seconds);
              case "configure":
                return void (await campaign.configure({
                  opinions: each.opinions,
                  acquisition: { randomPart: each.randomPart },
                }));
            }
          });
        }
        for (const handle of handles) await handle.sync();
        const fresh = await Campaign.open(store, "hiring", open);
        const expected = stateOf(fresh.now);
        for (const handle of handles) {
          expect(handle.head).toEqual(fresh.head);
          expect(stateOf(handle.now)).toEqual(expected);
        }
        expect((await verifyCampaign(store, "hiring")).reason).toBeNull();
        const { decisions, agreeing, erased, differing } = await replayCampaign(store, "hiring");
        expect(differing).toEqual([]);
        expect(agreeing + erased).toBe(decisions);
        const elsewhere = memoryStore();
        let text = "";
        for await (const line of backupLines(store, "hiring")) text += line;
        await restoreCampaign(elsewhere, text);
        const moved = await Campaign.open(elsewhere, "hiring", open);
        expect(moved.head).toEqual(fresh.head);
        expect(stateOf(moved.now)).toEqual(expected);
      },
    ),
    { numRuns: 60, seed: 16 },
  );
}, 120_000);

/** Answers about different people, and a permutation that keeps each one's own order. */
const drafts = fc.array(
  fc.record({
    subject: fc.integer({ min: 0, max: 7 }),
    kind: fc.constantFrom(
      "asked" as const,
      "told" as const,
      "skipped" as const,
      "retracted" as const,
      "adjudicated" as const,
    ),
    annotator,
    label: fc.option(label, { nil: undefined }),
    sensitive: fc.option(fc.constantFrom("f", "m"), { nil: undefined }),
  }),
  { maxLength: 30 },
);

type Drawn = {
  readonly subject: number;
  readonly kind: "asked" | "told" | "skipped" | "retracted" | "adjudicated";
  readonly annotator: string;
  readonly label: string | undefined;
  readonly sensitive: string | undefined;
};

const draftOf = (drawn: Drawn, id: number, place: number): EventDraft => {
  const { subject: item, annotator: own, label: said, sensitive } = drawn;
  const common = { id: `e${id}`, subject: String(item) };
  switch (drawn.kind) {
    case "asked":
      return {
        ...common,
        kind: "asked",
        body: {
          annotator: own,
          reason: "random",
          place,
          until: 2_000_000_000_000,
          drawn: true,
          probability: 0.5,
        },
      };
    case "told":
      return {
        ...common,
        kind: "told",
        body: {
          annotator: own,
          ...(said === undefined ? { refused: true } : { label: said }),
          ...(sensitive === undefined ? {} : { sensitive: { sex: sensitive } }),
        },
      };
    case "adjudicated":
      return { ...common, kind: "adjudicated", body: { annotator: own, label: said ?? "no" } };
    default:
      return { ...common, kind: drawn.kind, body: { annotator: own } };
  }
};

test("any interleaving of what happens to different people folds to the same state", async () => {
  const store = memoryStore();
  await Campaign.create(store, "hiring", { table: people({ rows: ROWS, labelled: 3 }), acquisition: ROLES });
  const items = await store.items("hiring");
  const [created] = await store.read("hiring", 0);
  const fold = (events: readonly EventDraft[]) => {
    const now = loadCampaign("hiring", items, created);
    let last: LogEvent = created;
    for (const each of events) {
      last = sealEvent(last, each, created.at);
      now.apply(last);
    }
    const { generation: _, ...state } = stateOf(now);
    return state;
  };
  fc.assert(
    fc.property(drafts, fc.infiniteStream(fc.nat(7)), (given, order) => {
      const events = given.map((each, i) => draftOf(each, i, i));
      const queues = new Map<string, EventDraft[]>();
      for (const each of events)
        queues.set(each.subject ?? "", [...(queues.get(each.subject ?? "") ?? []), each]);
      const shuffled: EventDraft[] = [];
      for (const at of order) {
        const left = [...queues.values()].filter((queue) => queue.length > 0);
        if (left.length === 0) break;
        const next = left[at % left.length].shift();
        if (next !== undefined) shuffled.push(next);
      }
      expect(fold(shuffled)).toEqual(fold(events));
    }),
    { numRuns: 300, seed: 16 },
  );
});
