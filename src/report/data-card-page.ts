/** A data card as one HTML page. */
import type { CardComposition } from "../campaign/card-composition.js";
import { type CardPart, cardSections, cardTexts } from "../campaign/card-sections.js";
import type { CampaignCard } from "../campaign/data-card.js";
import { compositionChart } from "./acquisition-charts.js";
import { mostImportant, notDrawnInPicture, notDrawnInWords } from "./not-drawn.js";
import { figure, type Html, html, htmlTable, page } from "./page.js";
import { renderSvg } from "./render.js";
import { shortName } from "./short-names.js";
import { chartTitle } from "./style.js";

/** A picture of more groups is a table. */
const MOST_GROUPS = 40;
const COLLECTED = "labels collected";

const compositionFigure = async ({ attribute, groups }: CardComposition): Promise<readonly Html[]> => {
  const named = groups.flatMap(({ pool, ...each }) => (pool === null ? [] : [{ ...each, pool }]));
  if (named.length === 0) return [];
  const { shown, others } = mostImportant(named, MOST_GROUPS, ({ share, pool }) => Math.abs(share - pool));
  const notDrawn = {
    names: others.map(({ group }) => group),
    why: "asked most like their share; the table has them",
  };
  const chart = compositionChart(
    shown.map(({ group, share, interval: [low, high], pool }) => ({
      method: COLLECTED,
      group,
      share: { mean: share, low, high },
      population: pool,
    })),
    { title: "Who is in it", subtitle: `by ${attribute}`, notDrawn },
  );
  const title = chartTitle("Who is in it", [
    shortName(`by ${attribute}`),
    "grey: the group's share of the pool; bars are 95 % intervals",
    ...notDrawnInPicture(notDrawn),
  ]);
  return [
    figure(
      await renderSvg({ ...chart, title }),
      `Shares of the labels collected, by ${attribute}.${notDrawnInWords(notDrawn)}`,
    ),
  ];
};

/** Names and words under each other, all beginning on the left. */
const factsTable = (rows: readonly (readonly [string, string])[]): Html =>
  html`<div class="wide" tabindex="0"><table><tbody>
${rows.map(([name, words]) => html`<tr><th scope="row">${name}</th><td class="words">${words}</td></tr>`)}
</tbody></table></div>`;

const partHtml = async (part: CardPart): Promise<readonly Html[]> => {
  if (part.kind === "text") return [html`<p>${part.text}</p>`];
  if (part.kind === "list") return [html`<ul>${part.items.map((item) => html`<li>${item}</li>`)}</ul>`];
  if (part.kind === "composition") return compositionFigure(part.composition);
  if (part.kind === "facts") return [factsTable(part.rows)];
  return part.table.rows.length === 0 ? [] : [htmlTable(part.table.head, part.table.rows)];
};

export const dataCardHtml = async (card: CampaignCard): Promise<string> => {
  const title = cardTexts.title(card.name);
  const body: Html[] = [html`<h1>${title}</h1>`];
  for (const section of cardSections(card)) {
    body.push(html`<h2>${section.title}</h2>`);
    for (const part of section.parts) body.push(...(await partHtml(part)));
  }
  body.push(
    html`<footer>Written by fairbed ${card.version}. There is no id and no value of a single person in this card.</footer>`,
  );
  return page(title, body);
};
