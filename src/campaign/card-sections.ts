/** A data card as headings, tables and sentences: what every form of it is written from. */
import { between, fixed, percent, shortest } from "../core/number-text.js";
import { rareTexts } from "../core/rare-values.js";
import type { CardComposition } from "./card-composition.js";
import type { CampaignCard, CardAudit, CardEstimate, CardLeakage } from "./data-card.js";

export interface CardTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Texts, tables and compositions in the order in which they are read. */
export type CardPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "table"; readonly table: CardTable }
  /** Names and what they are, in words. */
  | { readonly kind: "facts"; readonly rows: readonly (readonly [string, string])[] }
  /** Where a picture may stand. */
  | { readonly kind: "composition"; readonly composition: CardComposition };

export interface CardSection {
  readonly title: string;
  readonly parts: readonly CardPart[];
}

type Fact = readonly [string, string | number | null];

const text = (said: string): CardPart => ({ kind: "text", text: said });

/** Without those that nothing is known of. */
const facts = (rows: readonly Fact[]): CardPart => ({
  kind: "facts",
  rows: rows.flatMap(([name, value]) => (value === null ? [] : [[name, String(value)] as const])),
});

const counted = (rows: readonly (readonly [string, number])[]): CardPart => ({
  kind: "table",
  table: { head: ["", "number"], rows: rows.map(([name, count]) => [name, String(count)]) },
});

const moment = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
const number = (value: number): string => shortest(value, 6);

const METRICS = { dp: "demographic parity", eo: "equal opportunity" } as const;

const metricName = (metric: string): string =>
  Object.hasOwn(METRICS, metric) ? METRICS[metric as keyof typeof METRICS] : metric;

export const cardTexts = {
  title: (name: string) => `Data card: ${name}`,
  notLooked: "Not computed for this card.",
  tooFew: (reason: string) => `There is none: ${reason}.`,
  estimate: ({ rows }: CardEstimate) =>
    `For the whole pool of ${rows.pool}, of a model of all labels, by the ${rows.drawn} labels that were drawn at random and the ${rows.chosen} that were chosen, each counted by its weight.`,
  audit: ({ rows }: CardAudit) =>
    `What the other columns of the ${rows} rows that have a label say about the sensitive attributes, in nats per record, found by adversaries on rows that they had not seen. It is of these rows, not of the whole pool.`,
  composition: ({ attribute, known, unknown }: CardComposition) =>
    `By ${attribute}: ${known} collected labels of people whose group is known${unknown === 0 ? "" : `, and ${unknown} of people whose is not`}.`,
  cells:
    "With the outcome: the share of the collected labels, and of the whole pool as the weights estimate it.",
  undivided: (count: number) =>
    `${count === 1 ? "One group is" : `${count} groups are`} not divided by outcome, because ${count === 1 ? "it has" : "they have"} ${rareTexts.some("group", 1).replace("a group of", "an outcome of")}.`,
  verified: "checked from its first event to its last: nothing was changed, taken out or put in",
  notVerified: "not checked for this card",
  nothing: "No label was collected yet.",
};

const about = ({ description, licence, contact, ...card }: CampaignCard): CardSection => ({
  title: "About",
  parts: [
    ...(description === null ? [] : [text(description)]),
    facts([
      ["licence", licence],
      ["contact", contact],
      ["campaign", card.name],
      ["created", moment(card.createdAt)],
      ["first answer", card.firstAnswerAt && moment(card.firstAnswerAt)],
      ["last answer", card.lastAnswerAt && moment(card.lastAnswerAt)],
      ["as of", moment(card.asOf)],
      ["written by", `fairbed ${card.version}`],
    ]),
  ],
});

const purpose = ({ purpose: own, kind }: CampaignCard): CardSection => ({
  title: "What was asked for",
  parts: [
    facts([
      ["target", own.target],
      ["sensitive attributes", own.sensitive.length === 0 ? null : own.sensitive.join(", ")],
      [kind === "pool" ? "method" : "policy", own.method],
      ["model", own.policy && (own.policy.model === "" ? "of its own" : own.policy.model)],
      ["observations of a participant", own.policy?.horizon ?? null],
      ["beta: what a nat of leakage costs", own.beta],
      ["beta is found for", own.goal],
      ["shares of the groups", own.shares],
      ["drawn at random", own.randomPart === null ? null : percent(own.randomPart)],
      ["budget of labels", kind === "pool" ? (own.budget ?? "no limit") : own.budget],
      ["budget of costs", own.costBudget],
      ["opinions on an item", kind === "pool" ? own.opinions : null],
      ["part with several opinions", own.opinions > 1 ? percent(own.opinionsPart) : null],
      [
        "requirement",
        own.requirement && `${metricName(own.requirement.metric)} of at least ${own.requirement.level}`,
      ],
      ["seed", own.seed],
    ]),
  ],
});

const agreementFacts = ({ agreement, counts }: CampaignCard): CardPart => {
  const named: Fact = ["annotators by name", counts.annotators];
  if (agreement === null) return facts([named]);
  const { alpha, interval, reason, units } = agreement;
  const words =
    alpha === null
      ? reason === "no-variation"
        ? "not known: all say the same label"
        : "not known: fewer than two items have several opinions"
      : `${fixed(alpha, 3)}${interval === null ? "" : ` (95 % interval ${between(interval)})`}`;
  return facts([named, ["items with several opinions", units], ["agreement (Krippendorff's alpha)", words]]);
};

const collection = (card: CampaignCard): CardSection => {
  const { counts, kind } = card;
  const pool: readonly (readonly [string, number])[] = [
    ["in the pool", counts.subjects],
    ["labelled from the start", counts.initial],
    ["asked about", counts.asked],
    ["questions in all", counts.questions],
    ["labels collected", counts.labelled],
    ["of these drawn at random", counts.drawn],
    ["of these chosen by their score", counts.chosen],
    ["refused", counts.refused],
    ["annotators disagree", counts.disputed],
    ["waiting for an answer", counts.pending],
    ["ran out without an answer", counts.expired],
    ["passed on by an annotator", counts.skipped],
    ["answers corrected", counts.corrections],
    ["answered without being asked", counts.unasked],
    ["withdrawn, and erased", counts.withdrawn],
  ];
  const designs: readonly (readonly [string, number])[] = [
    ["participants", counts.subjects],
    ["designs asked", counts.questions],
    ["observations", counts.labelled],
    ["waiting for an outcome", counts.pending],
    ["ran out without an outcome", counts.expired],
    ["outcomes corrected", counts.corrections],
    ["outcomes of designs that nobody asked for", counts.unasked],
    ["withdrawn, and erased", counts.withdrawn],
  ];
  return {
    title: "How it was collected",
    parts: kind === "pool" ? [counted(pool), agreementFacts(card)] : [counted(designs)],
  };
};

const compositionParts = (own: CardComposition): readonly CardPart[] => [
  text(cardTexts.composition(own)),
  { kind: "composition", composition: own },
  {
    kind: "table",
    table: {
      head: ["group", "labels", "share", "95 % interval", "of the pool"],
      rows: own.groups.map(({ group, count, share, interval, pool }) => [
        group,
        String(count),
        percent(share),
        `${percent(interval[0])} to ${percent(interval[1])}`,
        pool === null ? "not said" : percent(pool),
      ]),
    },
  },
  ...(own.cells.length === 0
    ? []
    : [
        text(cardTexts.cells),
        {
          kind: "table" as const,
          table: {
            head: ["group and outcome", "labels", "share", "of the pool, estimated"],
            rows: own.cells.map(({ group, outcome, count, share, pool }) => [
              `${group}, ${outcome}`,
              String(count),
              percent(share),
              pool === null ? "not known" : percent(pool),
            ]),
          },
        },
      ]),
  ...(own.undivided === 0 ? [] : [text(cardTexts.undivided(own.undivided))]),
];

const composition = ({ composition: all, counts, purpose: own }: CampaignCard): CardSection | undefined => {
  if (own.sensitive.length === 0) return undefined;
  return {
    title: "Who is in it",
    parts:
      all.length === 0 || counts.labelled === 0 ? [text(cardTexts.nothing)] : all.flatMap(compositionParts),
  };
};

const estimate = ({ estimate: { result, reason } }: CampaignCard): CardSection => {
  const title = "What a model of these labels is worth";
  if (result === null) {
    return { title, parts: [text(reason === null ? cardTexts.notLooked : cardTexts.tooFew(reason))] };
  }
  const rows = [
    ["accuracy", result.accuracy],
    ["demographic parity (ratio)", result.dpRatio],
    ["groups told apart (AUC)", result.leakageAuc],
    ["leakage (nats)", result.leakage],
  ] as const;
  return {
    title,
    parts: [
      text(cardTexts.estimate(result)),
      {
        kind: "table",
        table: {
          head: ["", "estimate", "95 % interval"],
          rows: rows.flatMap(([name, of]) =>
            of === null ? [] : [[name, fixed(of.value, 3), between(of.interval)]],
          ),
        },
      },
    ],
  };
};

const leakageRow = (name: string, of: CardLeakage): readonly string[] => [
  name,
  fixed(of.nats, 4),
  between(of.interval, 4),
  of.pValue < 0.001 ? "below 0.001" : fixed(of.pValue, 3),
  of.detectable === null ? "not known" : fixed(of.detectable, 4),
  fixed(of.entropy, 3),
];

const audit = ({ audit: { result, reason } }: CampaignCard): CardSection => {
  const title = "What the rows give away";
  if (result === null) {
    return { title, parts: [text(reason === null ? cardTexts.notLooked : cardTexts.tooFew(reason))] };
  }
  return {
    title,
    parts: [
      text(cardTexts.audit(result)),
      {
        kind: "table",
        table: {
          head: ["about", "nats", "interval", "p", "smallest that could be seen", "all there is"],
          rows: result.attributes.flatMap(({ attribute, features, givenTarget }) => [
            leakageRow(attribute, features),
            ...(givenTarget === null
              ? []
              : [leakageRow(`${attribute}, once the target is known`, givenTarget)]),
          ]),
        },
      },
    ],
  };
};

const changes = ({ changes: all }: CampaignCard): CardSection | undefined =>
  all.length === 0
    ? undefined
    : {
        title: "What was changed on the way",
        parts: [
          {
            kind: "table",
            table: {
              head: ["setting", "when", "before", "after"],
              rows: all.map(({ at, setting, from, to }) => [setting, moment(at), from, to]),
            },
          },
        ],
      };

const integrity = ({ integrity: { events, hash, verified, reason } }: CampaignCard): CardSection => ({
  title: "Integrity",
  parts: [
    facts([
      ["events in the log", number(events)],
      ["hash at its end", hash],
      [
        "log",
        verified === null ? cardTexts.notVerified : verified ? cardTexts.verified : (reason ?? "damaged"),
      ],
    ]),
  ],
});

/** What to know before use stands first: it is what most readers need. */
export const cardSections = (card: CampaignCard): readonly CardSection[] =>
  [
    { title: "What to know before use", parts: [{ kind: "list" as const, items: card.notes }] },
    about(card),
    purpose(card),
    collection(card),
    composition(card),
    ...(card.kind === "pool"
      ? [estimate(card), ...(card.purpose.sensitive.length === 0 ? [] : [audit(card)])]
      : []),
    changes(card),
    integrity(card),
  ].filter((section) => section !== undefined);
