/** Turns command descriptions into the parser's commands. The only file that knows the parser's interface. */
import { type CommanderError, Command as ParserCommand, Option as ParserOption } from "commander";
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import type { Arguments, ArgumentValues, Command, CommandInput, Options } from "./command.js";
import { failureText, usageError, wrongUse } from "./failure.js";

/** The parser already said all there is to say (help, version): only the exit code is left. */
export class Finished extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`finished with exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

export interface Invocation {
  readonly command: Command;
  readonly input: Omit<CommandInput<Arguments, Options>, "context">;
  readonly json: boolean;
  readonly quiet: boolean;
}

export interface ProgramOptions {
  readonly commands: readonly Command[];
  readonly version: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  run(invocation: Invocation): Promise<void>;
}

/** The last heading in `fairbed --help`. */
export const ABOUT = "About";

export const buildProgram = ({ commands, version, stdout, stderr, run }: ProgramOptions): ParserCommand => {
  const program = new ParserCommand("fairbed")
    .description("Gather data that says much about the target and little about a sensitive attribute.")
    .usage("<command> [options]")
    .configureHelp({ subcommandTerm: nameAndArguments, visibleCommands: leaves })
    .helpOption("-h, --help", "show this help")
    .version(version, "-V, --version", "show the version")
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // Complaints are worded and printed in one place, by whoever catches them.
      outputError: () => {},
    })
    .addHelpText("after", () => exampleText(commands.flatMap(({ examples }) => examples.slice(0, 1))))
    .exitOverride(stopWith("fairbed"));
  for (const command of commands) addCommand(program, command, run);
  addHelpCommands(program, "fairbed");
  return program;
};

const HELP = "help";

/** `help` of a parser and of those below it that have commands. The parser's own says nothing of unknown commands. */
const addHelpCommands = (parser: ParserCommand, path: string): void => {
  for (const each of parser.commands) {
    if (each.commands.length > 0) addHelpCommands(each, `${path} ${each.name()}`);
  }
  parser
    .helpCommand(false)
    .command(HELP)
    .argument("[command...]")
    .description("show the help of a command")
    .helpGroup(`${ABOUT}:`)
    .exitOverride(stopWith(`${path} ${HELP}`))
    .action((words: readonly string[]) => {
      let [meant, name] = [parser, path];
      for (const word of words) {
        const known = meant.commands.find((each) => each.name() === word);
        if (known === undefined) {
          const names = meant.commands.map((each) => each.name());
          const complaint = failureText.unknownCommand(word);
          throw wrongUse("unknown-command", complaint, nearestName(word, names), name);
        }
        [meant, name] = [known, `${name} ${word}`];
      }
      meant.help();
    });
};

/** The parser of the first words of a name such as "design evaluate", made when it is first needed. */
const parserOf = (program: ParserCommand, words: readonly string[], group: string): ParserCommand =>
  words.reduce((parent, word) => {
    const known = parent.commands.find((each) => each.name() === word);
    if (known !== undefined) return known;
    const parser = parent
      .command(word)
      // Groups of the help are in the order of the parsers', whether they are commands or only begin their names.
      .helpGroup(`${group}:`)
      .usage("<command> [options]")
      .helpOption("-h, --help", "show this help")
      .exitOverride(stopWith(`${parent.name()} ${word}`));
    return parser;
  }, program);

/** Every command that does something, at any depth: what a person looks for in the help. */
const leaves = (parser: ParserCommand): ParserCommand[] => {
  const isShown = (each: ParserCommand): boolean => parser.parent === null || each.name() !== HELP;
  return parser.commands
    .filter(isShown)
    .flatMap((each) => (each.commands.length > 0 ? leaves(each) : [each]));
};

const addCommand = (program: ParserCommand, command: Command, run: ProgramOptions["run"]) => {
  const words = command.name.split(" ");
  const parser = parserOf(program, words.slice(0, -1), command.group)
    .command(words[words.length - 1])
    .helpGroup(`${command.group}:`)
    .description(command.summary)
    .helpOption("-h, --help", "show this help")
    .exitOverride(stopWith(`fairbed ${command.name}`));
  for (const [name, { summary, optional, variadic }] of Object.entries(command.arguments)) {
    parser.argument(variadic ? `[${name}...]` : optional ? `[${name}]` : `<${name}>`, summary);
  }
  const described = Object.values(command.options);
  // Help shows groups in the order of their first options: those without one, which matter most, come before.
  for (const option of described.filter(({ group }) => group === undefined)) {
    parser.addOption(parserOption(option));
  }
  if (command.print !== undefined) parser.option("--json", "print the result as JSON");
  if (command.reportsProgress) parser.option("-q, --quiet", "do not report progress");
  for (const option of described.filter(({ group }) => group !== undefined)) {
    parser.addOption(parserOption(option));
  }
  if (command.examples.length > 0) parser.addHelpText("after", exampleText(command.examples));
  requireValues(parser, `fairbed ${command.name}`);
  parser.action(async () => {
    const given = parser.opts<Record<string, unknown>>();
    const attributes = Object.entries(command.options).map(
      ([name, option]) => [name, parserOption(option).attributeName()] as const,
    );
    await run({
      command,
      input: {
        arguments: pairUp(command.arguments, parser.args),
        options: Object.fromEntries(
          Object.entries(command.options).map(([name, option]) => [
            name,
            given[parserOption(option).attributeName()] ?? option.fallback,
          ]),
        ),
        given: new Set(
          attributes.flatMap(([name, attribute]) =>
            parser.getOptionValueSource(attribute) === "cli" ? [name] : [],
          ),
        ),
      },
      json: given.json === true,
      quiet: given.quiet === true,
    });
  });
};

/**
 * The parser takes the word after an option as its value, whatever it is: an option of the command in that place means
 * that the value was forgotten. `--target=--sensitive` gives even such a value.
 */
const requireValues = (parser: ParserCommand, name: string): void => {
  const parse = parser.parseOptions.bind(parser);
  const optionOf = (word: string) =>
    parser.options.find(({ long, short }) => word === long || word === short);
  const isOption = (word: string): boolean => {
    const [flags] = word.split("=");
    return flags.startsWith("--") && (flags === "--help" || optionOf(flags) !== undefined);
  };
  parser.parseOptions = (words) => {
    for (let at = 0; at < words.length && words[at] !== "--"; at++) {
      const option = optionOf(words[at]);
      if (option?.required !== true) continue;
      at += 1;
      if (at >= words.length || isOption(words[at]))
        throw wrongUse("option-missing-argument", failureText.noValue(words[at - 1]), undefined, name);
    }
    return parse(words);
  };
};

const nameAndArguments = (command: ParserCommand): string => {
  const words = command.registeredArguments.map((each) =>
    each.required ? `<${each.name()}>` : `[${each.name()}]`,
  );
  return [...pathOf(command), ...words].join(" ");
};

/** The words of a command, without `fairbed`. */
const pathOf = (command: ParserCommand): readonly string[] =>
  command.parent === null
    ? [command.name()]
    : [...(command.parent.parent === null ? [] : pathOf(command.parent)), command.name()];

const parserOption = ({ flags, summary, parse, fallback, choices, group }: Options[string]): ParserOption => {
  const described = choices === undefined ? summary : `${summary}: ${choices.join(", ")}`;
  const option = new ParserOption(flags, described);
  if (parse !== undefined) {
    option.argParser(parse).default(fallback, Array.isArray(fallback) ? fallback.join(",") : undefined);
  }
  if (group !== undefined) option.helpGroup(`${group}:`);
  return option;
};

/** What the command described is what it gets: the parser has seen to the number of words. */
const pairUp = (names: Arguments, values: readonly string[]): ArgumentValues<Arguments> =>
  Object.fromEntries(
    Object.entries(names).map(([name, { variadic }], index) => [
      name,
      variadic ? values.slice(index) : values[index],
    ]),
  ) as ArgumentValues<Arguments>;

/** Longer lines have what they do below them, so that the others stay beside theirs. */
const EXAMPLE_WIDTH = 44;

const exampleText = (examples: readonly { line: string; description: string }[]): string => {
  const lines = examples.map(({ line }) => `fairbed ${line}`);
  const width = Math.max(0, ...lines.map(({ length }) => length).filter((length) => length <= EXAMPLE_WIDTH));
  const rows = examples.map(({ description }, index) =>
    lines[index].length > width
      ? `  ${lines[index]}\n  ${"".padEnd(width)}  ${description}`
      : `  ${lines[index].padEnd(width)}  ${description}`,
  );
  return ["", "Examples:", ...rows].join("\n");
};

/** The parser wants to end the process: it may not, it may only say how. */
const stopWith =
  (name: string) =>
  (error: CommanderError): never => {
    if (error.exitCode === 0) throw new Finished(0);
    // The help was printed, because there was nothing to do.
    if (error.code === "commander.help") throw new InputError("no-command", failureText.noCommand);
    throw usageError(error, name);
  };
