/** Zip archives and Excel workbooks that tests make, part by part. */
import { deflateRawSync } from "node:zlib";
import { checksumOf } from "../../src/sources/zip-file.js";

/** A zip archive; `stored` files are not compressed. */
export const zipOf = (
  files: Readonly<Record<string, string | Uint8Array>>,
  { stored = false, size }: { readonly stored?: boolean; readonly size?: number } = {},
): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, given] of Object.entries(files)) {
    const contents = Buffer.from(given);
    const data = stored ? contents : deflateRawSync(contents);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(stored ? 0 : 8, 8);
    head.writeUInt32LE(checksumOf(contents), 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt32LE(size ?? contents.length, 22);
    head.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    head.copy(entry, 10, 8, 30);
    entry.writeUInt16LE(stored ? 0 : 8, 10);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, Buffer.from(name));
    parts.push(head, Buffer.from(name), data);
    at += head.length + Buffer.byteLength(name) + data.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
};

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** The parts of a workbook whose sheets hold these rows of `<c>` elements. */
export const workbookParts = (
  sheets: Readonly<Record<string, string>>,
  { strings = "", styles = "", properties = "" } = {},
): Record<string, string> => ({
  "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
  "xl/workbook.xml": `${XML}<workbook xmlns="x" xmlns:r="y">${properties}<sheets>${Object.keys(sheets)
    .map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
    .join("")}</sheets></workbook>`,
  "xl/_rels/workbook.xml.rels": `${XML}<Relationships>${Object.keys(sheets)
    .map((_, at) => `<Relationship Id="rId${at + 1}" Type="z" Target="worksheets/sheet${at + 1}.xml"/>`)
    .join("")}</Relationships>`,
  ...(strings === "" ? {} : { "xl/sharedStrings.xml": `${XML}<sst>${strings}</sst>` }),
  ...(styles === "" ? {} : { "xl/styles.xml": `${XML}<styleSheet>${styles}</styleSheet>` }),
  ...Object.fromEntries(
    Object.values(sheets).map((rows, at) => [
      `xl/worksheets/sheet${at + 1}.xml`,
      `${XML}<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ]),
  ),
});

/** Every number as a number, every text as an inline string, nothing where null. */
export const sheetRows = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows
    .map((row) => {
      const cells = row.map((cell) => {
        if (cell === null) return "<c/>";
        if (typeof cell === "number") return `<c><v>${cell}</v></c>`;
        return `<c t="inlineStr"><is><t>${cell.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</t></is></c>`;
      });
      return `<row>${cells.join("")}</row>`;
    })
    .join("");
