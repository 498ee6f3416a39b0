/** `fairbed studio`: the page on this computer, which needs no server and sends nothing anywhere. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EnvironmentError } from "../../../core/errors.js";
import { STUDIO_DEFAULTS } from "../../../server/server-defaults.js";
import { defineCommand } from "../../command.js";
import { openBrowser } from "../../open-browser.js";
import { flag, optionalInteger, outFolder, text } from "../../options.js";

export const studioCommandTexts = {
  listening: (url: string) => `FairBED Studio is at ${url}`,
  here: "Everything stays on this computer. Ctrl-C ends it; what the page keeps is in your browser.",
  elsewhere: (usual: number) =>
    `Note: port ${usual} is taken, so this is another address, and what was kept at the usual one is not seen here.`,
  saved: (folder: string, files: number) =>
    `The page is in ${folder} (${files} files): any program that serves files can offer it.`,
  notOpened: "Note: no browser could be opened from here: open the address yourself.",
};

export const studio = defineCommand({
  name: "studio",
  group: "Page and server",
  summary: "open the page; all stays on this computer",
  examples: [
    { line: "studio", description: "in the browser, until Ctrl-C" },
    { line: "studio --save site", description: "the page as files, for a web server of your own" },
    { line: "studio --port 9000 --no-open", description: "at an address of your choice, opened by yourself" },
  ],
  arguments: {},
  options: {
    port: optionalInteger(
      "--port <number>",
      `where to listen; 0 for any that is free (${STUDIO_DEFAULTS.port}, or any where that is taken)`,
      { min: 0, max: 65_535 },
    ),
    host: text("--host <address>", "an address of this computer", STUDIO_DEFAULTS.host),
    noOpen: flag("--no-open", "do not open a browser"),
    save: outFolder("--save <folder>", "write the page's files there, and serve nothing"),
  },
  reportsProgress: true,
  async run({ options: { port, host, save }, given, context }) {
    if (save !== undefined) {
      const { studioSource, studioTexts } = await import("../../../server/studio-files.js");
      const source = studioSource();
      if ((await source.writtenAt()) === undefined)
        throw new EnvironmentError("no-page", studioTexts.missing);
      const names = await source.names();
      for (const name of names) {
        const path = join(save, name);
        await mkdir(dirname(path), { recursive: true });
        await context.writeFile(path, await source.read(name));
      }
      context.say(studioCommandTexts.saved(save, names.length));
      return;
    }
    const { startStudio } = await import("../../../server/studio-server.js");
    const server = await startStudio({ port, host });
    try {
      context.say(studioCommandTexts.listening(server.url));
      context.say(studioCommandTexts.here);
      if (server.isElsewhere) context.say(studioCommandTexts.elsewhere(STUDIO_DEFAULTS.port));
      if (!given.has("noOpen")) {
        void openBrowser(server.url, context.signal).then((isOpened) => {
          if (!isOpened) context.say(studioCommandTexts.notOpened);
        });
      }
      await context.untilStopped();
    } finally {
      await server.close();
    }
  },
});
