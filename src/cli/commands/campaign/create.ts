/** `fairbed campaign create`: begins a campaign about a pool, or of designs. */
import type { Campaign, DesignCampaign, OpenOptions, PoolCampaign } from "../../../campaign/campaign.js";
import { CAMPAIGN_DEFAULTS } from "../../../campaign/settings.js";
import { InputError } from "../../../core/errors.js";
import { defineCommand, type OptionValues } from "../../command.js";
import { grouped, integer, optionalInteger, optionalReal, text } from "../../options.js";
import { compositionOptions, methodOptions, parseShares } from "../active/method-options.js";
import { parseQuotas, quotaOption } from "../active/quota-option.js";
import { recipeFrom, recipeOption } from "../active/recipe-option.js";
import { modelOptions } from "../design/model-options.js";
import { readingOf, readOptions, roleOptions, rolesOf } from "../sources/table-options.js";
import { batchOption, leaseOption, opinionOptions } from "./asking-options.js";
import { campaignArguments } from "./open-campaign.js";
import { renewRanking } from "./renew-ranking.js";
import { statusLines } from "./status.js";
import { storeOption, withStore } from "./store-option.js";

export const createTexts = {
  what: "say what the campaign is about: --pool people.csv with --target and --sensitive, or --policy policy.json",
  both: "a campaign is about a pool or of designs: give --pool or --policy, not both",
  notOfDesigns: (flags: string) =>
    `${flags} is about asking people of a pool, and a campaign of designs has none: leave it out`,
  notOfPools: (flags: string) =>
    `${flags} is about a policy of designs, and this campaign is about a pool: leave it out`,
  created: (name: string) => `the campaign ${name} is created`,
  rowNumbers: "--id was not given, so items are called by the numbers of their rows, from 0",
};

const { target, sensitive, id, ...otherRoles } = roleOptions;
const { method, beta } = methodOptions;

/** Options that a campaign of either kind has. */
const commonOptions = {
  budget: optionalInteger("--budget <number>", "labels to collect in all; no limit unless given", { min: 1 }),
  ...grouped("Limits", {
    lease: leaseOption,
    costPerLabel: optionalReal("--cost-per-label <amount>", "what an answer costs, in any unit", { min: 0 }),
    costBudget: optionalReal("--cost-budget <amount>", "what all answers may cost", { min: 0 }),
  }),
};
const poolOptions = {
  pool: text("--pool <table>", "the people or records to ask about; those with a label are learnt from"),
  id,
  target,
  sensitive,
  recipe: recipeOption,
  method,
  beta,
  ...grouped("Whom to ask", {
    ...compositionOptions,
    batch: batchOption,
    quota: quotaOption,
    costs: text("--costs <column>", "what the label of each item costs; then no feature"),
    parity: optionalReal("--parity <ratio>", "the ratio of selection rates that a model is to reach", {
      above: 0,
      max: 1,
    }),
  }),
  ...grouped("Annotators", opinionOptions),
  ...grouped("Columns", otherRoles),
  ...grouped("Reading the pool", readOptions),
};
const designOptions = {
  policy: text("--policy <file>", "instead of a pool: what fairbed design optimize wrote"),
  ...grouped("A policy's model, where it is not its own", modelOptions),
};

const options = {
  ...poolOptions,
  ...commonOptions,
  seed: integer("--seed <number>", "random seed", CAMPAIGN_DEFAULTS.seed, { min: 0 }),
  store: storeOption,
  ...designOptions,
};
type CreateOptions = OptionValues<typeof options>;

export const create = defineCommand({
  name: "campaign create",
  group: "Campaigns",
  summary: "begin to collect labels, or outcomes of designs",
  examples: [
    {
      line: "campaign create hiring --pool people.csv --id id --target hired=yes --sensitive sex",
      description: "ask about those without a label",
    },
    {
      line: "campaign create hiring --pool people.csv --id id --target hired=yes --sensitive sex --recipe recipe.json",
      description: "as fairbed plan recommended",
    },
    {
      line: "campaign create trial --policy policy.json",
      description: "participants who each go through a policy",
    },
  ],
  arguments: campaignArguments,
  options,
  reportsProgress: true,
  async run({ arguments: { name }, options: own, given, context }) {
    requireOneKind(own, given);
    const { about, notes, model } =
      own.pool === undefined ? await designsOf(own) : await poolOf(own, own.pool, given);
    const { Campaign: Created } = await import("../../../campaign/campaign.js");
    const { modelThread } = await import("../../../jobs/model-thread.js");
    return withStore(
      own.store,
      async (store) => {
        const campaign: Campaign = await Created.create(store, name, about, {
          models: modelThread(),
          model,
        }).catch(inOptions);
        try {
          context.say(createTexts.created(name));
          const failed = await renewRanking(campaign, context);
          return { ...campaign.status(), store: store.description, notes: [...notes, ...failed] };
        } finally {
          await campaign.close();
        }
      },
      { makes: true },
    );
  },
  print: ({ store, notes, ...now }) =>
    [
      ...statusLines(now),
      ...notes.map((note) => `Note: ${note}.`),
      `It is in ${store}. Next: fairbed campaign ask ${now.name}${now.kind === "pool" ? " -n 5" : " --participant ID"}`,
    ].join("\n"),
});

/** What the library says in its own words. */
const inOptions = async (error: unknown): Promise<never> => {
  const { readTaskTexts } = await import("../../../sources/read-task.js");
  const isRole = error instanceof InputError && error.code === "no-sensitive";
  throw isRole ? new InputError(error.code, readTaskTexts.noSensitive) : error;
};

const requireOneKind = (own: CreateOptions, given: ReadonlySet<string>): void => {
  if (own.pool === undefined && own.policy === undefined) throw new InputError("what", createTexts.what);
  if (own.pool !== undefined && own.policy !== undefined) throw new InputError("what", createTexts.both);
  const isPool = own.pool !== undefined;
  const [others, reason] = isPool
    ? ([designOptions, createTexts.notOfPools] as const)
    : ([poolOptions, createTexts.notOfDesigns] as const);
  const wrong = Object.entries(others).find(([option]) => given.has(option));
  if (wrong !== undefined) throw new InputError("what", reason(wrong[1].flags.split(" ")[0]));
};

interface About<Kind> extends Pick<OpenOptions, "model"> {
  readonly about: Kind;
  readonly notes: readonly string[];
}

const limitsOf = ({
  seed,
  lease,
  budget,
  costPerLabel,
  costBudget,
  opinions,
  opinionsPart,
}: CreateOptions) => ({
  seed,
  lease,
  budget,
  costPerLabel,
  costBudget,
  opinions,
  opinionsPart,
});

const poolOf = async (
  own: CreateOptions,
  path: string,
  given: ReadonlySet<string>,
): Promise<About<PoolCampaign>> => {
  const recipe = await recipeFrom(own.recipe);
  const { readTableWithIds, readTaskTexts } = await import("../../../sources/read-task.js");
  if (own.target === undefined) throw new InputError("no-target", readTaskTexts.noTarget);
  const { task: _, ...roles } = rolesOf(own);
  const table = await readTableWithIds(path, own.id, readingOf(own));
  return {
    about: {
      ...limitsOf(own),
      recipe,
      requirement: own.parity === undefined ? undefined : { metric: "dp", level: own.parity },
      table,
      acquisition: {
        ...roles,
        target: own.target,
        // What was not given is the recipe's, or what is recommended.
        method: given.has("method") ? own.method : undefined,
        beta: own.beta,
        shares: parseShares(own.shares),
        randomPart: own.randomPart,
        reweigh: own.reweigh || undefined,
        batch: own.batch,
        quotas: parseQuotas(own.quota),
        costs: own.costs,
      },
    },
    notes: [...table.notes, ...(own.id === undefined ? [createTexts.rowNumbers] : [])],
  };
};

const designsOf = async (own: CreateOptions): Promise<About<DesignCampaign>> => {
  const { readPolicy } = await import("../design/read-policy.js");
  const { sourceFrom } = await import("../design/named-model.js");
  const { file, loaded } = await readPolicy(own.policy ?? "", own);
  const { model, source, identity } = loaded;
  return {
    about: {
      ...limitsOf(own),
      // As it is used here: other options of the model, or another place of its file, may have been given.
      policy: { ...file, model: { ...identity, ...sourceFrom(source, "here") } },
    },
    notes: [],
    model,
  };
};
