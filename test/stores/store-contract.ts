/**
 * What every store of campaigns does, as cases that run anywhere: in a test and in a page. A case throws where a store
 * does otherwise.
 */
import { checkEvents, erasedEvent, erasedItem, sealItem } from "../../src/campaign/chain.js";
import { EMPTY_LOG, headOf, type LogEvent, type LogHead } from "../../src/campaign/events.js";
import { LONGEST_KEY, storableTexts } from "../../src/campaign/storable-text.js";
import { type CampaignStore, storeTexts } from "../../src/campaign/store.js";
import { itemsOf, logOf, numbered, skipped } from "./sample-log.js";

export interface ContractCase {
  readonly name: string;
  /** `open` gives one more handle of the same store, which is empty at first; they are closed afterwards. */
  run(open: () => Promise<CampaignStore>): Promise<void>;
  /** Of stores that outlive a program: memory has but one handle, and takes whatever it is given. */
  readonly lasting?: true;
}

/** With the names of properties in one order, so that only what they hold is compared. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part === undefined
        ? "undefined"
        : part,
  );

const same = (actual: unknown, expected: unknown, what: string): void => {
  const [found, wanted] = [textOf(actual), textOf(expected)];
  if (found !== wanted) throw new Error(`${what}: ${found.slice(0, 500)} instead of ${wanted.slice(0, 500)}`);
};

const refused = async (action: () => Promise<unknown>, message: string): Promise<void> => {
  let said = "nothing";
  try {
    await action();
  } catch (error) {
    said = error instanceof Error ? error.message : String(error);
  }
  if (!said.includes(message)) throw new Error(`"${said}" instead of "${message}"`);
};

const append = (
  store: CampaignStore,
  name: string,
  make: (head: LogHead) => readonly LogEvent[],
): Promise<void> => store.transact(name, 0, ({ head }) => ({ append: make(head) }));

const endOf = (log: readonly LogEvent[]): LogHead => {
  const last = log.at(-1);
  return last === undefined ? EMPTY_LOG : headOf(last);
};

export const contract: readonly ContractCase[] = [
  {
    name: "campaigns are created, listed in the order of their names, and deleted",
    async run(open) {
      const store = await open();
      same(await store.list(), [], "an empty store");
      const logs = new Map(["b", "a", "B-2", "a_1"].map((name) => [name, logOf([name, "second"])]));
      for (const [name, log] of logs) await store.create(name, [], log);
      const listed = ["B-2", "a", "a_1", "b"].map((name) => ({ name, head: endOf(logs.get(name) ?? []) }));
      same(await store.list(), listed, "the list");
      await store.delete("a");
      same(
        (await store.list()).map(({ name }) => name),
        ["B-2", "a_1", "b"],
        "the list without a",
      );
      same(await store.read("b", 0), logs.get("b"), "another campaign");
      await store.create("a", itemsOf(1), logOf(["new"]));
      same((await store.read("a", 0)).length, 1, "a new campaign of the same name");
      same(await store.items("a_1"), [], "items of a campaign without");
    },
  },
  {
    name: "a name that is taken, unknown or none is refused",
    async run(open) {
      const store = await open();
      const log = logOf(["one"]);
      await store.create("here", itemsOf(2), log);
      await refused(() => store.create("here", [], logOf(["other"])), storeTexts.taken("here"));
      same(await store.read("here", 0), log, "the log of the first");
      same((await store.items("here")).length, 2, "the items of the first");
      for (const name of ["", "a b", "../x", "a".repeat(65)]) {
        await refused(() => store.create(name, [], log), storeTexts.name(name));
      }
      for (const name of ["gone", "HERE", "a b", "a\0"]) {
        const message = storeTexts.unknown(name);
        await refused(() => store.delete(name), message);
        await refused(() => store.items(name), message);
        await refused(() => store.read(name, 0), message);
        await refused(() => store.transact(name, 0, () => ({ append: [] })), message);
      }
    },
  },
  {
    name: "items come back in their order",
    async run(open) {
      const store = await open();
      const items = itemsOf(12);
      await store.create("c", items, logOf(["one"]));
      await store.create("other", itemsOf(3), logOf(["one"]));
      same(await store.items("c"), items, "the items");
    },
  },
  {
    name: "events are read after one of them, at most so many",
    async run(open) {
      const store = await open();
      const log = logOf(numbered(12));
      await store.create("c", [], log);
      same(await store.read("c", 0), log, "all");
      same(await store.read("c", 9), log.slice(9), "after the ninth");
      same(await store.read("c", 3, 2), log.slice(3, 5), "two after the third");
      same(await store.read("c", 0, Number.POSITIVE_INFINITY), log, "without an end");
      same(await store.read("c", 0, 0), [], "none of them");
      same(await store.read("c", 12), [], "after the last");
      same(await store.read("c", 99), [], "after what is not there");
    },
  },
  {
    name: "transact shows the head and the news, and writes what is decided",
    async run(open) {
      const store = await open();
      const log = logOf(numbered(4));
      await store.create("c", [], log);
      const seen: unknown[] = [];
      const more = logOf(["x", "y"], endOf(log));
      await store.transact("c", 2, ({ head, news }) => {
        seen.push(head, news);
        return { append: more };
      });
      same(seen, [endOf(log), log.slice(2)], "what was seen");
      same(await store.read("c", 0), [...log, ...more], "the log");
      same(await store.list(), [{ name: "c", head: endOf(more) }], "the head");
      await store.transact("c", 6, ({ head, news }) => {
        same([head, news], [endOf(more), []], "no news");
        return { append: [] };
      });
      same(await store.list(), [{ name: "c", head: endOf(more) }], "the head after nothing was appended");
    },
  },
  {
    name: "nothing is written where decide throws, and what it threw is handed on",
    async run(open) {
      const store = await open();
      const log = logOf(["one"]);
      await store.create("c", [], log);
      // As a database would say it: not to be taken for one of its own.
      const thrown = Object.assign(new Error("no, for a reason of its own"), { code: "SQLITE_BUSY" });
      let calls = 0;
      let caught: unknown;
      await store
        .transact("c", 0, () => {
          calls++;
          throw thrown;
        })
        .catch((error: unknown) => {
          caught = error;
        });
      same([calls, caught === thrown], [1, true], "calls, and the same error");
      same(await store.read("c", 0), log, "the log");
      await append(store, "c", (head) => logOf(["two"], head));
      same((await store.read("c", 0)).length, 2, "the log after another try");
    },
  },
  {
    name: "events that do not follow the log, or have an id that is there, are refused whole",
    lasting: true,
    async run(open) {
      const store = await open();
      const log = logOf(["one", "two"]);
      await store.create("c", itemsOf(1), log);
      const next = skipped(endOf(log), "three", "s");
      const faults: readonly (readonly LogEvent[])[] = [
        [skipped(EMPTY_LOG, "three")],
        [{ ...next, seq: 4 }],
        [{ ...next, hash: "00" }],
        [next, skipped(endOf(log), "four")],
        [{ ...next, body: "{}" }],
      ];
      for (const fault of faults) await refused(() => append(store, "c", () => fault), "do not follow");
      await refused(() => append(store, "c", (head) => logOf(["three", "one"], head)), "already");
      await refused(() => store.create("d", [], log.slice(1)), "do not follow");
      await refused(() => store.create("d", itemsOf(1), logOf(["twice", "twice"])), "already");
      same(await store.read("c", 0), log, "the log");
      same((await store.list()).length, 1, "campaigns");
      await store.create("d", itemsOf(1), logOf(["one"]));
      same((await store.read("d", 0)).length, 1, "the same id in another campaign");
    },
  },
  {
    name: "many who write at once, by several handles, lose nothing",
    async run(open) {
      const stores = [await open(), await open(), await open()];
      await stores[0].create("c", [], logOf(["first"]));
      await stores[0].create("d", [], logOf(["first"]));
      const perHandle = 15;
      await Promise.all(
        stores.flatMap((store, handle) =>
          Array.from({ length: perHandle }, async (_, index) => {
            await append(store, "c", (head) => [skipped(head, `${handle}-${index}`, String(handle))]);
            if (index % 5 === 0) await append(store, "d", (head) => [skipped(head, `${handle}-${index}`)]);
            await store.read("c", 0, 3);
          }),
        ),
      );
      const log = await stores[1].read("c", 0);
      same(checkEvents(log), undefined, "the chain");
      const ids = stores.flatMap((_, handle) =>
        Array.from({ length: perHandle }, (__, index) => `${handle}-${index}`),
      );
      same(
        log
          .slice(1)
          .map(({ id }) => id)
          .sort(),
        ids.sort(),
        "the ids",
      );
      same((await stores[2].read("d", 0)).length, 1 + stores.length * 3, "the other campaign");
      same(
        (await stores[2].list()).map(({ head }) => head.seq),
        [1 + ids.length, 1 + 9],
        "the heads",
      );
    },
  },
  {
    name: "of many who create the same name, one does",
    async run(open) {
      const stores = [await open(), await open()];
      const tries = await Promise.allSettled(
        [0, 1, 2, 3, 4, 5].map((index) => stores[index % 2].create("c", itemsOf(index), logOf([`${index}`]))),
      );
      const done = tries.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
      same(done.length, 1, "created");
      for (const outcome of tries) {
        if (outcome.status === "rejected")
          await refused(() => Promise.reject(outcome.reason), storeTexts.taken("c"));
      }
      same(
        (await stores[0].read("c", 0)).map(({ id }) => id),
        [`${done[0]}`],
        "its log",
      );
      same((await stores[1].items("c")).length, done[0], "its items");
    },
  },
  {
    name: "what one handle has written, another one sees",
    async run(open) {
      const writer = await open();
      const reader = await open();
      await writer.create("c", itemsOf(1), logOf(["one"]));
      same((await reader.list()).length, 1, "the list");
      await append(writer, "c", (head) => logOf(["two"], head));
      same(
        (await reader.read("c", 1)).map(({ id }) => id),
        ["two"],
        "the log",
      );
      await writer.putDocument("k", "a", "1");
      same(await reader.getDocument("k", "a"), "1", "a document");
    },
  },
  {
    name: "erasing takes the content of a subject and of an item, and leaves the chain",
    async run(open) {
      const store = await open();
      const log: LogEvent[] = [];
      for (const [id, subject] of [
        ["a", "7"],
        ["b", "8"],
        ["c", "7"],
        ["d", undefined],
      ] as const) {
        log.push(skipped(endOf(log), id, subject));
      }
      const items = itemsOf(9);
      await store.create("c", items, log);
      await store.create("other", items, log);
      const last = skipped(endOf(log), "e", "7");
      await store.transact("c", 0, () => ({ append: [last], erase: { subject: "7", item: 7 } }));
      const expected = [...log.map((event) => (event.subject === "7" ? erasedEvent(event) : event)), last];
      const left = await store.read("c", 0);
      same(left, expected, "the log");
      same(checkEvents(left), undefined, "the chain");
      same(
        await store.items("c"),
        items.map((item) => (item.item === 7 ? erasedItem(item) : item)),
        "the items",
      );
      same(await store.read("other", 0), log, "another campaign");
      same(await store.items("other"), items, "the items of another campaign");
      await store.transact("c", 0, () => ({ append: [], erase: { subject: "8" } }));
      same((await store.read("c", 1, 1))[0]?.body, null, "without an item, and without an event");
      same((await store.items("c"))[8], items[8], "the item of the same number");
      // Many erased ids are no ids twice, and an erased id is free.
      await append(store, "c", (head) => logOf(["a"], head));
      await store.create("copy", await store.items("c"), await store.read("c", 0));
      same(await store.read("copy", 0), await store.read("c", 0), "a copy of an erased log");
    },
  },
  {
    name: "nothing is erased where what is appended is refused",
    lasting: true,
    async run(open) {
      const store = await open();
      const log = [skipped(EMPTY_LOG, "a", "7")];
      await store.create("c", itemsOf(8), log);
      const twice = logOf(["b", "b"], endOf(log));
      await refused(
        () => store.transact("c", 0, () => ({ append: twice, erase: { subject: "7", item: 7 } })),
        "already",
      );
      same(await store.read("c", 0), log, "the log");
      same((await store.items("c"))[7]?.id, "row 7", "the item");
    },
  },
  {
    name: "documents are kept by kind and key",
    async run(open) {
      const store = await open();
      same(await store.getDocument("k", "a"), undefined, "before it is there");
      await store.putDocument("k", "a", "1");
      await store.putDocument("k", "a", '{"two":2}');
      await store.putDocument("l", "a", "3");
      same(await store.getDocument("k", "a"), '{"two":2}', "put twice");
      same(await store.getDocument("l", "a"), "3", "of another kind");
      await store.deleteDocument("k", "a");
      await store.deleteDocument("k", "a");
      same(await store.getDocument("k", "a"), undefined, "deleted");
      same(await store.listDocuments("k"), [], "none left");
      same(await store.listDocuments("never"), [], "of a kind that never was");
      same((await store.listDocuments("l")).length, 1, "the other kind");
    },
  },
  {
    name: "documents have any keys, and are listed in their order, by how they begin",
    async run(open) {
      const store = await open();
      const keys = [
        "",
        " ",
        "%",
        "%a",
        "_",
        "a",
        "a%",
        "a'b",
        'a"b',
        "a/b",
        "ab",
        "a\\",
        "a\n",
        "b",
        "B",
        "ä",
        "é",
        "e\u0301",
      ];
      keys.push("\u{1F600}", "\uFFFD", "\u{1F600}x", "日本", "ａ", "null", "0", "x".repeat(300));
      for (const key of keys) await store.putDocument("odd kind%", key, JSON.stringify(key));
      await store.putDocument("odd kindX", "a", "other");
      const sorted = [...keys].sort();
      for (const prefix of [
        undefined,
        "",
        "a",
        "%",
        "_",
        "a%",
        "é",
        "\u{1F600}",
        "a\\",
        "a'",
        "x".repeat(299),
        "none",
      ]) {
        const expected = sorted
          .filter((key) => key.startsWith(prefix ?? ""))
          .map((key) => ({ kind: "odd kind%", key, body: JSON.stringify(key) }));
        same(await store.listDocuments("odd kind%", prefix), expected, `keys that begin with ${prefix}`);
      }
      for (const key of keys)
        same(await store.getDocument("odd kind%", key), JSON.stringify(key), `the key ${key}`);
    },
  },
  {
    name: "deleting a campaign deletes the documents whose key is its name",
    async run(open) {
      const store = await open();
      await store.create("c", itemsOf(2), logOf(["one"]));
      for (const [kind, key] of [
        ["k", "c"],
        ["l", "c"],
        ["k", "c2"],
        ["c", "k"],
      ])
        await store.putDocument(kind, key, "{}");
      await store.delete("c");
      same(await store.getDocument("k", "c"), undefined, "of one kind");
      same(await store.getDocument("l", "c"), undefined, "of another kind");
      same(await store.getDocument("k", "c2"), "{}", "of another campaign");
      same(await store.getDocument("c", "k"), "{}", "whose kind is the name");
      await store.create("c", [], logOf(["one"]));
      same(await store.items("c"), [], "items of a new campaign");
    },
  },
  {
    name: "texts come back as they were",
    async run(open) {
      const store = await open();
      const odd = "é e\u0301 日本 \u{1F600} \u202E \uFFFE \r\n\t '\"\\ %_ -- ; \u007F ﷽";
      const events: LogEvent[] = [];
      for (const text of [odd, " ", "", "NULL", "'", "x".repeat(300)]) {
        events.push(skipped(endOf(events), `id ${text}`, text, `${text} \0 \uD800`));
      }
      const items = [odd, "", "long ".repeat(50_000)].map((text, index) =>
        sealItem(index, text, JSON.stringify([text, "\0", "\uDC00", null, 1e300])),
      );
      await store.create("c", items, events);
      same(await store.read("c", 0), events, "the events");
      same(checkEvents(await store.read("c", 0)), undefined, "the chain");
      same(await store.items("c"), items, "the items");
      await store.transact("c", 0, () => ({ append: [], erase: { subject: odd } }));
      same(
        (await store.read("c", 0)).map(({ body }) => body === null),
        [true, false, false, false, false, false],
        "erased",
      );
    },
  },
  {
    name: "texts that not every store could keep are refused by all",
    lasting: true,
    async run(open) {
      const store = await open();
      const log = logOf(["one"]);
      await store.create("c", [], log);
      for (const bad of ["a\0b", "\uD800", "x\uDC00"]) {
        const said = (what: string) => storableTexts.characters(what);
        const [id, subject] = [said("the id of an event"), said("the subject of an event")];
        await refused(() => append(store, "c", (head) => [skipped(head, bad)]), id);
        await refused(() => append(store, "c", (head) => [skipped(head, "two", bad)]), subject);
        await refused(() => store.create("d", [sealItem(0, bad, "[]")], log), said("the id of an item"));
        await refused(() => store.putDocument("k", bad, "1"), said("the key of a document"));
        await refused(() => store.putDocument(bad, "k", "1"), said("the kind of a document"));
        await refused(() => store.putDocument("k", "k", bad), said("the body of a document"));
        await refused(() => store.getDocument("k", bad), said("the key of a document"));
        await refused(() => store.listDocuments("k", bad), said("the key of a document"));
        await refused(() => store.deleteDocument("k", bad), said("the key of a document"));
      }
      const longest = "é".repeat(LONGEST_KEY / 2);
      await append(store, "c", (head) => [skipped(head, longest, longest)]);
      await store.putDocument(longest, longest, "1");
      same(await store.getDocument(longest, longest), "1", "the longest key");
      const long = storableTexts.long("the id of an event", LONGEST_KEY + 1);
      await refused(() => append(store, "c", (head) => [skipped(head, `${longest}x`)]), long);
      same((await store.read("c", 0)).length, 2, "the log");
    },
  },
  {
    name: "logs, items and batches may be big",
    async run(open) {
      const store = await open();
      const [log, items] = [logOf(numbered(7_001)), itemsOf(12_000)];
      await store.create("c", items, log);
      const more = logOf(numbered(4_000, "more"), endOf(log));
      await store.transact("c", 7_000, ({ news }) => {
        same(news, log.slice(7_000), "the news");
        return { append: more };
      });
      const all = await store.read("c", 0);
      same(all.length, 11_001, "events");
      same(checkEvents(all), undefined, "the chain");
      same(await store.items("c"), items, "the items");
      same(await store.read("c", 6_999, 3), [...log, ...more].slice(6_999, 7_002), "some of them");
    },
  },
];
