/** One self-contained HTML file: no script, nothing to load, prints well. */

/** Text, or what was made from it. */
export type Html = { readonly html: string };

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Characters that turn the text around them or cannot be seen: a name could make a sentence read otherwise. */
const UNSEEN = /(?![\n\t])[\p{Control}\u202a-\u202e\u2066-\u2069]/gu;

export const escapeHtml = (text: string): string =>
  text.replace(UNSEEN, "\ufffd").replace(/[&<>"']/g, (letter) => ESCAPES[letter]);

type Part = string | number | Html | readonly Html[];

const partOf = (part: Part): string => {
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return "html" in part ? part.html : part.map((each) => each.html).join("\n");
};

/** Escapes every text put into it, so that no name in a table can be mistaken for markup. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.map((text, i) => (i === 0 ? text : partOf(parts[i - 1]) + text)).join(""),
});

/** Below this part of its own size a chart is not read: it is scrolled instead. */
const SMALLEST = 0.72;

/** An SVG as `renderSvg` made it, scaled to the page's width where it is wider, as far as it can be read. */
export const figure = (svg: string, caption: string): Html => {
  const width = Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1] ?? 0);
  const sized = svg.replace("<svg ", `<svg style="min-width:${Math.round(SMALLEST * width)}px" `);
  return {
    html: `<figure><div class="wide" tabindex="0">${sized}</div><figcaption>${escapeHtml(caption)}</figcaption></figure>`,
  };
};

/** A cell longer than this is a sentence, and is broken like one. */
const LONGEST_CELL = 34;

/** A table with its first column as the rows' names; one that is wider than the page is scrolled in a box of its own. */
export const htmlTable = (head: readonly string[], rows: readonly (readonly string[])[]): Html => {
  const cells = (row: readonly string[]) =>
    row.map((cell, i) =>
      i === 0
        ? `<th scope="row">${escapeHtml(cell)}</th>`
        : `<td${cell.length > LONGEST_CELL ? ' class="words"' : ""}>${escapeHtml(cell)}</td>`,
    );
  return {
    html: [
      '<div class="wide" tabindex="0"><table><thead><tr>',
      ...head.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`),
      "</tr></thead><tbody>",
      ...rows.map((row) => `<tr>${cells(row).join("")}</tr>`),
      "</tbody></table></div>",
    ].join("\n"),
  };
};

const STYLESHEET = `
:root { color-scheme: light; }
body { font: 16px/1.55 Helvetica, Arial, sans-serif; color: #22272e; max-width: 860px; margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
p.lead { font-size: 1.08rem; color: #3b434b; margin-top: 0; }
p, li, h1, h2, h3, figcaption, footer { overflow-wrap: anywhere; }
.wide { overflow-x: auto; max-width: 100%; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .8rem .32rem 0; text-align: right; vertical-align: bottom; border-bottom: 1px solid #e3e7eb; }
th[scope=row], thead th:first-child { text-align: left; font-weight: normal; }
th[scope=row] { min-width: 6rem; max-width: 22rem; overflow-wrap: anywhere; }
thead th { max-width: 14rem; overflow-wrap: break-word; }
thead th { font-weight: 600; border-bottom: 2px solid #9aa3ad; }
figure { margin: 1.4rem 0; break-inside: avoid; }
figure .wide { margin: 0; }
figure svg { display: block; max-width: 100%; height: auto; }
pre { overflow-x: auto; max-width: 100%; }
figcaption { color: #57606a; font-size: .9rem; }
.note { background: #f5f7f9; border-left: 4px solid #0072b2; padding: .7rem 1rem; margin: 1rem 0; }
.warning { background: #fdf4ec; border-left: 4px solid #d55e00; padding: .7rem 1rem; margin: 1rem 0; }
footer { margin-top: 3rem; color: #57606a; font-size: .85rem; border-top: 1px solid #e3e7eb; padding-top: .8rem; }
td { white-space: nowrap; }
td.words { white-space: normal; min-width: 10rem; max-width: 24rem; text-align: left; overflow-wrap: anywhere; }
code { font-size: .9em; background: #f5f7f9; padding: .1em .3em; overflow-wrap: anywhere; }
@media (max-width: 600px) { body { margin: 1.2rem auto; font-size: 15px; } h1 { font-size: 1.4rem; } }
@media print { .wide { overflow: visible; } body { margin: 0; max-width: none; font-size: 11pt; } h2 { break-after: avoid; } }
`;

export const page = (title: string, body: readonly Html[]): string =>
  [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLESHEET}</style>`,
    "</head>",
    "<body>",
    ...body.map((part) => part.html),
    "</body>",
    "</html>",
    "",
  ].join("\n");
