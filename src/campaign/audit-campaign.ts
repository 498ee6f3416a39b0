/** What the acquired rows of a campaign give away about the sensitive attributes. */
import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { columnNames } from "../tables/table.js";
import type { TableAudit } from "../workflows/audit-table.js";
import { type Campaign, campaignTexts } from "./campaign.js";
import { exportTable } from "./export.js";

/** The audit, or why there is none: too few rows, one group only, no sensitive attribute. */
export type CampaignAudit =
  | { readonly audit: TableAudit; readonly reason: null }
  | { readonly audit: null; readonly reason: string };

/** Why a campaign has no audit. */
export const auditCampaignTexts = {
  noSensitive: "the campaign has no sensitive attribute, so there is nothing that could be given away",
  tooFew: (rows: number) =>
    `${rows} row${rows === 1 ? " has" : "s have"} a label so far, and an audit needs at least 50`,
};

/** Fewer rows show next to nothing, whatever is in them. */
const FEWEST_ROWS = 50;

/**
 * `auditTable` of the rows that have a label: what their columns say about who they are, not what the whole pool's would.
 * How a row was collected is no feature.
 */
export const auditCampaign = async (campaign: Campaign, run: RunOptions = {}): Promise<CampaignAudit> => {
  const { content } = campaign.now;
  if (content.kind !== "pool") throw new InputError("design", campaignTexts.wantsPool);
  const { options, task, table: pool } = content;
  if (options.sensitive === undefined || content.sensitive.length === 0) {
    return { audit: null, reason: auditCampaignTexts.noSensitive };
  }
  const acquired = exportTable(campaign);
  if (acquired.rows < FEWEST_ROWS) {
    return { audit: null, reason: auditCampaignTexts.tooFew(acquired.rows) };
  }
  const own = new Set(columnNames(pool));
  const added = columnNames(acquired).filter((name) => !own.has(name));
  const {
    target,
    sensitive,
    keep,
    id,
    categorical,
    numeric,
    minLevel,
    combineSensitive,
    costs,
    minGroup,
    smallGroups,
  } = options;
  try {
    const audit = await campaign.models.audit(
      acquired,
      {
        target,
        sensitive,
        keep,
        id,
        categorical,
        numeric,
        minLevel,
        combineSensitive,
        minGroup,
        smallGroups,
        ...(options.features === undefined
          ? { exclude: [...(options.exclude ?? []), ...added, ...(costs === undefined ? [] : [costs])] }
          : { features: task.features }),
        seed: options.seed,
      },
      run,
    );
    return { audit, reason: null };
  } catch (error) {
    // Too few rows of a group, or one group or outcome only.
    if (error instanceof InputError) return { audit: null, reason: error.message };
    throw error;
  }
};
