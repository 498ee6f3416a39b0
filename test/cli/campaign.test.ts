/** The commands of campaigns, as people and programs use them. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { BACKUP_FORMAT, backupTexts } from "../../src/campaign/backup.js";
import { campaignTexts } from "../../src/campaign/campaign.js";
import { itemsDigest, sealEvent } from "../../src/campaign/chain.js";
import { type CreatedBody, EMPTY_LOG } from "../../src/campaign/events.js";
import { answerTexts } from "../../src/campaign/pool-answers.js";
import type { Question } from "../../src/campaign/question.js";
import { CAMPAIGN_FORMAT } from "../../src/campaign/settings.js";
import { storeTexts } from "../../src/campaign/store.js";
import { verifyTexts } from "../../src/campaign/verify.js";
import { writeText } from "../../src/cli/atomic-write.js";
import { annotateTexts } from "../../src/cli/commands/campaign/annotate.js";
import { answersFileTexts } from "../../src/cli/commands/campaign/answers-file.js";
import { askTexts } from "../../src/cli/commands/campaign/ask.js";
import { backupCommandTexts } from "../../src/cli/commands/campaign/backup.js";
import { configureTexts } from "../../src/cli/commands/campaign/configure.js";
import { createTexts } from "../../src/cli/commands/campaign/create.js";
import { deleteTexts } from "../../src/cli/commands/campaign/delete.js";
import { exportCommandTexts } from "../../src/cli/commands/campaign/export.js";
import { openCampaignTexts } from "../../src/cli/commands/campaign/open-campaign.js";
import { storeOptionTexts } from "../../src/cli/commands/campaign/store-option.js";
import { tellTexts } from "../../src/cli/commands/campaign/tell.js";
import { withdrawTexts } from "../../src/cli/commands/campaign/withdraw.js";
import { fileTexts } from "../../src/cli/commands/design/files.js";
import { labelStudioTexts } from "../../src/cli/commands/server/label-studio.js";
import { failureText } from "../../src/cli/failure.js";
import { renderTexts } from "../../src/report/render.js";
import { startTexts } from "../../src/server/start-server.js";
import { readTaskTexts } from "../../src/sources/read-task.js";
import { openStoreTexts } from "../../src/stores/open-store.js";
import { csvText, parseCsv } from "../../src/tables/csv.js";
import { choice, LEGACY_TOKEN, startLabelStudio } from "../server/label-studio-server.js";
import { needsDist } from "../setup/dist.js";
import { describeWithPostgres, emptyDatabase } from "../setup/postgres.js";
import { recipe } from "../workflows/made-recipe.js";
import { type Ran, runInProcess } from "./in-process.js";
import { invoke as ownProcess } from "./invoke.js";
import { invoke } from "./one-process.js";

needsDist();
vi.setConfig({ testTimeout: 120_000 });
const folder = mkdtempSync(join(tmpdir(), "fairbed-campaign-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** Every fifth has a label from the start. */
const table = (rows: number, idOf: (row: number) => string = (row) => String(row).padStart(3, "0")) =>
  csvText([
    ["id", "skill", "taste", "sex", "price", "hired"],
    ...Array.from({ length: rows }, (_, i) => [
      idOf(i),
      (i * 7) % 11,
      (i * 5) % 3,
      i % 2 === 0 ? "f" : "m",
      1 + (i % 3),
      i % 5 === 0 ? ((i * 7) % 11 > 4 ? "yes" : "no") : undefined,
    ]),
  ]);
const POOL = at("people.csv");
writeFileSync(POOL, table(60));
const ROLES = ["--id", "id", "--target", "hired=yes", "--sensitive", "sex"];
/** Nothing is fitted. */
const RANDOM = ["--method", "random"];

let stores = 0;
const freshStore = (): string => `sqlite:${at(`store ${stores++}.db`)}`;
const fileOf = (store: string): string => store.slice("sqlite:".length);

/** Words after the campaign's name are given to it in a store of its own. */
const commandsOn = (store: string) => ({
  run: (command: string, ...words: string[]): Promise<Ran> =>
    runInProcess(["campaign", ...command.split(" "), ...words, "--store", store]),
  /** The result, of a command that works. */
  async get<Result = Record<string, unknown>>(command: string, ...words: string[]): Promise<Result> {
    const { result, failure } = await runInProcess([
      "campaign",
      ...command.split(" "),
      ...words,
      "--store",
      store,
    ]);
    expect(failure).toBeUndefined();
    return result as Result;
  },
  fails: async (command: string, ...words: string[]): Promise<string | undefined> =>
    (await runInProcess(["campaign", ...command.split(" "), ...words, "--store", store])).failure,
});

const created = async (...options: string[]) => {
  const store = freshStore();
  const commands = commandsOn(store);
  await commands.get("create c", "--pool", POOL, ...ROLES, ...options);
  return { store, ...commands };
};
type AskedResult = { readonly questions: readonly Question[]; readonly notes: readonly string[] };
interface StatusResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly hash: string;
  readonly events: number;
  readonly budget: number | null;
  readonly method: string;
  readonly cost: number;
  readonly ranking: { readonly basis: number; readonly answersSince: number } | null;
}

describe("a campaign from its beginning to its data", () => {
  const store = freshStore();
  const env = { FAIRBED_STORE: store };
  const call = async (...words: string[]) => {
    const { code, stdout, stderr } = await invoke([...words, "--json"], { env });
    return { code, stderr, json: JSON.parse(stdout) };
  };

  test("runs through bin/fairbed", async () => {
    const made = await call("campaign", "create", "hiring", "--pool", POOL, ...ROLES, "--budget", "30");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.json).toMatchObject({ kind: "pool", budget: 30, ranking: { basis: 1, answersSince: 0 } });
    const asked = await call("campaign", "ask", "hiring", "-n", "5");
    expect(asked.code).toBe(0);
    // A bare list: the age of the ranking is on stderr.
    expect(asked.json).toHaveLength(5);
    expect(asked.stderr).toMatch(/^The ranking is .* old and knows all answers\.\n$/);
    const questions: readonly Question[] = asked.json;
    expect(questions.some(({ reason }) => reason === "score")).toBe(true);
    for (const { id, score, target, leakage, values } of questions) {
      expect(id).toMatch(/^\d{3}$/);
      expect([score, target, leakage].every((each) => each === null || Number.isFinite(each))).toBe(true);
      expect(Object.keys(values ?? {})).not.toContain("sex");
    }
    const told = await invoke(["campaign", "tell", "hiring", "--id", questions[0].id, "--label", "yes"], {
      env,
    });
    expect(told.code).toBe(0);
    expect(told.stderr).toContain(tellTexts.stored(1));
    expect(told.stdout).toContain("The ranking is 0 s old and knows all answers.");
    const status = await call("campaign", "status", "hiring");
    expect(status.json).toMatchObject({
      counts: { labelled: 1, pending: 4, initial: 12, subjects: 60 },
      ranking: { answersSince: 0 },
    });
    expect((await call("campaign", "forecast", "hiring")).json).toMatchObject({
      advice: { action: "too-early" },
    });
    expect(await invoke(["campaign", "estimate", "hiring"], { env })).toMatchObject({ code: 2 });
    const replayed = await call("campaign", "replay", "hiring");
    expect(replayed.json).toMatchObject({ decisions: 5, agreeing: 5, differing: [], rankings: 1 });
    expect((await call("campaign", "verify", "hiring")).json).toMatchObject({ events: 7, reason: null });
    const out = at("hiring.csv");
    expect((await call("campaign", "export", "hiring", "--out", out)).json).toMatchObject({ rows: 13 });
    expect(readFileSync(out, "utf8")).toContain(`${questions[0].id},`);
    expect((await call("campaign", "list")).json.campaigns).toMatchObject([{ name: "hiring", events: 7 }]);
    expect(readdirSync(folder).some((name) => name.startsWith("fairbed.db"))).toBe(false);
  });

  test("prints tables for people", async () => {
    const asked = await runInProcess(["campaign", "ask", "hiring", "-n", "2", "--bits", "--store", store]);
    expect(asked.printed).toMatch(/^id +score +target +leakage/);
    expect(asked.printed).toContain("Scores are in bits.");
    const listed = await runInProcess(["campaign", "list", "--store", store]);
    expect(listed.printed).toMatch(/^campaign +events +last event\nhiring /);
  });

  test("a plan's recipe says how to ask, and options win over it", async () => {
    const path = at("recipe.json");
    writeFileSync(path, JSON.stringify(recipe));
    const { get, fails } = commandsOn(freshStore());
    const made = await get<StatusResult>("create c", "--pool", POOL, ...ROLES, "--recipe", path);
    expect(made).toMatchObject({ method: recipe.acquisition.method, budget: recipe.requirement.labels });
    const own = ["--recipe", path, "--method", "random", "--budget", "7"];
    expect(await get("create d", "--pool", POOL, ...ROLES, ...own)).toMatchObject({
      method: "random",
      budget: 7,
    });
    expect(await fails("create e", "--pool", POOL, ...ROLES, "--recipe", POOL)).toContain("is no JSON");
  });
});

describe("what is told", () => {
  test("once, twice, corrected, unasked, refused, and sensitive alone", async () => {
    const { get, run, fails } = await created(...RANDOM);
    const { questions } = await get<AskedResult>("ask c", "-n", "1");
    const { id } = questions[0];
    const tell = async (...words: string[]) =>
      (await get<{ answers: readonly Record<string, unknown>[] }>("tell c", ...words)).answers[0];
    expect(await tell("--id", id, "--label", "yes", "--event", "e1")).toMatchObject({
      status: "answer",
      unasked: false,
      event: "e1",
    });
    expect(await tell("--id", id, "--label", "yes", "--event", "e1")).toMatchObject({ status: "duplicate" });
    expect(await tell("--id", id, "--label", "yes")).toMatchObject({ status: "same" });
    expect(await tell("--id", id, "--label", "no")).toMatchObject({ status: "correction" });
    expect(await fails("tell c", "--id", id, "--label", "yes", "--event", "e1", "--annotator", "x")).toBe(
      answerTexts.eventTaken,
    );
    const other = id === "001" ? "002" : "001";
    expect(await tell("--id", other, "--refused")).toMatchObject({ status: "answer", unasked: true });
    expect(await tell("--id", "003", "--sensitive", "f")).toMatchObject({ status: "sensitive" });
    expect(await tell("--id", "003", "--sensitive", "sex=m")).toMatchObject({ status: "sensitive" });
    expect(await get<StatusResult>("status c")).toMatchObject({
      counts: { labelled: 1, refused: 1, corrections: 1, unasked: 1, pending: 0 },
    });
    // Two answers to one item that nobody asked about.
    await tell("--id", other, "--label", "yes", "--annotator", "second");
    expect((await run("status c")).printed).toMatch(/^ {2}not asked for +1 item$/m);
  });

  test("one sentence for every mistake", async () => {
    const { fails } = await created(...RANDOM);
    expect(await fails("tell c")).toBe(tellTexts.noId);
    expect(await fails("tell c", "--id", "001")).toBe(tellTexts.noAnswer);
    expect(await fails("tell c", "--id", "1", "--label", "yes")).toBe(answerTexts.noItem);
    expect(await fails("tell c", "--id", "001", "--label", "yse")).toContain("give one of no, yes");
    expect(await fails("tell c", "--id", "001", "--label", "yes", "--refused")).toBe(answerTexts.two);
    expect(await fails("tell c", "--id", "001", "--outcome", "1")).toBe(tellTexts.ofDesigns("--outcome"));
    expect(await fails("tell c", "--id", "001", "--file", POOL)).toBe(tellTexts.fileAnd("--id"));
    expect(await fails("tell c", "--id", "001", "--label", "yes", "--delimiter", ";")).toBe(
      tellTexts.onlyFile("--delimiter"),
    );
    expect(await fails("tell c", "--id", "001", "--sensitive", "f,m")).toBe(
      tellTexts.severalSensitive(["sex"]),
    );
    expect(await fails("tell c", "--id", "001", "--label", "yes", "--model", "location")).toBe(
      openCampaignTexts.noModel,
    );
    expect(await fails("ask c", "--participant", "p")).toBe(campaignTexts.wantsDesigns);
    expect(await fails("ask c", "--annotator", "x".repeat(201))).toBe(campaignTexts.text("annotator's name"));
    expect(await fails("skip c")).toBe(annotateTexts.noId);
    expect(await fails("adjudicate c", "--id", "001")).toBe(annotateTexts.noLabel);
    expect(await fails("retract c", "--id", "001")).toBe(answerTexts.notAnswered);
    expect(await fails("configure c")).toBe(configureTexts.nothing);
    expect(await fails("export c")).toBe(exportCommandTexts.noFile);
    expect(await fails("export c", "--out", at("x.doc"))).toBe(exportCommandTexts.kind(at("x.doc")));
    expect(await fails("export c", "--card", at("x.pdf"))).toBe(exportCommandTexts.card(at("x.pdf")));
    expect(await fails("backup c")).toBe(backupCommandTexts.noFile);
    expect(await fails("delete c")).toBe(deleteTexts.sure("c"));
    expect(await fails("withdraw c", "--id", "001")).toBe(withdrawTexts.sure);
  });

  test("a table: all of it, or the line of the mistake and nothing", async () => {
    const { get, fails } = await created(...RANDOM);
    const path = at("answers.csv");
    const file = (...lines: string[]): string[] => {
      writeFileSync(path, `${lines.join("\n")}\n`);
      return ["--file", path];
    };
    const mistake = (place: string, reason: string) => answersFileTexts.at(path, place, reason);
    const head = "id,label,sex,annotator,event,refused,remark";
    const good = ["001,yes,f,ann,a1,,", '002,,m,ann,a2,yes,"two', 'lines"', "003,,,,,,", "004,no,,bob,,no,"];
    expect(await fails("tell c", ...file(head, ...good, "999,yes,,,,,"))).toBe(
      mistake("line 7", answerTexts.noItem),
    );
    expect(await fails("tell c", ...file(head, ...good, "006,yes,,,,maybe,"))).toBe(
      mistake("line 7", answersFileTexts.refused("maybe")),
    );
    expect(await fails("tell c", ...file(head, "001,yes,,,,,", ",no,,,,,"))).toBe(
      mistake("line 3", answersFileTexts.noId),
    );
    expect(await fails("tell c", ...file(head, "001,maybe,,,,,"))).toMatch(
      /^line 2 of .*; no answer was stored$/,
    );
    expect(await fails("tell c", ...file(head, ...good, "007,yes,,ann,a1,,"))).toBe(
      mistake("line 7", answerTexts.eventTaken),
    );
    expect(await fails("tell c", ...file("person,label", "001,yes"))).toBe(
      answersFileTexts.noColumn(path, "id", undefined),
    );
    expect(await fails("tell c", ...file("id,lable,remark", "001,yes,"))).toBe(
      answersFileTexts.noColumn(path, "label", "lable"),
    );
    expect(await fails("tell c", ...file("id,label", "001,"))).toBe(answersFileTexts.empty(path));
    // Nothing of all that was stored.
    expect(await get<StatusResult>("status c")).toMatchObject({ events: 1 });
    const taken = await get<{ answers: readonly unknown[]; notes: readonly string[] }>(
      "tell c",
      ...file(head, ...good),
    );
    expect(taken.answers).toMatchObject([
      { id: "001", status: "answer", event: "a1" },
      { id: "002", status: "answer" },
      { id: "004", status: "answer" },
    ]);
    expect(taken.notes).toEqual([answersFileTexts.ignored(["remark"]), answersFileTexts.unanswered(1)]);
    expect(await get<StatusResult>("status c")).toMatchObject({
      counts: { labelled: 2, refused: 1, annotators: 2 },
    });
    // Told again, nothing happens twice; the target's own name will do for the labels.
    writeFileSync(
      at("answers.jsonl"),
      '{"id":"008","hired":"yes","sensitive":"f"}\n{"id":"09","hired":"no"}\n',
    );
    expect(await fails("tell c", "--file", at("answers.jsonl"))).toBe(
      answersFileTexts.at(at("answers.jsonl"), "line 2", answerTexts.noItem),
    );
    expect((await get<{ answers: unknown }>("tell c", ...file(head, good[0]))).answers).toMatchObject([
      { status: "duplicate" },
    ]);
  });

  test("ids of every kind stay what they are", async () => {
    const odd = [
      "007",
      "7",
      "a b",
      "O'Neil",
      'say "hi"',
      "Zoë",
      "名前",
      "=1+1",
      "x;y,z",
      "1e3",
      "1000",
      "-5",
    ];
    const pool = at("odd.csv");
    writeFileSync(pool, table(30, (row) => odd[row - 10] ?? `p${row}`).replaceAll(/,(yes|no)\n/g, ",$1\n"));
    const { get } = commandsOn(freshStore());
    await get("create odd", "--pool", pool, ...ROLES, ...RANDOM);
    for (const [i, id] of odd.entries()) {
      const { answers } = await get<{ answers: readonly { id: string }[] }>(
        "tell odd",
        `--id= ${id} `,
        "--label",
        i % 2 === 0 ? "yes" : "no",
      );
      expect(answers[0].id).toBe(id);
    }
    const file = at("odd answers.csv");
    writeFileSync(file, csvText([["id", "label"], ...odd.map((id) => [id, "yes"])]));
    await get("tell odd", "--file", file);
    const out = at("odd out.csv");
    await get("export odd", "--out", out);
    const ids = parseCsv(readFileSync(out, "utf8")).map(([id]) => id.replace(/^'+/, ""));
    expect(ids).toEqual(expect.arrayContaining(odd));
  });
});

describe("limits and annotators", () => {
  test("budgets of labels and of costs, which can be raised", async () => {
    const { get } = await created(...RANDOM, "--budget", "2");
    const first = await get<AskedResult>("ask c", "-n", "5");
    expect(first.questions).toHaveLength(2);
    expect(first.notes).toEqual([answerTexts.budget(2, 2)]);
    await get("configure c", "--budget", "3");
    expect((await get<AskedResult>("ask c", "-n", "5")).questions).toHaveLength(1);
    await get("configure c", "--budget", "none", "--cost-per-label", "10", "--cost-budget", "45");
    const last = await get<AskedResult>("ask c", "-n", "5");
    expect(last.questions).toHaveLength(1);
    expect(last.notes).toEqual([answerTexts.cost(45), askTexts.listing("c")]);
    expect(await get<StatusResult>("status c")).toMatchObject({ cost: 40, budget: null });
  });

  test("questions that wait are listed until they are answered, and nothing new is asked for", async () => {
    const { get, fails, run } = await created(...RANDOM, "--budget", "3");
    expect((await run("ask c", "--waiting")).printed).toBe("No question waits for an answer.");
    const { result, goOn } = await run("ask c", "-n", "3", "--annotator", "ann");
    const { questions } = result as AskedResult;
    // Ctrl-C from here on says where they are.
    expect(goOn).toBe(askTexts.stored(3, "c"));
    expect((await get<AskedResult>("ask c", "--waiting")).questions).toEqual(questions);
    expect((await get<AskedResult>("ask c", "--waiting", "-n", "2")).questions).toEqual(
      questions.slice(0, 2),
    );
    expect((await get<AskedResult>("ask c", "--waiting", "--annotator", "bob")).questions).toEqual([]);
    const refused = await get<AskedResult>("ask c");
    expect(refused.notes).toEqual([answerTexts.budget(3, 3), askTexts.listing("c")]);
    await get("tell c", "--id", questions[0].id, "--label", "yes", "--annotator", "ann");
    const left = await run("ask c", "--waiting");
    expect((left.result as AskedResult).questions).toEqual(questions.slice(1));
    expect(left.printed).toMatch(/^ *id +score +target +leakage +annotator +waits until +why$/m);
    expect(left.goOn).toBeUndefined();
    expect((await get<StatusResult>("status c")).counts).toMatchObject({ labelled: 1, pending: 2 });
    for (const flags of ["--again", "--adjudicate"])
      expect(await fails("ask c", "--waiting", flags)).toBe(askTexts.waitingAnd(flags));
    expect(await fails("ask c", "--waiting", "--participant", "p")).toBe(campaignTexts.wantsDesigns);
  });

  test("Ctrl-C while questions are asked for leaves none that nothing speaks of", async () => {
    const { store, get } = await created(...RANDOM);
    const words = ["campaign", "ask", "c", "--store", store];
    for (const delay of [150, 300, 450]) {
      const before = (await get<StatusResult>("status c")).counts.pending;
      const ended = await ownProcess(words, {
        during: (child) => {
          setTimeout(() => child.kill("SIGINT"), delay);
        },
      });
      const stored = (await get<StatusResult>("status c")).counts.pending > before;
      const isSaid = ended.stdout !== "" || ended.stderr.includes(askTexts.stored(1, "c"));
      expect(isSaid).toBe(stored);
    }
  });

  test("a question that ran out may come again, and a request made again gets the same", async () => {
    const { get } = await created(...RANDOM, "--lease", "0.05");
    const same = await Promise.all([1, 2].map(() => get<AskedResult>("ask c", "--request", "r1")));
    expect(same[0].questions).toEqual(same[1].questions);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await get<StatusResult>("status c")).toMatchObject({
      counts: { expired: 1, pending: 0, open: 48 },
    });
  });

  test("nobody gets an item twice; what they disagree on is settled", async () => {
    const { get } = await created(...RANDOM, "--opinions", "2");
    const ask = async (...words: string[]) => (await get<AskedResult>("ask c", ...words)).questions;
    const [{ id }] = await ask("--annotator", "ann");
    await get("tell c", "--id", id, "--label", "yes", "--annotator", "ann");
    expect(await ask("--annotator", "bob")).toMatchObject([{ id, reason: "second-opinion" }]);
    expect((await ask("--annotator", "ann", "-n", "47")).map((each) => each.id)).not.toContain(id);
    await get("tell c", "--id", id, "--label", "no", "--annotator", "bob");
    const status = await get<StatusResult & { agreement: unknown }>("status c");
    expect(status).toMatchObject({ counts: { disputed: 1, annotators: 2 }, agreement: { units: 1 } });
    expect(await ask("--adjudicate")).toMatchObject([{ id, reason: "adjudication" }]);
    await get("adjudicate c", "--id", id, "--label", "yes", "--annotator", "eve");
    expect(await get<StatusResult>("status c")).toMatchObject({ counts: { disputed: 0, labelled: 1 } });
    await get("retract c", "--id", id, "--annotator", "bob");
    const [passed] = await ask("--annotator", "dan");
    await get("skip c", "--id", passed.id, "--annotator", "dan");
    expect((await ask("--annotator", "dan", "-n", "60")).map((each) => each.id)).not.toContain(passed.id);
  });
});

describe("who withdraws", () => {
  test("is erased from the store, its files and exports; the log still checks", async () => {
    const { store, get, run, fails } = await created(...RANDOM);
    const secret = "001";
    await get("tell c", "--id", secret, "--label", "yes", "--annotator", "annotator-of-001");
    const [other] = (await get<AskedResult>("ask c", "--annotator", "ann")).questions;
    expect(other.id).not.toBe(secret);
    expect(await get("withdraw c", "--id", secret, "--yes")).toMatchObject({ erased: 1 });
    // Not only what was asked about them: whom the random part met depends on who was in the pool.
    const replayed = await run("replay c");
    expect(replayed.result).toMatchObject({ decisions: 1, agreeing: 0, erased: 1 });
    expect(replayed.printed).toContain("1 cannot be computed again: asked before somebody withdrew");
    expect(await fails("withdraw c", "--id", secret, "--yes")).toBe(campaignTexts.nobody);
    expect(await fails("tell c", "--id", secret, "--label", "yes")).toBe(answerTexts.noItem);
    const out = at("without.csv");
    await get("export c", "--out", out, "--rows", "all");
    expect(parseCsv(readFileSync(out, "utf8")).map(([id]) => id)).not.toContain(secret);
    // The answer, and the row of the pool.
    const verified = await run("verify c");
    expect(verified.result).toMatchObject({ reason: null, erased: 2 });
    expect(verified.printed).toContain("The content of 2 of these events and items was erased");
    expect(verified.printed).toContain("status counts only who is left");
    expect(await get<StatusResult>("status c")).toMatchObject({ counts: { withdrawn: 1, subjects: 59 } });
    for (const end of ["", "-wal"]) {
      const path = fileOf(store) + end;
      if (existsSync(path)) expect(readFileSync(path).includes("annotator-of-001")).toBe(false);
    }
  });
});

describe("what was written", () => {
  test.each<[string, string, (event: number) => string]>([
    ["an answer", "update events set body = replace(body, 'yes', 'no') where kind = 'told'", () => "content"],
    ["an event that is gone", "delete from events where seq = 2", () => "missing"],
    [
      "a row of the pool",
      "update items set cells = replace(cells, '\"f\"', '\"m\"') where item = 4",
      () => "content",
    ],
  ])("is checked: %s", async (_, sql) => {
    const { store, get } = await created(...RANDOM);
    await get("tell c", "--id", "001", "--label", "yes");
    await get("tell c", "--id", "002", "--label", "no");
    const database = new Database(fileOf(store));
    expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
    database.close();
    const { code, stdout, stderr } = await invoke(["campaign", "verify", "c", "--store", store, "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "damaged" } });
    const faults = (["content", "missing", "order"] as const).flatMap((problem) =>
      [1, 2, 3, 4].flatMap((n) => [
        verifyTexts.fault({ where: { seq: n }, problem }),
        verifyTexts.fault({ where: { item: n }, problem }),
      ]),
    );
    expect(faults.map((each) => `fairbed: ${each}\n`)).toContain(stderr);
  });

  test("goes to a file and into another store, with the same hash", async () => {
    const { get, fails, store } = await created(...RANDOM);
    await get("tell c", "--id", "001", "--label", "yes");
    const path = at("c.backup.jsonl");
    const { hash } = await get<{ hash: string }>("backup c", "--out", path);
    const other = commandsOn(freshStore());
    expect(await other.get("restore", path, "--as", "copy")).toMatchObject({ campaign: "copy", hash });
    expect(await other.get<StatusResult>("status copy")).toMatchObject({ hash, counts: { labelled: 1 } });
    expect(await fails("restore", path)).toBe(storeTexts.taken("c"));
    expect(await fails("restore", POOL)).toContain("backup");
    expect(await fails("restore", at("nothing"))).toBe(fileTexts.missing(at("nothing")));
    writeFileSync(at("short.jsonl"), readFileSync(path, "utf8").split("\n").slice(0, -2).join("\n"));
    expect(await fails("restore", at("short.jsonl"), "--as", "d")).toBe(backupTexts.count);
    writeFileSync(at("changed.jsonl"), readFileSync(path, "utf8").replace('\\"yes\\"', '\\"no\\"'));
    expect(await fails("restore", at("changed.jsonl"), "--as", "d")).toContain("tampered");
    const made = { format: CAMPAIGN_FORMAT, version: "0", items: 0, itemsDigest: itemsDigest([]) };
    for (const settings of [
      undefined,
      {},
      { seed: 0, policy: 7, model: { name: "location", options: {} } },
    ]) {
      const body = { ...made, settings } as unknown as CreatedBody;
      const event = sealEvent(EMPTY_LOG, { kind: "created", id: "created", body }, 1000);
      const header = { format: BACKUP_FORMAT, name: "d", items: 0, events: 1 };
      writeFileSync(at("made up.jsonl"), [header, event].map((line) => JSON.stringify(line)).join("\n"));
      expect(await fails("restore", at("made up.jsonl"))).toBe(backupTexts.content);
    }
    expect(await fails("backup c", "--out", fileOf(store))).toBe(writeText.isInput(fileOf(store)));
    await get("delete c", "--yes");
    expect(await fails("status c")).toBe(storeTexts.unknown("c"));
    expect(await fails("delete c", "--yes")).toBe(storeTexts.unknown("c"));
  });
});

describe("stores", () => {
  test("are named by --store, by FAIRBED_STORE, or are fairbed.db here; reading makes none", async () => {
    const store = at("none.db");
    const { code, stdout, stderr } = await invoke(["campaign", "status", "c"], {
      env: { FAIRBED_STORE: `sqlite:${store}` },
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairbed: ${storeOptionTexts.missing(store)}\n`,
    });
    expect(existsSync(store)).toBe(false);
    expect((await invoke(["campaign", "list"], { env: { FAIRBED_STORE: "" } })).stderr).toBe(
      `fairbed: ${storeOptionTexts.missing("fairbed.db")}\n`,
    );
    expect(await commandsOn("memory:").fails("list")).toBe(storeOptionTexts.memory);
    expect(await commandsOn("mysql://me:s3cret@host/db").fails("list")).toBe(openStoreTexts.address);
    writeFileSync(at("no.db"), "not a database, and longer than the head of one would be ".repeat(20));
    expect(await commandsOn(at("no.db")).fails("list")).toBe(storeTexts.damaged(at("no.db")));
  });

  test("a campaign that cannot be made", async () => {
    const { fails } = commandsOn(freshStore());
    expect(await fails("create c")).toBe(createTexts.what);
    expect(await fails("create c", "--pool", POOL, "--policy", POOL)).toBe(createTexts.both);
    expect(await fails("create c", "--policy", POOL, "--target", "x")).toBe(
      createTexts.notOfDesigns("--target"),
    );
    expect(await fails("create c", "--pool", POOL, ...ROLES, "--model", "x")).toBe(
      createTexts.notOfPools("--model"),
    );
    expect(await fails("create c", "--pool", POOL)).toBe(readTaskTexts.noTarget);
    expect(await fails("create c", "--pool", POOL, "--target", "hired=yes")).toBe(readTaskTexts.noSensitive);
    expect(await fails("create a/b", "--pool", POOL, ...ROLES)).toBe(storeTexts.name("a/b"));
    expect(await fails("create c", "--pool", POOL, ...ROLES, "--id", "sex")).toContain(
      'ids in the column "sex"',
    );
    expect(await fails("create c", "--pool", POOL, ...ROLES, "--lease", "soon")).toContain("15m, 2h or 30d");
  });

  const lifeIn = async (store: string) => {
    const { get } = commandsOn(store);
    await get("create c", "--pool", POOL, ...ROLES, ...RANDOM);
    const { questions } = await get<AskedResult>("ask c", "-n", "3");
    await get("tell c", "--id", questions[0].id, "--label", "yes");
    expect(await get<StatusResult>("status c")).toMatchObject({ counts: { labelled: 1, pending: 2 } });
    expect(await get("verify c")).toMatchObject({ reason: null });
  };

  describeWithPostgres("a database on a server", (server) => {
    test("keeps a campaign, and its password is not shown", async () => {
      const address = await emptyDatabase(server());
      await lifeIn(address);
      const env = { FAIRBED_STORE: address };
      const listed = await invoke(["campaign", "list", "--json"], { env });
      expect(JSON.parse(listed.stdout)).toMatchObject({ campaigns: [{ name: "c" }] });
      expect(listed.stdout + listed.stderr).not.toContain(server().password);
      const wrong = address.replace(server().password, "wrong-pass");
      const failed = await invoke(["campaign", "list"], { env: { FAIRBED_STORE: wrong } });
      expect(failed.code).toBe(2);
      expect(failed.stderr).not.toContain("wrong-pass");
    });
  });
});

describe("several at once", () => {
  test("processes that ask and tell lose and repeat nothing", async () => {
    const { store, get } = await created(...RANDOM);
    const person = async (annotator: string) => {
      const words = ["--annotator", annotator, "--store", store];
      const { stdout } = await invoke(["campaign", "ask", "c", "-n", "4", "--json", ...words]);
      const ids = (JSON.parse(stdout) as readonly Question[]).map(({ id }) => id);
      for (const id of ids) {
        const told = await invoke(["campaign", "tell", "c", "--id", id, "--label", "yes", ...words]);
        expect(told.code).toBe(0);
      }
      return ids;
    };
    const ids = (await Promise.all(["ann", "bob", "eve"].map(person))).flat();
    expect(new Set(ids).size).toBe(12);
    expect(await get<StatusResult>("status c")).toMatchObject({
      counts: { labelled: 12, pending: 0, annotators: 3 },
    });
    expect(await get("verify c")).toMatchObject({ reason: null, events: 25 });
    expect(await get("replay c")).toMatchObject({ decisions: 12, agreeing: 12 });
  });

  test("Ctrl-C while models are fitted loses no answer", async () => {
    const large = at("large.csv");
    writeFileSync(
      large,
      table(4000, (row) => `p${row}`),
    );
    const address = freshStore();
    const made = commandsOn(address);
    // The first ranking takes long too, and may be left out.
    const beginning = await invoke(
      ["campaign", "create", "c", "--pool", large, ...ROLES, "--store", address],
      {
        during: (child) => {
          child.stderr?.on("data", (text) => {
            if (String(text).includes(createTexts.created("c"))) child.kill("SIGINT");
          });
        },
      },
    );
    expect([0, 130]).toContain(beginning.code);
    const told = await invoke(["campaign", "tell", "c", "--id", "p1", "--label", "yes", "--store", address], {
      during: (child) => {
        child.stderr?.on("data", (text) => {
          if (String(text).includes(tellTexts.stored(1))) child.kill("SIGINT");
        });
      },
    });
    expect(told.code).toBe(130);
    expect(told.stderr).toContain(failureText.interrupted);
    expect(await made.get<StatusResult>("status c")).toMatchObject({ counts: { labelled: 1 } });
  });
});

describe("designs", () => {
  const policy = at("policy.json");
  beforeAll(async () => {
    const sizes = ["--outer", "4", "--inner", "10", "--batches", "1"];
    const words = ["--model", "linear-gaussian", "--steps", "2", "--starts", "1", "--horizon", "2"];
    const made = await runInProcess(["design", "optimize", ...words, ...sizes, "--out", policy]);
    expect(made.failure).toBeUndefined();
  });

  test("every participant goes through the policy", async () => {
    const { get, fails, run } = commandsOn(freshStore());
    expect(await get("create trial", "--policy", policy)).toMatchObject({ kind: "design", ranking: null });
    const ask = (participant: string) => get<AskedResult>("ask trial", "--participant", participant);
    const first = await ask("p 1");
    expect(first.questions).toMatchObject([{ id: "p 1", step: 0, reason: "policy" }]);
    expect((await ask("p 1")).notes).toEqual([campaignTexts.waiting, askTexts.listing("trial")]);
    const waiting = await get<AskedResult>("ask trial", "--waiting", "--participant", "p 1");
    expect(waiting.questions).toEqual(first.questions);
    expect((await run("ask trial", "--participant", "p2")).printed).toContain("--outcome NUMBER");
    expect(await fails("tell trial", "--id", "p 1")).toBe(tellTexts.noOutcome);
    expect(await fails("tell trial", "--id", "p 1", "--label", "1")).toBe(tellTexts.ofPools("--label"));
    await get("tell trial", "--id", "p 1", "--outcome", "0.3");
    await get("tell trial", "--id", "p 1", "--outcome", "0.4", "--step", "0");
    await get("tell trial", "--id", "p2", "--outcome", "1", "--design", "x=1,y=2");
    const file = at("outcomes.csv");
    writeFileSync(file, "id,outcome,x,y\np 1,0.5,1,2\np 1,0.6,1,2\n");
    expect(await fails("tell trial", "--file", file)).toMatch(/^line 3 of .*; no answer was stored$/);
    // Neither was the line before it.
    expect(await get<StatusResult>("status trial")).toMatchObject({ counts: { labelled: 2 } });
    writeFileSync(file, "id,outcome,x,y\np 1,0.5,1,2\n");
    await get("tell trial", "--file", file);
    expect((await ask("p 1")).notes).toEqual([campaignTexts.done(2)]);
    expect(await get<StatusResult>("status trial")).toMatchObject({
      counts: { labelled: 3, corrections: 1, subjects: 2 },
    });
    expect(await get("replay trial")).toMatchObject({ decisions: 2, agreeing: 2 });
    expect(await get("withdraw trial", "--id", "p 1", "--yes")).toMatchObject({ erased: 4 });
    expect(await fails("forecast trial")).toBe(campaignTexts.wantsPool);
    expect(await get("export trial", "--out", at("trial.jsonl"))).toMatchObject({ rows: 1 });
  });

  test("of a model in a file, which is named again where it was moved", async () => {
    const model = at("line.mjs");
    writeFileSync(
      model,
      `import { defineModel, normal, real, sensitive, target, add, mul } from "fairbed/design";
       export default defineModel({
         name: "line",
         parameters: { a: target(normal(0, 1)), b: sensitive(normal(0, 1)) },
         design: { x: real() },
         outcome: ({ a, b }, { x }) => normal(add(a, mul(b, x)), 1),
       });`,
    );
    const own = at("line policy.json");
    const sizes = ["--steps", "2", "--starts", "1", "--horizon", "2", "--outer", "4", "--inner", "10"];
    const env = { FAIRBED_STORE: freshStore() };
    const call = async (...words: string[]) => {
      const { code, stdout } = await invoke([...words, "--json"], { env });
      return { code, json: JSON.parse(stdout) };
    };
    const optimized = ["design", "optimize", "--model", model, ...sizes, "--batches", "1", "--out", own];
    expect((await call(...optimized)).code).toBe(0);
    expect(await call("campaign", "create", "line", "--policy", own)).toMatchObject({ code: 0 });
    expect((await call("campaign", "ask", "line")).json).toHaveLength(1);
    writeFileSync(at("moved.mjs"), readFileSync(model));
    rmSync(model);
    expect((await call("campaign", "status", "line")).json.error.message).toContain("--model");
    const moved = await call("campaign", "status", "line", "--model", at("moved.mjs"));
    expect(moved.json).toMatchObject({ counts: { pending: 1 } });
    expect(await call("campaign", "status", "line", "--model", "location")).toMatchObject({ code: 2 });
  });

  test("of two outcomes, which are named where one is to be told", async () => {
    const model = at("offer.mjs");
    writeFileSync(
      model,
      `import { bernoulli, defineModel, mul, normal, real, sensitive, target } from "fairbed/design";
       export default defineModel({
         name: "offer",
         parameters: { a: target(normal(0, 1)), b: sensitive(normal(0, 1)) },
         design: { x: real() },
         outcome: ({ a, b }, { x }) => ({ came: bernoulli({ logit: mul(a, x) }), "the score": normal(b, 1) }),
       });`,
    );
    const designs = at("offer designs.json");
    writeFileSync(designs, JSON.stringify({ designs: [[1], [2]] }));
    writeFileSync(at("none.json"), "[]");
    const env = { FAIRBED_STORE: freshStore() };
    const call = async (...words: string[]) => {
      const { code, stdout } = await invoke([...words, "--model", model], { env });
      expect(code).toBe(0);
      return stdout;
    };
    const next = await call("design", "next", designs, "--history", at("none.json"));
    expect(next).toContain('Then record "came" as 1 for yes, 0 for no.\n');
    expect(next).toContain('Then record "the score" as it is.\n');
    await call("campaign", "create", "offer", "--policy", designs);
    const asked = await call("campaign", "ask", "offer", "--participant", "p1");
    expect(asked).toContain("--outcome 'came=NUMBER,the score=NUMBER'\n");
  });
});

describe("the data card", () => {
  test("that cannot be drawn is refused before anything is written", async () => {
    vi.resetModules();
    vi.doMock("vega", () => {
      throw new Error("Cannot find package 'vega'");
    });
    const { exportCampaign } = await import("../../src/cli/commands/campaign/export.js");
    const input = {
      arguments: { name: "c" },
      options: { out: at("early.csv"), card: at("early.html"), store: "memory:" },
      given: new Set(),
    };
    // No store is opened either: there is no such campaign.
    await expect(exportCampaign.run({ ...input, context: {} } as never)).rejects.toThrow(
      renderTexts.noVegaOr(exportCommandTexts.noCharts),
    );
    vi.doUnmock("vega");
  });

  test("is written beside the data, for people and for programs", async () => {
    const { get, fails } = await created(...RANDOM);
    const { questions } = await get<AskedResult>("ask c", "-n", "20");
    const file = at("card answers.csv");
    writeFileSync(
      file,
      csvText([["id", "label"], ...questions.map(({ id }) => [id, Number(id) % 3 === 0 ? "no" : "yes"])]),
    );
    await get("tell c", "--file", file);
    for (const end of ["md", "json", "html"]) {
      const card = at(`card.${end}`);
      await get("export c", "--card", card, "--licence", "CC-BY-4.0", "--contact", "desk 7");
      expect(readFileSync(card, "utf8")).toContain("CC-BY-4.0");
    }
    expect(JSON.parse(readFileSync(at("card.json"), "utf8"))).toMatchObject({ name: "c", kind: "pool" });
    expect(await fails("export c", "--out", at("x.csv"), "--contact", "me")).toBe(
      exportCommandTexts.onlyCard("--contact"),
    );
    const out = at("all.parquet");
    await get("export c", "--out", out, "--rows", "all", "--without-sensitive");
    expect(existsSync(out)).toBe(true);
    // Twenty were drawn at random: that is enough for both.
    const estimate = await get<Record<string, unknown>>("estimate c");
    expect(estimate).toMatchObject({ rows: { drawn: 20 }, unit: "nats" });
    const { printed } = await runInProcess(["campaign", "list", "--store", freshStore()]);
    expect(printed).toBeUndefined();
  });
});

describe("tokens", () => {
  const run = (store: string, ...words: string[]) => runInProcess(["token", ...words, "--store", store]);

  test("are shown once, listed without what opens, and ended", async () => {
    const { store } = await created(...RANDOM);
    const made = await run(store, "create", "--scope", "label", "--campaign", "c", "--annotator", "ann");
    const { token, id } = made.result as { token: string; id: string };
    expect(made.printed).toContain(token);
    const listed = await run(store, "list");
    expect(listed.result).toMatchObject({
      tokens: [{ id, scope: "label", campaign: "c", annotator: "ann" }],
    });
    expect(JSON.stringify(listed)).not.toContain(token);
    expect((await run(store, "revoke", id)).result).toEqual({ revoked: id });
    expect((await run(store, "revoke", id)).failure).toBeDefined();
    expect((await run(store, "list")).printed).toContain("There are no tokens");
    expect((await run(store, "create", "--campaign", "d")).failure).toBe(storeTexts.unknown("d"));
    expect((await run(store, "create", "--scope", "all")).failure).toContain("admin, collect, label, read");
  });
});

describe("the server", () => {
  test("answers until Ctrl-C", async () => {
    const { store } = await created(...RANDOM);
    let answered: unknown;
    const outcome = await invoke(["serve", "--port", "0", "--log", "error", "--store", store], {
      during: (child) => {
        child.stderr?.on("data", async (text) => {
          const [url] = /http:[^\s;]+/.exec(String(text)) ?? [];
          if (url === undefined) return;
          answered = await (await fetch(`${url}/api/v1/campaigns`)).json();
          child.kill("SIGINT");
        });
      },
    });
    expect(answered).toMatchObject({ campaigns: [{ name: "c" }] });
    expect(outcome).toMatchObject({ code: 130, stdout: "" });
    expect(outcome.stderr.endsWith(`\nfairbed: ${failureText.stopped}\n`)).toBe(true);
  });

  test("lets nobody else in without a token", async () => {
    const { failure } = await runInProcess(["serve", "--host", "0.0.0.0", "--store", freshStore()]);
    expect(failure).toBe(startTexts.noTokens("0.0.0.0"));
  });
});

describe("Label Studio", () => {
  const studioFails = async (store: string, ...words: string[]) =>
    (await runInProcess(["label-studio", "c", ...words, "--store", store])).failure;

  test("gets tasks, and its answers are taken in", async () => {
    const studio = await startLabelStudio();
    try {
      const { store, get } = await created(...RANDOM);
      const words = ["--url", studio.url, "--project", "12", "--tasks", "3"];
      expect(await studioFails(store)).toBe(labelStudioTexts.noUrl);
      expect(await studioFails(store, "--url", studio.url)).toBe(labelStudioTexts.noProject);
      expect(await studioFails(store, ...words, "--token-env", "NO_TOKEN")).toBe(
        labelStudioTexts.noToken("NO_TOKEN"),
      );
      const env = { LABEL_STUDIO_TOKEN: LEGACY_TOKEN };
      const round = ["label-studio", "c", ...words, "--once", "--store", store, "--json"];
      const first = await invoke(round, { env });
      expect(JSON.parse(first.stdout)).toMatchObject({ open: 0, imported: 3, told: 0 });
      expect(first.stdout + first.stderr).not.toContain(LEGACY_TOKEN);
      expect(await get<StatusResult>("status c")).toMatchObject({ counts: { pending: 3 } });
      const [task] = studio.open();
      await studio.annotate(task.id, 7, [choice("yes")], "lost");
      expect(JSON.parse((await invoke(round, { env })).stdout)).toMatchObject({ told: 1, imported: 1 });
      expect(await get<StatusResult>("status c")).toMatchObject({ counts: { labelled: 1, pending: 3 } });
    } finally {
      await studio.close();
    }
  });

  test("is looked at round after round until Ctrl-C, and one that is away is named", async () => {
    const studio = await startLabelStudio();
    const { store } = await created(...RANDOM);
    const words = ["label-studio", "c", "--url", studio.url, "--project", "12", "--store", store];
    const env = { LABEL_STUDIO_TOKEN: LEGACY_TOKEN };
    let rounds = 0;
    const outcome = await invoke([...words, "--every", "1"], {
      env,
      during: (child) =>
        child.stderr?.on("data", (text) => {
          rounds += String(text).split(" open, ").length - 1;
          if (rounds >= 2) child.kill("SIGINT");
        }),
    });
    await studio.close();
    expect(outcome.code).toBe(130);
    expect(rounds).toBeGreaterThanOrEqual(2);
    const away = await invoke([...words, "--once"], { env });
    expect(away.code).toBe(1);
    expect(away.stderr).toMatch(/Label Studio .*(?:reached|answer)/);
  }, 120_000);
});
