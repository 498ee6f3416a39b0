/** What the server counts, as Prometheus reads it. Nothing in it is about a person. */

type Labels = Readonly<Record<string, string>>;

const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

const numberText = (value: number): string => (value === Infinity ? "+Inf" : String(value));

interface Family {
  lines(): readonly string[];
}

const familyOf = (name: string, help: string, type: string, samples: () => readonly string[]): Family => ({
  lines: () => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples()],
});

const counter = (name: string, help: string) => {
  const values = new Map<string, number>();
  return {
    add(labels: Labels = {}, by = 1): void {
      const key = labelText(labels);
      values.set(key, (values.get(key) ?? 0) + by);
    },
    ...familyOf(name, help, "counter", () =>
      [...values].map(([labels, value]) => `${name}${labels} ${numberText(value)}`),
    ),
  };
};

const histogram = (name: string, help: string, bounds: readonly number[]) => {
  const all = new Map<string, { readonly labels: Labels; readonly counts: number[]; sum: number }>();
  const ends = [...bounds, Infinity];
  return {
    observe(value: number, labels: Labels = {}): void {
      const key = labelText(labels);
      const own = all.get(key) ?? { labels, counts: ends.map(() => 0), sum: 0 };
      all.set(key, own);
      ends.forEach((end, i) => {
        if (value <= end) own.counts[i] += 1;
      });
      own.sum += value;
    },
    ...familyOf(name, help, "histogram", () =>
      [...all.values()].flatMap(({ labels, counts, sum }) => [
        ...ends.map(
          (end, i) => `${name}_bucket${labelText({ ...labels, le: numberText(end) })} ${counts[i]}`,
        ),
        `${name}_sum${labelText(labels)} ${numberText(sum)}`,
        `${name}_count${labelText(labels)} ${counts[counts.length - 1]}`,
      ]),
    ),
  };
};

const gauge = (
  name: string,
  help: string,
  read: () => readonly { readonly labels?: Labels; readonly value: number }[],
) =>
  familyOf(name, help, "gauge", () =>
    read().map(({ labels = {}, value }) => `${name}${labelText(labels)} ${numberText(value)}`),
  );

const LATENCY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const RANKING_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800];

/** What is true at the moment when somebody looks. */
export interface ServerGauges {
  readonly openCampaigns: () => number;
  readonly streams: () => number;
  /** By campaign, in seconds. */
  readonly rankingAges: () => readonly { readonly campaign: string; readonly seconds: number }[];
}

export const createMetrics = (now: ServerGauges) => {
  const requests = counter("fairbed_http_requests_total", "Requests by method, route and status.");
  const latency = histogram(
    "fairbed_http_request_duration_seconds",
    "Seconds until a request was answered.",
    LATENCY_SECONDS,
  );
  const asked = counter("fairbed_questions_asked_total", "Questions that were given out here.");
  const told = counter("fairbed_answers_told_total", "Answers that were taken here, by what became of them.");
  const events = counter("fairbed_events_total", "Events of open campaigns, whoever wrote them, by kind.");
  const ranking = histogram(
    "fairbed_ranking_duration_seconds",
    "Seconds that a ranking took.",
    RANKING_SECONDS,
  );
  const gauges = [
    gauge("fairbed_ranking_age_seconds", "Seconds since the ranking of a campaign was made.", () =>
      now.rankingAges().map(({ campaign, seconds }) => ({ labels: { campaign }, value: seconds })),
    ),
    gauge("fairbed_open_campaigns", "Campaigns that are open here.", () => [{ value: now.openCampaigns() }]),
    gauge("fairbed_event_streams", "Streams of events that somebody listens to.", () => [
      { value: now.streams() },
    ]),
  ];
  return {
    requests,
    latency,
    asked,
    told,
    events,
    ranking,
    text: (): string =>
      `${[requests, latency, asked, told, events, ranking, ...gauges].flatMap((family) => family.lines()).join("\n")}\n`,
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
