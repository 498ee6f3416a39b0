/** What the design screen says. */
import { shortest } from "../../../core/number-text.js";
import { posteriorTexts } from "../../../report/digits.js";
import type { SceneParameter, SceneVariable } from "../../../workflows/design-scene.js";
import type { SessionPosterior } from "../../../workflows/run-policy.js";

export const designTexts = {
  outcome: (name: string) => `Give ${name} as a number, such as 1.5.`,
  design: (variables: readonly Pick<SceneVariable, "name">[], design: readonly number[]): string =>
    variables.map(({ name }, d) => `${name} = ${shortest(design[d], 4)}`).join(", "),
  /** What an experiment found out, and what it left hidden, by how much narrower each is known. */
  known: (parameters: readonly SceneParameter[], { parameters: now }: SessionPosterior): string =>
    parameters
      .filter(({ role }) => role !== "nuisance")
      .map(({ name, role, sd }) => {
        const { mean, interval } = posteriorTexts(now[name]);
        const narrower = `its standard deviation went from ${shortest(sd, 2)} to ${shortest(now[name].sd, 2)}`;
        return `${name}${role === "sensitive" ? ", which was to stay hidden," : ""} is about ${mean} (${interval}): ${narrower}.`;
      })
      .join(" "),
  methods: {
    "closed form": "These numbers are exact, by a closed form.",
    enumeration: "These numbers are exact: all sequences of outcomes were enumerated.",
    quadrature: "These numbers are by quadrature over the parameters.",
    "nested sampling":
      "The dark part of a bar is a lower bound, the light part goes up to an upper bound, and the thin line is a 95 % interval around both. They are from simulated experiments, always the same ones, so that what changes is what the move does; at rest they become tighter.",
  },
} as const;
