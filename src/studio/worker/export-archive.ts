/** All files as one, with what each of them is and the commands that make them again. */
import { type Zippable, zipSync } from "fflate";
import { VERSION } from "../../core/version.js";
import { type CommandLine, shellScript } from "../../report/command-lines.js";
import { FILES } from "../exported.js";
import type { ExportFile } from "./export-files.js";

export const archiveTexts = {
  title: (name: string) => `What was made of ${name} with FairBED Studio ${VERSION}`,
  missingTable: (name: string) =>
    `${name} itself is not in this folder: put it beside these files before you run the commands.`,
  commands: `The commands in ${FILES.commands} (in ${FILES.commandsOfWindows} for PowerShell on Windows) make these files again, with the same numbers.`,
  install: "They need fairbed, which needs Node 20.19 or later: npm install -g fairbed",
  leftOut: "What could not be written:",
  script: "The commands that make these files again, for a shell on Linux or macOS.",
  windows: "The same commands for PowerShell on Windows.",
};

const COMPRESSION = 6;
/** So that the script can be run: made on Unix, rwxr-xr-x. */
const UNIX = 3;
const RUNNABLE = 0o755 << 16;

export interface Archive {
  /** What the table or the campaign is called. */
  readonly name: string;
  /** Whether the table is among the files; undefined where there is none. */
  readonly hasTable: boolean | undefined;
  readonly files: readonly ExportFile[];
  readonly commands: readonly CommandLine[];
  /** What could not be written, and why. */
  readonly leftOut: readonly string[];
}

const readmeOf = ({ name, hasTable, commands, leftOut }: Archive, files: readonly ExportFile[]): string => {
  const width = Math.max(...files.map((file) => file.name.length));
  return `${[
    archiveTexts.title(name),
    "",
    ...files.map((file) => `${file.name.padEnd(width)}  ${file.about}`),
    ...(leftOut.length === 0 ? [] : ["", archiveTexts.leftOut, ...leftOut.map((reason) => `- ${reason}`)]),
    ...(commands.length === 0 ? [] : ["", archiveTexts.commands, archiveTexts.install]),
    ...(hasTable === false && commands.length > 0 ? [archiveTexts.missingTable(name)] : []),
  ].join("\n")}\n`;
};

/** The bytes of a zip file with one folder in it. */
export const archiveBytes = (archive: Archive, folder: string): Uint8Array<ArrayBuffer> => {
  const { commands } = archive;
  const files: readonly ExportFile[] = [
    ...archive.files,
    ...(commands.length === 0
      ? []
      : [
          { name: FILES.commands, text: shellScript(commands), about: archiveTexts.script },
          {
            name: FILES.commandsOfWindows,
            text: shellScript(commands, "powershell").replaceAll("\n", "\r\n"),
            about: archiveTexts.windows,
          },
        ]),
  ];
  const encoder = new TextEncoder();
  const zipped: Zippable = {};
  const readme = { name: FILES.readme, text: readmeOf(archive, files) };
  for (const { name, text } of [readme, ...files]) {
    const attributes = name === FILES.commands ? { os: UNIX, attrs: RUNNABLE } : {};
    zipped[`${folder}/${name}`] = [encoder.encode(text), attributes];
  }
  return zipSync(zipped, { level: COMPRESSION });
};
