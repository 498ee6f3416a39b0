/**
 * XML as it comes, one tag after the other, as far as workbooks need it. There are no entities but the five of XML
 * itself and characters by number: a document that declares its own is refused, so nothing is fetched or expanded.
 */

/** What is wrong with a document; who reads it words it. */
export class BrokenXml extends Error {}

export interface XmlHandler {
  /** `attributes` gives the value of one, undefined where there is none. */
  open(name: string, attributes: (name: string) => string | undefined): void;
  close(name: string): void;
  text(text: string): void;
}

/** Names are without their prefix. Throws where tags do not match. */
export const readXml = (xml: string, handler: XmlHandler): void => {
  const open: string[] = [];
  let at = 0;
  while (at < xml.length) {
    const start = xml.indexOf("<", at);
    if (start < 0) break;
    if (start > at && open.length > 0) handler.text(unescaped(xml.slice(at, start)));
    if (xml.startsWith("<?", start)) at = after(xml, "?>", start);
    else if (xml.startsWith("<!--", start)) at = after(xml, "-->", start);
    else if (xml.startsWith("<![CDATA[", start)) {
      at = after(xml, "]]>", start);
      handler.text(xml.slice(start + "<![CDATA[".length, at - "]]>".length));
    } else if (xml.startsWith("<!", start)) throw new BrokenXml();
    else {
      const end = tagEnd(xml, start + 1);
      at = end + 1;
      readTag(xml.slice(start + 1, end), open, handler);
    }
  }
  if (open.length > 0) throw new BrokenXml();
};

const after = (xml: string, mark: string, from: number): number => {
  const found = xml.indexOf(mark, from);
  if (found < 0) throw new BrokenXml();
  return found + mark.length;
};

/** The next `>` that is not part of an attribute's value. */
const tagEnd = (xml: string, from: number): number => {
  for (let at = from; at < xml.length; at++) {
    const character = xml[at];
    if (character === ">") return at;
    if (character === "<") break;
    if (character === '"' || character === "'") {
      at = xml.indexOf(character, at + 1);
      if (at < 0) break;
    }
  }
  throw new BrokenXml();
};

const TAG_NAME = /^[^\s/"'=<>&]+/;

const readTag = (tag: string, open: string[], handler: XmlHandler): void => {
  if (tag.startsWith("/")) {
    const name = localName(tag.slice(1).trim());
    if (open.pop() !== name) throw new BrokenXml();
    handler.close(name);
    return;
  }
  const isEmpty = tag.endsWith("/");
  const full = TAG_NAME.exec(tag)?.[0];
  if (full === undefined) throw new BrokenXml();
  const name = localName(full);
  const rest = tag.slice(full.length);
  handler.open(name, (wanted) => attributeIn(rest, wanted));
  if (isEmpty) handler.close(name);
  else open.push(name);
};

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

/** Only behind white space: to begin anywhere would take quadratic time on a long run of letters. */
const ATTRIBUTE = /\s([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

const attributeIn = (tag: string, wanted: string): string | undefined => {
  for (const [, name, double, single] of tag.matchAll(ATTRIBUTE)) {
    if (name === wanted || localName(name) === wanted) return unescaped(double ?? single);
  }
  return undefined;
};

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const LARGEST_CHARACTER = 0x10ffff;

const unescaped = (text: string): string =>
  text.includes("&")
    ? text.replace(/&(?:#(\d{1,8})|#x([\da-fA-F]{1,8})|(\w{1,8}))?;?/g, (whole, decimal, hex, name) => {
        if (!whole.endsWith(";")) throw new BrokenXml();
        if (name !== undefined) {
          if (!Object.hasOwn(NAMED, name)) throw new BrokenXml();
          return NAMED[name];
        }
        const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
        if (!(code <= LARGEST_CHARACTER)) throw new BrokenXml();
        return String.fromCodePoint(code);
      })
    : text;
