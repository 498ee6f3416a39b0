/**
 * Answering the questions of a campaign, one after the other, in one tab. The next ones are here before they are needed;
 * what is said is kept in this browser before it is sent, and counts as saved once it is acknowledged.
 */
import type { Labelling } from "../../campaign/labelling.js";
import type { AnnotatorQuestion, Question } from "../../campaign/question.js";
import type { LabelValue } from "../../workflows/told-values.js";
import { isStopped } from "../engine-client.js";
import type { SaidOf, Saying, View } from "./campaign-client.js";
import { hearTabs, tellTabs } from "./campaign-news.js";
import { campaigns } from "./campaigns.js";
import { failureKind, isDoneAlready, messageOf } from "./failure-kind.js";
import {
  type Desk,
  dropHeld,
  dropSaying,
  heldAt,
  keepHeld,
  keepSaying,
  type OutgoingSaying,
  sayingsOf,
} from "./outbox.js";
import { asOnlySender, letGoOfQuestion, takeQuestion } from "./question-locks.js";
import { randomName } from "./random-name.js";

export type ShownQuestion = AnnotatorQuestion & Partial<Pick<Question, "why" | "reason">>;

interface InHand {
  readonly request: string;
  readonly order: number;
  readonly question: ShownQuestion;
}

/** What was said last, to take it back. */
interface Said {
  readonly request: string;
  readonly id: string;
  readonly kind: "answer" | "refusal" | "skip";
  /** Asked for again after a reload. */
  readonly question?: ShownQuestion | undefined;
}

export interface SessionChoice extends Desk {
  readonly view: View;
  /** Others' answers in this browser are not this one's to send. */
  readonly ownOnly: boolean;
}

/** Questions that are here, the one that is shown among them. */
const HAND = 3;
/** Milliseconds that the first question waits for a ranking; the others are asked for ahead of time. */
const FIRST_WAIT = 2000;
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000] as const;
const LOOK_AGAIN_MS = 10_000;
const REMEMBERED = 50;
/** What each adds to the answers that are saved. */
const COUNTED: Readonly<Record<Saying["kind"], number>> = {
  ...{ answer: 1, refusal: 1, retraction: -1, skip: 0, adjudication: 0 },
};

let lastOrder = 0;
const nextOrder = (): number => {
  lastOrder = Math.max(lastOrder + 1, Date.now());
  return lastOrder;
};

export class LabellingSession {
  labelling = $state.raw<Labelling | undefined>();
  #hand = $state.raw<readonly InHand[]>([]);
  #outgoing = $state.raw<readonly OutgoingSaying[]>([]);
  #said = $state.raw<readonly Said[]>([]);
  /** Answers of this tab that are stored. */
  saved = $state(0);
  /** Why nothing can be sent or had now; it is tried again. */
  away = $state("");
  /** What the server says about the token. */
  tokenProblem = $state("");
  /** What cannot be mended by waiting. */
  failure = $state("");
  /** Why there is nobody to ask. */
  notes = $state.raw<readonly string[]>([]);
  isFinished = $state(false);
  /** This browser keeps nothing: answers are sent all the same. */
  notKept = $state(false);
  /** Counts what has changed, here or elsewhere. */
  changes = $state(0);

  readonly choice: SessionChoice;
  #filling: Promise<void> | undefined;
  #sending: Promise<void> | undefined;
  #sendAgain = false;
  #writing: Promise<unknown> = Promise.resolve();
  #unwritten = $state(0);
  /** What was said in this tab and is not known to be stored, whichever tab sends it. */
  readonly #unsaved = new Map<string, Saying["kind"]>();
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #request: string | undefined;
  #hasAsked = false;
  #isAsking = true;
  #isEnded = false;
  readonly #endings: (() => void)[] = [];

  constructor(choice: SessionChoice) {
    this.choice = choice;
    this.#said = this.#rememberedSaid();
  }

  /** The question to answer now. */
  get current(): ShownQuestion | undefined {
    return this.#hand[0]?.question;
  }

  /** Answers that are not known to be stored yet. */
  get waiting(): number {
    return this.#outgoing.filter(({ problem, kind }) => problem === undefined && kind !== "adjudication")
      .length;
  }

  /** Items that were settled here and are not known to be stored yet. */
  get settling(): readonly string[] {
    return this.#outgoing.flatMap(({ problem, kind, id }) =>
      problem === undefined && kind === "adjudication" ? [id] : [],
    );
  }

  /** Whether this browser is still writing down what was said last: until then nothing is said to be kept. */
  get isWriting(): boolean {
    return this.#unwritten > 0;
  }

  get refused(): readonly OutgoingSaying[] {
    return this.#outgoing.filter(({ problem }) => problem !== undefined);
  }

  get canUndo(): boolean {
    return this.#said.length > 0;
  }

  start(): void {
    const { place, campaign } = this.choice;
    this.#endings.push(
      hearTabs((news) => {
        if (news.place === place && news.campaign === campaign) this.lookAgain();
      }),
    );
    const look = (): void => {
      if (document.visibilityState === "visible") this.lookAgain();
    };
    document.addEventListener("visibilitychange", look);
    addEventListener("online", look);
    const timer = setInterval(look, LOOK_AGAIN_MS);
    this.#endings.push(
      () => document.removeEventListener("visibilitychange", look),
      () => removeEventListener("online", look),
      () => clearInterval(timer),
    );
    void this.#begin();
  }

  /** Questions that are here stay this browser's; another tab, or this one later, goes on with them. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#retry);
    for (const end of this.#endings) end();
    for (const { request } of this.#hand) letGoOfQuestion(request);
    if (this.#request !== undefined) letGoOfQuestion(this.#request);
  }

  answer(label: LabelValue): void {
    this.#say({ kind: "answer", label });
  }
  refuse(): void {
    this.#say({ kind: "refusal" });
  }
  skip(): void {
    this.#say({ kind: "skip" });
  }

  /** Whether questions are wanted: whoever only settles what others said should hold none that they could answer. */
  wantQuestions(wanted: boolean): void {
    if (wanted === this.#isAsking) return;
    this.#isAsking = wanted;
    if (wanted) this.lookAgain();
  }

  /** What an item's label is, whatever annotators say: kept and sent as answers are. */
  settle(id: string, label: LabelValue): void {
    this.#enqueue({ kind: "adjudication", label }, id, undefined);
  }

  /** Takes back what was said last: its question is here again. */
  async undo(): Promise<void> {
    const last = this.#said.at(-1);
    if (last === undefined) return;
    this.#remember(this.#said.slice(0, -1));
    const order = (this.#hand[0]?.order ?? nextOrder()) - 1;
    const show = (question: ShownQuestion): void => {
      this.#hand = [{ request: last.request, order, question }, ...this.#hand];
      this.isFinished = false;
    };
    if (last.question !== undefined) show(last.question);
    this.#write(() => keepHeld({ ...this.#desk, request: last.request, order }));
    if (last.kind !== "skip") this.#enqueue({ kind: "retraction" }, last.id, undefined);
    await takeQuestion(last.request, true);
    if (last.question !== undefined) return;
    try {
      const { question } = await this.#ask(last.request);
      if (question !== undefined) show(question);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What could not be taken was read: it goes. */
  async discard(event: string): Promise<void> {
    await dropSaying(event).catch(() => undefined);
    this.#outgoing = this.#outgoing.filter((each) => each.event !== event);
  }

  /** Now, without waiting any longer. */
  tryAgain(): void {
    this.tokenProblem = "";
    this.failure = "";
    clearTimeout(this.#retry);
    if (this.labelling === undefined) void this.#begin();
    else this.lookAgain();
  }

  get #desk(): Desk {
    const { place, campaign, annotator } = this.choice;
    return { place, campaign, annotator };
  }

  get #key(): string {
    const { place, campaign } = this.choice;
    return `${place} ${campaign}`;
  }

  async #begin(): Promise<void> {
    try {
      await this.#reload();
      this.labelling ??= await campaigns.labelling(this.choice.campaign);
      this.away = "";
      if (this.labelling.kind !== "pool") return;
      await this.#takeUp();
      this.lookAgain();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Questions that this browser held already, and no other tab shows. */
  async #takeUp(): Promise<void> {
    const held = await heldAt(this.#desk).catch(() => []);
    for (const { request, order } of held) {
      if (this.#isEnded || this.#hand.some((each) => each.request === request)) continue;
      if (!(await takeQuestion(request))) continue;
      const { question } = await this.#ask(request);
      if (question === undefined || Date.parse(question.until) < Date.now()) {
        letGoOfQuestion(request);
        await dropHeld(request).catch(() => undefined);
      } else this.#hand = [...this.#hand, { request, order, question }];
    }
  }

  /** Something may have changed: what waits is sent, and questions are asked for where there were none. */
  lookAgain(): void {
    if (this.#isEnded || this.labelling?.kind !== "pool" || this.tokenProblem !== "") return;
    this.changes += 1;
    void this.#reload().then(() => this.#send());
    void this.#fill();
  }

  async #ask(request: string, wait?: number) {
    const { campaign, view, annotator } = this.choice;
    return campaigns.ask(campaign, { view, annotator, request, wait });
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#fillNow().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #fillNow(): Promise<void> {
    try {
      while (!this.#isEnded && this.#isAsking && this.#hand.length < HAND) {
        // One that was on its way when the server went away is asked for under the same name.
        const request = this.#request ?? `studio-${randomName()}`;
        const order = nextOrder();
        this.#request = request;
        await takeQuestion(request, true);
        await keepHeld({ ...this.#desk, request, order }).catch(() => {
          this.notKept = true;
        });
        const { question, notes } = await this.#ask(request, this.#hasAsked ? undefined : FIRST_WAIT);
        this.#hasAsked = true;
        this.#request = undefined;
        this.away = "";
        if (question === undefined) {
          letGoOfQuestion(request);
          await dropHeld(request).catch(() => undefined);
          this.notes = notes;
          this.isFinished = this.#hand.length === 0;
          return;
        }
        this.isFinished = false;
        this.#hand = [...this.#hand, { request, order, question }];
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #say(said: SaidOf & Pick<Said, "kind">): void {
    const held = this.#hand[0];
    if (held === undefined) return;
    const { request, question } = held;
    this.#hand = this.#hand.slice(1);
    this.#remember(
      [...this.#said, { request, id: question.id, kind: said.kind, question }].slice(-REMEMBERED),
    );
    this.#enqueue(said, question.id, request);
    void this.#fill();
  }

  #enqueue(said: SaidOf, id: string, request: string | undefined): void {
    const { place, campaign, annotator } = this.choice;
    const saying: OutgoingSaying = {
      ...said,
      ...{ event: randomName(), order: nextOrder(), id, annotator, place, campaign },
    };
    this.#outgoing = [...this.#outgoing, saying];
    this.#unsaved.set(saying.event, saying.kind);
    this.#write(() => keepSaying(saying, request));
    void this.#writing.then(() => {
      if (request !== undefined) letGoOfQuestion(request);
      return this.#send();
    });
  }

  #write(write: () => Promise<unknown>): void {
    this.#unwritten += 1;
    this.#writing = this.#writing
      .then(write)
      .catch(() => {
        this.notKept = true;
      })
      .finally(() => {
        this.#unwritten -= 1;
      });
  }

  /** Until all that was said is kept: what is sent before that would be kept after it was sent, and sent again. */
  async #written(): Promise<void> {
    while (this.isWriting) await this.#writing;
  }

  #countSaved(event: string): void {
    const kind = this.#unsaved.get(event);
    if (kind === undefined) return;
    this.#unsaved.delete(event);
    this.saved += COUNTED[kind];
  }

  /** What waits, as the database has it; what is only known here stays. */
  async #reload(): Promise<void> {
    if (this.notKept) return;
    try {
      await this.#written();
      const before = new Set(this.#outgoing);
      const kept = await sayingsOf(this.choice.place, this.choice.campaign);
      for (const { event, problem } of kept) if (problem !== undefined) this.#unsaved.delete(event);
      const events = new Set(kept.map(({ event }) => event));
      for (const { event } of before) if (!events.has(event)) this.#countSaved(event);
      const added = this.#outgoing.filter((each) => !before.has(each));
      const own = kept.filter((saying) => this.#isOwn(saying));
      this.#outgoing = [...own, ...added.filter(({ event }) => !events.has(event))];
    } catch {
      this.notKept = true;
    }
  }

  /** What was settled is nothing to an annotator's page, which could not send it either. */
  #isOwn({ annotator, kind }: Saying): boolean {
    const { ownOnly, view, annotator: own } = this.choice;
    return (!ownOnly || annotator === own) && (view === "owner" || kind !== "adjudication");
  }

  #send(): Promise<void> {
    this.#sendAgain = true;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#sendAgain && !this.#isEnded) {
      this.#sendAgain = false;
      await asOnlySender(this.#key, async () => {
        await this.#reload();
        for (;;) {
          await this.#written();
          const next = this.#outgoing.find(({ problem }) => problem === undefined);
          if (next === undefined || this.#isEnded) return;
          if (!(await this.#sendOne(next))) return;
        }
      });
    }
  }

  /** Whether the next one may follow. */
  async #sendOne(saying: OutgoingSaying): Promise<boolean> {
    const { event, campaign, place } = saying;
    try {
      await campaigns.say(campaign, saying);
    } catch (error) {
      if (!isDoneAlready(error)) {
        if (failureKind(error) !== "refused") {
          this.#fail(error);
          return false;
        }
        const refused = { ...saying, problem: messageOf(error) };
        this.#unsaved.delete(event);
        await keepSaying(refused, undefined).catch(() => undefined);
        this.#outgoing = this.#outgoing.map((each) => (each.event === event ? refused : each));
        return true;
      }
    }
    await dropSaying(event).catch(() => undefined);
    this.#outgoing = this.#outgoing.filter((each) => each.event !== event);
    this.#tries = 0;
    this.away = "";
    this.#countSaved(event);
    this.changes += 1;
    tellTabs({ place, campaign });
    return true;
  }

  #fail(error: unknown): void {
    if (this.#isEnded) return;
    const kind = failureKind(error);
    if (kind === "token") this.tokenProblem = messageOf(error);
    else if (kind === "refused") this.failure = messageOf(error);
    else {
      // A worker that ended with its table begins anew by itself.
      if (!isStopped(error)) this.away = messageOf(error);
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.tryAgain(), RETRY_MS[Math.min(this.#tries, RETRY_MS.length - 1)]);
      this.#tries += 1;
    }
  }

  get #saidName(): string {
    return `fairbed said ${JSON.stringify(this.#desk)}`;
  }

  #remember(said: readonly Said[]): void {
    this.#said = said;
    try {
      // Without what the question says.
      const names = said.map(({ request, id, kind }) => ({ request, id, kind }));
      sessionStorage.setItem(this.#saidName, JSON.stringify(names));
    } catch {
      // Then a reload cannot undo what came before it.
    }
  }

  #rememberedSaid(): readonly Said[] {
    try {
      return JSON.parse(sessionStorage.getItem(this.#saidName) ?? "[]") as readonly Said[];
    } catch {
      return [];
    }
  }
}
