/** A made-up pool: skill decides, the attribute goes with the city, a few are labelled. */
import { Campaign, type OpenOptions, type PoolCampaign } from "../../src/campaign/campaign.js";
import { memoryStore } from "../../src/campaign/memory-store.js";
import type { CampaignStore } from "../../src/campaign/store.js";
import type { Table } from "../../src/tables/table.js";
import { tableOf } from "../../src/tables/table-of.js";

export const answerOf = (id: string): "yes" | "no" => ((Number(id.slice(1)) * 7) % 17 > 5 ? "yes" : "no");
export const sexOf = (id: string): "f" | "m" => (Number(id.slice(1)) % 3 === 0 ? "f" : "m");

export interface PeopleOptions {
  readonly rows?: number;
  readonly labelled?: number;
  /** Whether the attribute stands in the pool, or comes with the answers. */
  readonly sexKnown?: boolean;
}

export const people = ({ rows = 120, labelled = 8, sexKnown = true }: PeopleOptions = {}): Table =>
  tableOf(
    Array.from({ length: rows }, (_, i) => ({
      id: `p${i}`,
      skill: (i * 7) % 17,
      city: i % 3,
      price: 1 + (i % 4),
      sex: sexKnown || i < labelled ? sexOf(`p${i}`) : null,
      hired: i < labelled ? answerOf(`p${i}`) : null,
    })),
  );

export const ROLES = {
  id: "id",
  target: "hired=yes",
  sensitive: ["sex"],
  exclude: ["price"],
  forest: { trees: 12 },
  sensitiveForest: { trees: 12, minLeaf: 5 },
} as const;

/** A clock that a test moves by hand. */
export const handClock = (start = 1_700_000_000_000) => {
  let time = start;
  return {
    now: () => time,
    pass: (seconds: number) => {
      time += seconds * 1000;
    },
  };
};

export const begin = (
  given: Partial<PoolCampaign> = {},
  { store = memoryStore(), ...options }: OpenOptions & { readonly store?: CampaignStore } = {},
): Promise<Campaign> =>
  Campaign.create(store, "hiring", { table: people(), acquisition: ROLES, ...given }, options);

/** Asks and answers so many times. */
export const collect = async (campaign: Campaign, rounds: number, batch = 1): Promise<void> => {
  for (let i = 0; i < rounds; i++) {
    const { questions } = await campaign.ask(batch);
    if (questions.length === 0) return;
    await campaign.tell(questions.map(({ id }) => ({ id, label: answerOf(id) })));
  }
};
