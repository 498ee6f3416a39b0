/** A campaign as a command uses it: opened from the store that is named, with models in a thread, and closed again. */
import type { Campaign } from "../../../campaign/campaign.js";
import type { CreatedBody } from "../../../campaign/events.js";
import type { CampaignStore } from "../../../campaign/store.js";
import { InputError } from "../../../core/errors.js";
import type { Model } from "../../../design/model.js";
import { argument, grouped } from "../../options.js";
import { type ModelChoice, modelOptions } from "../design/model-options.js";
import { type StoreUse, storeOption, withStore } from "./store-option.js";

export const openCampaignTexts = {
  noModel: "this campaign is about a pool and has no model of designs: leave out --model and its options",
};

/** Of every command that takes one campaign. */
export const campaignArguments = { name: argument("what the campaign is called") };

/** Of commands that go on with a campaign: which model a policy is for, where it is in a file. */
export const campaignOptions = {
  store: storeOption,
  ...grouped("A policy's model, where it is not a shipped one", modelOptions),
};

export type CampaignPlace = ModelChoice & { readonly store: string | undefined };

/** The model that a campaign of designs needs; none where it is about a pool. */
export const modelOfCampaign = async (
  store: CampaignStore,
  name: string,
  choice: ModelChoice,
): Promise<Model | undefined> => {
  const [first] = await store.read(name, 0, 1);
  const settings = (JSON.parse(first?.body ?? "{}") as Partial<CreatedBody>).settings;
  if (settings?.policy === undefined) {
    const isGiven = [choice.model, choice.modelOptions, choice.priorMean].some((each) => each !== undefined);
    if (isGiven) throw new InputError("model", openCampaignTexts.noModel);
    return undefined;
  }
  const { decodePolicy, matchModel } = await import("../../../design/policy-file.js");
  const { policyBytes } = await import("../../../campaign/loaded-campaign.js");
  const { modelForPolicy } = await import("../design/named-model.js");
  const shown = `the policy of the campaign ${name}`;
  const policy = { ...decodePolicy(policyBytes(settings.policy), shown), model: settings.model };
  const { model } = await modelForPolicy(policy, shown, choice);
  matchModel(policy, model, shown);
  return model;
};

/** Opens a campaign, closes it and its store afterwards. */
export const withCampaign = <Result>(
  name: string,
  place: CampaignPlace,
  use: (campaign: Campaign) => Promise<Result>,
  storeUse: StoreUse = {},
): Promise<Result> =>
  withStore(
    place.store,
    async (store) => {
      const { Campaign: Opened } = await import("../../../campaign/campaign.js");
      const { modelThread } = await import("../../../jobs/model-thread.js");
      const model = await modelOfCampaign(store, name, place);
      const campaign = await Opened.open(store, name, { models: modelThread(), model });
      try {
        return await use(campaign);
      } finally {
        await campaign.close();
      }
    },
    storeUse,
  );
