/**
 * A whole campaign as text, and back into any store: JSON lines, the first of which says what it is, then the items, then
 * the events. Imported, it has the same hash at its end, and the same state.
 */
import { InputError } from "../core/errors.js";
import { EVENT_KINDS, type LogEvent, type StoredItem } from "./events.js";
import { loadCampaign } from "./loaded-campaign.js";
import { type CampaignStore, requireName } from "./store.js";
import { type Verification, verifyLog } from "./verify.js";

/** What a backup says it is. */
export const BACKUP_FORMAT = "fairbed-campaign-backup-1";

export const backupTexts = {
  format: `this is no backup of a campaign: give a file that fairbed campaign backup wrote, whose format is "${BACKUP_FORMAT}"`,
  line: (line: number) => `line ${line} of the backup is damaged: give another copy of it`,
  content: "what the backup says is no campaign: give a file that fairbed campaign backup wrote",
  count: "the backup is not whole: it has fewer lines than its first one says; give another copy of it",
};

interface Header {
  readonly format: string;
  readonly name: string;
  readonly items: number;
  readonly events: number;
}

/** Line by line, each with its line end. */
export async function* backupLines(store: CampaignStore, name: string): AsyncGenerator<string> {
  const events = await store.read(name, 0);
  const items = await store.items(name);
  const header: Header = { format: BACKUP_FORMAT, name, items: items.length, events: events.length };
  yield `${JSON.stringify(header)}\n`;
  for (const item of items) yield `${JSON.stringify(item)}\n`;
  for (const event of events) yield `${JSON.stringify(event)}\n`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === "string";

const isItem = (value: unknown): value is StoredItem =>
  isRecord(value) &&
  Number.isSafeInteger(value.item) &&
  [value.id, value.cells, value.salt].every(isTextOrNull) &&
  typeof value.digest === "string";

const isEvent = (value: unknown): value is LogEvent =>
  isRecord(value) &&
  [value.seq, value.at].every(Number.isSafeInteger) &&
  EVENT_KINDS.some((kind) => kind === value.kind) &&
  [value.id, value.subject, value.body, value.salt].every(isTextOrNull) &&
  [value.digest, value.hash].every((each) => typeof each === "string");

const parseLine = (line: string, at: number): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    // The parser's words quote the line, which is about somebody. A first line that is no JSON is of something else.
    throw new InputError("backup", at === 1 ? backupTexts.format : backupTexts.line(at));
  }
};

export interface ReadBackup {
  readonly name: string;
  readonly items: readonly StoredItem[];
  readonly events: readonly LogEvent[];
}

export const readBackup = (text: string): ReadBackup => {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const header = lines.length === 0 ? undefined : parseLine(lines[0], 1);
  if (!isRecord(header) || header.format !== BACKUP_FORMAT || typeof header.name !== "string") {
    throw new InputError("backup", backupTexts.format);
  }
  const { name, items: count } = header as unknown as Header & Record<string, unknown>;
  const rest = lines.slice(1).map((line, i) => parseLine(line, i + 2));
  if (rest.length !== Number(header.items) + Number(header.events)) {
    throw new InputError("backup", backupTexts.count);
  }
  const items = rest.slice(0, count);
  const events = rest.slice(count);
  const wrong = [...items.map(isItem), ...events.map(isEvent)].indexOf(false);
  if (wrong >= 0) throw new InputError("backup", backupTexts.line(wrong + 2));
  return { name, items: items as StoredItem[], events: events as LogEvent[] };
};

/** A log may check and still be no campaign, because somebody made it up. */
const requireCampaign = ({ name, items, events }: ReadBackup): void => {
  try {
    const campaign = loadCampaign(name, items, events[0]);
    for (const event of events.slice(1)) campaign.apply(event);
  } catch (error) {
    // A model that is in a file is not needed before the campaign is opened.
    if (error instanceof InputError && error.code === "model") return;
    throw error instanceof InputError ? error : new InputError("backup", backupTexts.content);
  }
};

/** Refuses what does not check, and a name that is taken. */
export const restoreCampaign = async (
  store: CampaignStore,
  text: string,
  name?: string | undefined,
): Promise<Verification & { readonly name: string }> => {
  const backup = readBackup(text);
  const checked = verifyLog(backup.events, backup.items);
  if (checked.reason !== null) throw new InputError("backup", checked.reason);
  requireCampaign(backup);
  const own = requireName(name ?? backup.name);
  await store.create(own, backup.items, backup.events);
  return { ...checked, name: own };
};
