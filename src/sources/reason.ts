/**
 * What a reader of files or a database complains about, without anything that stands in the table.
 *
 * Messages of DuckDB, SQLite, PostgreSQL and Arrow repeat cells, lines and parts of them, quoted or not. Of such a
 * message only its kind and the place that it names are passed on, in words of our own; nor is it kept as the `cause`
 * of an error, which is printed along with it.
 */

/** What kinds of error mean, by how a message begins or by what it has in it. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [
    /no space left|failed to offload data block|max_temp_directory_size/i,
    "there is no room left in the folder for temporary files",
  ],
  [
    /^Out of Memory Error|cannot allocate|Array buffer allocation|Invalid typed array length/i,
    "it needs more memory than there is",
  ],
  [
    /^Conversion Error|out of range|invalid input syntax|datatype mismatch/i,
    "a value is not of the type that was asked for",
  ],
  [/^Constraint Error/, "a value breaks a rule of its column"],
  [
    /^(Serialization|Fatal|INTERNAL|Internal) Error|database disk image is malformed|file is not a database/i,
    "it is damaged",
  ],
  [/^Permission Error|permission denied|not authori[sz]ed/i, "it may not be read"],
  [/^(IO|HTTP|Network) Error/, "it could not be read to its end"],
  [/^Not implemented Error|unsupported|not supported/i, "it has something in it that cannot be read here"],
  [/^(TransactionContext|Interrupt) Error|INTERRUPT/, "it was interrupted"],
  [/decompress|gzip|zstd|snappy|lz4|brotli/i, "what is compressed in it is damaged"],
];

const OTHERWISE = "what stands in it is damaged or of another kind";

const PLACE = /\b(line|row|byte|page|column)s?:? #?(\d+)\b/gi;

/** A few words without contents, with the line, row or byte that the message names. */
export const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const kind = KINDS.find(([pattern]) => pattern.test(message))?.[1] ?? OTHERWISE;
  // Before anything of the file is repeated: what stands behind the first quote may be a cell.
  const [said] = message.split(/["'`\n]/, 1);
  const places = Array.from(said.matchAll(PLACE), ([, what, number]) => `${what.toLowerCase()} ${number}`);
  return places.length === 0 ? kind : `${kind}, at ${places.join(", ")}`;
};
