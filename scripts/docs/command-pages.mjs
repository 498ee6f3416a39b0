// @ts-check
/** The reference of the command line, a page for each group, from the descriptions that the program itself runs by. */

/** @typedef {import("../../src/cli/command.js").Command} Command */

const { allCommands } = await import(new URL("../../dist/cli/main.js", import.meta.url).href);
/** @type {readonly Command[]} */
const commands = await allCommands();

/** For a cell of a table, and for a page in which tags and braces mean something. @param {string} text */
const cell = (text) => text.replace(/[&<>{}|]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/\n/g, " ");

/** @param {unknown} value */
const shown = (value) =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    ? ""
    : `\`${Array.isArray(value) ? value.join(",") : value}\``;

/** @param {Command} command */
const usage = ({ name, arguments: described }) => {
  const words = Object.entries(described).map(([each, { optional, variadic }]) =>
    variadic ? `[${each}...]` : optional ? `[${each}]` : `<${each}>`,
  );
  return ["fairbed", name, ...words, "[options]"].join(" ");
};

/** @param {Command} command */
const optionTables = (command) => {
  const given = Object.values(command.options);
  const added = [
    ...(command.print === undefined ? [] : [{ flags: "--json", summary: "print the result as JSON" }]),
    ...(command.reportsProgress ? [{ flags: "-q, --quiet", summary: "do not report progress" }] : []),
  ];
  const headings = [...new Set(given.map(({ group }) => group ?? ""))].sort(
    (a, b) => Number(a !== "") - Number(b !== ""),
  );
  return (headings.length === 0 ? [""] : headings).flatMap((heading) => {
    const rows = [
      ...given
        .filter(({ group }) => (group ?? "") === heading)
        .map(({ flags, summary, choices, fallback }) => ({
          flags,
          summary: choices === undefined ? summary : `${summary}: ${choices.join(", ")}`,
          fallback,
        })),
      ...(heading === "" ? added.map((each) => ({ ...each, fallback: undefined })) : []),
    ];
    if (rows.length === 0) return [];
    return [
      ...(heading === "" ? [] : [`**${heading}**`, ""]),
      "| option | | default |",
      "| --- | --- | --- |",
      ...rows.map(
        ({ flags, summary, fallback }) => `| \`${flags}\` | ${cell(summary)} | ${shown(fallback)} |`,
      ),
      "",
    ];
  });
};

/** @param {Command} command */
const section = (command) => [
  `## ${command.name}`,
  "",
  `${cell(command.summary[0].toUpperCase() + command.summary.slice(1))}.`,
  "",
  "```sh",
  usage(command),
  "```",
  "",
  ...Object.entries(command.arguments).map(([name, { summary }]) => `- \`${name}\`: ${cell(summary)}`),
  "",
  ...optionTables(command),
  ...(command.examples.length === 0
    ? []
    : [
        "```sh",
        ...command.examples.flatMap(({ line, description }) => [`# ${description}`, `fairbed ${line}`]),
        "```",
        "",
      ]),
];

/** @param {string} group */
const address = (group) => group.toLowerCase().replaceAll(" ", "-");

/** @returns {{ name: string, title: string, content: string }[]} */
export const commandPages = () =>
  [...new Set(commands.map(({ group }) => group))].map((group) => ({
    name: address(group),
    title: group,
    content: [
      `# Commands: ${group.toLowerCase()}`,
      "",
      "From the program itself. `fairbed COMMAND --help` shows the same.",
      "",
      ...commands.filter((each) => each.group === group).flatMap(section),
    ].join("\n"),
  }));
