/** From the body of a request to what a campaign is created from. No path and no address in it is followed. */
import type { z } from "@hono/zod-openapi";
import type { DesignCampaign, PoolCampaign } from "../campaign/campaign.js";
import { policyBytes } from "../campaign/loaded-campaign.js";
import { InputError } from "../core/errors.js";
import { decodePolicy } from "../design/policy-file.js";
import { parseTable } from "../tables/parse-table.js";
import type { Table } from "../tables/table.js";
import { tableOf } from "../tables/table-of.js";
import { readRecipe } from "../workflows/recipe.js";
import type {
  designCampaignSchema,
  newCampaignSchema,
  poolCampaignSchema,
} from "./schemas/campaign-schemas.js";

type NewCampaign = z.output<typeof newCampaignSchema>;
type NewPool = z.output<typeof poolCampaignSchema>;
type NewDesign = z.output<typeof designCampaignSchema>;

export const newCampaignTexts = {
  base64: "the policy is a text and not base64: give the bytes of a policy file as base64, or its JSON",
};

const NAME = "the pool";

const tableIn = async ({ pool, id }: Pick<NewPool, "pool" | "id">): Promise<Table> =>
  "csv" in pool
    ? parseTable(pool.csv, { name: NAME, asText: id === undefined ? [] : [id] })
    : tableOf(pool.records, { name: NAME });

const poolCampaign = async (given: Omit<NewPool, "name">): Promise<PoolCampaign> => {
  const { pool, recipe, seed, lease, budget, costPerLabel, costBudget, opinions, opinionsPart, ...rest } =
    given;
  const { requirement, ...acquisition } = rest;
  return {
    table: await tableIn({ pool, id: acquisition.id }),
    acquisition,
    ...(recipe === undefined ? {} : { recipe: readRecipe(recipe) }),
    seed,
    lease,
    budget,
    costPerLabel,
    costBudget,
    opinions,
    opinionsPart,
    requirement,
  };
};

const bytesOf = (policy: NewDesign["policy"]): Uint8Array => {
  if (typeof policy !== "string") return new TextEncoder().encode(JSON.stringify(policy));
  try {
    return policyBytes(policy);
  } catch {
    throw new InputError("policy", newCampaignTexts.base64);
  }
};

export const newCampaign = async ({
  name: _,
  ...given
}: NewCampaign): Promise<PoolCampaign | DesignCampaign> => {
  if ("pool" in given) return poolCampaign(given);
  const { policy, ...settings } = given;
  return { ...settings, policy: decodePolicy(bytesOf(policy), "the policy") };
};
