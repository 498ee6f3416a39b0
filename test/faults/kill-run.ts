/** Processes that ask and tell at once, killed at random moments; and what must hold afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Campaign } from "../../src/campaign/campaign.js";
import type { AskedBody, ToldBody } from "../../src/campaign/events.js";
import { replayCampaign } from "../../src/campaign/replay.js";
import { verifyCampaign } from "../../src/campaign/verify.js";
import { seededStream } from "../../src/core/random.js";
import { openStore } from "../../src/stores/open-store.js";
import { people, ROLES } from "../campaign/people.js";

const PROGRAM = fileURLToPath(new URL("collector.mjs", import.meta.url));
const PROCESSES = 3;

interface Line {
  readonly ready?: true;
  readonly asked?: readonly string[];
  readonly told?: string;
  readonly id?: string;
  readonly fault?: string;
}

export interface KillReport {
  readonly kills: number;
  /** Answers that were acknowledged, and those that the log has. */
  readonly acknowledged: number;
  readonly stored: number;
  /** Items that nobody was asked about: with none left, the last kills would have met nothing. */
  readonly left: number;
  readonly lost: readonly string[];
  /** Items with more than one answer, or asked twice. */
  readonly repeated: readonly string[];
  readonly faults: readonly string[];
  readonly broken: string | null;
  readonly decisions: number;
  readonly disagreeing: number;
}

export const killRun = async (
  address: string,
  {
    kills,
    seed = 1,
    rows = 2000 + 250 * kills,
  }: { readonly kills: number; readonly seed?: number; readonly rows?: number },
): Promise<KillReport> => {
  const stream = seededStream(seed);
  const store = await openStore(address);
  const created = await Campaign.create(store, "hiring", {
    table: people({ rows, labelled: 12 }),
    acquisition: { ...ROLES, batch: 40 },
  });
  await created.settle();
  await created.close();
  const acknowledged = new Map<string, string>();
  const asked: string[] = [];
  const faults: string[] = [];
  const running = new Map<number, { readonly child: ChildProcess; readonly ready: Promise<void> }>();
  let stopping = false;
  const start = (slot: number): void => {
    const child = spawn(process.execPath, [PROGRAM, address, `c${slot}`, "hiring"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [text, said] = ["", ""];
    const ready = new Promise<void>((resolve) => {
      child.stdout?.on("data", (part) => {
        text += part;
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const each of lines) {
          const line = JSON.parse(each) as Line;
          if (line.ready) resolve();
          if (line.fault !== undefined) faults.push(line.fault);
          if (line.told !== undefined) acknowledged.set(line.told, line.id ?? "");
          asked.push(...(line.asked ?? []));
        }
      });
      child.stderr?.on("data", (part) => {
        said += part;
      });
      child.on("exit", (code) => {
        resolve();
        // One that ends by itself is a fault: it should have gone on, or waited.
        if (code !== null && !stopping)
          faults.push(`a process ended with ${code}: ${said.trim().split("\n").slice(0, 4).join(" | ")}`);
      });
    });
    running.set(slot, { child, ready });
  };
  const kill = async (slot: number): Promise<void> => {
    const own = running.get(slot);
    if (own === undefined) return;
    const ended = new Promise((resolve) => own.child.once("exit", resolve));
    if (own.child.exitCode !== null || own.child.signalCode !== null) return;
    own.child.kill("SIGKILL");
    await ended;
  };
  for (let slot = 0; slot < PROCESSES; slot++) start(slot);
  for (let i = 0; i < kills; i++) {
    const slot = stream.integer(PROCESSES);
    await running.get(slot)?.ready;
    await new Promise((resolve) => setTimeout(resolve, stream.uniform(0, 120)));
    await kill(slot);
    start(slot);
  }
  await Promise.all([...running.values()].map(({ ready }) => ready));
  stopping = true;
  for (let slot = 0; slot < PROCESSES; slot++) await kill(slot);

  const events = await store.read("hiring", 0);
  const told = events.filter(({ kind }) => kind === "told");
  const byEvent = new Map(told.map(({ id, subject }) => [id, subject]));
  const lost = [...acknowledged]
    .filter(([event, id]) => byEvent.get(event) !== id.slice(1))
    .map(([event]) => event);
  const twice = (subjects: readonly (string | null)[], what: string) => {
    const seen = new Set<string | null>();
    return subjects.filter((each) => seen.size === seen.add(each).size).map((each) => `${what} ${each}`);
  };
  const places = events.filter(
    ({ kind, body }) => kind === "asked" && (JSON.parse(body ?? "{}") as AskedBody).place !== undefined,
  );
  const answers = told.filter(({ body }) => (JSON.parse(body ?? "{}") as ToldBody).label !== undefined);
  const { agreeing, decisions, erased } = await replayCampaign(store, "hiring");
  const { reason } = await verifyCampaign(store, "hiring");
  await store.close();
  return {
    kills,
    acknowledged: acknowledged.size,
    stored: answers.length,
    left: rows - 12 - places.length,
    lost,
    repeated: [
      ...twice(
        answers.map(({ subject }) => subject),
        "answered twice:",
      ),
      ...twice(
        places.map(({ subject }) => subject),
        "asked twice:",
      ),
      ...twice(asked, "served twice:"),
    ],
    faults,
    broken: reason,
    decisions,
    disagreeing: decisions - erased - agreeing,
  };
};
