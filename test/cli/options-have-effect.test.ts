/**
 * Every option of every command changes something: what the command gives, what it writes, or how it fails. The list of
 * commands and options is what ships, so an option without an entry here fails.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { csvText } from "../../src/tables/csv.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { tinyNetwork } from "../sources/tiny-network.js";
import { recipe } from "../workflows/made-recipe.js";
import { type Ran, runInProcess, shippedCommands } from "./in-process.js";
import { withoutColumns } from "./records.js";

needsDist();
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "fairbed-options-"));
const at = (name: string): string => join(folder, name);
const environment = { ...process.env };
afterAll(() => {
  process.env = environment;
  rmSync(folder, { recursive: true, force: true });
});

/** A table in which every option has something to act on. */
const people = (rows: number, seed: number): readonly (readonly (string | number)[])[] => {
  const stream = seededStream(seed);
  return [
    [
      "id",
      "age",
      "skill",
      "height",
      "taste",
      "town",
      "sex",
      "race",
      "hired",
      "price",
      "weight",
      "score",
      "club",
      "name",
    ],
    ...Array.from({ length: rows }, (_, i) => {
      const sex = stream.uniform() < 0.5 ? "f" : "m";
      const race = stream.uniform() < 0.5 ? "a" : "b";
      const skill = stream.integer(20);
      const hired = stream.uniform() < (skill + (sex === "m" ? 3 : 0)) / 22 ? "yes" : "no";
      return [
        seed * 1000 + ((i * 37) % rows),
        18 + stream.integer(50),
        skill,
        (stream.normal() + (sex === "m" ? 1 : 0)).toFixed(3),
        // A mark of its own for what is missing.
        i % 12 === 0 ? "-" : stream.integer(7),
        // One with a backslash before its closing quote.
        ["north", "south, \\", "east"][stream.integer(3)],
        sex,
        race,
        hired,
        1 + stream.integer(4),
        stream.integer(4),
        stream.uniform().toFixed(3),
        // Two large groups, and two small ones.
        i < 12 ? ["chess", "polo"][i % 2] : ["dance", "swim"][i % 2],
        `person ${seed * 1000 + i}`,
      ];
    }),
  ];
};

interface Entry {
  /** Instead of the command's own. */
  readonly base?: readonly string[];
  /** Added to the base. */
  readonly add: readonly string[];
  /** The files are looked at too, because the option is about them. */
  readonly files?: true;
  /** What it prints is looked at, because the option is about that. */
  readonly printed?: true;
  /** Why it is enough that the option is checked: it says who works and not what comes out. */
  readonly onlyChecked?: string;
  /** What has to be there before every run. */
  readonly prepare?: () => void;
}
type Given = readonly string[] | Entry;
interface Case {
  readonly base: readonly string[];
  /** What the base lacks here, so that it ends in a sentence. */
  readonly needs?: "a queue" | "a download" | "a token" | "an address of this machine";
  /** Further commands on the same store, which show what the first one set. */
  readonly further?: readonly (readonly string[])[];
  readonly options: Readonly<Record<string, Given>>;
}

/** A path of its own in every run. */
const FRESH = "{fresh}";
/** A store of its own in every run: a copy of the one that has campaigns in it, or one with nothing in it. */
const STORE = "{store}";
const NEW_STORE = "{new store}";
let runs = 0;
/** Where it is known what a run is to differ from, `differs` ends it as soon as it does. */
const run = async (
  argv: readonly string[],
  further: readonly (readonly string[])[] = [],
  differs: (soFar: Ran, steps: number) => boolean = () => false,
): Promise<Ran> => {
  const fresh = at(`run ${runs++}`);
  const store = `sqlite:${fresh}.db`;
  const isCopied = argv.includes(STORE);
  if (isCopied && existsSync(at("campaigns.db"))) copyFileSync(at("campaigns.db"), `${fresh}.db`);
  const inPlace = (words: readonly string[]) =>
    words.map((word) => (word === FRESH ? fresh : word === STORE || word === NEW_STORE ? store : word));
  const ran = await runInProcess(inPlace(argv));
  if (ran.failure !== undefined || further.length === 0) return ran;
  let soFar: Ran = { ...ran, result: [ran.result] };
  for (const [step, words] of further.entries()) {
    if (differs(soFar, step)) break;
    const { result, failure } = await runInProcess(inPlace([...words, "--store", NEW_STORE]));
    soFar = { ...soFar, result: [...(soFar.result as unknown[]), { result, failure }] };
  }
  return soFar;
};
/** A run with further commands as it was after so many of them. */
const upTo = (ran: Ran, steps: number): Ran =>
  Array.isArray(ran.result) ? { ...ran, result: ran.result.slice(0, steps + 1) } : ran;

const PEOPLE = at("people.csv");
const POOL = at("pool.csv");
/** A pool whose labels nobody has yet: rows that have one are never recommended. */
const OPEN_POOL = at("open pool.csv");
const TASK = ["--target", "hired=yes", "--sensitive", "sex"];
const TWO = ["--target", "hired=yes", "--sensitive", "sex,race"];

const CLUB = ["--target", "hired=yes", "--sensitive", "club"];

/** How a table is read: the same for all commands that read one. */
const READING = {
  "--query": ["--query", "SELECT * FROM data WHERE age > 25"],
  "--delimiter": ["--delimiter", ";"],
  "--header": ["--header", "no"],
  "--missing": ["--missing", "-"],
  "--escape": ["--escape", "backslash"],
  "--encoding": ["--encoding", "utf-16le"],
  "--sheet": ["--sheet", "people"],
};
/** What its columns are for. */
const roles = (base: readonly string[], least = "8") => ({
  "--target": ["--target", "age>=40"],
  "--sensitive": { base: [...base, "--target", "hired=yes"], add: ["--sensitive", "race"] },
  "--intersect": { base: [...base, ...TWO], add: ["--intersect"] },
  "--features": ["--features", "skill,town"],
  "--exclude": ["--exclude", "skill"],
  "--id": ["--id", "id"],
  "--categorical": ["--categorical", "skill"],
  // Where marks of what is missing stand, a column of numbers is one of texts.
  "--numeric": ["--numeric", "taste"],
  "--keep": { base: [...base, ...TASK], add: ["--keep", "name"] },
  "--min-level": ["--min-level", "40"],
  "--min-group": { base: [...base, ...CLUB], add: ["--min-group", least] },
  "--small-groups": { base: [...base, ...CLUB, "--min-group", least], add: ["--small-groups", "leave-out"] },
});
/** Nobody has the data here, which is said. */
const paperTask = (command: readonly string[]): Given => ({
  base: [...command],
  add: ["--task", "students"],
});
const QUEUE: Given = ["--queue", "mysql://nowhere"];
const THREADS = "it says how many work at once, not what comes out";

const RANK = ["rank", OPEN_POOL, "--labelled", PEOPLE, "--trees", "6", "--top", "6"];
const FIT = ["fit", PEOPLE, "--folds", "2"];
const FIT_RULE = ["--learner", "logistic", "--rule", "dp"];
const AUDIT = [
  "audit",
  PEOPLE,
  "--adversaries",
  "logistic",
  "--folds",
  "3",
  "--permutations",
  "99",
  "--plants",
  "2",
];
const DESIGN = ["--outer", "4", "--inner", "10", "--batches", "1"];
const OPTIMIZE = [
  "design",
  "optimize",
  "--model",
  "linear-gaussian",
  "--steps",
  "2",
  "--starts",
  "1",
  "--horizon",
  "1",
  "--out",
  FRESH,
  ...DESIGN,
];
const RANDOM = [...OPTIMIZE, "--policy", "random"];
const POLICY = at("policy.json");
const SWEEP = [
  "design",
  "sweep",
  "--model",
  "linear-gaussian",
  "--steps",
  "2",
  "--starts",
  "1",
  "--horizons",
  "1",
  "--betas",
  "0.5",
  "--jobs",
  "1",
  "--figures",
  "none",
  "--out",
  FRESH,
  ...DESIGN,
];
const LFR = [
  "mitigate",
  "lfr",
  PEOPLE,
  "--trees",
  "5",
  "--steps",
  "20",
  "--restarts",
  "1",
  "--prototypes",
  "3",
];
const ROC = ["mitigate", "roc", PEOPLE, "--trees", "6"];
const RULE = ["mitigate", "rule", PEOPLE, "--trees", "6"];
const REWEIGH = ["mitigate", "reweigh", PEOPLE, "--trees", "6"];
const MITIGATION = {
  "--privileged": ["--privileged", "f"],
  "--test": ["--test", at("other.csv")],
  "--test-fraction": ["--test-fraction", "0.5"],
  "--trees": ["--trees", "11"],
  "--out": { add: ["--out", at("mitigated.csv")], files: true },
  "--seed": ["--seed", "5"],
} as const;
const EMBED = ["data", "embed", at("photos"), "--model", at("tiny.onnx"), "--out", FRESH];

const ACQUIRE = ["acquire", PEOPLE, "--trees", "5", "--budget", "6", "--batch", "2"];
const GENERALIZE = ["generalize", PEOPLE, "--test", at("other.csv"), "--models", "forest"];
const REPRODUCE = ["reproduce", "table-location", "--from-results", join(ROOT, "results"), "--out", FRESH];

/** Cut short at once: one seed of each recipe. */
const PLAN = [
  "plan",
  at("pilot.csv"),
  "--parity",
  "0.6",
  "--labels",
  "12",
  "--trees",
  "3",
  "--method",
  "random,fairbed",
];
const SHORT = ["--learner", "forest", "--minutes", "1e-9"];
const PLANNED = [...PLAN, ...SHORT];
const RECIPE = at("recipe.json");

/** Nobody was asked about those without a label. */
const OPEN = at("open.csv");
const CREATE = ["campaign", "create", "c", "--pool", OPEN, "--store", NEW_STORE];
const CREATED = [...CREATE, ...TASK];
/** On a copy of the store, whose campaigns are c, and stale, whose ranking does not know its last answer. */
const campaign = (command: string, ...words: string[]): readonly string[] => [
  "campaign",
  ...command.split(" "),
  ...words,
  "--store",
  STORE,
];
const OTHER_STORE: Given = ["--store", "memory:"];
const A_MODEL = {
  "--store": OTHER_STORE,
  "--model": ["--model", "location"],
  "--prior-mean": ["--prior-mean", "1,2"],
  "--model-options": ["--model-options", '{"noise": 0.1}'],
};
const STUDIO = ["label-studio", "c", "--store", STORE];
const SAID = "what is said under a name of its own counts once; test/cli/campaign.test.ts says it twice";

const CASES: Readonly<Record<string, Case>> = {
  "campaign create": {
    base: CREATED,
    further: [
      ["campaign", "ask", "c", "-n", "12", "--annotator", "a"],
      ["campaign", "ask", "c", "-n", "12", "--annotator", "b"],
      ["campaign", "status", "c"],
      ["campaign", "forecast", "c"],
    ],
    options: {
      ...READING,
      ...roles(CREATE),
      "--weights": { base: [...CREATED, "--exclude", "weight"], add: ["--weights", "weight"] },
      "--recipe": ["--recipe", RECIPE],
      "--pool": ["--pool", at("no pool.csv")],
      "--method": ["--method", "epig"],
      "--beta": ["--beta", "0"],
      "--shares": ["--shares", "none"],
      "--random-part": ["--random-part", "0.5"],
      "--reweigh": ["--reweigh"],
      "--batch": {
        add: ["--batch", "0"],
        onlyChecked: "it says after how many answers models are fitted anew, and none came yet",
      },
      "--quota": { base: [...CREATED, "--budget", "12"], add: ["--quota", "town=north:-2"] },
      "--costs": ["--costs", "price"],
      "--parity": ["--parity", "0.9"],
      "--opinions": ["--opinions", "2"],
      "--opinions-part": { base: [...CREATED, "--opinions", "2"], add: ["--opinions-part", "0.3"] },
      "--budget": ["--budget", "5"],
      "--lease": ["--lease", "0.001"],
      "--cost-per-label": ["--cost-per-label", "3"],
      "--cost-budget": { base: [...CREATED, "--cost-per-label", "3"], add: ["--cost-budget", "9"] },
      "--seed": ["--seed", "5"],
      "--store": OTHER_STORE,
      "--policy": ["--policy", POLICY],
      "--model": ["--model", "location"],
      "--prior-mean": ["--prior-mean", "1,2"],
      "--model-options": ["--model-options", '{"noise": 0.1}'],
    },
  },
  "campaign ask": {
    base: campaign("ask c"),
    options: {
      ...A_MODEL,
      "-n": ["-n", "3"],
      "--annotator": ["--annotator", "ann"],
      "--wait": { base: campaign("ask stale", "--wait", "0"), add: ["--wait", "60"] },
      "--bits": { add: ["--bits"], printed: true },
      "--again": { base: campaign("ask c", "-n", "100", "--annotator", "ann"), add: ["--again"] },
      "--waiting": ["--waiting"],
      "--adjudicate": ["--adjudicate"],
      "--participant": ["--participant", "p1"],
      "--request": { add: ["--request", ""], onlyChecked: SAID },
    },
  },
  "campaign tell": {
    base: campaign("tell c", "--id", "1020", "--label", "yes"),
    further: [
      ["campaign", "ask", "c", "-n", "6", "--annotator", "dan"],
      ["campaign", "status", "c"],
    ],
    options: {
      ...A_MODEL,
      ...Object.fromEntries(
        Object.entries(READING).map(([flag, words]) => [
          flag,
          { base: campaign("tell c", "--file", at("answers.csv")), add: words },
        ]),
      ),
      "--missing": { base: campaign("tell c", "--file", at("answers.csv")), add: ["--missing", "yes"] },
      "--id": ["--id", "1057"],
      "--label": ["--label", "no"],
      "--refused": { base: campaign("tell c", "--id", "1020"), add: ["--refused"] },
      "--sensitive": ["--sensitive", "x"],
      "--annotator": {
        base: campaign("tell c", "--id", "1057", "--label", "yes"),
        add: ["--annotator", "eve"],
      },
      "--event": { add: ["--event", ""], onlyChecked: SAID },
      "--outcome": ["--outcome", "1"],
      "--design": ["--design", "1"],
      "--step": ["--step", "1"],
      "--file": { base: campaign("tell c"), add: ["--file", at("answers.csv")] },
      "--no-refit": ["--no-refit"],
    },
  },
  "campaign status": { base: campaign("status c"), options: A_MODEL },
  "campaign forecast": {
    base: campaign("forecast random"),
    options: {
      ...A_MODEL,
      "--at": ["--at", "7"],
      "--worthwhile": ["--worthwhile", "0.3"],
      "--parity": ["--parity", "0.9"],
      "--bits": { add: ["--bits"], printed: true },
    },
  },
  "campaign estimate": {
    base: campaign("estimate random"),
    options: { ...A_MODEL, "--bits": { add: ["--bits"], printed: true } },
  },
  "campaign export": {
    base: campaign("export random", "--out", at("exported.csv")),
    options: {
      ...A_MODEL,
      "--out": { add: ["--out", at("exported.jsonl")], files: true },
      "--card": { add: ["--card", at("card.md")], files: true },
      "--rows": ["--rows", "all"],
      "--without-sensitive": ["--without-sensitive"],
      ...Object.fromEntries(
        ["--description", "--licence", "--contact"].map((flag) => [
          flag,
          { base: campaign("export random", "--card", at("card.json")), add: [flag, "a word"], files: true },
        ]),
      ),
    },
  },
  "campaign configure": {
    base: campaign("configure c", "--lease", "2h"),
    further: [
      ["campaign", "ask", "c", "-n", "12", "--annotator", "ann"],
      ["campaign", "ask", "c", "-n", "12", "--annotator", "bob"],
      ["campaign", "status", "c"],
      ["campaign", "forecast", "c"],
    ],
    options: {
      ...A_MODEL,
      "--budget": ["--budget", "9"],
      "--lease": ["--lease", "0.001"],
      "--cost-per-label": ["--cost-per-label", "3"],
      "--cost-budget": {
        base: campaign("configure c", "--cost-per-label", "3"),
        add: ["--cost-budget", "20"],
      },
      "--parity": ["--parity", "0.9"],
      "--opinions": ["--opinions", "1"],
      "--opinions-part": {
        base: campaign("configure c", "--opinions", "2"),
        add: ["--opinions-part", "0.1"],
      },
      "--method": ["--method", "epig"],
      "--beta": ["--beta", "0"],
      "--shares": ["--shares", "none"],
      "--random-part": ["--random-part", "0.5"],
      "--reweigh": ["--reweigh", "yes"],
      "--batch": {
        add: ["--batch", "0"],
        onlyChecked: "it says after how many answers models are fitted anew, and none came since",
      },
    },
  },
  "campaign skip": {
    base: campaign("skip c", "--id", "1020"),
    further: [["campaign", "ask", "c", "-n", "100", "--annotator", "eve"]],
    options: {
      ...A_MODEL,
      "--id": ["--id", "1057"],
      "--annotator": ["--annotator", "eve"],
      "--event": { add: ["--event"], onlyChecked: SAID },
    },
  },
  "campaign retract": {
    base: campaign("retract random", "--id", "1057", "--annotator", "ann"),
    options: {
      ...A_MODEL,
      "--id": ["--id", "1020"],
      "--annotator": ["--annotator", "bob"],
      "--event": { add: ["--event"], onlyChecked: SAID },
    },
  },
  "campaign adjudicate": {
    base: campaign("adjudicate c", "--id", "1057", "--label", "yes"),
    options: {
      ...A_MODEL,
      "--id": ["--id", "1020"],
      "--label": ["--label", "no"],
      "--annotator": {
        add: ["--annotator"],
        onlyChecked: "who settled it is in the log, which nobody is shown",
      },
      "--event": { add: ["--event"], onlyChecked: SAID },
    },
  },
  "campaign withdraw": {
    base: campaign("withdraw random", "--id", "1057", "--yes"),
    options: {
      ...A_MODEL,
      "--id": ["--id", "nobody"],
      "--yes": { base: campaign("withdraw random", "--id", "1057"), add: ["--yes"] },
    },
  },
  "campaign replay": { base: campaign("replay c"), options: A_MODEL },
  "campaign verify": { base: campaign("verify c"), options: { "--store": OTHER_STORE } },
  "campaign backup": {
    base: campaign("backup c", "--out", at("c.backup.jsonl")),
    options: {
      "--out": { base: campaign("backup c"), add: ["--out", at("c.backup.jsonl")] },
      "--store": OTHER_STORE,
    },
  },
  "campaign restore": {
    base: ["campaign", "restore", at("made.backup.jsonl"), "--store", NEW_STORE],
    options: { "--as": ["--as", "copy"], "--store": OTHER_STORE },
  },
  "campaign list": { base: campaign("list"), options: { "--store": OTHER_STORE } },
  "campaign delete": {
    base: campaign("delete c", "--yes"),
    options: {
      "--yes": { base: campaign("delete c"), add: ["--yes"] },
      "--store": OTHER_STORE,
    },
  },
  serve: {
    // Ends at once, because nobody could come in.
    base: ["serve", "--host", "0.0.0.0", "--store", NEW_STORE],
    needs: "a token",
    options: {
      "--host": ["--host", "::"],
      "--store": OTHER_STORE,
      "--port": { add: ["--port", "99999"], onlyChecked: "test/cli/campaign.test.ts calls it" },
      "--allow-origin": { add: ["--allow-origin", ""], onlyChecked: "test/server looks at who may come" },
      "--allow-host": { add: ["--allow-host", ""], onlyChecked: "test/server looks at who may come" },
      "--rate": { add: ["--rate", "0"], onlyChecked: "test/server/limits.test.ts asks too often" },
      "--log": { add: ["--log", "loud"], onlyChecked: "it says how much is said" },
    },
  },
  studio: {
    // Ends at once, because others could come in.
    base: ["studio", "--host", "0.0.0.0"],
    needs: "an address of this machine",
    options: {
      "--host": ["--host", "::"],
      "--port": { add: ["--port", "99999"], onlyChecked: "test/cli/studio.test.ts opens it" },
      "--no-open": { add: ["--no-open=yes"], onlyChecked: "test/cli/studio.test.ts looks for a browser" },
      "--save": ["--save", FRESH],
    },
  },
  "label-studio": {
    // Nobody has a token here, which is said before anything else is done.
    base: [...STUDIO, "--url", "http://127.0.0.1:9", "--project", "1"],
    needs: "a token",
    options: {
      ...Object.fromEntries(
        Object.keys(A_MODEL).map((flag) => [
          flag,
          { add: [flag], onlyChecked: "as of all who open a campaign" },
        ]),
      ),
      "--url": { base: STUDIO, add: ["--url", "http://127.0.0.1:9"] },
      "--project": {
        base: [...STUDIO, "--url", "http://127.0.0.1:9"],
        add: ["--project", "2"],
      },
      "--token-env": ["--token-env", "NO_TOKEN_EITHER"],
      ...Object.fromEntries(
        ["--tasks", "--every", "--from-name", "--to-name", "--field"].map((flag) => [
          flag,
          { add: [flag], onlyChecked: "test/server/label-studio.test.ts looks at what is done there" },
        ]),
      ),
      "--once": { add: ["--once=yes"], onlyChecked: "test/cli/campaign.test.ts does one round" },
    },
  },
  "token create": {
    base: ["token", "create", "--store", STORE],
    options: {
      "--scope": ["--scope", "admin"],
      "--campaign": ["--campaign", "c"],
      "--annotator": ["--annotator", "ann"],
      "--tell-sensitive": ["--tell-sensitive"],
      "--expires": { add: ["--expires", "soon"], onlyChecked: "when it ends differs by itself" },
      "--name": ["--name", "the desk"],
      "--store": OTHER_STORE,
    },
  },
  "token list": { base: ["token", "list", "--store", STORE], options: { "--store": OTHER_STORE } },
  "token revoke": {
    base: ["token", "revoke", "none", "--store", STORE],
    needs: "a token",
    options: { "--store": OTHER_STORE },
  },
  demo: {
    base: ["demo", "--rows", "500", "--budget", "10", "--seeds", "2", "--out", FRESH],
    options: {
      "--rows": ["--rows", "600"],
      "--bias": ["--bias", "2"],
      "--budget": ["--budget", "12"],
      "--beta": ["--beta", "0"],
      "--seeds": ["--seeds", "3"],
      "--parity": ["--parity", "0.5"],
      "--out": { add: ["--out", at("no folder/demo.html")], files: true },
      "--bits": { add: ["--bits"], printed: true },
    },
  },
  plan: {
    base: [...PLANNED, ...TASK],
    options: {
      ...READING,
      ...roles(PLANNED),
      "--task": paperTask(["plan", "--parity", "0.8"]),
      "--weights": ["--weights", "weight"],
      "--parity": ["--parity", "0.9"],
      "--metric": ["--metric", "eopp"],
      "--labels": ["--labels", "14"],
      "--minutes": { base: [...PLAN, ...TASK, "--learner", "forest"], add: ["--minutes", "1e-9"] },
      "--out": { add: ["--out", at("plan.html")], files: true },
      "--bits": { add: ["--bits"], printed: true },
      "--recipe": { add: ["--recipe", at("planned.json")], files: true },
      "--seed": ["--seed", "5"],
      "--method": ["--method", "epig"],
      "--learner": ["--learner", "logistic"],
      "--batch": ["--batch", "5"],
      "--pool": ["--pool", "40"],
      "--trees": ["--trees", "4"],
    },
  },
  acquire: {
    base: [...ACQUIRE, ...TASK],
    options: {
      "--recipe": ["--recipe", RECIPE],
      ...READING,
      ...roles(ACQUIRE),
      "--task": paperTask(["acquire"]),
      "--weights": ["--weights", "weight"],
      "--method": ["--method", "random"],
      "--budget": ["--budget", "4"],
      "--beta": ["--beta", "0"],
      "--batch": ["--batch", "1"],
      "--seed": ["--seed", "5"],
      "--seeds": ["--seeds", "2"],
      "--combine": { base: [...ACQUIRE, ...TWO], add: ["--combine", "worst"] },
      "--trees": ["--trees", "9"],
      "--paper": ["--paper"],
      "--sensitive-leaf": ["--sensitive-leaf", "1"],
      "--sensitive-smoothing": {
        base: [...ACQUIRE, ...TASK, "--sensitive-leaf", "1"],
        add: ["--sensitive-smoothing", "2"],
      },
      "--correction": { base: [...ACQUIRE, ...TASK, "--sensitive-leaf", "1"], add: ["--correction", "none"] },
      "--sensitive-model": ["--sensitive-model", "pretrained"],
      "--categories": ["--categories", "ordinal"],
      "--leakage-budget": ["--leakage-budget", "0.01"],
      "--dp-at-least": ["--dp-at-least", "0.9"],
      "--batch-kind": ["--batch-kind", "rank", "--temperature", "5"],
      "--temperature": { base: [...ACQUIRE, ...TASK, "--batch-kind", "rank"], add: ["--temperature", "9"] },
      "--parity": ["--parity", "0.5"],
      "--shares": {
        base: [...ACQUIRE, ...TASK, "--pool-attributes", "known"],
        add: ["--shares", "f=1,m=9"],
      },
      "--random-part": ["--random-part", "0.5"],
      "--reweigh": ["--reweigh"],
      "--pool-attributes": ["--pool-attributes", "known"],
      "--quota": ["--quota", "town=north:6-"],
      "--costs": ["--costs", "price"],
      "--cost-weight": { base: [...ACQUIRE, ...TASK, "--costs", "price"], add: ["--cost-weight", "1"] },
      "--initial": ["--initial", "12"],
      "--test-fraction": ["--test-fraction", "0.5"],
      "--aside": ["--aside", "5"],
      "--out": { add: ["--out", at("acquire.html")], files: true },
      "--bits": { add: ["--bits"], printed: true },
      "--pool": ["--pool", "15"],
      "--checkpoints": ["--checkpoints", "4"],
      "--device": ["--device", "auto"],
    },
  },
  rank: {
    base: [...RANK, ...TASK],
    options: {
      "--recipe": ["--recipe", RECIPE],
      ...READING,
      ...roles(RANK),
      "--labelled": ["--labelled", at("other.csv")],
      "--batch-kind": ["--batch-kind", "top"],
      "--top": ["--top", "3"],
      "--method": ["--method", "epig"],
      "--beta": ["--beta", "0.5"],
      "--costs": ["--costs", "price"],
      "--cost-weight": { base: [...RANK, ...TASK, "--costs", "price"], add: ["--cost-weight", "0.01"] },
      "--shares": ["--shares", "none"],
      "--random-part": ["--random-part", "0.5"],
      "--reweigh": ["--reweigh"],
      "--quota": ["--quota", "town=north:6-"],
      "--out": { add: ["--out", at("candidates.csv")], files: true },
      "--bits": { add: ["--bits"], printed: true },
      // The column is no feature before either: what differs is how much the rows count.
      "--weights": { base: [...RANK, ...TASK, "--exclude", "weight"], add: ["--weights", "weight"] },
      "--sensitive-table": ["--sensitive-table", at("other.csv")],
      "--predict-for": ["--predict-for", at("other.csv")],
      "--predict-sample": ["--predict-sample", "5"],
      "--combine": { base: [...RANK, ...TWO], add: ["--combine", "worst"] },
      "--trees": ["--trees", "9"],
      "--paper": ["--paper"],
      "--sensitive-leaf": ["--sensitive-leaf", "25"],
      "--sensitive-smoothing": ["--sensitive-smoothing", "2"],
      "--correction": ["--correction", "none"],
      "--categories": ["--categories", "ordinal"],
      "--seed": ["--seed", "5"],
      "--jobs": ["--jobs", "2"],
      "--device": ["--device", "auto"],
      "--queue": QUEUE,
    },
  },
  fit: {
    base: [...FIT, ...TASK],
    options: {
      "--recipe": ["--recipe", RECIPE],
      ...READING,
      ...roles(FIT),
      "--task": paperTask(["fit"]),
      "--out": { add: ["--out", at("fitted.json")], files: true },
      "--reference-group": ["--reference-group", "m"],
      "--learner": ["--learner", "logistic"],
      "--weights": { base: [...FIT, ...TASK, "--exclude", "weight"], add: ["--weights", "weight"] },
      "--test-fraction": ["--test-fraction", "0.4"],
      "--seed": ["--seed", "5"],
      "--folds": ["--folds", "3"],
      "--level": ["--level", "0.5"],
      "--reweigh": ["--reweigh"],
      "--rule": ["--rule", "dp"],
      "--parity": { base: [...FIT, ...TASK, ...FIT_RULE], add: ["--parity", "0.95"] },
      "--rule-by": {
        base: [...FIT, ...TASK, ...FIT_RULE, "--unlabelled", POOL],
        add: ["--rule-by", "true"],
      },
      "--selection-rate": { base: [...FIT, ...TASK, ...FIT_RULE], add: ["--selection-rate", "0.3"] },
      "--unlabelled": { base: [...FIT, ...TASK, ...FIT_RULE], add: ["--unlabelled", POOL] },
      "--probability": {
        base: [...FIT, ...TASK, ...FIT_RULE, "--exclude", "score"],
        add: ["--probability", "score"],
      },
      "--represent": ["--represent", "lfr"],
      "--decide": ["--decide", "reject-option"],
      "--privileged": {
        base: [...FIT, ...TASK, "--decide", "reject-option"],
        add: ["--privileged", "f"],
      },
    },
  },
  predict: {
    base: ["predict", at("model.json"), POOL],
    options: {
      ...READING,
      "--id": ["--id", "id"],
      "--out": { add: ["--out", at("predicted.csv")], files: true },
    },
  },
  audit: {
    base: [...AUDIT, ...TASK],
    options: {
      ...READING,
      ...roles(AUDIT),
      "--reference-group": ["--reference-group", "m"],
      "--task": paperTask(["audit"]),
      "--test": ["--test", at("other.csv")],
      "--out": { add: ["--out", at("audit.html")], files: true },
      "--given-target": { add: ["--given-target"], printed: true },
      "--bits": { add: ["--bits"], printed: true },
      "--seed": ["--seed", "5"],
      "--bins": { base: [...AUDIT, "--target", "hired=yes", "--sensitive", "age"], add: ["--bins", "2"] },
      "--adversaries": ["--adversaries", "lookup"],
      "--folds": ["--folds", "4"],
      "--level": ["--level", "0.5"],
      "--permutations": ["--permutations", "120"],
      "--plants": ["--plants", "3"],
      "--most-rows": ["--most-rows", "50"],
    },
  },
  "design demo": {
    base: ["design", "demo", "--horizon", "1", "--steps", "2", "--starts", "1"],
    options: {
      "--beta": ["--beta", "0"],
      "--horizon": ["--horizon", "2"],
      "--steps": ["--steps", "4"],
      "--starts": ["--starts", "2"],
      "--seed": ["--seed", "5"],
      "--bits": { add: ["--bits"], printed: true },
    },
  },
  "design optimize": {
    base: OPTIMIZE,
    options: {
      "--model": ["--model", "psychometric"],
      "--prior-mean": ["--prior-mean", "1,2"],
      "--device": ["--device", "auto"],
      "--model-options": ["--model-options", '{"noise": 0.1}'],
      "--policy": ["--policy", "random"],
      "--objective": ["--objective", "unconditional"],
      "--steps": ["--steps", "5"],
      "--starts": ["--starts", "9"],
      "--rate": ["--rate", "0.9"],
      "--start": { base: [...OPTIMIZE, "--policy", "dad"], add: ["--start", "static"] },
      "--widths": { base: [...OPTIMIZE, "--policy", "dad"], add: ["--widths", "4:3:"] },
      "--design-mean": { base: RANDOM, add: ["--design-mean", "2"] },
      "--design-sd": { base: RANDOM, add: ["--design-sd", "0.1"] },
      "--beta": ["--beta", "0"],
      "--horizon": ["--horizon", "2"],
      "--budget-nats": ["--budget-nats", "0.01"],
      "--against": ["--against", '[{"noise": 2}]'],
      "--outer": ["--outer", "9"],
      "--inner": ["--inner", "40"],
      "--batches": ["--batches", "3"],
      "--seed": ["--seed", "5"],
      "--bits": { add: ["--bits"], printed: true },
      "--out": { add: ["--out", at("no folder/policy.json")], files: true },
      "--resume": {
        base: [...OPTIMIZE, "--out", at("killed.json")],
        add: ["--resume"],
        prepare: () => writeFileSync(at("killed.json.checkpoint"), "cut sho"),
      },
    },
  },
  "design evaluate": {
    base: ["design", "evaluate", POLICY, ...DESIGN],
    options: {
      "--model": ["--model", "location"],
      "--prior-mean": ["--prior-mean", "1,2"],
      "--device": ["--device", "auto"],
      "--model-options": ["--model-options", '{"noise": 0.1}'],
      "--outer": ["--outer", "9"],
      "--inner": ["--inner", "40"],
      "--batches": ["--batches", "3"],
      "--exact": ["--exact"],
      "--parity": ["--parity"],
      "--beta": ["--beta", "0"],
      "--against": ["--against", '[{"noise": 2}]'],
      "--seed": ["--seed", "5"],
      "--bits": { add: ["--bits"], printed: true },
    },
  },
  "design next": {
    base: ["design", "next", POLICY, "--history", at("history.json")],
    options: {
      "--history": ["--history", at("nothing yet.json")],
      "--model": ["--model", "location"],
      "--prior-mean": ["--prior-mean", "1,2"],
      "--model-options": ["--model-options", '{"noise": 0.1}'],
      "--seed": ["--seed", "5"],
    },
  },
  "design sweep": {
    base: SWEEP,
    options: {
      "--model": ["--model", "psychometric"],
      "--prior-mean": ["--prior-mean", "1,2"],
      "--device": ["--device", "auto"],
      "--model-options": ["--model-options", '{"noise": 0.1}'],
      "--policy": ["--policy", "random"],
      "--objective": ["--objective", "unconditional"],
      "--steps": ["--steps", "5"],
      "--starts": ["--starts", "9"],
      "--rate": ["--rate", "0.9"],
      "--start": { base: [...SWEEP, "--policy", "dad"], add: ["--start", POLICY] },
      "--widths": { base: [...SWEEP, "--policy", "dad"], add: ["--widths", "4:3:"] },
      "--design-mean": { base: [...SWEEP, "--policy", "random"], add: ["--design-mean", "2"] },
      "--design-sd": { base: [...SWEEP, "--policy", "random"], add: ["--design-sd", "0.1"] },
      "--betas": ["--betas", "0,1"],
      "--horizons": ["--horizons", "2"],
      "--seeds": ["--seeds", "2"],
      "--outer": ["--outer", "9"],
      "--inner": ["--inner", "40"],
      "--batches": ["--batches", "3"],
      "--exact": { base: [...SWEEP, "--model", "linear-gaussian"], add: ["--exact"] },
      "--jobs": { add: ["--jobs", "0"], onlyChecked: THREADS },
      "--queue": QUEUE,
      "--figures": { add: ["--figures", "svg"], files: true },
      "--out": { add: ["--out", at("people.csv")], files: true },
      "--bits": { add: ["--bits"], printed: true },
    },
  },
  generalize: {
    base: [...GENERALIZE, ...TASK],
    options: {
      ...READING,
      // Two tables, with the small groups of both.
      ...roles(GENERALIZE, "14"),
      "--task": { base: ["generalize", at("acquired.json")], add: ["--task", "students"] },
      "--models": ["--models", "logistic"],
      "--method": {
        base: [
          "generalize",
          at("compared.json"),
          "--models",
          "forest",
          "--table",
          PEOPLE,
          "--method",
          "fairbed",
        ],
        add: ["--method", "random"],
      },
      "--table": {
        base: ["generalize", at("acquired.json"), "--models", "forest"],
        add: ["--table", PEOPLE],
      },
      "--test": ["--test", POOL],
      "--weights": { base: [...GENERALIZE, ...TASK, "--exclude", "weight"], add: ["--weights", "weight"] },
      "--seed": ["--seed", "5"],
    },
  },
  reproduce: {
    base: REPRODUCE,
    options: {
      "--quick": ["--quick"],
      "--seeds": ["--seeds", "1"],
      "--out": { add: ["--out", PEOPLE], files: true },
      "--jobs": { add: ["--jobs", "0"], onlyChecked: THREADS },
      "--queue": QUEUE,
      // Those that ship with fairbed are of the processor.
      "--device": ["--device", "gpu"],
      "--resume": ["--resume"],
      "--from-results": ["--from-results", at("no data")],
      "--ledger": { add: ["--ledger", at("ledger.md")], files: true },
    },
  },
  worker: {
    base: ["worker"],
    needs: "a queue",
    options: {
      "--queue": QUEUE,
      "--concurrency": { add: ["--concurrency", "0"], onlyChecked: THREADS },
      "--data": {
        add: ["--data", ""],
        onlyChecked: "what may be read; test/cli/queue.test.ts has a worker that may and one that may not",
      },
      "--models": {
        add: ["--models", ""],
        onlyChecked: "what may be run; test/jobs/allowed-files.test.ts has a worker that may not",
      },
      "--idle-exit": {
        add: ["--idle-exit", "-1"],
        onlyChecked: "it says when to end; test/cli/queue.test.ts waits for it",
      },
    },
  },
  "queue status": { base: ["queue", "status"], needs: "a queue", options: { "--queue": QUEUE } },
  "mitigate lfr": {
    base: [...LFR, ...TASK],
    options: {
      ...READING,
      ...roles(LFR),
      ...MITIGATION,
      "--task": paperTask(["mitigate", "lfr"]),
      "--prototypes": ["--prototypes", "2"],
      "--reconstruction": ["--reconstruction", "1"],
      "--prediction": ["--prediction", "5"],
      "--parity": ["--parity", "9"],
      "--parity-form": ["--parity-form", "mean"],
      "--smoothing": ["--smoothing", "0.5"],
      "--unbounded": { base: [...LFR, ...TASK, "--steps", "300"], add: ["--unbounded"] },
      "--steps": ["--steps", "5"],
      "--restarts": ["--restarts", "2"],
    },
  },
  "mitigate roc": {
    base: [...ROC, ...TASK],
    options: {
      ...READING,
      ...roles(ROC),
      ...MITIGATION,
      "--task": paperTask(["mitigate", "roc"]),
      "--scores": ["--scores", "score"],
      "--validation-fraction": ["--validation-fraction", "0.5"],
      "--lower": ["--lower", "-0.9"],
      "--upper": ["--upper", "0.9"],
      "--fallback": {
        base: [...ROC, ...TASK, "--lower", "0.77", "--upper", "0.771"],
        add: ["--fallback", "signed"],
      },
    },
  },
  "mitigate rule": {
    base: [...RULE, ...TASK],
    options: {
      ...READING,
      ...roles(RULE),
      ...MITIGATION,
      "--task": paperTask(["mitigate", "rule"]),
      "--metric": ["--metric", "eopp"],
      "--level": ["--level", "0.95"],
      "--selection-rate": ["--selection-rate", "0.2"],
      "--soft": ["--soft"],
      "--reweigh": ["--reweigh"],
      "--learner": ["--learner", "logistic"],
      "--scores": ["--scores", "score"],
      "--validation-fraction": ["--validation-fraction", "0.5"],
    },
  },
  "mitigate reweigh": {
    base: [...REWEIGH, ...TASK],
    options: {
      ...READING,
      ...roles(REWEIGH),
      ...MITIGATION,
      "--task": paperTask(["mitigate", "reweigh"]),
      "--learner": ["--learner", "logistic"],
    },
  },
  "data describe": {
    base: ["data", "describe", PEOPLE, ...TASK],
    options: {
      ...READING,
      ...roles(["data", "describe", PEOPLE]),
      "--weights": ["--weights", "weight"],
    },
  },
  "data get": {
    base: ["data", "get", "students", "--from", at("no data")],
    needs: "a download",
    options: { "--from": ["--from", at("photos")] },
  },
  "data embed": {
    base: EMBED,
    options: {
      "--model": ["--model", PEOPLE],
      "--out": { add: ["--out", PEOPLE], files: true },
      "--labels": ["--labels", PEOPLE],
      "--layer": ["--layer", "nothing of that name"],
      "--batch": {
        add: ["--batch", "0"],
        onlyChecked: "as many images give the same features at once or one by one",
      },
    },
  },
};

const NOISE = new Set([
  ...["seconds", "settings", "out", "report", "certificate", "file", "files", "policy"],
  // Of campaigns: when it was, where it is, and names that are drawn anew each time.
  ...["until", "createdAt", "lastEventAt", "expiresAt", "store", "hash", "question", "event", "token"],
  ...["configuration", "card"],
]);
/** Of a token. */
const DRAWN_ID = /^[0-9a-f]{16}$/;

/** What it gave, without how long it took and what it was told. */
const outcomeOf = (ran: Ran, withFiles = false, withPrinted = false): string =>
  JSON.stringify(
    [
      ran.result,
      ran.failure,
      // How long something took is said only where it took long.
      ran.said.filter((line) => !/, \d+ s so far;/.test(line)),
      withFiles ? [...ran.files.values()] : [],
      withPrinted ? ran.printed?.replaceAll(/[\d.]+ s\b|\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "") : "",
    ],
    (key, value) => {
      if (NOISE.has(key) || (key === "id" && DRAWN_ID.test(value))) return undefined;
      return ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value;
    },
  );

const REFUSED = ["option-value", "unknown-option", "unexpected"];

const bases = new Map<string, Promise<Ran>>();
const baseOf = (argv: readonly string[], further?: readonly (readonly string[])[]): Promise<Ran> => {
  const key = argv.join("\0");
  const known = bases.get(key) ?? run(argv, further);
  bases.set(key, known);
  return known;
};

beforeAll(async () => {
  process.env = { ...environment, FAIRBED_DATA: at("no data") };
  delete process.env.FAIRBED_QUEUE;
  mkdirSync(at("no data"));
  for (const [name, rows, seed] of [
    ["people.csv", 90, 1],
    ["pool.csv", 60, 2],
    ["other.csv", 80, 3],
    ["pilot.csv", 240, 4],
  ] as const) {
    writeFileSync(at(name), csvText(people(rows, seed)));
  }
  writeFileSync(OPEN_POOL, csvText(withoutColumns(people(60, 2), ["hired"])));
  writeFileSync(RECIPE, JSON.stringify(recipe));
  writeFileSync(at("tiny.onnx"), tinyNetwork());
  mkdirSync(at("photos"));
  const create = { width: 20, height: 20, channels: 3, background: { r: 9, g: 90, b: 200 } } as const;
  await sharp({ create }).toFile(join(at("photos"), "a.png"));
  // What some commands take was made by others.
  const made = [
    [...FIT, ...TASK, "--out", at("model.json")],
    [...OPTIMIZE, "--out", POLICY],
  ];
  for (const argv of made) expect((await run(argv)).failure).toBeUndefined();
  for (const [name, methods] of [
    ["acquired.json", "fairbed"],
    ["compared.json", "random,fairbed"],
  ]) {
    const { result } = await run([...ACQUIRE, ...TASK, "--method", methods]);
    writeFileSync(at(name), JSON.stringify(result));
  }
  await makeCampaigns();
  writeFileSync(at("history.json"), JSON.stringify([{ design: [1, 2], outcome: 0.3 }]));
  writeFileSync(at("nothing yet.json"), "[]");
});

/** Three campaigns in the store that is copied: c, stale, and random, which has enough labels to say something. */
const makeCampaigns = async () => {
  const [names, ...rows] = people(60, 1);
  const target = names.indexOf("hired");
  const open = (labels: number) =>
    csvText([
      names,
      ...rows.map((row, i) => row.map((cell, c) => (c === target && i >= labels ? "" : cell))),
    ]);
  writeFileSync(OPEN, open(14));
  const store = ["--store", `sqlite:${at("campaigns.db")}`];
  const work = async (...words: string[]): Promise<unknown> => {
    const { result, failure } = await runInProcess(["campaign", ...words, ...store]);
    expect(failure).toBeUndefined();
    return result;
  };
  const idOf = names.indexOf("id");
  writeFileSync(
    at("answers.csv"),
    csvText([["id", "label", "note"], ...rows.slice(20, 24).map((row) => [row[idOf], row[target], '-"'])]),
  );
  const ids = ["--id", "id"];
  for (const [name, ...more] of [
    ["c", "--opinions", "2"],
    ["stale"],
    ["random", "--method", "random", "--cost-per-label", "2"],
  ]) {
    await work("create", name, "--pool", OPEN, ...TASK, ...ids, ...more);
  }
  for (const annotator of ["ann", "bob"]) {
    await work("ask", "c", "-n", "3", "--annotator", annotator);
    await work(
      "tell",
      "c",
      "--id",
      "1057",
      "--label",
      annotator === "ann" ? "yes" : "no",
      "--annotator",
      annotator,
    );
  }
  await work("tell", "stale", "--id", "1057", "--label", "yes", "--no-refit");
  const answers = (await work("ask", "random", "-n", "24", "--annotator", "ann")) as {
    questions: readonly { id: string }[];
  };
  const labelOf = new Map(rows.map((row) => [String(row[idOf]), row[target]]));
  writeFileSync(
    at("drawn.csv"),
    csvText([
      ["id", "label", "annotator"],
      ...[...new Set(["1057", ...answers.questions.map(({ id }) => id)])].map((id) => [
        id,
        labelOf.get(id),
        "ann",
      ]),
    ]),
  );
  await work("tell", "random", "--file", at("drawn.csv"));
  await work("backup", "c", "--out", at("made.backup.jsonl"));
};

const commands = await shippedCommands();

test("every command has a case, and every option of it an entry", () => {
  const missing = commands.flatMap(({ name, options }) => {
    const flags = Object.values(options).map((option) => option.flags.split(/[ ,]/)[0]);
    if (flags.length > 0 && CASES[name] === undefined) return [name];
    return flags.filter((flag) => CASES[name].options[flag] === undefined).map((flag) => `${name} ${flag}`);
  });
  expect(missing).toEqual([]);
  const gone = Object.entries(CASES).flatMap(([name, { options }]) => {
    const described = Object.values(commands.find((each) => each.name === name)?.options ?? {});
    const flags = described.map((option) => option.flags.split(/[ ,]/)[0]);
    return Object.keys(options)
      .filter((flag) => !flags.includes(flag))
      .map((flag) => `${name} ${flag}`);
  });
  expect(gone).toEqual([]);
});

describe.each(Object.entries(CASES))("%s", (_, { base, options, needs, further }) => {
  test("gives the same twice, so that a difference means something", async () => {
    const ran = await baseOf(base, further);
    if (needs === undefined) expect(ran.failure).toBeUndefined();
    expect(outcomeOf(await run(base, further))).toBe(outcomeOf(ran));
  });

  test.each(Object.entries(options))("%s", async (_, given) => {
    const entry: Entry = "add" in given ? given : { add: given };
    const { base: own = base, files = false, printed = false, prepare } = entry;
    prepare?.();
    const before = await baseOf(own, further);
    prepare?.();
    const differs = (soFar: Ran, steps: number) =>
      outcomeOf(soFar, files, printed) !== outcomeOf(upTo(before, steps), files, printed);
    const after = await run([...own, ...entry.add], further, differs);
    // A value that is refused says nothing of what an allowed one does.
    if (entry.onlyChecked === undefined) expect(REFUSED).not.toContain(after.code);
    expect(outcomeOf(after, files, printed)).not.toBe(outcomeOf(before, files, printed));
  });
});
