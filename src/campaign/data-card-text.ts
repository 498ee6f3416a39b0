/** Data cards as Markdown and as plain text. */
import { type CardPart, type CardTable, cardSections, cardTexts } from "./card-sections.js";
import type { CampaignCard } from "./data-card.js";

/** Characters that turn the text around them or cannot be seen: a name could make a sentence read otherwise. */
const UNSEEN = /[\p{Control}\u202a-\u202e\u2066-\u2069]/gu;

const oneLine = (text: string): string => text.replace(/\s+/gu, " ").replace(UNSEEN, "\ufffd").trim();

/** Nothing in a name is markup, a link or the end of a cell. */
const MARKUP = /[\\`*_{}[\]<>#|~&]/g;
const escaped = (text: string): string => oneLine(text).replace(MARKUP, "\\$&");

const markdownTable = ({ head, rows }: CardTable): string => {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  const rule = `| ${head.map((_, at) => (at === 0 ? "---" : "---:")).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
};

const factsTable = (rows: readonly (readonly [string, string])[]): string =>
  ["|  |  |", "| --- | --- |", ...rows.map((row) => `| ${row.map(escaped).join(" | ")} |`)].join("\n");

const markdownPart = (part: CardPart): readonly string[] => {
  if (part.kind === "facts") return [factsTable(part.rows)];
  if (part.kind === "text") return [escaped(part.text)];
  if (part.kind === "list") return [part.items.map((item) => `- ${escaped(item)}`).join("\n")];
  return part.kind === "table" ? [markdownTable(part.table)] : [];
};

/** A data card as a page in Markdown. */
export const dataCardMarkdown = (card: CampaignCard): string => {
  const sections = cardSections(card).flatMap(({ title, parts }) => [
    `## ${title}`,
    ...parts.flatMap(markdownPart),
  ]);
  return `${[`# ${escaped(cardTexts.title(card.name))}`, ...sections].join("\n\n")}\n`;
};

const plainTable = ({ head, rows }: CardTable): string => {
  const all = [...(head.every((cell) => cell === "") ? [] : [head]), ...rows].map((row) => row.map(oneLine));
  const widths = head.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all
    .map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at])).join("  ")}`.trimEnd())
    .join("\n");
};

const plainPart = (part: CardPart): readonly string[] => {
  if (part.kind === "facts") return [plainTable({ head: ["", ""], rows: part.rows })];
  if (part.kind === "text") return [oneLine(part.text)];
  if (part.kind === "list") return [part.items.map((item) => `- ${oneLine(item)}`).join("\n")];
  return part.kind === "table" ? [plainTable(part.table)] : [];
};

/** For a terminal or a mail. */
export const dataCardText = (card: CampaignCard): string => {
  const sections = cardSections(card).flatMap(({ title, parts }) => [
    title.toUpperCase(),
    ...parts.flatMap(plainPart),
  ]);
  return `${[oneLine(cardTexts.title(card.name)), ...sections].join("\n\n")}\n`;
};
