// @ts-check
/**
 * The dictionary of Brotli, for Parquet files in the page. hyparquet-compressors has it packed with gzip, as base64, which
 * cannot be packed any further; as plain text it takes half as much of an archive that is packed with Brotli itself, whose
 * words these are.
 */
import { gunzipSync } from "node:zlib";

const FILE = /hyparquet-compressors\/src\/brotli\.dictionary\.js$/;

/** A byte that belongs to no character stands as one of these, which Unicode leaves to private use. */
const STRAY = 0xf700;

/** @param {Uint8Array} bytes */
const textOf = (bytes) => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    try {
      text += decoder.decode(bytes.subarray(at, at + length));
      at += length;
    } catch {
      text += String.fromCharCode(STRAY + first);
      at += 1;
    }
  }
  return text;
};

/** The way back, which runs in the page. @param {string} text */
const bytesOf = (text) => {
  const encoder = new TextEncoder();
  return Uint8Array.from(
    [...text].flatMap((sign) => {
      const code = sign.charCodeAt(0);
      return code >= 0xf700 && code < 0xf800 ? [code - 0xf700] : [...encoder.encode(sign)];
    }),
  );
};

/** @returns {import("vite").Plugin} */
export const pageDictionary = () => ({
  name: "fairbed:page-dictionary",
  transform(code, id) {
    if (!FILE.test(id.replaceAll("\\", "/"))) return null;
    const packed = /const dictionaryGz64 = `([^`]+)`/.exec(code)?.[1] ?? "";
    const bytes = gunzipSync(Buffer.from(packed, "base64"));
    const text = textOf(bytes);
    if (!bytes.equals(bytesOf(text))) throw new Error(`${id} has another dictionary than is expected here`);
    return {
      code: `const text = ${JSON.stringify(text)};
let bytes;
export const getDictionary = () => (bytes ??= (${bytesOf})(text));`,
      map: null,
    };
  },
});
