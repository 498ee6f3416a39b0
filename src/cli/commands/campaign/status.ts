/** `fairbed campaign status`: where a campaign stands. */
import type { CampaignAgreement } from "../../../campaign/agreement.js";
import type { CampaignStatus } from "../../../campaign/status.js";
import { between, fixed, percent } from "../../../core/number-text.js";
import type { AttributeComposition } from "../../../fairness/composition.js";
import { defineCommand } from "../../command.js";
import { byGroups, cut, rightAligned, short } from "../../text-table.js";
import { atMinute, counted, rankingInWords } from "./campaign-words.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";

export const status = defineCommand({
  name: "campaign status",
  group: "Campaigns",
  summary: "where a campaign stands: counts and shares",
  examples: [{ line: "campaign status hiring", description: "labels, what waits, and who was labelled" }],
  arguments: campaignArguments,
  options: campaignOptions,
  run: ({ arguments: { name }, options }) =>
    withCampaign(name, options, async (campaign) => {
      const now = campaign.status();
      return { ...now, agreement: now.counts.annotators > 1 ? campaign.agreement() : null };
    }),
  print: ({ agreement, ...now }) => [...statusLines(now), ...agreementLines(agreement)].join("\n"),
});

/** How far annotators agree, and who differs from the others most. */
const agreementLines = (agreement: CampaignAgreement | null): readonly string[] => {
  if (agreement === null) return [];
  const { alpha, interval, units, annotators } = agreement;
  return [
    "",
    alpha === null || interval === null
      ? `How far annotators agree cannot be said yet, from ${counted(units, "item")} with several answers.`
      : `Annotators agree with an alpha of ${fixed(alpha, 2)} (${between(interval, 2)}; 1 is all, 0 is chance), on ${counted(units, "item")} with several answers.`,
    ...rightAligned([
      ["annotator", "answers", "refused", "compared", "differing"],
      ...annotators.map(({ annotator, answers, refused, compared, disagreed }) => [
        annotator === "" ? "(no name)" : annotator,
        ...[answers, refused, compared, disagreed].map(String),
      ]),
    ]),
  ];
};

/** Rows with nothing to say are left out. */
const rowsOf = (rows: readonly (readonly [string, string | undefined])[]): string[] => {
  const said = rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const width = Math.max(...said.map(([name]) => name.length));
  return said.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
};

const orNothing = (count: number, words: string): string | undefined => (count === 0 ? undefined : words);

export const statusLines = (now: CampaignStatus): readonly string[] => {
  const { counts, budget, cost, costBudget } = now;
  const isPool = now.kind === "pool";
  const about = [
    ...(now.target === null ? [] : [`target ${now.target}`]),
    ...(now.sensitive.length === 0 ? [] : [`sensitive ${now.sensitive.join(", ")}`]),
    `${isPool ? "asked by" : "policy:"} ${now.method}`,
  ];
  return [
    isPool
      ? `${now.name}: a pool of ${counted(counts.subjects, "item")}; ${about.join(", ")}`
      : `${now.name}: designs, ${counted(counts.subjects, "participant")} so far; ${about.join(", ")}`,
    "",
    ...rowsOf([
      [
        isPool ? "labels" : "observations",
        `${counts.labelled}${budget === null ? "" : ` of ${budget}`}${counts.initial === 0 ? "" : `, and ${counts.initial} that the pool came with`}`,
      ],
      ["waiting", `${counts.pending}`],
      ["ran out", orNothing(counts.expired, `${counts.expired}, which may be asked again`)],
      ["refused", orNothing(counts.refused, String(counts.refused))],
      ["disputed", orNothing(counts.disputed, `${counts.disputed}: see campaign ask --adjudicate`)],
      ["corrected", orNothing(counts.corrections, counted(counts.corrections, "answer"))],
      // A pool counts whom the answers are about: several about one item are one.
      ["not asked for", orNothing(counts.unasked, counted(counts.unasked, isPool ? "item" : "answer"))],
      ["withdrawn", orNothing(counts.withdrawn, `${counts.withdrawn}, not counted here any more`)],
      ["annotators", orNothing(counts.annotators, String(counts.annotators))],
      [isPool ? "left to ask" : "left to observe", String(counts.open)],
      ["cost", costBudget === null ? orNothing(cost, short(cost)) : `${short(cost)} of ${short(costBudget)}`],
    ]),
    "",
    ...now.composition.flatMap(compositionLines),
    ...(isPool ? [rankingInWords(now.ranking)] : []),
    `Created ${atMinute(now.createdAt)}; ${counted(now.events, "event")}, the last one ${atMinute(now.lastEventAt)}.`,
  ];
};

/** Who was labelled, beside the whole pool. */
const compositionLines = ({ attribute, groups }: AttributeComposition): readonly string[] => {
  const share = (value: number | null): string => (value === null ? "-" : percent(value));
  return [
    ...byGroups([
      [`by ${attribute}`, ...groups.map(({ group }) => cut(group))],
      ["the pool", ...groups.map(({ population }) => share(population))],
      ["labelled", ...groups.map((each) => share(each.share))],
    ]),
    "",
  ];
};
