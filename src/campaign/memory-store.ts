/** Campaigns in memory, for tests and for trying things out: gone with the process. */
import { erasedEvent, erasedItem } from "./chain.js";
import { EMPTY_LOG, headOf, type LogEvent, type LogHead, type StoredItem } from "./events.js";
import { type CampaignStore, requireName, takenName, unknownCampaign } from "./store.js";
import { requireDocument, requireFollowing, requireItems } from "./stored-log.js";

interface Kept {
  items: StoredItem[];
  log: LogEvent[];
}

const headOfLog = (log: readonly LogEvent[]): LogHead =>
  log.length === 0 ? EMPTY_LOG : headOf(log[log.length - 1]);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Keeps campaigns for as long as the program runs. */
export const memoryStore = (): CampaignStore => {
  const campaigns = new Map<string, Kept>();
  const documents = new Map<string, Map<string, string>>();
  const kept = (name: string): Kept => {
    const found = campaigns.get(name);
    if (found === undefined) throw unknownCampaign(name);
    return found;
  };
  const kindOf = (kind: string): Map<string, string> => {
    const found = documents.get(kind) ?? new Map<string, string>();
    documents.set(kind, found);
    return found;
  };
  return {
    description: "memory",
    list: async () =>
      [...campaigns]
        .map(([name, { log }]) => ({ name, head: headOfLog(log) }))
        .sort((a, b) => byText(a.name, b.name)),
    async create(name, items, log) {
      if (campaigns.has(requireName(name))) throw takenName(name);
      requireItems(items);
      requireFollowing(EMPTY_LOG, log);
      campaigns.set(name, { items: [...items], log: [...log] });
    },
    async delete(name) {
      kept(name);
      campaigns.delete(name);
      for (const kind of documents.values()) kind.delete(name);
    },
    items: async (name) => [...kept(name).items],
    read: async (name, after, limit = Number.POSITIVE_INFINITY) => kept(name).log.slice(after, after + limit),
    async transact(name, after, decide) {
      const own = kept(name);
      const head = headOfLog(own.log);
      const { append, erase } = decide({ head, news: own.log.slice(after) });
      requireFollowing(head, append);
      if (erase !== undefined) {
        own.log = own.log.map((event) => (event.subject === erase.subject ? erasedEvent(event) : event));
        own.items = own.items.map((each) => (each.item === erase.item ? erasedItem(each) : each));
      }
      own.log.push(...append);
    },
    getDocument: async (kind, key) => documents.get(kind)?.get(key),
    listDocuments: async (kind, prefix = "") =>
      [...kindOf(kind)]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, body]) => ({ kind, key, body }))
        .sort((a, b) => byText(a.key, b.key)),
    async putDocument(kind, key, body) {
      requireDocument(kind, key, body);
      kindOf(kind).set(key, body);
    },
    async deleteDocument(kind, key) {
      kindOf(kind).delete(key);
    },
    close: async () => {},
  };
};
