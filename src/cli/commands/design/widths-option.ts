/** The layers of a dad policy's network as one word of the command line. */
import { InputError } from "../../../core/errors.js";
import type { DadWidths } from "../../../design/dad-network.js";
import type { OptionDescription } from "../../command.js";
import { optionText } from "../../options.js";

const FLAGS = "--widths <layers>";
const WIDEST = 65_536;

const EXPECTED = `three parts with colons between them, such as 64,256:16:128,16 (hidden layers of the encoder, its output, hidden layers of the emitter), of whole numbers from 1 to ${WIDEST}`;

const isWidth = (width: number): boolean => Number.isInteger(width) && width >= 1 && width <= WIDEST;

/** A part without a number has no hidden layers. */
const layersOf = (part: string): number[] =>
  part.trim() === "" ? [] : part.split(",").map((each) => (each.trim() === "" ? Number.NaN : Number(each)));

const parse = (given: string): DadWidths => {
  const parts = given.split(":").map(layersOf);
  const [encoder, [encoding, ...more] = [], emitter] = parts;
  if (parts.length !== 3 || more.length > 0 || ![...encoder, encoding, ...emitter].every(isWidth)) {
    throw new InputError("option-value", optionText.wrongValue(FLAGS, given, EXPECTED));
  }
  return { encoder, encoding, emitter };
};

export const widthsOption: OptionDescription<DadWidths | undefined> = {
  flags: FLAGS,
  summary: "dad: layers of its network (the paper's 64,256:16:128,16)",
  parse,
  fallback: undefined,
  choices: undefined,
};
