import { expect, test } from "vitest";
import { backupLines, backupTexts, readBackup, restoreCampaign } from "../../src/campaign/backup.js";
import { Campaign } from "../../src/campaign/campaign.js";
import { type ChainFault, sealEvent } from "../../src/campaign/chain.js";
import type { LogEvent, StoredItem } from "../../src/campaign/events.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import { verifyCampaign, verifyLog, verifyTexts } from "../../src/campaign/verify.js";
import { begin, collect } from "./people.js";

const sample = async (): Promise<{ events: LogEvent[]; items: StoredItem[]; campaign: Campaign }> => {
  const campaign = await begin();
  await collect(campaign, 4, 2);
  await campaign.withdraw("p9");
  await collect(campaign, 2);
  const { store } = campaign;
  return {
    campaign,
    events: [...(await store.read("hiring", 0))],
    items: [...(await store.items("hiring"))],
  };
};

test("a log as it was written checks, erased parts included", async () => {
  const { campaign, events } = await sample();
  const checked = await verifyCampaign(campaign.store, "hiring");
  expect(checked).toMatchObject({
    fault: null,
    reason: null,
    events: events.length,
    items: 120,
    hash: campaign.head.hash,
  });
  expect(checked.erased).toBeGreaterThan(0);
});

const TAMPERED: readonly [
  string,
  (events: LogEvent[], items: StoredItem[]) => void,
  Pick<ChainFault, "problem"> & { readonly where?: unknown },
][] = [
  [
    "a changed label",
    (events) => change(events, 3, { body: (events[3].body ?? "").replace(/yes|no/, "maybe") }),
    { problem: "content" },
  ],
  [
    "a changed subject",
    (events) => change(events, 3, { subject: "77" }),
    { problem: "content", where: { seq: 4 } },
  ],
  [
    "a changed time",
    (events) => change(events, 3, { at: events[3].at + 1 }),
    { problem: "link", where: { seq: 4 } },
  ],
  [
    "a time before the one in front",
    (events) => change(events, 3, { at: 5 }),
    { problem: "time", where: { seq: 4 } },
  ],
  ["a changed kind", (events) => change(events, 3, { kind: "skipped" }), { problem: "link" }],
  ["a removed event", (events) => events.splice(3, 1), { problem: "missing", where: { seq: 4 } }],
  ["a repeated event", (events) => events.splice(3, 0, events[2]), { problem: "order" }],
  [
    "events that changed places",
    (events) => events.splice(2, 2, events[3], events[2]),
    { problem: "missing" },
  ],
  [
    "an event put in between, resealed",
    (events) => {
      const added = sealEvent(
        events[2],
        { kind: "skipped", id: "x", subject: "9", body: { annotator: "" } },
        events[2].at,
      );
      events.splice(3, 1, added);
    },
    { problem: "link", where: { seq: 5 } },
  ],
  [
    "a body that is gone without its salt",
    (events) => change(events, 3, { body: null }),
    { problem: "erased", where: { seq: 4 } },
  ],
  ["no creation", (events) => events.shift(), { problem: "missing", where: { seq: 1 } }],
  [
    "a changed cell",
    (_, items) => change(items, 5, { cells: `${(items[5].cells ?? "").replace("f", "m")} ` }),
    { problem: "content", where: { item: 5 } },
  ],
  [
    "a changed id",
    (_, items) => change(items, 5, { id: "p500" }),
    { problem: "content", where: { item: 5 } },
  ],
  ["a missing item", (_, items) => items.pop(), { problem: "count", where: "items" }],
  [
    "an item swapped for another with its digest",
    (_, items) => change(items, 5, { ...items[6], item: 5 }),
    { problem: "content", where: "items" },
  ],
];

const change = <Each>(list: Each[], at: number, changes: Partial<Each>): void => {
  list[at] = { ...list[at], ...changes };
};

test.each(TAMPERED)("finds %s, and says where", async (_, tamper, expected) => {
  const { events, items } = await sample();
  tamper(events, items);
  const { fault, reason } = verifyLog(events, items);
  expect(fault).toMatchObject(expected);
  expect(reason).toBe(fault && verifyTexts.fault(fault));
});

test("a log whose end was cut off is found by the head that the store keeps", async () => {
  const { campaign } = await sample();
  const { store } = campaign;
  const events = await store.read("hiring", 0);
  const cut = {
    ...store,
    read: async (name: string, after: number) => (await store.read(name, after)).slice(0, -1),
  };
  expect((await verifyCampaign(cut, "hiring")).fault).toEqual({
    where: { seq: events.length },
    problem: "missing",
  });
});

test("a backup in another store has the same hash and the same state, and goes on", async () => {
  const { campaign } = await sample();
  let text = "";
  for await (const line of backupLines(campaign.store, "hiring")) text += line;
  const elsewhere = memoryStore();
  expect(await restoreCampaign(elsewhere, text, "copy")).toMatchObject({
    name: "copy",
    hash: campaign.head.hash,
  });
  const copy = await Campaign.open(elsewhere, "copy");
  const { name: _, ranking: __, ...status } = campaign.status();
  expect(copy.status()).toMatchObject(status);
  await collect(copy, 1);
  await expect(restoreCampaign(elsewhere, text, "copy")).rejects.toThrow(/already/);
});

test("a backup that is damaged or none is refused, and nothing is stored", async () => {
  const { campaign } = await sample();
  let text = "";
  for await (const line of backupLines(campaign.store, "hiring")) text += line;
  const store = memoryStore();
  const lines = text.trimEnd().split("\n");
  const refused = async (given: string, reason: RegExp | string) =>
    expect(restoreCampaign(store, given)).rejects.toThrow(reason);
  await refused("", backupTexts.format);
  await refused("{}\n", backupTexts.format);
  await refused("id,label\n1,yes\n", backupTexts.format);
  await refused(lines.slice(0, -1).join("\n"), backupTexts.count);
  await refused([...lines.slice(0, 5), "{", ...lines.slice(6)].join("\n"), backupTexts.line(6));
  await refused([...lines.slice(0, 5), "{}", ...lines.slice(6)].join("\n"), backupTexts.line(6));
  await refused(text.replace(/\\"label\\":\\"(yes|no)/, '\\"label\\":\\"maybe'), /not what was written/);
  expect(await store.list()).toEqual([]);
  expect(readBackup(text).events.length).toBe(campaign.head.seq);
});
