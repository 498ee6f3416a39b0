/** Saves what was made here as a file, by the browser's own way. */

/** Names that Windows keeps for itself. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
const LONGEST = 80;
/** How long a browser is given to take what it is to save. */
const TAKEN_MS = 60_000;

/** A name that every file system takes, with the letters and digits of the text. */
export const safeFileName = (text: string): string => {
  const [, stem = "", ending = ""] =
    /^(.*?)((?:\.[A-Za-z0-9]{1,8}){0,2})$/su.exec(text.normalize("NFC")) ?? [];
  const kept = stem
    .replace(/[^\p{Letter}\p{Mark}\p{Number}._-]+/gu, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, LONGEST);
  const name = kept === "" ? "file" : kept;
  return `${RESERVED.test(name) ? `_${name}` : name}${ending}`;
};

const TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv;charset=utf-8",
  html: "text/html;charset=utf-8",
  json: "application/json",
  jsonl: "application/x-ndjson",
  md: "text/markdown;charset=utf-8",
  sh: "text/x-shellscript;charset=utf-8",
  txt: "text/plain;charset=utf-8",
  zip: "application/zip",
};

const typeOf = (name: string): string =>
  TYPES[name.slice(name.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";

const save = (name: string, part: BlobPart, type: string | undefined): void => {
  const own = safeFileName(name);
  const address = URL.createObjectURL(new Blob([part], { type: type ?? typeOf(own) }));
  const link = document.createElement("a");
  link.href = address;
  link.download = own;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), TAKEN_MS);
};

/** As UTF-8; its type is that of the name's ending unless it is given. */
export const saveText = (name: string, text: string, type?: string): void => save(name, text, type);

export const saveBytes = (name: string, bytes: Uint8Array<ArrayBuffer>, type?: string): void =>
  save(name, bytes, type);
