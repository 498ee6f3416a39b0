/** How the letters of a text file are encoded, and its text piece by piece. */
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { FairbedError, InputError } from "../core/errors.js";
import { fileTexts } from "./file-texts.js";

export const encodingTexts = {
  unknown: (given: string) =>
    `there is no encoding ${JSON.stringify(given)}: give one such as utf-8, windows-1252, utf-16le or shift_jis.`,
  not: (file: string, encoding: string) =>
    `${file} is not ${encoding} text: name its encoding with --encoding, or leave the option out to have it found.`,
  bomb: (file: string) =>
    `${file} unpacks to more than ${MOST_UNPACKED} times its size, which no table does: get it again, or unpack it first.`,
};

export const WINDOWS_1252 = "windows-1252";

/** In pieces of bytes to pieces of text; throws a TypeError where the bytes are no such text. */
export interface PieceDecoder {
  decode(bytes: Uint8Array, isLast: boolean): string;
}

/** The one name of an encoding that has many; undefined where there is none. */
export const encodingNamed = (label: string): string => {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    throw new InputError("encoding", encodingTexts.unknown(label));
  }
};

export const decoderOf = (encoding: string): PieceDecoder => {
  // By hand: Node decodes what is called windows-1252 as Latin-1 in some of its versions.
  if (encoding === WINDOWS_1252) return { decode: windowsText };
  const decoder = new TextDecoder(encoding, { fatal: true });
  return { decode: (bytes, isLast) => decoder.decode(bytes, { stream: !isLast }) };
};

/** What windows-1252 has where Latin-1 has control characters, from 0x80 on; the others are themselves. */
const FROM_0X80 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

const windowsText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("latin1")
    .replace(/[\x80-\x9f]/g, (character) => FROM_0X80[character.charCodeAt(0) - 0x80]);

/** How often its own size a compressed table may be; far more than any table, far less than what fills a disk. */
const MOST_UNPACKED = 300;
/** What may be unpacked in any case. */
const ALWAYS_UNPACKED = 64 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

export interface PackedText {
  readonly path: string;
  /** What it is called in messages. */
  readonly name: string;
  readonly gzip: boolean;
}

/** The bytes of a file, unpacked. */
export async function* bytesOf({ path, name, gzip }: PackedText): AsyncGenerator<Buffer, void, undefined> {
  const source = createReadStream(path, { highWaterMark: PIECE_BYTES });
  let packed = 0;
  let unpacked = 0;
  if (gzip) source.on("data", ({ length }) => (packed += length));
  const stream = gzip ? source.pipe(createGunzip({ chunkSize: PIECE_BYTES })) : source;
  // An error of the file's own stream does not pass through a pipe by itself.
  if (gzip) source.on("error", (error) => stream.destroy(error));
  try {
    for await (const part of stream) {
      unpacked += (part as Buffer).length;
      if (gzip && unpacked > Math.max(ALWAYS_UNPACKED, MOST_UNPACKED * packed)) {
        throw new InputError("broken-gzip", encodingTexts.bomb(name));
      }
      yield part as Buffer;
    }
  } catch (error) {
    if (error instanceof FairbedError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (gzip && code.startsWith("Z_")) throw new InputError("broken-gzip", fileTexts.brokenGzip(name));
    throw new InputError("unreadable-file", fileTexts.unreadable(name, code));
  } finally {
    source.destroy();
  }
}

/** The text of a file, piece by piece, without a byte order mark. */
export async function* textOf(
  file: PackedText,
  encoding: string,
  isAsked: boolean,
): AsyncGenerator<string, void, undefined> {
  const decoder = decoderOf(encoding);
  const decode = (bytes: Uint8Array, isLast: boolean): string => {
    try {
      return decoder.decode(bytes, isLast);
    } catch {
      const text = isAsked ? encodingTexts.not(file.name, encoding) : fileTexts.notUtf8(file.name);
      throw new InputError("not-utf8", text);
    }
  };
  for await (const bytes of bytesOf(file)) yield decode(bytes, false);
  const rest = decode(new Uint8Array(0), true);
  if (rest !== "") yield rest;
}
