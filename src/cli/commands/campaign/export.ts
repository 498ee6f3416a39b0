/** `fairbed campaign export`: what was acquired, as a table and a data card. */
import { extname } from "node:path";
import type { Campaign } from "../../../campaign/campaign.js";
import type { CampaignCard } from "../../../campaign/data-card.js";
import { InputError } from "../../../core/errors.js";
import type { Table } from "../../../tables/table.js";
import { defineCommand, type FileContents } from "../../command.js";
import { choice, flag, grouped, outFile, text } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { counted } from "./campaign-words.js";
import { campaignArguments, campaignOptions, withCampaign } from "./open-campaign.js";

export const exportCommandTexts = {
  noFile:
    "say which file to write with --out, such as --out data.csv, data.parquet or data.jsonl, or with --card",
  kind: (path: string) =>
    `${path} has no ending that says how to write it: end it with .csv, .jsonl or .parquet`,
  card: (path: string) => `${path} has no ending that says how to write it: end it with .html, .md or .json`,
  noCharts: "take --card card.md, which needs none",
  onlyCard: (flags: string) =>
    `${flags} stands on the data card: say where that goes with --card, or leave it out`,
};

/** What only people know. */
const ownerOptions = {
  description: text("--description <text>", "what the data is and what it is for"),
  licence: text("--licence <name>", "under which it may be used"),
  contact: text("--contact <whom>", "whom to ask about it"),
};

export const exportCampaign = defineCommand({
  name: "campaign export",
  group: "Campaigns",
  summary: "write what was acquired, with a data card",
  examples: [
    {
      line: "campaign export hiring --out data.csv --card card.html",
      description: "the labels, and how they came about",
    },
    {
      line: "campaign export hiring --out data.parquet --rows all --without-sensitive",
      description: "the whole pool, without the sensitive columns",
    },
  ],
  arguments: campaignArguments,
  options: {
    out: outFile("--out <file>", "write the table to this file: .csv, .jsonl or .parquet"),
    card: outFile("--card <file>", "write a data card to this file: .html, .md or .json"),
    rows: choice<"acquired" | "all">(
      "--rows <which>",
      "those with a label, or the whole pool",
      ["acquired", "all"],
      "acquired",
    ),
    withoutSensitive: flag("--without-sensitive", "leave the sensitive columns out"),
    ...grouped("The data card", ownerOptions),
    ...campaignOptions,
  },
  reportsProgress: true,
  async run({ arguments: { name }, options, given, context }) {
    const { out, card: cardPath } = options;
    if (out === undefined && cardPath === undefined) {
      throw new InputError("no-file", exportCommandTexts.noFile);
    }
    const write = out === undefined ? undefined : tableWriter(out);
    const word = cardPath === undefined ? undefined : cardWriter(cardPath);
    const owner = Object.entries(ownerOptions).find(([option]) => given.has(option));
    if (cardPath === undefined && owner !== undefined) {
      throw new InputError("card", exportCommandTexts.onlyCard(owner[1].flags.split(" ")[0]));
    }
    if (cardPath !== undefined && isPage(cardPath)) {
      await (await import("../../../report/render.js")).requireCharts(exportCommandTexts.noCharts);
    }
    return withCampaign(
      name,
      options,
      async (campaign) => {
        const { exportTable } = await import("../../../campaign/export.js");
        const table = exportTable(campaign, {
          rows: options.rows,
          withoutSensitive: options.withoutSensitive,
        });
        if (out !== undefined && write !== undefined) await context.writeFile(out, await write(table));
        if (cardPath !== undefined && word !== undefined) {
          const card = await withProgress(context, "auditing the labels", (run) =>
            cardOf(campaign, options, run),
          );
          await context.writeFile(cardPath, await word(card));
        }
        return {
          campaign: name,
          rows: out === undefined ? null : table.rows,
          columns: out === undefined ? null : table.columns.map((column) => column.name),
          out: out ?? null,
          card: cardPath ?? null,
        };
      },
      { outputs: [out, cardPath] },
    );
  },
  print: ({ rows, columns, out, card }) =>
    [
      ...(out === null
        ? []
        : [
            `${out} has ${counted(rows ?? 0, "row")} and ${counted(columns?.length ?? 0, "column")}: ${columns?.join(", ")}.`,
          ]),
      ...(card === null ? [] : [`${card} says how they came about, who is in them and what they give away.`]),
    ].join("\n"),
});

type CardArguments = Parameters<typeof import("../../../campaign/data-card.js").completeDataCard>[1];

const cardOf = async (
  campaign: Campaign,
  { description, licence, contact }: { readonly [Name in keyof typeof ownerOptions]: string | undefined },
  run: CardArguments,
): Promise<CampaignCard> => {
  const { completeDataCard } = await import("../../../campaign/data-card.js");
  return completeDataCard(campaign, { description, licence, contact, ...run });
};

/** By the ending of the file, which is looked at before anything is done. */
const tableWriter = (path: string): ((table: Table) => Promise<FileContents>) => {
  const text = (format: "csv" | "jsonl") => async (table: Table) =>
    (await import("../../../campaign/export.js")).exportText(table, format);
  const writers: Readonly<Record<string, (table: Table) => Promise<FileContents>>> = {
    ".csv": text("csv"),
    ".jsonl": text("jsonl"),
    ".ndjson": text("jsonl"),
    ".parquet": async (table) => (await import("../../../sources/write-parquet.js")).parquetBytes(table),
  };
  return writers[extname(path).toLowerCase()] ?? refuse(exportCommandTexts.kind(path));
};

/** Such a card has charts. */
const isPage = (path: string): boolean => extname(path).toLowerCase() === ".html";

const cardWriter = (path: string): ((card: CampaignCard) => Promise<string>) => {
  const writers: Readonly<Record<string, (card: CampaignCard) => Promise<string>>> = {
    ".html": async (card) => (await import("../../../report/data-card-page.js")).dataCardHtml(card),
    ".md": async (card) => (await import("../../../campaign/data-card-text.js")).dataCardMarkdown(card),
    ".json": async (card) => `${JSON.stringify(card, null, 2)}\n`,
  };
  return writers[extname(path).toLowerCase()] ?? refuse(exportCommandTexts.card(path));
};

const refuse = (reason: string): never => {
  throw new InputError("file-kind", reason);
};
